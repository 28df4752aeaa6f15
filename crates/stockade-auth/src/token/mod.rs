//! JSON web tokens: issuing and verifying.
//!
//! - `expiry`: the `expiresIn` notation.
//! - `clock`: the clock.
//! - `issue`: [`generate_jwt`] and [`TokenIssuer`].
//! - `verify`: [`verify_token`] and [`TokenVerifier`], the hot path.
//! - `bearer`: the token in an `Authorization` value.
//! - `compact`: the parts of a token; `header`: the rules for its header.
//! - `keys`: the keys that verify and sign; `algorithm`: the names of the
//!   algorithms.
//! - `claims`: [`Claims`]; `json`: objects without duplicate names; `marks`:
//!   the positions of the claims that identify a revocation.
//! - `rules`: the rules of a verifier, for descriptions.
// Spec: Authentication › Token functions.

mod algorithm;
mod bearer;
mod claims;
mod clock;
mod compact;
mod error;
mod expiry;
mod header;
mod issue;
mod json;
mod keys;
mod marks;
mod payload;
mod rules;
mod verify;

#[cfg(feature = "jwks")]
pub(crate) use algorithm::AlgorithmSet;
pub(crate) use algorithm::HmacHash;
pub use algorithm::TokenAlgorithm;
pub use bearer::bearer_token;
pub use claims::Claims;
pub use clock::UnixClock;
pub(crate) use compact::Compact;
pub use error::{IssueError, TokenError};
pub use expiry::{ExpiresIn, IntoExpiresIn};
#[cfg(feature = "jwks")]
pub(crate) use header::Header;
pub use issue::{TokenIssuer, generate_jwt};
#[cfg(feature = "jwks")]
pub(crate) use keys::SealedKeys;
pub(crate) use keys::find_signer;
pub use keys::{SigningKeys, TokenKeys};
pub use rules::VerifierRules;
pub use verify::{TokenVerifier, verify_token, verify_token_as};

/// The maximum length of a token that is issued or verified, in bytes without
/// `Bearer `: 16 KiB (16,384), inclusive.
pub const MAX_TOKEN_LENGTH: usize = 16_384;
