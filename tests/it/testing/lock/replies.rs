//! Responses and their bodies.

use stockade::RouteDescription;
use stockade::description::{Content, ContentSchema, HeaderDoc, ResponseDoc, StatusDoc};
use stockade::prelude::*;

use super::{Mutation, answers, api, mutation, nothing, sends};

/// Returns a router that responds with a field `a` of this schema.
fn field(schema: Value) -> Router {
    sends(object(json!({ "a": schema }), &["a"]))
}

fn object(fields: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": fields, "required": required })
}

pub fn all() -> Vec<Mutation> {
    fields()
        .into_iter()
        .chain(secrets())
        .chain(values())
        .chain(unions())
        .chain(statuses())
        .collect()
}

fn fields() -> Vec<Mutation> {
    let text = || json!({ "a": { "type": "string" } });
    let two = || json!({ "a": { "type": "string" }, "b": { "type": "string" } });
    vec![
        mutation(
            "a field of a reply goes",
            (sends(object(two(), &["a", "b"])), sends(object(text(), &["a"]))),
            "B reply-field-removed",
            "- reply-field-added",
        ),
        mutation(
            "a field of a reply may be absent",
            (sends(object(text(), &["a"])), sends(object(text(), &[]))),
            "B reply-field-optional",
            "- reply-field-required",
        ),
        mutation(
            "unknown fields come in a reply",
            (
                sends(json!({ "type": "object", "additionalProperties": false })),
                sends(json!({ "type": "object" })),
            ),
            "- reply-unknown-fields-allowed",
            "- reply-unknown-fields-refused",
        ),
        mutation(
            "values of a map have another type",
            (
                sends(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
                sends(json!({ "type": "object", "additionalProperties": { "type": "number" } })),
            ),
            "B reply-type-changed",
            "B reply-type-changed",
        ),
        mutation(
            "a description of a field",
            (
                field(json!({ "type": "string" })),
                field(json!({ "type": "string", "description": "The a" })),
            ),
            "- schema-text-changed",
            "- schema-text-changed",
        ),
        mutation(
            "a keyword that nobody knows",
            (
                field(json!({ "type": "string" })),
                field(json!({ "type": "string", "contentEncoding": "base64" })),
            ),
            "BW schema-unknown-changed",
            "BW schema-unknown-changed",
        ),
    ]
}

/// Returns mutations that add a secret to a response, one for each possible
/// way.
fn secrets() -> Vec<Mutation> {
    let text = || json!({ "type": "string" });
    let account = |fields: Value| sends(object(json!({ "account": object(fields, &[]) }), &[]));
    let key_of =
        |name: &str, schema: Value| sends(object(json!({ "a": text(), name: schema }), &[]));
    let plain = || sends(object(json!({ "a": text() }), &[]));
    let answer = |status: u16, fields: Value| {
        let schema = ContentSchema::Json(object(fields, &[]));
        ResponseDoc::new(status).content(Content::new("application/json", schema))
    };
    let both = |other: ResponseDoc| {
        let describe = move |doc: &mut RouteDescription| {
            doc.responds(answer(200, json!({ "a": { "type": "string" } })));
            doc.responds(other.clone());
        };
        let middleware = Middleware::new(nothing).named("answers").describing(describe);
        api(routes! { "x": { GET: { handler: async || (), middleware: [middleware] } } })
    };
    vec![
        mutation(
            "a hash of a password comes",
            (plain(), key_of("password_hash", text())),
            "W reply-field-added reply-secret-added",
            "B reply-field-removed",
        ),
        mutation(
            "a secret comes within a field",
            (account(json!({})), account(json!({ "apiKey": text() }))),
            "W reply-field-added reply-secret-added",
            "B reply-field-removed",
        ),
        mutation(
            "a whole account comes, with its token",
            (plain(), key_of("account", object(json!({ "token": text() }), &[]))),
            "W reply-field-added reply-secret-added",
            "B reply-field-removed",
        ),
        mutation(
            "an answer with a secret comes",
            (both(answer(202, json!({}))), both(answer(201, json!({ "secret": text() })))),
            "BW reply-secret-added success-added success-removed",
            "B success-added success-removed",
        ),
        mutation(
            "a route with a secret comes",
            (api(routes! {}), sends(object(json!({ "token": text() }), &[]))),
            "W reply-secret-added route-added-open",
            "B route-removed",
        ),
        mutation(
            "a number and a mark with names of secrets come",
            (
                plain(),
                sends(object(
                    json!({
                        "a": text(),
                        "max_tokens": { "type": "integer" },
                        "has_password": { "type": "boolean" },
                    }),
                    &[],
                )),
            ),
            "- reply-field-added",
            "B reply-field-removed",
        ),
    ]
}

fn values() -> Vec<Mutation> {
    let text = || json!({ "type": "string" });
    let of = |key: &str, value: Value| field(json!({ "type": "string", key: value }));
    vec![
        mutation(
            "a field of a reply may be null",
            (field(text()), field(json!({ "type": ["string", "null"] }))),
            "B reply-type-widened",
            "- reply-type-narrowed",
        ),
        mutation(
            "a field of a reply has another type",
            (field(text()), field(json!({ "type": "integer" }))),
            "B reply-type-changed",
            "B reply-type-changed",
        ),
        mutation(
            "nothing is known of a field any more",
            (field(text()), field(json!(true))),
            "B reply-type-widened",
            "- reply-type-narrowed",
        ),
        mutation(
            "a value of a reply is new",
            (of("enum", json!(["a"])), of("enum", json!(["a", "b"]))),
            "B reply-value-added",
            "- reply-value-removed",
        ),
        mutation(
            "values of a reply are listed",
            (field(text()), of("enum", json!(["a"]))),
            "- reply-values-listed",
            "B reply-values-free",
        ),
        mutation(
            "a text of a reply is longer",
            (of("maxLength", json!(5)), of("maxLength", json!(6))),
            "B reply-bound-loosened",
            "- reply-bound-tightened",
        ),
        mutation(
            "a text of a reply has a format",
            (field(text()), of("format", json!("date"))),
            "- reply-pattern-added",
            "B reply-pattern-removed",
        ),
        mutation(
            "a text of a reply has another expression",
            (of("pattern", json!("a")), of("pattern", json!("b"))),
            "B reply-pattern-changed",
            "B reply-pattern-changed",
        ),
    ]
}

fn unions() -> Vec<Mutation> {
    let kind = |kind: &str, field: &str| {
        object(json!({ "kind": { "const": kind }, field: { "type": "string" } }), &["kind", field])
    };
    let either = |variants: Value| field(json!({ "oneOf": variants }));
    let nothing = json!({ "type": "null" });
    let conditions = |list: Value| field(json!({ "type": "string", "allOf": list }));
    vec![
        mutation(
            "a variant of a reply is new",
            (either(json!([kind("a", "x")])), either(json!([kind("b", "x"), kind("a", "x")]))),
            "B reply-variant-added",
            "- reply-variant-removed",
        ),
        mutation(
            "a field of a variant goes",
            (
                either(json!([kind("a", "x"), kind("b", "y")])),
                either(json!([
                    kind("b", "y"),
                    object(json!({ "kind": { "const": "a" } }), &["kind"])
                ])),
            ),
            "B reply-field-removed",
            "- reply-field-added",
        ),
        mutation(
            "an object becomes one of two",
            (field(kind("a", "x")), either(json!([kind("a", "x"), nothing]))),
            "B reply-variant-added",
            "- reply-variant-removed",
        ),
        mutation(
            "a condition goes",
            (
                conditions(json!([{ "minLength": 1 }, { "pattern": "a" }])),
                conditions(json!([{ "minLength": 1 }])),
            ),
            "B reply-condition-removed",
            "- reply-condition-added",
        ),
    ]
}

fn statuses() -> Vec<Mutation> {
    let json = |status: u16| {
        let content = Content::new("application/json", ContentSchema::Any);
        ResponseDoc::new(status).content(content)
    };
    let any =
        |status: u16| ResponseDoc::new(status).content(Content::new("*/*", ContentSchema::Any));
    let text = || Content::new("text/plain", ContentSchema::Text);
    let class = || {
        let content = Content::new("application/json", ContentSchema::Any);
        ResponseDoc::new(StatusDoc::Class(2)).content(content)
    };
    let header = || HeaderDoc::new("X-A", "a header");
    let error = ResponseDoc::error;
    vec![
        mutation(
            "a success is another one",
            (answers(json(200)), answers(json(201))),
            "B success-added success-removed",
            "B success-added success-removed",
        ),
        mutation(
            "a success is one of its class",
            (answers(json(200)), answers(class())),
            "- success-added",
            "B success-added success-removed",
        ),
        mutation(
            "an error goes",
            (answers(error(402)), answers(ResponseDoc::new(204))),
            "- error-removed",
            "- error-added",
        ),
        mutation(
            "a media type of a reply goes",
            (answers(json(200).content(text())), answers(json(200))),
            "B reply-media-type-removed",
            "- reply-media-type-added",
        ),
        mutation(
            "the media type of a reply is described",
            (answers(any(200)), answers(json(200))),
            "- reply-media-type-described",
            "B reply-media-type-added reply-media-type-removed",
        ),
        mutation(
            "nothing is known of a reply any more",
            (answers(json(200)), answers(ResponseDoc::unknown(200))),
            "BW reply-not-described",
            "- reply-described",
        ),
        mutation(
            "a header of a reply goes",
            (answers(json(200).header(header())), answers(json(200))),
            "B reply-header-removed",
            "- reply-header-added",
        ),
        mutation(
            "a header of a reply comes sometimes",
            (answers(json(200).header(header())), answers(json(200).header(header().sometimes()))),
            "B reply-header-removed",
            "- reply-header-added",
        ),
        mutation(
            "an error has a body of its own",
            (answers(error(402)), answers(json(402))),
            "B error-form-changed reply-media-type-added",
            "B reply-media-type-removed",
        ),
    ]
}
