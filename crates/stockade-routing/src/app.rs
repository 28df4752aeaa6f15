//! [`App`]: the compiled API.
//!
//! Spec: Router construction and members.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use stockade_core::__internal::States;
use stockade_core::completion::Completions;
use stockade_core::error_settings::Settings;
use stockade_core::{Endpoint, ErrorContext, ErrorHandler, Languages, Request};

use crate::built_methods::BuiltMethods;
use crate::commands::Command;
use crate::host_table::HostTable;
use crate::route::Route;
use crate::site::Site;
use crate::stages::Stages;
use crate::start::Openers;
use crate::url::{UrlError, UrlPattern, build_named};
use stockade_map::TrailingSlash;
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
    /// The languages of error messages.
    pub(crate) languages: Option<Languages>,
    pub(crate) stages: Stages,
    /// In bytes, for routes without a limit of their own.
    pub(crate) max_body: u64,
}

/// The compiled routes of a router, for every application that is made of it.
pub(crate) struct RouteSet {
    /// The routes without a host.
    pub(crate) site: Site,
    /// The routes of hosts, if there are some.
    pub(crate) hosts: Option<Box<HostTable>>,
    /// True if paths without escapes can be ambiguous too.
    pub(crate) has_ambiguous_raw_paths: bool,
    pub(crate) has_mounts: bool,
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
    pub(crate) methods: Vec<BuiltMethods>,
    pub(crate) names: HashMap<String, UrlPattern>,
    pub(crate) method_not_allowed: bool,
    pub(crate) trailing_slash: TrailingSlash,
    /// The handlers that continue without their clients.
    pub(crate) completions: Completions,
    /// The path of the page of the documents.
    pub(crate) documents_page: Option<String>,
    /// The rules that the routes keep.
    pub(crate) policy: Option<Arc<Policy>>,
    /// The functions that open values when the application starts.
    pub(crate) openers: Option<Openers>,
    /// The commands that other parts have added.
    pub(crate) commands: Vec<Command>,
}

impl RouteSet {
    /// Returns the routes of all hosts, and the routes without one.
    pub(crate) fn sites(&self) -> impl Iterator<Item = &Site> {
        let hosts = self.hosts.iter().flat_map(|hosts| &hosts.sites);
        hosts.chain([&self.site])
    }

    /// Returns true if responses depend on the target that the client sent.
    pub(crate) fn needs_original_uri(&self) -> bool {
        self.has_mounts || self.trailing_slash == TrailingSlash::Redirect
    }

    /// Returns true for the fallback, which has the index after the last route.
    pub(crate) fn is_fallback(&self, route: &Route) -> bool {
        route.index == self.all.len()
    }
}

impl Resolved {
    /// Returns the context of an error that comes before any middleware.
    #[cold]
    pub(crate) fn error_context(&self, req: &Request) -> ErrorContext {
        let context = ErrorContext::of(req).with_settings(self.settings);
        let context = context.with_languages(self.languages.as_ref(), req);
        context.before_middleware(req, self.error_handler.as_ref())
    }
}

impl App {
    /// Returns true if a tower service is mounted, or if the router redirects. An adapter
    /// that removes a prefix from the path then notes the
    /// [`OriginalUri`](crate::OriginalUri).
    #[doc(hidden)]
    #[must_use]
    pub fn needs_original_uri(&self) -> bool {
        self.resolved.routes.needs_original_uri()
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

    /// Returns the value of type `T` that [`Router::state`](crate::Router::state) provides, or
    /// [`Router::state_at_start`](crate::Router::state_at_start) after the start.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.resolved.routes.states.get()
    }

    /// Returns the handlers that continue without their clients.
    #[doc(hidden)]
    #[must_use]
    pub fn completions(&self) -> &Completions {
        &self.resolved.routes.completions
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

    /// Returns the path of the page of the documents, if there is one.
    #[doc(hidden)]
    #[must_use]
    pub fn documents_page(&self) -> Option<&str> {
        self.resolved.routes.documents_page.as_deref()
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
