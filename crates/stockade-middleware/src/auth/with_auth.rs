//! [`with_auth`] and [`Auth`]: the methods by which a route authenticates
//! users.

use std::sync::Arc;

use http::HeaderName;
use stockade_auth::__internal::into_parts;
use stockade_auth::{ApiKeyHash, BasicCredentials, SessionId, TokenKeys, TokenVerifier};
use stockade_core::__internal::unauthorized;
use stockade_core::{Flow, Middleware, Request, RouteDoc};
use stockade_errors::ApiError;

use super::authenticator::{Authenticator, MethodSet};
use super::credentials::{authorization, only, refused, token};
use super::method::{AuthMethod, Challenge, Find, Found};
use super::{CredentialReader, Lookup, SessionCookie, Verify};
use crate::CrossOriginProtection;

/// Finds the user of a request and attaches it, or answers 401.
///
/// Takes an [`Auth`], or a function from a token to a user. A user that outer
/// middleware has found does not count.
///
/// ```
/// use stockade_auth::Secret;
/// use stockade_middleware::{Auth, with_auth};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let bearer = with_auth(Auth::secret(secret));
/// let own = with_auth(|token: String| (token == "let me in").then_some("ada"));
/// assert_eq!((bearer.name(), own.name()), ("with_auth", "with_auth"));
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
///
/// Spec: Authentication › `withAuth`.
#[doc(alias = "withAuth")]
pub fn with_auth<M>(auth: impl IntoAuth<M>) -> Middleware {
    auth.into_auth().into_middleware().named("with_auth")
}

/// The methods that find the user of a request. A user is required by default.
///
/// The methods are tried in their order, and the first user that one finds
/// counts. The user is a JSON value, which `User<T>` and [`Request::user`]
/// give.
///
/// Spec: Authentication › Bearer-token middleware.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until `with_auth` makes middleware of it"]
pub struct Auth {
    pub(super) methods: Vec<AuthMethod>,
    pub(super) required: bool,
    /// Adds the reason to a 401, as for the form that takes a function.
    pub(super) explains: bool,
    /// The rules by which session cookies refuse other origins.
    pub(super) protections: Vec<CrossOriginProtection>,
}

impl Auth {
    /// Authenticates by a token in `Authorization: Bearer`, which a secret, a
    /// key ring or a JWK set verifies. The user is the payload of the token.
    pub fn secret(keys: impl TokenKeys + 'static) -> Self {
        Self::tokens(keys, TokenVerifier::new())
    }

    /// Authenticates as [`secret`](Self::secret) does, with the rules of
    /// `verifier`: an issuer, an audience, a leeway, required claims.
    pub fn tokens(keys: impl TokenKeys + 'static, verifier: TokenVerifier) -> Self {
        let find = move |req: &Request| match authorization(req) {
            Err(found) => found,
            // The verifier gets the whole value, so that `Bearer` is taken off
            // in one place, and once.
            Ok(value) => match verifier.verify(value, &keys) {
                Ok(claims) => {
                    let (json, value) = into_parts(claims);
                    Found::Json(json, value)
                }
                Err(error) => refused(value, &error),
            },
        };
        Self::one(AuthMethod::new(Challenge::Bearer, Find::Sync(Arc::new(find))))
    }

    /// Authenticates by a function from the request to a user: `fn(&Request) ->
    /// Option<U>`, or `async fn(&mut Request) -> Option<U>`, or the same with a
    /// `Result`. An error, a panic and a falsy value count as no user.
    ///
    /// ```
    /// use stockade_core::Request;
    /// use stockade_middleware::Auth;
    ///
    /// let auth = Auth::verify(|req: &Request| {
    ///     req.headers().contains_key("x-internal").then_some("internal")
    /// });
    /// # let _ = auth;
    /// ```
    ///
    /// A browser sends cookies and some other credentials with the requests of
    /// other pages too. A function that reads such credentials needs
    /// [`with_cross_origin_protection`](crate::with_cross_origin_protection)
    /// beside it; [`session`](Self::session) has that protection itself.
    ///
    /// Spec: Authentication › `verify`.
    pub fn verify<M>(verify: impl Verify<M>) -> Self {
        Self::one(AuthMethod::new(Challenge::Bearer, verify.into_find().0))
    }

