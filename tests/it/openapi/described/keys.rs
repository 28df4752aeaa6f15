//! Responses of `with_idempotency`. In each store, all keys have the same state.

use std::time::Duration;

use stockade::middleware::idempotency::{
    Idempotency, IdempotencyStore, Nonce, Reservation, ReserveOutcome, ScopedKey,
};
use stockade::middleware::with_idempotency;
use stockade::prelude::*;
use stockade::{BoxFuture, StoreError};

use super::answers::Case;
use super::row;

/// A store that returns this outcome for every key, or fails without one.
struct AllTaken(Option<ReserveOutcome>);

impl IdempotencyStore for AllTaken {
    fn take<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>> {
        Box::pin(async { self.0.clone().ok_or_else(|| StoreError::unavailable("no connection")) })
    }

    fn renew<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }

    fn complete<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Nonce,
        _: Bytes,
        _: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }

    fn free<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }
}

pub(super) fn cases() -> Vec<Case> {
    let once = |taken| Idempotency::new(AllTaken(taken));
    let row =
        |taken, request: &str| row!([with_idempotency(once(taken))], async || "text", request);
    let required = with_idempotency(once(None).required(true));
    let keyed = "POST /x/7\nidempotency-key: \"k\"";
    let long = format!("{keyed}\n\n{}", "a".repeat(101));
    vec![
        ("with_idempotency", row!([required], async || "text", "POST /x/7"), 400, &[]),
        ("with_idempotency", row(None, "POST /x/7\nidempotency-key: k"), 400, &[]),
        ("with_idempotency", row(None, &long), 413, &[]),
        ("with_idempotency", row(Some(ReserveOutcome::Running), keyed), 409, &["retry-after"]),
        ("with_idempotency", row(Some(ReserveOutcome::Crashed), keyed), 409, &[]),
        ("with_idempotency", row(Some(ReserveOutcome::OtherFingerprint), keyed), 422, &[]),
        ("with_idempotency", row(None, keyed), 503, &["retry-after"]),
    ]
}
