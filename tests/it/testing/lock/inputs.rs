//! Queries, headers and bodies of requests.

use stockade::RouteDescription;
use stockade::prelude::*;
use stockade::validation::{Schema as AnySchema, Unchecked, ValidationOptions};

use super::{Mutation, api, asks, mutation, nothing, takes};

/// Returns a router that reads a body with a field `a` of this schema.
fn field(schema: Value) -> Router {
    takes(json!({ "type": "object", "properties": { "a": schema } }))
}

fn object(fields: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": fields, "required": required })
}

fn closed(is_closed: bool) -> Router {
    let schema = AnySchema::from_value(&object(json!({ "a": { "type": "string" } }), &[])).unwrap();
    let options = ValidationOptions::new().allow_unknown(!is_closed);
    api(
        routes! { "x": { POST: { handler: async || (), validation: schema, validation_options: options } } },
    )
}

fn reads(name: &'static str, required: bool) -> Router {
    let describe = move |doc: &mut RouteDescription| doc.reads_header(name, required);
    let middleware = Middleware::new(nothing).named("reads").describing(describe);
    api(routes! { "x": { GET: { handler: async || (), middleware: [middleware] } } })
}

fn plain() -> Router {
    let middleware =
        Middleware::new(nothing).named("reads").describing(|_: &mut RouteDescription| {});
    api(routes! { "x": { GET: { handler: async || (), middleware: [middleware] } } })
}

