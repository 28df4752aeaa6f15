//! The processing of a request, from its target to its response.
//!
//! Hot: a matching request allocates only the future of the handler.
// Spec: Router construction and members › handle; Errors › Statuses produced
// by the framework.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Method, Version};
use stockade_core::endpoint_internals::{RunningHandler, answer_bug, run};
use stockade_core::error_handler_internals::keep_form;
use stockade_core::error_settings::Settings;
use stockade_core::{BodyError, BoxFuture, Endpoint, Request, Response};
use stockade_errors::ApiError;
use stockade_stages::cors::CorsDecided;
use stockade_stages::cors::policy_internals::{Cors, origin_of};
use stockade_stages::rate_limit::decision_internals::too_many;
use stockade_stages::rate_limit::meter::Meter;
use stockade_stages::rate_limit::{ChargeOutcome, Decision};

use crate::app::{App, Resolved};
use crate::finish::{correct_framing, finish_response};
use crate::head_sink::HeadSink;
use crate::lookup::{asked_route, find_route, is_preflight};
use crate::no_route::{no_content, no_route};
use crate::route::Route;
use crate::sites::Sites;
use crate::stages::{self, RequestScope};

impl App {
    /// Responds to a request.
    ///
    /// This never fails: errors, panics of handlers and unknown paths become
    /// responses. Synchronous middleware runs in this call. Everything else
    /// runs when the future is polled.
    // Spec: Router construction and members › handle.
    pub fn handle(&self, request: impl Into<Request>) -> ResponseFuture {
        dispatch(&self.resolved, request.into())
    }

    /// Responds to a request that the host itself rejects, such as a request
    /// with a malformed `Host`. The response has the format of all errors. The
    /// request is charged to the rate limit, so the response may be a 429.
    pub fn refuse(&self, request: impl Into<Request>, error: ApiError) -> ResponseFuture {
        refuse(&self.resolved, request.into(), error)
    }
}

/// Responds to a request.
pub(crate) fn dispatch(app: &Arc<Resolved>, mut req: Request) -> ResponseFuture {
    let is_head = req.method() == Method::HEAD;
    let version = req.version();
    let route = find_route(app, &mut req);
    let mut scope = app.stages.enter(&mut req);
    if let Some(route) = route {
        if let Some(page) = route.endpoint.page_headers() {
            scope.page = page.number;
        }
        if let Some(cors) = &route.cors {
            scope.follow(Arc::clone(cors), &req);
        }
        check_origin(&route.endpoint, app.stages.cors_of(&scope), &mut req);
    }
    let state = scope.in_span(|scope| {
        if route.is_none() && is_preflight(&req) {
            return ResponseState::ready(preflight(app, &req, scope));
        }
        charged(app, route, req, None, scope)
    });
    ResponseFuture { app: Arc::clone(app), scope, state, is_head, version }
}

/// Records whether the CORS rules list the origin of a request, if middleware
/// or the handler needs this information.
#[inline]
pub(crate) fn check_origin(endpoint: &Endpoint, cors: Option<&Cors>, req: &mut Request) {
    if endpoint.guards_origin() {
        let is_listed = cors.is_some_and(|cors| cors.lists(origin_of(req.headers())));
        req.set_listed_origin(is_listed);
    }
}

/// Charges a request that a host rejects, and responds to it.
#[cold]
pub(crate) fn refuse(app: &Arc<Resolved>, mut req: Request, error: ApiError) -> ResponseFuture {
    let is_head = req.method() == Method::HEAD;
    let version = req.version();
    // The request does not reach a route, so the common headers are enough.
    let mut scope = app.stages.enter(&mut req);
    let state = scope.in_span(|scope| charged(app, None, req, Some(Box::new(error)), scope));
    ResponseFuture { app: Arc::clone(app), scope, state, is_head, version }
}

