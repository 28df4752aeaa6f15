//! [`App`]: the compiled API.
// Spec: Router construction and members.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};

use stockade_core::__internal::States;
use stockade_core::completion::Completions;
use stockade_core::error_settings::Settings;
use stockade_core::{Endpoint, ErrorContext, ErrorHandler, Languages, Request, Setting};

use crate::built_methods::BuiltMethods;
use crate::built_tools::BuiltTools;
use crate::commands::Command;
use crate::host_table::HostTable;
use crate::route::Route;
use crate::site::Site;
use crate::stages::Stages;
use crate::start::Openers;
use crate::url::{UrlError, UrlPattern, build_named};
use stockade_map::TrailingSlash;
use stockade_map::policy::{Configuration, Policy};

/// The compiled API: immutable, shared, cheap to clone.
///
/// It handles requests from any source, such as a socket or a test:
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

/// The routes of a router, and the options of an application.
pub(crate) struct Resolved {
    pub(crate) routes: Arc<RouteSet>,
    pub(crate) settings: Settings,
    /// The option that sends the messages of 5xx errors to clients. `None` if the
    /// environment decides.
    pub(crate) expose_errors: Option<bool>,
    /// The error handler for requests without a route.
    pub(crate) error_handler: Option<ErrorHandler>,
    /// The languages of error messages.
    pub(crate) languages: Option<Languages>,
    pub(crate) stages: Stages,
    /// In bytes, for routes without their own limit.
    pub(crate) max_body: u64,
    /// Itself, for requests within a request.
    pub(crate) this: Weak<Self>,
}

/// The compiled routes of a router, shared by all applications built from it.
pub(crate) struct RouteSet {
    /// The routes without a host.
    pub(crate) site: Site,
    /// The routes with a host, if there are any.
    pub(crate) hosts: Option<Box<HostTable>>,
    /// True if paths without escapes may also be ambiguous.
    pub(crate) has_ambiguous_raw_paths: bool,
    pub(crate) has_mounts: bool,
    /// True if the router may have WebSocket routes.
    pub(crate) enables_web_sockets: bool,
    /// The fallback for requests without a route.
    pub(crate) fallback: Option<Arc<Route>>,
    pub(crate) states: States,
    /// In the order of registration.
    pub(crate) all: Vec<Arc<Route>>,
    /// The endpoints of `all`, for [`App::routes`].
    pub(crate) endpoints: Vec<Arc<Endpoint>>,
    /// True if a route has CORS rules that differ from the rules of the router.
    pub(crate) has_own_cors: bool,
    /// The JSON-RPC methods of each route that has some.
    pub(crate) methods: Vec<BuiltMethods>,
    /// The routes that are tools, if an endpoint offers them.
    pub(crate) tools: Option<Box<BuiltTools>>,
    pub(crate) names: HashMap<String, UrlPattern>,
    pub(crate) method_not_allowed: bool,
    pub(crate) trailing_slash: TrailingSlash,
    /// The handlers that continue after their clients disconnect.
    pub(crate) completions: Completions,
    /// The path of the documentation page.
    pub(crate) documents_page: Option<String>,
    /// The policy of the router.
    pub(crate) policy: Option<Arc<Policy>>,
    /// The functions that open values at the start of the application.
    pub(crate) openers: Option<Openers>,
    /// The commands from other parts of the framework.
    pub(crate) commands: Vec<Command>,
    /// The place that creates the router with its options.
    pub(crate) location: Option<&'static Location<'static>>,
    /// The configuration files.
    pub(crate) configurations: Vec<Configuration>,
    /// The origins and the largest message of WebSockets without their own.
    pub(crate) web_socket_defaults: (Setting<Vec<String>>, u64),
}

impl RouteSet {
    /// Returns the routes of all hosts, and the routes without a host.
    pub(crate) fn sites(&self) -> impl Iterator<Item = &Site> {
        let hosts = self.hosts.iter().flat_map(|hosts| &hosts.sites);
        hosts.chain([&self.site])
    }

    /// Returns true if responses depend on the original request target.
    pub(crate) fn needs_original_uri(&self) -> bool {
        self.has_mounts || self.trailing_slash == TrailingSlash::Redirect
    }

    /// Returns true for the fallback, which has the index after the last route.
    pub(crate) fn is_fallback(&self, route: &Route) -> bool {
        route.index == self.all.len()
    }
}

