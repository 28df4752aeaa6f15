//! The schemas of a document, and the references to them.

use serde_json::{Map, Value, json};
use stockade_routing::map::RouteMap;

/// The place of schemas in a map.
const IN_MAP: &str = "#/schemas/";

/// The place of schemas in a document.
const IN_DOCUMENT: &str = "#/components/schemas/";

/// Returns the schemas of the types, and those of errors.
pub(super) fn all(map: &RouteMap) -> Value {
    let mut schemas: Map<String, Value> = map.schemas.clone().into_iter().collect();
    for (name, schema) in errors(map) {
        schemas.insert(name.to_owned(), schema);
    }
    Value::Object(schemas)
}

/// Returns the name of the schema of an error.
pub(super) fn error_name(map: &RouteMap, of_validation: bool) -> &'static str {
    match (map.router.problem_details, of_validation) {
        (true, _) => "Problem",
        (false, true) => "ValidationError",
        (false, false) => "Error",
    }
}

/// Returns the media type of an error.
pub(super) fn error_media_type(map: &RouteMap) -> &'static str {
    if map.router.problem_details { "application/problem+json" } else { "application/json" }
}

fn errors(map: &RouteMap) -> Vec<(&'static str, Value)> {
    let fields = json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["field", "message", "rule"],
            "properties": {
                "field": { "type": "string", "description": "The path of the field, such as `address.city`" },
                "message": { "type": "string", "description": "The message, for people" },
                "rule": { "type": "string", "description": "The rule that it breaks, such as `maxLength`" },
            },
        },
    });
    if map.router.problem_details {
        // RFC 9457, section 3.
        let problem = json!({
            "type": "object",
            "description": "A problem (RFC 9457)",
            "required": ["type", "title", "status"],
            "properties": {
                "type": { "type": "string", "format": "uri-reference" },
                "title": { "type": "string" },
                "status": { "type": "integer", "minimum": 100, "maximum": 599 },
                "detail": { "type": "string" },
                "details": { "description": "More about it; of a failed validation the fields" },
            },
        });
        return vec![("Problem", problem)];
    }
    let error = json!({
        "type": "object",
        "description": "An error",
        "required": ["error"],
        "properties": {
            "error": { "type": "string", "description": "The message, for people" },
            "details": { "description": "More about it" },
        },
    });
    let validation = json!({
        "type": "object",
        "description": "An error that may list the fields that failed",
        "required": ["error"],
        "properties": {
            "error": { "type": "string", "description": "The message, for people" },
            "details": {
                "type": "object",
                "properties": { "errors": fields },
            },
        },
    });
    vec![("Error", error), ("ValidationError", validation)]
}

/// Lets the references to the schemas of a map point to those of a document, and
/// writes the schema of any value as `{}`.
pub(super) fn point_to_components(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match value {
                    Value::String(text) if key == "$ref" => {
                        if let Some(name) = text.strip_prefix(IN_MAP) {
                            *text = format!("{IN_DOCUMENT}{name}");
                        }
                    }
                    // Some tools know no schemas that are `true`.
                    Value::Bool(true) if key == "schema" => *value = json!({}),
                    value => point_to_components(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(point_to_components),
        _ => {}
    }
}
