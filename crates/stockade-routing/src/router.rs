//! [`Router`]: the definition of an API, before it is built.
//!
//! Its methods never fail. [`Router::build`] reports all configuration errors
//! at once, each with the route and the file and line of the call.
// Spec: Router construction and members.

use std::panic::Location;
use std::sync::Arc;

use http::Method;
use stockade_core::__internal::States;
use stockade_core::middleware::Level;
use stockade_core::{HandlerFn, HandlerSignature, IntoMiddlewareList, Middleware};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_path::{Pattern, join};

use crate::any_method::any_method;
use crate::commands::Command;
use crate::entry::{RouteEntry, RouteRef, added};
use crate::map::{Inspector, RouteMap};
use crate::options::RouterOptions;
use crate::route_host::{RouteHost, within};
use crate::settings::RouteSettings;
use crate::start::Opener;
use crate::tree::RouteTree;
use crate::url::{UrlError, UrlPattern, build_named};
use stockade_map::policy::{Configuration, Policy};

/// Creates a router from a tree and options.
///
/// ```
/// use stockade::{RouteTree, RouterOptions, create_router};
///
/// let tree = RouteTree::new().key("hello", RouteTree::new().key("GET", async || "hi"));
/// let app = create_router(tree, RouterOptions::new()).build()?;
/// assert_eq!(app.routes()[0].pattern(), "/hello");
/// # Ok::<(), stockade::ConfigError>(())
/// ```
// Spec: Router construction › createRouter.
#[doc(alias = "createRouter")]
#[track_caller]
pub fn create_router(routes: RouteTree, options: RouterOptions) -> Router {
    let mut router = Router::with_options(options);
    router.routes(routes);
    router
}

/// The definition of an API: routes, middleware, options.
///
/// Routes come from a tree ([`create_router`], [`Router::routes`]) or from the
/// methods named after HTTP methods.
///
/// Methods of the whole router consume it, so one chain builds an application:
///
/// ```
/// use stockade::policy::Policy;
/// use stockade::prelude::*;
///
/// struct Db;
///
/// let api = routes! { "users": { GET: { async |_: State<Db>| "all", public: "an example" } } };
/// let app = create_router(api, RouterOptions::new())
///     .open_api(("Users", "1.0.0"))
///     .policy(Policy::recommended())
///     .state(Db)
///     .build()?;
/// assert_eq!(app.routes().len(), 1);
/// # Ok::<(), ConfigError>(())
/// ```
///
/// Methods that a [`group`](Self::group) also has borrow it:
///
/// ```
/// use stockade::Router;
/// use stockade::extract::Path;
///
/// let mut router = Router::new();
/// router.get("/users", async || "all users");
/// router.get("/users/:id", async |Path(id): Path<u64>| format!("user {id}")).name("users.show");
/// router.group("/admin", (), |admin| {
///     admin.delete("/cache", async || ());
/// });
/// let app = router.build()?;
/// assert_eq!(app.generate_url("users.show", [("id", 7)]).unwrap(), "/users/7");
/// # Ok::<(), stockade::ConfigError>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "a router does nothing until it is built or served"]
pub struct Router {
    pub(crate) options: RouterOptions,
    pub(crate) routes: Vec<RouteDef>,
    pub(crate) mistakes: Vec<ConfigIssue>,
    /// The middleware from `use_` for later routes.
    used: Vec<Middleware>,
    /// The last call of `map_options`, which is invalid in a group.
    options_mapped: Option<&'static Location<'static>>,
    /// The functions that inspect the map at the end of the build.
    pub(crate) inspectors: Vec<Inspector>,
    pub(crate) policy: Option<GivenPolicy>,
    /// The values for `State<T>`.
    pub(crate) states: States,
    /// The functions that open values when the application starts.
    pub(crate) openers: Vec<Opener>,
    /// The commands from other parts of the framework.
    pub(crate) commands: Vec<Command>,
    /// The configuration files.
    pub(crate) configurations: Vec<Configuration>,
    /// The path of the documentation page, below the prefix.
    pub(crate) documents_page: Option<String>,
    /// The place that creates the router with its options.
    pub(crate) location: Option<&'static Location<'static>>,
}

