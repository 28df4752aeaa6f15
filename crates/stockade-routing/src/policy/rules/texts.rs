//! The rules about texts that are shown to others: names of users, and links. What
//! a schema accepts is tried, by texts that an attacker would send.

use std::collections::BTreeMap;

use serde_json::Value;
use stockade_validation::{Schema, ValidationOptions};

use super::super::fields::{Field, fields_of, may_be};
use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::{each, referred};
use crate::map::{RouteInfo, RouteMap};

pub(super) const NAMES_VISIBLE: BuiltIn = BuiltIn {
    id: "names-visible",
    text: "the name of a user has no invisible signs, by which it would pass for another one",
    owasp: "API2",
    find: |map| {
        each(map, |route| {
            let names = ["handle", "login", "loginname", "nickname", "screenname", "username"];
            let place = place_of(map, route, |name| names.contains(&name), &UNSEEN)?;
            let message = format!("a name may have invisible signs ({place}), and look as another");
            let mend = "list the signs that a name may have: `pattern = \"^[A-Za-z0-9_.-]+$\"`";
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

/// Names with a sign of no width, and with one that turns the text around.
const UNSEEN: [&str; 2] = ["ada\u{200B}", "\u{202E}ada"];

pub(super) const LINKS_SAFE: BuiltIn = BuiltIn {
    id: "links-safe",
    text: "a link that pages show runs no script",
    owasp: "API8",
    find: |map| {
        each(map, |route| {
            let ends = ["avatar", "homepage", "href", "image", "link", "picture", "url", "website"];
            let is_link = |name: &str| ends.iter().any(|end| name.ends_with(end));
            let place = place_of(map, route, is_link, &SCRIPTS)?;
            let message = format!("a link may run a script in the page that shows it ({place})");
            let mend = "take addresses of the web alone: \
                        `pattern = \"^https://[^\\\\s\\\"'<>]+$\"`";
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

/// A link that is a script, and one that ends the attribute it stands in.
const SCRIPTS: [&str; 2] = ["javascript:alert(1)", "https://example.org/\"onerror=\"alert(1)"];

/// Returns the place of a text in the body of a route whose name is wanted, where
/// its schema accepts one of `texts`. Names come in lower case, without signs
/// between words.
fn place_of(
    map: &RouteMap,
    route: &RouteInfo,
    is_wanted: impl Fn(&str) -> bool,
    texts: &[&str],
) -> Option<String> {
    let contents = route.body.iter().flat_map(|body| &body.content);
    let fields = contents.flat_map(|content| {
        let (schemas, root) = (&map.schemas, &content.schema);
        fields_of(schemas, root, "body").into_iter().map(move |field| (schemas, root, field))
    });
    let letters = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut fields = fields.filter(|(_, _, field)| is_wanted(&letters(field.name)));
    fields.find(|(schemas, root, field)| accepts(schemas, root, field, texts)).map(|it| it.2.place)
}

/// Returns true if a text is one that a field accepts. A schema that cannot be read
/// by itself accepts none.
fn accepts(
    schemas: &BTreeMap<String, Value>,
    root: &Value,
    field: &Field<'_>,
    texts: &[&str],
) -> bool {
    if !may_be(schemas, root, field.schema, &["string"]) {
        return false;
    }
    let reference = field.schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|it| referred(schemas, root, it));
    let Ok(schema) = Schema::from_value(target.unwrap_or(field.schema)) else { return false };
    let options = ValidationOptions::default();
    texts.iter().any(|text| {
        let errors = schema.check(&Value::from(*text), &options);
        errors.is_ok_and(|errors| errors.is_empty())
    })
}
