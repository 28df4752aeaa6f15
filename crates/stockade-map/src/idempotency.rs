//! [`IdempotencyInfo`]: the idempotency keys of a route.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The options of the idempotency keys that prevent a route from running a
/// retried request again.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IdempotencyInfo {
    /// True if a request without a key is rejected.
    pub required: bool,
    /// The time in milliseconds for which a handler holds its key without
    /// renewing it.
    pub lease_ms: u64,
    /// The time in milliseconds for which a response is stored.
    pub ttl_ms: u64,
    /// True if a retry is rejected after its handler was interrupted. Otherwise
    /// the handler runs again.
    pub refuses_after_crash: bool,
    /// True if requests run without protection while the store is down.
    pub passes_outage: bool,
    /// True if a function of the program determines the owner of a key, instead
    /// of the user or the address of the client.
    pub own_scope: bool,
    /// True if keys without quotes are accepted.
    #[serde(default, skip_serializing_if = "is_off")]
    pub unquoted_keys: bool,
    /// True if a retry runs the handler again after a response with a status of 500 or more.
    #[serde(default, skip_serializing_if = "is_off")]
    pub repeats_errors: bool,
}

/// Skips a setting that is off, so older locks without the setting do not
/// change.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_off(setting: &bool) -> bool {
    !setting
}

impl IdempotencyInfo {
    /// Describes keys with the default behavior: requests are rejected while
    /// the store is down, and run again after a crash. A key belongs to the
    /// user or the client.
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
