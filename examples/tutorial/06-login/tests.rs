//! The responses that chapter 6 shows.

use stockade::prelude::*;
use stockade::testing::TestClient;
use tempfile::TempDir;

use super::{db, router};

/// Returns a client of a server with a new database in this folder.
async fn client(folder: &TempDir) -> TestClient {
    let path = folder.path().join("test.db");
    let db = db::open(path.to_str().unwrap()).await.unwrap();
    let secret = Secret::new("a secret of tests only, 32 bytes").unwrap();
    TestClient::new(router(secret).state(db))
}

/// Registers a user, and returns a token.
async fn token_of(client: &TestClient, name: &str) -> String {
    let user = json!({ "name": name, "password": "correct horse" });
    client.post("/users").json(&user).await.assert_status(201);
    let session: Value = client.post("/login").json(&user).await.assert_status(200).json();
    session["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn users_register_once() {
    let folder = tempfile::tempdir().unwrap();
    let client = client(&folder).await;
    let user = json!({ "name": "ada", "password": "correct horse" });
    let created = client.post("/users").json(&user).await;
    created.assert_status(201).assert_json(json!({ "name": "ada" }));
    client.post("/users").json(&user).await.assert_status(409);
    let short = client.post("/users").json(json!({ "name": "Ada", "password": "short" })).await;
    short.assert_field_error("name", "pattern").assert_field_error("password", "minLength");
}

#[tokio::test]
async fn login_needs_the_right_password() {
    let folder = tempfile::tempdir().unwrap();
    let client = client(&folder).await;
    token_of(&client, "ada").await;
    for name in ["ada", "grace"] {
        let wrong = client.post("/login").json(json!({ "name": name, "password": "wrong horse" }));
        wrong.await.assert_status(401).assert_json_contains(json!({
            "detail": "wrong name or password",
        }));
    }
}

#[tokio::test]
async fn a_client_has_ten_attempts_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let client = client(&folder).await;
    for _ in 0..10 {
        client.post("/login").json(json!({})).await.assert_status(400);
    }
    client.post("/login").json(json!({})).await.assert_status(429);
}

#[tokio::test]
async fn users_see_only_their_own_notes() {
    let folder = tempfile::tempdir().unwrap();
    let client = client(&folder).await;
    client.get("/notes").await.assert_status(401);
    let ada = token_of(&client, "ada").await;
    let grace = token_of(&client, "grace").await;
    let new = json!({ "title": "Shopping", "text": "Tea" });
    let note = json!({ "id": 1, "title": "Shopping", "text": "Tea", "pinned": false });
    client.post("/notes").bearer(&ada).json(&new).await.assert_status(201).assert_json(&note);
    client.post("/notes").bearer(&ada).json(&new).await.assert_status(409);
    client.get("/notes").bearer(&ada).await.assert_json(json!({ "items": [note] }));
    client.get("/notes").bearer(&grace).await.assert_json(json!({ "items": [] }));
    client.get("/notes/1").bearer(&grace).await.assert_status(404);
    client.put("/notes/1").bearer(&grace).json(&new).await.assert_status(404);
    client.delete("/notes/1").bearer(&grace).await.assert_status(404);
    client.post("/notes").bearer(&grace).json(&new).await.assert_status(201);
    client.delete("/notes/1").bearer(&ada).await.assert_status(204);
}
