//! `Request`: a request in handlers and middleware.
// Spec: Request object seen by handlers and middleware.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Method, Uri, Version, header};
use http_body::Body as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stockade_errors::ApiError;
use stockade_validation::Schema;

use crate::error_settings::Settings;
use crate::kept_head::KeptHead;
use crate::lazy_user::LazyUser;
use crate::limits::{DEFAULT_MAX_BODY_BYTES, DEFAULT_MAX_JSON_VALUES};
use crate::media::Media;
use crate::page_headers::PageHeaders;
use crate::read::{Payload, Rules, unsupported};
use crate::reply::writer_link::Link;
use crate::route_context::RouteContext;
use crate::upgrade::TlsConnection;
use crate::user_lifetime::UserLifetime;
use crate::{BoxFuture, HttpBody, Params, PeerAddr, escaped, header_map_pool};

/// A request on its way through the middleware to the handler.
///
/// The built-in server, an adapter or a test creates it from an
/// `http::Request`.
///
/// ```
/// use stockade::Request;
///
/// let req = Request::from(stockade::http::Request::get("/search?q=rust").body(()).unwrap());
/// assert_eq!(req.path(), "/search");
/// assert_eq!(req.query()?["q"], "rust");
/// # Ok::<(), stockade::ApiError>(())
/// ```
pub struct Request {
    pub(crate) inner: Box<Inner>,
}

/// Boxed, because a request is passed by value from stage to stage.
pub(crate) struct Inner {
    pub(crate) head: Parts,
    pub(crate) payload: Payload,
    pub(crate) params: Params,
    pub(crate) route: Option<Arc<RouteContext>>,
    pub(crate) settings: Settings,
    /// In bytes.
    pub(crate) max_body: u64,
    pub(crate) writer: Option<Link>,
    /// Parameters and query that replace the original ones. Usually `None`.
    pub(crate) replaced: Option<Box<Replaced>>,
    /// Not an application type, because roles are read from it.
    pub(crate) user: LazyUser,
    /// The source of the user, which reports the end of the login. Usually
    /// `None`.
    pub(crate) user_watch: Option<Arc<dyn UserWatch>>,
    /// The lifetime of the user after an argument consumed the request.
    pub(crate) taken_lifetime: Option<UserLifetime>,
    pub(crate) peer: Option<PeerAddr>,
    /// Determined by the router, through trusted proxies.
    pub(crate) client: Option<IpAddr>,
    pub(crate) id: Option<Arc<str>>,
    /// Shared with the parts of the request.
    pub(crate) shared: Option<Arc<dyn Any + Send + Sync>>,
    /// True if the body's size hint is the only information about its length.
    pub(crate) is_framed: bool,
    pub(crate) is_on_tls: bool,
    pub(crate) has_listed_origin: bool,
    /// A copy of the head for an error function. Usually `None`.
    pub(crate) kept_head: Option<Arc<KeptHead>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        header_map_pool::give_back(&mut self.head.headers);
    }
}

/// A source of users that reports when a user is logged out.
///
/// Authentication adds it to the request, which costs one reference count. Only
/// a long-lived response uses it.
pub trait UserWatch: Send + Sync {
    /// Returns a future that ends when the credentials in `req` are no longer
    /// valid. `req` is a copy of the request without its body.
    fn ended(self: Arc<Self>, req: Request) -> BoxFuture<'static, ()>;

    /// Returns true if requests without a user are also accepted.
    fn is_optional(&self) -> bool {
        false
    }
}

/// Values from validation or middleware that replace the original values.
#[derive(Default)]
pub(crate) struct Replaced {
    pub(crate) params: Option<Map<String, Value>>,
    pub(crate) query: Option<Map<String, Value>>,
}

