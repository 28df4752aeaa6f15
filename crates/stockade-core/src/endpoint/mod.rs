//! `Endpoint`: a compiled route with everything that runs for it.
//!
//! `chain` runs it, and `error_response` converts an error to a response.
// Spec: Middleware contract; Errors › Response rules.

mod chain;
mod error_context_of;
mod error_language;
mod error_response;
mod logged_body;
mod user_after;

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
pub use user_after::{UserAfter, user_after};

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

/// A route with its method, path, middleware, handler and limits.
///
/// The router creates one for each route at build time.
pub struct Endpoint {
    parts: EndpointParts,
    /// The route data that requests carry.
    context: Arc<RouteContext>,
}

/// The parts of an [`Endpoint`] that requests do not carry.
#[derive(Debug)]
pub struct EndpointParts {
    /// The registered method.
    pub method: Method,
    /// The request handler.
    pub handler: Handler,
    /// The host pattern, such as `:tenant.example.com`. Default: any host.
    pub host: Option<Box<str>>,
    /// The name for `generate_url`. Default: none.
    pub name: Option<Box<str>>,
    /// The middleware, in execution order. Default: none.
    pub middleware: Box<[Middleware]>,
    /// True if requests count against the router's rate limit. Default: true.
    pub is_rate_limited: bool,
    /// True if its middleware rejects requests from other origins. Default:
    /// false.
    pub guards_origin: bool,
    /// The documentation of the route. Default: none.
    pub docs: BoxedOr<RouteDocs>,
    /// The tag of the innermost node or group. Default: none.
    pub tag: Option<Arc<Tag>>,
    /// The reason why the route is public. Default: none.
    pub public: Option<Arc<String>>,
    /// The reason why the framework exempts the route from rate limits.
    /// Default: none.
    pub rate_exempt_reason: Option<&'static str>,
    /// Its kind. Default: HTTP.
    pub kind: EndpointKind,
    /// True if requests have parts that rate limits count one by one, such as
    /// the calls of a batch. Default: false.
    pub has_subrequests: bool,
    /// The source location of the route. Default: the location of the call that
    /// creates the parts.
    pub location: &'static Location<'static>,
}

/// The kind of a route.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EndpointKind {
    /// An HTTP request handler.
    #[default]
    Http,
    /// A WebSocket.
    WebSocket,
    /// A mounted tower service.
    Mount,
    /// A procedure that another route calls.
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
    /// Creates the parts of a route without middleware or a name.
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

    /// Creates the route.
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
    /// Returns the route data that requests carry.
    #[doc(hidden)]
    #[must_use]
    pub fn context(&self) -> &Arc<RouteContext> {
        &self.context
    }

    /// Returns the registered method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    /// Returns the declared path with prefixes, such as `/users/:id`.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.context.pattern
    }

    /// Returns the declared host pattern, such as `:tenant.example.com`, or
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

    /// Returns the middleware, in execution order.
    #[must_use]
    pub fn middleware(&self) -> &[Middleware] {
        &self.parts.middleware
    }

    /// Returns the validation that runs before the handler.
    #[must_use]
    pub fn validation(&self) -> &Validation {
        &self.context.validation
    }

    /// Returns the route's own body limit, in bytes.
    #[must_use]
    pub fn max_body(&self) -> Option<u64> {
        self.context.settings.max_body
    }

    /// Returns the accepted media types of a request body, or `None` for any
    /// type.
    #[must_use]
    pub fn accepts(&self) -> Option<&Accepts> {
        self.context.settings.accepts.value().map(Arc::as_ref)
    }

    /// Returns the maximum number of untyped values in a JSON body.
    #[must_use]
    pub fn max_json_values(&self) -> usize {
        self.context.max_json_values()
    }

    /// Returns true if requests count against the router's rate limit.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.parts.is_rate_limited
    }

    /// Returns the challenges of a 401: the authentication methods of the
    /// route's middleware.
    #[must_use]
    pub fn challenges(&self) -> &[Box<str>] {
        &self.context.challenges
    }

    /// Returns true if its middleware rejects requests from other origins.
    #[must_use]
    pub fn guards_origin(&self) -> bool {
        self.parts.guards_origin
    }

    /// Returns the status of a failed validation. Default: 400.
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

    /// Returns the tag of the innermost node or group. Generated documents list
    /// the route under it, unless the route's documentation sets tags.
    #[must_use]
    pub fn tag(&self) -> Option<&Tag> {
        self.parts.tag.as_deref()
    }

    /// Returns the reason why the route is public, if the route options give
    /// one. It helps to audit the routes of an application and does not disable
    /// anything.
    #[must_use]
    pub fn public_reason(&self) -> Option<&str> {
        self.parts.public.as_deref().map(String::as_str)
    }

    /// Returns the time for which the handler may continue without its client,
    /// if the route sets `run_to_completion`.
    #[must_use]
    pub fn run_to_completion(&self) -> Option<Duration> {
        time_to_complete(&self.context.settings.run_to_completion)
    }

    /// Returns the reason why the route's WebSocket or event stream may outlive
    /// the user's login, if the route options give one. Otherwise it ends when
    /// the token expires, the session ends or the user is revoked.
    #[must_use]
    pub fn outlives_user_reason(&self) -> Option<&str> {
        self.context.outlives_user.as_deref().map(String::as_str)
    }

    /// Returns the source location of the route.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.parts.location
    }

    /// Returns the description of the route by its middleware, extractors and
    /// reply. It is computed for each call; requests do not need it.
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
        // Parameters matter only for configuration errors, which the build has
        // already reported.
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

    /// Returns the name in logs and metrics for a route without its own path.
    #[doc(hidden)]
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.context.label.as_deref()
    }

    /// Returns true if rate limits count the parts of a request one by one.
    #[doc(hidden)]
    #[must_use]
    pub fn has_subrequests(&self) -> bool {
        self.parts.has_subrequests
    }

    /// Returns the headers that pages of other origins may use, or `None` if
    /// the default CORS lists apply.
    #[doc(hidden)]
    #[must_use]
    pub fn page_headers(&self) -> Option<&Arc<PageHeaders>> {
        self.context.page_headers.get()
    }

    /// Sets these headers unless they are already set.
    #[doc(hidden)]
    pub fn set_page_headers(&self, headers: Arc<PageHeaders>) {
        let _ = self.context.page_headers.set(headers);
    }

    /// Returns the reason why the framework exempts the route from rate limits.
    #[doc(hidden)]
    #[must_use]
    pub fn rate_exempt_reason(&self) -> Option<&'static str> {
        self.parts.rate_exempt_reason
    }

    /// Lets the middleware and the handler describe themselves to `doc` again.
    #[doc(hidden)]
    pub fn describe(&self, doc: &mut RouteDescription) {
        know_schemas(doc, &self.context.validation.inputs);
        doc.set_states(self.context.states.clone());
        self.parts.middleware.iter().for_each(|middleware| middleware.describe(doc));
        self.parts.handler.describe(doc);
    }

    /// Returns the handler for errors before the middleware.
    #[doc(hidden)]
    #[must_use]
    pub fn first_error_handler(&self) -> Option<&ErrorHandler> {
        self.context.first_error_handler()
    }

    /// Returns the handler for errors that middleware does not handle.
    #[doc(hidden)]
    #[must_use]
    pub fn inherited_error_handler(&self) -> Option<&ErrorHandler> {
        self.context.error_handler.as_ref()
    }

    /// Returns the schema that validates a part of a request: the schema in the
    /// route options, or the schema of the handler's argument type.
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