    /// Authenticates by a key in the header `x-api-key`. `lookup` gets the hash
    /// of the key, which the application stores, and returns the user.
    ///
    /// # Beyond the spec
    /// The specification has no API keys.
    pub fn api_key<M>(lookup: impl Lookup<ApiKeyHash, M>) -> Self {
        Self::api_key_in(HeaderName::from_static("x-api-key"), lookup)
    }

    /// Authenticates as [`api_key`](Self::api_key) does, by another header.
    pub fn api_key_in<M>(header: HeaderName, lookup: impl Lookup<ApiKeyHash, M>) -> Self {
        let challenge = Challenge::Other(format!("ApiKey header=\"{header}\"").into());
        let read = move |req: &Request| only(req, &header).map(ApiKeyHash::of);
        Self::by(challenge, read, lookup)
    }

    /// Authenticates by a name and a password in `Authorization: Basic` (RFC
    /// 7617). A browser shows `realm`; quotes and control characters are left
    /// out of it.
    ///
    /// A browser that has asked for a password sends it with the requests of
    /// other pages too. Where people sign in like this, put
    /// [`with_cross_origin_protection`](crate::with_cross_origin_protection)
    /// beside it.
    ///
    /// # Beyond the spec
    /// The specification has no Basic authentication.
    pub fn basic<M>(realm: &str, lookup: impl Lookup<BasicCredentials, M>) -> Self {
        let realm =
            realm.chars().filter(|char| matches!(char, ' '..='~') && !"\"\\".contains(*char));
        let realm: String = realm.collect();
        let challenge = format!("Basic realm=\"{realm}\", charset=\"UTF-8\"");
        let read =
            |req: &Request| BasicCredentials::parse(authorization(req)?).ok_or(Found::Invalid);
        Self::by(Challenge::Other(challenge.into()), read, lookup)
    }

    /// Authenticates by a signed session id in a cookie. `lookup` gets the id
    /// and returns the user.
    ///
    /// A browser sends the cookie with the requests of other pages too. So a
    /// request that changes something and comes from a page of another origin
    /// is 403, unless CORS lists that origin with credentials: see
    /// [`SessionCookie::cross_origin_protection`]. A request without the cookie
    /// is not checked, and another method of [`or`](Self::or) may still find a
    /// user.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::{Arc, Mutex};
    ///
    /// use http::{HeaderMap, StatusCode, header};
    /// use stockade_auth::{KeyRing, Secret, SessionId};
    /// use stockade_core::{ApiError, Reply};
    /// use stockade_middleware::{Auth, SessionCookie, with_auth};
    ///
    /// // By the text of the id; a database in earnest.
    /// let sessions: Arc<Mutex<HashMap<String, &str>>> = Arc::default();
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let cookie = SessionCookie::new(KeyRing::new(secret));
    ///
    /// // Where somebody signs in:
    /// let id = SessionId::generate()?;
    /// sessions.lock().unwrap().insert(id.to_string(), "ada");
    /// let headers = HeaderMap::from_iter([(header::SET_COOKIE, cookie.issue(&id))]);
    /// let response = (StatusCode::OK, headers, "welcome").into_response()?;
    ///
    /// // For the routes of those who have:
    /// let signed_in = with_auth(Auth::session(cookie, move |id: SessionId| {
    ///     sessions.lock().unwrap().get(&id.to_string()).copied()
    /// }));
    /// # let _ = (response, signed_in);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Beyond the spec
    /// The specification has no sessions.
    pub fn session<M>(cookie: SessionCookie, lookup: impl Lookup<SessionId, M>) -> Self {
        let challenge =
            Challenge::Other(format!("Session cookie=\"{}\"", cookie.full_name()).into());
        let protections = cookie.protection().cloned().into_iter().collect();
        let auth = Self::by(challenge, move |req: &Request| cookie.read(req), lookup);
        Self { protections, ..auth }
    }

    /// Adds the methods of `other`, which are tried where the own ones find no
    /// user. A user is required if either side requires one, unless
    /// [`required`](Self::required) is set afterwards.
    pub fn or(mut self, other: Self) -> Self {
        self.methods.extend(other.methods);
        self.required |= other.required;
        self.explains |= other.explains;
        self.protections.extend(other.protections);
        self
    }

