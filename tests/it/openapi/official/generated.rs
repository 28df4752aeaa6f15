//! Documents of generated routes and schemas.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::{Method, Router, Value};

use super::validate::validate;

/// A route as data.
#[derive(Clone, Debug)]
struct Route {
    method: &'static str,
    segments: Vec<String>,
    schema: Value,
}

fn segment() -> impl Strategy<Value = String> {
    const WORDS: &[&str] =
        &["users", "orders", "a~b", "v1", ":id", r":id(\d+)", ":name(a|b)", "x-:x", ":f.json"];
    select(WORDS).prop_map(str::to_owned)
}

/// Schemas of every type, nested objects, and strings with patterns that need a
/// different notation in ECMA-262.
fn schema() -> impl Strategy<Value = Value> {
    let patterns = select(&[r"^\d+$", r"\Aab\z", "(?i)abc", r"\x41", "[a-z&&[^b]]"][..]);
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({ "type": "boolean" })),
        any::<i32>().prop_map(|least| json!({ "type": "integer", "minimum": least })),
        any::<u8>().prop_map(|most| json!({ "type": "string", "maxLength": most, "trim": true })),
        patterns.prop_map(|pattern| json!({ "type": "string", "pattern": pattern })),
        select(&["email", "uri", "date-time", "uuid"][..])
            .prop_map(|format| json!({ "type": "string", "format": format })),
        Just(json!({ "enum": ["a", 1, null] })),
        Just(json!({ "type": ["string", "null"] })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({ "type": "array", "items": items, "maxItems": 3 })),
            (inner.clone(), inner, any::<bool>()).prop_map(|(a, b, required)| {
                let names: &[&str] = if required { &["a", "b c"] } else { &["a"] };
                json!({ "type": "object", "properties": { "a": a, "b c": b }, "required": names })
            }),
        ]
    })
}

fn route() -> impl Strategy<Value = Route> {
    let method = select(&["GET", "POST", "PUT", "PATCH", "DELETE"][..]);
    let segments = prop::collection::vec(segment(), 0..4);
    let last = select(&["", ":more?", "**", "*"][..]);
    (method, segments, last, schema()).prop_map(|(method, segments, last, schema)| {
        let mut segments = segments;
        segments.extend((!last.is_empty()).then(|| last.to_owned()));
        // A path cannot contain the same name more than once.
        let mut seen = BTreeSet::new();
        segments.retain(|segment| {
            let name = segment.split_once(':').and_then(|(_, name)| name.chars().next());
            name.is_none_or(|name| seen.insert(name))
        });
        Route { method, segments, schema }
    })
}

/// Returns the document, or `None` if the routes conflict.
fn document<'r>(routes: impl IntoIterator<Item = &'r Route>) -> Option<Value> {
    let mut router = Router::new();
    for route in routes {
        let path = format!("/{}", route.segments.join("/"));
        let method: Method = route.method.parse().unwrap();
        let entry = router.route(method, &path, async || ());
        if route.method == "GET" {
            entry.query(json!({ "type": "object", "properties": { "q": route.schema } }));
        } else {
            entry.validation(route.schema.clone());
        }
    }
    open_api(&router.build().ok()?, &OpenApiOptions::new("Generated", "1.0.0")).ok()
}

#[test]
fn documents_of_any_routes_are_valid_and_always_the_same() {
    let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let made = Cell::new(0);
    let outcome = runner.run(&prop::collection::vec(route(), 1..6), |routes| {
        let Some(one) = document(&routes) else { return Ok(()) };
        made.set(made.get() + 1);
        prop_assert_eq!(validate(&one), Ok(()));
        let again = document(&routes).map(|it| it.to_string());
        prop_assert_eq!(Some(one.to_string()), again);
        // The order of the routes affects only the order of the paths.
        let other = document(routes.iter().rev());
        for part in ["info", "servers", "components"] {
            let other = other.as_ref().and_then(|other| other.get(part));
            prop_assert_eq!(one.get(part), other);
        }
        let shapes = |document: &Value| document["paths"].as_object().map_or(0, |it| it.len());
        prop_assert_eq!(Some(shapes(&one)), other.as_ref().map(shapes));
        Ok(())
    });
    outcome.unwrap();
    let made = made.get();
    assert!(made > 50, "only {made} of 150 lists of routes can stand beside each other");
}
