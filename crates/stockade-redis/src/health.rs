//! [`Health`]: the state of a link.

use std::time::{Duration, SystemTime};

use stockade_stages::health::HealthCheck;

use crate::link::Redis;

/// The state of the link to an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Health {
    /// The engine answers.
    Up,
    /// There is no connection, or no answer comes in time.
    Down {
        /// The time at which the link was lost, or was opened and not yet made.
        since: SystemTime,
        /// The last error, without secrets.
        error: String,
    },
}

impl Health {
    /// Returns true if the engine answers.
    #[must_use]
    pub fn is_up(&self) -> bool {
        matches!(self, Self::Up)
    }
}

/// The link, as a [`Readiness`](stockade_stages::health::Readiness) watches it:
/// `Readiness::new().watching("redis", redis.clone())`.
impl HealthCheck for Redis {
    fn down_for(&self) -> Option<Duration> {
        match self.health() {
            Health::Up => None,
            Health::Down { since, .. } => Some(since.elapsed().unwrap_or_default()),
        }
    }
}
