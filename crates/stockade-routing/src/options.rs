//! [`RouterOptions`]: the options of a router.
//!
//! Spec: Router options.

use serde::Deserialize;
use stockade_core::__internal::Level;
use stockade_core::__internal::States;
pub use stockade_core::Clock;
use stockade_core::{
    ErrorHandler, IntoErrorHandler, IntoMiddlewareList, Middleware, Shape, Signature,
};
use stockade_errors::__internal::setters;
#[cfg(feature = "tracing")]
use stockade_stages::__internal::optional_request_spans;
use stockade_stages::__internal::{optional_rate_limit, optional_request_ids};
#[cfg(feature = "metrics")]
use stockade_stages::Metrics;
#[cfg(feature = "tracing")]
use stockade_stages::RequestSpans;
use stockade_stages::{
    AccessLog, CorsOptions, CorsOrigin, RateLimit, RequestIds, SecurityHeaders, TrustProxy,
};

use crate::entry::{Inherited, RouteEntry, added};
use crate::tags::PlacedTag;

/// The options of a router.
///
/// They can be read from a configuration file; an unknown key is an error.
/// Middleware and state are given in code.
///
/// ```
/// use stockade::{Router, RouterOptions, serde_json};
///
/// let options = RouterOptions::new().prefix("/api").max_body_size(64 * 1024);
/// assert!(Router::with_options(options).build().is_ok());
///
/// let read: RouterOptions = stockade::serde_json::from_str(r#"{ "maxBodySize": 65536 }"#)?;
/// assert!(Router::with_options(read).build().is_ok());
/// assert!(stockade::serde_json::from_str::<RouterOptions>(r#"{ "maxBody": 65536 }"#).is_err());
/// # Ok::<(), stockade::serde_json::Error>(())
/// ```
///
/// Spec: Router options.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RouterOptions {
    #[serde(skip)]
    pub(crate) middleware: Vec<Middleware>,
    #[serde(skip)]
    pub(crate) states: States,
    pub(crate) prefix: String,
    #[serde(alias = "maxBodySize")]
    pub(crate) max_body_size: u64,
    pub(crate) accepts: Option<Vec<String>>,
    #[serde(alias = "maxJsonValues")]
    pub(crate) max_json_values: usize,
    #[serde(alias = "exposeErrors")]
    pub(crate) expose_errors: Option<bool>,
    pub(crate) problem_details: bool,
    #[serde(skip)]
    pub(crate) fallback: Option<Box<RouteEntry>>,
    #[serde(skip)]
    pub(crate) error_handling: Option<ErrorHandler>,
    /// The tag of the router or group that these are the options of.
    #[serde(skip)]
    pub(crate) tag: Option<PlacedTag>,
    #[serde(alias = "validationStatus")]
    pub(crate) validation_status: Option<u16>,
    pub(crate) method_not_allowed: bool,
    #[serde(alias = "corsOrigin", deserialize_with = "CorsOrigin::given")]
    pub(crate) cors_origin: Option<CorsOrigin>,
    pub(crate) cors: CorsOptions,
    #[serde(alias = "enableCors")]
    pub(crate) enable_cors: bool,
    #[serde(alias = "enableSecurityHeaders")]
    pub(crate) enable_security_headers: bool,
    #[serde(alias = "securityHeaders")]
    pub(crate) security_headers: SecurityHeaders,
    #[serde(alias = "rateLimit", deserialize_with = "optional_rate_limit")]
    pub(crate) rate_limit: Option<RateLimit>,
    #[serde(alias = "concurrencyLimit")]
    pub(crate) concurrency_limit: Option<usize>,
    #[serde(alias = "trustProxy")]
    pub(crate) trust_proxy: TrustProxy,
    #[serde(alias = "requestId", deserialize_with = "optional_request_ids")]
    pub(crate) request_id: Option<RequestIds>,
    #[serde(alias = "accessLog")]
    pub(crate) access_log: AccessLog,
    #[cfg(feature = "metrics")]
    #[serde(skip)]
    pub(crate) metrics: Option<Metrics>,
    #[cfg(feature = "tracing")]
    #[serde(deserialize_with = "optional_request_spans")]
    pub(crate) tracing: Option<RequestSpans>,
    #[serde(skip)]
    pub(crate) clock: Clock,
    #[serde(alias = "enableWebSockets")]
    pub(crate) enable_web_sockets: bool,
    #[serde(alias = "wsAllowedOrigins")]
    pub(crate) ws_allowed_origins: Option<Vec<String>>,
    #[serde(alias = "wsMaxPayload")]
    pub(crate) ws_max_payload: u64,
    pub(crate) ws_max_connections: u32,
    pub(crate) ws_max_connections_per_client: u32,
}

