//! [`HostRoutes`]: the routes of an application without its stages, for the
//! adapters of hosts that do the rest by themselves.
//!
//! A host's router need not be able to express our paths. It gets for each route
//! [paths](HostRoute::paths) that match at least what the route matches, and
//! hands on what they match; which route it is, is decided here, on the raw
//! path, as everywhere else.
//!
//! Spec: Router members › toHostRouter.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Method, StatusCode, Version, header};
use http_body::{Body, Frame};
use stockade_core::{
    BodyError, Endpoint, ErrorContext, Handler, HttpBody, Request, Response, Running,
};
use stockade_errors::{ApiError, ConfigError};
use stockade_middleware::Cors;
use stockade_path::{Part, Pattern, SPLAT, Segment, Variant};

use crate::app::{App, Inner};
use crate::dispatch;
use crate::options::CallOptions;
use crate::router::Router;

/// The routes of an [`App`] without its stages: no rate limit, no CORS, no
/// security headers, no 413 before somebody asks for the body.
///
/// What is left is the client's address by `trust_proxy`, the middleware,
/// validation and handler of the route, its limits, and how errors look by
/// default.
///
/// ```
/// use stockade_routing::{HostRoutes, HostSegment, Router};
///
/// let mut router = Router::new();
/// router.get("/flights/:from-:to", async || "a flight");
/// let routes = HostRoutes::build(router)?;
/// let [flight] = &routes.routes()[..] else { unreachable!() };
/// let segments = flight.paths()[0].segments().to_vec();
/// assert_eq!(
///     segments,
///     [HostSegment::Text("flights".into()), HostSegment::One("from_to".into())]
/// );
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
///
/// Spec: Router members › toHostRouter.
#[derive(Clone)]
pub struct HostRoutes {
    app: Arc<Inner>,
    /// What answers the preflights of a route that has `with_cors`.
    preflights: Arc<[(Arc<Endpoint>, Arc<Endpoint>)]>,
}

impl HostRoutes {
    /// Builds the routes of a router.
    ///
    /// # Errors
    /// Every mistake in the routes.
    pub fn build(router: Router) -> Result<Self, ConfigError> {
        App::build_for_host(router).map(|app| Self::new(&app))
    }

    /// Takes the routes of an application that was built already. A router whose
    /// routes have `with_cors` is built by [`build`](Self::build).
    #[must_use]
    pub fn new(app: &App) -> Self {
        let endpoints = app.routes().iter();
        let preflights = endpoints.filter_map(|endpoint| {
            let preflight = preflight_of(endpoint)?;
            Some((Arc::clone(endpoint), Arc::new(preflight)))
        });
        Self { preflights: preflights.collect(), app: Arc::clone(&app.inner) }
    }

    /// The routes one by one, in the order in which they were added.
    #[must_use]
    pub fn routes(&self) -> Vec<HostRoute> {
        let web_sockets = self.app.web_sockets.as_ref();
        let is_web_socket = |endpoint: &Arc<Endpoint>| {
            let known = web_sockets.map_or(&[][..], |table| table.values());
            known.iter().any(|known| Arc::ptr_eq(known, endpoint))
        };
        let endpoints = self.app.endpoints().iter();
        let routes = endpoints.map(|endpoint| HostRoute {
            app: Arc::clone(&self.app),
            endpoint: Arc::clone(endpoint),
            is_web_socket: is_web_socket(endpoint),
            answers_preflights: self.preflight(endpoint).is_some(),
        });
        routes.collect()
    }

    /// Answers a request that a path of a [`HostRoute`] has taken.
    ///
    /// If no route has its method and path after all, the answer is a 404 or a
    /// 405. The response that answers an error has the [`ApiError`] in its
    /// extensions.
    pub fn handle(&self, request: impl Into<Request>) -> HostAnswering {
        let mut req = request.into();
        let is_head = req.method() == Method::HEAD;
        let version = req.version();
        self.app.stages.find_client(&mut req, &CallOptions::default());
        HostAnswering { state: self.begin(req), is_head, version }
    }

