//! [`WebhookError`]: the reasons to reject a signed request.

use std::error::Error;
use std::fmt;

/// The reason why the signature of a request is not valid.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum WebhookError {
    /// A header of the signature is missing.
    Missing(&'static str),
    /// A header of the signature is malformed, or does not contain a signature
    /// in a supported version.
    Malformed(&'static str),
    /// The signed time is too far from the clock.
    Time,
    /// No key matches: the secret or the body is another one.
    Wrong,
}

impl fmt::Display for WebhookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(header) => write!(f, "The signature header {header} is missing"),
            Self::Malformed(header) => write!(f, "The signature header {header} is malformed"),
            Self::Time => f.write_str("The signature is too old, or its time is in the future"),
            Self::Wrong => f.write_str("The signature does not match the body"),
        }
    }
}

impl Error for WebhookError {}
