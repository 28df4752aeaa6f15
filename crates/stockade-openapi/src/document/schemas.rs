//! The schemas of a document, and the references to them.

use serde_json::{Map, Value, json};
use stockade_map::schemas::PLACE as SCHEMAS;
use stockade_routing::map::RouteMap;

/// The place of schemas in a document.
const IN_DOCUMENT: &str = "#/components/schemas/";

/// Returns the schemas of the types, and those of errors.
pub(super) fn all(map: &RouteMap) -> Map<String, Value> {
    let mut schemas: Map<String, Value> = map.schemas.clone().into_iter().collect();
    for is_validation in [false, true] {
        let name = map.error_schema_name(is_validation).into_owned();
        schemas.insert(name, map.error_schema(is_validation));
    }
    let mut names = map.problem_schema_names();
    for (uri, problem) in map.problems() {
        let name = names.remove(uri).unwrap_or_default();
        schemas.insert(name, map.problem_schema(problem));
    }
    schemas
}

/// Lets the references to the schemas of a map point to those of a document, and
/// writes the schema of any value as `{}`.
pub(super) fn point_to_components(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match value {
                    Value::String(text) if key == "$ref" => {
                        if let Some(name) = text.strip_prefix(SCHEMAS) {
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
