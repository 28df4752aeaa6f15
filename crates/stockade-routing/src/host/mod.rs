//! [`HostRoutes`]: the routes of an application without its stages, for
//! adapters of hosts that replace the stages.
//!
//! The router of a host may not be able to express all paths. For each route,
//! it therefore registers [paths](HostRoute::paths) that match every request of
//! the route, and possibly more requests. It passes the matching requests to
//! this module, which finds their route by the raw path, as usual.
// Spec: Router construction and members › toHostRouter.

mod path;
mod without_effect;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Method, StatusCode, Version};
use http_body::{Body, Frame};
use stockade_core::endpoint_internals::{EndpointKind, EndpointParts, RunningHandler, run};
use stockade_core::error_handler_internals::keep_form;
use stockade_core::error_settings::Settings;
use stockade_core::route_context::RouteContext;
use stockade_core::{BodyError, Endpoint, Handler, HttpBody, Request, Response};
use stockade_errors::{ApiError, ConfigError};
use stockade_path::Pattern;
use stockade_stages::cors::policy_internals::Cors;
use stockade_stages::rate_limit::meter::Meter;

pub use self::path::{HostPath, HostSegment};
use self::without_effect::without_effect;
use crate::any_method::is_any;
use crate::app::{App, Resolved};
use crate::compile::nearest_cors;
use crate::lookup::RouteMatch;
use crate::route::Route;
use crate::router::Router;
use crate::sites::{Forms, Sites};
use crate::table_set::TableSet;
use crate::trailing_slash::redirect;
use crate::{dispatch, finish, lookup, no_route};

/// The routes of an [`App`] without its stages: no rate limit, no CORS, no
/// security headers, no 413 before the body is read.
///
/// The other parts still apply: the client's address from `trust_proxy`, the
/// default format of errors, and the middleware, limits, validation and handler
/// of each route.
///
/// ```
/// use stockade::Router;
/// use stockade::routing::{HostRoutes, HostSegment};
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
/// # Ok::<(), stockade::ConfigError>(())
/// ```
// Spec: Router construction and members › toHostRouter.
#[derive(Clone)]
pub struct HostRoutes {
    app: Arc<Resolved>,
    /// For each route, the route that handles its preflights if it has
    /// `with_cors`.
    preflights: Arc<[Option<Arc<Route>>]>,
}

impl HostRoutes {
    /// Builds the routes of a router. Logs one warning that names the router
    /// options that have no effect in a host.
    ///
    /// # Errors
    /// Returns all configuration errors in the routes.
    pub fn build(router: Router) -> Result<Self, ConfigError> {
        let without_effect = without_effect(&router);
        let app = router.build_for_host()?;
        if let Some(options) = without_effect {
            log::warn!(target: "stockade", "routes of another host ignore {options}");
        }
        Ok(Self::new(&app))
    }

    /// Creates the routes from an application that is already built. Use
    /// [`build`](Self::build) for a router with `with_cors` in its routes.
    #[must_use]
    pub fn new(app: &App) -> Self {
        let preflights = app.resolved.routes.all.iter().map(|route| preflight_of(route));
        Self { preflights: preflights.collect(), app: Arc::clone(&app.resolved) }
    }

    /// Returns the routes, in the order of registration.
    #[must_use]
    pub fn routes(&self) -> Vec<HostRoute> {
        let routes = self.app.routes.all.iter();
        let routes = routes.filter(|route| route.endpoint.kind() != EndpointKind::RpcMethod);
        let routes = routes.map(|route| HostRoute {
            app: Arc::clone(&self.app),
            route: Arc::clone(route),
            answers_preflights: self.preflight(route).is_some(),
        });
        routes.collect()
    }

    /// Calls `App::needs_original_uri`.
    #[doc(hidden)]
    #[must_use]
    pub fn needs_original_uri(&self) -> bool {
        self.app.routes.needs_original_uri()
    }

    /// Responds to a request that matched a path of a [`HostRoute`].
    ///
    /// Responds with a 404 or a 405 if no route matches its method and path. An
    /// error response has the [`ApiError`] in its extensions.
    pub fn handle(&self, request: impl Into<Request>) -> HostResponseFuture {
        let mut req = request.into();
        let is_head = req.method() == Method::HEAD;
        let version = req.version();
        self.app.stages.find_client(&mut req);
        let settings = self.app.settings;
        HostResponseFuture { state: self.begin(req), is_head, version, settings }
    }