impl Request {
    /// Creates a request from its head and its body.
    ///
    /// The peer's address comes from the extensions, if present.
    #[must_use]
    pub fn new(head: Parts, body: HttpBody) -> Self {
        let peer = head.extensions.get::<PeerAddr>().copied();
        // Allocate the box first to build its content in place.
        let inner = Box::write(
            Box::new_uninit(),
            Inner {
                head,
                payload: Payload::Unread(body),
                params: Params::default(),
                route: None,
                settings: Settings::default(),
                max_body: DEFAULT_MAX_BODY_BYTES,
                writer: None,
                replaced: None,
                user: LazyUser::default(),
                user_watch: None,
                taken_lifetime: None,
                peer,
                client: None,
                id: None,
                shared: None,
                is_framed: false,
                is_on_tls: false,
                has_listed_origin: false,
                kept_head: None,
            },
        );
        Self { inner }
    }

    /// Sets the address at the other end of the connection.
    #[must_use]
    pub fn with_peer(mut self, peer: PeerAddr) -> Self {
        self.inner.peer = Some(peer);
        self
    }

    /// Returns the original method: HEAD stays HEAD on a GET route.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.inner.head.method
    }

    /// Returns the target of the request.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.inner.head.uri
    }

    /// Returns the raw path, neither decoded nor normalized.
    #[must_use]
    pub fn path(&self) -> &str {
        self.inner.head.uri.path()
    }

    /// Returns the HTTP version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.inner.head.version
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.inner.head.headers
    }

    /// Returns a mutable reference to the headers, for middleware that changes
    /// them.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.inner.head.headers
    }

    /// Returns the values that middleware adds for later middleware and the
    /// handler, by type.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.inner.head.extensions
    }

    /// Returns a mutable reference to the extensions.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.inner.head.extensions
    }

    /// Returns the decoded text of a path parameter. `*` and `**` are named
    /// `splat`. The text may contain `/` and `..`, so do not use it as a file
    /// name; use [`FileName`](crate::extract::FileName).
    #[must_use]
    pub fn param(&self, name: &str) -> Option<Cow<'_, str>> {
        match self.replaced_params() {
            Some(params) => params.get(name).map(as_text),
            None => self.inner.params.get(self.path(), name),
        }
    }

    /// Returns all path parameters as decoded text, in path order. Parameters
    /// of the host come first. A missing optional parameter does not appear.
    pub fn params(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let replaced = self.replaced_params();
        let sent = replaced.is_none().then(|| self.inner.params.iter(self.path()));
        let replaced = replaced.into_iter().flatten();
        let replaced = replaced.map(|(name, value)| (name.as_str(), as_text(value)));
        sent.into_iter().flatten().chain(replaced)
    }

    /// Returns the path parameters as an object. The values are texts, unless
    /// validation converted them to numbers or booleans.
    #[must_use]
    pub fn param_values(&self) -> Map<String, Value> {
        match self.replaced_params() {
            Some(params) => params.clone(),
            None => self
                .inner
                .params
                .iter(self.path())
                .map(|(name, value)| (name.to_owned(), value.into_owned().into()))
                .collect(),
        }
    }

    /// Replaces the path parameters for later middleware and the handler.
    pub fn set_params(&mut self, params: Map<String, Value>) {
        self.inner.replaced.get_or_insert_default().params = Some(params);
    }

    /// Returns the labels of the host as a path, if the route has a host.
    #[doc(hidden)]
    #[must_use]
    pub fn host_labels(&self) -> Option<&str> {
        self.inner.params.host()
    }

    /// Returns the names of the parameters in the path, in path order.
    pub(crate) fn path_names(&self) -> impl Iterator<Item = &str> {
        self.inner.params.iter(self.path()).map(|(name, _)| name)
    }

    pub(crate) fn replaced_params(&self) -> Option<&Map<String, Value>> {
        self.inner.replaced.as_deref()?.params.as_ref()
    }

    /// Returns the query string as an object. The values are texts, unless
    /// validation converted them to numbers or booleans. The values of a
    /// repeated key are an array.
    ///
    /// # Errors
    /// 400 for more than 1,000 pairs.
    pub fn query(&self) -> Result<Map<String, Value>, ApiError> {
        match self.replaced_query() {
            Some(query) => Ok(query.clone()),
            // An absent query is read as empty.
            None => crate::query::object(self.inner.head.uri.query().unwrap_or_default()),
        }
    }

    /// Returns the query as an object, with lists and objects in the styles of
    /// `schema`.
    ///
    /// # Errors
    /// Fails like [`query`](Self::query).
    pub(crate) fn query_for(&self, schema: &Schema) -> Result<Map<String, Value>, ApiError> {
        match self.replaced_query() {
            Some(query) => Ok(query.clone()),
            None => {
                crate::query::object_for(self.inner.head.uri.query().unwrap_or_default(), schema)
            }
        }
    }

    /// Replaces the query for later middleware and the handler. The request
    /// target does not change.
    pub fn set_query(&mut self, query: Map<String, Value>) {
        self.inner.replaced.get_or_insert_default().query = Some(query);
    }

    pub(crate) fn replaced_query(&self) -> Option<&Map<String, Value>> {
        self.inner.replaced.as_deref()?.query.as_ref()
    }

    /// Returns the authenticated user. Returns `None` if there is none, or if
    /// no authentication ran.
    // Spec: Request object › user.
    #[must_use]
    pub fn user(&self) -> Option<&Value> {
        self.inner.user.value()
    }

    /// Returns the user as an application type, or `None` if there is no user
    /// or the user does not match the type. In a handler, use
    /// [`User`](crate::extract::User) instead, which responds with 401.
    ///
    /// ```
    /// use stockade::Request;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Member { org: i64 }
    ///
    /// fn org_of(req: &Request) -> Option<i64> {
    ///     let member: Member = req.user_as()?;
    ///     Some(member.org)
    /// }
    ///
    /// let mut req = Request::from(stockade::http::Request::get("/").body(()).unwrap());
    /// assert_eq!(org_of(&req), None);
    /// req.set_user(Some(stockade::serde_json::json!({ "org": 7 })));
    /// assert_eq!(org_of(&req), Some(7));
    /// ```
    #[must_use]
    pub fn user_as<T: DeserializeOwned>(&self) -> Option<T> {
        let user = self.inner.user.read()?;
        let misfit = |error| {
            let error = escaped(error);
            log::debug!(target: "stockade::auth", "the user does not match its type: {error}");
        };
        user.map_err(misfit).ok()
    }

    /// Sets the user of the request, or removes it with `None`.
    pub fn set_user(&mut self, user: Option<Value>) {
        if user.is_none() {
            // A required user still protects the route.
            self.inner.user_watch.take_if(|watch| watch.is_optional());
        }
        self.inner.user = LazyUser::of(user);
        self.note_user();
    }

    /// Records a change of the user in the copy of the head.
    fn note_user(&self) {
        if let Some(kept) = &self.inner.kept_head {
            kept.set_user(self.inner.user.clone());
        }
    }

    /// Returns the pattern of the matched route with its host, such as
    /// `/users/:id` or `:tenant.example.com/users/:id`. Returns `None` outside
    /// a router and in its fallback.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.inner.route.as_deref()?.route()
    }

    /// Returns the value of type `T` that the application provided.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.inner.route.as_deref()?.states.get()
    }

    /// Returns the address at the other end of the connection, if the host
    /// provides it.
    #[must_use]
    pub fn peer(&self) -> Option<PeerAddr> {
        self.inner.peer
    }

    /// Returns the client's address, if the host provides it. This is the
    /// address that the router found through trusted proxies, or otherwise the
    /// other end of the connection.
    #[must_use]
    #[doc(alias = "ip")]
    pub fn client_ip(&self) -> Option<IpAddr> {
        self.inner.client.or_else(|| self.inner.peer.map(|peer| peer.0.ip().to_canonical()))
    }

    /// Returns true if the CORS options list the request's `Origin` with
    /// credentials, so pages of that origin may act for the user. This is known
    /// only on routes with middleware or a handler that needs it
    /// ([`RouteDescription::guards_origin`]). Otherwise returns false.
    ///
    /// [`RouteDescription::guards_origin`]:
    /// crate::RouteDescription::guards_origin
    #[must_use]
    pub fn has_listed_origin(&self) -> bool {
        self.inner.has_listed_origin
    }

    /// Returns the request id, if there is one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.inner.id.as_deref()
    }

    /// Sets the request id for later log lines. Use short, plain text: it is
    /// logged without escapes.
    pub fn set_id(&mut self, id: impl Into<Arc<str>>) {
        self.inner.id = Some(id.into());
    }

    pub(crate) fn shared_id(&self) -> Option<Arc<str>> {
        self.inner.id.clone()
    }

    /// Returns the original bytes of the body. The first call reads them from
    /// the connection and stores them.
    ///
    /// # Errors
    /// 413 above the limit of the route, 408 if the body does not arrive in
    /// time, and 400 if it ends early.
    pub async fn bytes(&mut self) -> Result<Bytes, ApiError> {
        self.inner.payload.bytes(self.inner.max_body).await
    }

    /// Returns the parsed body: JSON, a form as an object, or a text. An empty
    /// body is `{}`. The body of a GET or HEAD request is not read and is also
    /// `{}`.
    ///
    /// # Errors
    /// 400 for invalid JSON, 413 for JSON with more values than the route
    /// allows ([`max_json_values`](Self::max_json_values)), 415 for any other
    /// content type, and the errors of [`bytes`](Self::bytes).
    pub async fn body(&mut self) -> Result<&mut Value, ApiError> {
        if self.has_no_body() && !matches!(self.inner.payload, Payload::Replaced(_)) {
            self.inner.payload = Payload::Replaced(Map::new().into());
        }
        self.check_unread()?;
        let rules = Rules {
            max_body: self.inner.max_body,
            max_json_values: self.max_json_values(),
            expose: self.inner.settings.expose_errors,
        };
        self.inner.payload.value(&self.inner.head.headers, rules).await
    }

    /// Fails if the request is rejected without reading its body. A client that
    /// waits for `100 Continue` then need not send it.
    pub(crate) fn check_unread(&self) -> Result<(), ApiError> {
        if self.headers().contains_key(header::EXPECT) && self.has_body() {
            return self.check_head();
        }
        Ok(())
    }

    /// Validates the content type, the parameters and the query that the
    /// handler needs.
    #[cold]
    fn check_head(&self) -> Result<(), ApiError> {
        let route = self.inner.route.as_deref();
        let failure = route.and_then(|route| route.validation.head_failure(self));
        match failure {
            Some(error) => Err(error),
            None if self.has_readable_body() => Ok(()),
            None => Err(unsupported()),
        }
    }

    /// Returns the maximum number of untyped values in a JSON body of the route
    /// ([`Endpoint::max_json_values`](crate::Endpoint::max_json_values)).
    #[must_use]
    pub fn max_json_values(&self) -> usize {
        let route = self.inner.route.as_deref();
        route.map_or(DEFAULT_MAX_JSON_VALUES, RouteContext::max_json_values)
    }

    /// Returns true if [`body`](Self::body) parses or has parsed the body: the
    /// method has a body, and its content type is JSON, a form or a text.
    ///
    /// Use it in middleware that changes readable bodies and ignores all
    /// others.
    #[must_use]
    pub fn has_readable_body(&self) -> bool {
        match self.inner.payload {
            Payload::Replaced(_) => true,
            _ if self.has_no_body() => false,
            Payload::Parsed { .. } => true,
            _ => matches!(Media::of(self.headers()), Media::Json | Media::Form | Media::Text),
        }
    }

    /// Returns true if an unread body is expected, for a method with parsed
    /// bodies.
    pub(crate) fn has_body(&self) -> bool {
        match &self.inner.payload {
            Payload::Unread(body) => {
                !self.has_no_body() && !body.is_end_stream() && body.size_hint().exact() != Some(0)
            }
            _ => false,
        }
    }

    /// Returns true for a method without parsed bodies.
    pub(crate) fn has_no_body(&self) -> bool {
        matches!(self.inner.head.method, Method::GET | Method::HEAD)
    }

    /// Replaces the body, including its bytes, with this value as JSON. To
    /// change only the parsed body, change the value from [`body`](Self::body);
    /// the original bytes then stay the same.
    pub fn set_body(&mut self, body: Value) {
        self.inner.payload = Payload::Replaced(body);
    }

    /// Returns the body limit of the route, in bytes.
    #[must_use]
    pub fn max_body(&self) -> u64 {
        self.inner.max_body
    }

    /// Takes the body as a stream that ends with an error above the limit of
    /// the route. Afterwards, the body is empty.
    pub fn take_stream(&mut self) -> HttpBody {
        self.inner.payload.take_stream(self.inner.max_body)
    }

    /// Replaces the body stream, such as with its decoded form.
    ///
    /// `change` receives a stream that ends with an error above the limit of
    /// the route. The limit also applies to the stream that it returns. Nothing
    /// happens if the body is already parsed or has failed.
    pub fn map_body(&mut self, change: impl FnOnce(HttpBody) -> HttpBody) {
        self.inner.payload.map(self.inner.max_body, change);
    }

    /// Splits the request into parts, for a client that forwards it, or for
    /// other services.
    ///
    /// The body is a stream that ends with an error above the limit of the
    /// route. It produces the original bytes, unless
    /// [`set_body`](Self::set_body) replaced them; `Content-Length` and
    /// `Content-Type` match the stream. The extensions contain the peer, which
    /// [`new`](Self::new) reads. The route, parameters, user, state and request
    /// id belong to stockade and are lost.
    ///
    /// A proxy must also remove the headers that belong to a single connection
    /// (RFC 9110, section 7.6.1). They are still present.
    ///
    /// ```
    /// use stockade::{HttpBody, Request, http};
    ///
    /// let sent = stockade::http::Request::post("/notes").body("hi").unwrap();
    /// let (mut head, body) = Request::from(sent).into_parts();
    /// head.uri = stockade::http::Uri::from_static("http://10.0.0.7/notes");
    /// let sent_on: stockade::http::Request<HttpBody> = stockade::http::Request::from_parts(head, body);
    /// assert_eq!(sent_on.uri().host(), Some("10.0.0.7"));
    /// ```
    #[must_use]
    pub fn into_parts(mut self) -> (Parts, HttpBody) {
        let replaced = matches!(self.inner.payload, Payload::Replaced(_));
        // The `{}` that replaces an unparsed body is not a body.
        let is_nothing = self.has_no_body()
            && matches!(&self.inner.payload, Payload::Replaced(Value::Object(map)) if map.is_empty());
        let body = if is_nothing { HttpBody::empty() } else { self.take_stream() };
        let (empty, ()) = http::Request::new(()).into_parts();
        let mut head = std::mem::replace(&mut self.inner.head, empty);
        if replaced {
            head.headers.remove(header::CONTENT_ENCODING);
            head.headers.remove(header::TRANSFER_ENCODING);
        }
        if replaced && !is_nothing {
            let json = HeaderValue::from_static("application/json");
            head.headers.insert(header::CONTENT_TYPE, json);
        }
        correct_length(&mut head.headers, &body);
        if let Some(peer) = self.inner.peer {
            head.extensions.insert(peer);
        }
        (head, body)
    }

    fn length_above(&self) -> bool {
        let length = self.inner.head.headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.trim().parse::<u64>().ok());
        length.is_some_and(|length| length > self.inner.max_body)
    }

    /// Returns the error to report if the extraction of an argument failed.
    pub(crate) fn first_failure(&self, error: ApiError) -> ApiError {
        match self.inner.route.as_deref() {
            Some(route) => route.validation.first_failure(self, error),
            None => error,
        }
    }

    /// Moves the whole request out, and leaves an empty one.
    pub(crate) fn take(&mut self) -> Self {
        let (head, ()) = http::Request::new(()).into_parts();
        let writer = self.inner.writer.take();
        // The response is created after the request is gone.
        let may_stream = self.inner.route.as_deref().is_none_or(|route| route.may_stream);
        let lifetime = if may_stream { UserLifetime::of(self) } else { None };
        let taken = std::mem::replace(self, Self::new(head, HttpBody::empty()));
        self.inner.writer = writer;
        self.inner.taken_lifetime = lifetime;
        taken
    }
}

