//! The lists that agents receive, the map, the document and the explanation.

use std::collections::BTreeMap;

use stockade::mcp::{Mcp, Tool};
use stockade::openapi::document;
use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::block_on;
use crate::support::public_mcp;

#[derive(serde::Deserialize, Schema)]
struct Filter {
    /// Only orders with one of these tags.
    tag: Option<Vec<String>>,
    #[serde(rename = "page[size]")]
    #[schema(minimum = 1, maximum = 50)]
    page_size: Option<u8>,
    #[schema(maximum = 18_446_744_073_709_551_615_u64)]
    after: Option<u64>,
}

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct Order {
    #[schema(min_length = 1)]
    city: String,
    lines: Vec<Line>,
    note: Option<String>,
}

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct Line {
    sku: String,
    parts: Vec<Self>,
}

#[derive(serde::Deserialize, Schema)]
struct WithId {
    id: String,
    city: String,
}

#[derive(serde::Deserialize, Schema)]
#[serde(tag = "kind")]
enum Payment {
    Card { number: String },
    Cash { amount: u32 },
}

/// Returns the tools of a tree by name, as agents receive them.
fn tools_of(api: RouteTree) -> BTreeMap<String, Value> {
    let agent = TestClient::new(create_router(api, RouterOptions::new())).mcp("/mcp");
    let list = block_on(async move { agent.tools().await.tools() });
    list.into_iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool)).collect()
}

/// Returns the input schema of the only tool of a route.
#[track_caller]
fn input_of(api: RouteTree) -> Value {
    let tools = tools_of(api);
    assert_eq!(tools.len(), 1);
    tools.values().next().unwrap()["inputSchema"].clone()
}

#[test]
fn a_tool_has_its_texts_its_schema_and_all_hints() {
    let list = async |Query(filter): Query<Filter>| {
        format!("{:?} {:?} {:?}", filter.tag, filter.page_size, filter.after)
    };
    let tools = tools_of(routes! {
        "mcp": { ..public_mcp() },
        "orders": { GET: {
            list, name: "orders.list",
            tool: Tool::new("Lists orders.").title("Orders").rename("page[size]", "page_size"),
        } },
    });
    let size = json!({ "type": "integer", "minimum": 1, "maximum": 50 });
    let expected = json!({
        "name": "orders_list",
        "title": "Orders",
        "description": "Lists orders.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tag": {
                    "description": "Only orders with one of these tags.",
                    "type": "array", "items": { "type": "string" },
                },
                "page_size": size,
                "after": { "type": "integer", "minimum": 0 },
            },
            "additionalProperties": false,
        },
        "annotations": {
            "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": true,
        },
    });
    assert_eq!(tools["orders_list"], expected);
}

#[test]
fn the_fields_of_a_body_are_arguments() {
    let create = async |Body(order): Body<Order>| Json(order);
    let input = input_of(routes! {
        "mcp": { ..public_mcp() },
        "orders": { ":id(\\d+)": { PUT: {
            async |Path(id): Path<u32>, body: Body<Order>| format!("{id} {}", body.0.city),
            name: "save", tool: "Saves an order.",
        } } },
    });
    assert_eq!(
        input,
        json!({
            "type": "object",
            "properties": {
                "id": { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                "city": { "type": "string", "minLength": 1 },
                "lines": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "sku": { "type": "string" },
                            "parts": { "type": "array", "items": { "type": "object" } },
                        },
                        "required": ["sku", "parts"],
                    },
                },
                "note": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            },
            "required": ["id", "city", "lines"],
            "additionalProperties": false,
        })
    );
    // The same body without a path.
    let tools = tools_of(routes! {
        "mcp": { ..public_mcp() },
        "orders": { POST: { create, name: "create", tool: "Creates an order." } },
    });
    assert_eq!(tools["create"]["inputSchema"]["required"], json!(["city", "lines"]));
}

