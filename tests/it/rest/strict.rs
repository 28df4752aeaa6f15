//! A type that rejects unknown fields, used for a resource.

use stockade::http::Method;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Resource};
use stockade::testing::TestClient;

use crate::support::block_on;

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
#[serde(deny_unknown_fields)]
struct Cup {
    id: i64,
    colour: String,
    note: Option<String>,
    sold: u32,
}

impl Entity for Cup {
    type Id = i64;
}

#[test]
fn accepts_returned_server_fields_and_rejects_unknown_fields() {
    let cups = MemoryStore::new();
    cups.insert([Cup { id: 1, colour: "red".into(), note: None, sold: 7 }]).unwrap();
    let cups = Resource::new("cup", cups)
        .server_fields(["id", "sold"])
        .read(Access::public("a test"))
        .write(Access::public("a test"));
    let api = routes! { "cups": { ..cups.routes() } };
    let client = TestClient::new(create_router(api, RouterOptions::new())).with_contract();
    let send = |method: &Method, body: &Value| {
        let path = if method == Method::POST { "/cups" } else { "/cups/1" };
        client.request(method.clone(), path).json(body)
    };
    block_on(async {
        let mut whole = client.get("/cups/1").await.json::<Value>();
        whole["colour"] = json!("blue");
        for method in [Method::PUT, Method::PATCH] {
            let changed = send(&method, &whole).await;
            changed.assert_status(200);
            assert_eq!(changed.json::<Value>(), whole);
        }
        let sent = json!({ "colour": "green", "note": "new", "sold": 9, "id": 9 });
        let changed = send(&Method::PATCH, &sent).await;
        let expected = json!({ "id": 1, "colour": "green", "note": "new", "sold": 7 });
        assert_eq!(changed.json::<Value>(), expected);

        for method in [Method::POST, Method::PUT, Method::PATCH] {
            let refused = send(&method, &json!({ "colour": "grey", "color": "grey" })).await;
            refused.assert_status(400).assert_field_error("color", "additionalProperties");
        }
        // Invalid items are rejected before the item is looked up.
        let missing = |body| client.patch("/cups/9").json(body);
        missing(json!({ "colour": null }))
            .await
            .assert_status(400)
            .assert_field_error("colour", "type");
        missing(json!("grey")).await.assert_status(400).assert_field_error("", "type");
        missing(json!({ "note": null, "sold": "none" })).await.assert_status(404);
        assert_eq!(client.get("/cups/1").await.json::<Value>(), expected);
    });
}
