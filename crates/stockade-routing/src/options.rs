//! [`RouterOptions`]: the options of a router.
// Spec: Router options.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
pub use stockade_core::Clock;
use stockade_core::middleware::Level;
use stockade_core::page_headers::PageHeaders;
use stockade_core::{
    Accepts, Authentication, ErrorHandler, HandlerFn, HandlerSignature, IntoMiddlewareList,
    IntoSetting, Languages, Middleware, ProblemDetails, Setting,
};
use stockade_errors::__internal::setters;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_map::TrailingSlash;
use stockade_path::__internal::route_settings;
#[cfg(feature = "metrics")]
use stockade_stages::Metrics;
#[cfg(feature = "tracing")]
use stockade_stages::RequestSpans;
use stockade_stages::cors::cors_setting;
use stockade_stages::cors::policy_internals::Cors;
use stockade_stages::observation::Observers;
use stockade_stages::rate_limit::notation::{object_setting, rate_limit_setting};
use stockade_stages::{
    AccessLog, ConcurrencyLimit, CorsOptions, CorsOrigin, RateLimit, RequestIds, SecurityHeaders,
    Timeout, TrustProxy,
};
use stockade_validation::ValidationOptions;
#[cfg(feature = "ws-compression")]
use stockade_websockets::Deflate;

use crate::docs::DocsSetting;
use crate::entry::{RouteEntry, added};
use crate::route_host::RouteHost;
use crate::settings::{HostSettings, Placed, RouteSettings};
use crate::stages::{StageRules, in_rate_limit};
use crate::tags::PlacedTag;

/// The options of a router.
///
/// They can be read from a configuration file. A key is in camel case, such as
/// `maxBodySize`, or in snake case; an unknown key is an error. Authentication
/// and middleware are set in code.
///
/// ```
/// use stockade::{Router, RouterOptions, serde_json};
///
/// let options = RouterOptions::new().prefix("/api").max_body_size(64 * 1024);
/// assert!(Router::with_options(options).build().is_ok());
///
/// let read: RouterOptions = stockade::serde_json::from_str(r#"{ "maxBodySize": 65536 }"#)?;
/// assert!(Router::with_options(read).build().is_ok());
/// assert!(stockade::serde_json::from_str::<RouterOptions>(r#"{ "bodySize": 65536 }"#).is_err());
/// # Ok::<(), stockade::serde_json::Error>(())
/// ```
// Spec: Router options.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "InFile")]
pub struct RouterOptions {
    /// The settings that groups, nodes and routes also have.
    pub(crate) settings: RouteSettings,
    /// The options that hosts also have.
    pub(crate) host: HostSettings,
    /// The host of all routes.
    pub(crate) route_host: Option<RouteHost>,
    pub(crate) middleware: Vec<Middleware>,
    pub(crate) prefix: String,
    pub(crate) problem_details: Setting<Placed<ProblemDetails>>,
    pub(crate) languages: Option<Placed<Languages>>,
    pub(crate) fallback: Option<Box<RouteEntry>>,
    pub(crate) method_not_allowed: bool,
    pub(crate) trailing_slash: TrailingSlash,
    pub(crate) security_headers: Setting<SecurityHeaders>,
    pub(crate) request_id: Setting<RequestIds>,
    pub(crate) access_log: AccessLog,
    #[cfg(feature = "metrics")]
    pub(crate) metrics: Option<Metrics>,
    #[cfg(feature = "tracing")]
    pub(crate) tracing: Setting<RequestSpans>,
    pub(crate) clock: Clock,
    pub(crate) enable_web_sockets: bool,
    pub(crate) ws_allowed_origins: Setting<Vec<String>>,
    pub(crate) ws_max_payload: u64,
    #[cfg(feature = "ws-compression")]
    pub(crate) ws_compression: Setting<Deflate>,
    pub(crate) ws_max_connections: u32,
    pub(crate) ws_max_connections_per_client: u32,
}

