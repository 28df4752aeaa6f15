//! Read-only and write-only fields of methods, at any depth. Clients cannot set
//! read-only fields or receive write-only ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::rpc::{Rpc, RpcMethod};
use stockade::testing::TestClient;
use stockade::validation::{HasSchema, Rule};

use super::{call, client, send};

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Owner {
    name: String,
    #[serde(default)]
    #[schema(read_only)]
    role: String,
    #[serde(default)]
    #[schema(write_only)]
    password_hash: String,
    #[serde(default)]
    friends: Vec<Self>,
}

#[derive(Clone, Deserialize, Serialize, Schema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Contact {
    Owner(Owner),
    Mail {
        address: String,
        #[schema(write_only)]
        token: Option<String>,
    },
}

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Item {
    title: String,
    #[schema(read_only)]
    id: Option<u64>,
    #[schema(write_only)]
    key: Option<String>,
    owner: Option<Owner>,
    #[serde(default)]
    owners: BTreeMap<String, Owner>,
    #[serde(default)]
    contacts: Vec<Contact>,
    #[serde(flatten)]
    audit: Audit,
}

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Audit {
    #[schema(read_only)]
    changed_by: Option<String>,
    #[schema(write_only)]
    secret: Option<String>,
}

fn owner(name: &str) -> Owner {
    let (role, password_hash) = ("admin".to_owned(), "hash".to_owned());
    Owner { name: name.to_owned(), role, password_hash, friends: Vec::new() }
}

/// Returns an item with each marked value.
fn item() -> Item {
    let with_friend = Owner { friends: vec![owner("b")], ..owner("a") };
    Item {
        title: "a".to_owned(),
        id: Some(7),
        key: Some("hash".to_owned()),
        owner: Some(with_friend.clone()),
        owners: BTreeMap::from([("x".to_owned(), owner("c"))]),
        contacts: vec![
            Contact::Owner(with_friend),
            Contact::Mail { address: "d".to_owned(), token: Some("hash".to_owned()) },
        ],
        audit: Audit { changed_by: Some("root".to_owned()), secret: Some("hash".to_owned()) },
    }
}

fn rpc() -> Rpc {
    Rpc::new()
        // Returns the parameters that the handler received, as text.
        .method("seen", async |Body(it): Body<Item>| {
            Json(stockade::serde_json::to_string(&it).unwrap())
        })
        .method("show", async || Json(item()))
        .method("list", async || Json(vec![Some(item())]))
        .method("maybe", async || Ok::<_, ApiError>(Json(Some(item()))))
}

/// The visible values of an owner.
fn shown(name: &str, friends: &Value) -> Value {
    json!({ "name": name, "role": "admin", "friends": friends })
}

