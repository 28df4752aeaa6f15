//! The fields of a type, from its schema.

use serde_json::Value;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_rest::Entity;

/// A field of the items. Its column has the same name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The `format` of the schema, such as `uuid`, or empty.
    pub(crate) format: String,
    /// True if the field can be null.
    pub(crate) is_nullable: bool,
    /// True if an item can omit the field.
    pub(crate) is_optional: bool,
}

/// The kind of a value, which determines its SQL type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
    /// An exact number, read as a text.
    Decimal,
    Array,
    Object,
    /// Several kinds.
    Any,
}

impl Kind {
    /// Returns true if the column contains JSON.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Array | Self::Object | Self::Any)
    }
}

/// Returns the fields of a type.
pub(crate) fn fields<T: Entity>() -> Result<Vec<Field>, ConfigError> {
    let schema = T::schema()?.to_json_schema();
    let root = resolve(&schema, &schema);
    let Some(properties) = root.get("properties").and_then(Value::as_object) else {
        return Err(ConfigIssue::new("the type does not have named fields").into());
    };
    let required = root.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|list| list.iter().any(|field| field == name));
    let mut mistakes = Vec::new();
    let mut fields = Vec::new();
    for (name, node) in properties {
        if !is_plain(name) {
            mistakes.push(ConfigIssue::new(format!(
                "{name:?}: a field with this name cannot be a column"
            )));
        }
        let field = Field { is_optional: !is_required(name), ..field(name, node, &schema) };
        fields.push(field);
    }
    if !fields.iter().any(|field| field.name == T::ID) {
        mistakes.push(ConfigIssue::new(format!("{}: the type does not have this field", T::ID)));
    }
    ConfigError::check(mistakes)?;
    Ok(fields)
}

/// Returns true if a name needs no escapes in a JSON path.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| matches!(c, '"' | '\\' | '\'') || c.is_control())
}

fn field(name: &str, node: &Value, root: &Value) -> Field {
    let mut found = AllowedKinds::default();
    found.look(node, root);
    let format = if found.formats.len() == 1 { found.formats.remove(0) } else { String::new() };
    let kind = match (found.kinds.as_slice(), &*format) {
        ([Kind::Text | Kind::Number, ..], "decimal") => Kind::Decimal,
        ([kind], _) => *kind,
        ([Kind::Integer, Kind::Number] | [Kind::Number, Kind::Integer], _) => Kind::Number,
        _ => Kind::Any,
    };
    // A schema without a type allows every value, including null.
    let is_nullable = found.has_null || found.kinds.is_empty();
    Field { name: name.to_owned(), kind, format, is_nullable, is_optional: false }
}

/// The kinds of values that a schema allows.
#[derive(Default)]
struct AllowedKinds {
    kinds: Vec<Kind>,
    formats: Vec<String>,
    has_null: bool,
}

impl AllowedKinds {
    fn look(&mut self, node: &Value, root: &Value) {
        let node = resolve(node, root);
        if let Some(format) = node.get("format").and_then(Value::as_str) {
            self.formats.push(format.to_owned());
        }
        match node.get("type") {
            Some(Value::String(name)) => self.add(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).for_each(|name| self.add(name));
            }
            _ => self.look_inside(node, root),
        }
    }

    fn look_inside(&mut self, node: &Value, root: &Value) {
        let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| node.get(*key)?.as_array());
        let values = node.get("enum").and_then(Value::as_array);
        let constant = node.get("const").map(std::slice::from_ref);
        if let Some(alternatives) = alternatives {
            alternatives.iter().for_each(|inner| self.look(inner, root));
        } else if let Some(values) = values.map(Vec::as_slice).or(constant) {
            values.iter().for_each(|value| self.add(name_of(value)));
        } else {
            self.has_null = true;
            self.keep(Kind::Any);
        }
    }

    fn add(&mut self, name: &str) {
        match name {
            "null" => self.has_null = true,
            "boolean" => self.keep(Kind::Boolean),
            "integer" => self.keep(Kind::Integer),
            "number" => self.keep(Kind::Number),
            "string" => self.keep(Kind::Text),
            "array" => self.keep(Kind::Array),
            "object" => self.keep(Kind::Object),
            _ => self.keep(Kind::Any),
        }
    }

    fn keep(&mut self, kind: Kind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Follows references within a document. References in our own schemas always
/// end.
fn resolve<'v>(mut node: &'v Value, root: &'v Value) -> &'v Value {
    for _ in 0..16 {
        let reference = node.get("$ref").and_then(Value::as_str);
        let Some(target) = reference.and_then(|it| root.pointer(it.trim_start_matches('#'))) else {
            break;
        };
        node = target;
    }
    node
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(node: &Value, kind: Kind, is_nullable: bool) {
        let root = json!({ "$defs": {
            "Color": { "type": "string", "enum": ["red"] },
            "Loop": { "$ref": "#/$defs/Loop" },
        }});
        let found = field("x", node, &root);
        assert_eq!((found.kind, found.is_nullable), (kind, is_nullable), "{node}");
    }

    #[test]
    fn the_schema_determines_the_kind_of_a_column() {
        check(&json!({ "type": "boolean" }), Kind::Boolean, false);
        check(&json!({ "type": ["integer", "null"] }), Kind::Integer, true);
        check(&json!({ "type": "number" }), Kind::Number, false);
        check(&json!({ "type": ["integer", "number"] }), Kind::Number, false);
        check(&json!({ "type": ["integer", "string"] }), Kind::Any, false);
        check(&json!({ "type": ["string", "number"], "format": "decimal" }), Kind::Decimal, false);
        check(&json!({ "$ref": "#/$defs/Color" }), Kind::Text, false);
        let optional = json!({ "anyOf": [{ "$ref": "#/$defs/Color" }, { "type": "null" }] });
        check(&optional, Kind::Text, true);
        check(&json!({ "enum": ["a", "b"] }), Kind::Text, false);
        check(&json!({ "const": 1 }), Kind::Integer, false);
        check(&json!({}), Kind::Any, true);
        check(&json!(true), Kind::Any, true);
        check(&json!({ "$ref": "#/$defs/Loop" }), Kind::Any, true);
        check(&json!({ "$ref": "#/$defs/Missing" }), Kind::Any, true);
        check(&json!({ "type": "array" }), Kind::Array, false);
    }

    #[test]
    fn rejects_names_with_special_characters_of_paths() {
        for (name, plain) in [("price_cents", true), ("päis", true), ("a.b", true), ("", false)] {
            assert_eq!(is_plain(name), plain, "{name}");
        }
        for name in ["a\"b", "a\\b", "a'b", "a\0b"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