#[test]
fn other_bodies_are_one_argument() {
    #[track_caller]
    fn check(api: RouteTree, arguments: &[&str]) {
        let input = input_of(api);
        let names: Vec<&String> = input["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, arguments, "{input}");
    }
    let mcp = public_mcp;
    check(
        routes! {
            "mcp": { ..mcp() },
            "a": { POST: { async |Body(it): Body<Vec<u8>>| it.len().to_string(), name: "a", tool: "A." } },
        },
        &["body"],
    );
    check(
        routes! {
            "mcp": { ..mcp() },
            "a": { POST: {
                async |Body(it): Body<Payment>| match it {
                    Payment::Card { number } => number,
                    Payment::Cash { amount } => amount.to_string(),
                },
                name: "a", tool: "A.",
            } },
        },
        &["body"],
    );
    check(
        routes! {
            "mcp": { ..mcp() },
            "a": { ":id": { POST: {
                async |Path(id): Path<u32>, Body(it): Body<WithId>| format!("{id} {} {}", it.id, it.city),
                name: "a", tool: "A.",
            } } },
        },
        &["id", "body"],
    );
    check(
        routes! {
            "mcp": { ..mcp() },
            "a": { ":id": { POST: {
                async |Path(id): Path<u32>, Body(it): Body<WithId>| format!("{id} {} {}", it.id, it.city),
                name: "a", tool: Tool::new("A.").rename("id", "order"),
            } } },
        },
        &["order", "body"],
    );
    check(
        routes! {
            "mcp": { ..mcp() },
            "a": { POST: { async |Body(it): Body<Value>| it.to_string(), name: "a", tool: "A." } },
        },
        &["body"],
    );
}

#[test]
fn no_schema_has_a_union_at_its_root_or_a_reference() {
    let tools = tools_of(routes! {
        "mcp": { ..public_mcp() },
        "a": {
            POST: {
                async |Body(it): Body<Payment>| match it {
                    Payment::Card { number } => number,
                    Payment::Cash { amount } => amount.to_string(),
                },
                name: "pay", tool: "Pays.",
            },
            PUT: { async |Body(it): Body<Order>| it.city, name: "put", tool: "Saves." },
        },
    });
    for tool in tools.values() {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        for key in ["oneOf", "anyOf", "allOf", "not", "if"] {
            assert!(schema.get(key).is_none(), "{schema}");
        }
        assert!(!schema.to_string().contains("$ref"), "{schema}");
    }
}

#[derive(serde::Serialize, Schema)]
struct Total {
    total: u64,
}

#[test]
fn the_schema_of_the_output_is_off_by_default() {
    let api = |tool: Tool| {
        routes! {
            "mcp": { ..public_mcp() },
            "total": { GET: { async || Json(Total { total: 3 }), name: "total", tool: tool } },
        }
    };
    assert!(tools_of(api(Tool::new("Counts.")))["total"].get("outputSchema").is_none());
    let tools = tools_of(api(Tool::new("Counts.").output_schema(true)));
    assert_eq!(
        tools["total"]["outputSchema"],
        json!({
            "type": "object",
            "properties": { "total": { "type": "integer", "minimum": 0 } },
            "required": ["total"],
        })
    );
}

/// A program with a tool that deletes an order.
fn app() -> App {
    let api = routes! {
        "mcp": { public: "a test", ..Mcp::new("Shop", "1.0.0").url("https://a.example/mcp").routes() },
        "orders": {
            "latest": { DELETE: async || "latest" },
            ":id": {
                DELETE: {
                    async |Path(id): Path<u64>| id.to_string(),
                    tool: Tool::new("Cancels an order.").name("orders_cancel").rename("id", "order")
                        .destructive(false),
                },
                GET: async |Path(id): Path<u64>| id.to_string(),
            },
        },
    };
    create_router(api, RouterOptions::new()).open_api(("Shop", "1.0.0")).build().unwrap()
}

#[test]
fn the_map_describes_the_tool_and_its_endpoint() {
    let map = app().route_map();
    let endpoint = map.routes.iter().find(|route| route.path == "/mcp").unwrap();
    let mcp = endpoint.mcp.as_deref().unwrap();
    assert_eq!((mcp.name.as_str(), mcp.max_tools), ("Shop", 128));
    let tools: Vec<_> = map.routes.iter().filter_map(|route| route.tool.as_deref()).collect();
    assert_eq!(tools.len(), 1);
    assert_eq!(
        (tools[0].name.as_str(), &*tools[0].loosened),
        ("orders_cancel", &["destructive".to_owned()][..])
    );
    assert_eq!(
        serde_json::to_value(&tools[0].arguments).unwrap(),
        json!([{ "name": "order", "in": "path", "original": "id" }])
    );
    // Older locks do not contain the new fields.
    let plain =
        map.routes.iter().find(|route| route.method == "GET" && route.path == "/orders/:id");
    let plain = serde_json::to_value(plain.unwrap()).unwrap();
    assert!(plain.get("tool").is_none() && plain.get("mcp").is_none(), "{plain}");
}

#[test]
fn the_document_describes_the_tool() {
    let document = document(&app().route_map(), &("Shop", "1.0.0").into()).unwrap();
    assert_eq!(
        document["paths"]["/orders/{id}"]["delete"]["x-mcp-tool"],
        json!({
            "name": "orders_cancel",
            "description": "Cancels an order.",
            "hints": {
                "readOnly": false, "destructive": false, "idempotent": true, "openWorld": true,
            },
            "renamed": { "order": "id" },
        })
    );
    assert!(document["paths"]["/orders/{id}"]["get"].get("x-mcp-tool").is_none());
}

#[test]
fn explains_the_call_of_a_tool() {
    let app = app();
    let found = app.explain(r#"TOOL orders_cancel {"order": 7}"#).unwrap();
    assert_eq!((found.method.as_str(), found.path.as_str()), ("DELETE", "/orders/7"));
    assert_eq!(found.tool.as_deref(), Some("orders_cancel"));
    assert!(found.route.as_ref().is_some_and(|route| route.tool.is_some()));
    assert!(found.to_string().contains("\n  tool     orders_cancel\n"), "{found}");
    assert!(!found.steps.iter().any(|step| step.name.contains("rate limit")), "{found}");

    let check = |line: &str, expected: &str| {
        let error = app.explain(line).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    };
    check("TOOL orders", "no tool has the name \"orders\"");
    check("TOOL orders_cancel", "Missing argument \"order\"");
    check("TOOL orders_cancel [7]", "the arguments must be a JSON object");
    check(r#"TOOL orders_cancel {"order": ""}"#, "Invalid argument \"order\"");
    check(r#"TOOL orders_cancel {"order": "latest"}"#, "does not belong to the route of the tool");
    let plain = create_router(routes! { "a": { GET: async || "a" } }, RouterOptions::new()).build();
    let error = plain.unwrap().explain("TOOL a").unwrap_err().to_string();
    assert_eq!(error, "the router does not have an endpoint for tools");
}
