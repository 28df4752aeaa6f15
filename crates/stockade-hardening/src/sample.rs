//! [`Sample`]: generates one valid request for a route from its description.
//!
//! It looks for the smallest valid value rather than a typical one. It finds
//! none for schemas with keywords such as `not`, which cannot be inverted.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stockade_map::schemas::{PLACE as SCHEMAS, number};
use stockade_routing::map::{ContentInfo, ParamInfo, RouteInfo, RouteMap};
use stockade_validation::pattern;

use crate::MultipartForm;

/// The maximum schema depth. The search for a value stops there, because some
/// recursive types have none.
const MAX_DEPTH: usize = 32;

/// The boundary of multipart forms.
pub(crate) const BOUNDARY: &str = "stockade-sample";

/// Generates valid values for the routes of a map.
#[derive(Clone, Copy)]
pub(crate) struct Sample<'m> {
    schemas: &'m BTreeMap<String, Value>,
}

impl<'m> Sample<'m> {
    pub(crate) fn of(map: &'m RouteMap) -> Self {
        Self { schemas: &map.schemas }
    }

    /// Returns candidate paths for the route, best first. `given` returns known
    /// parameter values. The router of the application decides which candidates
    /// match.
    pub(crate) fn paths(
        self,
        route: &RouteInfo,
        given: impl Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let Some(template) = route.templates.first() else { return Vec::new() };
        let choices = route.params.iter().map(|param| match given(&param.name) {
            Some(value) => (param, vec![value]),
            None => (param, self.param_values(param)),
        });
        let choices: Vec<_> = choices.collect();
        let most = choices.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
        let path = |index: usize| {
            choices.iter().fold(template.clone(), |path, (param, values)| {
                let value = values.get(index).or_else(|| values.first());
                let value = value.map(|value| encoded(value, param.is_rest));
                // If a value is missing, the braces remain, and no route
                // matches them.
                match value {
                    Some(value) => path.replace(&format!("{{{}}}", param.name), &value),
                    None => path,
                }
            })
        };
        let mut paths: Vec<String> = (0..most).map(path).collect();
        paths.dedup();
        paths
    }

    /// Returns candidate values for a parameter: values from its schema, values
    /// from its constraint, and generic values.
    fn param_values(self, param: &ParamInfo) -> Vec<String> {
        let by_schema = self.value(&param.schema).and_then(|value| text_of(&value));
        let by_constraint = param.constraint.as_deref().and_then(matching);
        let plain = ["1", "a"].map(str::to_owned);
        let values = by_schema.into_iter().chain(by_constraint).chain(plain);
        values.filter(|value| !value.is_empty()).collect()
    }

    /// Returns the required query of a route, without the leading `?`. Returns
    /// `None` if nothing is required.
    pub(crate) fn query(self, route: &RouteInfo) -> Option<String> {
        let Value::Object(pairs) = self.value(route.query.as_ref()?)? else { return None };
        form_of(&pairs).filter(|query| !query.is_empty())
    }

    /// Returns a valid body with its media type. The documented example of the
    /// route is preferred.
    pub(crate) fn body(self, route: &RouteInfo) -> Option<(String, Vec<u8>)> {
        let content = &route.body.as_ref()?.content;
        let bodies = content.iter().filter_map(|content| {
            let body = self.content(content, route.docs.example.as_ref())?;
            Some((content_type(&content.media_type), body))
        });
        bodies.into_iter().next()
    }

    fn content(self, content: &ContentInfo, example: Option<&Value>) -> Option<Vec<u8>> {
        let value = || example.cloned().or_else(|| self.value(&content.schema));
        match &*content.media_type {
            "*/*" => Some(b"a".to_vec()),
            "multipart/form-data" => Some(multipart(value().as_ref())),
            "application/x-www-form-urlencoded" => form_of(value()?.as_object()?).map(Into::into),
            "text/plain" => text_of(&value()?).map(Into::into),
            media_type if media_type.ends_with("json") => serde_json::to_vec(&value()?).ok(),
            _ => None,
        }
    }

    /// Returns the smallest value that fits a schema, if one is found.
    pub(crate) fn value(self, schema: &Value) -> Option<Value> {
        self.value_at(schema, 0)
    }

