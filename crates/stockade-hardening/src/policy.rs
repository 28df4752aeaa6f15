//! [`assert_policy`]: checks the routes of an application against a policy.

use std::fmt::Write as _;

use stockade_map::policy::Policy;

use crate::IntoApp;
use crate::fail::{fail, or_fail};

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
/// # Panics
/// Panics if a route violates a rule, or if the router has configuration
/// errors.
#[track_caller]
pub fn assert_policy(router: impl IntoApp, policy: &Policy) {
    let app = or_fail(router.into_app());
    let findings = policy.check(&app.route_map());
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
