//! Single items: writes, conditional requests and rejected input.

use stockade::http::Method;
use stockade::prelude::*;
use stockade::rest::Store;
use stockade::testing::TestResponse;

use super::{Client, Item, item, with};

pub(super) async fn one_item<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let full = with(item(" tea ", 7), json!({ "category": "x", "tags": ["a", "é'\"\u{1f375}"] }));
    let made = ada.send(Method::POST, "/items", &full).await;
    made.assert_status(201);
    let expected = with(full.clone(), json!({ "name": "tea", "id": 1, "owner": "ada" }));
    let id = made.json::<Value>()["id"].as_i64().unwrap();
    let expected = with(expected, json!({ "id": id }));
    assert_eq!(made.json::<Value>(), expected);
    made.assert_header("location", &format!("/items/{id}"));
    let tag = made.header("etag").unwrap();

    let got = ada.get(&format!("/items/{id}")).await;
    got.assert_status(200).assert_header("etag", &tag);
    got.assert_header("cache-control", "private, no-cache");
    assert_eq!(got.json::<Value>(), expected);
    let known = ada.check(&format!("GET /items/{id}\nif-none-match: {tag}"), 304).await;
    known.assert_empty().assert_header("etag", &tag);
    ada.check(&format!("GET /items/{id}\nif-none-match: \"other\""), 200).await;
    ada.check(&format!("GET /items/{id}\nif-match: \"other\""), 412).await;
    ada.check(&format!("HEAD /items/{id}"), 200).await;
    let exposed = |answer: &TestResponse| {
        let exposed = answer.header("access-control-expose-headers").unwrap();
        exposed.split(", ").any(|name| name == "ETag")
    };
    let page = "origin: http://localhost:3000";
    assert!(exposed(&ada.check(&format!("GET /items/{id}\n{page}"), 200).await));
    let stale = format!("GET /items/{id}\n{page}\nif-match: \"other\"");
    assert!(exposed(&ada.check(&stale, 412).await));

    ada.check(&format!("DELETE /items/{id}"), 204).await.assert_empty();
    ada.check(&format!("DELETE /items/{id}"), 404).await;
    ada.check(&format!("GET /items/{id}"), 404).await;
    ada.check("GET /items/x", 400).await.assert_field_error("id", "type");
    ada.check("GET /items/99999999999999999999", 400).await;

    // Client values for server fields have no effect.
    let sent = with(item("mine", 1), json!({ "id": 777, "owner": "bob", "unknown": [1] }));
    let made = ada.send(Method::POST, "/items", &sent).await;
    made.assert_status(201);
    assert_ne!(made.json::<Value>()["id"], 777);
    assert_eq!(made.json::<Value>()["owner"], "ada");
    let place = made.header("location").unwrap();
    let replaced = ada.send(Method::PUT, &place, &sent).await;
    replaced.assert_status(200);
    assert_eq!(replaced.json::<Value>(), made.json::<Value>());
}

