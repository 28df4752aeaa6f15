//! [`idempotency_store`]: checks the guarantees of an idempotency key store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stockade_middleware::idempotency::{
    IdempotencyStore, Reservation, ReserveOutcome, SHORT_RECORD_BYTES, ScopedKey,
};
use tokio::task::JoinSet;

use super::{LONG, SHORT, equal, succeeds, unique};
use crate::fail::{fail, or_fail};

/// Checks the guarantees of an [`IdempotencyStore`]. Only one of many
/// concurrent requests gets the entry. For an existing entry, a different
/// fingerprint is reported before any other outcome. Leases and records expire.
/// Only the nonce that holds an entry can renew, complete and release it.
///
/// `pass` must let at least the given duration pass for the store.
///
/// # Panics
/// Panics if the store violates a guarantee or fails. Requires a tokio runtime.
pub async fn idempotency_store(
    store: impl IdempotencyStore + 'static,
    pass: impl AsyncFn(Duration),
) {
    let store = Arc::new(store);
    one_of_many_gets_the_place(&store).await;
    let check = Check { store: &*store, pass: &pass };
    check.a_place_is_taken_completed_and_replayed().await;
    check.another_fingerprint_is_told_first().await;
    check.a_place_is_freed_by_its_nonce_alone().await;
    check.a_lease_ends_and_the_place_is_empty().await;
    check.a_lease_ends_and_is_remembered().await;
    check.a_renewal_begins_the_lease_anew().await;
    check.a_record_ends().await;
    check.records_are_kept_byte_for_byte().await;
}

/// A store under test.
struct Check<'a, S: ?Sized, P> {
    store: &'a S,
    pass: &'a P,
}

/// A key under test.
struct Place<'a, S: ?Sized> {
    store: &'a S,
    key: ScopedKey,
}

fn claim(nonce: u8, lease: Duration) -> Reservation {
    Reservation { fingerprint: [1; 32], nonce: [nonce; 16], lease, remember_crash: None }
}

async fn one_of_many_gets_the_place(store: &Arc<impl IdempotencyStore + 'static>) {
    let key = ScopedKey::from_hashes(unique(), unique());
    let mut attempts = JoinSet::new();
    for nonce in 0..50 {
        let store = Arc::clone(store);
        attempts.spawn(async move { store.take(&key, &claim(nonce, LONG)).await });
    }
    let mut new = 0;
    while let Some(taken) = attempts.join_next().await {
        match succeeds("of 50 attempts at once", or_fail(taken)) {
            ReserveOutcome::New => new += 1,
            ReserveOutcome::Running => {}
            other => fail(format!("one of 50 concurrent attempts got {other:?}")),
        }
    }
    if new != 1 {
        fail(format!("{new} of 50 concurrent attempts got the place, expected one"));
    }
}

