//! [`App`]: the compiled API.
//!
//! Spec: Router construction and members.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use stockade_core::__internal::{Settings, States};
use stockade_core::{Endpoint, ErrorContext, ErrorHandler, Request};
use stockade_errors::{ApiError, ConfigError};

use crate::call_options::CallOptions;
use crate::calls::BuiltCalls;
use crate::compile::Compiler;
use crate::dispatch::{self, ResponseFuture};
use crate::map::{self, ExplainError, Explanation, Inspector, RouteMap};
use crate::route::Route;
use crate::router::{Router, build_named};
use crate::stages::Stages;
use crate::table_set::{SpelledTables, TableSet};
use crate::url::{UrlError, UrlPattern};
use stockade_map::policy::Policy;

/// The compiled API: immutable, shared, cheap to clone.
///
/// It answers requests from anywhere, a socket or a test:
///
/// ```
/// # use std::future::Future;
/// # use std::pin::pin;
/// # use std::task::{Context, Poll, Waker};
/// use stockade::Router;
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     match pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
/// #         Poll::Ready(output) => output,
/// #         Poll::Pending => unreachable!("nothing here waits"),
/// #     }
/// # }
///
/// let mut router = Router::new();
/// router.get("/hello", async || "hi");
/// let app = router.build()?;
///
/// let request = stockade::http::Request::get("/hello").body(()).unwrap();
/// let response = block_on(app.handle(request));
/// assert_eq!(response.status(), 200);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct App {
    pub(crate) resolved: Arc<Resolved>,
}

/// The routes of a router, and the options that hold for them here.
pub(crate) struct Resolved {
    pub(crate) routes: Arc<RouteSet>,
    pub(crate) settings: Settings,
    /// True if an option shows the messages of 5xx errors in every environment.
    pub(crate) exposes_errors_always: bool,
    /// For requests that no route takes.
    pub(crate) error_handler: Option<ErrorHandler>,
    pub(crate) stages: Stages,
    /// In bytes, for routes without a limit of their own.
    pub(crate) max_body: u64,
}

/// The compiled routes of a router, for every application that is made of it.
pub(crate) struct RouteSet {
    pub(crate) tables: TableSet,
    /// The tables for paths in other spellings, if their routes differ from `tables`.
    pub(crate) spelled: Option<Box<SpelledTables>>,
    /// True if paths without escapes can be ambiguous too.
    pub(crate) has_ambiguous_raw_paths: bool,
    /// True if the router may have WebSocket routes.
    pub(crate) enables_web_sockets: bool,
    /// The endpoint for requests that no route takes.
    pub(crate) fallback: Option<Arc<Route>>,
    pub(crate) states: States,
    /// In the order in which they were added.
    pub(crate) all: Vec<Arc<Route>>,
    /// The endpoints of `all`, for [`App::routes`].
    pub(crate) endpoints: Vec<Arc<Endpoint>>,
    /// True if a route has CORS rules that differ from the rules of the router.
    pub(crate) has_own_cors: bool,
    /// The methods of the routes that have some.
    pub(crate) calls: Vec<BuiltCalls>,
    pub(crate) names: HashMap<String, UrlPattern>,
    pub(crate) method_not_allowed: bool,
    /// The rules that the routes keep.
    pub(crate) policy: Option<Arc<Policy>>,
}

impl Resolved {
    /// Returns the context of an error that comes before any middleware.
    #[cold]
    pub(crate) fn error_context(&self, req: &Request) -> ErrorContext {
        let context = ErrorContext::of(req).with_settings(self.settings);
        context.before_middleware(self.error_handler.as_ref())
    }
}

impl App {
    /// Answers a request.
    ///
    /// It never fails: an error, a panic of a handler, an unknown path are
    /// responses too. Synchronous middleware runs in this call, the rest when
    /// the future is polled.
    ///
    /// Spec: Router construction and members › handle.
    pub fn handle(&self, request: impl Into<Request>) -> ResponseFuture {
        dispatch::dispatch(&self.resolved, request.into())
    }

    /// Returns an application of the same routes with these options in the place
    /// of its own; an option that they leave open stays as it is here.
    ///
    /// Servers and hosts call it once, when they are made: routes, handlers,
    /// state and counters are shared, and everything that follows from the options
    /// is prepared anew.
    ///
    /// ```
    /// use stockade::{CallOptions, Router};
    ///
    /// let app = Router::new().build()?;
    /// let behind_a_proxy = app.with_options(CallOptions::new().trust_proxy(1))?;
    /// assert!(behind_a_proxy.trusts_proxy() && !app.trusts_proxy());
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The [mistake](CallOptions::mistake) in the options.
    pub fn with_options(&self, options: CallOptions) -> Result<Self, ConfigError> {
        let mut settings = self.resolved.settings;
        let exposes_errors_always =
            options.host.expose_errors.unwrap_or(self.resolved.exposes_errors_always);
        if let Some(expose) = options.host.expose_errors {
            settings.expose_errors = expose;
            warn_if_exposed(settings);
        }
        let max_body = options.settings.endpoint.max_body.unwrap_or(self.resolved.max_body);
        let stages = self.resolved.stages.with_options(options)?;
        let routes = Arc::clone(&self.resolved.routes);
        let error_handler = self.resolved.error_handler.clone();
        let resolved =
            Resolved { routes, settings, exposes_errors_always, error_handler, stages, max_body };
        Ok(Self { resolved: Arc::new(resolved) })
    }

    /// Returns everything that the application knows about its routes. It is
    /// computed anew by each call, in about two milliseconds for a hundred routes.
    #[must_use]
    pub fn route_map(&self) -> RouteMap {
        map::map_of(&self.resolved, false)
    }

