//! Idempotency keys.

use std::time::Duration;

use stockade::middleware::idempotency::{
    Idempotency, MemoryIdempotencyStore, OnAbandoned, OnStoreError,
};
use stockade::middleware::with_idempotency;
use stockade::prelude::*;

use super::{Mutation, api, mutation};

/// Returns a router with an idempotent `POST /x` if `keys` is set.
fn keyed(keys: Option<Idempotency>) -> Router {
    let middleware: Vec<Middleware> = keys.map(with_idempotency).into_iter().collect();
    api(routes! { "x": { POST: { handler: async |_: Bytes| (), middleware: middleware } } })
}

pub fn all() -> Vec<Mutation> {
    let keys = || Idempotency::new(MemoryIdempotencyStore::new());
    let pair = |old: Idempotency, new: Idempotency| (keyed(Some(old)), keyed(Some(new)));
    let seconds = Duration::from_secs;
    vec![
        mutation(
            "requests run once",
            (keyed(None), keyed(Some(keys()))),
            "- error-added idempotency-added middleware-added reply-header-added \
             request-header-added",
            "BW error-removed idempotency-removed middleware-removed reply-header-removed \
             request-guard-removed",
        ),
        mutation(
            "a key is demanded",
            pair(keys(), keys().required(true)),
            "B request-header-required",
            "W idempotency-optional request-header-optional",
        ),
        mutation(
            "answers are kept for a shorter time",
            pair(keys(), keys().ttl(seconds(3_600))),
            "W idempotency-shortened",
            "- idempotency-extended",
        ),
        mutation(
            "a lease is shorter",
            pair(keys(), keys().lease(seconds(5))),
            "W idempotency-shortened",
            "- idempotency-extended",
        ),
        mutation(
            "a key is refused after a crash",
            pair(keys(), keys().on_abandoned(OnAbandoned::Refuse)),
            "B idempotency-tightened",
            "W idempotency-loosened",
        ),
        mutation(
            "keys do not hold while their store is down",
            pair(keys(), keys().on_store_error(OnStoreError::Pass)),
            "W error-removed idempotency-loosened",
            "B error-added idempotency-tightened",
        ),
        mutation(
            "a retry runs again after an error",
            pair(keys(), keys().keep_errors(false)),
            "W idempotency-loosened",
            "B idempotency-tightened",
        ),
        mutation(
            "keys may have no quotes",
            pair(keys(), keys().unquoted_keys(true)),
            "- idempotency-unquoted",
            "B idempotency-quoted-only",
        ),
        mutation(
            "keys belong to others",
            pair(keys(), keys().scope_by(|_| Ok(String::new()))),
            "BW idempotency-scope-changed",
            "BW idempotency-scope-changed",
        ),
    ]
}