/// Charges a request to the rate limit, and continues if the limit allows it. A
/// request with a `refusal` is only charged.
#[inline]
fn charged(
    app: &Resolved,
    route: Option<&Arc<Route>>,
    req: Request,
    refusal: Option<Box<ApiError>>,
    scope: &mut RequestScope,
) -> ResponseState {
    let is_charged = route.is_none_or(|route| route.endpoint.is_rate_limited());
    match app.stages.limiter.as_ref().filter(|_| is_charged) {
        Some(limiter) if limiter.waits() => {
            let key = stages::key_of(limiter, &req);
            let charge = stages::charge(Arc::clone(limiter), key, app.stages.now());
            let charge = Box::pin(charge);
            let route = route.cloned();
            ResponseState::Charging(Box::new(Charging { charge, route, req, refusal }))
        }
        Some(limiter) => {
            let key = stages::key_of(limiter, &req);
            match limiter.charge(&key, app.stages.now()) {
                ChargeOutcome::Ready(decision) => {
                    scope.charged = Some(decision);
                    begin(app, route, req, refusal, scope)
                }
                ChargeOutcome::Pending(_) => {
                    let error = ApiError::new(
                        500,
                        "a rate limit store waited, although it declares that it never waits",
                    );
                    ResponseState::refused(app, &req, error)
                }
            }
        }
        None => begin(app, route, req, refusal, scope),
    }
}

/// Continues after the rate limit.
fn begin(
    app: &Resolved,
    route: Option<&Arc<Route>>,
    mut req: Request,
    refusal: Option<Box<ApiError>>,
    scope: &mut RequestScope,
) -> ResponseState {
    if let Some(decision) = scope.charged.filter(|decision| !decision.allowed) {
        return ResponseState::refused(app, &req, too_many(&decision));
    }
    if let Some(error) = refusal {
        return ResponseState::refused(app, &req, *error);
    }
    match route {
        None => ResponseState::ready(no_route(app, &req, scope)),
        Some(_) if req.announces_too_much() => {
            ResponseState::refused(app, &req, BodyError::TooLarge.into())
        }
        Some(route) => {
            if route.endpoint.has_subrequests() {
                prepare_parts(app, route, &mut req, scope);
            }
            ResponseState::Running(run(Arc::clone(&route.endpoint), req))
        }
    }
}

/// Prepares a request with parts: calls of tools need the application, and
/// other parts are counted separately.
#[cold]
fn prepare_parts(app: &Resolved, route: &Route, req: &mut Request, scope: &mut RequestScope) {
    match app.receiving(route) {
        Some(receiving) => drop(req.extensions_mut().insert(receiving)),
        None => scope.meter = Some(meter_of(app, req, scope)),
    }
}

/// Adds a meter to a request with separately counted parts. Computes its key
/// again, so other requests do not have to store their key.
#[cold]
fn meter_of(app: &Resolved, req: &mut Request, scope: &RequestScope) -> Arc<Meter> {
    let meter = Meter::of(req, app.stages.observers().cloned());
    if let Some((limiter, decision)) = app.stages.limiter.as_ref().zip(scope.charged) {
        let key = stages::key_of(limiter, req);
        meter.add(Arc::clone(limiter), key, app.stages.clock().clone(), decision);
    }
    meter
}

/// Responds to a CORS preflight for any path, known or unknown. Uses the rules
/// of the requested route, if the route has its own rules.
fn preflight(app: &Resolved, req: &Request, scope: &mut RequestScope) -> Response {
    let mut response = no_content();
    let asked = asked_route(&Sites::of(app, req), req);
    if let Some(own) = asked.and_then(|route| route.cors.as_ref()) {
        scope.follow(Arc::clone(own), req);
    }
    if let Some(cors) = app.stages.cors_of(scope) {
        let page = asked.and_then(|route| route.endpoint.page_headers());
        cors.preflight(req.headers(), response.headers_mut(), page.map(|page| &**page));
    }
    // The end of the request must not add headers that a rejected preflight
    // omits.
    response.extensions_mut().insert(CorsDecided);
    response
}

