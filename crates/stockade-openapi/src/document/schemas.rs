//! The schemas of a document and the references to them.

use serde_json::{Map, Value, json};
use stockade_map::schemas::PLACE as SCHEMAS;
use stockade_routing::map::RouteMap;

/// The JSON pointer prefix of schemas.
const IN_DOCUMENT: &str = "#/components/schemas/";

/// Returns the schemas of types and errors.
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

/// Changes references to schemas of the map into references to components, and
/// writes the schema for any value as `{}`.
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
                    // Some tools do not support `true` as a schema.
                    Value::Bool(true) if key == "schema" => *value = json!({}),
                    value => point_to_components(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(point_to_components),
        _ => {}
    }
}
