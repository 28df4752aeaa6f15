//! Converts JSON to a [`Rule`]: detects the notation of each node and reads its
//! content.

use std::panic::Location;

use serde_json::{Map, Value};

use super::keyword::{self, Kind};
use super::reference::{At, Document};
use crate::depth::{MAX_DEPTH, exceeds};
use crate::parts::Parts;
use crate::rule::{Additional, Rule};
use crate::suggest::did_you_mean;

/// Reads a schema in either notation.
pub(crate) fn read(value: &Value, location: &'static Location<'static>) -> Rule {
    let is_document = value.get("$schema").is_some_and(Value::is_string);
    let document = Document::new(value);
    Reader { location, guess: !is_document, document: &document }.read_at(value, "")
}

/// Reads a schema that has a rule at every node.
pub(crate) fn read_rule(value: &Value, location: &'static Location<'static>) -> Rule {
    let document = Document::new(value);
    Reader { location, guess: false, document: &document }.read_at(value, "")
}

/// Reads a field map, even if its keys are keyword names.
pub(crate) fn read_fields(value: &Value, location: &'static Location<'static>) -> Rule {
    let document = Document::new(value);
    let reader = Reader { location, guess: true, document: &document };
    match value {
        Value::Object(map) => {
            let at = At::Start("");
            let fields = map.iter().map(|(name, value)| {
                (name.clone(), reader.read_field(name, value, &at.step(name), MAX_DEPTH))
            });
            Rule::at(location).of_fields(fields)
        }
        _ => reader.issue("a field map must be an object".to_owned()),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Reader<'v> {
    pub(super) location: &'static Location<'static>,
    /// True if nodes may be field maps.
    pub(super) guess: bool,
    pub(super) document: &'v Document<'v>,
}

impl Reader<'_> {
    /// Reads the node at a JSON pointer.
    pub(super) fn read_at(&self, value: &Value, pointer: &str) -> Rule {
        self.read(value, &At::Start(pointer), MAX_DEPTH)
    }

    /// Reads a node. `levels` is the remaining nesting depth.
    fn read(&self, value: &Value, at: &At<'_>, levels: usize) -> Rule {
        match value {
            Value::Bool(flag) => Rule { boolean: Some(*flag), ..Rule::at(self.location) },
            Value::Object(_) if levels == 0 => {
                self.issue(format!("the schema is nested more than {MAX_DEPTH} levels deep"))
            }
            Value::Object(map) if !self.guess || is_rule(map) => self.read_rule(map, at, levels),
            Value::Object(map) => self.read_map(map, at, levels),
            _ => {
                let pointer = at.pointer();
                let place = if pointer.is_empty() { pointer } else { format!(" (at `{pointer}`)") };
                self.issue(format!("a schema must be an object or a boolean{place}"))
            }
        }
    }

    fn read_rule(&self, map: &Map<String, Value>, at: &At<'_>, levels: usize) -> Rule {
        let mut rule = Rule::at(self.location);
        rule.pointer = Some(at.pointer().into());
        for (keyword, value) in map {
            let inside = at.step(keyword);
            let read = |value: &Value| self.read(value, &inside, levels - 1);
            match (keyword.as_str(), value) {
                ("items", Value::Object(_) | Value::Bool(_)) => {
                    rule.items = Some(Box::new(read(value)));
                }
                ("additionalProperties", Value::Bool(flag)) => {
                    rule.additional = Some(Additional::Allowed(*flag));
                }
                ("additionalProperties", Value::Object(_)) => {
                    rule.additional = Some(Additional::from(read(value)));
                }
                ("properties", Value::Object(properties)) => {
                    let properties = properties.iter().map(|(name, value)| {
                        (name.clone(), self.read(value, &inside.step(name), levels - 1))
                    });
                    rule.properties = Some(properties.collect());
                }
                ("$ref" | "$anchor" | "$dynamicAnchor", Value::String(_)) => {}
                // These are only checked for errors. References resolve to the
                // document.
                ("$defs" | "definitions", Value::Object(rules)) => {
                    self.read_definitions(&mut rule, rules, &inside, levels);
                }
                _ if rule.read_part(keyword, value, &|steps, value| match steps {
                    [step] => self.read(value, &inside.step(step), levels - 1),
                    _ => read(value),
                }) => {}
                // Copying a value uses stack space in proportion to its nesting
                // depth.
                _ if exceeds(value, MAX_DEPTH) => rule
                    .mistakes
                    .push(format!("`{keyword}` is nested more than {MAX_DEPTH} levels deep")),
                _ => {
                    rule.keywords.insert(keyword.clone(), value.clone());
                }
            }
        }
        match map.get("$ref") {
            Some(Value::String(reference)) => self.refer(rule, reference, at),
            _ => rule,
        }
    }

    /// Reads the definitions of a node to find their errors. They may be
    /// unused.
    fn read_definitions(
        &self,
        rule: &mut Rule,
        rules: &Map<String, Value>,
        at: &At<'_>,
        levels: usize,
    ) {
        for (name, value) in rules {
            let definition = self.read(value, &at.step(name), levels - 1);
            rule.definitions.push((name.clone(), definition));
        }
    }

    /// Adds a reference to the rule of its node.
    fn refer(&self, mut rule: Rule, reference: &str, at: &At<'_>) -> Rule {
        let target = match self.document.refer(reference, &at.pointer(), self.guess, self.location)
        {
            Ok(target) => target,
            Err(message) => {
                let message = format!("`$ref` {reference:?} {message} (at `{}`)", at.step("$ref"));
                rule.mistakes.push(message);
                return rule;
            }
        };
        let has_list = rule.keywords.get("required").is_some_and(Value::is_array);
        let has_structure = rule.properties.is_some()
            || rule.items.is_some()
            || rule.additional.is_some()
            || rule.inner.is_some()
            || rule.parts.is_some()
            || has_list;
        if has_structure {
            rule.parts.get_or_insert_with(Box::<Parts>::default).all_of.insert(0, target);
        } else {
            rule.inner = target.inner;
        }
        rule
    }

    fn read_map(&self, map: &Map<String, Value>, at: &At<'_>, levels: usize) -> Rule {
        let mut rule = Rule::at(self.location);
        rule.pointer = Some(at.pointer().into());
        let mut fields = Vec::with_capacity(map.len());
        for (name, value) in map {
            let is_schema = Kind::Schema.fits(value);
            if !is_schema && keyword::is_note(name) && !exceeds(value, MAX_DEPTH) {
                rule.keywords.insert(name.clone(), value.clone());
            } else if keyword::is_reserved(name) {
                rule.mistakes.push(format!(
                    "JSON Schema keyword `{name}` cannot be mixed with fields (at `{}`); \
                     use `Schema::rule`, or `Schema::fields` for a field of this name",
                    at.step(name)
                ));
            } else if is_schema {
                fields
                    .push((name.clone(), self.read_field(name, value, &at.step(name), levels - 1)));
            } else {
                rule.mistakes.push(not_a_field(name, &at.step(name)));
            }
        }
        rule.of_fields(fields)
    }

    fn read_field(&self, name: &str, value: &Value, at: &At<'_>, levels: usize) -> Rule {
        if Kind::Schema.fits(value) {
            self.read(value, at, levels)
        } else {
            self.issue(not_a_field(name, at))
        }
    }

    fn issue(&self, message: String) -> Rule {
        Rule { mistakes: vec![message], ..Rule::at(self.location) }
    }
}

