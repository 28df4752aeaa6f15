//! [`RouteEntry`]: a handler with its middleware, checks and limits, and
//! [`RouteRef`], the same in the place where it was added.
//!
//! Spec: Route entry object.

use std::panic::Location;
use std::sync::Arc;

use stockade_core::__internal::{Level, MiddlewareExt as _, Rare};
use stockade_core::{
    Accepts, Docs, ErrorHandler, Handler, IntoErrorHandler, IntoMiddlewareList, IntoSchema,
    Middleware, Shape, Signature, Validation,
};
use stockade_errors::{ConfigError, Mistake};
use stockade_stages::rate_limit::OwnLimit;
use stockade_stages::{
    CorsOptions, OwnConcurrencyLimit, Timeout, with_error_handling, with_rate_limit,
};
use stockade_validation::ValidationOptions;
use stockade_websockets::WebSocketOptions;

use crate::calls::Calls;
use crate::tags::PlacedTag;

/// Returns the middleware of a list, each with the place where it was added.
#[track_caller]
pub(crate) fn added<M>(list: impl IntoMiddlewareList<M>, level: Level) -> Vec<Middleware> {
    let place = Location::caller();
    let mut list = list.into_list();
    list.iter_mut().for_each(|middleware| middleware.note_place(level, place));
    list
}

/// The value of a method in the tree: a handler with its middleware, checks and
/// limits.
///
/// Spec: Route entry object.
#[derive(Clone, Debug)]
#[must_use = "an entry does nothing until it stands in a tree"]
pub struct RouteEntry {
    pub(crate) handler: Handler,
    /// Only of a WebSocket route. In a box, as `cors`: there are many routes, and
    /// few of them have one.
    pub(crate) web_socket: Option<Box<WebSocketOptions>>,
    /// True if something was set that only a WebSocket has.
    pub(crate) web_socket_only: bool,
    /// True if the route is everything at and below its path.
    pub(crate) is_mount: bool,
    pub(crate) middleware: Vec<Middleware>,
    /// Where in `middleware` that of the route itself begins.
    pub(crate) own: usize,
    /// True for each [`Key`] whose middleware runs before the entry's own.
    ahead: [bool; 4],
    pub(crate) validation: Rare<Validation>,
    pub(crate) name: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) max_body: Option<u64>,
    pub(crate) accepts: Option<Arc<Accepts>>,
    pub(crate) max_json_values: Option<usize>,
    /// The handler of `error_handling`, which stands in the middleware too.
    pub(crate) error_handler: Option<ErrorHandler>,
    /// The settings of the nodes and groups around it, unless it has its own.
    pub(crate) inherited: Inherited,
    /// True if the limit of the router is charged.
    pub(crate) rate_limited: bool,
    /// The reason why `rate_limited` is false, where the framework made it so.
    pub(crate) rate_exempt_reason: Option<&'static str>,
    /// False if no limit of requests in flight holds, not even one that it
    /// inherits.
    pub(crate) concurrency_limited: bool,
    pub(crate) cors: Option<Box<CorsOptions>>,
    pub(crate) docs: Rare<Docs>,
    pub(crate) public: Option<String>,
    pub(crate) outlives_user: Option<String>,
    /// The methods that its requests call by their names.
    pub(crate) calls: Option<Box<Calls>>,
    /// True if rate limits count the parts of its requests one by one.
    pub(crate) has_parts: bool,
    /// True if the marks of its types are applied to its requests and responses.
    pub(crate) applies_marks: bool,
    pub(crate) location: &'static Location<'static>,
    /// The mistakes in the values of its keys.
    pub(crate) mistakes: Vec<Mistake>,
}

/// The settings that a node or a group hands down to its routes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited {
    pub(crate) error_handling: Option<ErrorHandler>,
    pub(crate) validation_status: Option<u16>,
    pub(crate) tag: Option<PlacedTag>,
}