impl From<RouteTree> for Router {
    /// Creates a router from a tree, with the default options.
    fn from(routes: RouteTree) -> Self {
        create_router(routes, RouterOptions::new())
    }
}

/// The policy of a router.
#[derive(Debug)]
pub(crate) struct GivenPolicy {
    pub(crate) policy: Arc<Policy>,
    /// The inspector that checks the policy.
    pub(crate) inspector: Inspector,
    /// The place that set it.
    place: &'static Location<'static>,
}

/// A declared route, below the prefix of the router.
#[derive(Debug)]
pub(crate) struct RouteDef {
    /// GET for a WebSocket.
    pub(crate) method: Method,
    pub(crate) path: String,
    /// Boxed, to free it when the route is compiled. A list of many entries
    /// would be freed at once at the end, and its memory would stay with the
    /// allocator.
    pub(crate) entry: Box<RouteEntry>,
}

impl RouteDef {
    /// Returns the whole path of the route in a router with this prefix.
    pub(crate) fn below(&self, prefix: &str) -> String {
        let path = join(prefix, &self.path);
        if self.entry.is_mount { join(&path, "**") } else { path }
    }
}

macro_rules! method {
    ($($(#[$doc:meta])* $name:ident $method:ident;)*) => {
        $($(#[$doc])*
        #[track_caller]
        pub fn $name<F, Args>(&mut self, path: &str, handler: F) -> RouteRef<'_>
        where
            F: HandlerFn<Args>,
            F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
            F::Future: Send,
            Args: Send + 'static,
        {
            self.add(Method::$method, path, RouteEntry::new(handler))
        })*
    };
}

impl Router {
    /// Sets the path of the documentation page, for the start message of a
    /// server.
    #[doc(hidden)]
    pub fn set_documents_page(&mut self, path: &str) {
        self.documents_page = Some(path.to_owned());
    }

    /// Adds a command to [`App::run_command`](crate::App::run_command). The
    /// first command with a name counts.
    #[doc(hidden)]
    pub fn add_command(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Creates a router without routes, with the default options.
    #[track_caller]
    pub fn new() -> Self {
        Self::with_options(RouterOptions::default())
    }

    /// Creates a router without routes.
    #[track_caller]
    pub fn with_options(options: RouterOptions) -> Self {
        Self { options, location: Some(Location::caller()), ..Self::default() }
    }

    method! {
        /// Adds a route for GET; HEAD requests fall back to it.
        get GET;
        /// Adds a route for POST.
        post POST;
        /// Adds a route for PUT.
        put PUT;
        /// Adds a route for PATCH.
        patch PATCH;
        /// Adds a route for DELETE.
        delete DELETE;
        /// Adds a route for OPTIONS, which then also handles the preflights of
        /// its path.
        options OPTIONS;
        /// Adds a route for HEAD, instead of the fallback to GET.
        head HEAD;
    }

    /// Adds a route for every method without its own route at this path.
    ///
    /// The path is compared first, then the method. The best path wins, among
    /// the routes of the method and of any method. Between two equivalent
    /// paths, the route of the method wins. A path with such a route never gets
    /// a 405.
    ///
    /// - HEAD uses a route for HEAD, otherwise the route for GET.
    /// - OPTIONS uses a route for OPTIONS, otherwise this route.
    /// - The CORS rules respond to a CORS preflight, as on every path. It only
    ///   reaches this route if CORS is off.
    /// - CONNECT never reaches this route.
    ///
    /// [`Endpoint::method`](stockade_core::Endpoint::method) of such a route is
    /// `ANY`.
    ///
    /// ```
    /// use stockade::{Request, Router};
    ///
    /// let mut router = Router::new();
    /// router.get("/legacy/health", async || "ok");
    /// router.any("/legacy/**", async |req: Request| format!("{} {}", req.method(), req.path()));
    /// assert!(router.build().is_ok());
    /// ```
    #[track_caller]
    pub fn any<F, Args>(&mut self, path: &str, handler: F) -> RouteRef<'_>
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        self.add(any_method(), path, RouteEntry::new(handler))
    }

    /// Adds a route for a method by name, such as QUERY (RFC 10008).
    ///
    /// A route for CONNECT is a configuration error.
    #[track_caller]
    pub fn route<F, Args>(&mut self, method: Method, path: &str, handler: F) -> RouteRef<'_>
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        self.add(method, path, RouteEntry::new(handler))
    }

    /// Sets the handler for requests without a route, instead of the 404. The
    /// returned entry accepts middleware, limits and CORS rules like a route.
    ///
    /// ```
    /// use stockade::{Request, Router};
    ///
    /// # use stockade::testing::TestClient;
    /// # #[tokio::main]
    /// # async fn main() {
    /// let mut router = Router::new();
    /// router.get("/api/users", async || "all users");
    /// router.fallback(async |req: Request| format!("no page at {}", req.path()));
    /// let client = TestClient::new(router);
    /// client.get("/about").await.assert_text("no page at /about");
    /// client.post("/api/users").await.assert_status(405);
    /// # }
    /// ```
    ///
    /// It handles every method. A path that only other methods have stays a
    /// 405, unless [`RouterOptions::method_not_allowed`] is off. A CORS
    /// preflight (204), a path that no route can have (400) and CONNECT (405)
    /// also keep their responses.
    ///
    /// All stages apply to it, as for a route. So does the middleware of the
    /// options and of earlier calls of [`use_`](Self::use_). Otherwise a
    /// fallback that forwards requests would bypass authentication. It is not
    /// in any list of routes, and
    /// [`Request::route`](stockade_core::Request::route) is `None` in it.
    ///
    /// A router has one fallback: a second fallback, or a fallback in a group,
    /// is a configuration error. If an application is mounted below a path of
    /// another one, each handles the unknown paths that reach it.
    #[track_caller]
    pub fn fallback<F, Args>(&mut self, handler: F) -> RouteRef<'_>
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        let mut entry = RouteEntry::new(handler);
        if let Some(earlier) = &self.options.fallback {
            let place = earlier.location;
            let message = format!("duplicate fallback, first at {}:{}", place.file(), place.line());
            self.mistakes.push(ConfigIssue::new(message).at(entry.location));
        }
        self.cover(&mut entry);
        RouteRef::of(self.options.fallback.insert(Box::new(entry)))
    }

    pub(crate) fn add(
        &mut self,
        method: Method,
        path: &str,
        mut entry: RouteEntry,
    ) -> RouteRef<'_> {
        self.cover(&mut entry);
        self.routes.push(RouteDef { method, path: join("", path), entry: Box::new(entry) });
        let index = self.routes.len() - 1;
        RouteRef::of(&mut self.routes[index].entry)
    }

    /// Inserts the middleware of the router first in an entry.
    fn cover(&self, entry: &mut RouteEntry) {
        entry.inherit(&self.used);
        entry.after_router = self.used.len();
    }

    /// Adds the routes of a tree.
    pub fn routes(&mut self, tree: RouteTree) -> &mut Self {
        let used = self.used.clone();
        self.flatten(tree, "", &used, &RouteSettings::default(), None);
        self
    }

    /// Adds the routes of a node, then the routes below it.
    fn flatten(
        &mut self,
        tree: RouteTree,
        path: &str,
        inherited: &[Middleware],
        outer: &RouteSettings,
        host: Option<&RouteHost>,
    ) {
        let host = within(host, tree.host, &mut self.mistakes);
        let mut inherited = inherited.to_vec();
        inherited.extend(tree.settings.limits(Level::Node));
        inherited.extend(tree.middleware);
        inherited.extend(tree.settings.late_limit(Level::Node));
        let mut settings = *tree.settings;
        let here = join("", path);
        let mistakes = tree.mistakes.into_iter().chain(settings.end_level(Level::Node));
        self.mistakes.extend(mistakes.map(|mistake| mistake.on(here.as_str())));
        settings.inherit(outer);
        for (method, mut entry) in tree.entries {
            entry.inherit(&inherited);
            entry.after_router = self.used.len();
            entry.inherited.inherit(&settings);
            entry.host = within(host.as_ref(), entry.host.take(), &mut self.mistakes);
            let path = entry.path.as_deref().unwrap_or(path);
            let path = join("", path);
            self.routes.push(RouteDef { method, path, entry: Box::new(entry) });
        }
        if let Some(mut entry) = tree.web_socket {
            entry.inherit(&inherited);
            entry.after_router = self.used.len();
            entry.inherited.inherit(&settings);
            entry.host = within(host.as_ref(), entry.host.take(), &mut self.mistakes);
            let path = join("", entry.path.as_deref().unwrap_or(path));
            self.routes.push(RouteDef { method: Method::GET, path, entry });
        }
        for child in tree.children {
            let below = join(path, &child.key);
            if let Err(error) = Pattern::parse(&child.key) {
                // The routes below would report the same error again.
                let mistake = ConfigIssue::new(error.to_string());
                self.mistakes.push(mistake.on(below.as_str()).at(child.location));
                self.keep_mistakes(child.tree, &below);
                continue;
            }
            let mut inherited = inherited.clone();
            let mut settings = settings.clone();
            let mut host = host.clone();
            for around in child.around {
                host = within(host.as_ref(), around.host, &mut self.mistakes);
                inherited.extend(around.middleware);
                settings = around.settings.or(&settings);
            }
            self.flatten(child.tree, &below, &inherited, &settings, host.as_ref());
        }
    }

    /// Keeps the configuration errors of a tree with routes that cannot be
    /// added.
    fn keep_mistakes(&mut self, tree: RouteTree, path: &str) {
        self.mistakes.extend(tree.mistakes.into_iter().map(|mistake| mistake.on(path)));
        for child in tree.children {
            self.keep_mistakes(child.tree, &join(path, &child.key));
        }
    }

    /// Adds routes under a prefix, with middleware that runs after the
    /// middleware of this router. Everything that is registered inside,
    /// including [`use_`](Self::use_), only applies inside.
    ///
    /// `middleware` is `()`, one middleware, a tuple of middleware, or a `Vec`
    /// or array of [`Middleware`].
    // Spec: Router construction and members › group.
    #[track_caller]
    pub fn group<M>(
        &mut self,
        prefix: &str,
        middleware: impl IntoMiddlewareList<M>,
        define: impl FnOnce(&mut Self),
    ) -> &mut Self {
        let mut inner = Self { used: added(middleware, Level::Router), ..Self::default() };
        inner.used.splice(0..0, self.used.iter().cloned());
        // A group has the defaults of its router.
        inner.options.settings = RouteSettings::default();
        define(&mut inner);
        self.mistakes.extend(inner.mistakes);
        self.inspectors.extend(inner.inspectors);
        let mut settings = inner.options.settings;
        let mistakes = settings.end_level(Level::Router).into_iter();
        self.mistakes.extend(mistakes.map(|mistake| mistake.on(prefix)));
        let limits = settings.limits(Level::Router);
        let host = inner.options.route_host;
        let outer = self.used.len();
        if let Some(fallback) = &inner.options.fallback {
            let mistake = ConfigIssue::new("a group cannot have a fallback: add it to the router");
            self.mistakes.push(mistake.on(prefix).at(fallback.location));
        }
        if let Some(place) = inner.options_mapped {
            let mistake = ConfigIssue::new(
                "a group cannot have router options: set them on the router, and use the \
                 group's methods for route options such as `error_handling`",
            );
            self.mistakes.push(mistake.on(prefix).at(place));
        }
        if let Some(GivenPolicy { place, .. }) = inner.policy {
            let mistake = ConfigIssue::new("a group cannot have a policy: add it to the router");
            self.mistakes.push(mistake.on(prefix).at(place));
        }
        self.routes.extend(inner.routes.into_iter().map(|mut route| {
            let own = route.entry.host.take();
            route.entry.host = within(host.as_ref(), own, &mut self.mistakes);
            route.entry.inherited.inherit(&settings);
            route.entry.inherit_limits(outer, &limits);
            route.entry.after_router = outer;
            route.path = join(prefix, &route.path);
            route
        }));
        self
    }

    /// Adds middleware for all routes that are added after this call. It does
    /// not apply to earlier routes.
    // Spec: Router construction and members › use.
    #[doc(alias = "use")]
    #[track_caller]
    pub fn use_<M>(&mut self, middleware: impl IntoMiddlewareList<M>) -> &mut Self {
        self.used.extend(added(middleware, Level::Router));
        self
    }

    /// Changes the options of a router that already has routes. For example, a
    /// test can set another clock.
    ///
    /// A group does not have options, except the settings of routes, such as
    /// [`error_handling`](Self::error_handling), which are its methods.
    ///
    /// ```
    /// use stockade::Router;
    ///
    /// let router = Router::new().map_options(|options| options.max_body(64 * 1024));
    /// assert!(router.build().is_ok());
    /// ```
    #[track_caller]
    pub fn map_options(mut self, change: impl FnOnce(RouterOptions) -> RouterOptions) -> Self {
        self.options_mapped = Some(Location::caller());
        self.options = change(std::mem::take(&mut self.options));
        self
    }

    /// Returns the path of a named route with its parameters filled in.
    ///
    /// Values are encoded as URL components; surplus parameters are ignored.
    /// See [`App::generate_url`](crate::App::generate_url).
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
        let route = self.routes.iter().find(|route| route.entry.name.as_deref() == Some(name));
        let route = route.ok_or_else(|| UrlError::unknown_name(name))?;
        let pattern = Pattern::parse(&route.below(&self.options.prefix));
        let pattern = pattern.map_err(|_| UrlError::unknown_name(name))?;
        build_named(&UrlPattern::new(pattern), params)
    }

    /// Adds a function that inspects the map of the routes at the end of the
    /// build. The build fails with the configuration errors that it returns, so
    /// you can enforce the rules of a project.
    ///
    /// Functions run in the order of these calls, after every other check has
    /// passed. The errors of all functions are reported together. A function of
    /// a group sees the whole map.
    ///
    /// ```
    /// use stockade::errors::ConfigIssue;
    /// use stockade::prelude::*;
    ///
    /// let mut router = Router::new();
    /// router.get("/users", async || "all users");
    /// router.inspect(|map| {
    ///     let unnamed = map.routes.iter().filter(|route| route.name.is_none());
    ///     let mistakes = unnamed.map(|route| ConfigIssue::new("a route needs a name").on(&route.path));
    ///     ConfigError::check(mistakes.collect())
    /// });
    /// assert!(router.build().unwrap_err().to_string().contains("needs a name"));
    /// ```
    pub fn inspect(
        &mut self,
        inspect: impl FnOnce(&RouteMap) -> Result<(), ConfigError> + Send + 'static,
    ) -> &mut Self {
        self.inspectors.push(Inspector::new(|_, map| inspect(map)));
        self
    }

    /// Sets the policy: the rules for all routes of the router. A violation is
    /// a configuration error. It replaces an earlier policy, such as the policy
    /// of `create_api_router`.
    ///
    /// The policy applies to every route, whether it is added before or after
    /// this call, by a tree, a method or a group. A group does not have a
    /// policy: this method consumes the router, and a group only borrows it. A
    /// [mounted](Self::mount) application was built with its own policy, and is
    /// one route here. Like [`inspect`](Self::inspect), the policy is checked
    /// after every other check has passed.
    ///
    /// ```
    /// use stockade::policy::Policy;
    /// use stockade::prelude::*;
    ///
    /// let mut router = Router::new().policy(Policy::recommended());
    /// router.get("/health", async || "ok").public("monitoring asks it");
    /// router.post("/orders", async || "new");
    /// let error = router.build().unwrap_err();
    /// let [mistake] = error.issues() else { unreachable!("one route declares nothing") };
    /// assert_eq!(mistake.route(), Some("POST /orders"));
    /// ```
    #[track_caller]
    pub fn policy(mut self, policy: Policy) -> Self {
        let policy = Arc::new(policy);
        let asked = Arc::clone(&policy);
        let inspector = Inspector::new(move |app, map| asked.enforce(map, app.places()));
        self.policy = Some(GivenPolicy { policy, inspector, place: Location::caller() });
        self
    }
}
