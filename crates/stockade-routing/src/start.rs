//! [`App::start`]: opens the values that an application needs from its start.

use std::fmt;
use std::panic::Location;

use stockade_core::BoxFuture;
use stockade_errors::{BoxError, ConfigIssue};
use tokio::sync::Mutex;

use crate::app::App;

type Open = Box<dyn FnOnce(App) -> BoxFuture<'static, Result<(), BoxError>> + Send>;

/// The function that opens one value.
pub(crate) struct Opener {
    /// `None` once it runs.
    open: Option<Open>,
    is_done: bool,
    name: &'static str,
    place: &'static Location<'static>,
}

impl Opener {
    pub(crate) fn new(name: &'static str, place: &'static Location<'static>, open: Open) -> Self {
        Self { open: Some(open), is_done: false, name, place }
    }

    /// Returns the configuration error for a host that does not start the
    /// application.
    pub(crate) fn issue_in_host(&self) -> ConfigIssue {
        ConfigIssue::new(format!(
            "this host does not start the application, so nothing opens `State<{}>`: open the \
             value before the build, and use `state` instead of `state_at_start`",
            self.name
        ))
        .at(self.place)
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opener({})", self.name)
    }
}

/// The functions that open the values of an application, in the order of the calls.
#[derive(Debug)]
pub(crate) struct Openers(Mutex<Vec<Opener>>);

impl Openers {
    /// Returns `None` if there is nothing to open.
    pub(crate) fn of(openers: Vec<Opener>) -> Option<Self> {
        (!openers.is_empty()).then(|| Self(Mutex::new(openers)))
    }

    /// Opens each value that is not open.
    async fn run(&self, app: &App) -> Result<(), BoxError> {
        let mut openers = self.0.lock().await;
        for opener in openers.iter_mut().filter(|it| !it.is_done) {
            let name = opener.name;
            let again = || format!("an earlier start failed to open the state {name}");
            let open = opener.open.take().ok_or_else(again)?;
            open(app.clone()).await?;
            opener.is_done = true;
        }
        Ok(())
    }
}

/// Dependency injection.
impl App {
    /// Opens the values of
    /// [`Router::state_at_start`](crate::Router::state_at_start) that are not
    /// open yet.
    ///
    /// Call it if you handle requests without the server of stockade, for
    /// example by [`handle`](Self::handle), in AWS Lambda, or in another
    /// router. Until then, a handler that takes such a value responds with 500.
    /// Clones of an application start together, and further calls do nothing.
    ///
    /// # Errors
    /// Returns the first error of a function that opens a value. A function
    /// runs only once, so the calls after an error also fail. Build the
    /// application again for another attempt.
    pub async fn start(&self) -> Result<(), BoxError> {
        match &self.resolved.routes.openers {
            Some(openers) => openers.run(self).await,
            None => Ok(()),
        }
    }
}
