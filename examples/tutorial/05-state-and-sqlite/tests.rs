//! The responses that chapter 5 shows.

use stockade::prelude::*;
use stockade::testing::TestClient;
use tempfile::TempDir;

use super::{db, router};

/// Returns a client of a server with a new database in this folder.
async fn client(folder: &TempDir) -> TestClient {
    let path = folder.path().join("test.db");
    let db = db::open(path.to_str().unwrap()).await.unwrap();
    TestClient::new(router().state(db))
}

#[tokio::test]
async fn notes_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let note = json!({ "id": 1, "title": "Shopping", "text": "Tea", "pinned": false });
    let first = client(&folder).await;
    let created = first.post("/notes").json(json!({ "title": "Shopping", "text": "Tea" })).await;
    created.assert_status(201).assert_json(&note);
    drop(first);

    let second = client(&folder).await;
    second.get("/notes").await.assert_status(200).assert_json(json!({ "items": [note] }));
    second.get("/notes?pinned=true").await.assert_json(json!({ "items": [] }));
}

#[tokio::test]
async fn ids_and_titles_are_unique() {
    let folder = tempfile::tempdir().unwrap();
    let client = client(&folder).await;
    let note = json!({ "title": "Shopping", "text": "Tea" });
    client.post("/notes").json(&note).await.assert_status(201);
    client.post("/notes").json(&note).await.assert_status(409);
    client.put("/notes/1").json(&note).await.assert_status(200);
    client.delete("/notes/1").await.assert_status(204);
    client.get("/notes/1").await.assert_status(404);
    let again = client.post("/notes").json(&note).await;
    again.assert_status(201).assert_json_contains(json!({ "id": 2 }));
}

#[tokio::test]
async fn the_database_must_be_provided() {
    let errors = router().build().unwrap_err().to_string();
    assert!(errors.contains("State<"), "{errors}");
}
