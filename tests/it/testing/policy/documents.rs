//! Policy rules about the documentation of routes.

use stockade::prelude::*;
use stockade::reply::Redirect;
use stockade::serde_json::Value;
use stockade::{Response, RouteDocs};

use super::*;

#[derive(serde::Serialize, Schema)]
struct Shown {
    id: u64,
}

#[derive(Debug, ApiError)]
enum Known {
    #[status(404, "there is none")]
    Missing,
}

#[test]
fn the_data_of_a_response_must_have_a_schema() {
    let tree = routes! {
        "typed": {
            GET: async || Json(Shown { id: 1 }),
            POST: async || (),
            PUT: async || "text",
            DELETE: async || Redirect::to("/"),
        },
        "value": { GET: async || json!({ "a": 1 }) },
        "response": { GET: async || Response::new("x".into()) },
        "chat": { ws: async |_: WebSocket| () },
        "inner": { mount: create_router(RouteTree::new(), RouterOptions::new()).build().unwrap() },
    };
    check("response-schema", tree, &["GET /value", "GET /response"]);
}

#[test]
fn errors_have_known_statuses() {
    let tree = routes! {
        "typed": { GET: async || Err::<(), Known>(Known::Missing) },
        "any": { GET: async || Err::<(), ApiError>(ApiError::new(418, "teapot")) },
        "none": { GET: async || "" },
        "inner": { mount: create_router(RouteTree::new(), RouterOptions::new()).build().unwrap() },
    };
    check("errors-typed", tree, &["GET /any"]);
}

#[test]
fn documented_routes_have_names_and_summaries() {
    let mut router = create_router(
        routes! {
            "both": { GET: { handler: async || "", name: "both", docs: "All of it" } },
            "name": { GET: { handler: async || "", name: "name" } },
            "summary": { GET: { handler: async || "", docs: "A summary" } },
            "blank": { GET: { handler: async || "", name: "blank", docs: "  " } },
            "hidden": { GET: { handler: async || "", docs: RouteDocs::new("").hidden("a test") } },
        },
        RouterOptions::new(),
    );
    router.fallback(async || "");
    let map = map_of(router);
    check_map("operation-named", &map, &["GET /summary"]);
    check_map("summary", &map, &["GET /name", "GET /blank"]);
}

#[test]
fn a_deprecated_route_must_have_a_sunset() {
    let old = || RouteDocs::new("Old").deprecated_since("2026-01-01");
    let tree = routes! {
        "open": { GET: { handler: async || "", docs: old() } },
        "word": { GET: { handler: async || "", docs: RouteDocs::new("Old").deprecated(true) } },
        "ends": { GET: { handler: async || "", docs: old().sunset("2027-01-01") } },
        "new": { GET: { handler: async || "", docs: "New" } },
    };
    check("deprecated-has-sunset", tree, &["GET /open", "GET /word"]);
}

#[test]
fn the_guide_lists_each_rule() {
    let guide = include_str!("../../../../book/src/reference/rules.md");
    let rows: Vec<&str> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    for rule in Policy::strict().rules() {
        let start = format!("| `{}` | {} |", rule.id, rule.owasp.as_deref().unwrap());
        assert!(rows.iter().any(|row| row.starts_with(&start)), "{start}");
    }
    let value: Value = json!(Policy::strict().rules().collect::<Vec<_>>());
    assert_eq!(value.as_array().map(Vec::len), Some(29));
}
