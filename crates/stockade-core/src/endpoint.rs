//! [`Endpoint`]: one route with everything that runs for it, compiled once.
//!
//! Hot: a request without asynchronous middleware costs the one allocation of
//! its handler's future here; each asynchronous middleware costs one more.
//!
//! Spec: Middleware contract; Errors › Response rules.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use stockade_errors::__internal::catch_panic;
use stockade_errors::ApiError;
use stockade_serialization::to_json;

use crate::middleware::{Run, Step};
use crate::request::DEFAULT_MAX_JSON_VALUES;
use crate::{
    Accepts, BoxFuture, Docs, Flow, Handler, HttpBody, Middleware, Next, Request, Response, States,
    Validation, bug, escaped,
};
use crate::{header_map_pool, upgrade};

/// One route: its method and path, its middleware, its handler, its limits.
///
/// A router makes one for each route when it is built.
pub struct Endpoint {
    method: Method,
    pattern: Box<str>,
    name: Option<Box<str>>,
    middleware: Box<[Middleware]>,
    handler: Handler,
    validation: Validation,
    states: States,
    max_body: Option<u64>,
    accepts: Option<Arc<Accepts>>,
    max_json_values: usize,
    rate_limited: bool,
    challenges: Box<[Box<str>]>,
    guards_origin: bool,
    docs: Docs,
    public: Option<Box<str>>,
}

impl Endpoint {
    /// A route without middleware, name or limits of its own.
    pub fn new(method: Method, pattern: impl Into<Box<str>>, handler: Handler) -> Self {
        Self {
            method,
            pattern: pattern.into(),
            name: None,
            middleware: Box::default(),
            handler,
            validation: Validation::new(),
            states: States::default(),
            max_body: None,
            accepts: None,
            max_json_values: DEFAULT_MAX_JSON_VALUES,
            rate_limited: true,
            challenges: Box::default(),
            guards_origin: false,
            docs: Docs::default(),
            public: None,
        }
    }

    /// Gives it a name.
    #[must_use]
    pub fn with_name(mut self, name: Option<impl Into<Box<str>>>) -> Self {
        self.name = name.map(Into::into);
        self
    }

    /// Gives it its middleware, in the order in which it runs.
    #[must_use]
    pub fn with_middleware(mut self, middleware: impl Into<Box<[Middleware]>>) -> Self {
        self.middleware = middleware.into();
        self
    }

    /// Gives it what it checks before the handler runs.
    #[must_use]
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// Gives it what the application provides.
    #[must_use]
    pub fn with_states(mut self, states: States) -> Self {
        self.states = states;
        self
    }

    /// Gives it a body limit of its own, in bytes.
    #[must_use]
    pub fn with_max_body(mut self, bytes: Option<u64>) -> Self {
        self.max_body = bytes;
        self
    }

    /// Narrows what its body may be.
    #[must_use]
    pub fn with_accepts(mut self, accepts: Option<Arc<Accepts>>) -> Self {
        self.accepts = accepts;
        self
    }

    /// Limits the values of a JSON body that are kept untyped. Default: 100,000.
    #[must_use]
    pub fn with_max_json_values(mut self, values: usize) -> Self {
        self.max_json_values = values;
        self
    }

    /// Says whether the rate limit of the router is charged for it; it is unless
    /// this says otherwise.
    #[must_use]
    pub fn with_rate_limited(mut self, rate_limited: bool) -> Self {
        self.rate_limited = rate_limited;
        self
    }

    /// Gives it the challenges of a 401, as its middleware described them.
    #[must_use]
    pub fn with_challenges(mut self, challenges: &[String]) -> Self {
        self.challenges = challenges.iter().map(|challenge| challenge.as_str().into()).collect();
        self
    }

    /// Says whether its middleware refuses requests of other origins.
    #[must_use]
    pub fn with_origin_guard(mut self, guards_origin: bool) -> Self {
        self.guards_origin = guards_origin;
        self
    }