impl Rule {
    fn of_fields(mut self, fields: impl IntoIterator<Item = (String, Self)>) -> Self {
        self.keywords.insert("type".to_owned(), "object".into());
        self.properties = Some(fields.into_iter().collect());
        self
    }
}

/// Returns the error for a field-map key that does not contain a schema.
/// Usually the key is a keyword with a value of the wrong type, or a misspelled
/// keyword.
fn not_a_field(name: &str, at: &At<'_>) -> String {
    if let Some(kind) = keyword::kind_of(name) {
        return format!("`{name}` must be {} (at `{at}`)", kind.wanted());
    }
    let near = did_you_mean(name, keyword::names());
    let hint = if near.is_empty() { "; the rule of a field must be an object" } else { &near };
    format!("unknown keyword `{name}`{hint} (at `{at}`)")
}

fn is_rule(map: &Map<String, Value>) -> bool {
    let mut object_keyword = false;
    let mut other_object = false;
    for (name, value) in map {
        match keyword::kind_of(name) {
            // These keywords check nothing by themselves.
            Some(_) if UNUSED_ALONE.contains(&name.as_str()) && value.is_object() => {}
            Some(kind) if kind.fits(value) => {
                if !value.is_object() {
                    return true;
                }
                object_keyword = true;
            }
            _ => other_object |= value.is_object(),
        }
    }
    let only_notes = map.iter().all(|(name, value)| keyword::is_note(name) && !value.is_object());
    only_notes || (object_keyword && !other_object)
}

/// Keywords that only have an effect together with others.
const UNUSED_ALONE: [&str; 4] = ["$defs", "definitions", "then", "else"];
