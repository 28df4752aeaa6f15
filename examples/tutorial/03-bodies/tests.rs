//! The responses that chapter 3 shows.

use stockade::prelude::*;
use stockade::testing::TestClient;

use super::router;

#[tokio::test]
async fn stores_a_valid_note() {
    let client = TestClient::new(router());
    let note = json!({ "id": 1, "title": "Shopping", "text": "Tea", "pinned": false });
    let created = client.post("/notes").json(json!({ "title": " Shopping ", "text": "Tea" })).await;
    created.assert_status(201).assert_json(&note);
    client.get("/notes/1").await.assert_status(200).assert_json(&note);

    let new = json!({ "title": "Shopping", "text": "Tea, milk", "pinned": true });
    let replaced = client.put("/notes/1").json(new).await;
    let note = json!({ "id": 1, "title": "Shopping", "text": "Tea, milk", "pinned": true });
    replaced.assert_status(200).assert_json(&note);
    client.get("/notes?pinned=true").await.assert_json(json!({ "items": [note] }));
    client.put("/notes/2").json(json!({ "title": "a", "text": "" })).await.assert_status(404);
}

#[tokio::test]
async fn lists_all_invalid_fields() {
    let client = TestClient::new(router());
    let response = client.post("/notes").json(json!({ "title": " ", "pinned": "yes" })).await;
    response.assert_status(400).assert_error("Validation failed");
    response.assert_field_error("title", "required");
    response.assert_field_error("text", "required");
    response.assert_field_error("pinned", "type");
}

#[tokio::test]
async fn rejects_other_bodies() {
    let client = TestClient::new(router());
    let form = client.post("/notes").form([("title", "Shopping"), ("text", "Tea")]).await;
    form.assert_status(415);
    let large = client.post("/notes").json(json!({ "title": "a", "text": "a".repeat(65_536) }));
    large.await.assert_status(413);
    let malformed = client.post("/notes").header("content-type", "application/json").body("{");
    malformed.await.assert_status(400);
}
