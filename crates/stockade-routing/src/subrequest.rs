//! [`ReceivingApp`]: the application that received a request, for requests
//! within it.
//!
//! A request within a request runs all stages of its own route: the lookup, its
//! middleware with its own rate limit, validation and the handler. The stages
//! for whole requests have run already: preflights, the rate limit of the
//! router, and the headers of responses.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use stockade_core::endpoint_internals::{RunningHandler, run};
use stockade_core::{BodyError, Request, Response};
use stockade_stages::observation::Observation;
pub use stockade_stages::observation::{ToolClient, ToolLabels};
use stockade_stages::rate_limit::meter::Meter;

use crate::app::Resolved;
use crate::lookup::find_route;
use crate::route::Route;

/// The application that received a request. The router adds it to the requests
/// of an endpoint that offers tools.
#[derive(Clone)]
pub struct ReceivingApp {
    app: Arc<Resolved>,
}

impl Resolved {
    /// Returns this application for the requests within a request, if the route
    /// offers tools.
    pub(crate) fn receiving(&self, route: &Route) -> Option<ReceivingApp> {
        let tools = self.routes.tools.as_ref()?;
        let app = self.this.upgrade().filter(|_| tools.routes.endpoint == route.index)?;
        Some(ReceivingApp { app })
    }
}

impl ReceivingApp {
    /// Returns the application that received a request, if it is a request of an
    /// endpoint that offers tools.
    #[must_use]
    pub fn of(req: &Request) -> Option<&Self> {
        req.extensions().get()
    }

    /// Returns the compiled tools of the application.
    #[must_use]
    pub fn tools<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let compiled = self.app.routes.tools.as_ref()?.compiled()?;
        Arc::downcast(Arc::clone(compiled)).ok()
    }

    /// Runs a request within a request: the call of a tool. Returns `None` if the
    /// request does not match the route at this index of the map.
    #[must_use]
    pub fn run(
        &self,
        route: usize,
        labels: &ToolLabels,
        mut req: Request,
    ) -> Option<RunningSubrequest> {
        let app = &self.app;
        let found = find_route(app, &mut req).filter(|found| found.index == route)?;
        let endpoint = &found.endpoint;
        let observers = app.stages.observers();
        let observation = observers.and_then(|observers| observers.enter_tool(&req, labels));
        let state = if req.exceeds_body_limit() {
            let error = BodyError::TooLarge.into();
            State::Refused(Some(Box::new(app.error_context(&req).answer(error))))
        } else {
            if endpoint.has_subrequests() {
                Meter::of(&mut req, observers.cloned());
            }
            State::Running(run(Arc::clone(endpoint), req))
        };
        Some(RunningSubrequest { state, observation: observation.map(Box::new) })
    }
}

impl fmt::Debug for ReceivingApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceivingApp")
    }
}

/// The future of [`ReceivingApp::run`]. It reports the response to the log and
/// the metrics.
#[derive(Debug)]
#[must_use = "it does nothing until it is awaited"]
pub struct RunningSubrequest {
    state: State,
    /// Boxed, because most requests are not observed.
    observation: Option<Box<Observation>>,
}

#[derive(Debug)]
enum State {
    Running(RunningHandler),
    /// The body is too large; `None` after the response is returned.
    Refused(Option<Box<Response>>),
}

impl Future for RunningSubrequest {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut slot = Poll::Pending;
        match &mut self.state {
            State::Running(running) => running.poll_into(cx, &mut slot),
            State::Refused(response) => {
                slot = response.take().map_or(Poll::Pending, |response| Poll::Ready(*response));
            }
        }
        if let Poll::Ready(response) = &mut slot
            && let Some(observation) = self.observation.take()
        {
            observation.leave(response);
        }
        slot
    }
}
