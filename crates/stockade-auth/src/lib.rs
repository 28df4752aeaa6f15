//! Authentication by tokens, passwords, API keys and signed session ids. Does
//! not depend on HTTP or an async runtime.
//!
//! ```
//! use serde_json::json;
//! use stockade_auth::{PasswordHasher, Secret, generate_jwt, verify_token};
//!
//! let hasher = PasswordHasher::recommended();
//! let stored = hasher.hash("correct horse")?;
//! assert!(hasher.verify("correct horse", &stored));
//!
//! let secret = Secret::new("a secret of thirty-two bytes or more")?;
//! let token = generate_jwt(json!({ "sub": "7", "role": "admin" }), "1h", &secret)?;
//! let claims = verify_token(&format!("Bearer {token}"), &secret).ok_or("not valid")?;
//! assert_eq!(claims["role"], "admin");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! | Task | API |
//! |---|---|
//! | create and verify tokens (HS256) | [`Secret`], [`generate_jwt`], [`verify_token`] |
//! | use HS384 or HS512 | [`TokenIssuer::algorithm`], [`TokenVerifier::algorithms`] |
//! | read the token in `Authorization` | [`bearer_token`] |
//! | rotate a secret | [`KeyRing`] |
//! | require an issuer, an audience or a short life, allow a leeway, get the reason | [`TokenVerifier`] |
//! | reject tokens before they expire | [`Revocations`] |
//! | accept tokens of another issuer (feature `jwks`) | `JwkSet`, `JwkSource` |
//! | generate a random text | [`generate_token`] |
//! | store passwords (PBKDF2; the feature `argon2` adds Argon2id and is also required to verify it) | [`PasswordHasher`] |
//! | choose their cost | [`PasswordCost`], [`hash_password_with`], [`needs_rehash`] |
//! | store them in the format of the specification, at a cost that is outdated | [`hash_password`], [`verify_password`] |
//! | issue API keys | [`ApiKey`], [`ApiKeyHash`] |
//! | sign session ids | [`SessionId`], [`SessionKeys`] |
//! | read `Authorization: Basic` | [`BasicCredentials`] |
//! | verify the signatures of webhooks | [`webhooks::WebhookKeys`] |
//!
//! # Guarantees
//!
//! Secrets, keys and passwords are never printed. Signatures and hashes are
//! compared in constant time. No input makes this crate panic. A [`Secret`]
//! uses only HMAC (HS256 by default), and a JWK set uses only asymmetric
//! algorithms.
//!
//! # Beyond the specification
//!
//! The crate decides these points, which the specification leaves open:
//!
//! - A time in a token is a number from 0 to 2^53 - 1; fractions are ignored.
//!   Any other value, including null, makes the token malformed. `generate_jwt`
//!   also rejects such an `nbf`, and claims that are nested more deeply than
//!   `verify_token` accepts.
//! - `TokenIssuer` adds the private claim `iat_ms`, the time of issue in
//!   milliseconds. `Revocations::revoke_before` uses it to distinguish tokens
//!   issued in the same second. The claim counts only within the second of
//!   `iat`. `generate_jwt` adds only `iat` and `exp`.
//! - The `kid` of a token does not select a secret: every secret of a ring is
//!   tried.
//! - A `JwkSource` never fetches during verification. No request waits for
//!   another server, and forged tokens cause no fetches. The source reports
//!   that it needs a refresh, and the program fetches.
//! - A revoked token without `jti` is identified by its payload, so the
//!   revocation covers other signatures of the same claims.
//! - The crate agrees with 36 of Wycheproof's 40 cases for HS256. Cases 367 and
//!   370 are the same text as the valid case 357. Cases 372 and 373 expect the
//!   verifier to skip a character that base64url does not contain.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Authentication.

// Modules:
// - `secret`: `Secret`, `KeyRing`; `random`: `generate_token`.
// - `token`: issuing and verifying tokens; `verify` in it is the hot path.
// - `jwks`: public keys of other issuers.
// - `revocations`: `Revocations`; `table` in it is the hot path.
// - `password`, `api_key`, `session`, `basic`, `webhooks`.

mod api_key;
mod base64url;
mod basic;
#[cfg(feature = "jwks")]
mod jwks;
mod password;
mod random;
mod revocations;
mod secret;
mod session;
mod token;
pub mod webhooks;

pub use api_key::{ApiKey, ApiKeyError, ApiKeyHash, ApiKeyHashError};
pub use basic::BasicCredentials;
#[cfg(feature = "jwks")]
pub use jwks::{JwkSet, JwkSource, MAX_KEYS};
pub use password::{
    PasswordCost, PasswordError, PasswordHasher, hash_password, hash_password_with, needs_rehash,
    verify_password,
};
pub use random::{DEFAULT_TOKEN_BYTES, MAX_TOKEN_BYTES, RandomError, generate_token};
pub use revocations::{
    PublishFuture, QueryFuture, Revocation, RevocationFeed, RevocationKey, RevocationLog,
    RevocationStatus, RevocationWatch, Revocations, RevokeError, StalePolicy,
};
pub use secret::{KeyRing, Secret};
pub use session::{SessionId, SessionIdError, SessionKeys};
pub use token::{
    Claims, ExpiresIn, IntoExpiresIn, IssueError, MAX_TOKEN_LENGTH, SigningKeys, TokenAlgorithm,
    TokenError, TokenIssuer, TokenKeys, TokenVerifier, UnixClock, bearer_token, generate_jwt,
    verify_token, verify_token_as,
};

/// The log target of this crate.
const LOG_TARGET: &str = "stockade::auth";

#[doc(hidden)]
pub mod verifier_internals {
    pub use super::token::VerifierRules;
}

#[doc(hidden)]
pub mod revocations_internals {
    pub use super::revocations::KEPT_SECONDS;
}

/// The examples of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the crate's chapter in the book.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/how-to/auth-only.md")]
struct Chapter;
