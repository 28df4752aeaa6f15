//! Options of [`Auth`] for the methods added so far: revocations, alternative
//! methods, names in challenges and documents.

use std::iter;
use std::time::Duration;

use stockade_auth::revocations_internals::KEPT_SECONDS;
use stockade_auth::{Revocations, StalePolicy};
use stockade_core::description::SecurityScheme;
use stockade_errors::__internal::setters;

use super::super::method::{AuthMethod, UserPool};
use super::Auth;

impl Auth {
    /// Rejects revoked tokens, for the methods of [`secret`](Self::secret) and
    /// [`tokens`](Self::tokens) added so far. The response is the same as for
    /// an expired token. Default: no revocations.
    ///
    /// If the processes have lost contact with each other and the status of a
    /// token is unknown, requests with a token get a 503, as [`StalePolicy`]
    /// describes. Requests without a token are not affected. If there are more
    /// revocations than one process can hold, each token is looked up in a log
    /// that supports queries, such as `Redis::revocations`.
    ///
    /// Calling this without such a method is a configuration error. So is a
    /// verifier with a leeway above ten minutes, because a revocation is
    /// forgotten ten minutes after its token expires.
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
    /// The specification does not define revocation.
    pub fn revocations(mut self, revocations: Revocations) -> Self {
        if revocations.stale_policy() == Some(StalePolicy::Accept) {
            log::warn!(
                target: "stockade",
                "StalePolicy::Accept accepts tokens that another process has revoked while the \
                 processes are disconnected",
            );
        }
        self = self.described_revocations(&revocations);
        let mut has_tokens = false;
        let finders = self.methods.iter_mut().filter_map(AuthMethod::token_finder);
        for (finder, revocations) in finders.zip(iter::repeat(revocations)) {
            has_tokens = true;
            if finder.leeway_seconds > KEPT_SECONDS {
                self.mistakes.push(format!(
                    "a revoked token is forgotten {KEPT_SECONDS} seconds after it expires, but \
                     the leeway of the verifier is {} seconds",
                    finder.leeway_seconds
                ));
            }
            finder.revocations = Some(revocations);
        }
        if !has_tokens {
            let mistake =
                "revocations apply only to tokens: add them after Auth::secret or Auth::tokens";
            self.mistakes.push(mistake.to_owned());
        }
        self
    }

    /// Adds the methods of `other`, which are tried if the methods of `self`
    /// find no user. A user is required if either side requires one, unless
    /// [`required`](Self::required) is set afterwards.
    pub fn or(mut self, other: Self) -> Self {
        self.methods.extend(other.methods);
        self.required |= other.required;
        self.explains |= other.explains;
        self.protections.extend(other.protections);
        self.mistakes.extend(other.mistakes);
        self
    }

    /// Sets the scheme of the methods added so far: in the challenge of a 401,
    /// and before a token in `Authorization`. Default: `Bearer` for tokens.
    ///
    /// Scheme names are case-insensitive. Only `Bearer` also accepts a token
    /// without a scheme.
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
    /// An invalid scheme name is a configuration error, and so is a scheme for
    /// [`basic`](Self::basic), which RFC 7617 defines.
    ///
    /// # Beyond the spec
    /// The specification defines only `Bearer`.
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

    /// Sets the realm in the challenges of the methods added so far. A browser
    /// may show it. Quotes and control characters are removed. Default: the
    /// realm of [`basic`](Self::basic), otherwise none.
    pub fn realm(mut self, realm: &str) -> Self {
        for method in &mut self.methods {
            method.challenge = method.challenge.clone().with_realm(realm);
        }
        self
    }

    /// Sets how API documents describe the credentials of the methods added so
    /// far. It has no effect on requests. Default: a JSON Web Token for
    /// [`secret`](Self::secret) and [`tokens`](Self::tokens); the header, the
    /// cookie or Basic for methods that read these; a bearer token for
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
    /// The specification does not define API documents.
    pub fn documented_as(mut self, scheme: SecurityScheme) -> Self {
        for (method, scheme) in self.methods.iter_mut().zip(iter::repeat(scheme)) {
            method.scheme = scheme;
        }
        self
    }

    /// Names the user pool of the methods added so far. Users of the same pool
    /// with the same issuer and subject count as one user, whichever method
    /// found them: they share idempotency keys and a
    /// [`UserKey`](super::super::UserKey).
    ///
    /// Default: each method has its own pool. The pools differ by the kind of
    /// the method (token, session, API key, …), by the header or the kind of
    /// the session, and by the order of such methods in one `with_auth`.
    ///
    /// Set the same name on two methods if an account may use both, for example
    /// a session in a browser and an API key in a script. Set different names
    /// if two routes have functions of the same kind that find different users.
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

    /// Sets the longest time between two checks of a connection that outlives
    /// its request, for the methods added so far. Default: 15 s, and 5 minutes
    /// for [`basic`](Self::basic), because a password is expensive to check.
    ///
    /// A WebSocket, an event stream and a subscription end when their user's
    /// credentials stop being valid. A token ends them when it expires, and
    /// when its revocation arrives. A check finds every other change: the
    /// method runs again on a copy of the request without its body. If the
    /// check fails with a server error, the connection continues for up to 5
    /// minutes.
    ///
    /// A check must find the user again. A method that accepts credentials only
    /// once, such as a ticket in the query of a handshake, ends its connection
    /// at the first check: allow that route to outlive its user.
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
    /// The specification does not define when a connection ends.
    pub fn recheck_every(mut self, interval: Duration) -> Self {
        self.methods.iter_mut().for_each(|method| method.recheck = interval);
        self
    }

    /// Returns the same methods without the requirement of a user: an
    /// unauthenticated request continues. Borrows `self`, so one `Auth` serves
    /// both kinds of routes.
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
        /// Sets whether a request without a user gets a 401. Default: true. If
        /// false, the request continues without a user.
        required: bool;
    }
}
