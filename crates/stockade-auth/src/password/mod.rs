//! Password hashing and verification.
//!
//! - `hash`: [`hash_password`], [`hash_password_with`], [`verify_password`],
//!   [`needs_rehash`].
//! - `hasher`: [`PasswordHasher`], the same functions at a fixed cost.
//! - `cost`: [`PasswordCost`].
//! - `password_hash`: parses and writes the three formats of a stored hash.
//! - `derive`: PBKDF2 and Argon2id.
// Spec: Authentication › Password functions.

mod cost;
mod derive;
mod error;
mod hash;
mod hasher;
mod password_hash;

pub use cost::PasswordCost;
pub use error::PasswordError;
pub use hash::{hash_password, hash_password_with, needs_rehash, verify_password};
pub use hasher::PasswordHasher;
