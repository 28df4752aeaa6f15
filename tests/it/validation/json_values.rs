//! The limit on untyped values in a JSON body, and other limits on bodies.

use std::collections::HashMap;

use serde::Deserialize;
use stockade::middleware::{with_input_validation, with_sanitization, with_validation};
use stockade::prelude::*;
use stockade::validation::Unchecked;
use stockade::websockets::WebSocketOptions;

use crate::support::{app, app_of, block_on, call, check, request, show};

const JSON: &str = "content-type: application/json";

#[derive(Deserialize, Schema)]
struct Call {
    method: String,
    params: Value,
}

#[derive(Deserialize, Schema)]
struct Numbers {
    numbers: Vec<u32>,
}

/// Returns a list with this number of values, including the list itself.
fn list(values: usize) -> String {
    format!("[{}0]", "0,".repeat(values - 2))
}

fn post(path: &str, body: &str) -> String {
    format!("POST {path}\n{JSON}\n\n{body}")
}

/// Routes for each way to parse a body as `Value`, with the number of values in
/// addition to an inner list.
fn ways() -> RouteTree {
    routes! {
        "value": { POST: async |Body(body): Body<Value>| json!(body.is_array()) },
        "unchecked": { POST: async |Body(Unchecked(body)): Body<Unchecked<Value>>| json!(body.is_array()) },
        "request": { POST: async |mut req: Request| req.body().await.map(|body| json!(body.is_array())) },
        "entry": { POST: { handler: async || "true", validation: schema!({ "type": "array" }) } },
        "schema": { POST: { handler: async || "true", middleware: [with_validation(schema!({ "type": "array" }))] } },
        "input": { POST: { handler: async || "true", middleware: [with_input_validation(json!({}))] } },
        "sanitized": { POST: { handler: async || "true", middleware: [with_sanitization()] } },
        "list": { POST: async |Body(body): Body<Vec<Value>>| json!(!body.is_empty()) },
        "call": { POST: async |Body(call): Body<Call>| json!(call.method == "m" && call.params.is_array()) },
        "calls": { POST: async |Body(calls): Body<HashMap<String, Vec<Call>>>| json!(calls.len() == 1) },
    }
}

