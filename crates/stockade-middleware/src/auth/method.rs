//! [`AuthMethod`]: one method to find the user of a request, with its types erased.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use stockade_core::{BoxFuture, Request};
use stockade_errors::ApiError;

/// What a method finds.
pub(super) enum Found {
    /// The request carries nothing of this kind.
    Nothing,
    /// The header is there, and holds something of another kind, or nothing.
    OtherScheme,
    /// It carries something of this kind, and there is no user for it.
    Invalid,
    /// It carries something of this kind, which may not be used here: the error.
    Refused(ApiError),
    User(Value),
    /// A user as JSON that can be read, and what it says if it was.
    Json(String, Option<Value>),
}

impl Found {
    /// The user of something that was there.
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

    /// Looks without waiting, if it can.
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
