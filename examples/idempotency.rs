//! Idempotency keys: a repeated payment is made only once.
//!
//! ```text
//! cargo run -p stockade-examples --bin idempotency
//! curl -i localhost:3000/payments -H 'authorization: Bearer ada' \
//!     -H 'idempotency-key: "4b7c"' -H 'content-type: application/json' \
//!     -d '{"to": "bob", "cents": 500}'
//! ```
//!
//! The second request gets the response of the first, with
//! `Idempotency-Replayed: true`. A request with another body gets a 422, and a
//! request while the first one runs gets a 409.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stockade::middleware::idempotency::{MemoryIdempotencyStore, OnAbandoned};
use stockade::middleware::{Idempotency, IdempotencyKey, with_idempotency};
use stockade::prelude::*;

#[derive(serde::Deserialize, Schema)]
struct Payment {
    #[schema(min_length = 1)]
    to: String,
    #[schema(minimum = 1)]
    cents: u64,
}

#[derive(serde::Serialize, Schema)]
struct Paid {
    number: u64,
    to: String,
    cents: u64,
}

/// The payments that were made.
#[derive(Default)]
struct Ledger(AtomicU64);

async fn pay(
    State(ledger): State<Ledger>,
    key: IdempotencyKey,
    Body(payment): Body<Payment>,
) -> (StatusCode, Json<Paid>) {
    // A program with a database stores `key.scoped()` in a unique column in the
    // same transaction. Then not even a crash pays twice.
    println!("paying by the key {}", key.scoped());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let number = ledger.0.fetch_add(1, Ordering::Relaxed) + 1;
    let Payment { to, cents } = payment;
    (StatusCode::CREATED, Json(Paid { number, to, cents }))
}

fn router() -> Router {
    // Any name is a valid token here.
    let token = Auth::bearer(async |token: String| Some(json!({ "sub": token })));
    let once = Idempotency::new(MemoryIdempotencyStore::new())
        .required(true)
        .on_abandoned(OnAbandoned::Refuse);
    let api = routes! {
        "payments": {
            auth: token,
            middleware: with_idempotency(once),
            POST: pay,
        },
    };
    create_router(api, RouterOptions::new()).state(Ledger::default())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let server = router().create_server()?.bind(3000).await?;
    println!("listening on http://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_repeated_payment_is_made_once() {
        let client = TestClient::new(router());
        let send = |cents: u64| {
            let payment = json!({ "to": "bob", "cents": cents });
            let request = client.post("/payments").bearer("ada");
            request.header("idempotency-key", "\"4b7c\"").json(payment)
        };
        let first = send(500).await;
        first.assert_status(201).assert_json_contains(json!({ "number": 1 }));
        let again = send(500).await;
        again.assert_status(201).assert_header("idempotency-replayed", "true");
        assert_eq!(again.bytes(), first.bytes());
        send(600).await.assert_status(422);
    }
}