    fn begin(&self, mut req: Request) -> HostState {
        let app = &self.app;
        let settings = app.settings;
        if !lookup::is_sound(req.path()) {
            let context = app.error_context(&req);
            return HostState::Ready(Some(context.answer(ApiError::new(400, "Bad Request"))));
        }
        let sites = &Sites::of(app, &req);
        if sites.is_contradictory() {
            let context = app.error_context(&req);
            return HostState::Ready(Some(context.answer(ApiError::new(400, "Bad Request"))));
        }
        let find = |tables, path: &str| self.find(tables, &req, path);
        let Some((route, params)) = sites.search(None, req.path(), &find) else {
            if let Some((_, location)) = lookup::find_redirect(sites, &req) {
                return HostState::Ready(Some(redirect(location)));
            }
            let context = app.error_context(&req);
            return HostState::Ready(Some(no_route::unmatched(sites, &req, &context)));
        };
        let find = |spelling, path: &str| {
            let (route, _) = sites.search(spelling, path, &find)?;
            Some(route.index)
        };
        if lookup::is_ambiguous(sites, req.path(), route, &params, &find) {
            let context = app.error_context(&req);
            return HostState::Ready(Some(context.answer(ApiError::new(400, "Bad Request"))));
        }
        let endpoint = &route.endpoint;
        let max_body = endpoint.max_body().unwrap_or(app.max_body);
        req.set_route(Arc::clone(endpoint.context()), params, settings, max_body);
        dispatch::check_origin(
            endpoint,
            nearest_cors(endpoint.middleware()).map(|cors| &**cors),
            &mut req,
        );
        if req.announces_too_much() {
            // The first read of the body fails at once, but the request itself
            // is not rejected here.
            req.map_body(|_| HttpBody::new(TooLarge { is_told: false }));
        }
        if endpoint.has_subrequests() {
            // The meter is for the limits of routes: the router's limit has not
            // counted the request.
            Meter::of(&mut req, None);
        }
        HostState::Running(Box::new(run(Arc::clone(endpoint), req)))
    }

    /// Returns the route that matches the path of a request in some tables.
    fn find<'r>(
        &'r self,
        tables: &'r TableSet,
        req: &Request,
        path: &str,
    ) -> Option<RouteMatch<'r>> {
        let found = lookup::find(tables, req, path);
        if found.is_some() || !lookup::is_preflight(req) {
            return found;
        }
        let asked = lookup::find_asked(tables, req, path)
            .and_then(|(route, params)| Some((self.preflight(route)?, params)));
        asked.or_else(|| lookup::find_any(tables, path))
    }

    /// Returns the route that handles the preflights of a route.
    fn preflight(&self, route: &Route) -> Option<&Arc<Route>> {
        self.preflights.get(route.index)?.as_ref()
    }
}

impl fmt::Debug for HostRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.app.routes.endpoints).finish()
    }
}

/// Creates the route that handles the preflights of a route. It only has the
/// `with_cors` of the route, so a preflight does not need a user.
fn preflight_of(route: &Route) -> Option<Arc<Route>> {
    let endpoint = &route.endpoint;
    // Use the `with_cors` nearest to the handler, which also determines the
    // CORS rules for the response.
    let mut inside_out = endpoint.middleware().iter().rev();
    let cors = inside_out.find(|middleware| middleware.mark::<Arc<Cors>>().is_some())?;
    let refuse = Handler::new(async || StatusCode::METHOD_NOT_ALLOWED);
    let mut preflight = EndpointParts::new(Method::OPTIONS, refuse);
    preflight.middleware = [cors.clone()].into();
    let preflight = preflight.build(RouteContext::new(endpoint.pattern()));
    if let Some(page) = endpoint.page_headers() {
        preflight.set_page_headers(Arc::clone(page));
    }
    Some(Arc::new(Route {
        index: route.index,
        endpoint: Arc::new(preflight),
        cors: None,
        host_names: route.host_names.clone(),
        has_mount_path: false,
    }))
}

