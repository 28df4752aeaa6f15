//! [`Policy`]: rules over all routes of a router.
//!
//! A policy reads the [map](crate::RouteMap) of the routes when the router is
//! built, or in a test, and reports all findings at once. It does not run
//! during requests.
//!
//! ```
//! use stockade::policy::Policy;
//! use stockade::prelude::*;
//!
//! let api = routes! {
//!     "products": { GET: { async || "all", public: "anybody may look" } },
//!     "orders": { POST: async || "new" },
//! };
//! let router = create_router(api, RouterOptions::new()).policy(Policy::recommended());
//! let error = router.build().unwrap_err();
//! assert_eq!(error.issues()[0].route(), Some("POST /orders"));
//! assert!(error.to_string().contains("[access-declared]"));
//! ```

mod allowance;
mod audit;
mod auth_limits;
mod configuration;
mod fields;
mod finding;
mod info;
mod not_secret;
#[doc(hidden)]
pub mod report;
mod rule;
mod rules;
pub(crate) mod secrets;
mod several;
mod under;

pub use audit::{Audit, AuditedRoute, Exception};
pub use auth_limits::AuthLimits;
pub use configuration::{Configuration, ConfigurationError};
#[doc(hidden)]
pub use configuration::{ConfigurationFile, parse_json};
pub use finding::Finding;
pub use rule::RuleInfo;

use std::panic::Location;

use stockade_errors::ConfigError;

use allowance::{Allowance, LeftOut, PublicRoutes};
use not_secret::NotSecret;
use rule::Rule;

use crate::{RouteInfo, RouteMap};

/// Rules over all routes of a router, and their exceptions.
///
/// `Router::policy` makes the build fail if a rule is broken.
/// [`check`](Self::check) is for tests, and [`audit`](Self::audit) is for
/// readers.
///
/// A rule applies to routes, to the fallback, named `fallback`, and to the
/// settings of the router, named `router`. The name of a route is its method
/// and declared path with prefixes: `GET /users/:id`, `WS /chat`, `ANY
/// /assets/**`.
///
/// ```
/// use stockade::middleware::with_role;
/// use stockade::policy::Policy;
/// use stockade::prelude::*;
///
/// let policy = Policy::recommended()
///     .public_routes(["GET /health"])
///     .rule("admin-area", "everything below /admin needs the role admin", |route| {
///         !route.path.starts_with("/admin") || route.access.always_needs_role("admin")
///     })
///     .allow("wildcard-exposed", "GET /admin/files/**", "the files have any depth");
///
/// let secret = Secret::new("0123456789abcdef0123456789abcdef")?;
/// let auth = with_auth(Auth::secret(secret));
/// let api = routes! {
///     "health": { GET: { async || (), public: "monitoring asks it" } },
///     "admin": {
///         middleware: [auth, with_role("admin")],
///         "files": { "**": { GET: async |Path(name): Path<String>| name } },
///     },
/// };
/// create_router(api, RouterOptions::new()).policy(policy).build()?;
/// # Ok::<(), BoxError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a policy does nothing until a router or a test uses it"]
pub struct Policy {
    rules: Vec<Rule>,
    allowances: Vec<Allowance>,
    left_out: Vec<LeftOut>,
    public_routes: Option<PublicRoutes>,
    not_secret: Vec<NotSecret>,
    location: &'static Location<'static>,
}

