//! [`IdempotencyInfo`]: the idempotency keys of a route.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The idempotency keys by which the requests of a route run once.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IdempotencyInfo {
    /// True if a request without a key is refused.
    pub required: bool,
    /// The time in milliseconds for which a handler holds its key without renewing
    /// it.
    pub lease_ms: u64,
    /// The time in milliseconds for which an answer is kept.
    pub ttl_ms: u64,
    /// True if a key whose handler was dropped in the middle is refused, and false
    /// if its handler runs again.
    pub refuses_after_crash: bool,
    /// True if requests run without protection while the store is down.
    pub passes_outage: bool,
    /// True if a function of the program tells whose key it is, and not the user
    /// or the address of the client.
    pub own_scope: bool,
    /// True if keys without quotes are accepted.
    #[serde(default, skip_serializing_if = "is_off")]
    pub unquoted_keys: bool,
    /// True if a retry runs the handler again after a response with a status of 500 or more.
    #[serde(default, skip_serializing_if = "is_off")]
    pub repeats_errors: bool,
}

/// Older locks do not have the setting. Without the field, they stay as they are.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_off(setting: &bool) -> bool {
    !setting
}

impl IdempotencyInfo {
    /// Describes keys that are rejected while the store is down, run again after a crash,
    /// and belong to the user or the client.
    #[must_use]
    pub fn new(required: bool, lease: Duration, ttl: Duration) -> Self {
        Self {
            required,
            lease_ms: millis(lease),
            ttl_ms: millis(ttl),
            refuses_after_crash: false,
            passes_outage: false,
            own_scope: false,
            unquoted_keys: false,
            repeats_errors: false,
        }
    }
}

/// Returns a time in milliseconds.
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    // No limit is longer than 584 million years.
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