impl Request {
    /// Creates a request for a host that parsed `Content-Length` itself. The
    /// body's size hint then contains the length, without a header lookup.
    #[doc(hidden)]
    pub fn framed(head: Parts, body: HttpBody) -> Self {
        let mut req = Self::new(head, body);
        req.inner.is_framed = true;
        req
    }

    /// Sets whether the request arrived on a TLS connection of the built-in
    /// server.
    #[must_use]
    #[doc(hidden)]
    pub fn on_tls(mut self, is_on_tls: bool) -> Self {
        self.inner.is_on_tls = is_on_tls;
        self
    }

    /// Returns true if the request arrived over TLS, according to
    /// [`on_tls`](Self::on_tls) or [`TlsConnection`].
    #[doc(hidden)]
    #[must_use]
    pub fn is_on_tls(&self) -> bool {
        self.inner.is_on_tls || self.extensions().get::<TlsConnection>().is_some()
    }

    /// Assigns the request to the route that a router found for it.
    #[doc(hidden)]
    pub fn set_route(
        &mut self,
        route: Arc<RouteContext>,
        params: Params,
        settings: Settings,
        max_body: u64,
    ) {
        self.inner.replaced = None;
        self.inner.route = Some(route);
        self.inner.params = params;
        self.inner.settings = settings;
        self.inner.max_body = max_body;
    }

