//! JSON to [`Rule`]: the notation of each node, and its content.
//!
//! Source: behaviour.md, section 11, "Which notation?".

use std::panic::Location;

use serde_json::{Map, Value};

use super::keyword::{self, Kind};
use crate::depth::{MAX_DEPTH, exceeds};
use crate::rule::{Additional, Rule};
use crate::suggest::did_you_mean;

/// Reads a schema in either notation.
pub(crate) fn read(value: &Value, location: &'static Location<'static>) -> Rule {
    let is_document = value.get("$schema").is_some_and(Value::is_string);
    Reader { location, guess: !is_document }.read(value, MAX_DEPTH)
}

/// Reads a rule in which every node is a rule.
pub(crate) fn read_rule(value: &Value, location: &'static Location<'static>) -> Rule {
    Reader { location, guess: false }.read(value, MAX_DEPTH)
}

/// Reads a field map, also if its keys are names of keywords.
pub(crate) fn read_fields(value: &Value, location: &'static Location<'static>) -> Rule {
    let reader = Reader { location, guess: true };
    match value {
        Value::Object(map) => {
            let fields = map
                .iter()
                .map(|(name, value)| (name.clone(), reader.read_field(name, value, MAX_DEPTH)));
            Rule::at(location).of_fields(fields)
        }
        _ => reader.issue("a field map must be an object".to_owned()),
    }
}

struct Reader {
    location: &'static Location<'static>,
    /// True if nodes may be field maps.
    guess: bool,
}

impl Reader {
    /// Reads a node; `levels` is how deep it may be nested.
    fn read(&self, value: &Value, levels: usize) -> Rule {
        match value {
            Value::Bool(flag) => Rule { boolean: Some(*flag), ..Rule::at(self.location) },
            Value::Object(_) if levels == 0 => {
                self.issue(format!("the schema is nested more than {MAX_DEPTH} levels deep"))
            }
            Value::Object(map) if !self.guess || is_rule(map) => self.read_rule(map, levels),
            Value::Object(map) => self.read_map(map, levels),
            _ => self.issue("a schema must be an object or a boolean".to_owned()),
        }
    }

    fn read_rule(&self, map: &Map<String, Value>, levels: usize) -> Rule {
        let mut rule = Rule::at(self.location);
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("items", Value::Object(_) | Value::Bool(_)) => {
                    rule.items = Some(Box::new(self.read(value, levels - 1)));
                }
                ("additionalProperties", Value::Bool(flag)) => {
                    rule.additional = Some(Additional::Allowed(*flag));
                }
                ("additionalProperties", Value::Object(_)) => {
                    rule.additional = Some(Additional::from(self.read(value, levels - 1)));
                }
                ("properties", Value::Object(properties)) => {
                    let properties = properties
                        .iter()
                        .map(|(name, value)| (name.clone(), self.read(value, levels - 1)));
                    rule.properties = Some(properties.collect());
                }
                // Copying a value takes as much stack as it is nested.
                _ if exceeds(value, MAX_DEPTH) => rule
                    .mistakes
                    .push(format!("`{keyword}` is nested more than {MAX_DEPTH} levels deep")),
                _ => {
                    rule.keywords.insert(keyword.clone(), value.clone());
                }
            }
        }
        rule
    }

    fn read_map(&self, map: &Map<String, Value>, levels: usize) -> Rule {
        let mut rule = Rule::at(self.location);
        let mut fields = Vec::with_capacity(map.len());
        for (name, value) in map {
            let is_schema = Kind::Schema.fits(value);
            if !is_schema && keyword::is_note(name) && !exceeds(value, MAX_DEPTH) {
                rule.keywords.insert(name.clone(), value.clone());
            } else if keyword::is_foreign(name) {
                rule.mistakes.push(format!(
                    "keyword `{name}` of JSON Schema is not supported (a field of this name: \
                     `Schema::fields`)"
                ));
            } else if is_schema {
                fields.push((name.clone(), self.read_field(name, value, levels - 1)));
            } else {
                rule.mistakes.push(not_a_field(name));
            }
        }
        rule.of_fields(fields)
    }

    fn read_field(&self, name: &str, value: &Value, levels: usize) -> Rule {
        if Kind::Schema.fits(value) {
            self.read(value, levels)
        } else {
            self.issue(not_a_field(name))
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

/// Returns the mistake of a key of a field map that holds no schema: mostly it
/// is a keyword with a value of another kind, or a slip of one.
fn not_a_field(name: &str) -> String {
    if let Some(kind) = keyword::kind_of(name) {
        return format!("`{name}` must be {}", kind.wanted());
    }
    let near = did_you_mean(name, keyword::names());
    let hint = if near.is_empty() { "; the rule of a field is an object" } else { &near };
    format!("unknown keyword `{name}`{hint}")
}

fn is_rule(map: &Map<String, Value>) -> bool {
    let mut object_keyword = false;
    let mut other_object = false;
    for (name, value) in map {
        match keyword::kind_of(name) {
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
