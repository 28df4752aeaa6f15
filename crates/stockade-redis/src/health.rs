//! The state of the link to a Redis server.

use std::time::{Duration, SystemTime};

use stockade_stages::health::HealthCheck;

use crate::link::Redis;

/// The state of the link to a Redis server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Health {
    /// The server responds.
    Up,
    /// The link is not connected, or the server does not respond in time.
    Down {
        /// The time when the link was lost, or when it was opened if it has
        /// never connected.
        since: SystemTime,
        /// The last error, without secrets.
        error: String,
    },
}

impl Health {
    /// Returns true if the server responds.
    #[must_use]
    pub fn is_up(&self) -> bool {
        matches!(self, Self::Up)
    }
}

/// Makes the link a health check for
/// [`Readiness`](stockade_stages::health::Readiness):
/// `Readiness::new().watching("redis", redis.clone())`.
impl HealthCheck for Redis {
    fn down_for(&self) -> Option<Duration> {
        match self.health() {
            Health::Up => None,
            Health::Down { since, .. } => Some(since.elapsed().unwrap_or_default()),
        }
    }
}
