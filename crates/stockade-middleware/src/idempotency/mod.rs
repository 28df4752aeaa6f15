//! Idempotency keys: a client sends a request again, and it runs once.
//!
//! [`with_idempotency`] is the middleware and [`Idempotency`] its options. Keys and
//! answers lie in an [`IdempotencyStore`]; the one in memory is
//! [`MemoryIdempotencyStore`]. [`IdempotencyKey`] is the key as an argument of a
//! handler. The guide is the page `idempotency_keys` of the crate `stockade`.
//!
//! Source: draft-ietf-httpapi-idempotency-key-header-07.

// Where things are:
// - `key`: the header, `IdempotencyKey`, and `ScopedKey`, whose it is.
// - `options`: `Idempotency`.
// - `with_idempotency`: the order of the decisions.
// - `place`: the place of a key while its handler runs: lease, answer, give-back.
// - `record`: answers as bytes.
// - `store`, `memory`: the trait of a store, and the one in memory.

mod key;
mod memory;
mod options;
mod place;
mod record;
mod store;
mod with_idempotency;

pub use key::{IdempotencyKey, ScopedKey};
pub use memory::MemoryIdempotencyStore;
pub use options::{Idempotency, OnAbandoned, OnStoreError};
pub use store::{IdempotencyStore, Nonce, Reservation, ReserveOutcome, SHORT_RECORD_BYTES};
pub use with_idempotency::with_idempotency;
