//! [`SessionCookie`]: the cookie that carries a signed session id.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};
use stockade_auth::{KeyRing, SessionId, SessionKeys};
use stockade_core::description::CookieInfo;
#[cfg(feature = "sessions")]
use stockade_core::description::{MethodInfo, MethodKind};
use stockade_core::extract::OptionalFromRequest;
use stockade_core::{FromRequest, Request, RouteDescription};
use stockade_errors::__internal::setters;
use stockade_errors::ApiError;

use super::challenge::Challenge;
use super::method::AuthResult;
#[cfg(feature = "sessions")]
use super::recheck::{self, millis};
use crate::{CrossOriginProtection, with_cross_origin_protection};

/// The cookie of a session: `HttpOnly`, `Secure`, `SameSite`, and bound to the
/// host by the prefix `__Host-`.
///
/// The cookie holds a signed random id. The application stores the session
/// under this id.
///
/// ```
/// use stockade::auth::{KeyRing, Secret, SessionId};
/// use stockade::middleware::SessionCookie;
///
/// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
/// let cookie = SessionCookie::new(keys);
/// let set = cookie.issue(&SessionId::generate()?);
/// let text = set.to_str()?;
/// assert!(text.starts_with("__Host-session="));
/// assert!(text.ends_with("; Path=/; Secure; HttpOnly; SameSite=Strict"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Create the cookie once. Handlers that set and remove it get it as state, and
/// a clone authenticates the other routes:
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
///
/// use stockade::auth::{KeyRing, SessionId};
/// use stockade::http::{HeaderMap, header::SET_COOKIE};
/// use stockade::middleware::{CurrentSession, SessionCookie, with_rate_limit};
/// use stockade::prelude::*;
/// use stockade::reply::Redirect;
/// # use stockade::testing::TestClient;
///
/// // Names by session id. Use a database table in production.
/// #[derive(Default)]
/// struct Sessions(Mutex<HashMap<String, String>>);
///
/// #[derive(serde::Deserialize, Schema)]
/// struct LogIn {
///     name: String,
///     password: String,
/// }
///
/// async fn log_in(
///     cookie: State<SessionCookie>,
///     sessions: State<Sessions>,
///     Body(form): Body<LogIn>,
/// ) -> Result<(HeaderMap, Redirect), ApiError> {
///     // In a program: `verify_password_async(form.password, stored).await?`.
///     if form.password != "correct horse" {
///         return Err(ApiError::new(401, "wrong name or password"));
///     }
///     // Use a new id for each login: others may know an earlier id.
///     let id = SessionId::generate()?;
///     sessions.0.0.lock().unwrap().insert(id.to_string(), form.name);
///     Ok((HeaderMap::from_iter([(SET_COOKIE, cookie.issue(&id))]), Redirect::to("/me")))
/// }
///
/// async fn log_out(
///     cookie: State<SessionCookie>,
///     sessions: State<Sessions>,
///     CurrentSession(id): CurrentSession,
/// ) -> (HeaderMap, Redirect) {
///     sessions.0.0.lock().unwrap().remove(&id.to_string());
///     (HeaderMap::from_iter([(SET_COOKIE, cookie.clear())]), Redirect::to("/login"))
/// }
///
/// async fn find(id: SessionId, sessions: State<Sessions>) -> Result<Option<String>, ApiError> {
///     Ok(sessions.0.0.lock().unwrap().get(&id.to_string()).cloned())
/// }
///
/// fn router(keys: KeyRing) -> Router {
///     let cookie = SessionCookie::new(keys);
///     let known = with_auth(Auth::session(cookie.clone(), find));
///     let api = routes! {
///         "login": { POST: { log_in, middleware: [with_rate_limit(5 / MINUTE)] } },
///         "logout": { POST: { log_out, middleware: [known.clone()] } },
///         "me": { GET: { async |User(name): User<String>| name, middleware: [known] } },
///     };
///     create_router(api, RouterOptions::new()).state(cookie).state(Sessions::default())
/// }
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), BoxError> {
/// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
/// let browser = TestClient::new(router(keys)).with_cookies();
/// let form = [("name", "ada"), ("password", "correct horse")];
/// browser.post("/login").form(form).await.assert_status(303);
/// browser.get("/me").await.assert_text("ada");
/// browser.post("/logout").await.assert_status(303);
/// browser.get("/me").await.assert_status(401);
/// # Ok(())
/// # }
/// ```
///
/// Browsers accept the cookie only over HTTPS: on a page of `http://`, browsers
/// and curl discard it silently. Some browsers make an exception for
/// `http://localhost`. For manual tests, serve HTTPS with a self-signed
/// certificate. The test client always stores the cookie.
///
/// # Beyond the spec
/// The specification does not define sessions. The attributes follow RFC
/// 6265bis.
#[derive(Clone, Debug)]
pub struct SessionCookie {
    name: Arc<str>,
    secrets: KeyRing,
    /// The keys of the kind, derived from the secrets.
    keys: SessionKeys,
    /// True if the kind was set and no longer follows the name.
    has_own_kind: bool,
    same_site: SameSite,
    max_age: Option<Duration>,
    protection: Option<CrossOriginProtection>,
}

/// The cross-site requests that include a cookie.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SameSite {
    /// No cross-site requests.
    #[default]
    Strict,
    /// Only requests of a user who follows a link to this site.
    Lax,
    /// All requests. Browsers then require `Secure`.
    None,
}

