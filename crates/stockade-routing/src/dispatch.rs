//! The life of a request, from its target to its response.
//!
//! Hot: beside the handler's own future nothing is allocated here for a
//! request that matches.
//!
//! Spec: Router members › handle; Errors › Statuses produced by the framework.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};

use http::{HeaderValue, Method, StatusCode, Version, header};
use http_body::Body as _;
use stockade_core::__internal::{
    ErrorContextExt as _, Params, RequestExt as _, RunningHandler, Settings, answer_bug, run,
};
use stockade_core::upgrade::Upgrade;
use stockade_core::{BodyError, BoxFuture, Endpoint, ErrorContext, HttpBody, Request, Response};
use stockade_errors::ApiError;
use stockade_middleware::__internal::{self, Cors, origin_of};
use stockade_middleware::cors::CorsDecided;
use stockade_middleware::rate_limit::{Charge, Decision, too_many};
use stockade_websockets::__internal::wants_web_socket;

use crate::app::{Resolved, RouteSet};
use crate::matcher::Table;
use crate::stages::{self, RequestScope};

/// Answers a request.
pub(crate) fn dispatch(app: &Arc<Resolved>, mut req: Request) -> ResponseFuture {
    let is_head = req.method() == Method::HEAD;
    let version = req.version();
    let endpoint = find_route(app, &mut req);
    let mut scope = app.stages.enter(&mut req);
    if let Some(cors) = endpoint.as_ref().and_then(|endpoint| app.routes.cors_of(endpoint)) {
        scope.follow(Arc::clone(cors), &req);
    }
    if let Some(endpoint) = &endpoint {
        judge_origin(endpoint, app.stages.cors_of(&scope), &mut req);
    }
    let state = if endpoint.is_none() && is_preflight(&req) {
        ResponseState::ready(preflight(app, &req, &mut scope))
    } else {
        charged(app, endpoint, req, None, &mut scope)
    };
    ResponseFuture { app: Arc::clone(app), scope, state, is_head, version }
}

/// Says whether the rules that the answer goes by list the origin of a request,
/// where middleware asks for it.
#[inline]
pub(crate) fn judge_origin(endpoint: &Endpoint, cors: Option<&Cors>, req: &mut Request) {
    // The protection lets these pass anyway; `is_safe` takes QUERY for safe too.
    let is_read = matches!(*req.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if endpoint.guards_origin() && !is_read {
        let is_listed = cors.is_some_and(|cors| cors.lists(origin_of(req.headers())));
        req.set_listed_origin(is_listed);
    }
}

/// Answers a request that a host does not hand over, after it was charged.
#[cold]
pub(crate) fn refuse(app: &Arc<Resolved>, mut req: Request, error: ApiError) -> ResponseFuture {
    let is_head = req.method() == Method::HEAD;
    let version = req.version();
    // It comes no further: headers for everyone are enough.
    let mut scope = app.stages.enter(&mut req);
    let state = charged(app, None, req, Some(Box::new(error)), &mut scope);
    ResponseFuture { app: Arc::clone(app), scope, state, is_head, version }
}

/// Charges a request to the rate limit, and goes on if that says yes. A request
/// with a `refusal` comes no further than that.
#[inline]
fn charged(
    app: &Resolved,
    endpoint: Option<Arc<Endpoint>>,
    req: Request,
    refusal: Option<Box<ApiError>>,
    scope: &mut RequestScope,
) -> ResponseState {
    let is_charged = endpoint.as_ref().is_none_or(|endpoint| endpoint.is_rate_limited());
    match app.stages.limiter.as_ref().filter(|_| is_charged) {
        Some(limiter) if limiter.waits() => {
            let key = stages::key_of(limiter, &req);
            let charge = stages::charge(Arc::clone(limiter), key, app.stages.now());
            let charge = Box::pin(charge);
            ResponseState::Charging(Box::new(Charging { charge, endpoint, req, refusal }))
        }
        Some(limiter) => {
            let key = stages::key_of(limiter, &req);
            match limiter.charge(&key, app.stages.now()) {
                Charge::Now(decision) => {
                    scope.charged = Some(decision);
                    begin(app, endpoint, req, refusal, scope)
                }
                Charge::Later(_) => {
                    let error = ApiError::new(500, "the store of a rate limit waits unasked");
                    ResponseState::refused(app, &req, error)
                }
            }
        }
        None => begin(app, endpoint, req, refusal, scope),
    }
}

/// Goes on after the rate limit.
fn begin(
    app: &Resolved,
    endpoint: Option<Arc<Endpoint>>,
    req: Request,
    refusal: Option<Box<ApiError>>,
    scope: &RequestScope,
) -> ResponseState {
    if let Some(decision) = scope.charged.filter(|decision| !decision.allowed) {
        return ResponseState::refused(app, &req, too_many(&decision));
    }
    if let Some(error) = refusal {
        return ResponseState::refused(app, &req, *error);
    }
    match endpoint {
        None => ResponseState::ready(no_route(app, &req)),
        Some(_) if req.announces_too_much() => {
            ResponseState::refused(app, &req, BodyError::TooLarge.into())
        }
        Some(endpoint) => ResponseState::Running(run(endpoint, req)),
    }
}

/// The answer to a CORS preflight, on any path, known or not: by the rules of
/// the route that it asks about, if it has its own.
fn preflight(app: &Resolved, req: &Request, scope: &mut RequestScope) -> Response {
    let mut response = no_content();
    let method = req.headers().get(header::ACCESS_CONTROL_REQUEST_METHOD);
    let method = method.and_then(|method| Method::from_bytes(method.as_bytes()).ok());
    let routes = &*app.routes;
    let asked = method.filter(|_| routes.has_own_cors()).and_then(|it| {
        let head = (it == Method::HEAD).then_some(Method::GET);
        find_exact(routes, &it, req.path()).or_else(|| find_exact(routes, &head?, req.path()))
    });
    if let Some(own) = asked.as_ref().and_then(|(endpoint, _)| routes.cors_of(endpoint)) {
        scope.follow(Arc::clone(own), req);
    }
    if let Some(cors) = app.stages.cors_of(scope) {
        cors.preflight(req.headers(), response.headers_mut());
    }
    // Headers that were withheld from a refused one are not added at the end.
    response.extensions_mut().insert(CorsDecided);
    response
}

/// The future of [`App::handle`](crate::App::handle): it gives the response.
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
    /// It is known already; `None` when it was given. In a box, because the
    /// usual request has no need of the room.
    Ready(Option<Box<Response>>),
}

