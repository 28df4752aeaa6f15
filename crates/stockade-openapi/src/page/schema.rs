//! JSON Schemas as readable lists, with example values.

use serde_json::{Map, Value, json};

use super::html::Html;

/// The JSON pointer prefix of schemas.
const COMPONENTS: &str = "#/components/schemas/";

/// Keywords that are shown with their values.
const RULES: [&str; 18] = [
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "const",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// The maximum nesting of schemas that is shown. Deeper schemas appear only in
/// the document.
const DEPTH: usize = 6;

/// Returns the name of the schema that a reference points to.
pub(super) fn name_of(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(COMPONENTS)
}

/// Adds the names of the schemas that a value refers to, in order.
pub(super) fn names_in(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            if let Some(name) = name_of(value)
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
            object.values().for_each(|value| names_in(value, names));
        }
        Value::Array(items) => items.iter().for_each(|value| names_in(value, names)),
        _ => {}
    }
}

/// Adds a short description of a schema's type and rules.
pub(super) fn kind(html: &mut Html, schema: &Value) {
    kind_at(html, schema, DEPTH);
    for rule in RULES {
        if let Some(value) = schema.get(rule)
            && !is_bound_of_format(schema, rule)
        {
            html.markup(" <i>").text(rule).markup(" ").text(&plain(value)).markup("</i>");
        }
    }
}

/// Returns true for bounds that the integer format implies.
fn is_bound_of_format(schema: &Value, rule: &str) -> bool {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let (is_unsigned, bits) = match format.split_once("int") {
        Some(("u", bits)) => (true, bits),
        Some(("", bits)) => (false, bits),
        _ => return false,
    };
    let Some(bits) = bits.parse::<u32>().ok().filter(|bits| (8..=64).contains(bits)) else {
        return false;
    };
    let values = 1_i128 << if is_unsigned { bits } else { bits - 1 };
    let bound = match rule {
        "minimum" if is_unsigned => 0,
        "minimum" => -values,
        "maximum" => values - 1,
        _ => return false,
    };
    schema[rule].as_number().is_some_and(|number| number.as_i128() == Some(bound))
}

fn kind_at(html: &mut Html, schema: &Value, depth: usize) {
    if depth == 0 {
        html.markup("…");
    } else if let Some(name) = name_of(schema) {
        html.markup("<a href=#s-").anchor(name).markup(">").text(name).markup("</a>");
    } else if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        for (index, value) in values.iter().enumerate() {
            html.markup(if index == 0 { "" } else { " | " }).code(&plain(value));
        }
    } else if let Some(choices) = choices(schema) {
        for (index, choice) in choices.iter().enumerate() {
            html.markup(if index == 0 { "" } else { " | " });
            kind_at(html, choice, depth - 1);
        }
    } else {
        html.text(&types(schema));
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            html.markup(" (").text(format).markup(")");
        }
        if let Some(items) = schema.get("items") {
            html.markup(" of ");
            kind_at(html, items, depth - 1);
        }
        if let Some(values) = schema.get("additionalProperties").filter(|it| it.is_object()) {
            html.markup(" of ");
            kind_at(html, values, depth - 1);
        }
    }
}

fn choices(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array())
}

fn types(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        }
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "any value".to_owned(),
    }
}

/// Returns the text of a value, without quotes for a string.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Adds the fields of an object and of its nested objects.
pub(super) fn fields(html: &mut Html, schema: &Value) {
    fields_at(html, schema, DEPTH);
}

fn fields_at(html: &mut Html, schema: &Value, depth: usize) {
    if depth == 0 || name_of(schema).is_some() {
        return;
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object)
        && !properties.is_empty()
    {
        html.markup("<ul class=r>");
        for (name, field) in properties {
            html.markup("<li>").code(name).markup(" ");
            kind(html, field);
            if is_required(schema, name) {
                html.markup(" <i>required</i>");
            }
            if let Some(text) = field.get("description").and_then(Value::as_str) {
                html.markup(" – ").text(text);
            }
            fields_at(html, field, depth - 1);
        }
        html.markup("</ul>");
    }
    let inner = choices(schema).into_iter().flatten();
    let inner = inner.chain(schema.get("items")).chain(schema.get("additionalProperties"));
    inner.for_each(|schema| fields_at(html, schema, depth - 1));
}

fn is_required(schema: &Value, name: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|known| known == name))
}

/// Returns true if a schema has fields to show.
pub(super) fn has_fields(schema: &Value) -> bool {
    let mut html = Html::default();
    fields(&mut html, schema);
    !html.into_string().is_empty()
}

/// Creates an example value from the type and the simple rules of a schema.
/// `schemas` are the schemas of the document.
pub(super) fn example(schema: &Value, schemas: &Value) -> Value {
    example_at(schema, schemas, DEPTH)
}

fn example_at(schema: &Value, schemas: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(name) = name_of(schema) {
        return example_at(&schemas[name], schemas, depth - 1);
    }
    let given = schema.get("const").or_else(|| schema.get("default"));
    let given = given.or_else(|| schema.get("examples")?.get(0));
    if let Some(value) = given.or_else(|| schema.get("enum")?.get(0)) {
        return value.clone();
    }
    if let Some(choice) = choices(schema).and_then(|choices| choices.first()) {
        return example_at(choice, schemas, depth - 1);
    }
    let types = types(schema);
    match types.split(" | ").next().unwrap_or("any value") {
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" => {
            let is_needed = schema.get("minItems").and_then(Value::as_u64).is_some_and(|it| it > 0);
            let item = schema.get("items").filter(|_| is_needed);
            item.map(|item| example_at(item, schemas, depth - 1)).into_iter().collect()
        }
        "object" => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let needed = properties.into_iter().flatten();
            let needed = needed.filter(|(name, _)| is_required(schema, name));
            let fields =
                needed.map(|(name, it)| (name.clone(), example_at(it, schemas, depth - 1)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        _ => json!(text(schema)),
    }
}

/// Returns an example string with the format and the minimum length.
fn text(schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str);
    let text = match format.unwrap_or_default() {
        "email" => "ada@example.org",
        "uri" | "url" | "uri-reference" => "https://example.org/",
        "uuid" => "7d444840-9dc0-11d1-b245-5ffdce74fad2",
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        _ => "text",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
    let missing = least.min(64).saturating_sub(text.len() as u64);
    (0..missing).fold(text.to_owned(), |text, _| text + "x")
}