pub(super) async fn changes<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let sent = with(item("a", 1), json!({ "category": "x", "tags": ["one"] }));
    let made = ada.send(Method::POST, "/items", &sent).await;
    let place = made.header("location").unwrap();
    let first = made.header("etag").unwrap();

    // PUT replaces the whole item: absent fields become null.
    let mut whole = item("b", 2);
    whole.as_object_mut().unwrap().remove("category");
    let replaced = ada.send(Method::PUT, &place, &whole).await;
    replaced.assert_status(200);
    let now = replaced.json::<Value>();
    assert_eq!(
        (&now["name"], &now["category"], &now["tags"]),
        (&json!("b"), &Value::Null, &json!([]))
    );
    assert_ne!(replaced.header("etag").unwrap(), first);

    // PATCH changes a part: null removes a field, an absent field is unchanged.
    let merge =
        |text: &str| format!("PATCH {place}\ncontent-type: application/merge-patch+json\n\n{text}");
    let patched =
        ada.check(&merge(r#"{"category":"y","price":3,"id":9,"owner":"bob"}"#), 200).await;
    let now = patched.json::<Value>();
    assert_eq!(
        (&now["category"], &now["price"], &now["name"]),
        (&json!("y"), &json!(3), &json!("b"))
    );
    assert_eq!((&now["id"], &now["owner"]), (&made.json::<Value>()["id"], &json!("ada")));
    let patched = ada.check(&merge(r#"{"category":null}"#), 200).await;
    assert_eq!(patched.json::<Value>()["category"], Value::Null);
    let tag = patched.header("etag").unwrap();
    ada.check(&format!("PATCH {place}\n\n{{}}"), 200).await;

    for (patch, field) in [
        (r#"{"price":-1}"#, "price"),
        (r#"{"price":null}"#, "price"),
        (r#"{"name":""}"#, "name"),
        (r#"{"tags":["a","b","c","d","e","f"]}"#, "tags"),
        (r#"{"tags":[1]}"#, "tags[0]"),
        (r#"{"size":"huge"}"#, "size"),
    ] {
        let refused = ada.check(&merge(patch), 400).await;
        assert_eq!(refused.json::<Value>()["details"]["errors"][0]["field"], field, "{patch}");
    }
    for whole in ["7", "null", "[]", "\"a\"", "{", ""] {
        ada.check(&merge(whole), 400).await;
    }
    let other = format!("PATCH {place}\ncontent-type: text/plain\n\nhi");
    let other = ada.check(&other, 415).await;
    assert!(other.header("accept-patch").unwrap().contains("application/merge-patch+json"));
    ada.check(&format!("PUT {place}\ncontent-type: application/merge-patch+json\n\n{{}}"), 415)
        .await;

    let minimal = format!("PATCH {place}\nprefer: return=minimal\n\n{{\"price\":4}}");
    let minimal = ada.check(&minimal, 204).await;
    minimal.assert_empty().assert_header("preference-applied", "return=minimal");
    assert_ne!(minimal.header("etag").unwrap(), tag);
    assert_eq!(ada.get(&place).await.json::<Value>()["price"], 4);
    let made = format!("POST /items\nprefer: return=minimal\n\n{}", item("c", 1));
    let made = ada.raw(&made).await;
    made.assert_status(201).assert_empty();
    ada.get(&made.header("location").unwrap()).await.assert_status(200);
}

pub(super) async fn conditions<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let made = ada.send(Method::POST, "/items", &item("a", 1)).await;
    let place = made.header("location").unwrap();
    let first = made.header("etag").unwrap();
    let put = |tags: &str| format!("PUT {place}\nif-match: {tags}\n\n{}", item("a", 2));
    let second = ada.check(&put(&first), 200).await.header("etag").unwrap();
    for stale in [&*first, "W/\"v2\"", "\"other\"", "\"v99999999999999999999\"", "nonsense"] {
        let refused = ada.check(&put(stale), 412).await;
        refused.assert_header("etag", &second);
        let patch = format!("PATCH {place}\nif-match: {stale}\n\n{{\"price\":9}}");
        ada.check(&patch, 412).await.assert_header("etag", &second);
        let delete = format!("DELETE {place}\nif-match: {stale}");
        ada.check(&delete, 412).await.assert_header("etag", &second);
    }
    ada.check(&format!("PUT {place}\nif-none-match: *\n\n{}", item("a", 2)), 412).await;
    ada.check(&format!("DELETE {place}\nif-none-match: {second}"), 412).await;
    assert_eq!(ada.get(&place).await.json::<Value>()["price"], 2);

    let third = ada.check(&put(&format!("\"v0\", {second}")), 200).await.header("etag").unwrap();
    ada.check(&put("*"), 200).await;
    ada.check(&put(&third), 412).await;
    ada.check(&format!("DELETE {place}\nif-match: *"), 204).await;
    ada.check(&put("*"), 404).await;
    ada.check(&put(&third), 404).await;
}

pub(super) async fn refusals<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store.clone(), "ada");
    for (body, field, rule) in [
        (json!({}), "name", "required"),
        (with(item("a", 1), json!({ "name": " " })), "name", "minLength"),
        (with(item("a", 1), json!({ "price": 1_000_001 })), "price", "maximum"),
        (with(item("a", 1), json!({ "price": 1.5 })), "price", "type"),
        (with(item("a", 1), json!({ "tags": "a" })), "tags", "type"),
        (with(item("a", 1), json!({ "sold_out": null })), "sold_out", "type"),
    ] {
        let refused = ada.send(Method::POST, "/items", &body).await;
        refused.assert_status(400).assert_field_error(field, rule);
    }
    for body in ["[]", "null", "7", "", "{", "{}{}", r#"{"name":"a","name":"b"}"#] {
        ada.check(&format!("POST /items\ncontent-type: application/json\n\n{body}"), 400).await;
    }
    ada.check("POST /items\ncontent-type: application/x-www-form-urlencoded\n\nname=a", 415).await;
    let large = with(item("a", 1), json!({ "category": "x".repeat(1 << 20) }));
    ada.send(Method::POST, "/items", &large).await.assert_status(413);
    assert_eq!(ada.names("").await, "");

    ada.send(Method::POST, "/items", &item("a", 1)).await.assert_status(201);
    let twice = ada.send(Method::POST, "/items", &item("a", 2)).await;
    twice.assert_status(409).assert_field_error("name", "unique");
    let other = ada.send(Method::POST, "/items", &item("b", 2)).await;
    let place = other.header("location").unwrap();
    ada.send(Method::PUT, &place, &item("a", 3)).await.assert_status(409);
    ada.check(&format!("PATCH {place}\n\n{{\"name\":\"a\"}}"), 409).await;
    assert_eq!(ada.get(&place).await.json::<Value>(), other.json::<Value>());
    assert_eq!(ada.names("").await, "a b");

    let nobody = Client::new(store, "eve");
    for line in ["GET /items", "GET /items/1", "DELETE /items/1", "PUT /items/1\n\n{}"] {
        nobody.check(line, 401).await;
    }
}
