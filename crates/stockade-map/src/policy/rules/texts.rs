//! The rules about texts that other users see: user names and links. They test
//! the schemas with texts that an attacker would send.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stockade_validation::{Schema, ValidationOptions};

use super::super::fields::{Field, fields_of};
use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::{each, referred};
use crate::{RouteInfo, RouteMap};

pub(super) const NAMES_VISIBLE: BuiltIn = BuiltIn {
    id: "names-visible",
    text: "user names do not accept invisible characters, which make them look like other names",
    owasp: "API2",
    find: |map| {
        each(map, |route| {
            let names = ["handle", "login", "loginname", "nickname", "screenname", "username"];
            let place = place_of(map, route, &|name| names.contains(&name), &UNSEEN)?;
            let message = format!(
                "a name may contain invisible characters ({place}) and look like another name"
            );
            let mend = "list the allowed characters: `pattern = \"^[A-Za-z0-9_.-]+$\"`";
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

/// Names with a zero-width character and with a character that reverses the
/// text. There are short and long names, because a schema may require a minimum
/// length.
const UNSEEN: [&str; 4] = [
    "ada\u{200B}a",
    "a\u{202E}ada",
    "adaadaadaadaadaada\u{200B}adaadaadaadaada",
    "adaadaadaadaadaada\u{202E}adaadaadaadaada",
];

pub(super) const LINKS_SAFE: BuiltIn = BuiltIn {
    id: "links-safe",
    text: "a link cannot run a script",
    owasp: "API8",
    find: |map| {
        each(map, |route| {
            let ends = ["avatar", "homepage", "href", "image", "link", "picture", "url", "website"];
            let is_link = |name: &str| ends.iter().any(|end| name.ends_with(end));
            let place = place_of(map, route, &is_link, &SCRIPTS)?;
            let message = format!("a link may run a script in the page that shows it ({place})");
            let mend = "accept only web addresses: `pattern = \"^https://[^\\\\s\\\"'<>]+$\"`";
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

/// A link that is a script, and a link that ends the HTML attribute around it.
const SCRIPTS: [&str; 2] = ["javascript:alert(1)", "https://example.org/\"onerror=\"alert(1)"];

/// Returns the place of a body text with a wanted name and a schema that
/// accepts one of `texts`. Names are in lower case, without word separators.
fn place_of(
    map: &RouteMap,
    route: &RouteInfo,
    is_wanted: &dyn Fn(&str) -> bool,
    texts: &[&str],
) -> Option<String> {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    for content in route.body.iter().flat_map(|body| &body.content) {
        let (schemas, root) = (&map.schemas, &content.schema);
        for field in fields_of(schemas, root, "body") {
            if is_wanted(&letters(field.name)) && accepts(schemas, root, &field, texts) {
                return Some(field.place);
            }
        }
    }
    None
}

/// Returns true if a field accepts one of these texts.
fn accepts(
    schemas: &BTreeMap<String, Value>,
    root: &Value,
    field: &Field<'_>,
    texts: &[&str],
) -> bool {
    let validator = Validator { schemas, root };
    texts.iter().any(|text| validator.accepts(field.schema, text, DEEPEST))
}

/// The largest depth of nested schemas for one text. At a greater depth the
/// text counts as rejected and is not a finding.
const DEEPEST: usize = 16;

/// Validates texts. Ignores length limits, because a longer text can contain
/// the same characters.
struct Validator<'s> {
    schemas: &'s BTreeMap<String, Value>,
    root: &'s Value,
}

impl Validator<'_> {
    fn accepts(&self, schema: &Value, text: &str, deepest: usize) -> bool {
        let Value::Object(object) = schema else { return schema.as_bool() == Some(true) };
        let Some(deeper) = deepest.checked_sub(1) else { return false };
        if object.contains_key("enum") || object.contains_key("const") {
            return false;
        }
        let goes_on = |schema: &Value| self.accepts(schema, text, deeper);
        let list = |name: &str| object.get(name).and_then(Value::as_array);
        let reference = object.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|it| referred(self.schemas, self.root, it));
        takes_text(object)
            && fits(object, text)
            && target.is_none_or(goes_on)
            && list("allOf").is_none_or(|all| all.iter().all(goes_on))
            && list("anyOf").is_none_or(|any| any.iter().any(goes_on))
            && list("oneOf").is_none_or(|one| one.iter().any(goes_on))
    }
}

fn takes_text(object: &Map<String, Value>) -> bool {
    match object.get("type") {
        Some(Value::Array(types)) => types.iter().any(|name| name == "string"),
        Some(name) => name == "string",
        None => true,
    }
}

/// Returns true if a text matches the expression and the format of a schema. An
/// invalid expression does not match any text.
fn fits(object: &Map<String, Value>, text: &str) -> bool {
    let mut own = Map::from_iter([("type".to_owned(), "string".into())]);
    let pattern = object.get("pattern");
    own.extend(pattern.map(|it| ("pattern".to_owned(), it.clone())));
    own.extend(object.get("format").map(|it| ("format".to_owned(), it.clone())));
    let errors = Schema::from_value(&own.into())
        .map(|schema| schema.check(&text.into(), &ValidationOptions::default()));
    matches!(errors, Ok(Ok(errors)) if errors.is_empty())
}
