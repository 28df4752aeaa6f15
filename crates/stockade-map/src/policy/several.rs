//! One policy for several routers of a program.

use super::Policy;
use super::finding::{Finding, POLICY};
use crate::RouteMap;

impl Policy {
    /// Checks several routers of a program, each with a name. Returns the
    /// violations that are not allowed, with subjects such as
    /// `admin: GET /users`. An exception is unnecessary only if no router needs
    /// it, and a public route must exist in one of the routers.
    ///
    /// ```
    /// use stockade::policy::Policy;
    /// use stockade::prelude::*;
    ///
    /// let open = routes! { "health": { GET: { async || "ok", public: "monitoring asks it" } } };
    /// let public = create_router(open, RouterOptions::new()).build()?.route_map();
    /// let admin = routes! { "users": { GET: async || "all" } };
    /// let admin = create_router(admin, RouterOptions::new()).build()?.route_map();
    ///
    /// let policy = Policy::recommended().public_routes(["GET /health"]);
    /// let findings = policy.check_all([("public", &public), ("admin", &admin)]);
    /// assert_eq!(findings[0].subject, "admin: GET /users");
    /// # Ok::<(), ConfigError>(())
    /// ```
    #[must_use]
    pub fn check_all<'m>(
        &self,
        maps: impl IntoIterator<Item = (&'m str, &'m RouteMap)>,
    ) -> Vec<Finding> {
        let mut of_routers = Vec::new();
        // The findings about the policy itself, of each router.
        let mut of_policy: Vec<Vec<Finding>> = Vec::new();
        for (name, map) in maps {
            let (own, mut others): (Vec<Finding>, Vec<Finding>) =
                self.check(map).into_iter().partition(|finding| finding.subject == POLICY);
            for finding in &mut others {
                finding.subject = format!("{name}: {}", finding.subject);
            }
            of_routers.append(&mut others);
            of_policy.push(own);
        }
        let Some((first, others)) = of_policy.split_first() else { return of_routers };
        let in_all = first.iter().filter_map(|finding| {
            let mut best = finding;
            for own in others {
                let same = own.iter().find(|other| is_same_exception(finding, other))?;
                // A router that has the route knows more about it.
                if best.message.contains("does not exist") {
                    best = same;
                }
            }
            Some(best.clone())
        });
        of_routers.extend(in_all);
        of_routers
    }
}

/// Returns true if two findings are about the same exception of the policy.
fn is_same_exception(one: &Finding, other: &Finding) -> bool {
    one.location == other.location && exception_of(one) == exception_of(other)
}

/// Returns the part of a message that names the exception: `allow("rule",
/// "route")`, or a line of the list of public routes.
fn exception_of(finding: &Finding) -> &str {
    let message = finding.message.as_str();
    match message.find("\", which ") {
        Some(end) => message.get(..end).unwrap_or(message),
        None => message.split("` ").next().unwrap_or(message),
    }
}
