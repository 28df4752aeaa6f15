//! Untagged unions in bodies, queries, forms, replies and documents.
// Spec: Validation schemas.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use stockade::openapi::{OpenApiOptions, open_api, to_3_0};
use stockade::prelude::*;
use stockade::testing::{Contract, SchemaReport, check_schemas};

use crate::openapi::official::validate::validate;
use crate::support::{app_of, block_on, call, check};

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(untagged)]
enum Payment {
    Card {
        token: String,
        #[serde(alias = "name")]
        #[schema(max_length = 10)]
        holder: Option<String>,
    },
    Invoice {
        #[schema(max_length = 20)]
        vat_id: String,
    },
    Points(u32),
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(untagged)]
enum Filter {
    ById { id: u64 },
    ByName { name: String, tags: Option<Vec<String>> },
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Delivery {
    Post { city: String },
    Pickup,
}

#[derive(Debug, Deserialize, Serialize, Schema)]
struct Order {
    id: u32,
    payment: Payment,
    #[serde(flatten)]
    delivery: Option<Delivery>,
    others: Vec<Payment>,
}

#[derive(Debug, Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Event {
    Created(u32),
    Renamed { from: String, to: String },
    Moved(i8, i8),
    Gone,
}

fn api() -> RouteTree {
    routes! {
        "payments": { POST: async |Body(it): Body<Payment>| it },
        "orders": { POST: async |Body(it): Body<Order>| it },
        "events": { POST: async |Body(it): Body<Event>| it },
        "search": { GET: async |Query(it): Query<Filter>| it },
        "filters": { POST: async |Body(it): Body<Filter>| it },
    }
}

#[test]
fn an_error_names_the_closest_variant() {
    let app = app_of(api());
    check(
        &app,
        "POST /payments\ncontent-type: application/json\n\n{\"vat_id\": 7}",
        r#"400 {"error":"Validation failed","details":{"errors":[{"field":"vat_id","message":"Expected string, got number","rule":"type"}]}}"#,
    );
    check(
        &app,
        "POST /payments\ncontent-type: application/json\n\n{\"token\": \"a\", \"name\": \"Ada\"}",
        r#"200 {"token":"a","holder":"Ada"}"#,
    );
    check(
        &app,
        "POST /payments\ncontent-type: application/json\n\n{\"token\": \"a\", \"name\": \"b\", \"holder\": \"c\"}",
        r#"400 {"error":"Validation failed","details":{"errors":[{"field":"holder","message":"Duplicate field 'holder'","rule":"type"}]}}"#,
    );
    check(
        &app,
        "POST /payments\ncontent-type: application/json\n\ntrue",
        r#"400 {"error":"Validation failed","details":{"errors":[{"field":"","message":"Expected object or integer, got boolean","rule":"type"}]}}"#,
    );
    check(
        &app,
        "POST /orders\ncontent-type: application/json\n\n{\"id\": 1, \"payment\": 5, \"kind\": \"post\", \"others\": [{\"vat_id\": 1}]}",
        r#"400 {"error":"Validation failed","details":{"errors":[{"field":"city","message":"Required field 'city' is missing","rule":"required"},{"field":"others[0].vat_id","message":"Expected string, got number","rule":"type"}]}}"#,
    );
}

#[test]
fn queries_and_forms_select_a_variant_by_their_texts() {
    let app = app_of(api());
    check(&app, "GET /search?id=7", r#"200 {"id":7}"#);
    check(&app, "GET /search?name=7&tags=a", r#"200 {"name":"7","tags":["a"]}"#);
    check(&app, "GET /search?name=a&tags=a&tags=b", r#"200 {"name":"a","tags":["a","b"]}"#);
    check(
        &app,
        "GET /search?id=x",
        r#"400 {"error":"Validation failed","details":{"errors":[{"field":"id","message":"Expected integer, got string","rule":"type"}]}}"#,
    );
    check(
        &app,
        "POST /filters\ncontent-type: application/x-www-form-urlencoded\n\nid=7",
        r#"200 {"id":7}"#,
    );
}

/// Returns the violations of the official schema.
fn breaches(document: &Value, schema: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors = validator.iter_errors(document);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn documents_of_unions_are_valid() {
    let app = app_of(api());
    let document = open_api(&app, &OpenApiOptions::new("Shop", "1")).unwrap();
    assert_eq!(validate(&document), Ok(()));
    let payment = &document["components"]["schemas"]["Payment"];
    assert_eq!(payment["anyOf"].as_array().map(Vec::len), Some(3), "{payment}");
    let (older, lost) = to_3_0(&document);
    let lost: Vec<_> = lost.iter().filter(|line| !line.contains("prefixItems")).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let official = include_str!("../../vectors/openapi/3.0.json");
    assert_eq!(breaches(&older, official), [""; 0], "{older}");
}

async fn report_of(router: Router) -> SchemaReport {
    check_schemas(router).kept_in(None).try_run().await.unwrap()
}

#[tokio::test]
async fn check_schemas_sends_each_variant() {
    let router = || create_router(api(), RouterOptions::new().rate_limit(false));
    let report = report_of(router()).await;
    assert!(report.is_passed(), "{report}");
    for route in &report.routes {
        assert_eq!((route.valid, route.replies[&200]), (64, 64), "{report}");
    }
    let seen = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let names = std::sync::Arc::clone(&seen);
    let note = routes! {
        "payments": { POST: async move |Body(it): Body<Payment>| {
            let name = match it {
                Payment::Card { .. } => "card",
                Payment::Invoice { .. } => "invoice",
                Payment::Points(_) => "points",
            };
            names.lock().unwrap().insert(name);
        } },
    };
    let report = report_of(create_router(note, RouterOptions::new().rate_limit(false))).await;
    assert!(report.is_passed(), "{report}");
    assert_eq!(seen.lock().unwrap().len(), 3);
}

#[test]
fn responses_of_unions_satisfy_the_contract() {
    let contract = Contract::of(&app_of(api()));
    block_on(async {
        for body in [r#"{"token":"a","holder":null}"#, r#"{"vat_id":"a"}"#, "7"] {
            let request = format!("POST /payments\ncontent-type: application/json\n\n{body}");
            assert_eq!(call(&contract, &request).await, format!("200 {body}"));
        }
    });
}

/// A reply may borrow its text, while a body owns the text that it reads.
#[test]
fn types_with_lifetimes_can_be_responses_and_bodies() {
    #[derive(Serialize, Deserialize, Schema)]
    struct Note<'a> {
        #[schema(max_length = 5)]
        text: Cow<'a, str>,
    }

    let app = app_of(routes! {
        "note": {
            GET: async || Note { text: Cow::Borrowed("a") },
            POST: async |Body(it): Body<Note<'static>>| it.text.into_owned(),
        },
    });
    check(&app, "GET /note", r#"200 {"text":"a"}"#);
    check(&app, "POST /note\ncontent-type: application/json\n\n{\"text\": \"b\"}", "200 b");
}
