//! Scopes, access rules and hidden fields, and an open resource.

use stockade::http::Method;
use stockade::prelude::*;
use stockade::rest::Store;

use super::{Client, Item, item, with};

pub(super) async fn scope<S: Store<Item> + Clone>(store: S) {
    let (ada, bob) = (Client::new(store.clone(), "ada"), Client::new(store, "bob"));
    let made = ada.send(Method::POST, "/items", &item("a", 1)).await;
    let (place, tag) = (made.header("location").unwrap(), made.header("etag").unwrap());
    bob.send(Method::POST, "/items", &item("b", 1)).await.assert_status(201);

    // No operation finds the rows of another user.
    assert_eq!((ada.names("").await, bob.names("").await), ("a".to_owned(), "b".to_owned()));
    assert_eq!(bob.names("name=a").await, "");
    bob.get("/items?count=exact").await.assert_header("x-total-count", "1");
    for condition in ["", &*format!("\nif-match: {tag}"), "\nif-match: *", "\nif-match: \"v0\""] {
        for line in [
            format!("GET {place}{condition}"),
            format!("GET {place}{condition}\nif-none-match: {tag}"),
            format!("PUT {place}{condition}\n\n{}", item("c", 1)),
            format!("PATCH {place}{condition}\n\n{{\"price\":2}}"),
            format!("DELETE {place}{condition}"),
        ] {
            bob.check(&line, 404).await.assert_no_header("etag");
        }
    }
    assert_eq!(ada.get(&place).await.json::<Value>(), made.json::<Value>());
    ada.get(&place).await.assert_header("etag", &tag);
}

pub(super) async fn open<S: Store<Item> + Clone>(store: S) {
    let client = Client::new(store.clone(), "ada");
    let made = client.send(Method::POST, "/open", &item("a", 1)).await;
    made.assert_status(201);
    assert_eq!(made.json::<Value>()["owner"], "nobody");
    let place = made.header("location").unwrap();
    let tag = made.header("etag").unwrap();
    client.get(&place).await.assert_header("cache-control", "no-cache");
    let put = format!("PUT {place}\n\n{}", item("a", 2));
    client.check(&put, 428).await;
    client.check(&format!("PATCH {place}\n\n{{}}"), 428).await;
    client.check(&format!("PATCH {place}\n\n{{"), 400).await;
    client.check(&format!("DELETE {place}"), 428).await;
    client.check(&format!("PUT {place}\nif-none-match: *\n\n{}", item("a", 2)), 412).await;
    client.check(&format!("PUT {place}\nif-match: {tag}\n\n{}", item("a", 2)), 200).await;

    // PUT creates a missing item.
    client.check(&format!("PUT /open/5000\nif-match: {tag}\n\n{}", item("b", 2)), 412).await;
    let made = format!("PUT /open/5000\nif-none-match: *\n\n{}", item("b", 2));
    let first = client.check(&made, 201).await;
    first.assert_header("location", "/open/5000");
    assert_eq!(first.json::<Value>()["id"], 5000);
    client.check(&made, 412).await;
    let old = first.header("etag").unwrap();
    client.check(&format!("DELETE /open/5000\nif-match: {old}"), 204).await;
    let again = client.check(&made, 201).await.header("etag").unwrap();
    assert_ne!(again, old, "an item that comes back has no old version");
}

pub(super) async fn validated<S: Store<Item> + Clone>(store: S) {
    let (ada, bob) = (Client::new(store.clone(), "ada"), Client::new(store, "bob"));
    let made = ada.send(Method::POST, "/items", &item("a", 1)).await;
    let place = made.header("location").unwrap().replace("items", "judged");
    bob.get(&place).await.assert_status(200);
    for line in [
        format!("PUT {place}\n\n{}", item("b", 1)),
        format!("PATCH {place}\n\n{{\"price\":2}}"),
        format!("DELETE {place}"),
    ] {
        bob.check(&line, 403).await;
    }
    ada.check(&format!("PATCH {place}\n\n{{\"price\":2}}"), 200).await;
    ada.check("GET /judged", 404).await;
    ada.check("DELETE /judged/999", 404).await;
    ada.check(&format!("PUT {place}\nif-match: \"v0\"\n\n{}", item("b", 1)), 412).await;
    ada.check(&format!("PUT {place}\n\n{}", item("b", 1)), 200).await;
    ada.check(&format!("DELETE {place}"), 204).await;
}

pub(super) async fn hidden<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let secret = with(item("a", 1), json!({ "secret": "hunter2" }));
    let made = ada.send(Method::POST, "/items", &secret).await;
    let place = made.header("location").unwrap();
    let other = ada.send(Method::POST, "/items", &item("b", 1)).await;
    let other_place = other.header("location").unwrap();
    let patched = ada.check(&format!("PATCH {place}\n\n{{\"price\":2}}"), 200).await;
    let pages = ada.get("/items?limit=1").await;
    let taken = ada.check(&format!("PATCH {other_place}\n\n{{\"secret\":\"hunter2\"}}"), 409).await;
    for answer in [made, ada.get(&place).await, patched, pages, taken] {
        let text = format!("{:?} {}", answer.headers(), answer.text());
        assert!(!text.contains("hunter2") && !text.contains("secret"), "{text}");
    }
    // The patch did not change the item, otherwise the value would be free.
    let free = ada.check(&format!("PATCH {other_place}\n\n{{\"secret\":\"hunter2\"}}"), 409).await;
    free.assert_status(409);
    ada.check(&format!("PATCH {place}\n\n{{\"secret\":\"other\"}}"), 200).await;
    ada.check(&format!("PATCH {other_place}\n\n{{\"secret\":\"hunter2\"}}"), 200).await;
}