/// The future of [`App::handle`](crate::App::handle), which returns the
/// response.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture {
    app: Arc<Resolved>,
    scope: RequestScope,
    state: ResponseState,
    is_head: bool,
    version: Version,
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").field("state", &self.state).finish_non_exhaustive()
    }
}

#[derive(Debug)]
enum ResponseState {
    Charging(Box<Charging>),
    Running(RunningHandler),
    /// The response is known; `None` after it is returned. Boxed, because most
    /// requests do not need the space.
    Ready(Option<Box<Response>>),
}

impl ResponseState {
    fn ready(response: Response) -> Self {
        Self::Ready(Some(Box::new(response)))
    }

    #[cold]
    fn refused(app: &Resolved, req: &Request, error: ApiError) -> Self {
        Self::ready(app.error_context(req).answer(error))
    }
}

/// A request that waits for the store of the rate limit.
struct Charging {
    charge: BoxFuture<'static, Result<Decision, ApiError>>,
    route: Option<Arc<Route>>,
    req: Request,
    refusal: Option<Box<ApiError>>,
}

impl fmt::Debug for Charging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charging").field("req", &self.req).finish_non_exhaustive()
    }
}

impl Charging {
    /// Continues with the decision of the store.
    fn decided(
        self,
        app: &Resolved,
        scope: &mut RequestScope,
        outcome: Result<Decision, ApiError>,
    ) -> ResponseState {
        match outcome {
            Ok(decision) => {
                scope.charged = Some(decision);
                begin(app, self.route.as_ref(), self.req, self.refusal, scope)
            }
            Err(error) => ResponseState::refused(app, &self.req, error),
        }
    }
}

impl Future for ResponseFuture {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut slot = Poll::Pending;
        poll_into(&mut self, cx, &mut slot, None);
        slot
    }
}

/// Polls a future and writes its output to `slot`, so a server does not have to
/// move the response.
///
/// If the server writes `sink` into the head of the response, prepared headers
/// are written to `sink` as text, and are not in the response.
pub fn poll_into(
    future: &mut ResponseFuture,
    cx: &mut Context<'_>,
    slot: &mut Poll<Response>,
    sink: Option<&HeadSink>,
) {
    let ResponseFuture { app, scope, state, is_head, .. } = future;
    scope.in_span(|scope| {
        state.answer(app, scope, cx, slot);
        if let Poll::Ready(response) = slot {
            correct_framing(response, *is_head);
        }
    });
    if let Poll::Ready(response) = slot {
        future.app.stages.note_parts(&mut future.scope);
        future.app.stages.finish_headers(response, &future.scope, sink);
        finish_response(response, future.is_head, future.version);
        keep_form(response);
        future.scope.end(response);
    }
}

impl ResponseState {
    /// Writes the response to `slot`, if it is ready.
    fn answer(
        &mut self,
        app: &Resolved,
        scope: &mut RequestScope,
        cx: &mut Context<'_>,
        slot: &mut Poll<Response>,
    ) {
        loop {
            match self {
                Self::Running(running) => return running.poll_into(cx, slot),
                Self::Ready(response) => {
                    let response = response.take().map(|response| *response);
                    *slot = Poll::Ready(response.unwrap_or_else(|| given(app.settings)));
                    return;
                }
                Self::Charging(charging) => {
                    let Poll::Ready(outcome) = charging.charge.as_mut().poll(cx) else {
                        *slot = Poll::Pending;
                        return;
                    };
                    let charging = std::mem::replace(self, Self::Ready(None));
                    if let Self::Charging(charging) = charging {
                        *self = charging.decided(app, scope, outcome);
                    }
                }
            }
        }
    }
}

/// Drops the handler within the span, because its log lines after a disconnect
/// also belong to its request.
#[cfg(feature = "tracing")]
impl Drop for ResponseFuture {
    fn drop(&mut self) {
        let state = &mut self.state;
        self.scope.in_span(|_| *state = ResponseState::Ready(None));
    }
}

/// Returns the response to a poll after completion.
#[cold]
pub(crate) fn given(settings: Settings) -> Response {
    answer_bug("a finished response was polled again", settings)
}
