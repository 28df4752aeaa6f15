//! [`Endpoint`]: one route with everything that runs for it, compiled once.
//!
//! `chain` runs it, `error_answer` makes a response of an error.
//!
//! Spec: Middleware contract; Errors › Response rules.

mod chain;
mod error_answer;
mod error_context_of;
mod watched_body;

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

pub use crate::endpoint_settings::EndpointSettings;
pub use crate::error_settings::Settings;
pub(crate) use chain::Chain;
pub use chain::{RunningHandler, run, run_from};
pub(crate) use error_answer::respond_with;
pub use error_answer::{ErrorContext, Overloaded, answer_bug, error_of};
use http::Method;
use stockade_map::RouteKind;
use stockade_validation::Schema;

use crate::description::{DescribedRoute, InputFrom};
use crate::extract::know_schemas;
use crate::handler_progress::{AsksProgress, noting};
use crate::page_headers::PageHeaders;
use crate::rare::Rare;
use crate::route_context::RouteContext;
use crate::{Accepts, Docs, ErrorHandler, Handler, Middleware, RouteDoc, States, Tag, Validation};

/// One route: its method and path, its middleware, its handler, its limits.
///
/// A router makes one for each route when it is built.
pub struct Endpoint {
    method: Method,
    handler: Handler,
    name: Option<Box<str>>,
    middleware: Box<[Middleware]>,
    is_rate_limited: bool,
    guards_origin: bool,
    docs: Rare<Docs>,
    tag: Option<Arc<Tag>>,
    public: Option<Arc<String>>,
    rate_exempt_reason: Option<&'static str>,
    kind: EndpointKind,
    has_parts: bool,
    location: &'static Location<'static>,
    /// The facts that requests of the route carry.
    context: Arc<RouteContext>,
}

/// The parts of an [`Endpoint`], from which a router makes it.
#[derive(Debug)]
pub struct EndpointParts {
    /// The method under which it is registered.
    pub method: Method,
    /// The path as it was declared, with prefixes.
    pub pattern: Box<str>,
    /// The function that answers.
    pub handler: Handler,
    /// The name for `generate_url`. Default: none.
    pub name: Option<Box<str>>,
    /// The middleware, in the order in which it runs. Default: none.
    pub middleware: Box<[Middleware]>,
    /// The checks before the handler runs. Default: none.
    pub validation: Rare<Validation>,
    /// The values that the application provides. Default: none.
    pub states: States,
    /// The settings that core reads while a request runs. Default: none is set.
    pub settings: EndpointSettings,
    /// True if the rate limit of the router is charged for it. Default: true.
    pub is_rate_limited: bool,
    /// The challenges of a 401, as its middleware described them. Default: none.
    pub challenges: Box<[Box<str>]>,
    /// True if its middleware refuses requests of other origins. Default: false.
    pub guards_origin: bool,
    /// The error handler of the router, or of the node or group nearest to the
    /// route. Default: none.
    pub error_handler: Option<ErrorHandler>,
    /// The error handler of the entry itself, which stands in its middleware
    /// too. Default: none.
    pub own_error_handler: Option<ErrorHandler>,
    /// True if it answers requests that no route takes. Default: false.
    pub is_fallback: bool,
    /// The documentation of the route. Default: none.
    pub docs: Rare<Docs>,
    /// The tag of the node or group nearest to the route. Default: none.
    pub tag: Option<Arc<Tag>>,
    /// The reason why it is open to everybody. Default: none.
    pub public: Option<Arc<String>>,
    /// The reason why its responses may outlive the login of their user. Default:
    /// none.
    pub outlives_user: Option<Arc<String>>,
    /// False if no response of it is a stream. Default: true.
    pub may_stream: bool,
    /// The reason why no rate limit counts it, where the framework takes it out.
    /// Default: none.
    pub rate_exempt_reason: Option<&'static str>,
    /// Its kind. Default: HTTP.
    pub kind: EndpointKind,
    /// Its name in logs and metrics, in the place of the path. Default: none.
    pub label: Option<Box<str>>,
    /// The headers that pages of other origins may use, set after the JSON-RPC methods of
    /// the route are compiled. Default: none, the default lists of CORS apply.
    pub page_headers: OnceLock<Arc<PageHeaders>>,
    /// True if its requests have parts, such as the calls of a batch, which rate
    /// limits count one by one. Default: false.
    pub has_parts: bool,
    /// The file and line where it was declared. Default: those of the call that
    /// makes the parts.
    pub location: &'static Location<'static>,
}