    /// Gives it what is said of it to those who read about it.
    #[must_use]
    pub fn with_docs(mut self, docs: Docs) -> Self {
        self.docs = docs;
        self
    }

    /// Says why it is open to everybody.
    #[must_use]
    pub fn with_public(mut self, reason: Option<impl Into<Box<str>>>) -> Self {
        self.public = reason.map(Into::into);
        self
    }

    /// The method under which it was registered.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path as it was declared, with prefixes: `/users/:id`.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The middleware, in the order in which it runs.
    #[must_use]
    pub fn middleware(&self) -> &[Middleware] {
        &self.middleware
    }

    /// What it checks before the handler runs.
    #[must_use]
    pub fn validation(&self) -> &Validation {
        &self.validation
    }

    /// Its own body limit, in bytes.
    #[must_use]
    pub fn max_body(&self) -> Option<u64> {
        self.max_body
    }

    /// The types that its body may have; `None` for any.
    #[must_use]
    pub fn accepts(&self) -> Option<&Accepts> {
        self.accepts.as_deref()
    }

    /// The largest number of values of a JSON body that are kept untyped.
    #[must_use]
    pub fn max_json_values(&self) -> usize {
        self.max_json_values
    }

    /// Whether the rate limit of the router is charged for it.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.rate_limited
    }

    /// The challenges of a 401: the ways by which its middleware finds a user.
    #[must_use]
    pub fn challenges(&self) -> &[Box<str>] {
        &self.challenges
    }

    /// Returns true if its middleware refuses requests of other origins, which
    /// needs [`Request::set_listed_origin`].
    #[must_use]
    pub fn guards_origin(&self) -> bool {
        self.guards_origin
    }

    /// What is said of it to those who read about it.
    #[must_use]
    pub fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Why it is open to everybody, if its entry says that it is. It is for
    /// whoever checks the routes of an application, and switches nothing off.
    #[must_use]
    pub fn public_reason(&self) -> Option<&str> {
        self.public.as_deref()
    }

    /// What the application provides.
    #[must_use]
    pub fn states(&self) -> &States {
        &self.states
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({} {})", self.method, self.pattern)
    }
}

/// Runs middleware and handler; errors and panics become responses.
///
/// The request must have been put on `endpoint` by [`Request::set_route`]. A body
/// of a type that the route does not accept is refused before anything else.
/// Synchronous middleware runs at once, the rest when the future is polled.
pub fn run(endpoint: Arc<Endpoint>, req: Request) -> Running {
    let (settings, id) = (req.inner.settings, req.shared_id());
    let (method, target) = (req.method().clone(), req.uri().path_and_query().cloned());
    let refusal = endpoint.accepts.as_deref().and_then(|accepts| accepts.refuse(&req));
    let rest = match refusal {
        Some(error) => Rest { endpoint, at: 0, state: State::failed(error) },
        None => Rest::start(endpoint, 0, req),
    };
    Running { rest, settings, method, target, id }
}

/// The future of [`run`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Running {
    rest: Rest,
    // What an `ErrorContext` is made of, if there has to be one.
    settings: Settings,
    method: Method,
    target: Option<PathAndQuery>,
    id: Option<Arc<str>>,
}

impl Running {
    /// Polls, and writes what comes of it to `slot`. A response that is returned
    /// is moved at each level, which is what most of the work of ours would be.
    pub fn poll_into(&mut self, cx: &mut Context<'_>, slot: &mut Poll<Response>) {
        if let Some(error) = self.rest.poll_into(cx, slot) {
            *slot = Poll::Ready(self.context().answer(error));
            return;
        }
        match slot {
            Poll::Pending => {}
            Poll::Ready(response) if (200..=599).contains(&response.status().as_u16()) => {
                response.body_mut().log_to(|| self.context());
            }
            Poll::Ready(response) => self.set_right(response),
        }
    }

    /// A handler cannot send interim answers, and there is nothing above.
    #[cold]
    fn set_right(&self, response: &mut Response) {
        if !upgrade::switches(response) {
            let status = response.status().as_u16();
            let error = ApiError::new(500, format!("{status} is no final status"));
            *response = self.context().answer(error);
        }
    }

