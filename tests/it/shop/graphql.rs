//! The shop over GraphQL: fields, access rules and order subscriptions.

use serde_json::json;
use stockade::prelude::*;
use stockade::rest::{NewRow, Store as _};
use stockade::testing::TestClient;

use crate::shop::{ANN, BOB, CLEO, example, now, stocked, token};
use crate::support::app;

/// Returns the shop with two pieces of green tea in each cart. Cart 1 is Ann's,
/// and cart 2 is Bob's.
fn with_carts() -> example::Shop {
    let shop = stocked();
    for owner in [ANN, BOB] {
        let owner = json!(owner.to_string());
        let cart = [("owner", owner), ("items", json!({ "1": 2 })), ("closed", json!(false))];
        now(shop.carts.create(NewRow::new(cart))).unwrap();
    }
    shop
}

/// Returns a client of the shop, with the messages of 5xx hidden.
fn client(shop: example::Shop) -> TestClient {
    let router = example::router(shop).map_options(|options| options.expose_errors(false));
    TestClient::new(app(router)).with_contract()
}

/// Returns the client, logged in as a user.
fn user(client: &TestClient, id: u32) -> TestClient {
    client.clone().with_bearer(token(id))
}

async fn ask(client: &TestClient, query: &str) -> Value {
    let response = client.post("/graphql").json(json!({ "query": query })).await;
    response.assert_status(200);
    response.json()
}

/// Checks the message and status of the first error in a response.
#[track_caller]
fn check_error(answer: &Value, message: &str, status: u16) {
    let error = &answer["errors"][0];
    assert_eq!(
        (&error["message"], &error["extensions"]["status"]),
        (&json!(message), &json!(status))
    );
}

#[tokio::test]
async fn everybody_can_read_products() {
    let client = client(stocked());
    let answer =
        ask(&client, "{ product(id: 3) { id name category priceCents imageBytes } }").await;
    let teapot = json!({
        "id": 3, "name": "Teapot", "category": "crockery", "priceCents": 2900, "imageBytes": 0,
    });
    assert_eq!(answer, json!({ "data": { "product": teapot } }));
    let answer =
        ask(&client, r#"{ products(first: 1, after: 1, category: "tea") { name } }"#).await;
    assert_eq!(answer, json!({ "data": { "products": [{ "name": "Black tea" }] } }));
    let answer = ask(&client, "{ products(first: 100) { id name category priceCents } }").await;
    assert_eq!(answer["data"]["products"].as_array().unwrap().len(), 5);

    let missing = ask(&client, "{ product(id: 9) { name } products { id } }").await;
    check_error(&missing, "there is no product 9", 404);
    assert_eq!(missing["data"]["product"], Value::Null);
    assert_eq!(missing["data"]["products"][4]["id"], 5);
}

#[tokio::test]
async fn lists_are_bounded_by_number_and_by_complexity() {
    let client = client(stocked());
    for first in [0, 101] {
        let answer = ask(&client, &format!("{{ products(first: {first}) {{ id }} }}")).await;
        assert!(answer["errors"][0]["message"].is_string(), "{answer}");
        assert!(answer["data"]["products"].is_null(), "{answer}");
    }
    let list = |alias: &str| format!("{alias}: products(first: 100) {{ id name category }}");
    let lists = ["a", "b", "c", "d"].map(list).join(" ");
    let answer = ask(&client, &format!("{{ {lists} }}")).await;
    assert!(answer.get("data").is_none(), "{answer}");
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1, "{answer}");
    let three = ["a", "b", "c"].map(list).join(" ");
    let answer = ask(&client, &format!("{{ {three} }}")).await;
    assert_eq!(answer["data"]["c"].as_array().unwrap().len(), 5, "{answer}");
}

