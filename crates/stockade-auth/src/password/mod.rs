//! Passwords: hashing them, and checking them against what was stored.
//!
//! - `hash`: [`hash_password`], [`hash_password_with`], [`verify_password`],
//!   [`needs_rehash`].
//! - `hasher`: [`PasswordHasher`], the same as one value.
//! - `cost`: [`PasswordCost`].
//! - `password_hash`: the three formats of a stored hash, read and written.
//! - `derive`: the functions themselves.
//!
//! Spec: Authentication › Password functions.

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
