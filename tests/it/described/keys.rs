//! The answers of `with_idempotency`, by stores whose places are in a state.

use std::time::Duration;

use stockade::BoxFuture;
use stockade::middleware::idempotency::{
    Claim, Idempotency, IdempotencyStore, Nonce, ScopedKey, StoreDown, Taken,
};
use stockade::middleware::with_idempotency;
use stockade::prelude::*;

use super::answers::Case;
use super::row;

/// A store whose places are all in this state; down without one.
struct AllTaken(Option<Taken>);

impl IdempotencyStore for AllTaken {
    fn take<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Claim,
    ) -> BoxFuture<'a, Result<Taken, StoreDown>> {
        Box::pin(async { self.0.clone().ok_or_else(|| StoreDown::new("no connection")) })
    }

    fn renew<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Claim,
    ) -> BoxFuture<'a, Result<bool, StoreDown>> {
        Box::pin(async { Ok(false) })
    }

    fn complete<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Nonce,
        _: Bytes,
        _: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreDown>> {
        Box::pin(async { Ok(false) })
    }

    fn free<'a>(
        &'a self,
        _: &'a ScopedKey,
        _: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreDown>> {
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
        ("with_idempotency", row(Some(Taken::Running), keyed), 409, &["retry-after"]),
        ("with_idempotency", row(Some(Taken::Crashed), keyed), 409, &[]),
        ("with_idempotency", row(Some(Taken::OtherFingerprint), keyed), 422, &[]),
        ("with_idempotency", row(None, keyed), 503, &["retry-after"]),
    ]
}
