//! An API and its tests: in process, without a port.
//!
//! `cargo test -p stockade-examples --bin testing` runs the tests.
//! `cargo run -p stockade-examples --bin testing` serves the API on port 3000,
//! where the same client could test it (`TestClient::live`).

use std::sync::atomic::{AtomicU64, Ordering};

use stockade::auth::TokenVerifier;
use stockade::prelude::*;
use stockade::reply::{Event, Sse};

#[derive(serde::Deserialize, Schema)]
struct NewNote {
    #[schema(trim, min_length = 1, max_length = 100)]
    text: String,
}

#[derive(Default)]
struct Notes {
    last: AtomicU64,
}

async fn add(notes: State<Notes>, Body(note): Body<NewNote>) -> (StatusCode, Value) {
    let id = notes.last.fetch_add(1, Ordering::Relaxed) + 1;
    (StatusCode::CREATED, json!({ "id": id, "text": note.text }))
}

async fn countdown() -> Sse {
    let events = (1..=3).rev().map(|n| Ok::<_, ApiError>(Event::data(n.to_string()).name("tick")));
    Sse::new(futures_util::stream::iter(events))
}

async fn shout(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        socket.send(text?.to_uppercase()).await?;
    }
    Ok(())
}

/// Creates the router. A test passes in the verifier, which contains the clock.
fn router(secret: Secret, tokens: TokenVerifier) -> Router {
    let token = Auth::tokens(secret, tokens);
    let api = routes! {
        "notes": { auth: token, POST: add },
        "countdown": { GET: countdown },
        "shout": { ws: shout },
    };
    let options = RouterOptions::new().enable_web_sockets(true);
    create_router(api, options).state(Notes::default())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let router = router(Secret::new("a secret of thirty-two bytes or more")?, TokenVerifier::new());
    router.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use stockade::auth::TokenIssuer;
    use stockade::testing::{TestClient, TestClock};

    use super::*;

    /// Returns a client for a new API with a user's token, and the clock.
    fn client() -> (TestClient, TestClock) {
        let (clock, secret) = (TestClock::new(), Secret::new("a secret of tests only, 32 bytes"));
        let secret = secret.unwrap();
        let issuer = TokenIssuer::new().clock(clock.for_tokens());
        let token = issuer.issue(json!({ "sub": "ada" }), "1h", &secret).unwrap();
        let router = router(secret, TokenVerifier::new().clock(clock.for_tokens()));
        (TestClient::with_clock(router, &clock).with_bearer(token), clock)
    }

    #[tokio::test]
    async fn notes_are_added() {
        let (client, _) = client();
        let added = client.post("/notes").json(json!({ "text": " tea " })).await;
        added.assert_status(201).assert_json(json!({ "id": 1, "text": "tea" }));
        let empty = client.post("/notes").json(json!({ "text": "" })).await;
        empty.assert_field_error("text", "minLength");
    }

    #[tokio::test]
    async fn a_token_expires() {
        let (client, clock) = client();
        clock.advance(Duration::from_secs(3_601));
        client.post("/notes").json(json!({})).await.assert_status(401).assert_error("Unauthorized");
    }

    #[tokio::test]
    async fn a_client_has_a_hundred_requests_a_minute() {
        let (client, clock) = client();
        for _ in 0..100 {
            client.get("/nowhere").await.assert_status(404);
        }
        client.get("/nowhere").await.assert_status(429).assert_header("retry-after", "60");
        client.get("/nowhere").peer("203.0.113.7").await.assert_status(404);
        clock.advance(Duration::from_secs(60));
        client.get("/nowhere").await.assert_status(404);
    }

    #[tokio::test]
    async fn events_arrive_one_by_one() {
        let (client, _) = client();
        let mut events = client.get("/countdown").stream().await;
        for expected in ["3", "2", "1"] {
            let event = events.next_event().await.unwrap();
            assert_eq!((event.name.as_str(), event.data.as_str()), ("tick", expected));
        }
        assert_eq!(events.next_event().await, None);
    }

    #[tokio::test]
    async fn a_web_socket_replies_in_capitals() {
        let (client, _) = client();
        let mut socket = client.websocket("/shout").connect().await;
        socket.send_text("tea").await;
        assert_eq!(socket.receive_text().await, "TEA");
        socket.close().await;
        let page = client.websocket("/shout").origin("https://evil.example");
        page.refused().await.assert_status(403);
    }
}
