//! JSON Schemas as readable lists.

use serde_json::{Map, Value};

use super::html::Html;
use super::{markdown, words};
use crate::example::{Direction, followed, referred};

/// The number of levels that are unfolded. Deeper objects are folded or links.
const UNFOLDED: usize = 2;

/// The maximum nesting of schemas that is shown. Deeper schemas appear only in
/// the document.
const DEPTH: usize = 6;

/// The largest number of alternatives that are tabs, as in the style sheet.
const MOST_TABS: usize = 8;

/// The largest number of values of an enumeration to show.
const MOST_VALUES: usize = 40;

/// Adds the names of the schemas that a value refers to, in order.
pub(super) fn names_in(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            if let Some(name) = referred(value)
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
    html.markup("<i>");
    kind_at(html, schema, DEPTH);
    html.markup("</i>");
    words::add(html, schema);
}

fn kind_at(html: &mut Html, schema: &Value, depth: usize) {
    if depth == 0 {
        html.markup("…");
    } else if let Some(name) = referred(schema) {
        html.markup("<a href=#s-").anchor(name).markup(">").text(name).markup("</a>");
    } else if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        for (index, value) in values.iter().take(MOST_VALUES).enumerate() {
            html.markup(if index == 0 { "" } else { " | " }).code(&words::plain(value));
        }
        html.markup(if values.len() > MOST_VALUES { " …" } else { "" });
    } else if let Some((word, choices)) = choices(schema) {
        for (index, choice) in choices.iter().enumerate() {
            html.markup(match (index, word) {
                (0, _) => "",
                (_, "allOf") => " and ",
                _ => " or ",
            });
            kind_at(html, choice, depth - 1);
        }
    } else {
        html.text(&types(schema));
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            html.markup(" (").text(format).markup(")");
        }
        let inner = schema.get("items").or_else(|| schema.get("additionalProperties"));
        if let Some(inner) = inner.filter(|it| it.is_object()) {
            html.markup(" of ");
            kind_at(html, inner, depth - 1);
        }
    }
}

fn choices(schema: &Value) -> Option<(&'static str, &Vec<Value>)> {
    let words = ["oneOf", "anyOf", "allOf"];
    words.into_iter().find_map(|word| Some((word, schema.get(word)?.as_array()?)))
}

fn types(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "any value".to_owned(),
    }
}

/// The schemas of a document, and the direction of the body.
#[derive(Clone, Copy)]
pub(super) struct View<'d> {
    pub(super) schemas: &'d Value,
    /// `None` shows the members of both directions.
    pub(super) direction: Option<Direction>,
}

/// The named schemas around a schema, the nearest first.
struct Trail<'t>(&'t str, Option<&'t Self>);

impl Trail<'_> {
    fn contains(&self, name: &str) -> bool {
        self.0 == name || self.1.is_some_and(|more| more.contains(name))
    }
}

