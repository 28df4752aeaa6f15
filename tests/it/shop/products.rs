//! Products of the shop as a resource, and checkout of carts.

use serde_json::json;
use stockade::http::Method;
use stockade::prelude::*;
use stockade::rest::{NewRow, RowFilter, Store as _, VersionCheck};
use stockade::testing::TestClient;

use crate::shop::{ANN, CLEO, JSON, TEAPOT, bearer, example, now, shop, stocked, token};
use crate::support::{app, check, header_of};

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn products_are_read_as_a_resource() {
    let client = TestClient::new(shop().app()).with_contract();
    let names = |page: &Value| {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = client.get("/products?sort=-price_cents&limit=2&count=exact").await;
    first.assert_status(200).assert_header("x-total-count", "5");
    let first: Value = first.json();
    assert_eq!(names(&first), ["Teapot", "Coffee"]);
    let cursor = first["next"].as_str().unwrap();
    let next = client.get(format!("/products?sort=-price_cents&limit=9&cursor={cursor}")).await;
    let next: Value = next.json();
    assert_eq!(names(&next), ["Cup", "Green tea", "Black tea"]);
    assert_eq!(next["next"], Value::Null);
    let cheap = "/products?category=tea&category=coffee&price_cents[gte]=400&price_cents[lte]=700";
    assert_eq!(names(&client.get(cheap).await.json()), ["Green tea"]);
    for (query, field) in [
        ("categories=tea", "categories"),
        ("category=shoes", "category[0]"),
        ("price_cents[lt]=5", "price_cents[lt]"),
        ("sort=image_bytes", "sort"),
        ("cursor=x", "cursor"),
        ("limit=101", "limit"),
    ] {
        let refused = client.get(format!("/products?{query}")).await;
        refused.assert_status(400);
        let error: Value = refused.json();
        assert_eq!(error["details"]["errors"][0]["field"], field, "{error}");
    }

    let teapot = client.get("/products/3").await;
    teapot.assert_status(200).assert_header("x-shop", "stockade").assert_header("etag", "\"v1\"");
    assert_eq!(teapot.text(), TEAPOT);
    client.get("/products/9").await.assert_status(404);
    client.get("/products/teapot").await.assert_status(400).assert_field_error("id", "type");
}

#[tokio::test]
async fn clerks_write_products_at_a_known_version() {
    let client = TestClient::new(shop().app()).with_contract();
    let mug = json!({ "name": " Mug ", "category": "crockery", "price_cents": 700 });
    client.post("/products").json(&mug).await.assert_status(401);
    client.post("/products").json(&mug).bearer(token(ANN)).await.assert_status(403);
    let clerk = client.with_bearer(token(CLEO));
    let made = clerk.post("/products").json(&mug).await;
    made.assert_status(201)
        .assert_header("location", "/products/6")
        .assert_header("etag", "\"v1\"");
    let mut mug: Value = made.json();
    let expected = json!({
        "id": 6, "name": "Mug", "category": "crockery", "price_cents": 700, "image_bytes": 0,
    });
    assert_eq!(mug, expected);

    // Clients cannot set the shop's own fields.
    let cheaper = json!({ "price_cents": 650, "image_bytes": 9, "id": 1 });
    let changed = clerk.patch("/products/6").header("if-match", "\"v1\"").json(&cheaper).await;
    changed.assert_status(200).assert_header("etag", "\"v2\"");
    mug["price_cents"] = json!(650);
    assert_eq!(changed.json::<Value>(), mug);
    let late = clerk.patch("/products/6").header("if-match", "\"v1\"").json(&cheaper).await;
    late.assert_status(412).assert_header("etag", "\"v2\"");

    mug["name"] = json!("Large mug");
    let replaced = clerk.request(Method::PUT, "/products/6").json(&mug).await;
    replaced.assert_status(200);
    assert_eq!(replaced.json::<Value>(), mug);
    for (wrong, field, rule) in [
        (json!({ "price": 5 }), "price", "additionalProperties"),
        (json!({ "price_cents": 0 }), "price_cents", "minimum"),
        (json!({ "category": "shoes" }), "category", "enum"),
        (json!({ "name": "  " }), "name", "minLength"),
        (json!({ "name": null }), "name", "type"),
    ] {
        let refused = clerk.patch("/products/6").json(&wrong).await;
        refused.assert_status(400).assert_field_error(field, rule);
    }
    let form = "name=Mug&category=crockery&price_cents=700";
    let form = clerk.post("/products").header("content-type", FORM).body(form).await;
    form.assert_status(415);

    clerk.delete("/products/6").await.assert_status(204);
    clerk.get("/products/6").await.assert_status(404);
}

/// Creates a cart with two pieces of green tea, in the state of a checkout that
/// stopped during its three writes.
#[track_caller]
fn check_left_checkout(writes: usize, answer: &str) {
    let shop = stocked();
    let cart = [("owner", json!("2")), ("items", json!({ "1": 2 })), ("closed", json!(false))];
    now(shop.carts.create(NewRow::new(cart))).unwrap();
    if writes >= 1 {
        let closed = NewRow::new([("closed", json!(true))]);
        now(shop.carts.replace(&1, closed, VersionCheck::Any, &RowFilter::all())).unwrap();
    }
    if writes >= 2 {
        let order = [
            ("cart", json!(1)),
            ("owner", json!("2")),
            ("lines", json!([{ "product": 1, "count": 2, "cents": 900 }])),
            ("status", json!("placed")),
        ];
        now(shop.orders.create(NewRow::new(order))).unwrap();
    }
    let app = app(example::router(shop));
    let own = bearer(ANN);
    if writes >= 1 {
        let add = format!("POST /carts/1/items\n{own}\n{JSON}\n\n{{\"product\":5}}");
        check(&app, &add, r#"404 {"error":"there is no cart 1"}"#);
    }
    check(&app, &format!("POST /carts/1/checkout\n{own}"), answer);
    // The whole cart becomes one order, and the cart no longer exists.
    let order = r#"{"order":1,"status":"placed","lines":[{"product":1,"count":2,"cents":900}]}"#;
    check(&app, &format!("GET /orders/1\n{own}"), &format!("200 {order}"));
    check(&app, &format!("GET /orders/2\n{own}"), r#"404 {"error":"there is no order 2"}"#);
    check(&app, &format!("GET /carts/1\n{own}"), r#"404 {"error":"there is no cart 1"}"#);
}

/// A client without a response retries with the key of its first request.
#[test]
fn a_repeated_order_is_one_order() {
    let app = shop();
    let own = bearer(ANN);
    check(&app, &format!("POST /carts\n{own}"), r#"201 {"cart":1}"#);
    let item = format!("POST /carts/1/items\n{own}\n{JSON}\n\n{{\"product\":1}}");
    check(&app, &item, "204");
    let check_out = |key: &str| format!("POST /carts/1/checkout\n{own}\nidempotency-key: {key}");
    let replayed = |key: &str| header_of(&app, &check_out(key), "idempotency-replayed");
    check(&app, &check_out(r#""k-1""#), r#"201 {"order":1}"#);
    check(&app, &check_out(r#""k-1""#), r#"201 {"order":1}"#);
    assert_eq!(replayed(r#""k-1""#), "true");
    // A separate attempt by the user gets a 404 for the cart.
    check(&app, &check_out(r#""k-2""#), r#"404 {"error":"there is no cart 1"}"#);
    check(&app, &format!("GET /orders/2\n{own}"), r#"404 {"error":"there is no order 2"}"#);
}

#[test]
fn a_checkout_continues_an_earlier_one() {
    check_left_checkout(0, r#"201 {"order":1}"#);
    check_left_checkout(1, r#"201 {"order":1}"#);
    check_left_checkout(2, r#"409 {"error":"cart 1 is already an order"}"#);
}
