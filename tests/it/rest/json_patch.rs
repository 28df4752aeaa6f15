//! Public JSON Patch test cases, sent to a resource.

use stockade::http::header;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Resource};
use stockade::testing::TestClient;

use crate::support::block_on;

/// An item that holds any document.
#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Holder {
    id: i64,
    doc: Value,
}

impl Entity for Holder {
    type Id = i64;
}

const CASES: [&str; 2] = [
    include_str!("../../vectors/json-patch/tests.json"),
    include_str!("../../vectors/json-patch/spec_tests.json"),
];

#[test]
fn passes_the_public_test_cases() {
    block_on(async {
        let cases = CASES.map(|cases| serde_json::from_str::<Vec<Value>>(cases).unwrap());
        let mut seen = 0;
        for case in cases.iter().flatten() {
            if case["disabled"] != json!(true) && case.get("patch").is_some() {
                check(case).await;
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen}");
    });
}

async fn check(case: &Value) {
    let store = MemoryStore::new();
    store.insert([Holder { id: 1, doc: case["doc"].clone() }]).unwrap();
    let open = || Access::public("a test");
    let holders = Resource::new("holder", store).read(open()).write(open());
    let api = routes! { "holders": { ..holders.routes() } };
    let client = TestClient::new(create_router(api, RouterOptions::new())).with_contract();

    let mut patch = case["patch"].clone();
    for operation in patch.as_array_mut().unwrap() {
        for name in ["path", "from"] {
            // The document is a field of the item.
            if let Some(Value::String(pointer)) = operation.get_mut(name)
                && (pointer.is_empty() || pointer.starts_with('/'))
            {
                pointer.insert_str(0, "/doc");
            }
        }
    }
    let request = client.patch("/holders/1").body(patch.to_string());
    let answer = request.header(header::CONTENT_TYPE, "application/json-patch+json").await;
    let now = client.get("/holders/1").await.json::<Value>();
    let text = answer.text();
    if case.get("error").is_some() {
        assert!([400, 409].contains(&answer.status().as_u16()), "{case}\n{text}");
        assert_eq!(now["doc"], case["doc"], "{case}");
    } else {
        assert_eq!(answer.status(), 200, "{case}\n{text}");
        let expected = case.get("expected").unwrap_or(&case["doc"]);
        assert_eq!(&now["doc"], expected, "{case}");
    }
}
