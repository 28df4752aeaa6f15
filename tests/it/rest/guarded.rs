//! Routes of a resource under the checks for all routes: policies, locks,
//! attacks and documents.

use stockade::openapi::{OpenApiOptions, open_api};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::rest::{
    Access, MemoryStore, NewRow, Page, RowFilter, StoreDoc, StoreError, Versioned,
};
use stockade::rest::{ListQuery, Resource, Store, VersionCheck};
use stockade::routing::map::Need;
use stockade::testing::{TestClient, assert_hardened, assert_policy};

use super::suite::{Item, item, router};
use crate::support::block_on;

fn store() -> MemoryStore<Item> {
    MemoryStore::new().unique("name")
}

#[test]
fn a_resource_withstands_attacks() {
    block_on(assert_hardened(router(store())));
}

#[test]
fn a_policy_checks_the_access_of_a_resource() {
    let unlimited = Policy::recommended().without("rate-limited", "requests of tests are many");
    assert_policy(router(store()), &unlimited);
    let app = router(store()).build().unwrap();
    let map = app.route_map();
    for route in &map.routes {
        let needs_user = !route.path.starts_with("/open") && route.method != "GET"
            || route.path.starts_with("/items");
        let expected = if needs_user { Need::Required } else { Need::None };
        assert_eq!(route.access.user, expected, "{} {}", route.method, route.path);
        assert_eq!(route.access.public.is_some(), !needs_user);
        assert!(route.location.to_string().contains("suite.rs"), "{}", route.location);
    }
    assert_eq!(map.routes.len(), 16);
}

#[test]
fn documents_contain_parameters_inputs_and_responses() {
    let app = router(store()).build().unwrap();
    let document = open_api(&app, &OpenApiOptions::new("Items", "1.0.0")).unwrap();
    let list = &document["paths"]["/items"]["get"];
    let parameters = list["parameters"].as_array().unwrap().iter();
    let names: Vec<_> = parameters.filter_map(|it| it["name"].as_str()).collect();
    for name in ["limit", "cursor", "sort", "count", "category", "category[null]", "price[gte]"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("secret")), "{names:?}");
    let create = &document["paths"]["/items"]["post"];
    let input = &create["requestBody"]["content"]["application/json"]["schema"];
    assert!(input["properties"].get("id").is_none() && input["properties"]["secret"].is_object());
    let output = &create["responses"]["201"]["content"]["application/json"]["schema"];
    assert!(output["properties"]["id"].is_object() && output["properties"].get("secret").is_none());
    let patch = &document["paths"]["/items/{id}"]["patch"]["requestBody"]["content"];
    assert!(patch["application/merge-patch+json"]["schema"].get("required").is_none());
    assert_eq!(patch["application/json-patch+json"]["schema"]["type"], "array");
    for status in ["200", "204", "400", "401", "404", "409", "412", "413", "415", "503"] {
        let responses = &document["paths"]["/items/{id}"]["patch"]["responses"];
        assert!(responses[status].is_object(), "{status}");
    }
}

/// Texts with a special meaning in some syntax.
const INJECTIONS: [&str; 14] = [
    "'",
    "\"",
    "';--",
    "' OR '1'='1",
    "1; DROP TABLE items",
    "1) OR (1=1",
    "$1",
    "?1",
    "%",
    "_",
    "\\",
    "a\0b",
    "{\"$gt\":\"\"}",
    "\u{202e}\u{ffff}",
];