/// The kind of a route.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EndpointKind {
    /// Answers requests.
    #[default]
    Http,
    /// Takes over the connection as a WebSocket.
    WebSocket,
    /// Hands requests to a tower service.
    Mount,
    /// Answers calls of a procedure, which another route hands to it.
    RpcMethod,
}

impl From<EndpointKind> for RouteKind {
    fn from(kind: EndpointKind) -> Self {
        match kind {
            EndpointKind::Http => Self::Http,
            EndpointKind::WebSocket => Self::WebSocket,
            EndpointKind::Mount => Self::Mount,
            EndpointKind::RpcMethod => Self::RpcMethod,
        }
    }
}

impl EndpointParts {
    /// Returns the parts of a route without middleware, name or limits of its own.
    #[track_caller]
    pub fn new(method: Method, pattern: impl Into<Box<str>>, handler: Handler) -> Self {
        Self {
            method,
            pattern: pattern.into(),
            handler,
            name: None,
            middleware: Box::default(),
            validation: Rare::default(),
            states: States::default(),
            settings: EndpointSettings::default(),
            is_rate_limited: true,
            challenges: Box::default(),
            guards_origin: false,
            error_handler: None,
            own_error_handler: None,
            is_fallback: false,
            docs: Rare::default(),
            tag: None,
            public: None,
            outlives_user: None,
            may_stream: true,
            rate_exempt_reason: None,
            kind: EndpointKind::default(),
            label: None,
            page_headers: OnceLock::new(),
            has_parts: false,
            location: Location::caller(),
        }
    }

    /// Makes the route of its parts.
    #[must_use]
    pub fn build(mut self) -> Endpoint {
        if self.middleware.iter().any(|it| it.mark::<AsksProgress>().is_some()) {
            self.handler = noting(self.handler);
        }
        let context = RouteContext {
            pattern: self.pattern,
            label: self.label,
            is_fallback: self.is_fallback,
            validation: self.validation,
            states: self.states,
            settings: self.settings,
            challenges: self.challenges,
            error_handler: self.error_handler,
            own_error_handler: self.own_error_handler,
            outlives_user: self.outlives_user,
            may_stream: self.may_stream,
            page_headers: self.page_headers,
        };
        Endpoint {
            method: self.method,
            handler: self.handler,
            name: self.name,
            middleware: self.middleware,
            is_rate_limited: self.is_rate_limited,
            guards_origin: self.guards_origin,
            docs: self.docs,
            tag: self.tag,
            public: self.public,
            rate_exempt_reason: self.rate_exempt_reason,
            kind: self.kind,
            has_parts: self.has_parts,
            location: self.location,
            context: Arc::new(context),
        }
    }
}

impl Endpoint {
    /// Returns the facts that requests of the route carry.
    #[doc(hidden)]
    #[must_use]
    pub fn context(&self) -> &Arc<RouteContext> {
        &self.context
    }

