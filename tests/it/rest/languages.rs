//! Messages of resources in the language of the client.

use stockade::i18n::Catalogs;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Resource};
use stockade::testing::{TestClient, TestResponse};

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Note {
    id: String,
    rank: i64,
    #[schema(format = "date")]
    day: Option<String>,
}

impl Entity for Note {
    type Id = String;
}

fn client() -> TestClient {
    let open = || Access::public("a test");
    let store = MemoryStore::new().unique("rank");
    store.insert([Note { id: "a".into(), rank: 1, day: None }]).unwrap();
    let notes = Resource::new("note", store).sort(["rank"]).filter("rank");
    let api = routes! { "notes": { ..notes.read(open()).write(open()).routes() } };
    let options = RouterOptions::new().rate_limit(false).languages(Catalogs::builtin());
    TestClient::new(create_router(api, options)).with_header("accept-language", "de")
}

fn message(response: &TestResponse) -> String {
    let body: Value = response.json();
    body["details"]["errors"][0]["message"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn messages_about_lists_are_translated() {
    let client = client();
    for (query, expected) in [
        ("cursor=x", "Der Cursor gehört nicht zu dieser Liste"),
        ("sort=age", "Die Liste kann nicht nach „age“ sortiert werden"),
        ("sort=rank,rank,rank,rank", "Höchstens 3 Felder für die Sortierung erlaubt"),
        ("color=red", "Unbekannter Parameter „color“"),
        ("limit=0", "Die Zahl muss mindestens 1 sein"),
    ] {
        let response = client.get(format!("/notes?{query}")).await;
        response.assert_status(400).assert_header("content-language", "de");
        assert_eq!(message(&response), expected, "{query}");
    }
}

#[tokio::test]
async fn messages_about_items_are_translated() {
    let client = client();
    let long = "x".repeat(1_001);
    for (body, status, expected) in [
        (json!({ "id": "b", "rank": 1 }), 409, "„rank“ ist schon vergeben"),
        (json!({ "id": "..", "rank": 2 }), 400, "Diese ID kann in keinem Pfad vorkommen"),
        (json!({ "id": long, "rank": 2 }), 400, "Die ID darf höchstens 1000 Bytes lang sein"),
        (
            json!({ "id": "b", "rank": 2, "day": "0000-01-01" }),
            400,
            "Das Jahr muss zwischen 0001 und 9999 liegen",
        ),
    ] {
        let response = client.post("/notes").json(&body).await;
        response.assert_status(status).assert_header("content-language", "de");
        assert_eq!(message(&response), expected, "{body}");
    }
    let patch = client.patch("/notes/a").header("content-type", "application/json-patch+json");
    let response = patch.body(r#"[{ "op": "remove", "path": "/nothing" }]"#).await;
    response.assert_status(400);
    assert_eq!(message(&response), "Diese Stelle gibt es nicht");
}