#[derive(serde::Deserialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only their schemas matter")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(serde::Deserialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only their schemas matter")]
enum Shapes {
    Circle { radius: f64 },
    Square { side: f64 },
    Line { length: f64 },
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only its schema matters")]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

mod taller {
    #[derive(serde::Deserialize, stockade::prelude::Schema)]
    #[expect(dead_code, reason = "only its schema matters")]
    pub struct Tree {
        #[schema(min_length = 3)]
        name: String,
        children: Vec<Tree>,
    }
}

pub fn all() -> Vec<Mutation> {
    fields().into_iter().chain(bounds()).chain(shapes()).chain(parts()).collect()
}

fn fields() -> Vec<Mutation> {
    let text = || json!({ "a": { "type": "string" } });
    let two = || json!({ "a": { "type": "string" }, "b": { "type": "string" } });
    let with_default =
        |value: &str| object(json!({ "a": { "type": "string", "default": value } }), &[]);
    vec![
        mutation(
            "a field of a request comes",
            (takes(object(text(), &[])), takes(object(two(), &[]))),
            "- request-field-added",
            "B request-field-removed",
        ),
        mutation(
            "a field of a request comes and has to be there",
            (takes(object(text(), &[])), takes(object(two(), &["b"]))),
            "B request-field-added-required",
            "B request-field-removed",
        ),
        mutation(
            "a field of a request has to be there",
            (takes(object(text(), &[])), takes(object(text(), &["a"]))),
            "B request-field-required",
            "- request-field-optional",
        ),
        mutation(
            "a parameter of the query comes",
            (asks(object(text(), &[])), asks(object(two(), &[]))),
            "- request-field-added",
            "B request-field-removed",
        ),
        mutation(
            "a parameter of the query has to be there",
            (asks(object(text(), &[])), asks(object(text(), &["a"]))),
            "B request-field-required",
            "- request-field-optional",
        ),
        mutation(
            "a default is another one",
            (takes(with_default("a")), takes(with_default("b"))),
            "B request-default-changed",
            "B request-default-changed",
        ),
        mutation(
            "a field has to be there no longer because of a default",
            (takes(object(text(), &["a"])), takes(with_default("a"))),
            "- request-field-optional",
            "B request-field-required",
        ),
        mutation(
            "unknown fields are refused",
            (closed(false), closed(true)),
            "B request-unknown-fields-refused",
            "W request-unknown-fields-allowed",
        ),
    ]
}

fn bounds() -> Vec<Mutation> {
    let of = |key: &str, value: Value| field(json!({ "type": "string", key: value }));
    let number = |key: &str, value: Value| field(json!({ "type": "number", key: value }));
    let list = |key: &str, value: Value| {
        field(json!({ "type": "array", "items": { "type": "string" }, key: value }))
    };
    let text = || field(json!({ "type": "string" }));
    vec![
        mutation(
            "a least length is greater",
            (of("minLength", json!(1)), of("minLength", json!(8))),
            "B request-bound-tightened",
            "W request-bound-loosened",
        ),
        mutation(
            "a greatest length comes",
            (text(), of("maxLength", json!(8))),
            "B request-bound-tightened",
            "W request-bound-loosened",
        ),
        mutation(
            "a maximum is smaller",
            (number("maximum", json!(10)), number("maximum", json!(9.5))),
            "B request-bound-tightened",
            "W request-bound-loosened",
        ),
        mutation(
            "a minimum does not fit itself",
            (number("minimum", json!(0)), number("exclusiveMinimum", json!(0))),
            "B request-bound-tightened",
            "W request-bound-loosened",
        ),
        mutation(
            "a list is longer",
            (list("maxItems", json!(5)), list("maxItems", json!(6))),
            "W request-bound-loosened",
            "B request-bound-tightened",
        ),
        mutation(
            "elements differ from each other",
            (list("uniqueItems", json!(false)), list("uniqueItems", json!(true))),
            "B request-bound-tightened",
            "W request-bound-loosened",
        ),
        mutation(
            "an expression comes",
            (text(), of("pattern", json!("^a$"))),
            "B request-pattern-added",
            "W request-pattern-removed",
        ),
        mutation(
            "an expression is another one",
            (of("pattern", json!("^a$")), of("pattern", json!("^a+$"))),
            "BW request-pattern-changed",
            "BW request-pattern-changed",
        ),
        mutation(
            "a format comes",
            (text(), of("format", json!("email"))),
            "B request-pattern-added",
            "W request-pattern-removed",
        ),
        mutation(
            "a value may be chosen",
            (of("enum", json!(["a"])), of("enum", json!(["a", "b"]))),
            "- request-value-added",
            "B request-value-removed",
        ),
        mutation(
            "values are listed",
            (text(), of("enum", json!(["a"]))),
            "B request-values-listed",
            "W request-values-free",
        ),
    ]
}

fn shapes() -> Vec<Mutation> {
    let of = |schema: Value| field(schema);
    vec![
        mutation(
            "a field of a request may be null",
            (of(json!({ "type": "string" })), of(json!({ "type": ["string", "null"] }))),
            "- request-type-widened",
            "B request-type-narrowed",
        ),
        mutation(
            "a whole number becomes any",
            (of(json!({ "type": "integer" })), of(json!({ "type": "number" }))),
            "- request-type-widened",
            "B request-type-narrowed",
        ),
        mutation(
            "a text becomes a number",
            (of(json!({ "type": "string", "maxLength": 3 })), of(json!({ "type": "number" }))),
            "B request-type-changed",
            "B request-type-changed",
        ),
        mutation(
            "a field takes anything",
            (of(json!({ "type": "string" })), of(json!({}))),
            "W request-type-removed",
            "B request-type-narrowed",
        ),
        mutation(
            "a variant of a request comes",
            (
                api(routes! { "x": { POST: async |Body(_): Body<Shape>| () } }),
                api(routes! { "x": { POST: async |Body(_): Body<Shapes>| () } }),
            ),
            "- request-variant-added schema-renamed",
            "B request-variant-removed schema-renamed",
        ),
        mutation(
            "a field of a schema that holds itself",
            (
                api(routes! { "x": { POST: async |Body(_): Body<Tree>| () } }),
                api(routes! { "x": { POST: async |Body(_): Body<taller::Tree>| () } }),
            ),
            "B request-bound-tightened",
            "W request-bound-loosened",
        ),
        mutation(
            "elements have another type",
            (
                of(json!({ "type": "array", "items": { "type": "string" } })),
                of(json!({ "type": "array", "items": { "type": "number" } })),
            ),
            "B request-type-changed",
            "B request-type-changed",
        ),
    ]
}

fn parts() -> Vec<Mutation> {
    let text = object(json!({ "a": { "type": "string" } }), &[]);
    let cookie = |required: bool| {
        let describe = move |doc: &mut RouteDescription| doc.reads_cookie("c", required);
        let middleware = Middleware::new(nothing).named("reads").describing(describe);
        api(routes! { "x": { GET: { handler: async || (), middleware: [middleware] } } })
    };
    let accepting = |types: &[&str]| {
        api(routes! { "x": { POST: { handler: async |_: Bytes| (), accepts: types } } })
    };
    vec![
        mutation(
            "a query is read",
            (api(routes! { "x": { GET: async || () } }), asks(text.clone())),
            "- error-added request-field-added",
            "B error-removed request-field-removed",
        ),
        mutation(
            "a body is read",
            (api(routes! { "x": { POST: async || () } }), takes(text)),
            "B error-added request-body-required",
            "B error-removed request-body-removed",
        ),
        mutation(
            "a raw body is read",
            (
                api(routes! { "x": { POST: async || () } }),
                api(routes! { "x": { POST: async |_: Bytes| () } }),
            ),
            "- error-added request-body-added",
            "B error-removed request-body-removed",
        ),
        mutation(
            "the media type of a body is described",
            (
                api(routes! { "x": { POST: async |_: Bytes| () } }),
                api(routes! { "x": { POST: async |_: Body<Unchecked<Value>>| () } }),
            ),
            "B error-added error-fields-listed request-body-required request-media-type-described",
            "B error-form-changed error-removed request-body-optional request-media-type-added",
        ),
        mutation(
            "fewer types are taken",
            (accepting(&["text/plain", "text/csv"]), accepting(&["text/plain"])),
            "B accepts-fewer",
            "W accepts-more",
        ),
        mutation(
            "a header is read",
            (plain(), reads("x-a", false)),
            "- request-header-added",
            "B request-header-removed",
        ),
        mutation(
            "a header has to be there",
            (reads("x-a", false), reads("x-a", true)),
            "B request-header-required",
            "- request-header-optional",
        ),
        mutation(
            "a cookie has to be there",
            (cookie(false), cookie(true)),
            "B request-header-required",
            "- request-header-optional",
        ),
    ]
}
