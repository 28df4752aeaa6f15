//! The JSON Schemas for agents.
//!
//! Clients and models support only a part of JSON Schema. A schema becomes
//! simpler and never stricter, because the route validates each call again.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stockade_map::schemas::schema_name;

/// The direction of the values of a schema.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Direction {
    /// Agents send them.
    Input,
    /// Agents receive them, and reject other values.
    Output,
}

/// Converts schemas of a map.
pub(super) struct Converter<'m> {
    schemas: &'m BTreeMap<String, Value>,
    direction: Direction,
    /// The schemas around the current one.
    open: Vec<&'m str>,
    /// The number of further schemas. It bounds the size of the result, because
    /// references can repeat.
    budget: usize,
}

impl<'m> Converter<'m> {
    pub(super) fn new(schemas: &'m BTreeMap<String, Value>, direction: Direction) -> Self {
        Self { schemas, direction, open: Vec::new(), budget: MAX_SCHEMAS }
    }

    /// Returns the schema for agents, or `None` if no value matches it.
    pub(super) fn convert(&mut self, schema: &'m Value) -> Option<Value> {
        if self.budget == 0 {
            return Some(self.unknown());
        }
        self.budget -= 1;
        match schema {
            Value::Bool(false) => None,
            Value::Object(keywords) => match schema_name(schema) {
                Some(name) => self.referred(name, keywords),
                None => Some(self.object(keywords)),
            },
            _ => Some(self.any()),
        }
    }

    /// Returns the target of a reference, with the other keywords next to the
    /// reference.
    fn referred(&mut self, name: &'m str, keywords: &'m Map<String, Value>) -> Option<Value> {
        let target = self.schemas.get(name).filter(|_| !self.open.contains(&name));
        let Some(target) = target else { return Some(self.unknown()) };
        self.open.push(name);
        let inlined = self.convert(target);
        self.open.pop();
        let mut inlined = inlined?;
        if let Value::Object(inlined) = &mut inlined {
            let notes = keywords.iter().filter(|(key, _)| NOTES.contains(&key.as_str()));
            notes.for_each(|(key, value)| drop(inlined.insert(key.clone(), value.clone())));
        }
        Some(inlined)
    }

    fn object(&mut self, keywords: &'m Map<String, Value>) -> Value {
        let mut out = Map::new();
        for (key, value) in keywords {
            let value = match key.as_str() {
                "type" | "description" | "title" | "default" | "enum" | "pattern" | "minLength"
                | "maxLength" | "minItems" | "maxItems" | "uniqueItems" | "minProperties"
                | "maxProperties" | "minimum" | "maximum" | "exclusiveMinimum"
                | "exclusiveMaximum" | "multipleOf" | "required" => kept(value),
                "const" => {
                    out.insert("enum".to_owned(), json!([value]));
                    continue;
                }
                "format" => value.as_str().filter(|it| FORMATS.contains(it)).map(Value::from),
                "properties" => Some(self.properties(value)),
                "items" => self.convert(value),
                "additionalProperties" => self.rest(value),
                "anyOf" | "oneOf" | "allOf" => self.union(value),
                _ => None,
            };
            if let Some(value) = value {
                out.insert(key.clone(), value);
            }
        }
        self.add_tuple(keywords, &mut out);
        remove_absent(&mut out);
        self.typed(out)
    }

    fn properties(&mut self, properties: &'m Value) -> Value {
        let properties = properties.as_object().into_iter().flatten();
        let properties =
            properties.filter_map(|(name, schema)| Some((name.clone(), self.convert(schema)?)));
        Value::Object(properties.collect())
    }

    /// Returns the schema of unlisted properties. Allowing all of them is the
    /// default.
    fn rest(&mut self, schema: &'m Value) -> Option<Value> {
        match schema {
            Value::Bool(false) => Some(Value::Bool(false)),
            Value::Object(keywords) if !keywords.is_empty() => self.convert(schema),
            _ => None,
        }
    }

    fn union(&mut self, members: &'m Value) -> Option<Value> {
        let members = members.as_array()?;
        Some(members.iter().filter_map(|member| self.convert(member)).collect())
    }

    /// Converts a tuple to an array, because few clients support
    /// `prefixItems`.
    fn add_tuple(&mut self, keywords: &'m Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(tuple) = keywords.get("prefixItems").and_then(Value::as_array) else { return };
        let mut items: Vec<Value> = Vec::new();
        let more = keywords.get("items").filter(|more| !more.is_boolean());
        for member in tuple.iter().chain(more).filter_map(|member| self.convert(member)) {
            if !items.contains(&member) {
                items.push(member);
            }
        }
        if keywords.get("items").is_some_and(|more| more == false) {
            out.entry("maxItems").or_insert_with(|| tuple.len().into());
        }
        let is_open = !keywords.get("items").is_some_and(|more| more == false || more.is_object());
        let is_open = is_open && !keywords.contains_key("maxItems");
        let items = match <[Value; 1]>::try_from(items) {
            _ if is_open => self.any(),
            Ok([one]) => one,
            Err(several) => json!({ "anyOf": several }),
        };
        out.insert("items".to_owned(), items);
    }