    #[cold]
    fn context(&self) -> ErrorContext {
        ErrorContext {
            settings: self.settings,
            method: self.method.clone(),
            target: self.target.clone(),
            endpoint: Some(Arc::clone(&self.rest.endpoint)),
            id: self.id.clone(),
        }
    }
}

impl Future for Running {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut slot = Poll::Pending;
        self.poll_into(cx, &mut slot);
        slot
    }
}

/// The rest of a chain, from some middleware on.
///
/// By hand and not an `async fn`, which would hold the request once for each
/// place that it can be at: every connection keeps room for this.
///
/// A panic is an error of the rest, so that style B middleware outside of it
/// runs to its end.
pub(crate) struct Rest {
    endpoint: Arc<Endpoint>,
    /// Index of the middleware that comes next.
    at: usize,
    state: State,
}

enum State {
    /// Middleware or the validation, after which the chain goes on.
    Step(Step),
    /// Style B middleware, which runs the rest of the chain itself.
    Around(BoxFuture<'static, Result<Option<Response>, ApiError>>),
    /// The handler.
    Handler(BoxFuture<'static, Result<Response, ApiError>>),
    /// It is known already; `None` when it was given. In a box, because the
    /// usual request has no need of the room.
    Ready(Option<Result<Box<Response>, ApiError>>),
}

impl State {
    fn failed(error: ApiError) -> Self {
        Self::Ready(Some(Err(error)))
    }
}

impl Rest {
    /// Begins with the middleware at index `at`.
    pub(crate) fn start(endpoint: Arc<Endpoint>, at: usize, req: Request) -> Self {
        let mut rest = Self { endpoint, at, state: State::Ready(None) };
        if let Err(error) = catch_panic(|| rest.advance(req)) {
            rest.state = State::failed(error);
        }
        rest
    }

    /// Goes on until something has to be waited for.
    fn advance(&mut self, mut req: Request) {
        let endpoint = &self.endpoint;
        while let Some(middleware) = endpoint.middleware.get(self.at) {
            self.at += 1;
            match &middleware.run {
                Run::Sync(check) => match check(&mut req) {
                    Ok(Flow::Continue) => {}
                    Ok(Flow::Respond(response)) => {
                        self.state = State::Ready(Some(Ok(Box::new(response))));
                        return;
                    }
                    Err(error) => {
                        self.state = State::failed(error);
                        return;
                    }
                },
                Run::Before(before) => {
                    self.state = State::Step(before(req));
                    return;
                }
                Run::Around(around) => {
                    let next = Next { endpoint: Arc::clone(endpoint), at: self.at };
                    self.state = State::Around(around(req, next));
                    return;
                }
            }
        }
        // The validation comes once, after the last middleware.
        let is_first = self.at == endpoint.middleware.len();
        self.at += 1;
        self.state = match is_first.then(|| endpoint.validation.judge_text(&mut req)) {
            Some(Err(error)) => State::failed(error),
            Some(Ok(())) if endpoint.validation.body.is_some() => {
                State::Step(validate_body(Arc::clone(endpoint), req))
            }
            _ => State::Handler(endpoint.handler.call(req)),
        };
    }

    /// Polls, and writes what comes of it to `slot`, unless it is the error that
    /// is returned.
    fn poll_into(&mut self, cx: &mut Context<'_>, slot: &mut Poll<Response>) -> Option<ApiError> {
        let polled = catch_panic(|| match self.poll_chain(cx) {
            Poll::Ready(Err(error)) => Some(error),
            Poll::Ready(Ok(response)) => {
                *slot = Poll::Ready(response);
                None
            }
            Poll::Pending => {
                *slot = Poll::Pending;
                None
            }
        });
        polled.unwrap_or_else(Some)
    }

    fn poll_chain(&mut self, cx: &mut Context<'_>) -> Poll<Result<Response, ApiError>> {
        loop {
            match &mut self.state {
                State::Handler(handler) => return handler.as_mut().poll(cx),
                State::Step(step) => {
                    let (req, flow) = ready!(step.as_mut().poll(cx));
                    match flow? {
                        Flow::Continue => self.advance(req),
                        Flow::Respond(response) => return Poll::Ready(Ok(response)),
                    }
                }
                State::Around(around) => {
                    let response = ready!(around.as_mut().poll(cx))?;
                    return Poll::Ready(response.ok_or_else(|| self.unanswered()));
                }
                State::Ready(outcome) => {
                    return Poll::Ready(match outcome.take() {
                        Some(outcome) => outcome.map(|response| *response),
                        None => Err(bug("a response that was given is polled again")),
                    });
                }
            }
        }
    }

    /// The error when style B middleware gave no response.
    #[cold]
    fn unanswered(&self) -> ApiError {
        let index = self.at.checked_sub(1);
        let middleware = index.and_then(|index| self.endpoint.middleware.get(index));
        let name = middleware.map_or("?", Middleware::name);
        ApiError::new(500, format!("middleware `{name}` neither called next nor answered"))
    }
}

impl Future for Rest {
    type Output = Result<Response, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        catch_panic(|| self.poll_chain(cx)).unwrap_or_else(|error| Poll::Ready(Err(error)))
    }
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rest").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// Checks the body and puts the checked data in its place.
fn validate_body(endpoint: Arc<Endpoint>, mut req: Request) -> Step {
    Box::pin(async move {
        let outcome = endpoint.validation.judge_body(&mut req).await;
        let outcome = outcome.map_err(|error| req.first_failure(error));
        (req, outcome.map(|()| Flow::Continue))
    })
}

/// What decides how errors are answered.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Whether the real message of a 5xx is sent.
    pub expose_errors: bool,
    /// Whether errors are sent as RFC 9457 problem details.
    pub problem_details: bool,
}

/// What must be known of a request to answer and to log its error.
#[derive(Clone, Debug)]
pub struct ErrorContext {
    settings: Settings,
    method: Method,
    target: Option<PathAndQuery>,
    endpoint: Option<Arc<Endpoint>>,
    id: Option<Arc<str>>,
}

impl ErrorContext {
    /// Takes note of a request before it is handed on.
    #[must_use]
    pub fn of(req: &Request) -> Self {
        Self {
            settings: req.inner.settings,
            method: req.method().clone(),
            target: req.uri().path_and_query().cloned(),
            endpoint: req.inner.endpoint.clone(),
            id: req.shared_id(),
        }
    }

