//! [`Auth`]: the authentication methods of a route.

mod described;
mod options;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use http::HeaderName;
use stockade_auth::{ApiKeyHash, BasicCredentials, SessionId, TokenKeys, TokenVerifier};
use stockade_core::Request;
use stockade_core::description::{MethodInfo, MethodKind, SecurityScheme};

use super::challenge::{Challenge, Scheme};
use super::credentials::{authorization, only, refused, token};
use super::lookup::{CredentialReader, Policy};
use super::method::{AuthMethod, AuthResult, Find, TokenFinder, UserPool};
use super::recheck::PASSWORD_INTERVAL;
use super::{IntoUser, Lookup, SessionCookie, WholeRequest};
use crate::CrossOriginProtection;

/// The authentication methods of a route, such as bearer tokens (JWT), API
/// keys, Basic or sessions. A user is required by default.
///
/// The methods are tried in order, and the first user found is used. The user
/// is a JSON value, available as `User<T>` and [`Request::user`].
///
/// It is the value of the setting `auth` of a router, a group, a node or a
/// route:
///
/// ```
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// # #[tokio::main]
/// # async fn main() {
/// let token = Auth::bearer(|token: String| (token == "let me in").then_some("ada"));
/// let api = routes! {
///     "orgs": {
///         auth: &token,
///         GET: async |User(name): User<String>| format!("organizations of {name}"),
///         "accept": { POST: { async || "welcome", public: "the link is the credential" } },
///         "stats": {
///             GET: {
///                 async |user: Option<User<String>>| format!("a member: {}", user.is_some()),
///                 auth: token.optional(),
///                 public: "only totals",
///             },
///         },
///     },
/// };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// client.get("/orgs").await.assert_status(401);
/// client.get("/orgs").bearer("let me in").await.assert_text("organizations of ada");
/// client.post("/orgs/accept").await.assert_text("welcome");
/// client.get("/orgs/stats").await.assert_text("a member: false");
/// # }
/// ```
///
/// [`with_auth`](super::with_auth) turns the methods into middleware.
#[doc(alias = "jwt")]
// Spec: Authentication › Bearer-token middleware.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until it is the `auth` of routes"]
pub struct Auth {
    pub(super) methods: Vec<AuthMethod>,
    pub(super) required: bool,
    /// Adds the reason to the body of a 401. Set for a function that is passed
    /// to `with_auth` directly.
    pub(super) explains: bool,
    /// The cross-origin checks of the session cookies.
    pub(super) protections: Vec<CrossOriginProtection>,
    pub(super) mistakes: Vec<String>,
}

impl Auth {
    /// Authenticates with a token in `Authorization: Bearer` that a secret, a
    /// key ring or a JWK set verifies. The user is the payload of the token.
    pub fn secret(keys: impl TokenKeys + 'static) -> Self {
        Self::tokens(keys, TokenVerifier::new())
    }

