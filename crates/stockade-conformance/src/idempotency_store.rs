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
    one_concurrent_request_gets_the_entry(&store).await;
    let check = Check { store: &*store, pass: &pass };
    check.an_entry_is_reserved_completed_and_replayed().await;
    check.a_different_fingerprint_is_reported_first().await;
    check.only_the_holding_nonce_releases_an_entry().await;
    check.an_entry_is_free_after_its_lease().await;
    check.a_crash_is_remembered_after_the_lease().await;
    check.a_renewal_restarts_the_lease().await;
    check.records_expire().await;
    check.records_are_stored_unchanged().await;
}

/// A store under test.
struct Check<'a, S: ?Sized, P> {
    store: &'a S,
    pass: &'a P,
}

/// A key under test.
struct Entry<'a, S: ?Sized> {
    store: &'a S,
    key: ScopedKey,
}

fn claim(nonce: u8, lease: Duration) -> Reservation {
    Reservation { fingerprint: [1; 32], nonce: [nonce; 16], lease, remember_crash: None }
}

async fn one_concurrent_request_gets_the_entry(store: &Arc<impl IdempotencyStore + 'static>) {
    let key = ScopedKey::from_hashes(unique(), unique());
    let mut attempts = JoinSet::new();
    for nonce in 0..50 {
        let store = Arc::clone(store);
        attempts.spawn(async move { store.take(&key, &claim(nonce, LONG)).await });
    }
    let mut new = 0;
    while let Some(taken) = attempts.join_next().await {
        match succeeds("one of 50 concurrent reservations", or_fail(taken)) {
            ReserveOutcome::New => new += 1,
            ReserveOutcome::Running => {}
            other => fail(format!("one of 50 concurrent reservations got {other:?}")),
        }
    }
    if new != 1 {
        fail(format!("{new} of 50 concurrent reservations got the entry, expected one"));
    }
}

