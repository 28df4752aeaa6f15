//! Marks inside the fields of a typed item.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, NewRow, Operation, Resource, RowFilter, Store};
use stockade::testing::TestClient;
use stockade::validation::{HasSchema, Rule};

use crate::support::block_on;

#[derive(Clone, Deserialize, Serialize, Schema)]
pub(super) struct Team {
    #[schema(read_only)]
    id: i64,
    owner: Person,
    #[serde(default)]
    members: Vec<Person>,
    #[serde(default)]
    by_desk: BTreeMap<String, Person>,
    access: Option<Key>,
}

#[derive(Clone, Deserialize, Serialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct Person {
    name: String,
    #[serde(default = "guest")]
    #[schema(read_only)]
    role: String,
    #[schema(write_only, max_length = 20)]
    password: Option<String>,
}

#[derive(Clone, Deserialize, Serialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Key {
    Hidden {
        #[schema(write_only)]
        secret: Option<String>,
    },
    Public {
        secret: Option<String>,
    },
}

fn guest() -> String {
    "guest".to_owned()
}

impl Entity for Team {
    type Id = i64;
}

fn person(name: &str, role: &str) -> Value {
    json!({ "name": name, "role": role, "password": format!("password of {name}") })
}

fn shown(name: &str, role: &str) -> Value {
    json!({ "name": name, "role": role })
}

fn team() -> Value {
    json!({
        "id": 1,
        "owner": person("ada", "admin"),
        "members": [person("bob", "user"), person("eve", "guest")],
        "by_desk": { "a": person("dan", "user") },
        "access": { "kind": "hidden", "secret": "s" },
    })
}

fn resource(store: &MemoryStore<Team>) -> Resource<Team> {
    let open = || Access::public("a test");
    Resource::new("team", store.clone()).read(open()).write(open())
}

fn client(resource: Resource<Team>) -> TestClient {
    let api = routes! { "teams": { ..resource.routes() } };
    TestClient::new(create_router(api, RouterOptions::new())).with_contract()
}

pub(super) fn of_ada() -> (MemoryStore<Team>, TestClient) {
    let store = MemoryStore::new();
    store.insert([serde_json::from_value(team()).unwrap()]).unwrap();
    (store.clone(), client(resource(&store)))
}

pub(super) async fn stored(store: &MemoryStore<Team>) -> Value {
    let team = store.get(&1, &RowFilter::all()).await.unwrap().unwrap();
    serde_json::to_value(team.value).unwrap()
}

pub(super) const JSON_PATCH: (&str, &str) = ("content-type", "application/json-patch+json");

#[test]
fn clients_cannot_set_a_nested_read_only_value() {
    block_on(async {
        let (store, client) = of_ada();
        let eve = json!({ "name": "eve", "role": "admin", "password": "p" });
        let sent = json!({ "owner": eve, "members": [eve], "by_desk": { "a": eve } });
        let made = client.post("/teams").json(&sent).await;
        let eve = shown("eve", "guest");
        made.assert_status(201).assert_json(json!({
            "id": 2, "owner": eve, "members": [eve], "by_desk": { "a": eve }, "access": null,
        }));
        // A value of the wrong type is ignored too.
        let patch =
            json!({ "owner": { "role": ["admin"] }, "members": [{ "name": "x", "role": 1 }] });
        client.patch("/teams/1").json(&patch).await.assert_status(200);
        let now = stored(&store).await;
        assert_eq!(now["owner"], person("ada", "admin"));
        assert_eq!(now["members"], json!([{ "name": "x", "role": "guest", "password": null }]));
        for operation in [
            json!({ "op": "replace", "path": "/owner/role", "value": "root" }),
            json!({ "op": "add", "path": "/by_desk/a/role", "value": "root" }),
            json!({ "op": "remove", "path": "/owner/role" }),
            json!({ "op": "copy", "from": "/owner/role", "path": "/by_desk/a/role" }),
            json!({ "op": "move", "from": "/owner", "path": "/by_desk/a" }),
        ] {
            let is_move = operation["op"] == "move";
            let mut patch = vec![operation];
            if is_move {
                patch.push(json!({ "op": "add", "path": "/owner", "value": { "name": "ada" } }));
            }
            let patch = client.patch("/teams/1").body(json!(patch).to_string());
            patch.header(JSON_PATCH.0, JSON_PATCH.1).await.assert_status(200);
            let now = stored(&store).await;
            assert_eq!(now["owner"], person("ada", "admin"));
            assert_eq!(now["by_desk"]["a"]["role"], "user");
        }
    });
}