    fn value_at(self, schema: &Value, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(true) => return Some(Value::Null),
            _ => return None,
        };
        if schema.contains_key("not") {
            return None;
        }
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.first().cloned();
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.value_at(self.referred(reference)?, depth + 1);
        }
        let several = ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)?.as_array());
        if let Some(choices) = several {
            return choices.iter().find_map(|choice| self.value_at(choice, depth + 1));
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.merged(parts, depth);
        }
        self.typed(schema, depth)
    }

    /// Returns the required members of an object schema.
    pub(crate) fn required(self, schema: &Value) -> Vec<String> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let schema = reference.and_then(|reference| self.referred(reference)).unwrap_or(schema);
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    }

    pub(crate) fn referred(self, reference: &str) -> Option<&'m Value> {
        self.schemas.get(reference.strip_prefix(SCHEMAS)?)
    }

    /// Returns an object with the members of all schemas.
    fn merged(self, parts: &[Value], depth: usize) -> Option<Value> {
        let mut all = Map::new();
        for part in parts {
            let Value::Object(members) = self.value_at(part, depth + 1)? else { return None };
            all.extend(members);
        }
        Some(Value::Object(all))
    }

    fn typed(self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        match kind_of(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => string(schema).map(Value::String),
            "integer" => number(schema, true, 0),
            "number" => number(schema, false, 0),
            "boolean" => Some(Value::Bool(false)),
            _ => Some(Value::Null),
        }
    }

    fn object(self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let none = Value::Bool(true);
        let properties = schema.get("properties");
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let mut members = Map::new();
        for name in names {
            let property = properties.and_then(|all| all.get(name)).unwrap_or(&none);
            members.insert(name.to_owned(), self.value_at(property, depth + 1)?);
        }
        let least = count(schema, "minProperties");
        let others = properties.and_then(Value::as_object).into_iter().flatten();
        for (name, property) in others {
            if members.len() < least && !members.contains_key(name) {
                members.insert(name.clone(), self.value_at(property, depth + 1)?);
            }
        }
        let further = schema.get("additionalProperties").unwrap_or(&none);
        for index in members.len()..least {
            members.insert(format!("key{index}"), self.value_at(further, depth + 1)?);
        }
        Some(Value::Object(members))
    }

    fn array(self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let any = Value::Bool(true);
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let first = first.map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").unwrap_or(&any);
        let least = count(schema, "minItems");
        let length = least.max(if least == 0 { 0 } else { first.len() });
        let items = (0..length).map(|index| {
            let own = first.get(index).unwrap_or(rest);
            let value = self.value_at(own, depth + 1)?;
            Some(if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
                changed(value, index)
            } else {
                value
            })
        });
        items.collect::<Option<Vec<_>>>().map(Value::Array)
    }
}

/// Returns a value that is unique for this index of a list.
fn changed(value: Value, index: usize) -> Value {
    match value {
        Value::Number(number) => match number.as_i64() {
            // A list is never that long.
            Some(number) => json!(number.saturating_add(i64::try_from(index).unwrap_or(i64::MAX))),
            None => Value::Number(number),
        },
        Value::String(text) => Value::String(text + &"a".repeat(index)),
        other => other,
    }
}

/// Returns the type of a schema, derived from its keywords if it has no `type`.
fn kind_of(schema: &Map<String, Value>) -> &str {
    let guessed = || match schema {
        _ if schema.contains_key("properties") || schema.contains_key("required") => "object",
        _ if schema.contains_key("items") || schema.contains_key("prefixItems") => "array",
        _ if schema.contains_key("pattern") || schema.contains_key("minLength") => "string",
        _ if schema.contains_key("minimum") || schema.contains_key("maximum") => "number",
        _ => "null",
    };
    named_kind(schema).unwrap_or_else(guessed)
}

/// Returns the first `type` of a schema that is not `null`.
pub(crate) fn named_kind(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|it| *it != "null"),
        _ => None,
    }
}

/// Returns the number in a keyword; 0 if it is absent.
fn count(schema: &Map<String, Value>, keyword: &str) -> usize {
    let count = schema.get(keyword).and_then(Value::as_u64);
    // A schema that requires more than fits into memory never gets a sample.
    count.map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX)).min(100_000)
}

fn string(schema: &Map<String, Value>) -> Option<String> {
    let format = schema.get("format").and_then(Value::as_str).and_then(of_format);
    if let Some(text) = format {
        return Some(text.to_owned());
    }
    let least = count(schema, "minLength");
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let start = match pattern {
        Some(pattern) => matching(pattern)?,
        None => String::new(),
    };
    let missing = least.saturating_sub(start.chars().count());
    Some(start + &"a".repeat(missing))
}

/// Returns a text for a JSON Schema format.
fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "email" | "idn-email" => "a@example.org",
        "uri" | "url" | "iri" | "uri-reference" => "https://example.org/",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "date-time" => "2024-01-01T00:00:00Z",
        "date" => "2024-01-01",
        "time" => "00:00:00Z",
        "duration" => "PT1S",
        "hostname" | "idn-hostname" => "example.org",
        "ip" | "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "json-pointer" => "/a",
        "regex" => "a",
        "byte" => "YQ==",
        "phone" => "+12025550123",
        _ => return None,
    })
}

/// Returns a short text that an expression matches.
pub(crate) fn matching(expression: &str) -> Option<String> {
    pattern::example(expression, 0..=usize::MAX)
}

/// Returns a scalar as written in a path or a form.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Encodes members as a form. A list becomes a repeated key.
pub(crate) fn form_of(members: &Map<String, Value>) -> Option<String> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for (name, value) in members {
        match value {
            Value::Array(items) => {
                for item in items {
                    pairs.push((name, text_of(item)?));
                }
            }
            value => pairs.push((name, text_of(value)?)),
        }
    }
    serde_html_form::to_string(pairs).ok()
}

