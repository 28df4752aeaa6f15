//! Tokens of other issuers: asymmetric keys and JWK sets.
//!
//! - `key`: one public key and its algorithms.
//! - `set`: [`JwkSet`]; `source`: [`JwkSource`], a set that is refreshed.
//! - `unknown`: warnings about keys with an unknown type, curve or algorithm.
//!
//! The document types come from `jsonwebtoken`. Its cryptography is never
//! called, because it needs a process-wide provider and panics without one;
//! ring verifies the signatures.

mod key;
mod set;
mod source;
mod unknown;

pub use set::{JwkSet, MAX_KEYS};
pub use source::JwkSource;
