//! [`Schema::to_json_schema`](crate::Schema::to_json_schema): a schema as JSON
//! Schema 2020-12.

mod inner;

use serde_json::{Map, Value, json};

use crate::format::{Format, TextType};
use crate::function::Default;
use crate::node::{
    AdditionalRule, Bound, Compiled, Definition, Node, ObjectRules, Size, TextRules, Types, kind,
};
use crate::number::Num;

/// Exports a whole schema.
pub(crate) fn export(compiled: &Compiled) -> Value {
    inner::schema(compiled)
}

/// Exports one rule.
fn rule(node: &Node, definitions: &[Definition]) -> Value {
    if node.never {
        return false.into();
    }
    if let Some(reference) = inner::bare_reference(node, definitions) {
        return reference;
    }
    let mut out = node.notes.clone();
    if let Some(dialect) = out.get_mut("$schema") {
        *dialect = DIALECT.into();
    }
    types(node, definitions, &mut out);
    literals(node, &mut out);
    if let Some(rules) = &node.text {
        text(rules, &mut out);
    }
    numbers(node, &mut out);
    arrays(node, definitions, &mut out);
    if let Some(rules) = &node.object {
        object(rules, definitions, &mut out);
    }
    if let Some(size) = &node.size {
        sizes(node, size, &mut out);
    }
    if node.required && takes(&node.types, kind::STRING) && !inner::refuses_null(node, definitions)
    {
        raise(&mut out, "minLength", 1);
    }
    if let Some(Default::Value(value)) = &node.default {
        out.insert("default".to_owned(), value.clone());
    }
    inner::inner(node, definitions, out)
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

fn types(node: &Node, definitions: &[Definition], out: &mut Map<String, Value>) {
    let types = &node.types;
    if !types.given() {
        // `required: true` refuses null, which no type allows.
        if node.required && !node.nullable && !inner::refuses_null(node, definitions) {
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
        [form] => {
            names.insert(0, "string");
            out.insert("format".to_owned(), format_of(*form).into());
        }
        several => {
            names.insert(0, "string");
            let forms = several.iter().map(|form| json!({ "format": format_of(*form) }));
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
    let Some(literals) = &node.literals else {
        return;
    };
    // Null is allowed beside the values when the rule is nullable.
    let or_null = |values: &[Value]| -> Value {
        let null = (node.nullable && !values.contains(&Value::Null)).then_some(Value::Null);
        values.iter().cloned().chain(null).collect()
    };
    if let Some(one_of) = &literals.one_of {
        out.insert("enum".to_owned(), or_null(&one_of.values));
    }
    match &literals.constant {
        None => {}
        Some((value, _)) if !node.nullable || value.is_null() => {
            out.insert("const".to_owned(), value.clone());
        }
        Some((value, _)) if literals.one_of.is_none() => {
            out.insert("enum".to_owned(), or_null(std::slice::from_ref(value)));
        }
        Some((value, _)) => {
            let either = or_null(std::slice::from_ref(value));
            out.insert("allOf".to_owned(), json!([{ "enum": either }]));
        }
    }
}

fn text(rules: &TextRules, out: &mut Map<String, Value>) {
    if let Some(length) = rules.min_length {
        out.insert("minLength".to_owned(), length.into());
    }
    if let Some(length) = rules.max_length {
        out.insert("maxLength".to_owned(), length.into());
    }
    if let Some(pattern) = &rules.pattern {
        out.insert("pattern".to_owned(), pattern.as_str().into());
    }
    if let Some(format) = rules.format {
        let format = if format == Format::Url { Format::Uri } else { format };
        out.insert("format".to_owned(), format.name().into());
    }
}

fn numbers(node: &Node, out: &mut Map<String, Value>) {
    let Some(rules) = &node.number else {
        return;
    };
    for (name, bound) in [
        ("minimum", &rules.minimum),
        ("maximum", &rules.maximum),
        ("exclusiveMinimum", &rules.exclusive_minimum),
        ("exclusiveMaximum", &rules.exclusive_maximum),
    ] {
        if let Some(bound) = bound {
            out.insert(name.to_owned(), bound.number.clone().into());
        }
    }
}

fn arrays(node: &Node, definitions: &[Definition], out: &mut Map<String, Value>) {
    let Some(rules) = &node.array else {
        return;
    };
    if let Some(items) = &rules.items {
        out.insert("items".to_owned(), rule(items, definitions));
    }
    if let Some(count) = rules.min_items {
        out.insert("minItems".to_owned(), count.into());
    }
    if let Some(count) = rules.max_items {
        out.insert("maxItems".to_owned(), count.into());
    }
    if rules.unique {
        out.insert("uniqueItems".to_owned(), true.into());
    }
}

fn object(rules: &ObjectRules, definitions: &[Definition], out: &mut Map<String, Value>) {
    if rules.lists_properties {
        let properties = rules.properties.iter();
        let properties: Map<String, Value> = properties
            .map(|property| (property.name.to_string(), rule(&property.node, definitions)))
            .collect();
        out.insert("properties".to_owned(), properties.into());
    }
    let listed = rules.required.iter().filter(|required| !required.excused);
    let own = rules
        .properties
        .iter()
        .filter(|property| property.node.required && !property.in_required_list);
    let required: Vec<Value> = listed
        .map(|required| &required.name)
        .chain(own.map(|property| &property.name))
        .map(|name| Value::from(&**name))
        .collect();
    if !required.is_empty() {
        out.insert("required".to_owned(), required.into());
    }
    let additional = match &rules.additional {
        AdditionalRule::Unsaid => None,
        AdditionalRule::Allowed => Some(true.into()),
        AdditionalRule::Refused => Some(false.into()),
        AdditionalRule::Node(node) => Some(rule(node, definitions)),
    };
    if let Some(additional) = additional {
        out.insert("additionalProperties".to_owned(), additional);
    }
    if let Some(count) = rules.min_properties {
        out.insert("minProperties".to_owned(), count.into());
    }
    if let Some(count) = rules.max_properties {
        out.insert("maxProperties".to_owned(), count.into());
    }
}

/// `min` and `max` as the keywords of each type that is allowed.
fn sizes(node: &Node, size: &Size, out: &mut Map<String, Value>) {
    let types = &node.types;
    let has_items = |name: &str| out.contains_key(name);
    let (min_items, max_items) = (has_items("minItems"), has_items("maxItems"));
    if let Some(bound) = &size.min {
        if takes(types, kind::NUMBER | kind::INTEGER) {
            tighten(out, "minimum", bound, true);
        }
        let least = count_from(bound);
        if takes(types, kind::STRING) {
            raise(out, "minLength", least);
        }
        if takes(types, kind::ARRAY) && !min_items {
            raise(out, "minItems", least);
        }
    }
    if let Some(bound) = &size.max {
        if takes(types, kind::NUMBER | kind::INTEGER) {
            tighten(out, "maximum", bound, false);
        }
        let most = count_to(bound);
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
    !types.given() || types.has(kinds) || text
}

fn raise(out: &mut Map<String, Value>, name: &str, least: u64) {
    let given = out.get(name).and_then(Value::as_u64).unwrap_or(0);
    out.insert(name.to_owned(), given.max(least).into());
}

fn lower(out: &mut Map<String, Value>, name: &str, most: u64) {
    // Without a bound every other one is lower.
    let given = out.get(name).and_then(Value::as_u64).unwrap_or(u64::MAX);
    out.insert(name.to_owned(), given.min(most).into());
}

fn tighten(out: &mut Map<String, Value>, name: &str, bound: &Bound, is_lower: bool) {
    let given = out.get(name).and_then(Value::as_number).map(Num::of);
    let is_tighter = given.is_none_or(|given| bound.seen_from(given).is_lt() == is_lower);
    if is_tighter {
        out.insert(name.to_owned(), bound.number.clone().into());
    }
}

/// The least count that is not below the bound.
fn count_from(bound: &Bound) -> u64 {
    match bound.num() {
        // What does not fit is beyond every count.
        Num::Whole(whole) => u64::try_from(whole.max(0)).unwrap_or(u64::MAX),
        Num::Float(float) => float_count(float.ceil()),
    }
}

/// The greatest count that is not above the bound.
fn count_to(bound: &Bound) -> u64 {
    match bound.num() {
        // What does not fit is beyond every count.
        Num::Whole(whole) => u64::try_from(whole.max(0)).unwrap_or(u64::MAX),
        Num::Float(float) => float_count(float.floor()),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, as it should"
)]
fn float_count(float: f64) -> u64 {
    float as u64
}
