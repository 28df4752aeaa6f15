//! The responses that chapter 2 shows.

use stockade::prelude::*;
use stockade::testing::TestClient;

use super::router;

#[tokio::test]
async fn lists_notes_that_match_the_query() {
    let client = TestClient::new(router());
    let ids = async |query: &str| {
        let list: Value = client.get(format!("/notes{query}")).await.assert_status(200).json();
        let items = list["items"].as_array().unwrap().iter();
        items.map(|note| note["id"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("").await, [1, 2, 3]);
    assert_eq!(ids("?pinned=true").await, [2]);
    assert_eq!(ids("?limit=1").await, [1]);
}

#[tokio::test]
async fn rejects_an_invalid_query() {
    let client = TestClient::new(router());
    let response = client.get("/notes?limit=0&pinned=maybe").await;
    response.assert_status(400).assert_json(json!({
        "error": "Validation failed",
        "details": { "errors": [
            { "field": "pinned", "message": "Expected boolean, got string", "rule": "type" },
            { "field": "limit", "message": "Number must be at least 1", "rule": "minimum" },
        ] },
    }));
}

#[tokio::test]
async fn shows_a_note_by_its_id() {
    let client = TestClient::new(router());
    client.get("/notes/2").await.assert_status(200).assert_json(json!({
        "id": 2, "title": "Door code", "text": "Ask Grace", "pinned": true,
    }));
    client.get("/notes/9").await.assert_status(404).assert_error("Not Found");
    client.get("/notes/two").await.assert_status(400);
}