/// The future of [`HostRoutes::handle`], which returns the response.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct HostResponseFuture {
    state: HostState,
    is_head: bool,
    version: Version,
    settings: Settings,
}

#[derive(Debug)]
enum HostState {
    Running(Box<RunningHandler>),
    /// The response is known; `None` after it was returned.
    Ready(Option<Response>),
}

impl Future for HostResponseFuture {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut response = match &mut self.state {
            HostState::Running(running) => ready!(Pin::new(running).poll(cx)),
            HostState::Ready(response) => {
                response.take().unwrap_or_else(|| dispatch::given(self.settings))
            }
        };
        finish::correct_framing(&mut response, self.is_head);
        finish::finish_response(&mut response, self.is_head, self.version);
        keep_form(&mut response);
        Poll::Ready(response)
    }
}

/// The replacement for a body with an announced length above the limit of its
/// route. It does not read any byte of the body.
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

/// A route, for the router of another host.
#[derive(Clone)]
pub struct HostRoute {
    app: Arc<Resolved>,
    route: Arc<Route>,
    answers_preflights: bool,
}

impl HostRoute {
    /// Returns the endpoint of the route.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.route.endpoint
    }

    /// Returns true for a WebSocket route.
    #[must_use]
    pub fn is_web_socket(&self) -> bool {
        self.endpoint().kind() == EndpointKind::WebSocket
    }

    /// Returns true if the route handles every method without its own route at
    /// the path.
    #[must_use]
    pub fn takes_any_method(&self) -> bool {
        is_any(self.endpoint().method())
    }

    /// Returns the methods that the route itself handles. HEAD is included with
    /// GET, CONNECT with a WebSocket (RFC 8441), and OPTIONS with `with_cors`.
    /// The list is empty for a route that [takes any
    /// method](Self::takes_any_method).
    #[must_use]
    pub fn methods(&self) -> Vec<Method> {
        if self.takes_any_method() {
            return Vec::new();
        }
        let mut methods = vec![self.endpoint().method().clone()];
        if *self.endpoint().method() == Method::GET {
            methods.push(Method::HEAD);
        }
        if self.is_web_socket() {
            methods.push(Method::CONNECT);
        }
        if self.answers_preflights {
            methods.push(Method::OPTIONS);
        }
        methods
    }

    /// Returns paths that together match every request of the route, and
    /// possibly more requests. There is one path for each choice of its
    /// optional parameters, in order of preference.
    #[must_use]
    pub fn paths(&self) -> Vec<HostPath> {
        // This cannot fail: the pattern was parsed when the route was created.
        let pattern = Pattern::parse(self.endpoint().pattern());
        let variants = pattern.map(|pattern| pattern.variants()).unwrap_or_default();
        let mut paths: Vec<HostPath> = variants.iter().map(HostPath::of).collect();
        if !self.app.routes.trailing_slash.is_strict() {
            paths.extend(paths.clone().into_iter().filter_map(HostPath::other_form));
        }
        if self.route.has_mount_path {
            paths.extend(paths.clone().into_iter().filter_map(HostPath::without_rest));
        }
        paths
    }

    /// Returns true if a raw path belongs to this route among the routes of its
    /// method.
    #[must_use]
    pub fn has_path(&self, path: &str) -> bool {
        self.app.routes.sites().any(|site| {
            let is_own = |(route, _): RouteMatch<'_>| route.index == self.route.index;
            let (tables, forms) = (&site.tables, Forms::of(site, None, path));
            let found = forms.search(tables, &|it, path| self.find(it, path));
            let has_other = !self.app.routes.trailing_slash.is_strict();
            found.is_some_and(is_own)
                || has_other
                    && forms
                        .search_other(tables, &|it, path| self.find(it, path))
                        .is_some_and(is_own)
        })
    }

    /// Returns the route that matches a path in some tables, among the routes
    /// of its method.
    fn find<'r>(&self, tables: &'r TableSet, path: &str) -> Option<RouteMatch<'r>> {
        if self.is_web_socket() {
            lookup::find_in(tables.web_sockets.as_ref()?, path)
        } else if self.takes_any_method() {
            lookup::find_any(tables, path)
        } else {
            lookup::find_exact(tables, self.endpoint().method(), path)
        }
    }
}

impl fmt::Debug for HostRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint().fmt(f)
    }
}