    /// Returns the route's headers that pages of other origins may use.
    #[doc(hidden)]
    #[must_use]
    pub fn page_headers(&self) -> Option<&Arc<PageHeaders>> {
        self.inner.route.as_ref()?.page_headers.get()
    }

    /// Sets the client's address.
    #[doc(hidden)]
    pub fn set_client_ip(&mut self, client: Option<IpAddr>) {
        self.inner.client = client;
    }

    /// Records whether CORS lists the request's `Origin` with credentials.
    #[doc(hidden)]
    pub fn set_listed_origin(&mut self, is_listed: bool) {
        self.inner.has_listed_origin = is_listed;
    }

    /// Sets the user as JSON. It is parsed on first use, because the claims of
    /// a token are often not needed. Invalid JSON counts as no user. `value` is
    /// the parsed JSON, if available.
    #[doc(hidden)]
    pub fn set_user_json(&mut self, json: String, value: Option<Value>) {
        self.inner.user = LazyUser::of_json(json, value);
        self.note_user();
    }

    /// Sets the origin of the user: JSON that names the authentication method.
    /// Every later change of the user removes the origin.
    #[doc(hidden)]
    pub fn set_user_origin(&mut self, origin: Arc<str>) {
        self.inner.user.set_origin(origin);
    }

    /// Returns the origin of the user, or `None` if application middleware set
    /// the user.
    #[doc(hidden)]
    #[must_use]
    pub fn user_origin(&self) -> Option<&Arc<str>> {
        self.inner.user.origin()
    }