    /// Gives a schema exactly one type in each of its branches.
    fn typed(&self, mut out: Map<String, Value>) -> Value {
        if let Some(Value::Array(types)) = out.get("type") {
            let types: Vec<String> =
                types.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            return self.split(out, &types);
        }
        if !out.contains_key("type") && !is_union(&out) {
            match implied_type(&out) {
                Some(implied) => drop(out.insert("type".to_owned(), implied.into())),
                None if out.contains_key("enum") => {}
                None => {
                    if let Value::Object(any) = self.any() {
                        out.extend(any);
                    }
                }
            }
        }
        if out.get("type").is_some_and(|it| it == "array") && !out.contains_key("items") {
            out.insert("items".to_owned(), self.any());
        }
        Value::Object(out)
    }

    /// Writes a list of types as `anyOf`, each type with its own keywords.
    fn split(&self, mut out: Map<String, Value>, types: &[String]) -> Value {
        out.remove("type");
        let mut whole = Map::new();
        for note in NOTES {
            whole.extend(out.shift_remove(note).map(|value| (note.to_owned(), value)));
        }
        let branches = types.iter().filter_map(|one| self.branch(&out, one));
        let branches: Vec<Value> = branches.collect();
        match <[Value; 1]>::try_from(branches) {
            Ok([Value::Object(one)]) => whole.extend(one),
            Ok([one]) => return one,
            Err(several) => drop(whole.insert("anyOf".to_owned(), several.into())),
        }
        Value::Object(whole)
    }

    /// Returns the schema of the values of one type, or `None` if there are no
    /// such values.
    fn branch(&self, keywords: &Map<String, Value>, one: &str) -> Option<Value> {
        let own = keywords.iter().filter(|(key, _)| belongs_to(key, one));
        let mut branch: Map<String, Value> =
            own.map(|(key, value)| (key.clone(), value.clone())).collect();
        if let Some(Value::Array(values)) = branch.get_mut("enum") {
            values.retain(|value| is_of_type(value, one));
            if values.is_empty() {
                return None;
            }
        }
        branch.insert("type".to_owned(), one.into());
        Some(self.typed(branch))
    }

    /// Returns a schema for any value.
    fn any(&self) -> Value {
        match self.direction {
            Direction::Output => json!({}),
            // Strict clients warn about schemas without a type.
            Direction::Input => json!({ "anyOf": [
                { "type": "string" },
                { "type": "number" },
                { "type": "boolean" },
                { "type": "object" },
                { "type": "array", "items": { "anyOf": [
                    { "type": "string" },
                    { "type": "number" },
                    { "type": "boolean" },
                    { "type": "object" },
                ] } },
                { "type": "null" },
            ] }),
        }
    }

    /// Returns the schema that replaces a recursive one.
    fn unknown(&self) -> Value {
        match self.direction {
            Direction::Output => json!({}),
            Direction::Input => json!({ "type": "object" }),
        }
    }
}

/// Returns the value of a keyword, unless it is a number that JavaScript cannot
/// represent.
fn kept(value: &Value) -> Option<Value> {
    let is_unsafe = value.as_f64().is_some_and(|number| number.abs() > MAX_SAFE);
    (!is_unsafe).then(|| value.clone())
}

/// Removes the properties that cannot exist from the list of required ones.
fn remove_absent(out: &mut Map<String, Value>) {
    let Some(properties) = out.get("properties").and_then(Value::as_object) else { return };
    let names: Vec<String> = properties.keys().cloned().collect();
    if let Some(Value::Array(required)) = out.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| names.iter().any(|it| it == name)));
    }
    if out.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        out.remove("required");
    }
}

/// Returns true if a schema is a union.
pub(super) fn is_union(keywords: &Map<String, Value>) -> bool {
    UNIONS.iter().any(|key| keywords.contains_key(*key))
}

/// Returns the type of the values of a schema without `type`, from its other
/// keywords.
fn implied_type(keywords: &Map<String, Value>) -> Option<&'static str> {
    if let Some(Value::Array(values)) = keywords.get("enum") {
        let types = ["string", "integer", "number", "boolean", "null", "object", "array"];
        return types.into_iter().find(|one| values.iter().all(|value| is_of_type(value, one)));
    }
    let types = ["object", "array", "string", "number"];
    types.into_iter().find(|one| keywords.keys().any(|key| keyword_of(key) == Some(*one)))
}

