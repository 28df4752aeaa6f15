//! [`assert_policy`]: checks the routes of an application against a policy.

use std::fmt::Write as _;

use stockade_map::RouteMap;
use stockade_map::policy::Policy;

use crate::IntoRouters;
use crate::fail::{built, fail};

/// Checks that the routes of a router or an app follow a policy. A failure
/// lists every violation with file and line.
///
/// ```
/// use stockade::policy::Policy;
/// use stockade::prelude::*;
/// use stockade::testing::assert_policy;
///
/// let api = routes! { "health": { GET: { async || "ok", public: "monitoring asks it" } } };
/// assert_policy(create_router(api, RouterOptions::new()), &Policy::recommended());
/// ```
///
/// Several routers of a program share a policy: give each a name, as for
/// [`assert_routes_lock`](crate::assert_routes_lock).
///
/// # Panics
/// Panics if a route violates a rule, or if the router has configuration
/// errors.
#[track_caller]
pub fn assert_policy(routers: impl IntoRouters, policy: &Policy) {
    let routers = built(routers.into_routers());
    let findings = match routers.as_slice() {
        [(name, app)] if name.is_empty() => policy.check(&app.route_map()),
        _ => {
            let maps: Vec<(&str, RouteMap)> =
                routers.iter().map(|(name, app)| (name.as_str(), app.route_map())).collect();
            policy.check_all(maps.iter().map(|(name, map)| (*name, map)))
        }
    };
    if findings.is_empty() {
        return;
    }
    let mut text = format!("the policy has {} findings:", findings.len());
    for finding in findings {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {finding}");
    }
    fail(text);
}