    fn begin(&self, mut req: Request) -> State {
        let app = &self.app;
        let settings = app.settings;
        if !dispatch::is_sound(req.path()) {
            let context = ErrorContext::of(&req).with_settings(settings);
            return State::Ready(context.answer(ApiError::new(400, "Bad Request")));
        }
        let Some((endpoint, params)) = self.find(&req) else {
            let context = ErrorContext::of(&req).with_settings(settings);
            return State::Ready(dispatch::unmatched(app, &req, &context));
        };
        let max_body = endpoint.max_body().unwrap_or(app.max_body);
        req.set_route(Arc::clone(&endpoint), params, settings, max_body);
        if req.announces_too_much() {
            // Whoever asks for it is told at once, and the host is not.
            req.map_body(|_| HttpBody::new(TooLarge { is_told: false }));
        }
        State::Running(Box::new(stockade_core::run(endpoint, req)))
    }

    fn find(&self, req: &Request) -> Option<(Arc<Endpoint>, stockade_core::Params)> {
        let found = dispatch::find(&self.app, req, req.path());
        if found.is_some() || !dispatch::is_preflight(req) {
            return found;
        }
        let asked = req.headers().get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
        let asked = Method::from_bytes(asked.as_bytes()).ok()?;
        let head = (asked == Method::HEAD).then_some(Method::GET);
        let find = |method: &Method| dispatch::find_exact(&self.app, method, req.path());
        let (endpoint, params) = find(&asked).or_else(|| find(&head?))?;
        Some((Arc::clone(self.preflight(&endpoint)?), params))
    }

    fn preflight(&self, endpoint: &Arc<Endpoint>) -> Option<&Arc<Endpoint>> {
        let known = self.preflights.iter().find(|(known, _)| Arc::ptr_eq(known, endpoint));
        known.map(|(_, preflight)| preflight)
    }
}

impl fmt::Debug for HostRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.app.endpoints()).finish()
    }
}

/// What answers a preflight in the place of a route: its `with_cors` alone, so
/// that nobody needs to be signed in to ask.
fn preflight_of(endpoint: &Endpoint) -> Option<Endpoint> {
    // The nearest to the handler: its rules count for the answer too.
    let mut inside_out = endpoint.middleware().iter().rev();
    let cors = inside_out.find(|middleware| middleware.mark::<Arc<Cors>>().is_some())?;
    let refuse = Handler::new(async || StatusCode::METHOD_NOT_ALLOWED);
    let preflight = Endpoint::new(Method::OPTIONS, endpoint.pattern(), refuse);
    Some(preflight.with_middleware(vec![cors.clone()]))
}

/// The future of [`HostRoutes::handle`]: it gives the response.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct HostAnswering {
    state: State,
    is_head: bool,
    version: Version,
}

#[derive(Debug)]
enum State {
    Running(Box<Running>),
    Ready(Response),
}

impl Future for HostAnswering {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut response = match &mut self.state {
            State::Running(running) => ready!(Pin::new(running).poll(cx)),
            State::Ready(response) => std::mem::take(response),
        };
        dispatch::set_right(&mut response);
        dispatch::finish(&mut response, self.is_head, self.version);
        Poll::Ready(response)
    }
}

/// In the place of a body that is announced to be above the limit of its route:
/// nothing of it is read.
struct TooLarge {
    is_told: bool,
}

impl Body for TooLarge {
    type Data = &'static [u8];
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, BodyError>>> {
        let was_told = std::mem::replace(&mut self.is_told, true);
        Poll::Ready((!was_told).then_some(Err(BodyError::TooLarge)))
    }
}

/// One route, for the router of another host.
#[derive(Clone)]
pub struct HostRoute {
    app: Arc<Inner>,
    endpoint: Arc<Endpoint>,
    is_web_socket: bool,
    answers_preflights: bool,
}