#[test]
fn no_response_has_a_nested_write_only_value() {
    block_on(async {
        let (_, client) = of_ada();
        let responses = [
            client.get("/teams/1").await,
            client.get("/teams").await,
            client.get("/teams?limit=1&sort=id").await,
            client.patch("/teams/1").json(json!({ "owner": { "name": "a" } })).await,
            client.put("/teams/1").json(team()).await,
            client.post("/teams").json(team()).await,
        ];
        for response in responses {
            let text = response.text();
            assert!(!text.contains("password"), "{text}");
            assert!(!text.contains("\"s\""), "{text}");
        }
    });
}

#[test]
fn writes_keep_stored_values_that_a_client_cannot_send_back() {
    block_on(async {
        let (store, client) = of_ada();
        // The client sends back the item that it received.
        let item = client.get("/teams/1").await.json::<Value>();
        client.patch("/teams/1").json(&item).await.assert_status(200);
        assert_eq!(stored(&store).await, team());
        // The list is in a different order, without the read-only values, and
        // with a new member.
        let members = json!([{ "name": "eve" }, { "name": "fay" }, { "name": "bob" }]);
        client.patch("/teams/1").json(json!({ "members": members })).await.assert_status(200);
        let fay = json!({ "name": "fay", "role": "guest", "password": null });
        let expected = json!([person("eve", "guest"), fay, person("bob", "user")]);
        assert_eq!(stored(&store).await["members"], expected);
        // PUT preserves read-only values and replaces all others, as for
        // top-level fields.
        let put = json!({ "owner": { "name": "ada" }, "members": [{ "name": "bob" }] });
        client.put("/teams/1").json(&put).await.assert_status(200);
        let now = stored(&store).await;
        let kept = |name: &str, role: &str| json!({ "name": name, "role": role, "password": null });
        assert_eq!(now["owner"], kept("ada", "admin"));
        assert_eq!(now["members"], json!([kept("bob", "user")]));
    });
}

#[test]
fn a_json_patch_neither_reads_nor_loses_a_hidden_value() {
    block_on(async {
        let (store, client) = of_ada();
        let patch = async |operations: Value, status: u16| {
            let request = client.patch("/teams/1").body(operations.to_string());
            request.header(JSON_PATCH.0, JSON_PATCH.1).await.assert_status(status);
        };
        let test = json!({ "op": "test", "path": "/owner/password", "value": "password of ada" });
        patch(json!([test]), 400).await;
        let copy = json!({ "op": "copy", "from": "/owner/password", "path": "/owner/name" });
        patch(json!([copy]), 400).await;
        let whole = json!({ "op": "test", "path": "/members/0", "value": shown("bob", "user") });
        let origin = json!({ "op": "test", "path": "/members/0/\u{0}origin", "value": 0 });
        patch(json!([origin]), 400).await;
        patch(
            json!([
                whole,
                { "op": "move", "from": "/members/0", "path": "/members/1" },
                { "op": "replace", "path": "/members/1/name", "value": "eve" },
                { "op": "replace", "path": "/members/0/name", "value": "bob" },
                { "op": "replace", "path": "/members/0/password", "value": "new" },
                { "op": "remove", "path": "/owner/password" },
                { "op": "copy", "from": "/members/1", "path": "/members/-" },
            ]),
            200,
        )
        .await;
        let now = stored(&store).await;
        assert_eq!(now["owner"]["password"], Value::Null);
        let expected = json!([
            { "name": "bob", "role": "guest", "password": "new" },
            { "name": "eve", "role": "user", "password": "password of bob" },
            { "name": "eve", "role": "guest", "password": null },
        ]);
        assert_eq!(now["members"], expected);
    });
}

