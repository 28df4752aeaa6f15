//! The fields of an entity, from its schema.

use serde_json::Value;

/// The fields that serde serializes, in order.
pub(super) struct Fields {
    pub(super) all: Vec<Field>,
    /// The names of fields that serde deserializes but does not serialize.
    pub(super) unwritten: Vec<String>,
}

/// A field of an entity.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// True if the field can be null or absent.
    pub(super) is_optional: bool,
    /// True if the field is a text that may be too long for a cursor.
    pub(super) is_long: bool,
}

/// The kind of a field's values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Text,
    Number,
    Boolean,
    /// Lists, objects, and values of several kinds. They cannot be ordered.
    Other,
}

impl Fields {
    /// Reads the fields from the JSON Schema of a serialized object. `read`
    /// contains the names that serde deserializes.
    pub(super) fn of(schema: &Value, read: Vec<String>) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            required.is_some_and(|required| required.iter().any(|known| known == name))
        };
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let field = |(name, property): (&String, &Value)| {
            let types = types(property, schema, 8);
            Field {
                name: name.clone(),
                kind: kind(&types),
                is_optional: !is_required(name) || types.contains(&"null"),
                is_long: types.contains(&"string") && is_long(property),
            }
        };
        let all: Vec<Field> = properties.map(field).collect();
        let is_unwritten = |name: &String| all.iter().all(|field| field.name != *name);
        let unwritten = read.into_iter().filter(is_unwritten).collect();
        Self { all, unwritten }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Field> {
        self.all.iter().find(|field| field.name == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|field| &*field.name)
    }
}

/// The maximum length of a sortable text, in characters.
pub(super) const MAX_SORTED: u64 = 200;

fn is_long(property: &Value) -> bool {
    let is_bounded = |most: &Value| most.as_u64().is_some_and(|most| most <= MAX_SORTED);
    let has = |keyword: &str| property.get(keyword).is_some();
    !(property.get("maxLength").is_some_and(is_bounded)
        || ["format", "enum", "const", "$ref", "anyOf", "oneOf"].into_iter().any(has))
}

/// Returns the names of the types that the schema of a property within `root`
/// allows. An unknown type counts as `object`.
fn types<'s>(property: &'s Value, root: &'s Value, levels: usize) -> Vec<&'s str> {
    const UNKNOWN: &str = "object";

    if levels == 0 {
        return vec![UNKNOWN];
    }
    let within = |schema: &'s Value| types(schema, root, levels - 1);
    if let Some(reference) = property.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or_else(|| vec![UNKNOWN], within);
    }
    match property.get("type") {
        Some(Value::String(one)) => return vec![one],
        Some(Value::Array(several)) => return several.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let listed = property.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let listed = listed.or_else(|| property.get("const").map(std::slice::from_ref));
    if let Some(values) = listed {
        return values.iter().map(type_of).collect();
    }
    let union = ["anyOf", "oneOf"].into_iter().find_map(|name| property.get(name)?.as_array());
    union.map_or_else(|| vec![UNKNOWN], |union| union.iter().flat_map(within).collect())
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn kind(types: &[&str]) -> Kind {
    let kind = |name: &str| match name {
        "string" => Kind::Text,
        "integer" | "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        _ => Kind::Other,
    };
    let mut kinds = types.iter().filter(|name| **name != "null").map(|name| kind(name));
    let first = kinds.next().unwrap_or(Kind::Other);
    if kinds.all(|kind| kind == first) { first } else { Kind::Other }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(property: &Value, kind: Kind, is_optional: bool, is_long: bool) {
        let schema = json!({
            "properties": { "it": property },
            "required": ["it"],
            "$defs": { "Size": { "enum": ["s", "l"] }, "Loop": { "$ref": "#/$defs/Loop" } },
        });
        let field = Fields::of(&schema, vec![]).all.remove(0);
        let found = (field.kind, field.is_optional, field.is_long);
        assert_eq!(found, (kind, is_optional, is_long), "{schema}");
    }

    #[test]
    fn the_schema_determines_the_kind_of_a_field() {
        check(&json!({ "type": "integer" }), Kind::Number, false, false);
        check(&json!({ "type": ["boolean", "null"] }), Kind::Boolean, true, false);
        check(&json!({ "type": "string" }), Kind::Text, false, true);
        check(&json!({ "type": "string", "maxLength": 200 }), Kind::Text, false, false);
        check(&json!({ "type": "string", "maxLength": 201 }), Kind::Text, false, true);
        check(&json!({ "type": "string", "format": "uuid" }), Kind::Text, false, false);
        check(&json!({ "$ref": "#/$defs/Size" }), Kind::Text, false, false);
        check(&json!({ "$ref": "#/$defs/Loop" }), Kind::Other, false, false);
        check(&json!({ "$ref": "#/$defs/Gone" }), Kind::Other, false, false);
        let union = json!({ "anyOf": [{ "$ref": "#/$defs/Size" }, { "type": "null" }] });
        check(&union, Kind::Text, true, false);
        check(&json!({ "type": ["string", "number"] }), Kind::Other, false, true);
        check(&json!({ "type": "array" }), Kind::Other, false, false);
        check(&json!({}), Kind::Other, false, false);
    }
}
