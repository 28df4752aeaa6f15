//! [`IdempotencyStore`]: the place where keys and answers are kept.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stockade_core::BoxFuture;
use stockade_errors::StoreError;

use super::key::ScopedKey;

/// A store of idempotency keys: in memory, or outside for several processes.
///
/// A key has a place. A request takes it by a nonce, keeps it while its handler
/// runs, and leaves its answer there. Each call is one step: of any number of
/// simultaneous [`take`](Self::take) of a key exactly one is [`ReserveOutcome::New`].
///
/// A call may be repeated with the same nonce, because a store outside may have
/// done what it could not confirm. Times are given as durations, and the clock is
/// that of the store. An [`Arc`] of a store is a store.
pub trait IdempotencyStore: Send + Sync {
    /// Takes the place of `key`, if it is empty or its time is over.
    ///
    /// The fingerprint is compared first: another one is
    /// [`ReserveOutcome::OtherFingerprint`], whatever the state of the place is. The nonce
    /// that already holds the place gets [`ReserveOutcome::New`] again, with a new lease.
    ///
    /// # Errors
    /// Fails when the store cannot be asked, or has no room for a new key.
    fn take<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>>;

    /// Begins the lease of a place anew, by the times of the claim. Returns false, and
    /// does nothing, if another nonce holds it, if nobody does, or if it has a record.
    ///
    /// # Errors
    /// Fails when the store cannot be asked.
    fn renew<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Puts the record into a place, and keeps it for `ttl`. Returns false, and does
    /// nothing, if another nonce holds the place or if nobody does; true again for
    /// the nonce that has completed it.
    ///
    /// # Errors
    /// Fails when the store cannot be asked, or has no room for the record. It must
    /// have room for one of up to [`SHORT_RECORD_BYTES`] in a place that was taken.
    fn complete<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Empties a place whose handler runs. Returns false, and does nothing, if
    /// another nonce holds it, if nobody does, or if it has a record.
    ///
    /// # Errors
    /// Fails when the store cannot be asked.
    fn free<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;
}

/// The bytes of the longest record that says that an answer is not kept.
pub const SHORT_RECORD_BYTES: usize = 16;

/// Sixteen random bytes that tell one attempt at a key from all others.
pub type Nonce = [u8; 16];

/// The conditions under which a request takes a place.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// The SHA-256 of the request's path, query, content type and body.
    pub fingerprint: [u8; 32],
    /// The owner of the place from now on.
    pub nonce: Nonce,
    /// The time for which the place is held, until it is renewed or completed.
    pub lease: Duration,
    /// The time, from each renewal on, for which a place whose lease ran out is
    /// remembered as [`ReserveOutcome::Crashed`]. `None`: it is empty then.
    pub remember_crash: Option<Duration>,
}

/// The outcome of [`IdempotencyStore::take`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReserveOutcome {
    /// The place was empty, and is held now: the handler runs.
    New,
    /// Another request holds it.
    Running,
    /// The lease of a request ran out, and the claim says to remember that.
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
