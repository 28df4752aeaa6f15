//! References to the schemas of a map, and example numbers.

mod number;

use std::collections::BTreeSet;

use serde_json::Value;

pub use number::number;

/// The place of schemas in a map.
pub const PLACE: &str = "#/schemas/";

/// Returns the name of the map schema to which a schema refers.
#[must_use]
pub fn schema_name(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(PLACE)
}

/// Adds the names after `place` in the `$ref` references of a value.
pub fn references(value: &Value, place: &str, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "$ref" => {
                        let name = text.strip_prefix(place).filter(|name| !names.contains(*name));
                        names.extend(name.map(str::to_owned));
                    }
                    value => references(value, place, names),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, place, names)),
        _ => {}
    }
}