impl View<'_> {
    /// Adds the fields of a schema and of its nested objects.
    pub(super) fn fields(self, html: &mut Html, schema: &Value) {
        self.at(html, schema, 0, None);
    }

    /// Adds the fields of a named schema.
    pub(super) fn named(self, html: &mut Html, name: &str) {
        self.at(html, &self.schemas[name], 0, Some(&Trail(name, None)));
    }

    fn at(self, html: &mut Html, schema: &Value, level: usize, trail: Option<&Trail<'_>>) {
        if level >= DEPTH {
            return;
        }
        if let Some(name) = referred(schema) {
            let is_known = trail.is_some_and(|trail| trail.contains(name));
            // A deeper named schema is a link, which `kind` adds.
            if !is_known && level < UNFOLDED {
                self.at(html, &self.schemas[name], level, Some(&Trail(name, trail)));
            }
            return;
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            self.properties(html, schema, properties, (level, trail));
        }
        match choices(schema) {
            Some(("allOf", parts)) => parts.iter().for_each(|it| self.at(html, it, level, trail)),
            Some((_, choices)) => self.alternatives(html, choices, level, trail),
            None => {}
        }
        let inner = schema.get("items").into_iter().chain(schema.get("additionalProperties"));
        inner.for_each(|schema| self.at(html, schema, level, trail));
    }

    fn properties(
        self,
        html: &mut Html,
        schema: &Value,
        properties: &Map<String, Value>,
        (level, trail): (usize, Option<&Trail<'_>>),
    ) {
        let is_shown = |field: &Value| self.direction.is_none_or(|it| !it.hides(field));
        let mut shown = properties.iter().filter(|(_, field)| is_shown(field)).peekable();
        if shown.peek().is_none() {
            return;
        }
        html.markup("<ul class=f>");
        for (name, field) in shown {
            html.markup("<li><code>").text(name).markup("</code> ");
            kind(html, field);
            if is_required(schema, name) {
                html.markup(" <em>required</em>");
            }
            if let Some(text) = field.get("description").and_then(Value::as_str) {
                markdown::add(html, text);
            }
            let start = html.len();
            self.at(html, field, level + 1, trail);
            if level + 1 >= UNFOLDED {
                html.fold(start, "Fields");
            }
        }
        html.markup("</ul>");
    }

    /// Adds the fields of alternatives, as tabs that need no script.
    fn alternatives(
        self,
        html: &mut Html,
        choices: &[Value],
        level: usize,
        trail: Option<&Trail<'_>>,
    ) {
        let choices: Vec<&Value> = choices.iter().filter(|it| it["type"] != "null").collect();
        let has_fields = |choice: &&Value| {
            let mut html = Html::default();
            self.at(&mut html, choice, level, trail);
            html.len() > 0
        };
        if !choices.iter().any(has_fields) {
            return;
        }
        if let [only] = choices.as_slice() {
            return self.at(html, only, level, trail);
        }
        let names = choices.iter().take(MOST_TABS).map(|choice| self.title(choice));
        tabs(html, "Alternatives", &names.collect::<Vec<_>>(), |html, index| {
            if let Some(choice) = choices.get(index) {
                html.markup("<p>");
                kind(html, choice);
                html.markup("</p>");
                self.at(html, choice, level, trail);
            }
        });
        for choice in choices.iter().skip(MOST_TABS) {
            html.markup("<details><summary>").text(&self.title(choice)).markup("</summary>");
            self.at(html, choice, level, trail);
            html.markup("</details>");
        }
    }

    /// Returns a short name of an alternative: its title, the constant that
    /// distinguishes it, or its type.
    fn title(self, schema: &Value) -> String {
        if let Some(title) = schema.get("title").and_then(Value::as_str) {
            return title.to_owned();
        }
        let name = referred(schema);
        let fields = followed(self.schemas, schema).get("properties").and_then(Value::as_object);
        let mark = |field: &Value| {
            let only = field.get("enum").and_then(Value::as_array).filter(|it| it.len() == 1);
            field.get("const").or_else(|| only?.first()).map(words::plain)
        };
        let mark = fields.into_iter().flatten().find_map(|(_, field)| mark(field));
        let only = fields.filter(|fields| fields.len() == 1);
        let only = only.and_then(|fields| fields.keys().next().cloned());
        mark.or_else(|| name.map(str::to_owned)).or(only).unwrap_or_else(|| types(schema))
    }
}

/// Adds tabs, each with a name and a panel.
pub(super) fn tabs(
    html: &mut Html,
    label: &'static str,
    names: &[String],
    mut panel: impl FnMut(&mut Html, usize),
) {
    let id = html.unique().to_string();
    html.markup("<div class=tabs role=radiogroup aria-label=\"").markup(label).markup("\">");
    for (index, name) in names.iter().enumerate() {
        let own = format!("t{id}-{index}");
        html.markup("<input type=radio name=t").anchor(&id).markup(" id=").anchor(&own);
        html.markup(if index == 0 { " checked>" } else { ">" });
        html.markup("<label for=").anchor(&own).markup(">").text(name).markup("</label>");
    }
    for index in 0..names.len() {
        html.markup("<div>");
        panel(html, index);
        html.markup("</div>");
    }
    html.markup("</div>");
}

fn is_required(schema: &Value, name: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|known| known == name))
}