impl SameSite {
    /// Returns the value for `Set-Cookie`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

impl SessionCookie {
    /// Creates a cookie `__Host-session` that lasts until the browser closes
    /// and is never sent with cross-site requests.
    #[must_use]
    pub fn new(keys: KeyRing) -> Self {
        let name = "__Host-session";
        Self {
            name: name.into(),
            keys: SessionKeys::new(name, &keys),
            secrets: keys,
            has_own_kind: false,
            same_site: SameSite::Strict,
            max_age: None,
            protection: Some(with_cross_origin_protection()),
        }
    }

    /// Sets the name to `__Host-` and `name`. Characters that are invalid in a
    /// cookie name are removed, but remain in the kind of the sessions.
    ///
    /// The name is also the [`kind`](Self::kind) of the sessions, unless you
    /// set that: a different name logs all users out.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        let allowed = |char: &char| char.is_ascii_alphanumeric() || "-_.".contains(*char);
        self.name = format!("__Host-{}", name.chars().filter(allowed).collect::<String>()).into();
        if !self.has_own_kind {
            self.keys = SessionKeys::new(&format!("__Host-{name}"), &self.secrets);
        }
        self
    }

    /// Sets the kind of the sessions, such as `admins`. Default: the full name
    /// of the cookie, `__Host-session`.
    ///
    /// The kind is part of the signature and of the keys in a store. Sessions
    /// of different kinds do not accept each other's ids, and `end_all` ends
    /// the sessions of one kind only, even if they share a secret and a store.
    /// Set it if two applications with the same secret use the same cookie name
    /// on different hosts. A different kind logs all users out.
    ///
    /// ```
    /// use stockade::auth::{KeyRing, Secret, SessionId};
    /// use stockade::middleware::SessionCookie;
    ///
    /// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
    /// let customers = SessionCookie::new(keys.clone()).kind("customers");
    /// let admins = SessionCookie::new(keys).kind("admins");
    /// let id = SessionId::generate()?;
    /// assert_ne!(customers.issue(&id), admins.issue(&id));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kind(mut self, kind: &str) -> Self {
        self.keys = SessionKeys::new(kind, &self.secrets);
        self.has_own_kind = true;
        self
    }

    setters! {
        /// Sets the cross-site requests that include the cookie.
        same_site: SameSite;

        /// Sets how long a browser stores the cookie, in whole seconds.
        max_age: some Duration;
    }

    /// Sets the origins that may send requests that change something. Default:
    /// the same origin and the origins that CORS lists with credentials, as in
    /// [`with_cross_origin_protection`]; all others get a 403. `None` allows
    /// every origin, so the only protection is [`same_site`](Self::same_site),
    /// which treats other ports and subdomains as the same site.
    #[must_use]
    pub fn cross_origin_protection(
        mut self,
        protection: impl Into<Option<CrossOriginProtection>>,
    ) -> Self {
        self.protection = protection.into();
        self
    }

    /// Returns the description of its sessions for route maps.
    #[cfg(feature = "sessions")]
    pub(crate) fn method_info(&self, doc: &RouteDescription) -> MethodInfo {
        let mut info = MethodInfo::new(MethodKind::Session);
        info.cookie = Some(self.info());
        info.cross_origin = self.protection.as_ref().and_then(|it| it.info(doc));
        info.recheck_ms = Some(millis(recheck::INTERVAL));
        info
    }

    /// Returns the attributes for route maps.
    pub(super) fn info(&self) -> CookieInfo {
        let mut info = CookieInfo::new(self.full_name(), self.same_site.as_str());
        info.max_age_seconds = self.max_age.map(|age| age.as_secs());
        info
    }

    pub(super) fn protection(&self) -> Option<&CrossOriginProtection> {
        self.protection.as_ref()
    }

    /// Returns the name with its prefix.
    pub(super) fn full_name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the kind.
    pub(crate) fn kind_name(&self) -> &str {
        self.keys.kind()
    }

    /// Returns the challenge for a request without a session.
    pub(super) fn challenge(&self) -> Challenge {
        Challenge::other("Session", format!("cookie=\"{}\"", self.name))
    }

    /// Returns the 401 for a request without a session.
    #[cfg(feature = "sessions")]
    #[cold]
    pub(crate) fn unauthorized(&self, message: &'static str) -> ApiError {
        ApiError::new(401, message).with_header("WWW-Authenticate", self.challenge().as_str())
    }

    /// Returns the value of `Set-Cookie` that begins a session.
    #[must_use]
    pub fn issue(&self, id: &SessionId) -> HeaderValue {
        self.set(&id.sign(&self.keys), self.max_age)
    }

    /// Returns the value of `Set-Cookie` that removes the cookie from the
    /// browser. The application must also delete the session.
    #[must_use]
    pub fn clear(&self) -> HeaderValue {
        self.set("", Some(Duration::ZERO))
    }

    fn set(&self, value: &str, max_age: Option<Duration>) -> HeaderValue {
        // A cookie without `Max-Age` ends with the browser.
        let max_age = max_age.map(|age| format!("; Max-Age={}", age.as_secs())).unwrap_or_default();
        let same_site = self.same_site.as_str();
        let name = &self.name;
        let text =
            format!("{name}={value}; Path=/{max_age}; Secure; HttpOnly; SameSite={same_site}");
        // Every part of the text is ASCII without control characters.
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// Returns the session of a request, unless a page of another origin sent
    /// it.
    pub(super) fn read(&self, req: &Request) -> Result<SessionId, AuthResult> {
        let id = self.id(req.headers())?;
        match &self.protection {
            Some(protection) => protection.check(req).map(|()| id).map_err(AuthResult::Refused),
            None => Ok(id),
        }
    }

    /// Returns the session of a request, if its cookie has a valid signature.
    ///
    /// # Errors
    /// Returns a 403 if a page of another origin sent a request that may change
    /// something.
    #[cfg(feature = "sessions")]
    pub(crate) fn session_of(&self, req: &Request) -> Result<Option<SessionId>, ApiError> {
        match self.read(req) {
            Ok(id) => Ok(Some(id)),
            Err(AuthResult::Refused(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    fn id(&self, headers: &HeaderMap) -> Result<SessionId, AuthResult> {
        // Other cookies may contain non-ASCII bytes.
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let pairs = cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
        let mut values = pairs.filter_map(|pair| {
            let value = pair.trim_ascii().strip_prefix(self.name.as_bytes())?;
            value.strip_prefix(b"=")
        });
        let value = values.next().ok_or(AuthResult::Nothing)?;
        if values.next().is_some() {
            return Err(AuthResult::Invalid);
        }
        let value = std::str::from_utf8(value).map_err(|_| AuthResult::Invalid)?;
        SessionId::verify(value, &self.keys).ok_or(AuthResult::Invalid)
    }
}

/// The id of the session that authenticated the request through
/// [`Auth::session`](super::Auth::session).
///
/// The client gets a 401 if there is no such session, even if another method
/// found the user; use `Option<CurrentSession>` if the session is optional. If
/// several `with_auth` precede a handler, the last session is used.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
///
/// use stockade::extract::State;
/// use stockade::middleware::CurrentSession;
///
/// type Sessions = Mutex<HashMap<String, u64>>;
///
/// async fn sign_out(CurrentSession(id): CurrentSession, sessions: State<Sessions>) {
///     sessions.lock().unwrap().remove(&id.to_string());
/// }
/// ```
///
/// # Beyond the spec
/// The specification does not define sessions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CurrentSession(pub SessionId);

/// Marks a request as authenticated by the session in this cookie.
#[derive(Clone)]
struct FoundBy {
    cookie: Arc<SessionCookie>,
    /// The origin of the session's user.
    origin: Arc<str>,
    /// The subject of the session, if the lookup provides it.
    subject: Option<SessionSubject>,
}

/// The subject of a session that is about to authenticate a request. The data
/// of the session may contain another `sub`, which the application chose.
#[derive(Clone)]
pub(crate) struct SessionSubject(pub(crate) Arc<str>);

impl CurrentSession {
    /// Records that the session in `cookie` found the user of a request. The id
    /// is read on demand, because most handlers need only the user.
    pub(super) fn note(cookie: &Arc<SessionCookie>, origin: &Arc<str>, req: &mut Request) {
        let subject = req.extensions_mut().remove::<SessionSubject>();
        let (cookie, origin) = (Arc::clone(cookie), Arc::clone(origin));
        req.extensions_mut().insert(FoundBy { cookie, origin, subject });
    }

    /// Returns the subject of the session that found the user with this origin.
    pub(super) fn subject<'r>(req: &'r Request, origin: &Arc<str>) -> Option<&'r str> {
        let found = req.extensions().get::<FoundBy>();
        let found = found.filter(|found| Arc::ptr_eq(&found.origin, origin))?;
        found.subject.as_ref().map(|SessionSubject(subject)| &**subject)
    }

    /// Returns true if the session in this cookie found the user of a request.
    #[cfg(feature = "sessions")]
    pub(crate) fn has_found_user(req: &Request, cookie: &SessionCookie) -> bool {
        let found = req.extensions().get::<FoundBy>();
        found.is_some_and(|found| {
            req.user_origin() == Some(&found.origin)
                && found.cookie.full_name() == cookie.full_name()
                && found.cookie.kind_name() == cookie.kind_name()
        })
    }

    fn read(req: &Request) -> Option<Self> {
        let FoundBy { cookie, .. } = req.extensions().get()?;
        cookie.id(req.headers()).ok().map(Self)
    }
}

impl FromRequest for CurrentSession {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Self::read(req).ok_or_else(|| req.unauthorized())
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(super::no_user());
    }
}

impl OptionalFromRequest for CurrentSession {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        Ok(Self::read(req))
    }

    fn describe_optional(_doc: &mut RouteDescription) {}
}
