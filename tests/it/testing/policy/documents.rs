//! Policy rules about the documentation of routes.

use stockade::prelude::*;
use stockade::reply::Redirect;
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

/// The rules of each set, in the order of the code.
#[test]
fn the_reference_lists_exactly_the_rules() {
    let page = include_str!("../../../../book/src/reference/rules.md");
    let check = |heading: &str, rules: Vec<(String, String)>| {
        let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let listed: Vec<(String, String)> = rows
            .map(|row| {
                let cells: Vec<&str> = row.split('|').map(str::trim).collect();
                (cells[1].trim_matches('`').to_owned(), cells[2].to_owned())
            })
            .collect();
        assert_eq!(listed, rules, "{heading}");
    };
    let rules = |policy: Policy| -> Vec<(String, String)> {
        policy
            .rules()
            .map(|rule| (rule.id.to_string(), rule.owasp.clone().unwrap().to_string()))
            .collect()
    };
    let recommended = rules(Policy::recommended());
    let mut strict = rules(Policy::strict());
    strict.retain(|rule| !recommended.contains(rule));
    check("Rules of Policy::recommended", recommended);
    check("Additional rules of Policy::strict", strict);
}