impl Default for RouterOptions {
    fn default() -> Self {
        Self {
            settings: RouteSettings::standard(),
            host: HostSettings::default(),
            route_host: None,
            middleware: Vec::new(),
            prefix: String::new(),
            problem_details: Setting::Inherit,
            languages: None,
            fallback: None,
            method_not_allowed: true,
            trailing_slash: TrailingSlash::default(),
            security_headers: Setting::On,
            request_id: Setting::Inherit,
            access_log: AccessLog::default(),
            #[cfg(feature = "metrics")]
            metrics: None,
            #[cfg(feature = "tracing")]
            tracing: Setting::Inherit,
            clock: Clock::default(),
            enable_web_sockets: false,
            ws_allowed_origins: Setting::Inherit,
            ws_max_payload: 1_048_576,
            #[cfg(feature = "ws-compression")]
            ws_compression: Setting::Inherit,
            ws_max_connections: 10_000,
            ws_max_connections_per_client: 100,
        }
    }
}

/// Generates the form of the options in a configuration file: the settings of
/// the table, and the options that only a router has.
macro_rules! in_file {
    (
        ({ $($(#[$own_meta:meta])* $own:ident: $own_type:ty,)* })
        endpoint {$(
            $(#[$meta:meta])* [$($serde:tt)*]
            $name:ident($value:ident: $arg:ty) -> $field:ty $convert:block = $default:expr;
        )*}
        routing {$(
            $(#[$its_meta:meta])* [$($its_serde:tt)*]
            $its_name:ident $(<$generic:ident>)? ($its_value:ident: $its_arg:ty) -> $its_field:ty $its_convert:block
                = $its_default:expr;
        )*}
    ) => {
        #[derive(Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct InFile {
            $(#[serde($($serde)*)] $name: $field,)*
            $(#[serde($($its_serde)*)] $its_name: $its_field,)*
            host: Option<String>,
            #[serde(alias = "enableSecurityHeaders")]
            enable_security_headers: Option<bool>,
            #[serde(alias = "exposeErrors")]
            expose_errors: Option<bool>,
            #[serde(alias = "trustProxy")]
            trust_proxy: Option<TrustProxy>,
            #[serde(alias = "corsOrigin", deserialize_with = "CorsOrigin::given")]
            cors_origin: Option<CorsOrigin>,
            #[serde(alias = "wsAllowedOrigins", deserialize_with = "list_in_file")]
            ws_allowed_origins: Setting<Vec<String>>,
            #[serde(alias = "requestId", deserialize_with = "request_ids_in_file")]
            request_id: Setting<RequestIds>,
            #[cfg(feature = "tracing")]
            #[serde(deserialize_with = "request_spans_in_file")]
            tracing: Setting<RequestSpans>,
            #[cfg(feature = "ws-compression")]
            #[serde(alias = "wsCompression", deserialize_with = "ws_compression_in_file")]
            ws_compression: Setting<Deflate>,
            $($(#[$own_meta])* $own: Option<$own_type>,)*
        }

        impl TryFrom<InFile> for RouterOptions {
            type Error = ConfigError;

            fn try_from(file: InFile) -> Result<Self, ConfigError> {
                if file.cors_origin.is_some() && !file.cors.is_inherited() {
                    return Err(ConfigIssue::new(TWO_ORIGINS).into());
                }
                if file.enable_security_headers.is_some() && file.security_headers.is_some() {
                    return Err(ConfigIssue::new(TWO_SWITCHES).into());
                }
                let mut options = Self::default();
                let mut settings = RouteSettings::default();
                $(settings.endpoint.$name = file.$name;)*
                $(settings.$its_name = file.$its_name;)*
                options.settings = settings.or(&options.settings);
                if let Some(host) = &file.host {
                    options = options.host(host);
                    ConfigError::check(std::mem::take(&mut options.settings.mistakes))?;
                }
                options.host.expose_errors = file.expose_errors;
                options.host.trust_proxy = file.trust_proxy;
                options.host.cors_origin = file.cors_origin;
                options.ws_allowed_origins = file.ws_allowed_origins;
                options.request_id = file.request_id;
                #[cfg(feature = "tracing")]
                {
                    options.tracing = file.tracing;
                }
                #[cfg(feature = "ws-compression")]
                {
                    options.ws_compression = file.ws_compression;
                }
                $(
                    if let Some(value) = file.$own {
                        options.$own = value;
                    }
                )*
                Ok(match file.enable_security_headers {
                    Some(is_on) => options.enable_security_headers(is_on),
                    None => options,
                })
            }
        }
    };
}

route_settings!(in_file! ({
    prefix: String,
    #[serde(alias = "problemDetails", deserialize_with = "problem_details_in_file")]
    problem_details: Setting<Placed<ProblemDetails>>,
    #[serde(alias = "methodNotAllowed")]
    method_not_allowed: bool,
    #[serde(alias = "trailingSlash")]
    trailing_slash: TrailingSlash,
    #[serde(alias = "securityHeaders", deserialize_with = "security_headers_in_file")]
    security_headers: Setting<SecurityHeaders>,
    #[serde(alias = "accessLog")]
    access_log: AccessLog,
    #[serde(alias = "enableWebSockets")]
    enable_web_sockets: bool,
    #[serde(alias = "wsMaxPayload")]
    ws_max_payload: u64,
    #[serde(alias = "wsMaxConnections")]
    ws_max_connections: u32,
    #[serde(alias = "wsMaxConnectionsPerClient")]
    ws_max_connections_per_client: u32,
}));

fn list_in_file<'de, D: Deserializer<'de>>(source: D) -> Result<Setting<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of strings, true or false")]
    enum Notation {
        Switch(bool),
        List(Vec<String>),
    }

    Ok(match Option::deserialize(source)? {
        None => Setting::Inherit,
        Some(Notation::Switch(is_on)) => is_on.into_setting(),
        Some(Notation::List(list)) => Setting::Value(list),
    })
}

fn accepts_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<Arc<Accepts>>, D::Error> {
    let accepts = Accepts::of_setting(list_in_file(source)?);
    accepts.map_err(|error| serde::de::Error::custom(format!("accepts: {error}")))
}

fn rate_limit_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<Placed<RateLimit>>, D::Error> {
    Ok(Placed::of(rate_limit_setting(source)?, Location::caller()))
}

fn concurrency_limit_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<Placed<ConcurrencyLimit>>, D::Error> {
    /// A number has its own variant, because its error then names the number.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Notation {
        Switch(bool),
        Max(usize),
    }

    let setting = match Option::deserialize(source)? {
        None => Setting::Inherit,
        Some(Notation::Switch(is_on)) => is_on.into_setting(),
        Some(Notation::Max(max)) => max.into_setting(),
    };
    Ok(Placed::of(setting, Location::caller()))
}

fn cors_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<Box<CorsOptions>>, D::Error> {
    Ok(cors_setting(source)?.map(Box::new))
}

fn problem_details_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Option<Setting<Placed<ProblemDetails>>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected true, false, or the base of problem types as a string")]
    enum Notation {
        Switch(bool),
        Base(String),
    }

    let setting = match Option::deserialize(source)? {
        None => return Ok(None),
        Some(Notation::Switch(is_on)) => is_on.into_setting(),
        Some(Notation::Base(base)) => base.into_setting(),
    };
    Ok(Some(Placed::of(setting, Location::caller())))
}

fn security_headers_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Option<Setting<SecurityHeaders>>, D::Error> {
    object_setting(source, "true, false, or an object with security headers").map(Some)
}

fn request_ids_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<RequestIds>, D::Error> {
    object_setting(source, "true, false, or an object with believeClient and beginTraces")
}

#[cfg(feature = "tracing")]
fn request_spans_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<RequestSpans>, D::Error> {
    object_setting(source, "true, false, or an object with urlPath and userAgent")
}

#[cfg(feature = "ws-compression")]
fn ws_compression_in_file<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<Deflate>, D::Error> {
    object_setting(source, "true, false, or an object with window_bits and context_takeover")
}

impl RouterOptions {
    /// Creates the default options.
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

    /// Sets the handler for requests without a route, instead of the 404:
    /// [`Router::fallback`](crate::Router::fallback). Default: none.
    #[must_use]
    #[track_caller]
    pub fn fallback<F, Args>(mut self, handler: F) -> Self
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        self.fallback = Some(Box::new(RouteEntry::new(handler)));
        self
    }

    /// Sets the origins that may read responses: one origin, a list, or `*`.
    /// Default: unset, which allows the development origin
    /// `http://localhost:3000` without credentials.
    ///
    /// An explicit origin may also send credentials, such as cookies: the
    /// response has `Access-Control-Allow-Credentials`. The value `*` never
    /// allows credentials.
    ///
    /// It is the short form of [`cors`](Self::cors), with the name of the
    /// specification. It only replaces the origin of earlier rules and switches
    /// CORS on. A configuration file with both is an error. A malformed origin,
    /// or in a file a number or `null`, logs a warning and counts as unset,
    /// here and in `cors`.
    ///
    /// ```
    /// use stockade::{Router, RouterOptions, serde_json};
    ///
    /// let options = RouterOptions::new().cors_origin(["https://app.example"]);
    /// let app = Router::with_options(options).build()?;
    /// assert_eq!(app.route_map().router.cors.unwrap().origins, ["https://app.example"]);
    ///
    /// let file = r#"{ "cors": "https://app.example" }"#;
    /// assert!(serde_json::from_str::<RouterOptions>(file).is_ok());
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    #[must_use]
    #[doc(alias = "corsOrigin")]
    pub fn cors_origin(mut self, origin: impl Into<CorsOrigin>) -> Self {
        self.host.cors_origin = Some(origin.into());
        match &mut self.settings.cors {
            Setting::Value(rules) => rules.origin = CorsOrigin::Unset,
            Setting::Off => self.settings.cors = Setting::On,
            Setting::On | Setting::Inherit => {}
        }
        self
    }

    /// Sets the largest body of a request, in bytes:
    /// [`max_body`](Self::max_body) by the name in the specification.
    #[must_use]
    #[doc(alias = "maxBodySize")]
    #[track_caller]
    pub fn max_body_size(self, bytes: u64) -> Self {
        self.max_body(bytes)
    }

    /// Switches the security headers on or off: `false` is
    /// [`security_headers(false)`](Self::security_headers). Default: true.
    #[must_use]
    #[doc(alias = "enableSecurityHeaders")]
    pub fn enable_security_headers(mut self, is_on: bool) -> Self {
        if !is_on {
            self.security_headers = Setting::Off;
        } else if self.security_headers.is_off() {
            self.security_headers = Setting::On;
        }
        self
    }

    /// Sets the security headers; `false` sends none. Default: see [`SecurityHeaders`].
    #[must_use]
    #[doc(alias = "securityHeaders")]
    pub fn security_headers(mut self, headers: impl IntoSetting<SecurityHeaders>) -> Self {
        self.security_headers = headers.into_setting();
        self
    }

    /// Sends errors as problem details (RFC 9457, `application/problem+json`)
    /// instead of `{"error": …}`: `true`, or the base of problem types, such as
    /// `https://shop.example/problems/`. A configuration file has the base as
    /// text, or `true`. Default: `false`.
    ///
    /// Relative types of `#[derive(ApiError)]` resolve against the base. The
    /// errors of the framework also have types, such as `validation-failed` and
    /// `not-found`; see
    /// [`problem_details`](stockade_errors::ApiError::problem_type_at). The
    /// base must be an absolute URI that ends with `/`; anything else is a
    /// configuration error. So is a relative type without a base.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::testing::TestClient;
    ///
    /// #[derive(Debug, ApiError)]
    /// enum OrderError {
    ///     #[status(409, "{sku} is sold out", type = "sold-out")]
    ///     SoldOut { #[member] sku: String },
    /// }
    ///
    /// async fn order() -> Result<(), OrderError> {
    ///     Err(OrderError::SoldOut { sku: "7".to_owned() })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let options = RouterOptions::new().problem_details("https://shop.example/problems/");
    /// let client = TestClient::new(create_router(routes! { "orders": { POST: order } }, options));
    /// client.post("/orders").await.assert_status(409).assert_json(json!({
    ///     "type": "https://shop.example/problems/sold-out",
    ///     "title": "Conflict",
    ///     "status": 409,
    ///     "detail": "7 is sold out",
    ///     "sku": "7",
    /// }));
    /// let missing: Value = client.get("/nowhere").await.assert_status(404).json();
    /// assert_eq!(missing["type"], "https://shop.example/problems/not-found");
    /// # }
    /// ```
    #[must_use]
    #[doc(alias = "problemDetails")]
    #[track_caller]
    pub fn problem_details(mut self, problems: impl IntoSetting<ProblemDetails>) -> Self {
        self.problem_details = Placed::of(problems.into_setting(), Location::caller());
        self
    }

    /// Sets the languages of the messages of failed validations and of errors
    /// with a problem type: `Catalogs` of the feature `i18n`. The language is
    /// the best match for `Accept-Language`, by lookup (RFC 4647, section 3.4).
    /// Default: none, so all messages are English.
    ///
    /// Error responses then have `Content-Language` and `Vary:
    /// Accept-Language`. The framework's own messages, such as `Validation
    /// failed`, stay English. Messages are translated before `error_handling`
    /// runs. Each request keeps its `Accept-Language` until its response is
    /// ready.
    ///
    /// A rule, or a problem type of a route, without a text in each language is
    /// a configuration error.
    #[must_use]
    #[doc(alias = "i18n")]
    #[track_caller]
    pub fn languages(mut self, languages: impl Into<Languages>) -> Self {
        self.languages = Some(Placed::new(languages.into(), Location::caller()));
        self
    }

    /// Sends the real message of a 5xx if true. Default: true only if the
    /// environment variable `NODE_ENV` is `development` when the router is
    /// built.
    #[doc(alias = "exposeErrors")]
    #[must_use]
    pub fn expose_errors(mut self, expose_errors: bool) -> Self {
        self.host.expose_errors = Some(expose_errors);
        self
    }

    /// Sets the trusted proxies before this server: their number, `true` for
    /// one, a list of their addresses and networks, or `false`. See
    /// [`TrustProxy`](stockade_stages::TrustProxy). Default: `false`: the
    /// client is the peer of the connection, or unknown if the peer does not
    /// have an address ([`LocalPeer`](stockade_core::LocalPeer)).
    ///
    /// Set the exact number of proxies. A higher number trusts an address that
    /// the client can forge. A malformed network is a configuration error.
    #[doc(alias = "trustProxy")]
    #[must_use]
    pub fn trust_proxy(mut self, trust_proxy: impl Into<TrustProxy>) -> Self {
        self.host.trust_proxy = Some(trust_proxy.into());
        self
    }

    /// Sets the compression of WebSocket messages (permessage-deflate, RFC
    /// 7692) for clients that support it: `true`, `false` or a
    /// [`Deflate`](stockade_websockets::Deflate). A route may have its own
    /// `compression`. A configuration file has `true`, `false`, or an object
    /// with `window_bits` and `context_takeover`. Needs the feature
    /// `ws-compression`. Default: `false`.
    ///
    /// ```
    /// use stockade::{RouterOptions, serde_json};
    ///
    /// let file = r#"{ "enableWebSockets": true, "wsCompression": { "windowBits": 12 } }"#;
    /// assert!(serde_json::from_str::<RouterOptions>(file).is_ok());
    /// let file = r#"{ "wsCompression": { "windowSize": 12 } }"#;
    /// assert!(serde_json::from_str::<RouterOptions>(file).is_err());
    /// ```
    #[cfg(feature = "ws-compression")]
    #[doc(alias = "wsCompression")]
    #[doc(alias = "permessage-deflate")]
    #[must_use]
    pub fn ws_compression(mut self, compression: impl IntoSetting<Deflate>) -> Self {
        self.ws_compression = compression.into_setting();
        self
    }

    /// Counts every request in these metrics, including requests that do not
    /// reach middleware. Several routers can share the metrics. Default: none.
    #[cfg(feature = "metrics")]
    #[must_use]
    pub fn metrics(mut self, metrics: &Metrics) -> Self {
        self.metrics = Some(metrics.clone());
        self
    }

    /// Handles a change of a setting. CORS rules with an origin replace the
    /// origin from an earlier `cors_origin`.
    pub(crate) fn note_set(&mut self, name: &str) {
        let rules = self.settings.cors.value().filter(|_| name == "cors");
        if rules.is_some_and(|rules| rules.origin != CorsOrigin::Unset) {
            self.host.cors_origin = None;
        }
    }

    /// Returns the rules of the stages, for routes with these lists of response headers.
    pub(crate) fn stage_rules(
        &self,
        pages: Arc<[Arc<PageHeaders>]>,
    ) -> Result<StageRules, ConfigError> {
        let mut cors = self.cors_rules();
        if let Some((cors, origin)) = cors.as_mut().zip(self.host.cors_origin.as_ref()) {
            cors.origin = origin.clone();
        }
        let trust = self.host.trust_proxy.clone().unwrap_or_default();
        trust.check()?;
        let limiter = self.limit().map(|limit| limit.build_at(self.clock.now()));
        let limiter = limiter.transpose().map_err(|error| in_rate_limit(&error))?;
        Ok(StageRules {
            security: self.secured_by(),
            cors: cors.map(|cors| Arc::new(Cors::new(&cors))),
            limiter: limiter.map(Arc::new),
            trust,
            observers: Some(self.observers()).filter(|it| !it.is_empty()).map(Arc::new),
            clock: self.clock.clone(),
            pages,
        })
    }

    /// Returns the observers that the options enable.
    pub(crate) fn observers(&self) -> Observers {
        let observers = Observers::new(self.request_id.enabled(), self.access_log);
        #[cfg(feature = "metrics")]
        let observers = observers.metrics(self.metrics.clone());
        #[cfg(feature = "tracing")]
        let observers = observers.spans(self.tracing.enabled());
        observers
    }

    /// Returns the CORS rules, without `cors_origin`, or `None` if CORS is off.
    pub(crate) fn cors_rules(&self) -> Option<CorsOptions> {
        match &self.settings.cors {
            Setting::Value(rules) => Some((**rules).clone()),
            Setting::On => Some(CorsOptions::default()),
            Setting::Off | Setting::Inherit => None,
        }
    }

    /// Returns the rate limit, or `None` if it is off.
    pub(crate) fn limit(&self) -> Option<RateLimit> {
        match &self.settings.rate_limit {
            Setting::Value(limit) => Some(limit.value.clone()),
            Setting::On => Some(RateLimit::default()),
            Setting::Off | Setting::Inherit => None,
        }
    }

    /// Returns the security headers.
    pub(crate) fn secured_by(&self) -> SecurityHeaders {
        match &self.security_headers {
            Setting::Value(headers) => headers.clone(),
            Setting::On | Setting::Inherit => SecurityHeaders::default(),
            Setting::Off => SecurityHeaders::none(),
        }
    }

    /// Creates a span of the crate `tracing` for every request, including
    /// requests that do not reach middleware: [`with_tracing`] or `true`. A
    /// configuration file has `true`, or an object with `urlPath` and
    /// `userAgent`. See [`spans`](stockade_stages::spans). Default: `false`.
    ///
    /// [`with_tracing`]: stockade_stages::with_tracing
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn tracing(mut self, spans: impl IntoSetting<RequestSpans>) -> Self {
        self.tracing = spans.into_setting();
        self
    }

    /// Adds an id to every request and its response: [`with_request_id`] or
    /// `true`. A configuration file has `true`, or an object with
    /// `believeClient` and `beginTraces`. Default: `false`.
    ///
    /// [`with_request_id`]: stockade_stages::with_request_id
    #[doc(alias = "requestId")]
    #[must_use]
    pub fn request_id(mut self, ids: impl IntoSetting<RequestIds>) -> Self {
        self.request_id = ids.into_setting();
        self
    }

    /// Sets the origins that may open WebSockets, each exactly as browsers send
    /// it, or `*`. A route may have its own list, or `false`. An empty list
    /// rejects every browser. The origins of CORS do not count. Default: the
    /// same origin only.
    ///
    /// Both `false` and `true` mean the default. They remove a list, such as
    /// the list of a configuration file. Neither allows all origins; only `*`
    /// does.
    #[doc(alias = "wsAllowedOrigins")]
    #[must_use]
    pub fn ws_allowed_origins(mut self, origins: impl IntoSetting<Vec<String>>) -> Self {
        self.ws_allowed_origins = origins.into_setting();
        self
    }

    setters! {
        /// Sets the prefix of all paths; `""` and `"/"` mean none. Default:
        /// none.
        prefix: into String;

        /// Responds with 405 and `Allow` to a path that only other methods
        /// have, if true. Otherwise with 404. Default: true.
        method_not_allowed: bool;

        /// Sets the treatment of requests with a path that differs from a route
        /// only by a trailing slash. Default: [`TrailingSlash::Strict`], which
        /// is a 404.
        ///
        /// [`Redirect`](TrailingSlash::Redirect) is a 308 to the declared path,
        /// with the query. [`Ignore`](TrailingSlash::Ignore) runs the route for
        /// both paths. A route with the exact path has precedence. With these
        /// two, declaring both forms of a path is a configuration error.
        ///
        /// - [`generate_url`](crate::App::generate_url) returns the declared
        ///   path.
        /// - A wrong method is a 405 with the methods of the declared path,
        ///   under `Redirect` after the redirect.
        /// - CORS preflights are never redirected. The rules of the declared
        ///   path apply.
        /// - `/`, paths with an empty segment (`//`), routes of `**` and mounts
        ///   are exempt. Redirects never lead to another host.
        /// - A redirect is charged to the rate limit of the router and precedes
        ///   authentication, like a 405.
        ///
        /// ```
        /// use stockade::testing::TestClient;
        /// use stockade::{Router, RouterOptions, TrailingSlash, serde_json};
        ///
        /// # #[tokio::main]
        /// # async fn main() {
        /// let options = RouterOptions::new().trailing_slash(TrailingSlash::Redirect);
        /// let mut router = Router::with_options(options);
        /// router.get("/users", async || "all users");
        /// let client = TestClient::new(router);
        /// let response = client.get("/users/?page=2").await;
        /// response.assert_status(308).assert_header("location", "/users?page=2");
        ///
        /// let file = r#"{ "trailingSlash": "redirect" }"#;
        /// assert!(serde_json::from_str::<RouterOptions>(file).is_ok());
        /// # }
        /// ```
        #[doc(alias = "trailingSlash")]
        trailing_slash: TrailingSlash;

        /// Logs a line for every request, including requests that do not reach
        /// middleware: `true`, or [`with_logging`] with its options. A
        /// configuration file has `true`, or an object with `path`. Default:
        /// false.
        ///
        /// [`with_logging`]: stockade_stages::with_logging
        #[doc(alias = "accessLog")]
        access_log: into AccessLog;

        /// Sets the clock of the stages, and of the rate limits of routes and
        /// hosts. Default: the system clock.
        clock: Clock;

        /// Allows WebSocket routes. If it is false, a WebSocket route is a
        /// configuration error. Experimental. Default: false.
        #[doc(alias = "enableWebSockets")]
        enable_web_sockets: bool;

        /// Sets the largest WebSocket message, in bytes, inclusive, with all
        /// fragments together. Default: 1 MiB (1,048,576).
        #[doc(alias = "wsMaxPayload")]
        ws_max_payload: u64;

        /// Sets the largest number of open WebSockets. A further handshake gets
        /// 503. Default: 10,000.
        ws_max_connections: u32;

        /// Sets the largest number of open WebSockets for one client address (a
        /// 64-bit network for IPv6). A further handshake gets 429. Default:
        /// 100.
        ws_max_connections_per_client: u32;
    }
}

const TWO_ORIGINS: &str =
    "`cors` and `cors_origin` are both set: remove `cors_origin` and set the origin in `cors`";

const TWO_SWITCHES: &str = "`security_headers` and `enable_security_headers` are both set: \
                            remove `enable_security_headers`";
