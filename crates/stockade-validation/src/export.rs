//! [`Schema::to_json_schema`](crate::Schema::to_json_schema): exports a schema
//! as JSON Schema 2020-12.

mod applicators;
mod disjoint;
mod inner;
mod trim;

use serde_json::{Map, Number, Value, json};

pub(crate) use self::inner::{definition, pointer, schema};
use crate::build::is_note;
use crate::format::{Format, TextType};
use crate::node::{
    ArrayRules, Definition, Node, NumberRules, ObjectRules, TextRules, Types, count_bounds, kind,
};
use crate::number::Num;

/// The export settings that all functions share.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) definitions: &'c [Definition],
    /// Returns the `$ref` text for a definition.
    pub(crate) reference: &'c dyn Fn(&Definition) -> String,
    /// True if objects reject unlisted keys, as with `allow_unknown(false)`.
    pub(crate) closed: bool,
}

/// Exports one rule.
pub(crate) fn rule(node: &Node, context: Context<'_>) -> Value {
    if node.never {
        return false.into();
    }
    if let Some(reference) = inner::bare_reference(node, context) {
        return reference;
    }
    // An `$id` would change the meaning of references to definitions.
    let is_kept = |name: &str| is_note(name) && (name != "$id" || context.definitions.is_empty());
    let notes = node.keywords.iter().filter(|(name, _)| is_kept(name));
    let mut out: Map<String, Value> =
        notes.map(|(name, value)| (exported(name), value.clone())).collect();
    if let Some(dialect) = out.get_mut("$schema") {
        *dialect = DIALECT.into();
    }
    types(node, context, &mut out);
    literals(node, &mut out);
    let export = |node: &Node| rule(node, context);
    TextRules::export(node.text.as_deref(), &node.keywords, &mut out);
    NumberRules::export(&node.keywords, &mut out);
    ArrayRules::export(node.array.as_deref(), &node.keywords, export, &mut out);
    let object = node.object.as_deref();
    ObjectRules::export(object, &node.keywords, context.closed, export, &mut out);
    sizes(node, &mut out);
    if node.required && takes(&node.types, kind::STRING) && !inner::refuses_null(node, context) {
        raise(&mut out, "minLength", 1);
    }
    document(node, &mut out);
    trim::write(node, &mut out);
    if let Some(value) = node.plain_default() {
        out.insert("default".to_owned(), value.clone());
    }
    inner::inner(node, context, out)
}

/// Returns the name of a keyword for documents. A keyword that JSON Schema does
/// not have becomes an extension.
fn exported(keyword: &str) -> String {
    match keyword {
        "maxBytes" => "x-max-bytes".to_owned(),
        "mediaTypes" => "x-media-types".to_owned(),
        "separator" => "x-separator".to_owned(),
        "style" => "x-style".to_owned(),
        other => other.to_owned(),
    }
}

/// Adds the constraints of the type itself, unless a keyword is stricter.
fn document(node: &Node, out: &mut Map<String, Value>) {
    for (name, value) in &node.documented {
        match (name.as_str(), value) {
            ("minimum", Value::Number(bound)) => tighten(out, name, bound, true),
            ("maximum", Value::Number(bound)) => tighten(out, name, bound, false),
            ("format", format) if *format != "binary" && !fits_format(node, out) => {}
            _ => {
                out.entry(name).or_insert_with(|| value.clone());
            }
        }
    }
}

/// Returns true if the number format of the type still applies. A keyword may
/// have changed the type.
fn fits_format(node: &Node, out: &Map<String, Value>) -> bool {
    node.types.has(kind::NUMBER | kind::INTEGER) && !out.contains_key("format")
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

fn types(node: &Node, context: Context<'_>, out: &mut Map<String, Value>) {
    let types = &node.types;
    if !types.given() {
        // `required: true` rejects null even if the type allows it.
        if node.required && !node.nullable && !inner::refuses_null(node, context) {
            out.insert(
                "type".to_owned(),
                json!(["string", "number", "boolean", "object", "array"]),
            );
        }
        return;
    }
    let mut names: Vec<&str> =
        kind::NAMES.iter().filter(|(_, bit)| types.has(*bit)).map(|(name, _)| *name).collect();
    if node.nullable && !types.has(kind::NULL) {
        names.push("null");
    }
    let formats: &[TextType] = if types.has(kind::STRING) { &[] } else { &types.formats };
    match formats {
        [] => {}
        // The type `date` also accepts a date-time.
        [form] if *form != TextType::Date => {
            names.insert(0, "string");
            out.insert("format".to_owned(), format_of(*form).into());
        }
        several => {
            names.insert(0, "string");
            let mut forms: Vec<&str> = several.iter().map(|form| format_of(*form)).collect();
            if several.contains(&TextType::Date) {
                forms.push(Format::DateTime.name());
            }
            let forms = forms.iter().map(|format| json!({ "format": format }));
            out.insert("anyOf".to_owned(), forms.collect());
        }
    }
    let value = match names.as_slice() {
        [name] => (*name).into(),
        names => json!(names),
    };
    out.insert("type".to_owned(), value);
}

fn format_of(form: TextType) -> &'static str {
    match form {
        TextType::Url => Format::Uri.name(),
        form => form.name(),
    }
}