impl Inherited {
    /// Takes over what is not set here.
    pub(crate) fn fill(&mut self, outer: &Self) {
        if self.error_handling.is_none() {
            self.error_handling.clone_from(&outer.error_handling);
        }
        self.validation_status = self.validation_status.or(outer.validation_status);
        if self.tag.is_none() {
            self.tag.clone_from(&outer.tag);
        }
    }
}

/// The keys that put middleware in front of that of a route, in this order.
#[derive(Clone, Copy)]
enum Key {
    ErrorHandling,
    RateLimit,
    ConcurrencyLimit,
    Timeout,
}

impl RouteEntry {
    /// Makes an entry of this handler and nothing else.
    #[track_caller]
    pub fn new<F, Args>(handler: F) -> Self
    where
        F: Shape<Args>,
        F::Signature: Signature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        Self::of(Handler::new(handler))
    }

    #[track_caller]
    pub(crate) fn of(handler: Handler) -> Self {
        Self {
            handler,
            web_socket: None,
            web_socket_only: false,
            is_mount: false,
            middleware: Vec::new(),
            own: 0,
            ahead: [false; 4],
            validation: Rare::default(),
            name: None,
            path: None,
            max_body: None,
            accepts: None,
            max_json_values: None,
            error_handler: None,
            inherited: Inherited::default(),
            rate_limited: true,
            rate_exempt_reason: None,
            concurrency_limited: true,
            cors: None,
            docs: Rare::default(),
            public: None,
            outlives_user: None,
            calls: None,
            has_parts: false,
            applies_marks: false,
            location: Location::caller(),
            mistakes: Vec::new(),
        }
    }

    /// Replaces the path that the tree gives it; the router's prefix still
    /// applies.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Puts middleware of a node, a group or a router in front.
    pub(crate) fn inherit(&mut self, middleware: &[Middleware]) {
        self.middleware.splice(0..0, middleware.iter().cloned());
        self.own += middleware.len();
    }

    /// Puts the middleware of a key in front of that of the route, instead of the
    /// one that the key had before.
    #[track_caller]
    fn put_ahead(&mut self, key: Key, mut middleware: Option<Middleware>) {
        if let Some(middleware) = &mut middleware {
            middleware.note_place(Level::Entry, Location::caller());
        }
        let key = key as usize;
        let at = self.own + self.ahead[..key].iter().filter(|is_set| **is_set).count();
        let had = std::mem::replace(&mut self.ahead[key], middleware.is_some());
        self.middleware.splice(at..at + usize::from(had), middleware);
    }

    /// Returns the value of a key; mistakes in it are kept for the build of the
    /// router.
    fn checked<T>(&mut self, key: &str, value: Result<T, ConfigError>) -> Option<T> {
        let place = self.location;
        let mistakes = |error: ConfigError| {
            let mistakes = error.mistakes().iter().map(|mistake| {
                let message = format!("{key}: {}", mistake.message());
                Mistake::new(message).at(mistake.location().unwrap_or(place))
            });
            self.mistakes.extend(mistakes);
        };
        value.map_err(mistakes).ok()
    }
}

/// A route that was just added, to say more about it.
#[derive(Debug)]
pub struct RouteRef<'r> {
    entry: &'r mut RouteEntry,
}

impl<'r> RouteRef<'r> {
    pub(crate) fn of(entry: &'r mut RouteEntry) -> Self {
        Self { entry }
    }

    /// Returns the file and line where the route was added.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.entry.location
    }
}

/// Writes each setter twice: for an entry, and for a route in its place.
macro_rules! setters {
    ($(
        $(#[$doc:meta])*
        fn $name:ident $(<$M:ident>)? ($entry:ident, $value:ident: $type:ty) $set:block
    )*) => {
        impl RouteEntry {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name $(<$M>)? (mut self, $value: $type) -> Self {
                let $entry = &mut self;
                $set
                self
            })*
        }

        #[expect(
            clippy::return_self_not_must_use,
            reason = "the route is added already"
        )]
        impl RouteRef<'_> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name $(<$M>)? (self, $value: $type) -> Self {
                let $entry = &mut *self.entry;
                $set
                self
            })*
        }
    };
}

