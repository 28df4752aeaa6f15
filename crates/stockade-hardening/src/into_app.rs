//! [`IntoApp`]: applications and routers.

use stockade_errors::ConfigError;
use stockade_routing::{App, Router};

use crate::TestClock;
use crate::fail::fail;

/// An application for a test: an app, or a router that the test builds.
pub trait IntoApp {
    /// Builds the application if it is not built yet.
    ///
    /// # Errors
    /// Fails with all configuration errors of the router.
    fn into_app(self) -> Result<App, ConfigError>;

    /// Builds the application with this clock if it is not built yet. Also
    /// returns whether the application uses the clock.
    #[doc(hidden)]
    fn into_app_at(self, _clock: &TestClock) -> Result<(App, bool), ConfigError>
    where
        Self: Sized,
    {
        Ok((self.into_app()?, false))
    }
}

impl IntoApp for Router {
    fn into_app(self) -> Result<App, ConfigError> {
        self.build()
    }

    fn into_app_at(self, clock: &TestClock) -> Result<(App, bool), ConfigError> {
        let router = self.map_options(|options| options.clock(clock.for_router()));
        Ok((router.build()?, true))
    }
}

impl IntoApp for App {
    fn into_app(self) -> Result<App, ConfigError> {
        Ok(self)
    }
}

impl IntoApp for &App {
    fn into_app(self) -> Result<App, ConfigError> {
        Ok(self.clone())
    }
}

/// Starts an application.
///
/// # Panics
/// Panics if a value of `Router::state_at_start` cannot be opened.
pub(crate) async fn start(app: &App) {
    if let Err(error) = app.start().await {
        fail(format_args!("the application cannot start: {error}"));
    }
}
