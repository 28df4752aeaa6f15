//! [`IdempotencyStore`]: the store of idempotency keys and responses.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stockade_core::BoxFuture;
use stockade_errors::StoreError;

use super::key::ScopedKey;

/// A store of idempotency keys, in memory or external for several processes.
///
/// Each key has a place. A request reserves it with a nonce, holds it while its
/// handler runs, and leaves its response there. Each call is atomic: of any
/// number of simultaneous [`take`](Self::take) calls for a key, exactly one
/// returns [`ReserveOutcome::New`].
///
/// A call may be repeated with the same nonce, because an external store may
/// have executed a call without confirming it. Times are durations, measured
/// with the clock of the store. An [`Arc`] of a store is a store.
pub trait IdempotencyStore: Send + Sync {
    /// Reserves the place of `key` if it is empty or has expired.
    ///
    /// The fingerprint is compared first: a different one is
    /// [`ReserveOutcome::OtherFingerprint`], whatever the state of the place.
    /// The nonce that already holds the place gets [`ReserveOutcome::New`]
    /// again, with a new lease.
    ///
    /// # Errors
    /// Fails if the store is unavailable or too full for a new key.
    fn take<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>>;

    /// Restarts the lease of a place with the times of the claim. Returns
    /// false, and does nothing, if another nonce holds the place, if no nonce
    /// does, or if it has a record.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    fn renew<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Puts the record into a place for `ttl`. Returns false, and does nothing,
    /// if another nonce holds the place or no nonce does. Returns true again
    /// for the nonce that has completed it.
    ///
    /// # Errors
    /// Fails if the store is unavailable or too full for the record. A reserved
    /// place must always have room for a record of up to
    /// [`SHORT_RECORD_BYTES`].
    fn complete<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Empties the place of a running handler. Returns false, and does nothing,
    /// if another nonce holds the place, if no nonce does, or if it has a
    /// record.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    fn free<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;
}

/// The length of the longest record for a response that is not stored, in
/// bytes.
pub const SHORT_RECORD_BYTES: usize = 16;

/// Sixteen random bytes that identify one attempt at a key.
pub type Nonce = [u8; 16];

/// The conditions of a reservation.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// The SHA-256 of the request's path, query, content type and body.
    pub fingerprint: [u8; 32],
    /// The new owner of the place.
    pub nonce: Nonce,
    /// The time until the reservation expires if it is neither renewed nor
    /// completed.
    pub lease: Duration,
    /// The time, from each renewal on, for which a place with an expired lease
    /// is remembered as [`ReserveOutcome::Crashed`]. With `None`, the place is
    /// then empty.
    pub remember_crash: Option<Duration>,
}

/// The result of [`IdempotencyStore::take`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReserveOutcome {
    /// The place was empty and is now reserved: the handler runs.
    New,
    /// Another request holds the place.
    Running,
    /// The lease of an earlier request expired, and its claim requires
    /// remembering that.
    Crashed,
    /// The record of an earlier request.
    Done(Bytes),
    /// The key belongs to a request with another fingerprint.
    OtherFingerprint,
}

impl<S: IdempotencyStore + ?Sized> IdempotencyStore for Arc<S> {
    fn take<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>> {
        (**self).take(key, claim)
    }

    fn renew<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).renew(key, claim)
    }

    fn complete<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).complete(key, nonce, record, ttl)
    }

    fn free<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).free(key, nonce)
    }
}