    /// Sets whether a request without a user is answered 401. Default: true. If
    /// false, the request goes on without a user.
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    fn by<I, M>(
        challenge: Challenge,
        read: impl Fn(&Request) -> Result<I, Found> + Send + Sync + 'static,
        lookup: impl Lookup<I, M>,
    ) -> Self {
        Self::one(lookup.into_method(CredentialReader { challenge, read: Arc::new(read) }).0)
    }

    fn one(method: AuthMethod) -> Self {
        Self { methods: vec![method], required: true, explains: false, protections: Vec::new() }
    }

    fn into_middleware(self) -> Middleware {
        let challenges: Vec<String> = self.challenges().map(str::to_owned).collect();
        let protections = self.protections.clone();
        let describe = move |doc: &mut RouteDoc| {
            doc.authenticates(&challenges);
            protections.iter().for_each(|protection| protection.describe(doc));
        };
        self.into_check().describing(describe)
    }

    /// Returns the challenges of a 401 for a request without credentials.
    fn challenges(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().map(|method| method.challenge.as_str())
    }

    fn into_check(self) -> Middleware {
        let is_async = self.methods.iter().any(AuthMethod::is_async);
        let authenticator = Authenticator::new(self);
        if is_async {
            let authenticator = Arc::new(authenticator);
            return Middleware::before(move |mut req: Request| {
                let authenticator = Arc::clone(&authenticator);
                async move {
                    let outcome = authenticator.authenticate_async(&mut req).await;
                    (req, outcome.map(|()| Flow::Continue))
                }
            });
        }
        Middleware::new(move |req: &mut Request| authenticator.authenticate(req))
    }

    /// Makes the 401 for the methods whose credentials were invalid.
    ///
    /// Spec: Authentication › rule 5; RFC 6750, section 3.
    pub(super) fn unauthorized(&self, invalid: MethodSet, is_other_scheme: bool) -> ApiError {
        let challenges =
            self.methods.iter().enumerate().map(|(index, method)| match method.challenge {
                Challenge::Bearer if invalid.has(index) => r#"Bearer error="invalid_token""#,
                _ => method.challenge.as_str(),
            });
        let error = unauthorized(challenges);
        match (self.explains, is_other_scheme || invalid != MethodSet::NONE) {
            (false, _) => error,
            (true, false) => error.with_member("message", "Missing authorization header"),
            (true, true) => error.with_member("message", "Invalid token"),
        }
    }
}

/// The argument of [`with_auth`]: an [`Auth`], or a function from a token to a
/// user, `fn(String) -> Option<U>` or `async fn(String) -> Option<U>`. The
/// function gets the text behind `Bearer` in `Authorization`.
///
/// Spec: Authentication › rule 7.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot find a user",
    label = "neither an `Auth` nor a function from a token to a user",
    note = "the function is `fn(String) -> Option<User>` or `async fn(String) -> Option<User>`"
)]
pub trait IntoAuth<Marker> {
    #[doc(hidden)]
    fn into_auth(self) -> Auth;
}

impl IntoAuth<()> for Auth {
    fn into_auth(self) -> Auth {
        self
    }
}

impl<F: Lookup<String, M>, M> IntoAuth<(M,)> for F {
    fn into_auth(self) -> Auth {
        let read = |req: &Request| token(authorization(req)?).map(str::to_owned);
        let auth = Auth::by(Challenge::Bearer, read, self);
        Auth { explains: true, ..auth }
    }
}

#[cfg(test)]
mod tests {
    use stockade_auth::{Secret, generate_jwt};

    use super::*;

    #[test]
    fn a_good_token_costs_one_allocation() {
        let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
        let claims = serde_json::json!({ "sub": "7", "role": "editor" });
        let token = generate_jwt(claims, "1h", &secret).unwrap();
        let request = http::Request::get("/").header("authorization", format!("Bearer {token}"));
        let req = Request::from(request.body(()).unwrap());
        let plain = Auth::secret(secret.clone());
        let counted = allocation_counter::measure(|| {
            assert!(matches!(plain.methods[0].find_sync(&req), Some(Found::Json(_, None))));
        });
        assert_eq!(counted.count_total, 1);

        // What a rule has read is not read again.
        let strict = Auth::tokens(secret, TokenVerifier::new().require("sub"));
        assert!(matches!(strict.methods[0].find_sync(&req), Some(Found::Json(_, Some(_)))));
    }
}
