//! [`assert_posture`]: checks a configuration file with the policy of a router.

use serde_json::Value;
use stockade_errors::BoxError;
use stockade_map::policy::{Configuration, ConfigurationError};

use crate::IntoApp;
use crate::fail::{built, fail, or_fail};
use crate::lock::package;

/// Checks that a router follows its policy with the values of a configuration
/// file, such as the file of production. A router without a policy must follow
/// [`Policy::recommended`](stockade_map::policy::Policy::recommended). A failure
/// lists every violation with file and line.
///
/// The file is JSON, or TOML if its name ends with `.toml`. Its path is relative
/// to the package of the test (`CARGO_MANIFEST_DIR`). See [`Configuration`] for
/// its sections, and for other formats. The values of the file replace the
/// options of the router, so build the router with the options that your
/// program sets in code.
///
/// Some rules only check values that matter in production: origins of a
/// developer's machine, proxies without a number, and secrets that are too
/// short. `Policy::allow(rule, "production.json", reason)` allows a violation
/// by a value of the file.
///
/// ```no_run
/// use stockade::policy::Policy;
/// use stockade::prelude::*;
/// use stockade::testing::assert_posture;
///
/// fn router(options: RouterOptions) -> Router {
///     let api = routes! { "news": { GET: { async || "all", public: "anybody may read" } } };
///     create_router(api, options).policy(Policy::recommended())
/// }
///
/// // #[test]
/// fn production_follows_the_policy() {
///     assert_posture(router(RouterOptions::new()), "production.toml");
/// }
/// ```
///
/// # Panics
/// Panics if a value violates the policy, if the file cannot be read, if it has
/// an invalid value or an unknown key, and if the router has configuration
/// errors.
#[track_caller]
pub fn assert_posture(router: impl IntoApp, file: impl Into<Configuration>) {
    let app = built(router.into_app());
    let file = file.into();
    let map = or_fail(app.route_map_under(&file, package().as_deref(), &parse));
    let findings = app.policy_or_recommended().check(&map);
    if !findings.is_empty() {
        fail(ConfigurationError::violations(&file.name(), &findings));
    }
}

/// Parses JSON, or TOML if the name ends with `.toml`.
pub(crate) fn parse(name: &str, text: &str) -> Result<Value, BoxError> {
    if name.ends_with(".toml") {
        return Ok(basic_toml::from_str(text)?);
    }
    Ok(serde_json::from_str(text)?)
}
