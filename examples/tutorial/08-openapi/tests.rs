//! Tests of the whole API, with the lock of its routes.

use std::time::Duration;

use stockade::auth::{TokenIssuer, UnixClock};
use stockade::prelude::*;
use stockade::testing::{TestClient, TestClock, assert_hardened, assert_routes_lock};
use tempfile::TempDir;

use super::{db, router};

/// A server with its own database, which is deleted at the end.
struct Server {
    client: TestClient,
    clock: TestClock,
    _folder: TempDir,
}

fn secret() -> Secret {
    Secret::new("a secret of tests only, 32 bytes").unwrap()
}

impl Server {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = TestClock::new();
        let client = TestClient::with_clock(Self::router(&folder).await, &clock).with_contract();
        Self { client, clock, _folder: folder }
    }

    /// The whole API with a database in this folder.
    async fn router(folder: &TempDir) -> Router {
        let path = folder.path().join("test.db");
        let db = db::open(path.to_str().unwrap()).await.unwrap();
        router(secret()).state(db)
    }

    /// Registers a user, and returns a token.
    async fn token_of(&self, name: &str) -> String {
        let user = json!({ "name": name, "password": "correct horse" });
        self.client.post("/users").json(&user).await.assert_status(201);
        let session: Value = self.client.post("/login").json(&user).await.assert_status(200).json();
        session["token"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn users_see_only_their_own_notes() {
    let server = Server::new().await;
    let (ada, grace) = (server.token_of("ada").await, server.token_of("grace").await);
    let new = json!({ "title": "Shopping", "text": "Tea" });
    let note = json!({ "id": 1, "title": "Shopping", "text": "Tea", "pinned": false });

    let created = server.client.post("/notes").bearer(&ada).json(&new).await;
    created.assert_status(201).assert_json(&note);
    let list = server.client.get("/notes").bearer(&ada).await;
    list.assert_status(200).assert_json(json!({ "items": [note] }));

    let list = server.client.get("/notes?pinned=false").bearer(&grace).await;
    list.assert_status(200).assert_json(json!({ "items": [] }));
    server.client.get("/notes/1").bearer(&grace).await.assert_status(404);
    server.client.put("/notes/1").bearer(&grace).json(&new).await.assert_status(404);
    server.client.delete("/notes/1").bearer(&grace).await.assert_status(404);
    server.client.delete("/notes/1").bearer(&ada).await.assert_status(204).assert_empty();
}

#[tokio::test]
async fn rejects_invalid_notes() {
    let server = Server::new().await;
    let ada = server.token_of("ada").await;
    let response = server.client.post("/notes").bearer(&ada).json(json!({ "title": " " })).await;
    response.assert_field_error("title", "required").assert_field_error("text", "required");
}

#[tokio::test]
async fn rejects_expired_tokens() {
    let server = Server::new().await;
    let past = TokenIssuer::new().clock(UnixClock::at(1_000_000_000));
    let expired = past.issue(json!({ "sub": "ada" }), "1h", &secret()).unwrap();
    server.client.get("/notes").bearer(expired).await.assert_status(401);
}

#[tokio::test]
async fn a_client_has_ten_attempts_a_minute() {
    let server = Server::new().await;
    let wrong = json!({ "name": "ada", "password": "wrong horse" });
    for _ in 0..10 {
        server.client.post("/login").json(&wrong).await.assert_status(401);
    }
    server.client.post("/login").json(&wrong).await.assert_status(429);
    server.clock.advance(Duration::from_secs(60));
    server.client.post("/login").json(&wrong).await.assert_status(401);
}

#[tokio::test]
async fn withstands_attacks() {
    let folder = tempfile::tempdir().unwrap();
    assert_hardened(Server::router(&folder).await).await;
}

#[tokio::test]
async fn routes_are_as_locked() {
    let folder = tempfile::tempdir().unwrap();
    assert_routes_lock(Server::router(&folder).await, "routes.lock");
}

#[tokio::test]
async fn serves_the_document_and_its_page() {
    let server = Server::new().await;
    let document: Value = server.client.get("/openapi.json").await.assert_status(200).json();
    assert_eq!(document["info"]["title"], "Notes");
    assert_eq!(document["paths"]["/notes/{id}"]["get"]["summary"], "Show a note");
    server.client.get("/docs").await.assert_status(200).assert_text_contains("Notes");
}
