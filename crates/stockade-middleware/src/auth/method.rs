//! [`AuthMethod`]: one type-erased authentication method.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stockade_auth::{Claims, RevocationStatus, Revocations, StalePolicy, UnixClock};
use stockade_core::description::{MethodInfo, ResponseDoc, SecurityScheme, UserMethod};
use stockade_core::{BoxFuture, Request, Response, RouteDescription};
use stockade_errors::ApiError;

use super::challenge::{Challenge, Scheme};
use super::recheck::{self, Expiry, Schedule};
use super::session::{CurrentSession, SessionCookie};

/// The result of an authentication method.
pub(super) enum AuthResult {
    /// The request does not have such credentials.
    Nothing,
    /// The header is empty or holds credentials of another scheme.
    OtherScheme,
    /// The credentials are invalid, or do not belong to a user.
    Invalid,
    /// The credentials must not be used for this request; the error for the
    /// response.
    Refused(ApiError),
    /// The function that authenticates the user failed; its response.
    Failed(Failed),
    User(Value),
    /// A user as JSON, and as a value if it has already been parsed.
    Json(String, Option<Value>),
    /// A valid token. Only the log of revocations can decide if it is revoked.
    Inconclusive(Box<Claims>),
}

impl AuthResult {
    /// Returns the result for a token with this status.
    pub(super) fn of_token(claims: Claims, status: RevocationStatus) -> Self {
        match status {
            RevocationStatus::NotRevoked => {
                let (json, value) = claims.into_parts();
                Self::Json(json, value)
            }
            RevocationStatus::Revoked => Self::Invalid,
            RevocationStatus::Inconclusive => Self::Inconclusive(Box::new(claims)),
            // An unknown status must not accept a token.
            _ => Self::unknown_token(),
        }
    }

    /// Returns the result for a token with an unknown revocation status.
    #[cold]
    pub(super) fn unknown_token() -> Self {
        let message = "the revocation status of the token is unknown";
        let error = ApiError::new(503, message).with_header("Retry-After", "1");
        Self::Failed(Err(error))
    }
}

/// The response to a failure: a response that is sent unchanged, or an error.
pub(super) type Failed = Result<Box<Response>, ApiError>;

#[derive(Clone)]
pub(super) struct AuthMethod {
    /// The value of `WWW-Authenticate`.
    pub(super) challenge: Challenge,
    /// The location of its credentials, for API documents.
    pub(super) scheme: SecurityScheme,
    /// Its strictness, for route maps. Shared, because connections clone the
    /// method.
    pub(super) info: Arc<MethodInfo>,
    find: Find,
    /// Describes the requirements of the function's arguments.
    needs: fn(&mut RouteDescription),
    /// Describes the errors of the function.
    describe: fn(&mut RouteDescription),
    /// The cookie of the method, if it uses sessions.
    pub(super) session: Option<Arc<SessionCookie>>,
    /// The users that the method finds.
    pool: UserPool,
    /// The same users as JSON, for the requests that the method authenticates.
    origin: Arc<str>,
    /// The time until a connection's credentials are checked again.
    pub(super) recheck: Duration,
}

/// The users that a method finds. Two methods never share a user by accident,
/// even if their users have the same name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum UserPool {
    /// The users of one kind of method, such as API keys, and of one header,
    /// cookie or session kind.
    Method { kind: &'static str, detail: String },
    /// A pool that the application named.
    Named(String),
}

impl UserPool {
    pub(super) fn of(kind: &'static str) -> Self {
        Self::Method { kind, detail: String::new() }
    }

    pub(super) fn with_detail(kind: &'static str, detail: &str) -> Self {
        Self::Method { kind, detail: detail.to_owned() }
    }

    /// Returns the pool as JSON. `number` counts the methods of one `with_auth`
    /// with the same kind and detail, because their users differ too.
    fn origin(&self, number: usize) -> Arc<str> {
        let json = match self {
            Self::Method { kind, detail } => json!([kind, detail, number]),
            Self::Named(name) => json!([name]),
        };
        json.to_string().into()
    }
}

type FindSync = dyn Fn(&Request, &Scheme) -> AuthResult + Send + Sync;
type VerifyToken = dyn Fn(&Request, &Scheme) -> Result<Claims, AuthResult> + Send + Sync;
type FindAsync =
    dyn for<'r> Fn(&'r mut Request, &'r Scheme) -> BoxFuture<'r, AuthResult> + Send + Sync;

#[derive(Clone)]
pub(super) enum Find {
    Sync(Arc<FindSync>),
    /// Finds the user in the claims of a token.
    Token(Box<TokenFinder>),
    Async(Arc<FindAsync>),
}

/// The function of a token method, with its revocations.
#[derive(Clone)]
pub(super) struct TokenFinder {
    pub(super) verify: Arc<VerifyToken>,
    /// The leeway of the verifier.
    pub(super) leeway_seconds: u64,
    /// The clock of the verifier.
    pub(super) clock: UnixClock,
    pub(super) revocations: Option<Revocations>,
}

impl AuthMethod {
    pub(super) fn new(challenge: Challenge, find: Find) -> Self {
        let scheme = SecurityScheme::bearer();
        let pool = UserPool::of("function");
        let origin = pool.origin(0);
        Self {
            challenge,
            scheme,
            info: Arc::default(),
            find,
            needs: |_| {},
            describe: |_| {},
            session: None,
            pool,
            origin,
            recheck: recheck::INTERVAL,
        }
    }

    /// Sets the users that the method finds.
    pub(super) fn set_pool(&mut self, pool: UserPool) {
        self.origin = pool.origin(0);
        self.pool = pool;
    }

