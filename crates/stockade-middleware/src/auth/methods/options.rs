//! The settings that hold for the methods of an [`Auth`] so far: revocations, other
//! methods beside them, names in challenges and documents.

use std::iter;
use std::time::Duration;

use stockade_auth::revocations_internals::KEPT_SECONDS;
use stockade_auth::{Revocations, StalePolicy};
use stockade_core::description::SecurityScheme;
use stockade_errors::__internal::setters;

use super::super::method::{AuthMethod, UserPool};
use super::Auth;

impl Auth {
    /// Refuses tokens that are revoked, of the methods of [`secret`](Self::secret) and
    /// [`tokens`](Self::tokens) so far. The answer is that to an expired one. Default:
    /// none are.
    ///
    /// While nobody can say if a token is revoked, because the processes have lost each
    /// other, requests with a token are answered 503, as [`StalePolicy`] says. Requests
    /// without one do not notice. A log that can be asked, such as that of
    /// `Redis::revocations`, is asked for each token once there are more revocations
    /// than a process holds.
    ///
    /// Without such a method it is a mistake when the router is built, and so is a
    /// verifier with a leeway above ten minutes, because what is revoked is forgotten
    /// ten minutes after it has expired.
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// use stockade::auth::{Revocations, Secret, generate_jwt};
    /// use stockade::extract::{State, User};
    /// use stockade::middleware::{Auth, with_auth};
    /// use stockade::prelude::*;
    /// # use stockade::testing::TestClient;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Person {
    ///     sub: String,
    /// }
    ///
    /// /// Signs out everywhere.
    /// async fn sign_out(
    ///     User(person): User<Person>,
    ///     revocations: State<Revocations>,
    /// ) -> Result<StatusCode, ApiError> {
    ///     // The tokens have no `iss`.
    ///     revocations.revoke_before(None, &person.sub, SystemTime::now()).await?;
    ///     Ok(StatusCode::NO_CONTENT)
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), BoxError> {
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let revocations = Revocations::in_memory();
    /// let signed_in = with_auth(Auth::secret(secret.clone()).revocations(revocations.clone()));
    /// let api = routes! { "session": { DELETE: { sign_out, middleware: [signed_in] } } };
    /// let router = create_router(api, RouterOptions::new()).state(revocations);
    /// # let client = TestClient::new(router);
    /// let token = generate_jwt(json!({ "sub": "user:7" }), "1h", &secret)?;
    /// client.delete("/session").bearer(&token).await.assert_status(204);
    /// client.delete("/session").bearer(&token).await.assert_status(401);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Beyond the spec
    /// The specification has no revocation.
    pub fn revocations(mut self, revocations: Revocations) -> Self {
        if revocations.stale_policy() == Some(StalePolicy::Accept) {
            log::warn!(
                target: "stockade",
                "with StalePolicy::Accept a token that another process has revoked is accepted while the \
                 processes have lost each other",
            );
        }
        let mut has_tokens = false;
        let finders = self.methods.iter_mut().filter_map(AuthMethod::token_finder);
        for (finder, revocations) in finders.zip(iter::repeat(revocations)) {
            has_tokens = true;
            if finder.leeway_seconds > KEPT_SECONDS {
                self.mistakes.push(format!(
                    "a revoked token is forgotten {KEPT_SECONDS} seconds after it has expired, and \
                     the leeway of the verifier is {} seconds",
                    finder.leeway_seconds
                ));
            }
            finder.revocations = Some(revocations);
        }
        if !has_tokens {
            let mistake = "revocations are those of tokens: put them behind Auth::secret or tokens";
            self.mistakes.push(mistake.to_owned());
        }
        self
    }

    /// Adds the methods of `other`, which are tried where the own ones find no
    /// user. A user is required if either side requires one, unless
    /// [`required`](Self::required) is set afterwards.
    pub fn or(mut self, other: Self) -> Self {
        self.methods.extend(other.methods);
        self.required |= other.required;
        self.explains |= other.explains;
        self.protections.extend(other.protections);
        self.mistakes.extend(other.mistakes);
        self
    }

    /// Sets the scheme of the methods so far, by its name: in the challenge of a
    /// 401, and before a token in `Authorization`. Default: `Bearer` for tokens.
    ///
    /// Names of schemes have no case. A token without a scheme is read as one of
    /// `Bearer` alone.
    ///
    /// ```
    /// use stockade::auth::Secret;
    /// use stockade::middleware::{Auth, with_auth};
    ///
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// // Authorization: Token <token>
    /// let signed_in = with_auth(Auth::secret(secret).scheme("Token"));
    /// # let _ = signed_in;
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    ///
    /// A name that no scheme can have is a mistake when the router is built, and
    /// so is a scheme of [`basic`](Self::basic), which RFC 7617 names.
    ///
    /// # Beyond the spec
    /// The specification has `Bearer` alone.
    pub fn scheme(mut self, name: &str) -> Self {
        for method in &mut self.methods {
            match method.challenge.clone().with_scheme(name) {
                Ok(challenge) => {
                    if let SecurityScheme::Http { scheme, .. } = &mut method.scheme {
                        *scheme = challenge.scheme_name().to_owned().into();
                    }
                    method.challenge = challenge;
                }
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        self
    }

    /// Sets the realm in the challenges of the methods so far, which a browser
    /// may show. Quotes and control characters are left out of it. Default:
    /// none, and that of [`basic`](Self::basic).
    pub fn realm(mut self, realm: &str) -> Self {
        for method in &mut self.methods {
            method.challenge = method.challenge.clone().with_realm(realm);
        }
        self
    }

    /// Sets the way of the credentials of the methods so far, as documents of the
    /// API name it. It has no effect on requests. Default: a JSON web token for
    /// [`secret`](Self::secret) and [`tokens`](Self::tokens), the header, the
    /// cookie or Basic where the method reads that, and a bearer token for
    /// [`verify`](Self::verify) and [`lookup`](Self::lookup).
    ///
    /// ```
    /// use stockade::Request;
    /// use stockade::description::SecurityScheme;
    /// use stockade::middleware::{Auth, with_auth};
    ///
    /// let internal = Auth::verify(|req: &Request| {
    ///     req.headers().contains_key("x-internal").then_some("internal")
    /// });
    /// let internal = internal.documented_as(SecurityScheme::Header("x-internal".into()));
    /// assert_eq!(with_auth(internal).name(), "with_auth");
    /// ```
    ///
    /// # Beyond the spec
    /// The specification has no such documents.
    pub fn documented_as(mut self, scheme: SecurityScheme) -> Self {
        for (method, scheme) in self.methods.iter_mut().zip(iter::repeat(scheme)) {
            method.scheme = scheme;
        }
        self
    }

    /// Names the users that the methods so far find. Users of the same pool with the
    /// same issuer and subject count as one user, whichever method found them: they
    /// share idempotency keys and a [`UserKey`](super::super::UserKey).
    ///
    /// Default: each method has its own pool. The pools differ by the kind of the method
    /// (token, session, API key, …), by the header or the kind of the session, and, if
    /// there are several such methods in one `with_auth`, by their order.
    ///
    /// Set the same name on two methods if an account may use both, for example a
    /// session in a browser and an API key in a script. Set different names if two
    /// routes have functions of the same kind that find different users.
    ///
    /// ```
    /// use stockade::auth::ApiKeyHash;
    /// use stockade::middleware::{Auth, with_auth};
    /// use stockade::serde_json::json;
    ///
    /// let partner = |_: ApiKeyHash| Some(json!({ "id": 7 }));
    /// let partners = with_auth(Auth::api_key(partner).user_pool("partners"));
    /// # drop(partners);
    /// ```
    pub fn user_pool(self, name: &str) -> Self {
        self.finding(&UserPool::Named(name.to_owned()))
    }

    /// Sets the longest time between two checks of a connection that outlives its
    /// request, for the methods so far. Default: 15 s, and 5 minutes for
    /// [`basic`](Self::basic), because a password is expensive to check.
    ///
    /// A WebSocket, an event stream and a subscription end when their user's
    /// credentials stop being valid. A token ends them when it expires, and when a
    /// revocation of it arrives. Everything else is found by a check: the method runs
    /// again on a copy of the request without its body. If the check fails with a
    /// server error, the connection goes on for up to 5 minutes.
    ///
    /// A check must find the user again. A method that accepts something only once,
    /// such as a ticket in the query of a handshake, ends its connection at the first
    /// check: allow that route to outlive its user.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use stockade::auth::ApiKeyHash;
    /// use stockade::middleware::{Auth, with_auth};
    ///
    /// async fn find(hash: ApiKeyHash) -> Option<String> {
    ///     // In a program: from the database.
    ///     (hash.to_string() == "…").then(|| "door 1".to_owned())
    /// }
    ///
    /// let known = with_auth(Auth::api_key(find).recheck_every(Duration::from_secs(60)));
    /// # let _ = known;
    /// ```
    ///
    /// # Beyond the spec
    /// The specification does not say when a connection ends.
    pub fn recheck_every(mut self, interval: Duration) -> Self {
        self.methods.iter_mut().for_each(|method| method.recheck = interval);
        self
    }

    /// Returns the same methods without the requirement of a user: a request without one
    /// continues. Borrows, so that one `Auth` serves both kinds of routes.
    ///
    /// ```
    /// use stockade::prelude::*;
    ///
    /// let token = Auth::bearer(|token: String| (token == "let me in").then_some("ada"));
    /// let api = routes! {
    ///     auth: &token,
    ///     "me": { GET: async |User(name): User<String>| name },
    ///     "greeting": {
    ///         GET: {
    ///             async |user: Option<User<String>>| user.map_or("hello".into(), |user| user.0),
    ///             auth: token.optional(),
    ///             public: "everybody is greeted",
    ///         },
    ///     },
    /// };
    /// assert!(create_router(api, RouterOptions::new()).build().is_ok());
    /// ```
    pub fn optional(&self) -> Self {
        self.clone().required(false)
    }

    setters! {
        /// Sets whether a request without a user is answered 401. Default: true. If
        /// false, the request goes on without a user.
        required: bool;
    }
}
