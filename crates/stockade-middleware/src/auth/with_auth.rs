//! [`with_auth`] and [`Auth`]: the methods of authentication of a route.

use std::sync::Arc;

use http::HeaderName;
use stockade_auth::__internal::into_parts;
use stockade_auth::{ApiKeyHash, BasicCredentials, SessionId, TokenKeys, TokenVerifier};
use stockade_core::{Flow, Middleware, Request, RouteDoc, unauthorized};
use stockade_errors::ApiError;

use super::authenticator::{Authenticator, MethodSet};
use super::credentials::{authorization, only, refused, token};
use super::method::{AuthMethod, Challenge, Find, Found};
use super::{CredentialReader, Lookup, SessionCookie, Verify};
use crate::CrossOriginProtection;

/// Finds the user and attaches it to the request, or answers 401.
///
/// Takes an [`Auth`], or a function from a token to a user. It decides anew: a
/// user that middleware outside of it found does not count here.
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

/// The methods to find the user of a request, and whether there must be one.
///
/// The methods are tried in their order; the first that finds a user counts. The
/// user is a JSON value, which `User<T>` and [`Request::user`] give.
///
/// Spec: Authentication › Bearer-token middleware.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until `with_auth` makes middleware of it"]
pub struct Auth {
    pub(super) methods: Vec<AuthMethod>,
    pub(super) required: bool,
    /// Says what was wrong, as the form that takes a function does.
    pub(super) explains: bool,
    /// The rules by which its methods refuse other origins.
    pub(super) protections: Vec<CrossOriginProtection>,
}

impl Auth {
    /// A token in `Authorization: Bearer`, verified by a secret, a ring of
    /// them, or a JWK set. The user is the payload of the token.
    pub fn secret(keys: impl TokenKeys + 'static) -> Self {
        Self::tokens(keys, TokenVerifier::new())
    }

    /// As [`secret`](Self::secret), with rules of its own: an issuer, an
    /// audience, a leeway, required claims.
    pub fn tokens(keys: impl TokenKeys + 'static, verifier: TokenVerifier) -> Self {
        let find = move |req: &Request| match authorization(req) {
            Err(found) => found,
            // It takes the whole value, so that the word is taken off in one
            // place, and once.
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

    /// A function from the request to a user or nothing:
    /// `fn(&Request) -> Option<U>`, or `async fn(&mut Request) -> Option<U>`,
    /// or the same with a `Result`. An error, a panic and a falsy value count
    /// as no user.
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
    /// A function that reads a cookie, or anything else that a browser sends by
    /// itself, must not trust requests of other pages: put
    /// [`with_cross_origin_protection`](crate::with_cross_origin_protection)
    /// beside it. [`session`](Self::session) does so itself.
    ///
    /// Spec: Authentication › `verify`.
    pub fn verify<M>(verify: impl Verify<M>) -> Self {
        Self::one(AuthMethod::new(Challenge::Bearer, verify.into_find().0))
    }

    /// A key in the header `x-api-key`: `lookup` gets its hash, which is what
    /// the application stores, and gives the user.
    ///
    /// # Beyond the spec
    /// The specification has no API keys.
    pub fn api_key<M>(lookup: impl Lookup<ApiKeyHash, M>) -> Self {
        Self::api_key_in(HeaderName::from_static("x-api-key"), lookup)
    }

    /// As [`api_key`](Self::api_key), in another header.
    pub fn api_key_in<M>(header: HeaderName, lookup: impl Lookup<ApiKeyHash, M>) -> Self {
        let challenge = Challenge::Other(format!("ApiKey header=\"{header}\"").into());
        let read = move |req: &Request| only(req, &header).map(ApiKeyHash::of);
        Self::by(challenge, read, lookup)
    }

    /// A name and a password in `Authorization: Basic` (RFC 7617). `realm` is
    /// what a browser shows; quotes and control characters are left out of it.
    ///
    /// A browser that has asked for them sends them with the requests of other
    /// pages too: where people sign in by this, put
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

    /// A signed session id in a cookie: `lookup` gets the id and gives the user.
    ///
    /// A browser sends the cookie with the requests of other pages too, so a
    /// request that changes something and comes from a page of another origin is
    /// 403, unless CORS lists that origin with credentials:
    /// [`SessionCookie::cross_origin_protection`]. It counts where the session is
    /// what finds the user: another method of [`or`](Self::or) may still find one,
    /// and a request without the cookie is not looked at.
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

    /// Tries the methods of `other` where the own ones find no user. One must be
    /// found if either requires it; [`required`](Self::required) of the whole
    /// says otherwise.
    pub fn or(mut self, other: Self) -> Self {
        self.methods.extend(other.methods);
        self.required |= other.required;
        self.explains |= other.explains;
        self.protections.extend(other.protections);
        self
    }

    /// Whether the answer is 401 where there is no user. Default: true. If
    /// false, the request goes on without one.
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

    /// The methods, as a 401 names them where nothing was sent.
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

/// What [`with_auth`] takes: an [`Auth`], or a function from a token to a user,
/// `fn(String) -> Option<U>` or `async fn(String) -> Option<U>`, which gets
/// what stands after `Bearer` in `Authorization`.
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
