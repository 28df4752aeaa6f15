//! Marked fields: `read_only` fields belong to the server, `write_only` fields
//! are hidden.

use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Resource};
use stockade::testing::TestClient;

use crate::support::block_on;

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Account {
    #[schema(read_only)]
    id: i64,
    #[schema(max_length = 50)]
    name: String,
    #[schema(read_only)]
    level: Option<Level>,
    #[schema(write_only, max_length = 72)]
    password: Option<String>,
}

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Level {
    New,
    Known,
}

impl Entity for Account {
    type Id = i64;
}

fn resource() -> Resource<Account> {
    let open = || Access::public("a test");
    Resource::new("account", MemoryStore::new()).sort(["id"]).read(open()).write(open())
}

fn router(resource: Resource<Account>) -> Router {
    create_router(routes! { "accounts": { ..resource.routes() } }, RouterOptions::new())
}

#[test]
fn clients_cannot_set_read_only_or_read_write_only_fields() {
    block_on(async {
        let client = TestClient::new(router(resource())).with_contract();
        let sent = json!({ "id": 7, "name": "ada", "level": "known", "password": "a password" });
        let ada = json!({ "id": 1, "name": "ada", "level": null });
        client.post("/accounts").json(&sent).await.assert_status(201).assert_json(ada.clone());
        let wrong = json!({ "id": "no number", "name": "ada", "level": 7 });
        client.put("/accounts/1").json(&wrong).await.assert_status(200).assert_json(ada.clone());
        let patch = client.patch("/accounts/1").json(json!({ "level": "known" })).await;
        patch.assert_status(200).assert_json(ada.clone());
        let page = client.get("/accounts?sort=id&limit=1").await;
        page.assert_json(json!({ "items": [ada], "next": null }));
        client.get("/accounts?level=new").await.assert_status(400);
    });
}

#[test]
fn documents_mark_read_only_outputs_and_write_only_inputs() {
    let document =
        open_api(&router(resource()).build().unwrap(), &OpenApiOptions::new("Accounts", "1"));
    let document = document.unwrap();
    let create = &document["paths"]["/accounts"]["post"];
    let properties = |content: &Value| {
        content["content"]["application/json"]["schema"]["properties"].as_object().unwrap().clone()
    };
    let input = properties(&create["requestBody"]);
    assert_eq!(input.keys().collect::<Vec<_>>(), ["name", "password"]);
    assert_eq!(input["password"]["writeOnly"], true);
    let output = properties(&create["responses"]["201"]);
    assert_eq!(output.keys().collect::<Vec<_>>(), ["id", "name", "level"]);
    for field in ["id", "level"] {
        assert_eq!(output[field]["readOnly"], true, "{output:?}");
    }
    // The sort order has a separate parameter.
    let text = document["paths"]["/accounts"]["get"]["parameters"].to_string();
    assert!(!text.contains("readOnly"), "{text}");
}

#[test]
fn a_hidden_field_cannot_be_a_filter() {
    let api = router(resource().filter("password").filter("level"));
    let error = api.build().unwrap_err().to_string();
    assert!(error.contains("filter: `password` is hidden"), "{error}");
    assert!(!error.contains("level"), "{error}");
}