impl Resolved {
    /// Shares the application, which then refers to itself.
    pub(crate) fn shared(self) -> Arc<Self> {
        Arc::new_cyclic(|this| Self { this: Weak::clone(this), ..self })
    }

    /// Returns the context of an error that occurs before all middleware.
    #[cold]
    pub(crate) fn error_context(&self, req: &Request) -> ErrorContext {
        let context = ErrorContext::of(req).with_settings(self.settings);
        let context = context.with_languages(self.languages.as_ref(), req);
        context.before_middleware(req, self.error_handler.as_ref())
    }
}

impl App {
    /// Returns true if a tower service is mounted, or if the router redirects.
    /// An adapter that removes a prefix from the path then has to set
    /// [`OriginalUri`](crate::OriginalUri).
    #[doc(hidden)]
    #[must_use]
    pub fn needs_original_uri(&self) -> bool {
        self.resolved.routes.needs_original_uri()
    }

    /// Returns true if the application trusts a proxy, so the peer of a
    /// connection is not the client.
    #[must_use]
    pub fn trusts_proxy(&self) -> bool {
        self.resolved.stages.trusts_proxy()
    }

    /// Adds the connections of a server to the metrics of the router, if it has
    /// metrics. `read` returns the number of open connections and their limit,
    /// or `None` after the server has ended.
    #[doc(hidden)]
    pub fn count_connections(
        &self,
        read: impl Fn() -> Option<(usize, usize)> + Send + Sync + 'static,
    ) {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = self.metrics() {
            metrics.add_usage(stockade_stages::metrics::Resource::Connections, read);
        }
        #[cfg(not(feature = "metrics"))]
        drop(read);
    }

    /// Returns the metrics of the router, if it has metrics.
    #[cfg(feature = "metrics")]
    pub(crate) fn metrics(&self) -> Option<&stockade_stages::Metrics> {
        self.resolved.stages.observers()?.counts()
    }

    /// Returns true if a peer without an address, as on a Unix socket, is a
    /// trusted proxy. Otherwise clients behind the peer do not have an address.
    #[must_use]
    pub fn trusts_local_peer(&self) -> bool {
        self.resolved.stages.trusts_local_peer()
    }

    /// Returns the value of type `T` from
    /// [`Router::state`](crate::Router::state). After the start, it also
    /// returns values from
    /// [`Router::state_at_start`](crate::Router::state_at_start).
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.resolved.routes.states.get()
    }

    /// Returns the handlers that continue after their clients disconnect.
    #[doc(hidden)]
    #[must_use]
    pub fn completions(&self) -> &Completions {
        &self.resolved.routes.completions
    }

    /// Returns all routes, in the order of registration. JSON-RPC methods
    /// follow their route.
    #[must_use]
    pub fn routes(&self) -> &[Arc<Endpoint>] {
        &self.resolved.routes.endpoints
    }

    /// Returns the path of a named route with its parameters filled in.
    ///
    /// Values are encoded as URL components (`/` becomes `%2F`, except in
    /// `**`). Surplus parameters are ignored. An absent optional parameter
    /// removes its slash.
    ///
    /// # Errors
    /// Fails if the name is unknown, if a parameter is missing, or if a value
    /// does not match the constraint of its parameter.
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

    /// Returns the path of the documentation page, if there is one.
    #[doc(hidden)]
    #[must_use]
    pub fn documents_page(&self) -> Option<&str> {
        self.resolved.routes.documents_page.as_deref()
    }

    /// Returns the policy of the router, if it has one.
    #[must_use]
    pub fn policy(&self) -> Option<&Policy> {
        self.resolved.routes.policy.as_deref()
    }

    /// Returns the source locations of the router and of the routes.
    pub(crate) fn places(&self) -> Vec<&'static Location<'static>> {
        let routes = &self.resolved.routes;
        let all = routes.all.iter().chain(&routes.fallback);
        let of_routes = all.map(|route| route.endpoint.location());
        routes.location.into_iter().chain(of_routes).collect()
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.routes()).finish()
    }
}

/// Warns that clients receive the real messages of 5xx errors, which is never
/// intended in production.
pub(crate) fn warn_if_exposed(settings: Settings) {
    if settings.expose_errors {
        log::warn!(
            target: "stockade",
            "real messages of 5xx errors are sent to clients; never do this in production"
        );
    }
}