    /// The same with other settings, for a request that no route has taken.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The same with a name for the request, for one that was not given its own.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The name of the request in logs, if it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// What decides how errors are answered.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The method of the request.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The pattern of the route, such as `/users/:id`; `None` if none took the
    /// request.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.endpoint.as_deref().map(Endpoint::pattern)
    }

    /// The path of the request, as it was sent, without the query.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.target.as_ref().map(PathAndQuery::path)
    }

    /// Logs the error once and makes its response: the one place that decides
    /// what leaves the process.
    ///
    /// Spec: Errors › Response rules.
    #[must_use]
    #[cold]
    pub fn answer(&self, error: ApiError) -> Response {
        self.log(&error);
        let kept = error.keep(|| Answer::of(&error, self.settings));
        // The first one may have gone by other settings.
        if let Some(answer) = kept.filter(|answer| answer.settings == self.settings) {
            let mut response = start(self.settings, &error, answer.body.clone().into());
            response.headers_mut().extend(answer.headers.iter().cloned());
            response.extensions_mut().insert(error);
            return response;
        }
        let body = text(&error, self.settings);
        respond_with(self.settings, error, body.into())
    }

    /// The body that leaves the process for an error, by the settings.
    #[must_use]
    pub fn body(&self, error: &ApiError) -> Value {
        let expose = self.settings.expose_errors;
        if self.settings.problem_details { error.problem(expose) } else { error.body(expose) }
    }

    /// The response of an error with this body, without a line in the log: for
    /// middleware that answers errors in its own way.
    #[must_use]
    #[cold]
    pub fn respond(&self, error: ApiError, body: &Value) -> Response {
        respond_with(self.settings, error, body.to_string().into())
    }

    /// Logs an error: 5xx at error level with the chain of causes, 4xx at debug
    /// level; with the name of the request as the key-value `request_id`, and in
    /// the text.
    ///
    /// Texts are [`escaped`](crate::escaped), because a client may have written
    /// parts of them.
    pub fn log(&self, error: &ApiError) {
        let status = error.status();
        if status >= 500 {
            let (place, chain) = (self.place(), chain(error));
            log::error!(
                target: TARGET, request_id = self.id(); "{place}: {status} {}", escaped(chain)
            );
        } else if log::log_enabled!(target: TARGET, log::Level::Debug) {
            let place = self.place();
            log::debug!(
                target: TARGET, request_id = self.id(); "{place}: {status} {}", escaped(error)
            );
        }
    }

    /// Logs an error that came after the response had begun. It is too late
    /// for a status, and the client misses something, so it is always an error.
    #[cold]
    pub fn log_late(&self, error: &(dyn std::error::Error + 'static)) {
        let (place, chain) = (self.place(), chain(error));
        log::error!(
            target: TARGET, request_id = self.id(); "{place}: broke off: {}", escaped(chain)
        );
    }

    /// Method, pattern, path and name. Never the query, which may hold secrets.
    fn place(&self) -> String {
        let route = self.route().unwrap_or("-");
        let path = escaped(self.path().unwrap_or("-"));
        match self.id() {
            Some(id) => format!("{} {route} ({path}) [{}]", self.method, escaped(id)),
            None => format!("{} {route} ({path})", self.method),
        }
    }
}