/// Returns the type of the values that a keyword limits; `None` if it is for
/// all types.
fn keyword_of(key: &str) -> Option<&'static str> {
    Some(match key {
        "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {
            "object"
        }
        "items" | "minItems" | "maxItems" | "uniqueItems" => "array",
        "pattern" | "minLength" | "maxLength" | "format" => "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        _ => return None,
    })
}

/// Returns true if a keyword has a meaning for values of a type.
fn belongs_to(key: &str, one: &str) -> bool {
    let one = if one == "integer" { "number" } else { one };
    keyword_of(key).is_none_or(|it| it == one)
}

fn is_of_type(value: &Value, one: &str) -> bool {
    match one {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => false,
    }
}

/// The keywords of a union.
const UNIONS: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// The keywords for readers.
const NOTES: [&str; 3] = ["title", "description", "default"];

/// The formats that JSON Schema defines. Clients reject others.
const FORMATS: [&str; 14] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "time",
    "uri",
    "uri-reference",
    "uuid",
];

/// The largest integer that JavaScript represents exactly.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// The maximum number of schemas in one converted schema.
const MAX_SCHEMAS: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!`")]
    #[track_caller]
    fn check(direction: Direction, schema: Value, expected: Option<Value>) {
        let schemas = BTreeMap::from([
            (
                "User".to_owned(),
                json!({ "type": "object", "properties": { "id": { "type": "integer", "format": "uint64" } } }),
            ),
            (
                "Tree".to_owned(),
                json!({ "type": "object", "properties": { "left": { "$ref": "#/schemas/Tree" } } }),
            ),
        ]);
        assert_eq!(Converter::new(&schemas, direction).convert(&schema), expected, "{schema}");
    }

    #[track_caller]
    fn check_input(schema: Value, expected: Value) {
        check(Direction::Input, schema, Some(expected));
    }

    #[test]
    fn references_are_inlined() {
        check_input(
            json!({ "$ref": "#/schemas/User", "description": "The owner" }),
            json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "description": "The owner" }),
        );
        check_input(
            json!({ "$ref": "#/schemas/Tree" }),
            json!({ "type": "object", "properties": { "left": { "type": "object" } } }),
        );
        check(
            Direction::Output,
            json!({ "$ref": "#/schemas/Tree" }),
            Some(json!({ "type": "object", "properties": { "left": {} } })),
        );
    }

    #[test]
    fn repeated_references_do_not_explode() {
        let wide = |next: usize| {
            let fields = (0..4).map(|field| {
                (format!("f{field}"), json!({ "$ref": format!("#/schemas/S{next}") }))
            });
            json!({ "type": "object", "properties": Value::Object(fields.collect()) })
        };
        let schemas: BTreeMap<String, Value> =
            (0..30).map(|index| (format!("S{index}"), wide(index + 1))).collect();
        let first = json!({ "$ref": "#/schemas/S0" });
        let converted = Converter::new(&schemas, Direction::Input).convert(&first).unwrap();
        assert!(converted.to_string().len() < 500_000);
    }

    #[test]
    fn lists_of_types_are_unions() {
        check_input(
            json!({ "type": ["string", "null"], "minLength": 1, "description": "A name" }),
            json!({
                "description": "A name",
                "anyOf": [{ "type": "string", "minLength": 1 }, { "type": "null" }],
            }),
        );
        check_input(
            json!({ "type": ["integer"], "minimum": 1 }),
            json!({ "type": "integer", "minimum": 1 }),
        );
        check_input(
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
            json!({ "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "null", "enum": [null] }] }),
        );
    }

    #[test]
    fn every_schema_has_a_type_and_every_array_items() {
        let any = Converter::new(&BTreeMap::new(), Direction::Input).any();
        check_input(json!(true), any.clone());
        check_input(json!({ "type": "array" }), json!({ "type": "array", "items": any }));
        check_input(json!({ "enum": ["a", "b"] }), json!({ "enum": ["a", "b"], "type": "string" }));
        check_input(json!({ "const": 1 }), json!({ "enum": [1], "type": "integer" }));
        check(Direction::Output, json!(true), Some(json!({})));
        check(Direction::Input, json!(false), None);
    }

    #[test]
    fn tuples_are_arrays() {
        check_input(
            json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "items": false }),
            json!({
                "type": "array", "maxItems": 2,
                "items": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            }),
        );
        check_input(
            json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "string" }], "minItems": 2, "maxItems": 2 }),
            json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": { "type": "string" } }),
        );
    }

    #[test]
    fn large_bounds_and_unknown_keywords_are_removed() {
        check_input(
            json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX, "x-own": 1, "examples": [1] }),
            json!({ "type": "integer", "minimum": 0 }),
        );
        check_input(
            json!({ "type": "object", "properties": { "a": false, "b": { "type": "string" } }, "required": ["a"] }),
            json!({ "type": "object", "properties": { "b": { "type": "string" } } }),
        );
    }
}