impl ResponseState {
    fn ready(response: Response) -> Self {
        Self::Ready(Some(Box::new(response)))
    }

    #[cold]
    fn refused(app: &Resolved, req: &Request, error: ApiError) -> Self {
        let context = ErrorContext::of(req).with_settings(app.settings);
        Self::ready(context.answer(error))
    }
}

/// A request that waits for the store of the rate limit.
struct Charging {
    charge: BoxFuture<'static, Result<Decision, ApiError>>,
    endpoint: Option<Arc<Endpoint>>,
    req: Request,
    refusal: Option<Box<ApiError>>,
}

impl fmt::Debug for Charging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charging").field("req", &self.req).finish_non_exhaustive()
    }
}

impl Charging {
    /// Goes on with the decision of the store.
    fn decided(
        self,
        app: &Resolved,
        scope: &mut RequestScope,
        outcome: Result<Decision, ApiError>,
    ) -> ResponseState {
        match outcome {
            Ok(decision) => {
                scope.charged = Some(decision);
                begin(app, self.endpoint, self.req, self.refusal, scope)
            }
            Err(error) => ResponseState::refused(app, &self.req, error),
        }
    }
}

impl Future for ResponseFuture {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut slot = Poll::Pending;
        poll_into(&mut self, cx, &mut slot);
        slot
    }
}

/// Polls a future and writes its outcome to `slot`: for a server to which each
/// move of a response counts.
pub fn poll_into(future: &mut ResponseFuture, cx: &mut Context<'_>, slot: &mut Poll<Response>) {
    future.answer(cx, slot);
    if let Poll::Ready(response) = slot {
        correct_framing(response);
        future.app.stages.finish_headers(response, &future.scope);
        finish_response(response, future.is_head, future.version);
        future.scope.end(response);
    }
}

impl ResponseFuture {
    fn answer(&mut self, cx: &mut Context<'_>, slot: &mut Poll<Response>) {
        loop {
            match &mut self.state {
                ResponseState::Running(running) => return running.poll_into(cx, slot),
                ResponseState::Ready(response) => {
                    let response = response.take().map(|response| *response);
                    *slot = Poll::Ready(response.unwrap_or_else(|| given(self.app.settings)));
                    return;
                }
                ResponseState::Charging(charging) => {
                    let Poll::Ready(outcome) = charging.charge.as_mut().poll(cx) else {
                        *slot = Poll::Pending;
                        return;
                    };
                    let charging = std::mem::replace(&mut self.state, ResponseState::Ready(None));
                    if let ResponseState::Charging(charging) = charging {
                        self.state = charging.decided(&self.app, &mut self.scope, outcome);
                    }
                }
            }
        }
    }
}

