//! Describes the routes.

use serde_json::{Value, json};
use stockade_core::description::{Content, ContentSchema, InputFrom, ResponseDoc};
use stockade_core::{BodyKind, RouteDescription};
use stockade_validation::{Schema, ValidationOptions};

use crate::accept::GRAPHQL;

/// Describes the POST route. `batch` is the maximum number of operations in a
/// batch.
pub(crate) fn describe_post(
    doc: &mut RouteDescription,
    batch: usize,
    has_uploads: bool,
    has_hashes: bool,
) {
    doc.reads_body(BodyKind::Typed);
    doc.may_respond(415, "The body is not JSON in UTF-8");
    let mut request = request("object", &["null"], has_hashes);
    if batch > 0 {
        // Object keywords do not affect a list, and list keywords do not affect
        // an object. So one schema can describe both.
        request["items"] = request.clone();
        request["type"] = json!(["object", "array"]);
        request["minItems"] = json!(1);
        request["maxItems"] = json!(batch);
    }
    checks(doc, InputFrom::Body, &request);
    if has_uploads {
        doc.reads_header("GraphQL-Require-Preflight", false);
        doc.may_respond(403, "The form lacks the header that protects against CSRF");
    }
    let events = ResponseDoc::text(200, "text/event-stream");
    doc.responds(events.meaning("The outcomes of the operation, as events"));
    describe_both(doc, batch > 0);
}

/// Describes the GET route.
pub(crate) fn describe_get(doc: &mut RouteDescription, has_hashes: bool) {
    // Requests from an origin that CORS lists are accepted.
    doc.guards_origin();
    doc.reads_header("Sec-Fetch-Site", false);
    doc.may_respond(403, "The request comes from another site");
    doc.may_respond(405, "The operation is not a query");
    checks(doc, InputFrom::Query, &request("string", &[], has_hashes));
    describe_both(doc, false);
}

/// Describes the GraphiQL page, another possible response to GET.
#[cfg(feature = "graphiql")]
pub(crate) fn describe_page(doc: &mut RouteDescription, has_page: bool) {
    if has_page {
        doc.responds(ResponseDoc::text(200, "text/html").meaning("The page of GraphiQL"));
        doc.responds(ResponseDoc::new(304).meaning("The page has not changed"));
    }
}

fn describe_both(doc: &mut RouteDescription, has_batches: bool) {
    let answer = |status: u16, schema: &Value, meaning: &'static str| {
        let content = |name| Content::new(name, ContentSchema::Json(schema.clone()));
        ResponseDoc::new(status)
            .content(content("application/json"))
            .content(content(GRAPHQL))
            .meaning(meaning)
    };
    let place = json!({
        "type": "integer", "minimum": 1, "maximum": i32::MAX, "format": "int32",
    });
    let location = json!({
        "type": "object",
        "properties": { "line": place, "column": place },
        "required": ["line", "column"],
    });
    // A field name, or an index in a list.
    let step = json!({
        "type": ["string", "integer"], "minimum": 0, "maximum": i32::MAX, "format": "int32",
    });
    let errors = json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {
                "message": { "type": "string" },
                "locations": { "type": "array", "items": location },
                "path": { "type": "array", "items": step },
                "extensions": { "type": "object" },
            },
            "required": ["message"],
        },
    });
    let properties = json!({
        "data": { "type": ["object", "null"] },
        "errors": errors,
        "extensions": { "type": "object" },
    });
    let outcome = json!({ "type": "object", "properties": properties });
    let outcome = if has_batches {
        json!({ "anyOf": [outcome, { "type": "array", "items": outcome }] })
    } else {
        outcome
    };
    let refusal = json!({
        "type": "object", "properties": { "errors": errors }, "required": ["errors"],
    });
    doc.responds(answer(200, &outcome, "The result of the operation"));
    doc.responds(answer(400, &refusal, "The operation did not run"));
    doc.responds(answer(413, &refusal, "The request has too many values"));
    doc.may_respond(406, "No supported response form is accepted");
}

/// Returns the schema of a request. `map` is the type of variables and
/// extensions. Optional members also accept the types in `or`. Without
/// persisted documents, only the document identifies the operation.
fn request(map: &str, or: &[&str], has_hashes: bool) -> Value {
    let optional = |own| {
        let types = [&[own], or].concat();
        if or.is_empty() { json!({ "type": own }) } else { json!({ "type": types }) }
    };
    let mut schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "The document." },
            "operationName": optional("string"),
            "variables": optional(map),
            "extensions": optional(map),
        },
        "required": ["query"],
    });
    if has_hashes {
        schema["properties"]["query"]["type"] = optional("string")["type"].take();
        schema["properties"]["documentId"] = optional("string");
        schema["required"] = json!([]);
    }
    schema
}

/// Declares the schema of a part of the request. The request handler is
/// stricter.
fn checks(doc: &mut RouteDescription, from: InputFrom, schema: &Value) {
    match Schema::from_value(schema) {
        Ok(schema) => {
            let options = ValidationOptions::new().allow_unknown(true);
            doc.checks(from, &schema, &options);
        }
        Err(error) => doc.issue(format!("this is a bug in stockade: {error}")),
    }
}