#[test]
fn every_untyped_body_has_at_most_100_000_values() {
    let app = app_of(ways());
    for path in ["value", "unchecked", "request", "entry", "schema", "input", "sanitized", "list"] {
        // The elements of a `Vec<Value>` count, but the list itself does not.
        let most = if path == "list" { 100_001 } else { 100_000 };
        check(&app, &post(&format!("/{path}"), &list(most)), "200 true");
        let refused = r#"413 {"error":"Request body has more than 100000 values"}"#;
        check(&app, &post(&format!("/{path}"), &list(most + 1)), refused);
        let nested = format!("[{}[0]]", "[0],".repeat(262_000));
        check(&app, &post(&format!("/{path}"), &nested), refused);
    }
    for (path, before, after) in [
        ("/call", r#"{"method":"m","params":"#, "}"),
        ("/calls", r#"{"a":[{"method":"m","params":"#, "}]}"),
    ] {
        let around = |values| post(path, &[before, &list(values), after].concat());
        check(&app, &around(100_000), "200 true");
        let refused = r#"413 {"error":"Request body has more than 100000 values"}"#;
        check(&app, &around(100_001), refused);
    }
}

#[test]
fn valid_typed_bodies_are_bounded_only_by_size() {
    let app = app_of(routes! {
        "numbers": { POST: async |Body(body): Body<Numbers>| json!(body.numbers.len()) },
        "unchecked": { POST: async |Body(Unchecked(body)): Body<Unchecked<Vec<u8>>>| json!(body.len()) },
    });
    let numbers = |values| format!(r#"{{"numbers":{},"more":{}}}"#, list(values), list(values));
    check(&app, &post("/numbers", &numbers(200_001)), "200 200000");
    check(&app, &post("/unchecked", &list(300_001)), "200 300000");
    // The body is validated without its type to report the error.
    let wrong = |values| post("/numbers", &numbers(values).replace("0]", "-1]"));
    assert!(block_on(call(&app, &wrong(40_000))).starts_with("400 "));
    let refused = r#"413 {"error":"Request body has more than 100000 values"}"#;
    check(&app, &wrong(200_001), refused);
}

#[derive(Deserialize, Schema)]
struct Wide {
    _cells: Option<[u64; 32]>,
}

#[derive(Deserialize, Schema)]
struct Rows {
    #[schema(max_items = 100)]
    rows: Vec<Wide>,
}

#[test]
fn rejects_an_oversized_list_without_storing_it() {
    let app = app_of(routes! {
        "rows": { POST: async |Body(body): Body<Rows>| json!(body.rows.len()) },
    });
    let rows =
        |count: usize| post("/rows", &format!(r#"{{"rows":[{}{{}}]}}"#, "{},".repeat(count - 1)));
    check(&app, &rows(100), "200 100");
    let refused = request(&rows(300_000));
    let counted = allocation_counter::measure(|| {
        let answer = block_on(async { show(app.handle(refused).await).await });
        assert_eq!(answer, r#"413 {"error":"Request body has more than 100000 values"}"#);
    });
    // 300,000 values would need 80 MB, and 80 MB more while the list grows.
    assert!(counted.bytes_max < 10_000_000, "{} bytes", counted.bytes_max);
}

#[test]
fn routers_and_entries_can_set_the_limit() {
    let tree = || {
        routes! {
            "router": { POST: async |Body(body): Body<Value>| json!(body.is_array()) },
            "small": { POST: { handler: async |Body(body): Body<Value>| json!(body.is_array()), max_json_values: 3 } },
            "none": { POST: { handler: async |mut req: Request| req.body().await.map(|_| "true"), max_json_values: 0 } },
            "large": { POST: { handler: async |Body(body): Body<Value>| json!(body.is_array()), max_json_values: 300_000 } },
        }
    };
    let refused =
        |most: usize| format!(r#"413 {{"error":"Request body has more than {most} values"}}"#);
    let read: RouterOptions = serde_json::from_str(r#"{"maxJsonValues": 4000}"#).unwrap();
    for (options, most) in [(RouterOptions::new(), 100_000), (read, 4_000)] {
        let app = app(create_router(tree(), options));
        check(&app, &post("/router", &list(most)), "200 true");
        check(&app, &post("/router", &list(most + 1)), &refused(most));
    }
    let app = app(create_router(tree(), RouterOptions::new().max_json_values(5).rate_limit(false)));
    for (path, most) in [("/router", 5), ("/small", 3), ("/large", 300_000)] {
        check(&app, &post(path, &list(most)), "200 true");
        check(&app, &post(path, &list(most + 1)), &refused(most));
    }
    check(&app, &post("/none", "7"), &refused(0));
    check(&app, &post("/none", ""), "200 true");
}

#[test]
fn a_web_socket_has_a_separate_limit() {
    let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
    async fn handler(_socket: WebSocket) {}
    router.add_web_socket_route("/s", handler, WebSocketOptions::new()).max_json_values(1);
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("use `max_json_values` in its options"), "{error}");
}

#[test]
fn a_400_shortens_a_long_name() {
    let closed = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let app = app_of(routes! {
        "entry": { POST: { handler: async || (), validation: closed } },
        "form": { POST: async |Body(body): Body<HashMap<String, u8>>| json!(body.len()) },
    });
    let name = "n".repeat(1_000_000);
    let short = format!("{}…", "n".repeat(197));
    let expected = json!({
        "error": "Validation failed",
        "details": { "errors": [{
            "field": short,
            "message": format!("Unknown field '{short}'"),
            "rule": "additionalProperties",
        }] },
    });
    check(&app, &post("/entry", &format!(r#"{{"{name}":1}}"#)), &format!("400 {expected}"));
    let form = format!("POST /form\ncontent-type: application/x-www-form-urlencoded\n\n{name}=x");
    let answer = block_on(call(&app, &form));
    assert!(answer.starts_with("400 ") && answer.len() < 1_000, "{} bytes", answer.len());
}

#[test]
fn input_validation_reads_its_rules_from_json() {
    let mut router = Router::new();
    router.post("/x", async || "right").middleware(with_input_validation(json!({
        "name": { "required": true, "type": "string", "minLength": 2 },
        "zip": { "pattern": "^[0-9]{5}$" },
    })));
    let app = app(router);
    check(&app, &post("/x", r#"{"name":"Ada","zip":"12345"}"#), "200 right");
    check(
        &app,
        &post("/x", r#"{"zip":{"$ne":1}}"#),
        r#"400 {"error":"Validation failed","details":["name is required","zip must be of type string"]}"#,
    );

    let mut router = Router::new();
    let rules = json!({ "a": { "typ": "string" }, "b": { "pattern": "(" } });
    router.post("/x", async || ()).middleware(with_input_validation(rules));
    let line = line!() - 1;
    let error = router.build().unwrap_err().to_string();
    let place = format!("({}:{line})", file!());
    for part in [
        "POST /x",
        "with_input_validation: field `a`: unknown key `typ`",
        "invalid pattern",
        &place,
    ] {
        assert!(error.contains(part), "{part} in {error}");
    }
}
