//! Idempotency keys: a request that a client sends again runs only once.
//!
//! [`with_idempotency`] is the middleware and [`Idempotency`] contains its
//! options. Keys and responses are in an [`IdempotencyStore`], such as the
//! in-memory [`MemoryIdempotencyStore`]. [`IdempotencyKey`] is the key as a
//! handler argument. `book/src/how-to/idempotency.md` has a complete example.
//!
//! Source: draft-ietf-httpapi-idempotency-key-header-07.

// Files:
// - `key`: the header, `IdempotencyKey`, and `ScopedKey` with its owner.
// - `options`: `Idempotency`.
// - `with_idempotency`: the order of the decisions.
// - `place`: the place of a key while its handler runs: lease, response,
//   release.
// - `record`: responses as bytes.
// - `store`, `memory`: the store trait and the in-memory store.

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