    /// Returns true if the announced length exceeds the limit of the route.
    #[doc(hidden)]
    #[must_use]
    pub fn announces_too_much(&self) -> bool {
        match &self.inner.payload {
            Payload::Unread(body) => {
                body.size_hint().lower() > self.inner.max_body
                    || !self.inner.is_framed && self.length_above()
            }
            _ => false,
        }
    }
}

/// Corrects a `Content-Length` that does not match the body. A client that
/// forwards both would put bytes of the body into the next request.
fn correct_length(headers: &mut HeaderMap, body: &HttpBody) {
    let Some(announced) = headers.get(header::CONTENT_LENGTH) else { return };
    let exact = body.size_hint().exact();
    let announced = announced.to_str().ok().and_then(|length| length.trim().parse::<u64>().ok());
    match exact {
        Some(exact) if announced != Some(exact) => {
            headers.insert(header::CONTENT_LENGTH, exact.into());
        }
        _ => {}
    }
}

/// Returns a value as text in a path or a query.
pub(crate) fn as_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

impl<B: Into<HttpBody>> From<http::Request<B>> for Request {
    fn from(request: http::Request<B>) -> Self {
        let (head, body) = request.into_parts();
        Self::new(head, body.into())
    }
}

/// Converts the request for clients and other services; see
/// [`into_parts`](Request::into_parts).
impl From<Request> for http::Request<HttpBody> {
    fn from(request: Request) -> Self {
        let (head, body) = request.into_parts();
        Self::from_parts(head, body)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.inner.head.method)
            .field("path", &self.path())
            .field("route", &self.route())
            .finish_non_exhaustive()
    }
}