    /// Says what happens to a request such as `POST /users/7`: the route that
    /// takes it with everything that runs in front of it, or the routes that
    /// nearly do. `WS /chat` asks for a WebSocket.
    ///
    /// It goes through the look-up of real requests, and calls nothing.
    ///
    /// ```
    /// use stockade::prelude::*;
    ///
    /// let api = routes! { "users": { GET: async || "all", POST: async || "new" } };
    /// let app = create_router(api, RouterOptions::new()).build()?;
    /// let found = app.explain("GET /users").map_err(|error| error.to_string()).unwrap();
    /// assert_eq!(found.route.as_ref().map(|route| route.path.as_str()), Some("/users"));
    ///
    /// let missed = app.explain("DELETE /users").map_err(|error| error.to_string()).unwrap();
    /// assert_eq!((missed.status, missed.misses[0].method.as_str()), (Some(405), "GET"));
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// Printed, it is a text for people. A program that gives it on the command line
    /// builds its `App` as it always does, and neither listens nor asks a database:
    ///
    /// ```no_run
    /// use stockade::prelude::*;
    ///
    /// fn router() -> Router {
    ///     create_router(routes! { "users": { GET: async || "all" } }, RouterOptions::new())
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), BoxError> {
    ///     let words: Vec<String> = std::env::args().skip(1).collect();
    ///     match words.as_slice() {
    ///         // `my-program explain DELETE /users`
    ///         [word, line @ ..] if word == "explain" => {
    ///             print!("{}", router().build()?.explain(&line.join(" "))?);
    ///         }
    ///         _ => router().create_server()?.listen(3000).await?,
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// When the line is no method and path.
    pub fn explain(&self, line: &str) -> Result<Explanation, ExplainError> {
        map::explain(&self.resolved, line)
    }

    /// Answers a request that a host refuses by itself, such as one with a
    /// malformed `Host`: in the same form as every other error, and charged to
    /// the rate limit, so that the answer may be its 429.
    pub fn refuse(&self, request: impl Into<Request>, error: ApiError) -> ResponseFuture {
        dispatch::refuse(&self.resolved, request.into(), error)
    }

    /// Returns true when requests come through a proxy that is trusted, so that
    /// the peer of a connection is not the client.
    #[must_use]
    pub fn trusts_proxy(&self) -> bool {
        self.resolved.stages.trusts_proxy()
    }

    /// Returns true when a peer without an address, as on a Unix socket, is a trusted
    /// proxy. Else the clients behind it have no address.
    #[must_use]
    pub fn trusts_local_peer(&self) -> bool {
        self.resolved.stages.trusts_local_peer()
    }

    /// Returns the value of type `T` that
    /// [`RouterOptions::state`](crate::RouterOptions::state) provides.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.resolved.routes.states.get()
    }

    /// Returns all routes, in the order in which they were added; the methods of
    /// JSON-RPC stand behind their route.
    #[must_use]
    pub fn routes(&self) -> &[Arc<Endpoint>] {
        &self.resolved.routes.endpoints
    }

    /// Returns the path of a named route with its parameters filled in.
    ///
    /// Values are encoded like a component of a URL (`/` becomes `%2F`; in `**`
    /// it stays); surplus parameters are ignored; an absent optional parameter
    /// goes with its slash.
    ///
    /// # Errors
    /// For an unknown name, a missing parameter, or a value that the constraint
    /// of its parameter refuses.
    #[doc(alias = "generateUrl")]
    pub fn generate_url<K: AsRef<str>, V: ToString>(
        &self,
        name: &str,
        params: impl IntoIterator<Item = (K, V)>,
    ) -> Result<String, UrlError> {
        let pattern =
            self.resolved.routes.names.get(name).ok_or_else(|| UrlError::unknown_name(name))?;
        build_named(pattern, params)
    }

    /// Returns the policy that the router was built with, if it had one.
    #[must_use]
    pub fn policy(&self) -> Option<&Policy> {
        self.resolved.routes.policy.as_deref()
    }

    /// Returns the places where its routes were declared.
    pub(crate) fn places(&self) -> Vec<&'static Location<'static>> {
        let routes = &self.resolved.routes;
        let all = routes.all.iter().chain(&routes.fallback);
        all.map(|route| route.endpoint.location()).collect()
    }

    pub(crate) fn build(router: Router) -> Result<Self, ConfigError> {
        Self::build_for(router, false)
    }

    /// Builds the routes for another host, which runs none of our stages.
    pub(crate) fn build_for_host(router: Router) -> Result<Self, ConfigError> {
        Self::build_for(router, true)
    }

    fn build_for(router: Router, is_hosted: bool) -> Result<Self, ConfigError> {
        let Router { options, routes, mistakes, mut inspectors, policy, .. } = router;
        let mut compiler = Compiler::new(&options, mistakes, is_hosted);
        for route in routes {
            compiler.add(route);
        }
        compiler.add_fallback();
        let (policy, asks) = policy.map(|it| (it.policy, it.inspector)).unzip();
        let app = compiler.finish(policy)?;
        let calls = app.resolved.routes.calls.iter().enumerate();
        let ask = |(index, calls): (usize, &BuiltCalls)| Some(calls.inspect.as_ref()?.of(index));
        inspectors.extend(calls.filter_map(ask));
        inspectors.extend(asks);
        Inspector::run_all(inspectors, &app, is_hosted)?;
        Ok(app)
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.routes()).finish()
    }
}

/// Warns that real messages of 5xx errors are sent, which is never meant in
/// production.
pub(crate) fn warn_if_exposed(settings: Settings) {
    if settings.expose_errors {
        log::warn!(
            target: "stockade",
            "real messages of 5xx errors are sent to clients; never do this in production"
        );
    }
}