setters! {
    /// Adds middleware that runs after that of the router, its groups and the
    /// tree, in list order.
    fn middleware<M>(entry, list: impl IntoMiddlewareList<M>) {
        entry.middleware.extend(added(list, Level::Entry));
    }

    /// Sets the rules of CORS of this route, instead of the router's and those of a
    /// `with_cors` that it inherits, for its preflights too.
    fn cors(entry, rules: impl Into<CorsOptions>) {
        entry.cors = Some(Box::new(rules.into()));
    }

    /// Checks the body before the handler runs, and puts the outcome in its
    /// place; a body that fails is a 400. Of a WebSocket it checks each message that is
    /// read as JSON. On a route of any method, such as a mount, GET, HEAD and OPTIONS
    /// without a body pass; a body of GET or HEAD is not parsed, and fails.
    fn validation(entry, schema: impl IntoSchema) {
        entry.validation.make_mut().body = entry.checked("validation", schema.into_schema());
    }

    /// Checks the query before the body. Text becomes numbers and booleans
    /// where the schema asks for them.
    fn query(entry, schema: impl IntoSchema) {
        entry.validation.make_mut().query = entry.checked("query", schema.into_schema());
    }

    /// Checks the parameters of the path before the query. Text becomes numbers
    /// and booleans where the schema asks for them.
    fn params(entry, schema: impl IntoSchema) {
        entry.validation.make_mut().params = entry.checked("params", schema.into_schema());
    }

    /// Sets the options by which the schemas of the route judge, also those of
    /// the types that its handler takes included.
    fn validation_options(entry, options: ValidationOptions) {
        entry.validation.make_mut().options = options;
    }

    /// Sets the status of a failed validation, from 400 to 499, such as 422,
    /// instead of that of the tree, the group or the router. See
    /// [`RouterOptions::validation_status`](crate::RouterOptions::validation_status).
    fn validation_status(entry, status: u16) {
        entry.inherited.validation_status = Some(status);
    }

    /// Names the route for `generate_url`.
    fn name(entry, name: impl Into<String>) {
        entry.name = Some(name.into());
    }

    /// Limits the body of this route, in bytes, instead of the router's limit.
    fn max_body(entry, bytes: u64) {
        entry.max_body = Some(bytes);
    }

    /// Narrows the types that the body of this route may have, such as
    /// `["application/json"]`, instead of the router's
    /// [`accepts`](crate::RouterOptions::accepts): any other body is
    /// 415, before middleware runs. See [`Accepts`].
    fn accepts(entry, types: impl IntoIterator<Item = impl AsRef<str>>) {
        entry.accepts = entry.checked("accepts", Accepts::new(types)).map(Arc::new);
    }

    /// Limits the values of a JSON body of this route that are kept untyped,
    /// instead of the router's limit. See
    /// [`RouterOptions::max_json_values`](crate::RouterOptions::max_json_values).
    fn max_json_values(entry, values: usize) {
        entry.max_json_values = Some(values);
    }

    /// Limits the requests of each client to this route, beside the limit of
    /// the router, such as `10 / MINUTE`. See
    /// [`with_rate_limit`](stockade_stages::with_rate_limit).
    ///
    /// `false` takes the route out of every limit, that of the router included,
    /// for those who watch the program; all other bounds stay. `true` is the
    /// default: the limit of the router and no other.
    ///
    /// It stands in front of the route's own middleware, after its error
    /// handling, and after the middleware of the router, its groups and the tree.
    #[doc(alias = "rateLimit")]
    fn rate_limit(entry, limit: impl Into<OwnLimit>) {
        let own = match limit.into() {
            OwnLimit::Exempt => None,
            OwnLimit::Router => Some(None),
            OwnLimit::Beside(limit) => Some(Some(Middleware::new(with_rate_limit(*limit)))),
        };
        entry.rate_limited = own.is_some();
        entry.put_ahead(Key::RateLimit, own.flatten());
    }

    /// Limits the requests to this route that are in flight, beside the limits
    /// that it inherits: a number, or [`with_concurrency_limit`]; a further one
    /// gets 503 at once. `false` takes the route out of every such limit, and
    /// `true` is the default: those that it inherits and no other.
    ///
    /// It stands in front of the route's own middleware, after a rate limit.
    ///
    /// [`with_concurrency_limit`]: stockade_stages::with_concurrency_limit
    fn concurrency_limit(entry, limit: impl Into<OwnConcurrencyLimit>) {
        let limit = limit.into();
        entry.concurrency_limited = !matches!(limit, OwnConcurrencyLimit::Exempt);
        let own = match limit {
            OwnConcurrencyLimit::Beside(limit) => Some(Middleware::new(limit)),
            OwnConcurrencyLimit::Exempt | OwnConcurrencyLimit::Inherited => None,
        };
        entry.put_ahead(Key::ConcurrencyLimit, own);
    }

    /// Limits the time until the head of the response: a `Duration`, after which
    /// the answer is 503, or [`with_timeout`] with another status.
    ///
    /// [`with_timeout`]: stockade_stages::with_timeout
    ///
    /// It stands in front of the route's own middleware, after its other limits,
    /// and after the middleware of the router, its groups and the tree, whose
    /// time does not count.
    fn timeout(entry, limit: impl Into<Timeout>) {
        entry.put_ahead(Key::Timeout, Some(Middleware::new(limit.into())));
    }

    /// Answers the errors of this route by a handler of its own: a function that
    /// changes an [`ErrorReply`](stockade_core::ErrorReply), the options of a
    /// handler, or the outcome of `create_error_handler`. See
    /// [`with_error_handling`](stockade_stages::with_error_handling).
    ///
    /// It stands in front of the route's own middleware, its rate limit and its
    /// timeout, and after the middleware of the router, its groups and the tree,
    /// whose errors go to the handler of the group, the tree or the router. It
    /// also answers what comes before all middleware: the router's 429, and a
    /// body that is announced too large or not accepted.
    #[doc(alias = "errorHandling")]
    fn error_handling(entry, handler: impl IntoErrorHandler) {
        let handler = handler.into_error_handler();
        entry.error_handler = Some(handler.clone());
        entry.put_ahead(Key::ErrorHandling, Some(with_error_handling(handler)));
    }

    /// Documents the route for those who read about it, by [`Docs`] or by their
    /// summary. [`Endpoint::docs`](stockade_core::Endpoint::docs) has it.
    fn docs(entry, docs: impl Into<Docs>) {
        entry.docs = docs.into().into();
    }

    /// Sets the reason why the route is open to everybody. It is for people who
    /// look for unguarded routes, and switches nothing off.
    /// [`Endpoint::public_reason`](stockade_core::Endpoint::public_reason)
    /// returns it. An empty reason is a mistake, found when the router is
    /// built.
    fn public(entry, reason: impl Into<String>) {
        entry.public = Some(reason.into());
    }

    /// Lets the WebSocket or the event stream of the route outlive the login of its
    /// user, and sets the reason for it. By default it ends when the token expires or
    /// is revoked, when the session ends, and when the API key or the user is removed.
    /// [`Endpoint::outlives_user_reason`](stockade_core::Endpoint::outlives_user_reason)
    /// returns the reason, and a policy lists it. An empty reason is a configuration
    /// error.
    fn outlives_user(entry, reason: impl Into<String>) {
        entry.outlives_user = Some(reason.into());
    }
}
