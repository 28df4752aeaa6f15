//! The types of webhooks in a document.

use stockade::openapi::{OpenApiOptions, Webhook, open_api, with_open_api};
use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::support::block_on;

#[derive(serde::Serialize, Schema)]
struct Order {
    lines: Vec<Line>,
}

#[derive(serde::Serialize, Schema)]
struct Line {
    count: u32,
}

mod events {
    use super::*;

    /// A different type from the `Order` of the replies.
    #[derive(serde::Serialize, Schema)]
    pub struct Order {
        pub number: u64,
        pub line: super::Line,
    }
}

fn app() -> App {
    let api =
        routes! { "orders": { GET: async || Json(Order { lines: vec![Line { count: 1 }] }) } };
    create_router(api, RouterOptions::new()).build().unwrap()
}

/// Returns the schema names of a document, sorted.
fn names(document: &Value) -> Vec<String> {
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut names: Vec<String> = schemas.keys().cloned().collect();
    names.sort_unstable();
    names
}

#[test]
fn webhook_types_share_the_names_of_the_map() {
    let options = OpenApiOptions::new("Shop", "1")
        .webhook("order.made", Webhook::of::<Order>())
        .webhook("order.shipped", Webhook::of::<Vec<events::Order>>())
        .webhook("plain", Webhook::schema(json!({ "type": "string" })));
    let document = open_api(&app(), &options).unwrap();
    let schema = |name: &str| {
        &document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"]
    };
    let place = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let names = names(&document);
    assert!(!names.iter().any(|name| name == "LineEvent"), "{names:?}");
    assert_eq!(*schema("plain"), json!({ "type": "string" }));

    // The two types called `Order` have separate schemas.
    let made = schema("order.made")["$ref"].as_str().unwrap();
    let shipped = schema("order.shipped")["items"]["$ref"].as_str().unwrap();
    let resolved = |reference: &str| document.pointer(reference.trim_start_matches('#')).unwrap();
    assert_eq!(resolved(made)["properties"]["lines"]["items"], place("Line"));
    assert_eq!(resolved(shipped)["properties"]["line"], place("Line"));
    assert_eq!(resolved(shipped)["properties"]["number"]["type"], "integer");
    let reply = &document["paths"]["/orders"]["get"]["responses"]["200"]["content"];
    assert_eq!(reply["application/json"]["schema"], place("Order"));
    assert_eq!(resolved("#/components/schemas/Order")["required"], json!(["lines"]));
}

#[test]
fn a_single_type_keeps_its_name() {
    let options = OpenApiOptions::new("Shop", "1").webhook("made", Webhook::of::<Order>());
    let document = open_api(&app(), &options).unwrap();
    assert_eq!(names(&document), ["Error", "Line", "Order"]);
    let options = OpenApiOptions::new("Shop", "1").webhook("made", Webhook::of::<events::Order>());
    let document = open_api(&app(), &options).unwrap();
    assert_eq!(names(&document), ["Error", "Line", "Order", "OrderEvent"]);
}

#[test]
fn duplicate_webhook_names_are_errors() {
    let options = OpenApiOptions::new("Shop", "1")
        .webhook("made", Webhook::of::<Order>())
        .webhook("made", Webhook::of::<Line>());
    let error = open_api(&app(), &options).unwrap_err().to_string();
    assert!(error.contains("duplicate webhook name \"made\""), "{error}");
}

#[test]
fn the_page_shows_webhooks_with_their_types() {
    let options = OpenApiOptions::new("Shop", "1").public("a test");
    let options = options.webhook("order.made", Webhook::of::<Order>().summary("It was made"));
    let api = routes! { "x": { GET: async || "x" } };
    let router = with_open_api(create_router(api, RouterOptions::new()), options);
    let page = block_on(async { TestClient::new(router).get("/docs").await.text().to_owned() });
    let section = page.split_once("<h2 id=webhooks>").unwrap().1;
    assert!(section.contains("<code>order.made</code>") && section.contains("It was made"));
    assert!(section.contains("<a href=#s-Order>Order</a>"), "{section}");
    for name in ["Order", "Line"] {
        assert!(page.contains(&format!("<details id=s-{name}>")), "{name}");
    }
}