/// The answer to a poll after the response was given.
#[cold]
pub(crate) fn given(settings: Settings) -> Response {
    answer_bug("a response that was given is polled again", settings)
}

/// Finds the route of a request and puts it there, so that every stage can go by
/// its rules. Nothing else happens yet.
fn find_route(app: &Resolved, req: &mut Request) -> Option<Arc<Endpoint>> {
    if is_tunnel(req) {
        return None;
    }
    let (endpoint, params) = find(&app.routes, req, req.path())?;
    // The text of a route is sound: it was checked when the route was declared.
    if !params.is_empty() && !is_sound(req.path()) {
        return None;
    }
    // A limit of the route itself is stronger than any other.
    let max_body = endpoint.max_body().unwrap_or(app.max_body);
    req.set_route(Arc::clone(&endpoint), params, app.settings, max_body);
    Some(endpoint)
}

/// The answer to a request that no route takes.
#[cold]
fn no_route(app: &Resolved, req: &Request) -> Response {
    let context = ErrorContext::of(req).with_settings(app.settings);
    let routes = &*app.routes;
    if is_tunnel(req) {
        // Nothing is tunnelled here. 405 and not 501, which would let anybody
        // fill the log of errors.
        return not_allowed(&context, routes.tables.iter().map(|(method, _)| method));
    }
    let path = req.path();
    if path == "*" && *req.method() == Method::OPTIONS {
        return allowed(routes.tables.iter().map(|(method, _)| method));
    }
    if !is_sound(path) {
        return context.answer(ApiError::new(400, "Bad Request"));
    }
    unmatched(routes, req, &context)
}

/// Returns true for a CONNECT that asks for a tunnel.
fn is_tunnel(req: &Request) -> bool {
    *req.method() == Method::CONNECT && !is_extended_connect(req)
}

/// Returns true for the CONNECT that opens a WebSocket on HTTP/2, which only a
/// host can say.
fn is_extended_connect(req: &Request) -> bool {
    req.extensions().get().copied().is_some_and(Upgrade::is_extended_connect)
}

/// Returns true if the path may be matched at all.
///
/// A backslash or a control character, also as `%0A`, is never part of a path
/// that means well.
pub(crate) fn is_sound(path: &str) -> bool {
    // `http` takes no other control character than DEL for a part of a path.
    let odd = memchr::memchr3(b'\\', DEL, b'%', path.as_bytes());
    path.starts_with('/') && odd.is_none_or(|at| means_well(&path[at..]))
}

#[cold]
fn means_well(path: &str) -> bool {
    !path.bytes().any(|byte| byte == b'\\' || byte.is_ascii_control())
        && stockade_path::__internal::find_control_escape(path).is_none()
}

/// The one control character that `http` takes in a path.
const DEL: u8 = 0x7F;

/// The route of a request; HEAD falls back to GET.
///
/// A handshake goes to the WebSocket of the path, if it has one; so does a GET
/// that nothing else takes, to be told the right form of a handshake.
pub(crate) fn find(
    routes: &RouteSet,
    req: &Request,
    path: &str,
) -> Option<(Arc<Endpoint>, Params)> {
    let method = req.method();
    if let Some(web_sockets) = &routes.web_sockets
        && matches!(*method, Method::GET | Method::CONNECT)
        && wants_web_socket(req)
        && let Some(found) = find_in(web_sockets, path)
    {
        return Some(found);
    }
    let found = find_exact(routes, method, path);
    if found.is_some() || !matches!(*method, Method::GET | Method::HEAD) {
        return found;
    }
    let get = if *method == Method::HEAD { find_exact(routes, &Method::GET, path) } else { None };
    get.or_else(|| find_in(routes.web_sockets.as_ref()?, path))
}

pub(crate) fn find_exact(
    routes: &RouteSet,
    method: &Method,
    path: &str,
) -> Option<(Arc<Endpoint>, Params)> {
    find_in(routes.tables.get(method)?, path)
}

pub(crate) fn find_in(table: &Table<Arc<Endpoint>>, path: &str) -> Option<(Arc<Endpoint>, Params)> {
    let found = table.find(path)?;
    Some((Arc::clone(found.value), Params::new(found.names, found.spans)))
}