fn literals(node: &Node, out: &mut Map<String, Value>) {
    // A nullable rule accepts null in addition to the listed values.
    let or_null = |values: &[Value]| -> Value {
        let null = (node.nullable && !values.contains(&Value::Null)).then_some(Value::Null);
        values.iter().cloned().chain(null).collect()
    };
    let listed = node.keywords.get("enum").and_then(Value::as_array);
    if let Some(values) = listed {
        out.insert("enum".to_owned(), or_null(values));
    }
    match node.keywords.get("const") {
        None => {}
        Some(value) if !node.nullable || value.is_null() => {
            out.insert("const".to_owned(), value.clone());
        }
        Some(value) if listed.is_none() => {
            out.insert("enum".to_owned(), or_null(std::slice::from_ref(value)));
        }
        Some(value) => {
            let either = or_null(std::slice::from_ref(value));
            out.insert("allOf".to_owned(), json!([{ "enum": either }]));
        }
    }
}

/// Writes `min` and `max` as the matching keywords of each allowed type.
fn sizes(node: &Node, out: &mut Map<String, Value>) {
    let types = &node.types;
    let has_items = |name: &str| out.contains_key(name);
    let (min_items, max_items) = (has_items("minItems"), has_items("maxItems"));
    let bound = |name: &str| node.keywords.get(name).and_then(Value::as_number);
    if let Some(bound) = bound("min") {
        if takes(types, kind::NUMBER | kind::INTEGER) {
            tighten(out, "minimum", bound, true);
        }
        let (least, _) = count_bounds(Num::of(bound));
        if takes(types, kind::STRING) {
            raise(out, "minLength", least);
        }
        if takes(types, kind::ARRAY) && !min_items {
            raise(out, "minItems", least);
        }
    }
    if let Some(bound) = bound("max") {
        if takes(types, kind::NUMBER | kind::INTEGER) {
            tighten(out, "maximum", bound, false);
        }
        // A bound below zero allows no count; 0 is the nearest expressible
        // bound.
        let most = count_bounds(Num::of(bound)).1.unwrap_or(0);
        if takes(types, kind::STRING) {
            lower(out, "maxLength", most);
        }
        if takes(types, kind::ARRAY) && !max_items {
            lower(out, "maxItems", most);
        }
    }
}

fn takes(types: &Types, kinds: u8) -> bool {
    let text = kinds & kind::STRING != 0 && !types.formats.is_empty();
    types.take(kinds) || text
}

fn raise(out: &mut Map<String, Value>, name: &str, least: usize) {
    let given = count(out, name).unwrap_or(0);
    out.insert(name.to_owned(), given.max(least).into());
}

fn lower(out: &mut Map<String, Value>, name: &str, most: usize) {
    // Any bound is lower than a missing bound.
    let given = count(out, name).unwrap_or(usize::MAX);
    out.insert(name.to_owned(), given.min(most).into());
}

fn count(out: &Map<String, Value>, name: &str) -> Option<usize> {
    usize::try_from(out.get(name)?.as_u64()?).ok()
}

fn tighten(out: &mut Map<String, Value>, name: &str, bound: &Number, is_lower: bool) {
    let given = out.get(name).and_then(Value::as_number).map(Num::of);
    let is_tighter = given.is_none_or(|given| given.compare(Num::of(bound)).is_lt() == is_lower);
    if is_tighter {
        out.insert(name.to_owned(), bound.clone().into());
    }
}
