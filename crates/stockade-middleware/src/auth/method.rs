//! [`AuthMethod`]: one method of authentication, with its types erased.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use stockade_core::{BoxFuture, Request};
use stockade_errors::ApiError;

/// The finding of a method.
pub(super) enum Found {
    /// The request has no such credentials.
    Nothing,
    /// The header holds credentials of another scheme, or nothing.
    OtherScheme,
    /// The credentials are invalid, or there is no user for them.
    Invalid,
    /// The credentials must not be used for this request; the error to answer.
    Refused(ApiError),
    User(Value),
    /// A user as JSON, and as a value if it was parsed before.
    Json(String, Option<Value>),
}

impl Found {
    /// Makes the finding of a lookup, which runs if there are credentials.
    pub(super) fn of(user: Option<Value>) -> Self {
        user.map_or(Self::Invalid, Self::User)
    }
}

#[derive(Clone)]
pub(super) struct AuthMethod {
    /// The value of `WWW-Authenticate`.
    pub(super) challenge: Challenge,
    find: Find,
}

#[derive(Clone, Debug)]
pub(super) enum Challenge {
    Bearer,
    Other(Arc<str>),
}

impl Challenge {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Bearer => "Bearer",
            Self::Other(challenge) => challenge,
        }
    }
}

type FindSync = dyn Fn(&Request) -> Found + Send + Sync;
type FindAsync = dyn for<'r> Fn(&'r mut Request) -> BoxFuture<'r, Found> + Send + Sync;

#[derive(Clone)]
pub(super) enum Find {
    Sync(Arc<FindSync>),
    Async(Arc<FindAsync>),
}

impl AuthMethod {
    pub(super) fn new(challenge: Challenge, find: Find) -> Self {
        Self { challenge, find }
    }

    /// Calls the function if it is synchronous.
    pub(super) fn find_sync(&self, req: &Request) -> Option<Found> {
        match &self.find {
            Find::Sync(find) => Some(find(req)),
            Find::Async(_) => None,
        }
    }

    pub(super) async fn find(&self, req: &mut Request) -> Found {
        match &self.find {
            Find::Sync(find) => find(req),
            Find::Async(find) => find(req).await,
        }
    }

    pub(super) fn is_async(&self) -> bool {
        matches!(self.find, Find::Async(_))
    }
}

impl fmt::Debug for AuthMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthMethod({:?})", self.challenge)
    }
}
