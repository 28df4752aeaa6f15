//! [`SignatureInfo`]: the signature that the requests of a route must have.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::idempotency::millis;

/// The signature that a route verifies before its handler runs.
///
/// The extractor `Signed` describes itself with it. An extractor of the
/// application does so with `RouteDescription::verifies_signature`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SignatureInfo {
    /// The name of the sender, such as `stripe`.
    pub sender: String,
    /// The format of the headers: `github`, `stripe` or `standard-webhooks`, or
    /// a name of the application.
    pub format: String,
    /// The maximum age of a signature in milliseconds. `None` if the format
    /// does not sign a time, so a recorded request is valid forever.
    pub max_age_ms: Option<u64>,
}

impl SignatureInfo {
    /// Describes a signature without a time.
    #[must_use]
    pub fn new(sender: impl Into<String>, format: impl Into<String>) -> Self {
        Self { sender: sender.into(), format: format.into(), max_age_ms: None }
    }

    /// Sets the maximum age of a signature.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age_ms = Some(millis(max_age));
        self
    }
}