#[tokio::test]
async fn drops_read_only_values_of_parameters() {
    let client = client(&rpc());
    let owner = json!({
        "name": "a", "role": "admin", "friends": [{ "name": "b", "role": "admin" }],
    });
    let sent = json!({
        "title": "a", "id": 7, "key": "kept", "owner": owner, "owners": { "x": owner },
        "contacts": [{ "kind": "owner", "name": "a", "role": "admin" }],
        "changed_by": "admin", "secret": "kept",
    });
    let seen = call(&client, "seen", sent).await;
    let seen = seen.as_str().unwrap();
    assert!(!seen.contains("admin") && seen.contains(r#""id":null"#), "{seen}");
    assert_eq!(seen.matches("kept").count(), 2, "{seen}");
    assert_eq!(seen.matches(r#""name":"b""#).count(), 2, "{seen}");
    // By position.
    let seen = call(&client, "seen", json!(["a", 7, "kept", owner])).await;
    let seen = seen.as_str().unwrap();
    assert!(!seen.contains("admin") && seen.contains(r#""id":null"#), "{seen}");
    // In a batch, with an escaped name.
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"seen","params":
        {"title":"a","owner":{"name":"a","\u0072ole":"admin"}}}]"#;
    let seen = send(&client, batch).await;
    assert!(seen.contains("title") && !seen.contains("admin"), "{seen}");
}

#[tokio::test]
async fn rejects_parameters_whose_ignored_part_is_malformed() {
    let client = client(&rpc());
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"seen","params":
        {"title":"a","owner":{"name":"a","role":"admin"},"other":"\ud800"}}"#;
    let answer = send(&client, message).await;
    assert!(answer.contains("error") && !answer.contains("admin"), "{answer}");
}

#[tokio::test]
async fn hides_write_only_values_of_results() {
    let client = client(&rpc());
    let with_friend = shown("a", &json!([shown("b", &json!([]))]));
    let mut contact = with_friend.clone();
    contact["kind"] = json!("owner");
    for (method, pointer) in [("show", ""), ("list", "/0"), ("maybe", "")] {
        let result = call(&client, method, json!(null)).await;
        let item = result.pointer(pointer).unwrap();
        assert!(!result.to_string().contains("hash"), "{method}: {result}");
        assert_eq!(item["owner"], with_friend, "{method}");
        assert_eq!(item["owners"]["x"], shown("c", &json!([])), "{method}");
        assert_eq!(item["contacts"][0], contact, "{method}");
        assert_eq!(item["contacts"][1], json!({ "kind": "mail", "address": "d" }), "{method}");
        assert_eq!(item["changed_by"], "root", "{method}");
    }
}

#[tokio::test]
async fn follows_marks_on_the_routes_of_methods() {
    let api = routes! { "rpc": { ..rpc().rest(true).routes() } };
    let options = RouterOptions::new().rate_limit(false);
    let client = TestClient::new(create_router(api, options)).with_contract();
    let shown = client.post("/rpc/show").json(json!({})).await;
    shown.assert_status(200);
    assert!(!shown.text().contains("hash"), "{}", shown.text());
    let sent = json!({ "title": "a", "owner": { "name": "a", "role": "admin" } });
    let seen = client.post("/rpc/seen").json(sent).await;
    assert!(seen.text().contains("title") && !seen.text().contains("admin"), "{}", seen.text());
}

#[tokio::test]
async fn runs_the_middleware_of_a_marked_method() {
    let refuse = |_: &mut Request| Err::<(), _>(ApiError::new(403, "No"));
    let method = RpcMethod::new(async || Json(item())).middleware([Middleware::new(refuse)]);
    let client = client(&Rpc::new().method("show", method));
    assert_eq!(call(&client, "show", json!(null)).await["code"], -32003);
}

#[test]
fn documents_results_without_write_only_values() {
    let api = routes! { "rpc": { ..rpc().routes() } };
    let map = create_router(api, RouterOptions::new()).build().unwrap().route_map();
    let output = &map.schemas["ItemOutput"]["properties"];
    assert!(output.get("title").is_some() && output.get("key").is_none(), "{output}");
    assert!(map.schemas["OwnerOutput"]["properties"].get("password_hash").is_none());
}

#[test]
fn adds_nothing_to_a_method_without_marks() {
    let plain = Rpc::new().method("add", async |Body((a, b)): Body<(u8, u8)>| Json(a + b));
    let middleware = |rpc: &Rpc| {
        let api = routes! { "rpc": { ..rpc.routes() } };
        let map = create_router(api, RouterOptions::new()).build().unwrap().route_map();
        let names = map.routes.into_iter().flat_map(|route| route.middleware);
        names.map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(middleware(&plain), Vec::<String>::new());
    assert_eq!(middleware(&rpc()), vec!["read_only and write_only"; 4]);
}

#[test]
fn reports_a_required_read_only_parameter() {
    #[derive(Deserialize, Schema)]
    struct Account {
        owner: Login,
    }

    #[derive(Deserialize, Schema)]
    struct Login {
        name: String,
        #[schema(read_only)]
        role: String,
    }

    let create = async |Body(it): Body<Account>| Json(it.owner.name + &it.owner.role);
    let api = routes! { "rpc": { ..Rpc::new().method("create", create).routes() } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
    let expected = "RPC /rpc#create: the body requires `owner.role`, which is read-only";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_mark_inside_an_alternative_is_an_error() {
    #[derive(Deserialize, Serialize)]
    struct Account {
        password: Option<String>,
    }
    impl HasSchema for Account {
        fn rule() -> Rule {
            let part = json!({
                "properties": { "password": { "type": "string", "readOnly": true, "writeOnly": true } },
            });
            let fields = [("password", Rule::string().nullable())];
            Rule::object(fields).any_of([Rule::from_value(&part)])
        }
    }
    let echo = async |Body(account): Body<Account>| Json(account);
    let api = routes! { "rpc": { ..Rpc::new().method("echo", echo).routes() } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
    for (place, mark) in [("the body", "readOnly"), ("a response", "writeOnly")] {
        let expected = format!(
            "the schema of {place} has a mark without effect at `/anyOf/0/properties/password/{mark}`"
        );
        assert!(error.contains(&expected), "{error}");
    }
}