    /// Sets the origin of each method. Methods with the same pool get different
    /// numbers, unless the application named the pool.
    pub(super) fn number_origins(methods: &mut [Self]) {
        for index in 0..methods.len() {
            let (earlier, rest) = methods.split_at_mut(index);
            let Some(method) = rest.first_mut() else { return };
            let number = earlier.iter().filter(|earlier| earlier.pool == method.pool).count();
            method.origin = method.pool.origin(number);
        }
    }

    /// Sets the description of the arguments of the function.
    pub(super) fn needing(self, needs: fn(&mut RouteDescription)) -> Self {
        Self { needs, ..self }
    }

    /// Sets the description of the errors of the function.
    pub(super) fn describing(self, describe: fn(&mut RouteDescription)) -> Self {
        Self { describe, ..self }
    }

    /// Records on a request that this method found its user.
    pub(super) fn found(&self, req: &mut Request) {
        req.set_user_origin(Arc::clone(&self.origin));
        if let Some(cookie) = &self.session {
            CurrentSession::note(cookie, &self.origin, req);
        }
    }

    /// Returns the method for the description of a route.
    pub(super) fn documented(&self, doc: &RouteDescription) -> UserMethod {
        let mut info = MethodInfo::clone(&self.info);
        let protection = self.session.as_ref().and_then(|session| session.protection());
        info.cross_origin = protection.and_then(|protection| protection.info(doc));
        info.recheck_ms = Some(recheck::millis(self.recheck));
        let method = UserMethod::new(self.scheme.clone()).info(info);
        method.challenge(self.challenge.as_str().to_owned())
    }

    pub(super) fn describe(&self, doc: &mut RouteDescription) {
        self.describe_needs(doc);
        (self.describe)(doc);
        if let Find::Token(finder) = &self.find
            && let Some(revocations) = &finder.revocations
            && matches!(revocations.stale_policy(), Some(StalePolicy::Refuse { .. }))
        {
            doc.responds(
                ResponseDoc::error(503).meaning("The revocation status of the token is unknown"),
            );
        }
    }

    /// Describes only the arguments of the function.
    pub(super) fn describe_needs(&self, doc: &mut RouteDescription) {
        (self.needs)(doc);
    }

    /// Returns the function of a token method.
    pub(super) fn token_finder(&mut self) -> Option<&mut TokenFinder> {
        match &mut self.find {
            Find::Token(finder) => Some(finder),
            Find::Sync(_) | Find::Async(_) => None,
        }
    }

    /// Calls the function if it is synchronous.
    pub(super) fn find_sync(&self, req: &Request) -> Option<AuthResult> {
        let scheme = self.challenge.scheme();
        match &self.find {
            Find::Sync(find) => Some(find(req, scheme)),
            Find::Token(finder) => Some(finder.find(req, scheme)),
            Find::Async(_) => None,
        }
    }

    pub(super) async fn find(&self, req: &mut Request) -> AuthResult {
        if let Find::Async(find) = &self.find {
            return find(req, self.challenge.scheme()).await;
        }
        let found = self.find_sync(req).unwrap_or(AuthResult::Nothing);
        if let AuthResult::Inconclusive(claims) = found {
            let Some(revocations) = self.asked() else { return AuthResult::unknown_token() };
            let status = revocations.check_or_query(&claims).await;
            return match AuthResult::of_token(*claims, status) {
                AuthResult::Inconclusive(_) => AuthResult::unknown_token(),
                found => found,
            };
        }
        found
    }

    /// Returns the schedule of the credential checks for a request.
    pub(super) fn schedule(&self, req: &Request) -> Schedule {
        let mut schedule =
            Schedule { interval: self.recheck, expiry: None, revocation: None, is_due: false };
        let Find::Token(finder) = &self.find else {
            // The function may have verified a token and returned its claims as
            // the user.
            let expires_at = req.user().and_then(|user| user.get("exp")?.as_u64());
            schedule.expiry = expires_at.map(|at| Expiry::new(at, 0, UnixClock::default()));
            return schedule;
        };
        let Ok(claims) = (finder.verify)(req, self.challenge.scheme()) else {
            // It has expired since the request was authenticated.
            schedule.is_due = true;
            return schedule;
        };
        let expiry = |at| Expiry::new(at, finder.leeway_seconds, finder.clock.clone());
        schedule.expiry = claims.expires_at().map(expiry);
        if let Some(revocations) = &finder.revocations {
            schedule.revocation = Some(revocations.watch(&claims));
            // A revocation that arrived before the watch does not wake it.
            schedule.is_due = revocations.check(&claims) != RevocationStatus::NotRevoked;
        }
        schedule
    }

    /// Returns the revocations with a log that can be queried.
    fn asked(&self) -> Option<&Revocations> {
        match &self.find {
            Find::Token(finder) => finder.revocations.as_ref().filter(|it| it.can_query()),
            Find::Sync(_) | Find::Async(_) => None,
        }
    }

    /// Returns true if the method may have to wait.
    pub(super) fn is_async(&self) -> bool {
        matches!(self.find, Find::Async(_)) || self.asked().is_some()
    }
}

impl TokenFinder {
    fn find(&self, req: &Request, scheme: &Scheme) -> AuthResult {
        match (self.verify)(req, scheme) {
            Ok(claims) => {
                let status =
                    self.revocations.as_ref().map(|revocations| revocations.check(&claims));
                AuthResult::of_token(claims, status.unwrap_or(RevocationStatus::NotRevoked))
            }
            Err(found) => found,
        }
    }
}

impl fmt::Debug for AuthMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthMethod({:?})", self.challenge)
    }
}