pub(crate) fn respond_with(settings: Settings, error: ApiError, body: HttpBody) -> Response {
    let mut response = start(settings, &error, body);
    response.headers_mut().extend(headers_of(&error));
    response.extensions_mut().insert(error);
    response
}

/// A response without the headers that the error has.
fn start(settings: Settings, error: &ApiError, body: HttpBody) -> Response {
    let problem = settings.problem_details;
    let content_type = if problem { "application/problem+json" } else { "application/json" };
    let content_type = HeaderValue::from_static(content_type);
    let mut response = header_map_pool::response(body, content_type);
    *response.status_mut() =
        StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// What the answers to an error have in common that is answered many times.
struct Answer {
    settings: Settings,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
}

impl Answer {
    fn of(error: &ApiError, settings: Settings) -> Self {
        let headers = headers_of(error).collect();
        Self { settings, headers, body: text(error, settings).into() }
    }
}

/// The body of an error as JSON.
pub(crate) fn text(error: &ApiError, settings: Settings) -> Vec<u8> {
    let expose = settings.expose_errors;
    if settings.problem_details {
        return error.problem(expose).to_string().into();
    }
    // The second way writes the same, and cannot fail.
    to_json(&error.shown(expose)).unwrap_or_else(|_| error.body(expose).to_string().into())
}

/// The headers of an error; what cannot be one is logged.
fn headers_of(error: &ApiError) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    error.headers().filter_map(|(name, value)| {
        let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
        if header.is_none() {
            log::error!("an error's header {name:?} is malformed and left out");
        }
        header
    })
}

pub(crate) const TARGET: &str = "stockade::error";

/// The text of an error and of its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut chain = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        // `ApiError::internal` takes over the text of its source.
        if !chain.ends_with(&text) {
            chain.push_str(": ");
            chain.push_str(&text);
        }
        source = cause.source();
    }
    chain
}

/// The error that a response answers, if it answers one: it stands in the
/// extensions.
///
/// Middleware that looks at the response of [`Next::run`] and the layers of
/// other hosts find the error there.
#[must_use]
pub fn error_of(response: &Response) -> Option<&ApiError> {
    response.extensions().get()
}