impl<S: IdempotencyStore + ?Sized, P: AsyncFn(Duration)> Check<'_, S, P> {
    fn place(&self) -> Place<'_, S> {
        Place { store: self.store, key: ScopedKey::from_hashes(unique(), unique()) }
    }

    async fn a_place_is_taken_completed_and_replayed(&self) {
        let place = self.place();
        place.takes("an empty place", &claim(1, LONG), ReserveOutcome::New).await;
        place.takes("the same nonce again", &claim(1, LONG), ReserveOutcome::New).await;
        place.takes("another nonce", &claim(2, LONG), ReserveOutcome::Running).await;
        place.completes("another nonce completes", 2, b"no", LONG, false).await;
        place.completes("the nonce completes", 1, b"yes", LONG, true).await;
        place.completes("it completes again", 1, b"yes", LONG, true).await;
        let done = || ReserveOutcome::Done(Bytes::from_static(b"yes"));
        place.takes("a place with a record", &claim(2, LONG), done()).await;
        place.takes("the nonce of a record", &claim(1, LONG), done()).await;
        place.renews("the nonce of a record renews", &claim(1, LONG), false).await;
        place.frees("the nonce of a record frees", 1, false).await;
        place.takes("a record that was not freed", &claim(2, LONG), done()).await;
    }

    async fn another_fingerprint_is_told_first(&self) {
        let place = self.place();
        let other = |nonce| Reservation { fingerprint: [2; 32], ..claim(nonce, LONG) };
        place.takes("an empty place", &claim(1, LONG), ReserveOutcome::New).await;
        let told = "another fingerprint while one runs";
        place.takes(told, &other(2), ReserveOutcome::OtherFingerprint).await;
        let told = "another fingerprint of the same nonce";
        place.takes(told, &other(1), ReserveOutcome::OtherFingerprint).await;
        place.completes("it is still held", 1, b"yes", LONG, true).await;
        let told = "another fingerprint than the record's";
        place.takes(told, &other(2), ReserveOutcome::OtherFingerprint).await;
    }

    async fn a_place_is_freed_by_its_nonce_alone(&self) {
        let place = self.place();
        place.frees("an empty place is freed", 1, false).await;
        place.renews("an empty place is renewed", &claim(1, LONG), false).await;
        place.completes("an empty place is completed", 1, b"no", LONG, false).await;
        place.takes("after that", &claim(1, LONG), ReserveOutcome::New).await;
        place.frees("another nonce frees", 2, false).await;
        place.renews("another nonce renews", &claim(2, LONG), false).await;
        place
            .takes("a place that others tried to free", &claim(2, LONG), ReserveOutcome::Running)
            .await;
        place.frees("the nonce frees", 1, true).await;
        place.frees("it frees again", 1, false).await;
        let other = Reservation { fingerprint: [2; 32], ..claim(2, LONG) };
        place.takes("a freed place", &other, ReserveOutcome::New).await;
    }

    async fn a_lease_ends_and_the_place_is_empty(&self) {
        let place = self.place();
        place.takes("an empty place", &claim(1, SHORT), ReserveOutcome::New).await;
        (self.pass)(SHORT * 2).await;
        let other = Reservation { fingerprint: [2; 32], ..claim(2, LONG) };
        place.takes("a place after its lease", &other, ReserveOutcome::New).await;
        place.completes("the nonce of a lease that ended completes", 1, b"no", LONG, false).await;
        place.renews("it renews", &claim(1, LONG), false).await;
        place.frees("it frees", 1, false).await;
        place.takes("the place of its successor", &other, ReserveOutcome::New).await;
    }

    async fn a_lease_ends_and_is_remembered(&self) {
        let place = self.place();
        let remembering = |nonce| Reservation { remember_crash: Some(LONG), ..claim(nonce, SHORT) };
        place.takes("an empty place", &remembering(1), ReserveOutcome::New).await;
        (self.pass)(SHORT * 2).await;
        place.takes("a crash that is remembered", &remembering(2), ReserveOutcome::Crashed).await;
        let other = Reservation { fingerprint: [2; 32], ..remembering(2) };
        place.takes("another fingerprint", &other, ReserveOutcome::OtherFingerprint).await;
        place.completes("a late request", 1, b"late", LONG, true).await;
        let done = ReserveOutcome::Done(Bytes::from_static(b"late"));
        place.takes("its record", &remembering(2), done).await;
    }

    async fn a_renewal_begins_the_lease_anew(&self) {
        let place = self.place();
        place.takes("an empty place", &claim(1, Duration::from_secs(5)), ReserveOutcome::New).await;
        place.renews("the nonce renews", &claim(1, LONG), true).await;
        (self.pass)(Duration::from_secs(6)).await;
        place.takes("a place that was renewed", &claim(2, LONG), ReserveOutcome::Running).await;
    }

    async fn a_record_ends(&self) {
        let place = self.place();
        place.takes("an empty place", &claim(1, LONG), ReserveOutcome::New).await;
        place.completes("the nonce completes", 1, b"yes", SHORT, true).await;
        (self.pass)(SHORT * 2).await;
        let other = Reservation { fingerprint: [2; 32], ..claim(2, LONG) };
        place.takes("a place after its record", &other, ReserveOutcome::New).await;
    }

    async fn records_are_kept_byte_for_byte(&self) {
        let every_byte: Vec<u8> = (0..=u8::MAX).collect();
        let large = every_byte.repeat(256);
        for record in [&[][..], &[0; SHORT_RECORD_BYTES], &every_byte, &large] {
            let place = self.place();
            place.takes("an empty place", &claim(1, LONG), ReserveOutcome::New).await;
            place.completes("the nonce completes", 1, record, LONG, true).await;
            let taken = succeeds("a record", place.store.take(&place.key, &claim(2, LONG)).await);
            if taken != ReserveOutcome::Done(Bytes::copy_from_slice(record)) {
                fail(format!("a record of {} bytes changed in the store", record.len()));
            }
        }
    }
}

impl<S: IdempotencyStore + ?Sized> Place<'_, S> {
    async fn takes(&self, promise: &str, claim: &Reservation, expected: ReserveOutcome) {
        let taken = succeeds(promise, self.store.take(&self.key, claim).await);
        equal(promise, &taken, &expected);
    }

    async fn renews(&self, promise: &str, claim: &Reservation, expected: bool) {
        let renewed = succeeds(promise, self.store.renew(&self.key, claim).await);
        equal(promise, &renewed, &expected);
    }

    async fn completes(
        &self,
        promise: &str,
        nonce: u8,
        record: &[u8],
        ttl: Duration,
        expected: bool,
    ) {
        let record = Bytes::copy_from_slice(record);
        let completed = self.store.complete(&self.key, &[nonce; 16], record, ttl).await;
        equal(promise, &succeeds(promise, completed), &expected);
    }

    async fn frees(&self, promise: &str, nonce: u8, expected: bool) {
        let freed = succeeds(promise, self.store.free(&self.key, &[nonce; 16]).await);
        equal(promise, &freed, &expected);
    }
}
