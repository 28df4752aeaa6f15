//! `Completing`: a handler that continues after its client disconnects.
//!
//! It affects only routes with the setting `run_to_completion`, and requests
//! with an idempotency key.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Method;
use stockade_errors::panic::CatchPanic;
use stockade_errors::{ApiError, ConfigError, ConfigIssue};
use tokio::runtime::Handle as Runtime;
use tokio::time::timeout;

pub use crate::completions::Completions;
use crate::handler_progress::HandlerProgress;
use crate::reply::writer_link::Link;
use crate::route_context::RouteContext;
use crate::{BoxFuture, Handler, Request, Response, Setting, escaped};

/// Work that moves to a separate task if its future is dropped early. Until
/// then, it runs in the connection's task like any other handler.
pub struct Completing {
    work: Option<Work>,
    /// Becomes true when the work must be finished. `None` if it must always be
    /// finished.
    has_begun: Option<Arc<AtomicBool>>,
    within: Duration,
    completions: Completions,
    name: WorkName,
}

/// The method and the route of a request, for the log.
#[derive(Clone, Debug)]
struct WorkName {
    method: Method,
    route: Option<Arc<RouteContext>>,
}

impl WorkName {
    fn of(req: &Request) -> Self {
        Self { method: req.method().clone(), route: req.inner.route.clone() }
    }
}

impl fmt::Display for WorkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let route = self.route.as_deref().and_then(RouteContext::route);
        write!(f, "{} {}", self.method, route.unwrap_or("(no route)"))
    }
}

type Work = BoxFuture<'static, Result<Response, ApiError>>;

impl Completing {
    /// Starts the work for a request. It may continue for as long as its route
    /// allows.
    #[must_use]
    pub fn of(req: Request, work: impl FnOnce(Request) -> Work) -> Self {
        let context = req.inner.route.as_deref();
        let setting = context.map(|it| &it.settings.run_to_completion);
        let within = match setting {
            Some(Setting::Off) => Duration::ZERO,
            other => other.and_then(time_to_complete).unwrap_or(STANDARD),
        };
        let completions = context.and_then(|it| it.completions.clone()).unwrap_or_default();
        let name = WorkName::of(&req);
        Self { work: Some(work(req)), has_begun: None, within, completions, name }
    }
}

impl Future for Completing {
    type Output = Result<Response, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Removes the work while it runs, because it must not continue after a
        // panic.
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl Drop for Completing {
    fn drop(&mut self) {
        let Some(work) = self.work.take().filter(|_| !self.within.is_zero()) else { return };
        if self.has_begun.as_ref().is_some_and(|begun| !begun.load(Ordering::Acquire)) {
            return;
        }
        let Ok(runtime) = Runtime::try_current() else { return };
        let Some(place) = self.completions.enter() else {
            self.completions.warn_of_refusal(&self.name);
            return;
        };
        let (within, name) = (self.within, self.name.clone());
        runtime.spawn(async move {
            let _place = place;
            // A panic is logged as an error, because nothing else reports it
            // here.
            let ended = timeout(within, CatchPanic::new(work)).await;
            match ended.map(|outcome| outcome.and_then(|response| response)) {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    // Logged like errors of other handlers.
                    let is_fault = error.status() >= 500;
                    let level = if is_fault { log::Level::Error } else { log::Level::Debug };
                    let error = escaped(error);
                    log::log!(target: "stockade", level, "{name} failed after its client \
                                                          disconnected: {error}");
                }
                Err(_) => log::warn!(
                    target: "stockade",
                    "{name} was dropped: it ran for {within:?} after its client disconnected"
                ),
            }
        });
    }
}

impl fmt::Debug for Completing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completing").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Creates a handler that continues without its client after its arguments are
/// extracted.
pub(crate) fn completing(handler: Handler, within: Duration, completions: Completions) -> Handler {
    let described = handler.clone();
    let call = move |mut req: Request| -> Work {
        // The request has an idempotency key: it continues, and its response is
        // stored.
        if req.extensions().get::<HandlerProgress>().is_some() {
            return handler.call(req);
        }
        // An erased handler extracts its own arguments.
        let has_begun = Arc::new(AtomicBool::new(handler.is_erased()));
        req.inner.writer = Some(Link::Begins(Arc::clone(&has_begun)));
        let (name, completions) = (WorkName::of(&req), completions.clone());
        let work = Some(handler.call(req));
        Box::pin(Completing { work, has_begun: Some(has_begun), within, completions, name })
    };
    Handler::erased(call, move |doc| described.describe(doc))
}

/// Validates the setting `run_to_completion`.
///
/// # Errors
/// Fails for a time of 0.
pub fn time_of(setting: Setting<Duration>) -> Result<Setting<Duration>, ConfigError> {
    match setting {
        Setting::Value(Duration::ZERO) => {
            Err(ConfigIssue::new("`run_to_completion` must not be 0; use `false`").into())
        }
        setting => Ok(setting),
    }
}

/// Returns the time for which a handler may continue, or `None` if the setting
/// is off or not set.
#[must_use]
pub fn time_to_complete(setting: &Setting<Duration>) -> Option<Duration> {
    match setting {
        Setting::Value(time) => Some(*time),
        Setting::On => Some(STANDARD),
        Setting::Off | Setting::Inherit => None,
    }
}

/// The default time for which a handler may continue without its client.
pub const STANDARD: Duration = Duration::from_secs(30);
