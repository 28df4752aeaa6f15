//! [`RouterOptions`]: the options of a router.
//!
//! Spec: Router options.

use serde::Deserialize;
pub use stockade_core::Clock;
use stockade_core::{IntoMiddlewareList, Middleware, States};
use stockade_middleware::__internal::optional_request_ids;
#[cfg(feature = "metrics")]
use stockade_middleware::Metrics;
use stockade_middleware::rate_limit;
use stockade_middleware::{
    CorsOptions, CorsOrigin, RateLimit, RequestIds, SecurityHeaders, TrustProxy,
};

/// The options of a router.
///
/// They can be read from a configuration file; an unknown key is an error.
/// Middleware and state are given in code.
///
/// ```
/// use stockade_routing::RouterOptions;
///
/// let options = RouterOptions::new().prefix("/api").max_body_size(64 * 1024);
/// assert_eq!(options.max_body_size, 65_536);
/// ```
///
/// Spec: Router options.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RouterOptions {
    /// Middleware for every route, in list order. Default: none.
    #[serde(skip)]
    pub middleware: Vec<Middleware>,
    /// What `State<T>` gives to handlers, by type. Default: nothing.
    #[serde(skip)]
    pub states: States,
    /// Stands before the path of every route. `""` and `"/"` mean none, which
    /// is the default.
    pub prefix: String,
    /// The largest body of a request, in bytes, inclusive; larger ones get 413.
    /// 0 allows only empty bodies. Default: 1 MiB (1,048,576).
    #[serde(alias = "maxBodySize")]
    pub max_body_size: u64,
    /// The media types that the body of a request may have, such as
    /// `["application/json"]`, by which nothing that a form of another page holds
    /// reaches a route; any other body is 415, before middleware runs. A request
    /// without a body passes, and every page can send one: an empty form. An entry
    /// may have a list of its own. See [`Accepts`](stockade_core::Accepts).
    /// Default: `None`, every type that the handler reads.
    pub accepts: Option<Vec<String>>,
    /// The largest number of values in a JSON body that are kept whatever their
    /// type: a body that becomes a `serde_json::Value`, for a handler, for the
    /// schema of an entry, for middleware; what a type has as a `Value`; and
    /// what is judged without its type, because its schema has functions,
    /// unions or unique items, or is not fulfilled. More get 413. Typed values
    /// are bounded by their schema and the size of the body: an element of a list
    /// takes the size of its type, of which `{},` may be the whole text, so that a
    /// list of large types needs `max_items`.
    ///
    /// A `Value` takes up to 400 bytes, and its text as few as two. Default:
    /// 100,000, which is 40 MB at the worst for each time that it is kept: twice
    /// where a handler takes a `Value` that an entry's schema or middleware has
    /// judged, and up to three times for a moment where a tagged enum holds one.
    #[serde(alias = "maxJsonValues")]
    pub max_json_values: usize,
    /// Whether the real message of a 5xx is sent. Default: `None`, which means
    /// true only when the environment variable `NODE_ENV` is `development`
    /// while the router is built.
    #[serde(alias = "exposeErrors")]
    pub expose_errors: Option<bool>,
    /// Whether errors are sent as problem details (RFC 9457) instead of
    /// `{"error": …}`. Default: false.
    pub problem_details: bool,
    /// Whether a path that only other methods have is answered with 405 and
    /// `Allow`; 404 otherwise. Default: true.
    pub method_not_allowed: bool,
    /// Who may read responses from pages of other origins. Beside an origin in
    /// [`cors`](Self#structfield.cors) it is a mistake of construction; of the
    /// methods that set them the last one counts. What is malformed, in a file
    /// also a number or `null`, logs a warning and counts as unset. Default:
    /// unset, which serves the development origin `http://localhost:3000`
    /// without credentials.
    #[serde(alias = "corsOrigin", deserialize_with = "CorsOrigin::given")]
    pub cors_origin: Option<CorsOrigin>,
    /// The other rules of CORS. Default: see [`CorsOptions`].
    pub cors: CorsOptions,
    /// Whether responses carry CORS headers at all. Default: true; false for
    /// an API that no page calls, or whose host does it.
    #[serde(alias = "enableCors")]
    pub enable_cors: bool,
    /// Whether responses carry security headers. Default: true.
    #[serde(alias = "enableSecurityHeaders")]
    pub enable_security_headers: bool,
    /// The security headers. Default: see [`SecurityHeaders`].
    #[serde(alias = "securityHeaders")]
    pub security_headers: SecurityHeaders,
    /// The rate limit of each client, over all routes. Default: 100 requests
    /// per 60 s; `None`, in a file `false`, for no limit, `true` for the default.
    #[serde(alias = "rateLimit", deserialize_with = "rate_limit::optional")]
    pub rate_limit: Option<RateLimit>,
    /// How many proxies stand before this server and are believed. Default:
    /// none, and the client is the other end of the connection.
    #[serde(alias = "trustProxy")]
    pub trust_proxy: TrustProxy,
    /// Names every request, in its answer too: see
    /// [`with_request_id`](stockade_middleware::with_request_id). Default: none;
    /// in a file `true`, or an object with `believe_client` and `begin_traces`.
    #[serde(alias = "requestId", deserialize_with = "optional_request_ids")]
    pub request_id: Option<RequestIds>,
    /// Whether every request is a line in the log, also those that no
    /// middleware sees: see [`with_logging`](stockade_middleware::with_logging).
    /// Default: false.
    #[serde(alias = "accessLog")]
    pub access_log: bool,
    /// Counts every request, also those that no middleware sees. Default: none.
    #[cfg(feature = "metrics")]
    #[serde(skip)]
    pub metrics: Option<Metrics>,
    /// What the stages call the present. Default: the system's clock.
    #[serde(skip)]
    pub clock: Clock,
    /// Whether there may be WebSocket routes; without it one is a mistake of
    /// construction. Experimental. Default: false.
    #[serde(alias = "enableWebSockets")]
    pub enable_web_sockets: bool,
    /// Origins whose pages may open WebSockets, each exactly as browsers send
    /// it, or `*`; a route may have a list of its own. An empty list refuses
    /// every browser. Default: `None`, the same origin only.
    #[serde(alias = "wsAllowedOrigins")]
    pub ws_allowed_origins: Option<Vec<String>>,
    /// The largest message on a WebSocket, in bytes, inclusive, all fragments
    /// together. Default: 1 MiB (1,048,576).
    #[serde(alias = "wsMaxPayload")]
    pub ws_max_payload: u64,
    /// How many WebSockets may be open; a further handshake gets 503. Default:
    /// 10,000.
    pub ws_max_connections: u32,
    /// How many of them may be of one client's address (a network of 64 bits in
    /// IPv6); a further handshake gets 429. Default: 100.
    pub ws_max_connections_per_client: u32,
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
            method_not_allowed: true,
            cors_origin: None,
            cors: CorsOptions::default(),
            enable_cors: true,
            enable_security_headers: true,
            security_headers: SecurityHeaders::default(),
            rate_limit: Some(RateLimit::default()),
            trust_proxy: TrustProxy::none(),
            request_id: None,
            access_log: false,
            #[cfg(feature = "metrics")]
            metrics: None,
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
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds middleware for every route; see [`middleware`](Self#structfield.middleware).
    #[must_use]
    pub fn middleware<M>(mut self, list: impl IntoMiddlewareList<M>) -> Self {
        self.middleware.extend(list.into_list());
        self
    }

    /// Provides a value for `State<T>`, replacing an earlier one of its type.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Sets [`prefix`](Self#structfield.prefix).
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets [`max_body_size`](Self#structfield.max_body_size), in bytes.
    #[must_use]
    #[doc(alias = "maxBodySize")]
    pub fn max_body_size(mut self, bytes: u64) -> Self {
        self.max_body_size = bytes;
        self
    }

    /// Sets [`accepts`](Self#structfield.accepts).
    #[must_use]
    pub fn accepts<S: Into<String>>(mut self, types: impl IntoIterator<Item = S>) -> Self {
        self.accepts = Some(types.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`max_json_values`](Self#structfield.max_json_values).
    #[must_use]
    #[doc(alias = "maxJsonValues")]
    pub fn max_json_values(mut self, values: usize) -> Self {
        self.max_json_values = values;
        self
    }

    /// Sets [`expose_errors`](Self#structfield.expose_errors).
    #[must_use]
    #[doc(alias = "exposeErrors")]
    pub fn expose_errors(mut self, expose: bool) -> Self {
        self.expose_errors = Some(expose);
        self
    }

    /// Sets [`problem_details`](Self#structfield.problem_details).
    #[must_use]
    pub fn problem_details(mut self, problem_details: bool) -> Self {
        self.problem_details = problem_details;
        self
    }

    /// Sets [`cors_origin`](Self#structfield.cors_origin): one origin, a list,
    /// or `*`. It replaces an origin that [`cors`](Self::cors) has set before.
    #[must_use]
    #[doc(alias = "corsOrigin")]
    pub fn cors_origin(mut self, origin: impl Into<CorsOrigin>) -> Self {
        self.cors_origin = Some(origin.into());
        self.cors.origin = CorsOrigin::Unset;
        self
    }

    /// Sets [`cors`](Self#structfield.cors). An origin in it replaces one that
    /// [`cors_origin`](Self::cors_origin) has set before; without one that
    /// stays.
    #[must_use]
    pub fn cors(mut self, cors: CorsOptions) -> Self {
        if cors.origin != CorsOrigin::Unset {
            self.cors_origin = None;
        }
        self.cors = cors;
        self
    }

    /// Sets [`enable_cors`](Self#structfield.enable_cors).
    #[must_use]
    pub fn enable_cors(mut self, enable: bool) -> Self {
        self.enable_cors = enable;
        self
    }

    /// Sets [`enable_security_headers`](Self#structfield.enable_security_headers).
    #[must_use]
    #[doc(alias = "enableSecurityHeaders")]
    pub fn enable_security_headers(mut self, enable: bool) -> Self {
        self.enable_security_headers = enable;
        self
    }

    /// Sets [`security_headers`](Self#structfield.security_headers).
    #[must_use]
    pub fn security_headers(mut self, headers: SecurityHeaders) -> Self {
        self.security_headers = headers;
        self
    }

    /// Sets [`rate_limit`](Self#structfield.rate_limit); `None` for no limit.
    #[must_use]
    #[doc(alias = "rateLimit")]
    pub fn rate_limit(mut self, limit: impl Into<Option<RateLimit>>) -> Self {
        self.rate_limit = limit.into();
        self
    }

    /// Sets [`trust_proxy`](Self#structfield.trust_proxy): a number of proxies,
    /// or `true` for one.
    #[must_use]
    #[doc(alias = "trustProxy")]
    pub fn trust_proxy(mut self, trust: impl Into<TrustProxy>) -> Self {
        self.trust_proxy = trust.into();
        self
    }

    /// Sets [`request_id`](Self#structfield.request_id), such as
    /// `with_request_id()`; `None` for no names.
    #[must_use]
    #[doc(alias = "requestId")]
    pub fn request_id(mut self, ids: impl Into<Option<RequestIds>>) -> Self {
        self.request_id = ids.into();
        self
    }

    /// Sets [`access_log`](Self#structfield.access_log).
    #[must_use]
    #[doc(alias = "accessLog")]
    pub fn access_log(mut self, log: bool) -> Self {
        self.access_log = log;
        self
    }

    /// Sets [`metrics`](Self#structfield.metrics) to these, which others share.
    #[cfg(feature = "metrics")]
    #[must_use]
    pub fn metrics(mut self, metrics: &Metrics) -> Self {
        self.metrics = Some(metrics.clone());
        self
    }

    /// Sets [`clock`](Self#structfield.clock), also for the rate limits of routes
    /// and of calls.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets [`method_not_allowed`](Self#structfield.method_not_allowed).
    #[must_use]
    pub fn method_not_allowed(mut self, method_not_allowed: bool) -> Self {
        self.method_not_allowed = method_not_allowed;
        self
    }

    /// Sets [`enable_web_sockets`](Self#structfield.enable_web_sockets).
    #[must_use]
    #[doc(alias = "enableWebSockets")]
    pub fn enable_web_sockets(mut self, enable: bool) -> Self {
        self.enable_web_sockets = enable;
        self
    }

    /// Sets [`ws_allowed_origins`](Self#structfield.ws_allowed_origins).
    #[must_use]
    #[doc(alias = "wsAllowedOrigins")]
    pub fn ws_allowed_origins<S: Into<String>>(
        mut self,
        origins: impl IntoIterator<Item = S>,
    ) -> Self {
        self.ws_allowed_origins = Some(origins.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`ws_max_payload`](Self#structfield.ws_max_payload), in bytes.
    #[must_use]
    #[doc(alias = "wsMaxPayload")]
    pub fn ws_max_payload(mut self, bytes: u64) -> Self {
        self.ws_max_payload = bytes;
        self
    }

    /// Sets [`ws_max_connections`](Self#structfield.ws_max_connections).
    #[must_use]
    pub fn ws_max_connections(mut self, connections: u32) -> Self {
        self.ws_max_connections = connections;
        self
    }

    /// Sets
    /// [`ws_max_connections_per_client`](Self#structfield.ws_max_connections_per_client).
    #[must_use]
    pub fn ws_max_connections_per_client(mut self, connections: u32) -> Self {
        self.ws_max_connections_per_client = connections;
        self
    }
}