#[test]
fn query_text_is_never_part_of_a_statement() {
    block_on(async {
        let client = TestClient::new(router(store())).with_bearer("ada");
        for name in ["a", "b"] {
            client.post("/items").json(item(name, 1)).await.assert_status(201);
        }
        let encoded =
            |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
        for text in INJECTIONS.map(encoded) {
            for parameter in ["category", "name", "name[prefix]", "name[lt]", "size", "price", "id"]
            {
                let answer = client.get(format!("/items?{parameter}={text}")).await;
                let all = answer.status() != 200
                    || answer.json::<Value>()["items"].as_array().unwrap().len() == 2;
                // Some names sort after each text, and some do not.
                assert!(answer.status().as_u16() <= 400, "{parameter} {text}");
                assert!(
                    !all || answer.status() == 400 || parameter == "name[lt]",
                    "{parameter} {text}"
                );
            }
            for target in [
                format!("/items?{text}=1"),
                format!("/items?sort={text}"),
                format!("/items?sort=-price,{text}"),
                format!("/items?cursor={text}"),
                format!("/items?limit={text}"),
                format!("/items?price[{text}]=1"),
                format!("/items/{text}"),
            ] {
                client.get(&target).await.assert_status(400);
            }
        }
        // Cursors of other sort orders, and with keys that no item has.
        let cursor = |json: &str| {
            let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            let mut text = String::new();
            for three in json.as_bytes().chunks(3) {
                let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
                let bits = bits << (8 * (3 - three.len()));
                for place in 0..=three.len() {
                    let index = bits >> (18 - 6 * place) & 63;
                    text.push(char::from(alphabet[index as usize]));
                }
            }
            text
        };
        for (query, json, status) in [
            ("", r#"["",false,[1]]"#, 200),
            ("", r#"["",false,[-9]]"#, 200),
            ("", r#"["",false,["1"]]"#, 400),
            ("", r#"["",false,[null]]"#, 400),
            ("", r#"["",false,[[1]]]"#, 400),
            ("", r#"["",false,[1,2]]"#, 400),
            ("", r#"["",false,[]]"#, 400),
            ("", r#"["",false,[99999999999999999999]]"#, 200),
            ("", r#"["price",false,[1,1]]"#, 400),
            ("&sort=price", r#"["price",false,[1,1]]"#, 200),
            ("&sort=price", r#"["price",false,["1 OR 1=1",1]]"#, 400),
            ("&sort=price", r#"["secret",false,["a",1]]"#, 400),
            ("&sort=price", r#"["-price",false,[1,1]]"#, 400),
        ] {
            let answer = client.get(format!("/items?cursor={}{query}", cursor(json))).await;
            assert_eq!(answer.status(), status, "{json}");
        }
    });
}

/// A store with an unavailable database.
#[derive(Clone)]
struct Down;

impl Store<Item> for Down {
    async fn list(&self, _: &ListQuery) -> Result<Page<Item>, StoreError> {
        Err(down())
    }

    async fn get(&self, _: &i64, _: &RowFilter) -> Result<Option<Versioned<Item>>, StoreError> {
        Err(down())
    }

    async fn create(&self, _: NewRow<Item>) -> Result<Versioned<Item>, StoreError> {
        Err(StoreError::failed("no disk at 10.0.0.7"))
    }

    async fn replace(
        &self,
        _: &i64,
        _: NewRow<Item>,
        _: VersionCheck,
        _: &RowFilter,
    ) -> Result<Versioned<Item>, StoreError> {
        Err(down())
    }

    async fn delete(&self, _: &i64, _: VersionCheck, _: &RowFilter) -> Result<(), StoreError> {
        Err(down())
    }

    fn describe(&self, doc: &mut StoreDoc) {
        if doc.sorts().iter().any(|field| field == "weight") {
            doc.issue("`weight` has no index");
        }
    }
}

fn down() -> StoreError {
    StoreError::busy(std::time::Duration::from_millis(1_500), "no engine at 10.0.0.7")
}

#[test]
fn a_store_outage_is_hidden() {
    let open = || Access::public("a test");
    let items = Resource::new("item", Down).server_fields(["id"]).read(open()).write(open());
    let api = routes! { "items": { ..items.routes() } };
    let options = RouterOptions::new().expose_errors(false);
    block_on(async {
        let client = TestClient::new(create_router(api, options)).with_contract();
        for answer in [client.get("/items").await, client.get("/items/1").await] {
            answer.assert_status(503).assert_header("retry-after", "2");
            assert!(!answer.text().contains("10.0.0.7"), "{}", answer.text());
        }
        client.delete("/items/1").await.assert_status(503);
        client.patch("/items/1").json(json!({})).await.assert_status(503);
        let mut sent = item("a", 1);
        sent["owner"] = json!("ada");
        let failed = client.post("/items").json(sent).await;
        failed.assert_status(500);
        assert!(!failed.text().contains("10.0.0.7"), "{}", failed.text());
    });
}

#[test]
fn a_store_reports_its_configuration_errors() {
    let open = || Access::public("a test");
    let items = Resource::new("item", Down).sort(["weight"]).read(open()).write(open());
    let api = routes! { "items": { ..items.routes() } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    assert_eq!(error.issues()[0].message(), "resource \"item\": `weight` has no index");
}