impl Policy {
    /// Creates a policy without rules.
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "it keeps the place of the call")]
    pub fn new() -> Self {
        Self {
            rules: Vec::new(),
            allowances: Vec::new(),
            left_out: Vec::new(),
            public_routes: None,
            not_secret: Vec::new(),
            location: Location::caller(),
        }
    }

    /// Creates the policy for an API with external clients: each route requires
    /// a user or a reason why it is public, and nothing is wide open by
    /// accident.
    ///
    /// `book/src/reference/rules.md` lists its rules. A later version may add
    /// rules to it.
    #[track_caller]
    pub fn recommended() -> Self {
        Self { rules: rules::RECOMMENDED.iter().map(Rule::from).collect(), ..Self::new() }
    }

    /// Creates [`recommended`](Self::recommended) with the rules about data and
    /// documents: each text, list and number of a request is bounded, and each
    /// response and each error is known.
    #[track_caller]
    pub fn strict() -> Self {
        let mut policy = Self::recommended();
        policy.rules.extend(rules::STRICT.iter().map(Rule::from));
        policy
    }

    /// Adds a rule that each route, including the fallback, keeps or breaks.
    /// `text` states the rule in lower case, without a full stop. It is also
    /// the reason of the rule's findings.
    #[track_caller]
    pub fn rule(
        self,
        id: impl Into<String>,
        text: impl Into<String>,
        keeps: impl Fn(&RouteInfo) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.with_rule(Rule::of_routes(id.into(), text.into(), keeps))
    }

    /// Adds a rule that reads the whole map and writes the text of its
    /// findings.
    ///
    /// ```
    /// use stockade::policy::{Finding, Policy};
    /// use stockade::prelude::*;
    /// use stockade::routing::map::RouteMap;
    ///
    /// let policy = Policy::new().rule_on_map("few-routes", "there are at most 2 routes", |map: &RouteMap| {
    ///     let too_many = map.routes.iter().skip(2);
    ///     too_many.map(|route| Finding::on(route, "one route too many").mend("remove it")).collect()
    /// });
    /// let api = routes! { GET: async || (), POST: async || (), PUT: async || () };
    /// let map = create_router(api, RouterOptions::new()).build()?.route_map();
    /// let findings = policy.check(&map);
    /// assert!(findings[0].to_string().starts_with("PUT /: [few-routes] one route too many: remove it"));
    /// # Ok::<(), ConfigError>(())
    /// ```
    #[track_caller]
    pub fn rule_on_map(
        self,
        id: impl Into<String>,
        text: impl Into<String>,
        find: impl Fn(&RouteMap) -> Vec<Finding> + Send + Sync + 'static,
    ) -> Self {
        self.with_rule(Rule::new(id.into(), text.into(), find))
    }

    #[track_caller]
    fn with_rule(mut self, rule: Rule) -> Self {
        self.location = Location::caller();
        self.rules.push(rule);
        self
    }

    /// Allows a rule to be broken in one place: a route by its name in the list
    /// of routes (`POST /report`), `fallback`, or `router`. The reason is for
    /// readers of the policy and of its [audit](Self::audit).
    ///
    /// An unnecessary allowance is a finding, and so is an allowance of an
    /// unknown rule or route. So the list can only shrink.
    #[track_caller]
    pub fn allow(
        mut self,
        rule: impl Into<String>,
        route: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        let allowance = Allowance::new(rule.into(), route.into(), false, reason.into());
        self.allowances.push(allowance);
        self
    }

    /// Allows a rule to be broken by every route at and below a path such as
    /// `/internal`, with prefixes. It is necessary as long as one of the routes
    /// breaks the rule.
    #[track_caller]
    pub fn allow_below(
        mut self,
        rule: impl Into<String>,
        path: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        let allowance = Allowance::new(rule.into(), path.into(), true, reason.into());
        self.allowances.push(allowance);
        self
    }

    /// Lists the public routes exactly. An unlisted public route is a finding,
    /// and so is a listed route that does not exist or requires a user. A
    /// second list replaces the first.
    #[track_caller]
    pub fn public_routes<R: Into<String>>(mut self, routes: impl IntoIterator<Item = R>) -> Self {
        self.public_routes = Some(PublicRoutes::new(routes.into_iter().map(Into::into).collect()));
        self
    }

    /// Disables a rule, with a reason.
    #[track_caller]
    pub fn without(mut self, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        self.left_out.push(LeftOut::new(rule.into(), reason.into()));
        self
    }

    /// Declares that fields with this name are not secrets, with a reason. Names
    /// that end with `key`, `token`, `hash` or `digest` suggest a secret, such as
    /// `content_hash`. Case and word separators do not matter.
    ///
    /// The rule `secrets-uncached` and `routes.lock` ignore these fields. An
    /// unnecessary declaration is a finding.
    ///
    /// ```
    /// use stockade::policy::Policy;
    /// use stockade::prelude::*;
    ///
    /// let policy = Policy::strict().not_secret("content_hash", "a checksum of a public file");
    /// # drop(policy);
    /// ```
    #[track_caller]
    pub fn not_secret(mut self, field: impl Into<String>, reason: impl Into<String>) -> Self {
        self.not_secret.push(NotSecret::new(field.into(), reason.into()));
        self
    }

    /// Returns the rules, without the disabled rules.
    pub fn rules(&self) -> impl Iterator<Item = &RuleInfo> {
        self.rules_in_force().map(|rule| &rule.info)
    }

    fn rules_in_force(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| !self.left_out.iter().any(|it| it.rule == rule.info.id))
    }

    /// Returns the violations that are not allowed: first of the router, then
    /// route by route, and last of the policy itself.
    ///
    /// For example, in a test:
    ///
    /// ```
    /// use stockade::policy::Policy;
    /// use stockade::prelude::*;
    ///
    /// let api = routes! { "users": { GET: { async || (), public: "a test" } } };
    /// let map = create_router(api, RouterOptions::new()).build()?.route_map();
    /// assert_eq!(Policy::recommended().check(&map), []);
    /// # Ok::<(), ConfigError>(())
    /// ```
    #[must_use]
    pub fn check(&self, map: &RouteMap) -> Vec<Finding> {
        self.validate(map).findings
    }

    /// Returns the table of all routes: their access, limits and findings.
    /// Public routes come first.
    #[must_use]
    pub fn audit(&self, map: &RouteMap) -> Audit {
        audit::audit(self, map)
    }

    /// Checks the rules. Fails with the violations as configuration errors.
    /// `places` are the source locations of the routes.
    #[doc(hidden)]
    pub fn enforce(
        &self,
        map: &RouteMap,
        mut places: Vec<&'static Location<'static>>,
    ) -> Result<(), ConfigError> {
        let findings = self.check(map);
        places.extend(self.places());
        ConfigError::check(findings.iter().map(|finding| finding.to_issue(&places)).collect())
    }

    /// Returns the source locations of the calls that built the policy.
    fn places(&self) -> impl Iterator<Item = &'static Location<'static>> {
        let allowances = self.allowances.iter().map(|allowance| allowance.location);
        let left_out = self.left_out.iter().map(|it| it.location);
        let list = self.public_routes.iter().map(|list| list.location);
        let not_secret = self.not_secret.iter().map(|it| it.location);
        [self.location].into_iter().chain(allowances).chain(left_out).chain(list).chain(not_secret)
    }
}
