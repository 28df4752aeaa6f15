//! [`OwnLimit`]: what a route says of rate limits.

use super::{Quota, RateLimit};

/// What a route says of rate limits: a [`Quota`] or a [`RateLimit`] of its own,
/// or whether the router's is charged.
#[derive(Clone, Debug, Default)]
pub enum OwnLimit {
    /// Only the limit of the router: `true`.
    #[default]
    Router,
    /// No limit at all: `false`.
    Exempt,
    /// One of its own, beside that of the router.
    Beside(Box<RateLimit>),
}

impl From<bool> for OwnLimit {
    fn from(limited: bool) -> Self {
        if limited { Self::Router } else { Self::Exempt }
    }
}

impl From<RateLimit> for OwnLimit {
    fn from(limit: RateLimit) -> Self {
        Self::Beside(Box::new(limit))
    }
}

impl From<Quota> for OwnLimit {
    fn from(quota: Quota) -> Self {
        RateLimit::from(quota).into()
    }
}
