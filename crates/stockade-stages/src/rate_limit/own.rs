//! [`OwnLimit`]: the rate limit of a route.

use super::{Quota, RateLimit};

/// The rate limit of a route: a [`Quota`] or a [`RateLimit`] of its own, or
/// `true` or `false` for that of the router.
#[derive(Clone, Debug, Default)]
pub enum OwnLimit {
    /// The limit of the router alone: `true`.
    #[default]
    Router,
    /// No limit at all: `false`.
    Exempt,
    /// A limit of its own, beside that of the router.
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
