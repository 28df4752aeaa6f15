//! The responses that chapter 4 shows.

use stockade::prelude::*;
use stockade::testing::TestClient;

use super::router;

#[tokio::test]
async fn rejects_a_title_that_another_note_has() {
    let client = TestClient::new(router());
    let note = json!({ "title": "Shopping", "text": "Tea" });
    client.post("/notes").json(&note).await.assert_status(201);
    let response = client.post("/notes").json(&note).await;
    response.assert_status(409).assert_header("content-type", "application/problem+json");
    response.assert_json(json!({
        "type": "https://notes.example/problems/title-taken",
        "title": "Conflict",
        "status": 409,
        "detail": "note 1 has this title",
        "noteId": 1,
    }));
    client.put("/notes/1").json(&note).await.assert_status(200);
}

#[tokio::test]
async fn deletes_a_note_once() {
    let client = TestClient::new(router());
    client.post("/notes").json(json!({ "title": "Shopping", "text": "Tea" })).await;
    client.delete("/notes/1").await.assert_status(204).assert_empty();
    client.delete("/notes/1").await.assert_status(404).assert_json(json!({
        "type": "https://notes.example/problems/not-found",
        "title": "Not Found",
        "status": 404,
        "detail": "there is no note 1",
    }));
}

#[tokio::test]
async fn lists_invalid_fields_in_problem_details() {
    let client = TestClient::new(router());
    let response = client.post("/notes").json(json!({ "text": "Tea" })).await;
    response.assert_status(400).assert_json_contains(json!({
        "type": "https://notes.example/problems/validation-failed",
    }));
    response.assert_field_error("title", "required");
}

#[tokio::test]
async fn hides_the_cause_of_a_server_error() {
    let client = TestClient::new(router());
    client.post("/backup").await.assert_status(500).assert_json(json!({
        "type": "https://notes.example/problems/internal-server-error",
        "title": "Internal Server Error",
        "status": 500,
    }));
}