    /// Returns the method under which it was registered.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the path as it was declared, with prefixes: `/users/:id`.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.context.pattern
    }

    /// Returns the name of the route, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the middleware, in the order in which it runs.
    #[must_use]
    pub fn middleware(&self) -> &[Middleware] {
        &self.middleware
    }

    /// Returns the checks before the handler runs.
    #[must_use]
    pub fn validation(&self) -> &Validation {
        &self.context.validation
    }

    /// Its own body limit, in bytes.
    #[must_use]
    pub fn max_body(&self) -> Option<u64> {
        self.context.settings.max_body
    }

    /// Returns the types that the body of a request may have; `None` for any.
    #[must_use]
    pub fn accepts(&self) -> Option<&Accepts> {
        self.context.settings.accepts.as_deref()
    }

    /// Returns the largest number of values of a JSON body that are kept
    /// untyped.
    #[must_use]
    pub fn max_json_values(&self) -> usize {
        self.context.max_json_values()
    }

    /// Returns true if the rate limit of the router is charged for it.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.is_rate_limited
    }

    /// Returns the challenges of a 401: the ways by which the route's
    /// middleware finds a user.
    #[must_use]
    pub fn challenges(&self) -> &[Box<str>] {
        &self.context.challenges
    }

    /// Returns true if its middleware refuses requests of other origins.
    #[must_use]
    pub fn guards_origin(&self) -> bool {
        self.guards_origin
    }

    /// Returns the handler of errors that leave the middleware of the route.
    pub(crate) fn error_handler(&self) -> Option<&ErrorHandler> {
        self.context.error_handler.as_ref()
    }

    /// Returns the handler of errors of the entry itself.
    pub(crate) fn own_error_handler(&self) -> Option<&ErrorHandler> {
        self.context.own_error_handler.as_ref()
    }

    /// Returns the status of a failed validation: 400, unless the application
    /// has set another.
    #[must_use]
    pub fn validation_status(&self) -> u16 {
        self.own_validation_status().unwrap_or(400)
    }

    pub(crate) fn own_validation_status(&self) -> Option<u16> {
        self.context.settings.validation_status
    }

    /// Returns the documentation of the route.
    #[must_use]
    pub fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Returns the tag of the node or group nearest to the route, under which
    /// documents list it, unless its documentation names tags.
    #[must_use]
    pub fn tag(&self) -> Option<&Tag> {
        self.tag.as_deref()
    }

    /// Returns the reason why the route is open to everybody, if its entry
    /// gives one. It is for people who check the routes of an application, and
    /// switches nothing off.
    #[must_use]
    pub fn public_reason(&self) -> Option<&str> {
        self.public.as_deref().map(String::as_str)
    }

    /// Returns the reason why the WebSocket or the event stream of the route may
    /// outlive the login of its user, if its entry gives one. Without one it ends
    /// when the token expires, the session ends or the user is revoked.
    #[must_use]
    pub fn outlives_user_reason(&self) -> Option<&str> {
        self.context.outlives_user.as_deref().map(String::as_str)
    }

    /// Returns the file and line where the route was declared.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Returns what middleware, extractors and reply of the route say about it.
    /// It is made anew for each call; requests do not need it.
    ///
    /// ```
    /// use stockade::Router;
    /// use stockade::middleware::with_request_id;
    ///
    /// let mut router = Router::new();
    /// router.use_(with_request_id());
    /// router.get("/", async || "hello");
    /// let app = router.build()?;
    /// let facts = app.routes()[0].facts();
    /// assert_eq!(facts.route.middleware[0].name, "with_request_id");
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    #[must_use]
    pub fn facts(&self) -> DescribedRoute {
        // The parameters matter for the mistakes alone, which the build has told.
        let mut doc = RouteDoc::new(self.method().clone(), Vec::new());
        doc.set_validation_status(self.own_validation_status());
        self.describe(&mut doc);
        doc.into_facts()
    }
}

impl Endpoint {
    /// Returns the kind of the route.
    #[doc(hidden)]
    #[must_use]
    pub fn kind(&self) -> EndpointKind {
        self.kind
    }

    /// Returns the name in logs and metrics of a route without a path of its own.
    #[doc(hidden)]
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.context.label.as_deref()
    }

    /// Returns true if rate limits count the parts of its requests one by one.
    #[doc(hidden)]
    #[must_use]
    pub fn has_parts(&self) -> bool {
        self.has_parts
    }

    /// Returns the headers that pages of other origins may use; `None` if the default
    /// lists of CORS apply.
    #[doc(hidden)]
    #[must_use]
    pub fn page_headers(&self) -> Option<&Arc<PageHeaders>> {
        self.context.page_headers.get()
    }

    /// Sets these headers, unless they are set.
    #[doc(hidden)]
    pub fn set_page_headers(&self, headers: Arc<PageHeaders>) {
        let _ = self.context.page_headers.set(headers);
    }

    /// Returns the reason why no rate limit counts the route, where the framework
    /// takes it out.
    #[doc(hidden)]
    #[must_use]
    pub fn rate_exempt_reason(&self) -> Option<&'static str> {
        self.rate_exempt_reason
    }

    /// Lets middleware and handler describe themselves to `doc`, anew.
    #[doc(hidden)]
    pub fn describe(&self, doc: &mut RouteDoc) {
        know_schemas(doc, &self.context.validation.inputs);
        self.middleware.iter().for_each(|middleware| middleware.describe(doc));
        self.handler.describe(doc);
    }

    /// Returns the handler of the errors that come before the middleware.
    #[doc(hidden)]
    #[must_use]
    pub fn first_error_handler(&self) -> Option<&ErrorHandler> {
        self.own_error_handler().or_else(|| self.error_handler())
    }

    /// Returns the handler of the errors that no middleware answers.
    #[doc(hidden)]
    #[must_use]
    pub fn inherited_error_handler(&self) -> Option<&ErrorHandler> {
        self.error_handler()
    }

    /// Returns the schema by which the route judges a part of a request: that of
    /// the entry, or that of the type which the handler takes.
    #[doc(hidden)]
    #[must_use]
    pub fn schema(&self, from: InputFrom) -> Option<&Schema> {
        self.context.validation.schema(from)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({} {})", self.method, self.context.pattern)
    }
}