#[test]
fn a_hidden_value_does_not_appear_in_another_variant() {
    block_on(async {
        let (_, client) = of_ada();
        let patch = json!({ "access": { "kind": "public" } });
        let changed = client.patch("/teams/1").json(&patch).await;
        let changed = changed.assert_status(200).json::<Value>();
        assert_eq!(changed["access"], json!({ "kind": "public", "secret": null }));
    });
}

#[test]
fn documents_have_nested_values_in_their_direction() {
    let (store, _) = of_ada();
    let api = routes! { "teams": { ..resource(&store).routes() } };
    let app = create_router(api, RouterOptions::new()).build().unwrap();
    let document = open_api(&app, &OpenApiOptions::new("Teams", "1")).unwrap();
    let schemas = &document["components"]["schemas"];
    let names = |name: &str| {
        let properties = schemas[name]["properties"].as_object().unwrap();
        properties.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names("PersonInput"), ["name", "password"]);
    assert_eq!(names("PersonOutput"), ["name", "role"]);
}

#[test]
fn hooks_set_nested_read_only_values() {
    block_on(async {
        let store = MemoryStore::new();
        let promote = |_, mut draft: NewRow<Team>| async move {
            let mut owner = draft.get("owner").cloned().unwrap_or_default();
            owner["role"] = json!("admin");
            draft.set("owner", owner);
            Ok(draft)
        };
        let client = client(resource(&store).before(Operation::Create, promote));
        let made = client.post("/teams").json(json!({ "owner": { "name": "ada" } })).await;
        assert_eq!(made.assert_status(201).json::<Value>()["owner"], shown("ada", "admin"));
    });
}

/// An item with a nested read-only value that does not have a default.
#[derive(Clone, Deserialize, Serialize, Schema)]
struct Order {
    #[schema(read_only)]
    id: i64,
    lines: Vec<Line>,
}

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Line {
    product: String,
    #[schema(read_only)]
    price: u32,
}

impl Entity for Order {
    type Id = i64;
}

#[test]
fn an_unset_required_read_only_value_is_a_500() {
    block_on(async {
        let store = MemoryStore::<Order>::new();
        let open = || Access::public("a test");
        let orders = Resource::new("order", store).read(open()).write(open());
        let api = routes! { "orders": { ..orders.routes() } };
        let client = TestClient::new(create_router(api, RouterOptions::new()));
        client.post("/orders").json(json!({ "lines": [] })).await.assert_status(201);
        let sent = json!({ "lines": [{ "product": "tea", "price": 0 }] });
        client.post("/orders").json(&sent).await.assert_status(500);
        client.patch("/orders/1").json(&sent).await.assert_status(500);
        let order = client.get("/orders/1").await.json::<Value>();
        assert_eq!(order["lines"], json!([]));
    });
}

/// A type with values that are hidden in every field of the type.
#[derive(Clone, Deserialize, Serialize)]
struct Token(String);

impl HasSchema for Token {
    fn rule() -> Rule {
        Rule::string().write_only()
    }

    fn field_rule() -> Rule {
        Rule::of::<Self>()
    }
}

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Device {
    #[schema(read_only)]
    id: i64,
    token: Token,
    spare: Option<Token>,
    older: Vec<Token>,
    #[serde(flatten)]
    #[schema(write_only)]
    codes: Codes,
}

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Codes {
    pin: String,
}

impl Entity for Device {
    type Id = i64;
}

fn devices() -> Resource<Device> {
    let open = || Access::public("a test");
    Resource::new("device", MemoryStore::new()).read(open()).write(open())
}

#[test]
fn marks_of_types_and_flattened_fields_apply_to_fields() {
    block_on(async {
        let api = routes! { "devices": { ..devices().routes() } };
        let client = TestClient::new(create_router(api, RouterOptions::new())).with_contract();
        let sent = json!({ "token": "a", "spare": "b", "older": ["c"], "pin": "d" });
        let made = client.post("/devices").json(&sent).await;
        made.assert_status(201).assert_json(json!({ "id": 1 }));
        client.get("/devices/1").await.assert_json(json!({ "id": 1 }));
    });
    for name in ["token", "spare", "pin"] {
        let api = routes! { "devices": { ..devices().filter(name).routes() } };
        let error = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
        assert!(error.contains(&format!("filter: `{name}` is hidden")), "{error}");
    }
}