/// Encodes an object as a multipart form with a part for each member, or with
/// one part if the schema is unknown.
fn multipart(value: Option<&Value>) -> Vec<u8> {
    let members = value.and_then(Value::as_object);
    let known = members.into_iter().flatten();
    let mut parts: Vec<(String, String)> =
        known.filter_map(|(name, value)| Some((name.clone(), text_of(value)?))).collect();
    if parts.is_empty() {
        parts.push(("a".to_owned(), "a".to_owned()));
    }
    let form =
        parts.into_iter().fold(MultipartForm::new(), |form, (name, value)| form.text(&name, value));
    form.encode_with(BOUNDARY)
}

/// Returns the value of `Content-Type` for a media type.
pub(crate) fn content_type(media_type: &str) -> String {
    match media_type {
        "*/*" => "application/octet-stream".to_owned(),
        "multipart/form-data" => format!("multipart/form-data; boundary={BOUNDARY}"),
        other => other.to_owned(),
    }
}

/// Encodes a value for a path.
pub(crate) fn encoded(value: &str, is_rest: bool) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || b"-._~@:!$'()*+,=".contains(&byte)
            || (is_rest && byte == b'/')
    };
    let bytes = value.bytes().map(|byte| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        let schemas = BTreeMap::from([("Tree".to_owned(), tree())]);
        let value = Sample { schemas: &schemas }.value(schema);
        assert_eq!(value.as_ref(), Some(expected), "{schema}");
    }

    fn tree() -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 2 },
                "parts": { "type": "array", "items": { "$ref": "#/schemas/Tree" } },
            },
            "required": ["name", "parts"],
        })
    }

    #[test]
    fn the_smallest_value_of_a_schema() {
        check(&json!(true), &Value::Null);
        check(&json!({ "const": 7 }), &json!(7));
        check(&json!({ "enum": ["b", "a"] }), &json!("b"));
        check(&json!({ "type": ["null", "boolean"] }), &json!(false));
        check(&json!({ "$ref": "#/schemas/Tree" }), &json!({ "name": "aa", "parts": [] }));
        check(&json!({ "anyOf": [{ "not": {} }, { "type": "string" }] }), &json!(""));
        check(
            &json!({ "allOf": [{ "$ref": "#/schemas/Tree" }, { "properties": { "a": {} }, "required": ["a"] }] }),
            &json!({ "name": "aa", "parts": [], "a": null }),
        );
        check(
            &json!({ "type": "object", "minProperties": 2, "properties": { "a": { "const": 1 } } }),
            &json!({ "a": 1, "key1": null }),
        );
        check(
            &json!({ "type": "array", "minItems": 2, "uniqueItems": true, "items": { "type": "integer" } }),
            &json!([1, 2]),
        );
        check(
            &json!({ "type": "array", "minItems": 1, "prefixItems": [{ "type": "integer" }, { "const": "x" }] }),
            &json!([1, "x"]),
        );
    }

    #[test]
    fn an_object_has_its_required_members() {
        let schemas = BTreeMap::from([("Tree".to_owned(), tree())]);
        let sample = Sample { schemas: &schemas };
        assert_eq!(sample.required(&json!({ "$ref": "#/schemas/Tree" })), ["name", "parts"]);
        assert!(sample.required(&json!({ "properties": { "a": true } })).is_empty());
    }

    #[test]
    fn numbers_are_within_their_bounds() {
        check(&json!({ "type": "integer" }), &json!(1));
        check(&json!({ "type": "integer", "minimum": 5 }), &json!(5));
        check(&json!({ "type": "integer", "maximum": -5 }), &json!(-5));
        check(&json!({ "type": "integer", "exclusiveMinimum": 5, "multipleOf": 4 }), &json!(12));
        check(&json!({ "type": "integer", "maximum": 0, "multipleOf": 4 }), &json!(0));
        check(&json!({ "type": "number", "minimum": 1.25 }), &json!(1.25));
    }

    #[test]
    fn texts_have_their_format_and_pattern() {
        check(&json!({ "type": "string", "format": "email" }), &json!("a@example.org"));
        check(&json!({ "type": "string", "pattern": "\\S" }), &json!("1"));
        check(
            &json!({ "type": "string", "pattern": "^x-[a-f]{3}$", "minLength": 5 }),
            &json!("x-aaa"),
        );
    }

    #[test]
    fn an_infinitely_recursive_schema_has_no_sample() {
        let endless = json!({ "type": "object", "properties": { "next": { "$ref": "#/schemas/E" } }, "required": ["next"] });
        let schemas = BTreeMap::from([("E".to_owned(), endless.clone())]);
        assert_eq!(Sample { schemas: &schemas }.value(&endless), None);
    }

    #[test]
    fn values_in_paths_are_encoded() {
        assert_eq!(encoded("a/b c", false), "a%2Fb%20c");
        assert_eq!(encoded("a/b", true), "a/b");
    }
}
