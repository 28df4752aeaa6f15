//! [`IntoRouters`]: one router, or several routers with names.

use stockade_errors::{ConfigError, ConfigIssue};
use stockade_routing::App;

use crate::IntoApp;

/// One router of a program, or a list of routers with names, for
/// [`assert_routes_lock`](crate::assert_routes_lock).
///
/// ```
/// use stockade::prelude::*;
/// use stockade::testing::IntoRouters;
///
/// let public = create_router(routes! { "health": { GET: async || "ok" } }, RouterOptions::new());
/// let admin = create_router(routes! {}, RouterOptions::new());
/// let routers = [("public", public), ("admin", admin)].into_routers()?;
/// assert_eq!(routers[1].0, "admin");
/// # Ok::<(), ConfigError>(())
/// ```
pub trait IntoRouters {
    /// Builds the routers. The name of a single router is empty.
    ///
    /// # Errors
    /// Fails with all configuration errors of all routers.
    fn into_routers(self) -> Result<Vec<(String, App)>, ConfigError>;
}

impl<T: IntoApp> IntoRouters for T {
    fn into_routers(self) -> Result<Vec<(String, App)>, ConfigError> {
        Ok(vec![(String::new(), self.into_app()?)])
    }
}

impl<T: IntoApp, const N: usize> IntoRouters for [(&str, T); N] {
    fn into_routers(self) -> Result<Vec<(String, App)>, ConfigError> {
        named(self.into_iter().map(|(name, router)| (name.to_owned(), router.into_app())))
    }
}

impl<T: IntoApp> IntoRouters for Vec<(String, T)> {
    fn into_routers(self) -> Result<Vec<(String, App)>, ConfigError> {
        named(self.into_iter().map(|(name, router)| (name, router.into_app())))
    }
}

/// Returns the built routers, or the configuration errors of all routers.
fn named(
    built: impl Iterator<Item = (String, Result<App, ConfigError>)>,
) -> Result<Vec<(String, App)>, ConfigError> {
    let mut issues: Vec<ConfigIssue> = Vec::new();
    let mut routers = Vec::new();
    for (name, app) in built {
        match app {
            Ok(app) => routers.push((name, app)),
            Err(error) => issues.extend(error.issues().iter().cloned()),
        }
    }
    ConfigError::check(issues)?;
    Ok(routers)
}