    /// Authenticates like [`secret`](Self::secret), with the rules of
    /// `verifier`: algorithms, an issuer, an audience, a leeway, a longest life,
    /// required claims. Route maps and locks contain these rules.
    ///
    /// Keys that do not fit the algorithms, such as a secret shorter than 64
    /// bytes for HS512, are a configuration error.
    ///
    /// ```
    /// use stockade::auth::{Secret, TokenAlgorithm, TokenIssuer, TokenVerifier};
    /// use stockade::prelude::*;
    /// # use stockade::testing::TestClient;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), BoxError> {
    /// let secret = Secret::new("sixty-four bytes or more: ".repeat(3))?;
    /// let verifier = TokenVerifier::new().algorithms([TokenAlgorithm::HS512]);
    /// let auth = Auth::tokens(secret.clone(), verifier);
    /// let api = routes! { "orders": { auth: &auth, GET: async || "orders" } };
    ///
    /// let issuer = TokenIssuer::new().algorithm(TokenAlgorithm::HS512);
    /// let token = issuer.issue(json!({ "sub": "7" }), "1h", &secret)?;
    /// # let client = TestClient::new(create_router(api, RouterOptions::new()));
    /// client.get("/orders").bearer(&token).await.assert_text("orders");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tokens(keys: impl TokenKeys + 'static, verifier: TokenVerifier) -> Self {
        let mistake = verifier.check_keys(&keys).err();
        let (leeway_seconds, clock) = (verifier.leeway_seconds(), verifier.own_clock().clone());
        let info = described::of_tokens(verifier.rules(&keys));
        let verify = move |req: &Request, scheme: &Scheme| {
            let value = authorization(req)?;
            // The verifier gets the whole value and is the only place that
            // removes `Bearer`.
            let text = match scheme {
                Scheme::Bearer => value,
                Scheme::Named(_) => token(value, scheme)?,
            };
            verifier.verify(text, &keys).map_err(|error| refused(value, scheme, &error))
        };
        let verify = Arc::new(verify);
        let finder = TokenFinder { verify, leeway_seconds, clock, revocations: None };
        let method = AuthMethod::new(Challenge::BEARER, Find::Token(Box::new(finder)));
        let mut auth = Self::one(method).finding(&UserPool::of("token"));
        let issues = mistake.iter().flat_map(|mistake| mistake.issues());
        auth.mistakes.extend(issues.map(|issue| issue.message().to_owned()));
        auth.documented_as(SecurityScheme::jwt()).described(&info)
    }

    /// Authenticates with a function from the request to a user: `fn(&Request)
    /// -> Option<U>`, `async fn(&mut Request) -> Option<U>`, or a function with
    /// extractors as in [`lookup`](Self::lookup). The function may return a
    /// `Result`. An error, a panic and a falsy value mean that there is no
    /// user.
    ///
    /// ```
    /// use stockade::middleware::{Auth, with_auth};
    /// use stockade::{Request, Router};
    ///
    /// # use stockade::testing::TestClient;
    /// # #[tokio::main]
    /// # async fn main() {
    /// let auth = Auth::verify(|req: &Request| {
    ///     req.headers().contains_key("x-internal").then_some("internal")
    /// });
    /// let mut router = Router::new();
    /// router.get("/", async || "hello").middleware(with_auth(auth));
    /// let client = TestClient::new(router);
    /// client.get("/").header("x-internal", "1").await.assert_text("hello");
    /// client.get("/").await.assert_status(401);
    /// # }
    /// ```
    ///
    /// Browsers also attach cookies and some other credentials to requests from
    /// other sites. If the function reads such credentials, add
    /// [`with_cross_origin_protection`](crate::with_cross_origin_protection);
    /// [`session`](Self::session) includes this protection.
    ///
    /// API documents describe a bearer token unless you set
    /// [`documented_as`](Self::documented_as).
    // Spec: Authentication › `verify`.
    pub fn verify<M>(verify: impl Lookup<WholeRequest, M, Output: IntoUser>) -> Self {
        let reader = CredentialReader::whole_request(Policy::IgnoreErrors);
        Self::one(verify.into_method(reader).0).described(&MethodInfo::new(MethodKind::Function))
    }

    /// Authenticates with a function that may fail. Like a request handler, it
    /// takes extractors and returns `Result<Option<U>, E>`, with an
    /// [`IntoError`](stockade_core::reply::IntoError) as `E`. It is synchronous
    /// or asynchronous.
    ///
    /// | result | outcome |
    /// |---|---|
    /// | `Ok(Some(user))` | the request continues with the user |
    /// | `Ok(None)` | no user: 401, or the request continues if no user is [`required`](Self::required) |
    /// | `Err(error)` | an error response, or the response that the error contains (a `Redirect`), even if no user is required; no further method of [`or`](Self::or) is tried |
    ///
    /// If the database is down, the client gets a 503; the request never
    /// continues unauthenticated. A failed extraction gets the same response as
    /// in a handler, and a panic is a 500. A falsy user means that there is no
    /// user, as in [`verify`](Self::verify).
    ///
    /// Missing state is a configuration error, and so is an argument that would
    /// take the request, the body stream or the response.
    ///
    /// ```
    /// use stockade::ApiError;
    /// use stockade::extract::{Headers, State};
    /// use stockade::middleware::{Auth, with_auth};
    ///
    /// struct Db;
    ///
    /// impl Db {
    ///     async fn user_of(&self, _ticket: &str) -> Result<Option<String>, ApiError> {
    ///         Err(ApiError::new(503, "the database is down"))
    ///     }
    /// }
    ///
    /// async fn find(db: State<Db>, headers: Headers) -> Result<Option<String>, ApiError> {
    ///     let ticket = headers.get("x-ticket").and_then(|value| value.to_str().ok());
    ///     match ticket {
    ///         Some(ticket) => db.user_of(ticket).await,
    ///         None => Ok(None),
    ///     }
    /// }
    ///
    /// # use stockade::testing::TestClient;
    /// # #[tokio::main]
    /// # async fn main() {
    /// let mut router = stockade::Router::new().state(Db);
    /// router.get("/", async || "hello").middleware(with_auth(Auth::lookup(find)));
    /// let client = TestClient::new(router);
    /// client.get("/").await.assert_status(401);
    /// client.get("/").header("x-ticket", "7").await.assert_status(503);
    /// # }
    /// ```
    ///
    /// [`bearer`](Self::bearer), [`api_key`](Self::api_key),
    /// [`basic`](Self::basic) and [`session`](Self::session) pass the
    /// credentials to such a function.
    ///
    /// # Beyond the spec
    /// In the specification, an error means that there is no user.
    pub fn lookup<M>(lookup: impl Lookup<WholeRequest, M, Output: IntoUser>) -> Self {
        let reader = CredentialReader::whole_request(Policy::Request);
        Self::one(lookup.into_method(reader).0).described(&MethodInfo::new(MethodKind::Function))
    }

    /// Authenticates with a token in `Authorization: Bearer`, or in another
    /// [`scheme`](Self::scheme). `lookup` gets the token and returns the user.
    ///
    /// [`Lookup`] describes the functions that `bearer`,
    /// [`api_key`](Self::api_key), [`basic`](Self::basic) and
    /// [`session`](Self::session) accept: they take the credentials and then
    /// extractors. The function is called only if the request has such
    /// credentials. The response to an error is the same as in
    /// [`lookup`](Self::lookup).
    ///
    /// ```
    /// use stockade::ApiError;
    /// use stockade::extract::State;
    /// use stockade::middleware::{Auth, with_auth};
    ///
    /// struct Db;
    ///
    /// impl Db {
    ///     async fn user_of(&self, token: &str) -> Result<Option<String>, ApiError> {
    ///         Ok((token == "7").then(|| "ada".to_owned()))
    ///     }
    /// }
    ///
    /// async fn find(token: String, db: State<Db>) -> Result<Option<String>, ApiError> {
    ///     db.user_of(&token).await
    /// }
    ///
    /// # use stockade::testing::TestClient;
    /// # #[tokio::main]
    /// # async fn main() {
    /// let signed_in = with_auth(Auth::bearer(find).scheme("Token"));
    /// let mut router = stockade::Router::new().state(Db);
    /// router.get("/", async || "hello").middleware(signed_in);
    /// let client = TestClient::new(router);
    /// client.get("/").header("authorization", "Token 7").await.assert_text("hello");
    /// client.get("/").header("authorization", "Token 8").await.assert_status(401);
    /// # }
    /// ```
    ///
    /// # Beyond the spec
    /// The specification has the form `with_auth(lookup)`. The body of its 401
    /// shows whether the header was missing.
    pub fn bearer<M>(lookup: impl Lookup<String, M, Output: IntoUser>) -> Self {
        let info = MethodInfo::new(MethodKind::Bearer);
        let auth = Self::by(Challenge::BEARER, bearer_token, lookup);
        auth.finding(&UserPool::of("bearer")).described(&info)
    }

    /// Authenticates with an API key in the header `x-api-key`. `lookup` gets
    /// the hash of the key, which the application stores, and returns the user.
    ///
    /// ```
    /// use stockade::auth::{ApiKey, ApiKeyHash};
    /// use stockade::prelude::*;
    /// # use stockade::testing::TestClient;
    ///
    /// // Devices by the hash of their key. Store the text of the hash in a database.
    /// struct Devices(Vec<(ApiKeyHash, &'static str)>);
    ///
    /// async fn find(hash: ApiKeyHash, devices: State<Devices>) -> Result<Option<Value>, ApiError> {
    ///     let found = devices.0.0.iter().find(|(known, _)| *known == hash);
    ///     Ok(found.map(|(_, name)| json!({ "name": name, "role": "device" })))
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), BoxError> {
    /// // Generate the key once, and show it to the owner of the device.
    /// let key = ApiKey::generate("door")?;
    ///
    /// let known = with_auth(Auth::api_key(find));
    /// let api = routes! { "rooms": { GET: { async || "rooms", middleware: [known] } } };
    /// let devices = Devices(vec![(key.hash(), "door 1")]);
    /// let router = create_router(api, RouterOptions::new()).state(devices);
    ///
    /// # let client = TestClient::new(router);
    /// client.get("/rooms").header("x-api-key", key.reveal()).await.assert_text("rooms");
    /// client.get("/rooms").header("x-api-key", "door_guess").await.assert_status(401);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Beyond the spec
    /// The specification does not define API keys.
    pub fn api_key<M>(lookup: impl Lookup<ApiKeyHash, M, Output: IntoUser>) -> Self {
        Self::api_key_in(HeaderName::from_static("x-api-key"), lookup)
    }

    /// Authenticates like [`api_key`](Self::api_key), with another header.
    pub fn api_key_in<M>(
        header: HeaderName,
        lookup: impl Lookup<ApiKeyHash, M, Output: IntoUser>,
    ) -> Self {
        let challenge = Challenge::other("ApiKey", format!("header=\"{header}\""));
        let scheme = SecurityScheme::Header(header.as_str().to_owned().into());
        let pool = UserPool::with_detail("api_key", header.as_str());
        let info = MethodInfo::new(MethodKind::ApiKey).in_header(header.as_str());
        let read = move |req: &Request, _: &Scheme| only(req, &header).map(ApiKeyHash::of);
        Self::by(challenge, read, lookup).finding(&pool).documented_as(scheme).described(&info)
    }

    /// Authenticates with a name and a password in `Authorization: Basic` (RFC
    /// 7617). Browsers show `realm`; quotes and control characters are removed
    /// from it.
    ///
    /// A browser also attaches the entered password to requests from other
    /// sites. If users log in this way, add
    /// [`with_cross_origin_protection`](crate::with_cross_origin_protection).
    ///
    /// # Beyond the spec
    /// The specification does not define Basic authentication.
    pub fn basic<M>(
        realm: &str,
        lookup: impl Lookup<BasicCredentials, M, Output: IntoUser>,
    ) -> Self {
        let read = |req: &Request, _: &Scheme| {
            BasicCredentials::parse(authorization(req)?).ok_or(AuthResult::Invalid)
        };
        let auth = Self::by(Challenge::basic(realm), read, lookup);
        let info = MethodInfo::new(MethodKind::Basic);
        auth.finding(&UserPool::of("basic"))
            .documented_as(SecurityScheme::basic())
            .described(&info)
            .recheck_every(PASSWORD_INTERVAL)
    }

    /// Authenticates with a signed session id in a cookie. `lookup` gets the id
    /// and returns the user.
    ///
    /// Browsers also attach the cookie to requests from other sites. A
    /// cross-origin request that could change something therefore gets a 403,
    /// unless CORS lists its origin with credentials: see
    /// [`SessionCookie::cross_origin_protection`]. A request without the cookie
    /// is not checked, and another method of [`or`](Self::or) may still find a
    /// user.
    ///
    /// A handler that needs the id, for example to log out, takes a
    /// [`CurrentSession`](super::CurrentSession).
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::{Arc, Mutex};
    ///
    /// use stockade::auth::{KeyRing, Secret, SessionId};
    /// use stockade::http::{HeaderMap, StatusCode, header};
    /// use stockade::middleware::{Auth, SessionCookie, with_auth};
    /// use stockade::{ApiError, Reply};
    ///
    /// // Users by session id. Use a database in production.
    /// let sessions: Arc<Mutex<HashMap<String, &str>>> = Arc::default();
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let cookie = SessionCookie::new(KeyRing::new(secret));
    ///
    /// // In the login handler:
    /// let id = SessionId::generate()?;
    /// sessions.lock().unwrap().insert(id.to_string(), "ada");
    /// let headers = HeaderMap::from_iter([(header::SET_COOKIE, cookie.issue(&id))]);
    /// let response = (StatusCode::OK, headers, "welcome").into_response()?;
    ///
    /// // For the routes of logged-in users:
    /// let signed_in = with_auth(Auth::session(cookie, move |id: SessionId| {
    ///     sessions.lock().unwrap().get(&id.to_string()).copied()
    /// }));
    /// # let _ = (response, signed_in);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Beyond the spec
    /// The specification does not define sessions.
    pub fn session<M>(
        cookie: SessionCookie,
        lookup: impl Lookup<SessionId, M, Output: IntoUser>,
    ) -> Self {
        let challenge = cookie.challenge();
        let scheme = SecurityScheme::Cookie(cookie.full_name().to_owned().into());
        let protections = cookie.protection().cloned().into_iter().collect();
        let pool = UserPool::with_detail("session", cookie.kind_name());
        let mut info = MethodInfo::new(MethodKind::Session);
        info.cookie = Some(cookie.info());
        let cookie = Arc::new(cookie);
        let session = Arc::clone(&cookie);
        let mut auth =
            Self::by(challenge, move |req: &Request, _: &Scheme| cookie.read(req), lookup);
        for method in &mut auth.methods {
            method.session = Some(Arc::clone(&session));
        }
        Self { protections, ..auth }.finding(&pool).documented_as(scheme).described(&info)
    }

    fn by<C: 'static, M>(
        challenge: Challenge,
        read: impl Fn(&Request, &Scheme) -> Result<C, AuthResult> + Send + Sync + 'static,
        lookup: impl Lookup<C, M, Output: IntoUser>,
    ) -> Self {
        Self::one(lookup.into_method(CredentialReader::credentials(challenge, read)).0)
    }

    /// Sets the user pool of the methods added so far.
    fn finding(mut self, pool: &UserPool) -> Self {
        for method in &mut self.methods {
            method.set_pool(pool.clone());
        }
        self
    }

    fn one(method: AuthMethod) -> Self {
        Self {
            methods: vec![method],
            required: true,
            explains: false,
            protections: Vec::new(),
            mistakes: Vec::new(),
        }
    }
}

/// Returns the token in `Authorization`.
fn bearer_token(req: &Request, scheme: &Scheme) -> Result<String, AuthResult> {
    token(authorization(req)?, scheme).map(str::to_owned)
}