impl Default for RouterOptions {
    fn default() -> Self {
        Self {
            middleware: Vec::new(),
            states: States::default(),
            prefix: String::new(),
            max_body_size: 1_048_576,
            accepts: None,
            max_json_values: 100_000,
            expose_errors: None,
            problem_details: false,
            fallback: None,
            tag: None,
            error_handling: None,
            validation_status: None,
            method_not_allowed: true,
            cors_origin: None,
            cors: CorsOptions::default(),
            enable_cors: true,
            enable_security_headers: true,
            security_headers: SecurityHeaders::default(),
            rate_limit: Some(RateLimit::default()),
            concurrency_limit: None,
            trust_proxy: TrustProxy::none(),
            request_id: None,
            access_log: AccessLog::default(),
            #[cfg(feature = "metrics")]
            metrics: None,
            #[cfg(feature = "tracing")]
            tracing: None,
            clock: Clock::default(),
            enable_web_sockets: false,
            ws_allowed_origins: None,
            ws_max_payload: 1_048_576,
            ws_max_connections: 10_000,
            ws_max_connections_per_client: 100,
        }
    }
}

impl RouterOptions {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds middleware for every route, in list order, after the middleware of
    /// earlier calls. Default: none.
    #[must_use]
    #[track_caller]
    pub fn middleware<M>(mut self, list: impl IntoMiddlewareList<M>) -> Self {
        self.middleware.extend(added(list, Level::Router));
        self
    }

