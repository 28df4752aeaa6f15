//! [`Way`]: one way to find the user of a request, with its types erased.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use stockade_core::{BoxFuture, Request};
use stockade_errors::ApiError;

/// What a way finds.
pub(super) enum Found {
    /// The request carries nothing of this kind.
    Nothing,
    /// The header is there, and holds something of another kind, or nothing.
    Foreign,
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
pub(super) struct Way {
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

type FindNow = dyn Fn(&Request) -> Found + Send + Sync;
type FindLater = dyn for<'r> Fn(&'r mut Request) -> BoxFuture<'r, Found> + Send + Sync;

#[derive(Clone)]
pub(super) enum Find {
    Now(Arc<FindNow>),
    Later(Arc<FindLater>),
}

impl Way {
    pub(super) fn new(challenge: Challenge, find: Find) -> Self {
        Self { challenge, find }
    }

    /// Looks without waiting, if it can.
    pub(super) fn find_now(&self, req: &Request) -> Option<Found> {
        match &self.find {
            Find::Now(find) => Some(find(req)),
            Find::Later(_) => None,
        }
    }

    pub(super) async fn find(&self, req: &mut Request) -> Found {
        match &self.find {
            Find::Now(find) => find(req),
            Find::Later(find) => find(req).await,
        }
    }

    pub(super) fn waits(&self) -> bool {
        matches!(self.find, Find::Later(_))
    }
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Way({:?})", self.challenge)
    }
}
