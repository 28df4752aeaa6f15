//! Converts JSON Schema 2020-12 schemas to OpenAPI 3.0 schemas.

use serde_json::{Map, Value, json};

use super::{Converter, at, members, numbers, types};

/// The keywords with the same meaning in both.
const SAME: [&str; 23] = [
    "title",
    "description",
    "default",
    "format",
    "pattern",
    "required",
    "enum",
    "multipleOf",
    "maximum",
    "minimum",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxProperties",
    "minProperties",
    "readOnly",
    "writeOnly",
    "deprecated",
    "discriminator",
    "externalDocs",
    "xml",
];

/// The keywords that are converted after all others.
const LATER: [&str; 6] =
    ["type", "exclusiveMinimum", "exclusiveMaximum", "patternProperties", "prefixItems", "$ref"];

/// The keywords that describe a schema rather than values.
const ABOUT_SCHEMAS: [&str; 4] = ["$schema", "$comment", "$defs", "$vocabulary"];

impl Converter<'_> {
    /// Converts a schema.
    pub(super) fn schema(&mut self, schema: &Value, path: &str) -> Value {
        let Some(keywords) = schema.as_object() else {
            let nothing = schema == &Value::Bool(false);
            return if nothing { json!({ "not": {} }) } else { json!({}) };
        };
        let is_null = |name: &Value| name == "null" || name == &json!(["null"]);
        if keywords.get("type").is_some_and(is_null)
            || keywords.get("const").is_some_and(Value::is_null)
        {
            return null_schema();
        }
        let mut out = Map::new();
        for (key, value) in keywords {
            self.keyword(key, value, path, &mut out);
        }
        numbers::bounds(keywords, &mut out);
        self.pattern_properties(keywords, path, &mut out);
        self.tuple(keywords, path, &mut out);
        types::types(keywords, &mut out);
        if out.get("type").is_some_and(|it| it == "array") {
            // 3.0 requires it.
            out.entry("items").or_insert_with(|| json!({}));
        }
        self.refer(keywords, out)
    }

    /// Converts a keyword unless it is in [`LATER`].
    fn keyword(&mut self, key: &str, value: &Value, path: &str, out: &mut Map<String, Value>) {
        let path = at(path, key);
        let converted = match key {
            key if LATER.contains(&key) => return,
            // An empty list has no effect, and 3.0 does not allow it.
            "required" if value.as_array().is_some_and(Vec::is_empty) => return,
            "items" if value == &Value::Bool(false) => return,
            "additionalProperties" if value.is_boolean() => value.clone(),
            "items" | "not" | "additionalProperties" => self.schema(value, &path),
            "properties" => self.each(value, &path, Self::schema),
            "allOf" => self.list(value, &path, Self::schema),
            "anyOf" | "oneOf" => return self.union(key, value, &path, out),
            "const" => {
                out.insert("enum".to_owned(), json!([value]));
                return;
            }
            "enum" if out.contains_key("enum") => return,
            "examples" => return self.examples(value, &path, out),
            "contentEncoding" if value == "base64" => {
                out.entry("format").or_insert_with(|| json!("byte"));
                return;
            }
            "contentMediaType" if value == "application/octet-stream" => {
                out.entry("format").or_insert_with(|| json!("binary"));
                return;
            }
            key if ABOUT_SCHEMAS.contains(&key) => return,
            key if SAME.contains(&key) || key == "example" || key.starts_with("x-") => {
                value.clone()
            }
            _ => return self.lose(&path, "OpenAPI 3.0 does not support this keyword"),
        };
        out.insert(key.to_owned(), converted);
    }

    /// Keeps the first example, because 3.0 supports only one.
    fn examples(&mut self, examples: &Value, path: &str, out: &mut Map<String, Value>) {
        let examples = examples.as_array().map_or(&[][..], Vec::as_slice);
        if let Some(first) = examples.first() {
            out.insert("example".to_owned(), first.clone());
        }
        if examples.len() > 1 {
            self.lose(path, "a schema can have only one example");
        }
    }

    /// Converts `patternProperties` to `additionalProperties` that accept any
    /// of the pattern schemas.
    fn pattern_properties(
        &mut self,
        keywords: &Map<String, Value>,
        path: &str,
        out: &mut Map<String, Value>,
    ) {
        let Some(patterns) = keywords.get("patternProperties") else { return };
        let path = at(path, "patternProperties");
        self.lose(&path, "OpenAPI 3.0 does not support patterns for member names");
        let schemas = members(patterns).map(|(key, schema)| self.schema(schema, &at(&path, key)));
        let mut schemas: Vec<Value> = schemas.collect();
        match out.remove("additionalProperties") {
            Some(Value::Bool(false)) => {}
            Some(others) if others.is_object() => schemas.push(others),
            // Any member is allowed.
            _ => return,
        }
        out.insert("additionalProperties".to_owned(), any_of(schemas));
    }

    /// Converts `anyOf` and `oneOf`. A null member becomes `nullable`.
    fn union(&mut self, key: &str, value: &Value, path: &str, out: &mut Map<String, Value>) {
        let all = value.as_array().into_iter().flatten().enumerate();
        let (nulls, others): (Vec<_>, Vec<_>) =
            all.partition(|(_, member)| member.get("type").is_some_and(|it| it == "null"));
        let converted = others
            .into_iter()
            .map(|(index, member)| self.schema(member, &at(path, &index.to_string())));
        let mut converted: Vec<Value> = converted.collect();
        if nulls.is_empty() {
            out.insert(key.to_owned(), converted.into());
            return;
        }
        if converted.is_empty() {
            out.insert("allOf".to_owned(), json!([null_schema()]));
            return;
        }
        out.insert("nullable".to_owned(), json!(true));
        match converted.len() {
            1 => {
                let one = converted.remove(0);
                push(out, "allOf", one);
            }
            _ => drop(out.insert(key.to_owned(), converted.into())),
        }
    }

    /// Converts a tuple to an array. Each element may match the schema of any
    /// position.
    fn tuple(&mut self, keywords: &Map<String, Value>, path: &str, out: &mut Map<String, Value>) {
        let places = keywords.get("prefixItems").and_then(Value::as_array);
        let is_closed = keywords.get("items").is_some_and(|items| items == false);
        if is_closed {
            let length = places.map_or(0, Vec::len);
            out.insert("maxItems".to_owned(), json!(length));
            out.insert("items".to_owned(), json!({}));
        }
        let Some(places) = places else { return };
        let path = at(path, "prefixItems");
        self.lose(&path, "all elements of an array have the same schema");
        let elements = places.iter().enumerate();
        let mut schemas: Vec<Value> = elements
            .map(|(index, schema)| self.schema(schema, &at(&path, &index.to_string())))
            .collect();
        if !is_closed {
            schemas.push(out.remove("items").unwrap_or_else(|| json!({})));
        }
        out.insert("items".to_owned(), any_of(schemas));
    }

    /// Converts a reference. 3.0 ignores its siblings.
    fn refer(&mut self, keywords: &Map<String, Value>, mut out: Map<String, Value>) -> Value {
        let Some(reference) = keywords.get("$ref").and_then(Value::as_str) else {
            return Value::Object(out);
        };
        let reference = json!({ "$ref": self.lifted(reference) });
        if out.is_empty() {
            return reference;
        }
        push(&mut out, "allOf", reference);
        Value::Object(out)
    }

    /// Returns the reference to a schema. If OpenAPI 3.0 does not allow a
    /// schema at its position, such as in `$defs`, the schema moves to the
    /// components.
    fn lifted(&mut self, reference: &str) -> String {
        let has_place = !reference.contains("/$defs/") && !reference.starts_with("#/webhooks/");
        if has_place || !reference.starts_with('#') {
            return reference.to_owned();
        }
        if let Some(name) = self.lifted.get(reference) {
            return format!("#/components/schemas/{name}");
        }
        if self.source.pointer(&reference[1..]).is_none() {
            self.lose(reference, "the reference has no target");
        }
        let last = reference.rsplit('/').next().unwrap_or(reference);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let name = self.free_name(&last.replace(|c| !is_plain(c), "_"));
        self.pending.push(reference.to_owned());
        let pointer = format!("#/components/schemas/{name}");
        self.lifted.insert(reference.to_owned(), name);
        pointer
    }

    fn free_name(&self, base: &str) -> String {
        let schemas = &self.source["components"]["schemas"];
        let is_free = |name: &String| {
            schemas.get(name).is_none() && self.lifted.values().all(|other| other != name)
        };
        let numbered = (2..).map(|number| format!("{base}{number}"));
        // There are more numbers than names.
        std::iter::once(base.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
    }
}

/// Returns the schema of null, which is not a type in 3.0.
pub(super) fn null_schema() -> Value {
    json!({ "type": "string", "nullable": true, "enum": [null] })
}

/// Returns the schema of values that fit any of these schemas, without
/// duplicates.
fn any_of(schemas: Vec<Value>) -> Value {
    let mut distinct: Vec<Value> = Vec::new();
    for schema in schemas {
        if !distinct.contains(&schema) {
            distinct.push(schema);
        }
    }
    if distinct.len() == 1 { distinct.remove(0) } else { json!({ "anyOf": distinct }) }
}

/// Adds a schema to a list such as `allOf`.
pub(super) fn push(out: &mut Map<String, Value>, key: &str, schema: Value) {
    match out.get_mut(key).and_then(Value::as_array_mut) {
        Some(list) => list.push(schema),
        None => drop(out.insert(key.to_owned(), json!([schema]))),
    }
}
