//! The body and the responses of the route, derived from the map of its
//! methods.

use serde_json::{Map, Value, json};
use stockade_routing::map::{BodyDoc, Need, RouteInfo, StatusDoc};

/// Describes the body and the responses of the route. The body is a call of one
/// of the methods.
pub(crate) fn describe_route(route: &mut RouteInfo, methods: &[RouteInfo]) {
    let Some(body) = &mut route.body else { return };
    let Some(content) = body.content.first_mut() else { return };
    content.media_type = "application/json".into();
    content.schema = json!({ "oneOf": methods.iter().map(call).collect::<Vec<_>>() });
    body.required = true;
    let mut answer = content.clone();
    answer.schema = answers(methods);
    let handler = route
        .answers
        .iter_mut()
        .find(|it| it.status == StatusDoc::Exact(200) && it.by == "handler");
    if let Some(handler) = handler {
        handler.body = BodyDoc::Content(vec![answer]);
    }
    if route.access.user != Need::Required && route.access.public.is_none() {
        route.access.public = Some("its methods are listed one by one".to_owned());
    }
}

/// Returns the name of a method.
pub(crate) fn name_of(method: &RouteInfo) -> &str {
    method.path.rsplit_once('#').map_or(&method.path, |(_, name)| name)
}

/// Returns the schema of a call of a method.
fn call(method: &RouteInfo) -> Value {
    let name = name_of(method);
    let mut properties = Map::new();
    properties.insert("jsonrpc".to_owned(), json!({ "const": "2.0" }));
    properties.insert("method".to_owned(), json!({ "const": name }));
    let mut required = vec!["jsonrpc", "method"];
    if let Some((schema, is_required)) = params(method) {
        properties.insert("params".to_owned(), schema.clone());
        required.extend(is_required.then_some("params"));
    }
    properties.insert("id".to_owned(), id());
    let mut schema = json!({
        "type": "object", "title": name, "properties": properties, "required": required,
    });
    if let Some(text) = method.docs.summary.as_ref() {
        schema["description"] = json!(text);
    }
    schema
}

/// Returns the schema of the parameters, and whether they are required.
pub(crate) fn params(method: &RouteInfo) -> Option<(&Value, bool)> {
    let body = method.body.as_ref()?;
    let is_json = |media_type: &str| matches!(media_type, "application/json" | "*/*");
    let content = body.content.iter().find(|content| is_json(&content.media_type))?;
    Some((&content.schema, body.required))
}

/// Returns the schema of the result of a method.
pub(crate) fn result(method: &RouteInfo) -> Value {
    let good = method.answers.iter().filter(|it| it.by == "handler" && it.status.is_success());
    let mut schemas: Vec<Value> = Vec::new();
    for answer in good {
        let schema = match &answer.body {
            BodyDoc::None => json!({ "type": "null" }),
            BodyDoc::Content(content) => {
                content.first().map_or(json!(true), |it| it.schema.clone())
            }
            _ => json!(true),
        };
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    }
    one_of(schemas)
}

fn one_of(mut schemas: Vec<Value>) -> Value {
    match schemas.len() {
        0 => json!(true),
        1 => schemas.remove(0),
        _ if schemas.contains(&json!(true)) => json!(true),
        _ => json!({ "anyOf": schemas }),
    }
}

/// Returns the schema of the response to one call or to a batch.
fn answers(methods: &[RouteInfo]) -> Value {
    let mut results = Vec::new();
    for schema in methods.iter().map(result) {
        if !results.contains(&schema) {
            results.push(schema);
        }
    }
    let with = |member: &str, schema: Value| {
        json!({
            "type": "object",
            "properties": { "jsonrpc": { "const": "2.0" }, member: schema, "id": id() },
            "required": [member, "id"],
        })
    };
    let error = json!({
        "type": "object",
        "properties": {
            "code": { "type": "integer" },
            "message": { "type": "string" },
            "data": {},
        },
        "required": ["code", "message"],
    });
    let (good, bad) = (with("result", one_of(results)), with("error", error));
    json!({
        "anyOf": [good, bad, { "type": "array", "items": { "anyOf": [good, bad] } }],
    })
}

fn id() -> Value {
    json!({ "type": ["string", "number", "null"] })
}