impl<S: IdempotencyStore + ?Sized, P: AsyncFn(Duration)> Check<'_, S, P> {
    fn entry(&self) -> Entry<'_, S> {
        Entry { store: self.store, key: ScopedKey::from_hashes(unique(), unique()) }
    }

    async fn an_entry_is_reserved_completed_and_replayed(&self) {
        let entry = self.entry();
        entry.reserves("a new key", &claim(1, LONG), ReserveOutcome::New).await;
        entry
            .reserves("a reservation with the same nonce", &claim(1, LONG), ReserveOutcome::New)
            .await;
        entry
            .reserves("a reservation with another nonce", &claim(2, LONG), ReserveOutcome::Running)
            .await;
        entry.completes("another nonce completes the entry", 2, b"no", LONG, false).await;
        entry.completes("the holding nonce completes the entry", 1, b"yes", LONG, true).await;
        entry.completes("the holding nonce completes the entry again", 1, b"yes", LONG, true).await;
        let done = || ReserveOutcome::Done(Bytes::from_static(b"yes"));
        entry.reserves("a reservation of a completed entry", &claim(2, LONG), done()).await;
        entry
            .reserves("a reservation of a completed entry with its nonce", &claim(1, LONG), done())
            .await;
        entry.renews("the nonce of a completed entry renews it", &claim(1, LONG), false).await;
        entry.releases("the nonce of a completed entry releases it", 1, false).await;
        entry
            .reserves("a completed entry after the attempt to release it", &claim(2, LONG), done())
            .await;
    }

    async fn a_different_fingerprint_is_reported_first(&self) {
        let entry = self.entry();
        let other = |nonce| Reservation { fingerprint: [2; 32], ..claim(nonce, LONG) };
        entry.reserves("a new key", &claim(1, LONG), ReserveOutcome::New).await;
        let promise = "another fingerprint while the entry is held";
        entry.reserves(promise, &other(2), ReserveOutcome::OtherFingerprint).await;
        let promise = "another fingerprint with the same nonce";
        entry.reserves(promise, &other(1), ReserveOutcome::OtherFingerprint).await;
        entry
            .completes(
                "the holding nonce completes the entry after other fingerprints",
                1,
                b"yes",
                LONG,
                true,
            )
            .await;
        let promise = "another fingerprint after completion";
        entry.reserves(promise, &other(2), ReserveOutcome::OtherFingerprint).await;
    }

    async fn only_the_holding_nonce_releases_an_entry(&self) {
        let entry = self.entry();
        entry.releases("a nonce releases a missing entry", 1, false).await;
        entry.renews("a nonce renews a missing entry", &claim(1, LONG), false).await;
        entry.completes("a nonce completes a missing entry", 1, b"no", LONG, false).await;
        entry
            .reserves("a new key after these attempts", &claim(1, LONG), ReserveOutcome::New)
            .await;
        entry.releases("another nonce releases the entry", 2, false).await;
        entry.renews("another nonce renews the entry", &claim(2, LONG), false).await;
        entry
            .reserves(
                "an entry after another nonce tried to release it",
                &claim(2, LONG),
                ReserveOutcome::Running,
            )
            .await;
        entry.releases("the holding nonce releases the entry", 1, true).await;
        entry.releases("the holding nonce releases the entry again", 1, false).await;
        let other = Reservation { fingerprint: [2; 32], ..claim(2, LONG) };
        entry.reserves("a released entry", &other, ReserveOutcome::New).await;
    }

    async fn an_entry_is_free_after_its_lease(&self) {
        let entry = self.entry();
        entry.reserves("a new key", &claim(1, SHORT), ReserveOutcome::New).await;
        (self.pass)(SHORT * 2).await;
        let other = Reservation { fingerprint: [2; 32], ..claim(2, LONG) };
        entry.reserves("an entry after its lease", &other, ReserveOutcome::New).await;
        entry
            .completes("the nonce of an expired lease completes the entry", 1, b"no", LONG, false)
            .await;
        entry
            .renews("the nonce of an expired lease renews the entry", &claim(1, LONG), false)
            .await;
        entry.releases("the nonce of an expired lease releases the entry", 1, false).await;
        entry.reserves("the entry of the next nonce", &other, ReserveOutcome::New).await;
    }

    async fn a_crash_is_remembered_after_the_lease(&self) {
        let entry = self.entry();
        let remembering = |nonce| Reservation { remember_crash: Some(LONG), ..claim(nonce, SHORT) };
        entry.reserves("a new key", &remembering(1), ReserveOutcome::New).await;
        (self.pass)(SHORT * 2).await;
        entry
            .reserves(
                "an entry after its lease, with a remembered crash",
                &remembering(2),
                ReserveOutcome::Crashed,
            )
            .await;
        let other = Reservation { fingerprint: [2; 32], ..remembering(2) };
        entry
            .reserves("another fingerprint after a crash", &other, ReserveOutcome::OtherFingerprint)
            .await;
        entry
            .completes("the nonce of a crash completes the entry late", 1, b"late", LONG, true)
            .await;
        let done = ReserveOutcome::Done(Bytes::from_static(b"late"));
        entry.reserves("an entry that was completed late", &remembering(2), done).await;
    }

    async fn a_renewal_restarts_the_lease(&self) {
        let entry = self.entry();
        entry.reserves("a new key", &claim(1, Duration::from_secs(5)), ReserveOutcome::New).await;
        entry.renews("the holding nonce renews the entry", &claim(1, LONG), true).await;
        (self.pass)(Duration::from_secs(6)).await;
        entry
            .reserves(
                "a renewed entry after its first lease",
                &claim(2, LONG),
                ReserveOutcome::Running,
            )
            .await;
    }

    async fn records_expire(&self) {
        let entry = self.entry();
        entry.reserves("a new key", &claim(1, LONG), ReserveOutcome::New).await;
        entry.completes("the holding nonce completes the entry", 1, b"yes", SHORT, true).await;
        (self.pass)(SHORT * 2).await;
        let other = Reservation { fingerprint: [2; 32], ..claim(2, LONG) };
        entry.reserves("an entry after its record expired", &other, ReserveOutcome::New).await;
    }

    async fn records_are_stored_unchanged(&self) {
        let every_byte: Vec<u8> = (0..=u8::MAX).collect();
        let large = every_byte.repeat(256);
        for record in [&[][..], &[0; SHORT_RECORD_BYTES], &every_byte, &large] {
            let entry = self.entry();
            entry.reserves("a new key", &claim(1, LONG), ReserveOutcome::New).await;
            entry.completes("the holding nonce completes the entry", 1, record, LONG, true).await;
            let taken = succeeds(
                "a reservation of a completed entry",
                entry.store.take(&entry.key, &claim(2, LONG)).await,
            );
            if taken != ReserveOutcome::Done(Bytes::copy_from_slice(record)) {
                fail(format!("a record of {} bytes changed in the store", record.len()));
            }
        }
    }
}

impl<S: IdempotencyStore + ?Sized> Entry<'_, S> {
    async fn reserves(&self, promise: &str, claim: &Reservation, expected: ReserveOutcome) {
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

    async fn releases(&self, promise: &str, nonce: u8, expected: bool) {
        let freed = succeeds(promise, self.store.free(&self.key, &[nonce; 16]).await);
        equal(promise, &freed, &expected);
    }
}