impl HostRoute {
    /// The route itself.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Whether it is a WebSocket.
    #[must_use]
    pub fn is_web_socket(&self) -> bool {
        self.is_web_socket
    }

    /// The methods that are its own: HEAD comes with GET, CONNECT with a
    /// WebSocket (RFC 8441), OPTIONS with `with_cors`.
    #[must_use]
    pub fn methods(&self) -> Vec<Method> {
        let mut methods = vec![self.endpoint.method().clone()];
        if *self.endpoint.method() == Method::GET {
            methods.push(Method::HEAD);
        }
        if self.is_web_socket {
            methods.push(Method::CONNECT);
        }
        if self.answers_preflights {
            methods.push(Method::OPTIONS);
        }
        methods
    }

    /// Paths that together match at least what it matches: one for each choice
    /// of its optional parameters, in order of preference.
    #[must_use]
    pub fn paths(&self) -> Vec<HostPath> {
        // It was read when the route was made.
        let pattern = Pattern::parse(self.endpoint.pattern());
        let variants = pattern.map(|pattern| pattern.variants()).unwrap_or_default();
        variants.iter().map(HostPath::of).collect()
    }

    /// Whether a raw path is its own among the routes of its method.
    #[must_use]
    pub fn has_path(&self, path: &str) -> bool {
        let found = if self.is_web_socket {
            self.app.web_sockets.as_ref().and_then(|table| dispatch::find_in(table, path))
        } else {
            dispatch::find_exact(&self.app, self.endpoint.method(), path)
        };
        found.is_some_and(|(endpoint, _)| Arc::ptr_eq(&endpoint, &self.endpoint))
    }
}

impl fmt::Debug for HostRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint.fmt(f)
    }
}

/// A path for the router of another host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostPath {
    segments: Vec<HostSegment>,
    order: Vec<stockade_path::Precedence>,
}

/// What stands between two slashes of a [`HostPath`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HostSegment {
    /// This text, which may be empty.
    Text(String),
    /// Any one segment that is not empty, under a name: an identifier of ASCII
    /// that no other segment of the path has.
    One(String),
    /// The rest, slashes included, also nothing, under a name; only at the end.
    Rest(String),
}

impl HostPath {
    fn of(variant: &Variant) -> Self {
        let mut taken: Vec<String> = Vec::new();
        let mut free = |segment: &Segment| {
            let mut name = name_of(segment);
            if name.is_empty() || taken.contains(&name) {
                name = format!("p{}", taken.len());
            }
            taken.push(name.clone());
            name
        };
        let segments = variant.segments().iter().map(|segment| match segment {
            Segment::Literal(text) => HostSegment::Text(text.clone()),
            Segment::Rest => HostSegment::Rest(free(segment)),
            _ => HostSegment::One(free(segment)),
        });
        Self {
            segments: segments.collect(),
            order: variant.segments().iter().map(Segment::precedence).collect(),
        }
    }

    /// The segments, at least one; `/` is one empty text.
    #[must_use]
    pub fn segments(&self) -> &[HostSegment] {
        &self.segments
    }

    /// For routers that take the first path that matches: the lesser path comes
    /// first.
    #[must_use]
    pub fn cmp_precedence(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

/// The names of a segment's parameters as one identifier, empty if they cannot
/// be one.
fn name_of(segment: &Segment) -> String {
    let names = match segment {
        Segment::Parts(parts) => {
            let names = parts.iter().filter_map(|part| match part {
                Part::Param(param) => Some(param.name.as_str()),
                _ => None,
            });
            names.collect::<Vec<_>>().join("_")
        }
        _ => SPLAT.to_owned(),
    };
    let is_plain = names.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // `p` and digits are the names of those that have none.
    let is_number = names.strip_prefix('p').is_some_and(|rest| rest.parse::<u32>().is_ok());
    if is_plain && !is_number { names } else { String::new() }
}