    /// Sets the handler for requests that no route takes, instead of the 404:
    /// [`Router::fallback`](crate::Router::fallback). Default: none.
    #[must_use]
    #[track_caller]
    pub fn fallback<F, Args>(mut self, handler: F) -> Self
    where
        F: Shape<Args>,
        F::Signature: Signature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        self.fallback = Some(Box::new(RouteEntry::new(handler)));
        self
    }

    /// Provides a value for `State<T>`, replacing an earlier one of its type.
    /// Default: none.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Sets the origins whose pages may read responses: one origin, a list, or
    /// `*`. Default: unset, which serves the development origin
    /// `http://localhost:3000` without credentials.
    ///
    /// It replaces an origin that [`cors`](Self::cors) has set before; in a file
    /// an origin in both is a mistake of construction. A malformed origin, in a
    /// file also a number or `null`, logs a warning and counts as unset.
    #[must_use]
    #[doc(alias = "corsOrigin")]
    pub fn cors_origin(mut self, origin: impl Into<CorsOrigin>) -> Self {
        self.cors_origin = Some(origin.into());
        self.cors.origin = CorsOrigin::Unset;
        self
    }

    /// Sets the other rules of CORS. Default: see [`CorsOptions`].
    ///
    /// An origin in them replaces one that [`cors_origin`](Self::cors_origin) has
    /// set before; without one that stays.
    #[must_use]
    pub fn cors(mut self, cors: CorsOptions) -> Self {
        if cors.origin != CorsOrigin::Unset {
            self.cors_origin = None;
        }
        self.cors = cors;
        self
    }

    /// Counts every request in these metrics, which others share, also the
    /// requests that no middleware sees. Default: none.
    #[cfg(feature = "metrics")]
    #[must_use]
    pub fn metrics(mut self, metrics: &Metrics) -> Self {
        self.metrics = Some(metrics.clone());
        self
    }

    /// Returns the settings that routes take over.
    pub(crate) fn inherited(&self) -> Inherited {
        Inherited {
            error_handling: self.error_handling.clone(),
            validation_status: self.validation_status,
            tag: self.tag.clone(),
        }
    }

    #[cfg(feature = "tracing")]
    setters! {
        /// Makes a span of the crate `tracing` for every request, also for those
        /// that no middleware sees, by [`with_tracing`]; in a file by `true`, or
        /// by an object with `url_path` and `user_agent`. See
        /// [`spans`](stockade_stages::spans). Default: none.
        ///
        /// [`with_tracing`]: stockade_stages::with_tracing
        tracing: into Option<RequestSpans>;
    }

    /// Answers errors by a handler of its own: a function that changes an
    /// [`ErrorReply`], the options of a handler, or the outcome of
    /// `create_error_handler`. Default: none.
    ///
    /// It sees every error that leaves the router: unknown paths (404), wrong
    /// methods (405), bodies that are too large (413) or of another type
    /// (415), the rate limit (429), failed validations, panics, and requests
    /// that the own server refuses (no `Host`, for instance). Requests that
    /// cannot be read at all, and those in the wrong framing, keep their fixed
    /// answer.
    ///
    /// Of several handlers the innermost answers: that of the entry, of the
    /// node or group nearest to it, of the router. A request without a route
    /// has that of the router.
    ///
    /// [`ErrorReply`]: stockade_core::ErrorReply
    #[doc(alias = "errorHandling")]
    #[must_use]
    pub fn error_handling(mut self, handler: impl IntoErrorHandler) -> Self {
        self.error_handling = Some(handler.into_error_handler());
        self
    }

    setters! {
        /// Sets the path that stands before that of every route; `""` and `"/"` are
        /// none. Default: none.
        prefix: into String;

        /// Sets the largest body of a request, in bytes, inclusive; larger ones get
        /// 413, and 0 allows only empty bodies. Default: 1 MiB (1,048,576).
        #[doc(alias = "maxBodySize")]
        max_body_size: u64;

        /// Sets the media types that the body of a request may have, such as
        /// `["application/json"]`, by which nothing that a form of another page
        /// holds reaches a route; any other body is 415, before middleware runs.
        /// Default: every type that the handler reads.
        ///
        /// A request without a body passes, and every page can send one: an empty
        /// form. An entry may have a list of its own. See
        /// [`Accepts`](stockade_core::Accepts).
        accepts: some list String;

        /// Sets the largest number of values in a JSON body that are kept
        /// whatever their type is. More of them are answered with 413. Default:
        /// 100,000.
        ///
        /// Three kinds of values count. These are the values of a body that
        /// becomes a `serde_json::Value`, for a handler, the schema of an
        /// entry, or middleware. They are also the values that a type holds as
        /// a `Value`. And they are the values that are judged without their
        /// type, because its schema has functions, unions or unique items, or
        /// is not fulfilled. Typed values are bounded by their schema and the
        /// size of the body. An element of a list takes the size of its type,
        /// and its text may be as short as `{},`. So a list of large types
        /// needs `max_items`.
        ///
        /// A `Value` takes up to 400 bytes, and its text as few as two. So the
        /// default is 40 MB at the worst for each time that it is kept: twice where
        /// a handler takes a `Value` that an entry's schema or middleware has
        /// judged, and up to three times for a moment where a tagged enum holds
        /// one.
        #[doc(alias = "maxJsonValues")]
        max_json_values: usize;

        /// Sends the real message of a 5xx if true. Default: true only when the
        /// environment variable `NODE_ENV` is `development` while the router is
        /// built.
        #[doc(alias = "exposeErrors")]
        expose_errors: some bool;

        /// Sends errors as problem details (RFC 9457) if true, instead of
        /// `{"error": …}`. Default: false.
        problem_details: bool;

        /// Sets the status of a failed validation, from 400 to 499, such as 422.
        /// Another one is a mistake, found when the router is built. Default: 400.
        ///
        /// It holds for each answer `Validation failed`: of a body, a query or
        /// parameters, by the schema of an entry or of a type, and for an
        /// [`ApiError::validation`](stockade_core::ApiError::validation) of a
        /// handler. A body that is no JSON at all stays a 400. A node, a group and
        /// an entry may have a status of their own.
        #[doc(alias = "validationStatus")]
        validation_status: some u16;

        /// Answers 405 with `Allow` if true, for a path that only other methods
        /// have; 404 otherwise. Default: true.
        method_not_allowed: bool;

        /// Sends CORS headers if true. Default: true; false is for an API that
        /// no page calls, or whose host does it.
        #[doc(alias = "enableCors")]
        enable_cors: bool;

        /// Sends security headers if true. Default: true.
        #[doc(alias = "enableSecurityHeaders")]
        enable_security_headers: bool;

        /// Sets the security headers. Default: see [`SecurityHeaders`].
        #[doc(alias = "securityHeaders")]
        security_headers: SecurityHeaders;

        /// Sets the rate limit of each client, over all routes; `None`, in a file
        /// `false`, is no limit, and `true` in a file the default. Default: 100
        /// requests per 60 s.
        #[doc(alias = "rateLimit")]
        rate_limit: into Option<RateLimit>;

        /// Sets the largest number of requests in flight, over all routes; a further
        /// one gets 503 at once. It is what the program can work on at one time,
        /// such as the connections of its pool. An entry has
        /// `concurrency_limit: false` for none, as those of [`health_routes`] have.
        /// See [`with_concurrency_limit`]. Default: none.
        ///
        /// [`health_routes`]: crate::health_routes
        /// [`with_concurrency_limit`]: stockade_stages::with_concurrency_limit
        concurrency_limit: some usize;

        /// Sets the number of trusted proxies before this server: a number, or
        /// `true` for one. Default: none, and the client is the other end of
        /// the connection, or nobody where that has no address
        /// ([`LocalPeer`](stockade_core::LocalPeer)).
        #[doc(alias = "trustProxy")]
        trust_proxy: into TrustProxy;

        /// Names every request, in its answer too, by [`with_request_id`]; in a file
        /// by `true`, or by an object with `believe_client` and `begin_traces`.
        /// Default: none.
        ///
        /// [`with_request_id`]: stockade_stages::with_request_id
        #[doc(alias = "requestId")]
        request_id: into Option<RequestIds>;

        /// Logs a line for every request, also for those that no middleware sees:
        /// `true`, or [`with_logging`] with its options; in a file `true`, or an
        /// object with `path`. Default: false.
        ///
        /// [`with_logging`]: stockade_stages::with_logging
        #[doc(alias = "accessLog")]
        access_log: into AccessLog;

        /// Sets the clock of the stages, and of the rate limits of routes and hosts.
        /// Default: the system's.
        clock: Clock;

        /// Allows WebSocket routes; without it one is a mistake of construction.
        /// Experimental. Default: false.
        #[doc(alias = "enableWebSockets")]
        enable_web_sockets: bool;

        /// Sets the origins whose pages may open WebSockets, each exactly as
        /// browsers send it, or `*`; a route may have a list of its own. An empty
        /// list refuses every browser. Origins of CORS do not count. Default: the same
        /// origin only.
        #[doc(alias = "wsAllowedOrigins")]
        ws_allowed_origins: some list String;

        /// Sets the largest message on a WebSocket, in bytes, inclusive, all
        /// fragments together. Default: 1 MiB (1,048,576).
        #[doc(alias = "wsMaxPayload")]
        ws_max_payload: u64;

        /// Sets the largest number of open WebSockets; a further handshake gets
        /// 503. Default: 10,000.
        ws_max_connections: u32;

        /// Sets the largest number of open WebSockets of one client's address
        /// (a network of 64 bits in IPv6); a further handshake gets 429.
        /// Default: 100.
        ws_max_connections_per_client: u32;
    }
}