/// The answer when no route has this method and path.
#[cold]
pub(crate) fn unmatched(routes: &RouteSet, req: &Request, context: &ErrorContext) -> Response {
    let path = req.path();
    let tables = routes.tables.iter().filter(|(_, table)| table.find(path).is_some());
    let mut others: Vec<&Method> = tables.map(|(method, _)| method).collect();
    if routes.web_sockets.as_ref().is_some_and(|table| table.find(path).is_some()) {
        others.push(&Method::GET);
    }
    let known = !others.is_empty();
    if *req.method() == Method::OPTIONS && known {
        return allowed(others.into_iter());
    }
    if known && routes.method_not_allowed && *req.method() != Method::OPTIONS {
        return not_allowed(context, others.into_iter());
    }
    context.answer(NOT_FOUND.clone())
}

/// Kept, because many clients ask for paths that are not there.
static NOT_FOUND: LazyLock<ApiError> = LazyLock::new(|| ApiError::new(404, "Not Found").repeated());

pub(crate) fn is_preflight(req: &Request) -> bool {
    __internal::is_preflight(req.method(), req.headers())
}

/// 405 with `Allow`.
fn not_allowed<'m>(context: &ErrorContext, methods: impl Iterator<Item = &'m Method>) -> Response {
    let mut response = context.answer(ApiError::new(405, "Method Not Allowed"));
    response.headers_mut().insert(header::ALLOW, allow(methods));
    response
}

/// 204 with `Allow`.
fn allowed<'m>(methods: impl Iterator<Item = &'m Method>) -> Response {
    let mut response = no_content();
    response.headers_mut().insert(header::ALLOW, allow(methods));
    response
}

fn no_content() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// The value of `Allow`: HEAD comes with GET, OPTIONS always works.
fn allow<'m>(methods: impl Iterator<Item = &'m Method>) -> HeaderValue {
    let mut names: Vec<&str> = Vec::new();
    for method in methods {
        names.push(method.as_str());
        if *method == Method::GET {
            names.push("HEAD");
        }
    }
    names.push("OPTIONS");
    // Each once, in the usual order; unusual methods come last.
    let place = |name: &str| USUAL_ORDER.iter().position(|usual| *usual == name);
    names.sort_by_key(|name| (place(name).unwrap_or(USUAL_ORDER.len()), *name));
    names.dedup();
    HeaderValue::try_from(names.join(", ")).unwrap_or(HeaderValue::from_static("OPTIONS"))
}

const USUAL_ORDER: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Finishes a response by the method and version of its request alone, whoever
/// made it.
pub(crate) fn finish_response(response: &mut Response, is_head: bool, version: Version) {
    let status = response.status().as_u16();
    if is_head || matches!(status, 204 | 205 | 304) {
        without_body(response, is_head);
    }
    // The rest of the body is not read, so the connection cannot go on.
    if matches!(status, 408 | 413) && version <= Version::HTTP_11 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Removes headers that would make a malformed message of the response.
///
/// The framing is the host's: it knows the length of the message.
pub(crate) fn correct_framing(response: &mut Response) {
    // The usual response has a content type and nothing to be corrected.
    let mut names = response.headers().keys();
    if names.next().is_none_or(|name| *name == header::CONTENT_TYPE) && names.next().is_none() {
        return;
    }
    if response.headers_mut().remove(header::TRANSFER_ENCODING).is_some() {
        log::error!(target: "stockade", "a handler's Transfer-Encoding is left out");
    }
    let Some(length) = response.body().size_hint().exact().filter(|length| *length > 0) else {
        return;
    };
    let wrong = |value: &HeaderValue| {
        value.to_str().ok().and_then(|text| text.parse().ok()) != Some(length)
    };
    if response.headers().get(header::CONTENT_LENGTH).is_some_and(wrong) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
        log::error!(target: "stockade", "a handler's Content-Length is wrong and left out");
    }
}

/// Drops the body; an answer to HEAD keeps the length that it would have.
///
/// Source: RFC 9110, sections 9.3.2 (HEAD), 15.3.5 (204), 15.3.6 (205) and
/// 15.4.5 (304).
fn without_body(response: &mut Response, is_head: bool) {
    let length = response.body().size_hint().exact();
    *response.body_mut() = HttpBody::empty();
    let status = response.status().as_u16();
    let headers = response.headers_mut();
    match status {
        204 => {
            headers.remove(header::CONTENT_TYPE);
            headers.remove(header::CONTENT_LENGTH);
        }
        205 => {
            headers.remove(header::CONTENT_TYPE);
            headers.insert(header::CONTENT_LENGTH, 0.into());
        }
        304 => {}
        _ if is_head => {
            if let Some(length) = length {
                headers.entry(header::CONTENT_LENGTH).or_insert(length.into());
            }
        }
        _ => {}
    }
}