#[tokio::test]
async fn only_the_owner_of_a_cart_can_order() {
    let anybody = client(with_carts());
    let order = "mutation { checkOut(cart: 1) { order } }";
    check_error(&ask(&anybody, order).await, "Unauthorized", 401);
    let bob = user(&anybody, BOB);
    check_error(&ask(&bob, order).await, "there is no cart 1", 404);
    let ann = user(&anybody, ANN);
    assert_eq!(ask(&ann, order).await, json!({ "data": { "checkOut": { "order": 1 } } }));
    check_error(&ask(&ann, order).await, "there is no cart 1", 404);
    let by_bob = ask(&bob, "mutation { checkOut(cart: 2) { order } }").await;
    assert_eq!(by_bob["data"]["checkOut"]["order"], 2);

    let one = "{ order(id: 1) { order status lines { product count cents } } }";
    let line = json!({ "product": 1, "count": 2, "cents": 900.0 });
    let placed = json!({ "order": 1, "status": "PLACED", "lines": [line] });
    assert_eq!(ask(&ann, one).await, json!({ "data": { "order": placed } }));
    check_error(&ask(&anybody, one).await, "Unauthorized", 401);
    check_error(&ask(&bob, one).await, "there is no order 1", 404);
    let clerk = user(&anybody, CLEO);
    assert_eq!(ask(&clerk, one).await["data"]["order"], placed);

    let own = "{ orders { order } }";
    assert_eq!(ask(&ann, own).await, json!({ "data": { "orders": [{ "order": 1 }] } }));
    assert_eq!(ask(&bob, own).await, json!({ "data": { "orders": [{ "order": 2 }] } }));
    assert_eq!(ask(&clerk, own).await, json!({ "data": { "orders": [] } }));
    check_error(&ask(&anybody, own).await, "Unauthorized", 401);
}

#[tokio::test]
async fn a_database_outage_reveals_nothing() {
    let shop = stocked();
    now(shop.database.run("DROP TABLE products")).unwrap();
    let client = client(shop);
    for query in ["{ product(id: 1) { name } }", "{ products { name } }"] {
        let answer = ask(&client, query).await;
        check_error(&answer, "Service Unavailable", 503);
        assert!(!answer.to_string().contains("table"), "{answer}");
    }
}

#[tokio::test]
async fn an_order_is_watched_by_a_web_socket() {
    let client = client(with_carts());
    let ann = user(&client, ANN);
    ask(&ann, "mutation { checkOut(cart: 1) { order } }").await;

    let subscribe = json!({
        "id": "a",
        "type": "subscribe",
        "payload": { "query": "subscription { orderStatus(id: 1) }" },
    });
    let status = |status: &str| json!({ "id": "a", "type": "next", "payload": { "data": { "orderStatus": status } } });
    let connect = async |payload: Value| {
        let mut socket =
            client.websocket("/graphql").protocol("graphql-transport-ws").connect().await;
        socket.send_json(json!({ "type": "connection_init", "payload": payload })).await;
        socket
    };
    let mut socket = connect(json!({ "authorization": token(ANN) })).await;
    assert_eq!(socket.receive_json::<Value>().await, json!({ "type": "connection_ack" }));
    socket.send_json(&subscribe).await;
    assert_eq!(socket.receive_json::<Value>().await, status("PLACED"));

    let mut other = connect(json!({ "authorization": token(BOB) })).await;
    assert_eq!(other.receive_json::<Value>().await, json!({ "type": "connection_ack" }));
    other.send_json(&subscribe).await;
    let refused: Value = other.receive_json().await;
    assert_eq!(refused["id"], "a");
    check_error(&refused["payload"], "there is no order 1", 404);
    assert!(!refused.to_string().contains("PLACED"), "{refused}");
    for payload in [json!({}), json!({ "authorization": "wrong" })] {
        assert_eq!(connect(payload).await.receive_close().await.0, 4403);
    }

    let clerk = user(&client, CLEO);
    clerk.post("/orders/1/ship").await.assert_status(204);
    assert_eq!(socket.receive_json::<Value>().await, status("SHIPPED"));
    assert_eq!(socket.receive_json::<Value>().await, json!({ "id": "a", "type": "complete" }));
}

#[tokio::test]
async fn an_order_is_watched_by_events() {
    let client = user(&client(with_carts()), ANN);
    ask(&client, "mutation { checkOut(cart: 1) { order } }").await;
    user(&client, CLEO).post("/orders/1/ship").await.assert_status(204);
    let watch = json!({ "query": "subscription { orderStatus(id: 1) }" });
    let events = client.post("/graphql").header("accept", "text/event-stream").json(&watch).await;
    let next = r#"{"data":{"orderStatus":"SHIPPED"}}"#;
    assert_eq!(events.text(), format!("event: next\ndata: {next}\n\nevent: complete\ndata: \n\n"));
}

#[tokio::test]
async fn browsers_get_the_page_and_the_schema() {
    let client = client(stocked());
    let page = client.get("/graphql").header("accept", "text/html").await;
    page.assert_status(200).assert_header("content-type", "text/html; charset=utf-8");
    let answer = ask(&client, "{ __schema { subscriptionType { fields { name } } } }").await;
    let fields = json!({ "fields": [{ "name": "orderStatus" }] });
    assert_eq!(answer, json!({ "data": { "__schema": { "subscriptionType": fields } } }));
}
