//! Tokens of other issuers: asymmetric keys and JWK sets.
//!
//! - `key`: one public key, and the algorithms that it is for.
//! - `set`: [`JwkSet`]; `source`: [`JwkSource`], a set that is refreshed.
//! - `unknown`: warnings of keys with an unknown type, curve or algorithm.
//!
//! The types of the documents come from `jsonwebtoken`. Its cryptography is never called, because that needs a
//! provider for the whole process and panics without one: ring verifies the
//! signatures.

mod key;
mod set;
mod source;
mod unknown;

pub use set::{JwkSet, MAX_KEYS};
pub use source::JwkSource;
