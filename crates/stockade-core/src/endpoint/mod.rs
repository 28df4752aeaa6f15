//! `Endpoint`: one route with everything that runs for it, compiled once.
//!
//! `chain` runs it, `error_response` makes a response of an error.
//!
//! Spec: Middleware contract; Errors › Response rules.

mod chain;
mod error_context_of;
mod error_language;
mod error_response;
mod logged_body;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use chain::Chain;
pub use chain::{RunningHandler, run, run_from};
pub(crate) use error_response::respond_with;
pub use error_response::{ErrorContext, Overloaded, answer_bug, error_of};
use http::Method;
use stockade_map::RouteKind;
use stockade_validation::Schema;

use crate::boxed_or::BoxedOr;
use crate::completion::{completing, time_to_complete};
use crate::description::{DescribedRoute, InputFrom};
use crate::extract::know_schemas;
use crate::handler_progress::{AsksProgress, noting};
use crate::page_headers::PageHeaders;
use crate::route_context::RouteContext;
use crate::{
    Accepts, ErrorHandler, Handler, Middleware, RouteDescription, RouteDocs, Tag, Validation,
};

/// One route: its method and path, its middleware, its handler, its limits.
///
/// A router makes one for each route when it is built.
pub struct Endpoint {
    parts: EndpointParts,
    /// The facts that requests of the route carry.
    context: Arc<RouteContext>,
}

/// The parts of an [`Endpoint`] that its requests do not carry.
#[derive(Debug)]
pub struct EndpointParts {
    /// The method under which it is registered.
    pub method: Method,
    /// The function that answers.
    pub handler: Handler,
    /// The host of its requests: `:tenant.example.com`. Default: any host.
    pub host: Option<Box<str>>,
    /// The name for `generate_url`. Default: none.
    pub name: Option<Box<str>>,
    /// The middleware, in the order in which it runs. Default: none.
    pub middleware: Box<[Middleware]>,
    /// True if the rate limit of the router is charged for it. Default: true.
    pub is_rate_limited: bool,
    /// True if its middleware refuses requests of other origins. Default: false.
    pub guards_origin: bool,
    /// The documentation of the route. Default: none.
    pub docs: BoxedOr<RouteDocs>,
    /// The tag of the node or group nearest to the route. Default: none.
    pub tag: Option<Arc<Tag>>,
    /// The reason why it is open to everybody. Default: none.
    pub public: Option<Arc<String>>,
    /// The reason why no rate limit counts it, where the framework takes it out.
    /// Default: none.
    pub rate_exempt_reason: Option<&'static str>,
    /// Its kind. Default: HTTP.
    pub kind: EndpointKind,
    /// True if its requests have parts, such as the calls of a batch, which rate
    /// limits count one by one. Default: false.
    pub has_subrequests: bool,
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
    /// Returns the parts of a route without middleware or name.
    #[track_caller]
    #[must_use]
    pub fn new(method: Method, handler: Handler) -> Self {
        Self {
            method,
            handler,
            host: None,
            name: None,
            middleware: Box::default(),
            is_rate_limited: true,
            guards_origin: false,
            docs: BoxedOr::default(),
            tag: None,
            public: None,
            rate_exempt_reason: None,
            kind: EndpointKind::default(),
            has_subrequests: false,
            location: Location::caller(),
        }
    }

    /// Makes the route.
    #[must_use]
    pub fn build(mut self, context: RouteContext) -> Endpoint {
        let time = time_to_complete(&context.settings.run_to_completion);
        if let Some(within) = time {
            let completions = context.completions.clone().unwrap_or_default();
            self.handler = completing(self.handler, within, completions);
        }
        if self.middleware.iter().any(|it| it.mark::<AsksProgress>().is_some()) {
            self.handler = noting(self.handler);
        }
        Endpoint { parts: self, context: Arc::new(context) }
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
        &self.parts.method
    }

    /// Returns the path as it was declared, with prefixes: `/users/:id`.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.context.pattern
    }

    /// Returns the host of its requests as it was declared, such as `:tenant.example.com`;
    /// `None` for any host.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.parts.host.as_deref()
    }

    /// Returns the name of the route, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.parts.name.as_deref()
    }

    /// Returns the middleware, in the order in which it runs.
    #[must_use]
    pub fn middleware(&self) -> &[Middleware] {
        &self.parts.middleware
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
        self.context.settings.accepts.value().map(Arc::as_ref)
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
        self.parts.is_rate_limited
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
        self.parts.guards_origin
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
    pub fn docs(&self) -> &RouteDocs {
        &self.parts.docs
    }

    /// Returns the tag of the node or group nearest to the route, under which
    /// documents list it, unless its documentation names tags.
    #[must_use]
    pub fn tag(&self) -> Option<&Tag> {
        self.parts.tag.as_deref()
    }

    /// Returns the reason why the route is open to everybody, if its entry
    /// gives one. It is for people who check the routes of an application, and
    /// switches nothing off.
    #[must_use]
    pub fn public_reason(&self) -> Option<&str> {
        self.parts.public.as_deref().map(String::as_str)
    }

    /// Returns the time for which the handler may continue without its client, if its route sets
    /// `run_to_completion`.
    #[must_use]
    pub fn run_to_completion(&self) -> Option<Duration> {
        time_to_complete(&self.context.settings.run_to_completion)
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
        self.parts.location
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
        let mut doc = RouteDescription::new(self.method().clone(), Vec::new());
        doc.set_validation_status(self.own_validation_status());
        self.describe(&mut doc);
        doc.into_facts()
    }

    /// Returns the kind of the route.
    #[doc(hidden)]
    #[must_use]
    pub fn kind(&self) -> EndpointKind {
        self.parts.kind
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
    pub fn has_subrequests(&self) -> bool {
        self.parts.has_subrequests
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
        self.parts.rate_exempt_reason
    }

    /// Lets the middleware and the handler describe themselves to `doc` again.
    #[doc(hidden)]
    pub fn describe(&self, doc: &mut RouteDescription) {
        know_schemas(doc, &self.context.validation.inputs);
        self.parts.middleware.iter().for_each(|middleware| middleware.describe(doc));
        self.parts.handler.describe(doc);
    }

    /// Returns the handler of the errors that come before the middleware.
    #[doc(hidden)]
    #[must_use]
    pub fn first_error_handler(&self) -> Option<&ErrorHandler> {
        self.context.first_error_handler()
    }

    /// Returns the handler of the errors that no middleware answers.
    #[doc(hidden)]
    #[must_use]
    pub fn inherited_error_handler(&self) -> Option<&ErrorHandler> {
        self.context.error_handler.as_ref()
    }

    /// Returns the schema that validates a part of a request: the schema of the entry,
    /// or the schema of the type that the handler takes.
    #[doc(hidden)]
    #[must_use]
    pub fn schema(&self, from: InputFrom) -> Option<&Schema> {
        self.context.validation.schema(from)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({} {})", self.parts.method, self.context.pattern)
    }
}
