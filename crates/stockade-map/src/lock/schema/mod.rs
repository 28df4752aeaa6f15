//! The comparison of schemas. The direction matters: a request that allows
//! fewer values breaks clients, and so does a response that allows more values.
//!
//! Source: JSON Schema 2020-12.

mod aspect;
mod bounds;
mod object;
mod reference;
mod types;
mod union;

use serde_json::{Map, Value};

use self::aspect::{BOUND, CONDITION, Effect, PATTERN, TYPE};
use self::reference::without_reference;
pub(in crate::lock) use self::reference::{Resolved, resolve};
use super::compare::Comparison;
use super::rules::{SCHEMA_RENAMED, SCHEMA_TEXT, SCHEMA_UNKNOWN};
use crate::schemas::{PLACE as SCHEMAS, schema_name};

/// The direction of the values of a schema.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Direction {
    Request,
    Reply,
}

/// The old and the new schema, with their place.
#[derive(Clone, Copy)]
struct Pair<'s> {
    at: &'s str,
    old: &'s Map<String, Value>,
    new: &'s Map<String, Value>,
    direction: Direction,
}

/// Keywords for readers.
const NOTES: [&str; 10] = [
    "title",
    "description",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
];

/// Keywords that are compared by meaning.
const KNOWN: [&str; 27] = [
    "$ref",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "uniqueItems",
    "pattern",
    "x-pattern",
    "format",
    "anyOf",
    "oneOf",
    "allOf",
    "default",
];

impl Comparison<'_> {
    /// Compares two schemas, and records the differences.
    pub(super) fn schema(&mut self, at: &str, old: &Value, new: &Value, direction: Direction) {
        if let (Some(before), Some(after)) = (schema_name(old), schema_name(new)) {
            self.named(at, (before, after), direction);
            let (old, new) = (without_reference(old), without_reference(new));
            self.keywords(Pair { at, old: &old, new: &new, direction });
            return;
        }
        let (before, after) = (resolve(&self.old.schemas, old), resolve(&self.new.schemas, new));
        match (before, after) {
            (Resolved::Known(old), Resolved::Known(new)) => {
                self.keywords(Pair { at, old: &old, new: &new, direction });
            }
            _ if old == new => {}
            _ => self.note(SCHEMA_UNKNOWN, at, old, new),
        }
    }

    /// Compares two named schemas, once.
    fn named(&mut self, at: &str, (old, new): (&str, &str), direction: Direction) {
        if old != new {
            self.note(SCHEMA_RENAMED, at, old, new);
        }
        if !self.seen.insert((old.to_owned(), new.to_owned(), direction)) {
            return;
        }
        let routes = self.about_schema(new, direction);
        match (self.old.schemas.get(old), self.new.schemas.get(new)) {
            (Some(before), Some(after)) => {
                self.schema(&format!("{SCHEMAS}{new}"), before, after, direction);
            }
            (None, None) if old == new => {}
            (before, after) => self.note(SCHEMA_UNKNOWN, at, before, after),
        }
        self.routes = routes;
    }

    fn keywords(&mut self, pair: Pair<'_>) {
        self.notes(pair);
        self.unknown(pair);
        if self.unions(pair) {
            return;
        }
        match types::compare(pair.old, pair.new) {
            // Nothing else can be compared.
            types::Difference::Other => return self.aspect(pair, TYPE, Effect::Other, "type"),
            types::Difference::FromAny => return self.aspect(pair, TYPE, Effect::Narrower, "type"),
            types::Difference::ToAny => return self.any_value(pair),
            types::Difference::Some { added, removed } => {
                if removed {
                    self.aspect(pair, TYPE, Effect::Narrower, "type");
                }
                if added {
                    self.aspect(pair, TYPE, Effect::Wider, "type");
                }
            }
        }
        self.values(pair);
        for (keyword, effect) in bounds::compare(pair.old, pair.new) {
            self.aspect(pair, BOUND, effect, keyword);
        }
        self.texts(pair);
        self.fields(pair);
        self.items(pair);
        self.conditions(pair);
    }

    /// Compares the keywords for readers.
    fn notes(&mut self, pair: Pair<'_>) {
        let is_reply = pair.direction == Direction::Reply;
        let of_reply = is_reply.then_some("default");
        for keyword in NOTES.into_iter().chain(of_reply) {
            let (before, after) = (pair.old.get(keyword), pair.new.get(keyword));
            if before != after {
                self.note(SCHEMA_TEXT, format!("{}/{keyword}", pair.at), before, after);
            }
        }
    }

    /// Compares unknown keywords.
    fn unknown(&mut self, pair: Pair<'_>) {
        let gone = pair.old.keys().filter(|keyword| !pair.new.contains_key(*keyword));
        for keyword in pair.new.keys().chain(gone) {
            let is_known = KNOWN.contains(&keyword.as_str()) || NOTES.contains(&keyword.as_str());
            let (before, after) = (pair.old.get(keyword), pair.new.get(keyword));
            if !is_known && before != after {
                self.note(SCHEMA_UNKNOWN, format!("{}/{keyword}", pair.at), before, after);
            }
        }
    }

    /// Compares the patterns and formats of strings.
    fn texts(&mut self, pair: Pair<'_>) {
        let expression = |schema: &Map<String, Value>| {
            schema.get("pattern").or_else(|| schema.get("x-pattern")).cloned()
        };
        let format = |schema: &Map<String, Value>| schema.get("format").cloned();
        let (before, after) = (expression(pair.old), expression(pair.new));
        if let Some(effect) = Effect::of_limits(before.as_ref(), after.as_ref()) {
            self.aspect(pair, PATTERN, effect, "pattern");
        }
        let (before, after) = (format(pair.old), format(pair.new));
        let Some(effect) = Effect::of_limits(before.as_ref(), after.as_ref()) else { return };
        // The format of a number is a bound, and is compared as a bound.
        if types::takes_text(pair.old) || types::takes_text(pair.new) {
            self.aspect(pair, PATTERN, effect, "format");
        } else {
            self.note(SCHEMA_TEXT, format!("{}/format", pair.at), before, after);
        }
    }

    fn items(&mut self, pair: Pair<'_>) {
        let says = |schema: &Map<String, Value>| {
            schema.contains_key("items") || schema.contains_key("prefixItems")
        };
        // This also ends the recursion: a schema without these keywords allows
        // any elements, and their schema does not have these keywords either.
        if !says(pair.old) && !says(pair.new) {
            return;
        }
        let any = Value::Bool(true);
        let places = |schema: &Map<String, Value>| -> Vec<Value> {
            let places = schema.get("prefixItems").and_then(Value::as_array);
            // No position has its own schema if the keyword is missing.
            places.cloned().unwrap_or_default()
        };
        let rest = |schema: &Map<String, Value>| schema.get("items").cloned();
        let (old_rest, new_rest) = (rest(pair.old), rest(pair.new));
        let (old_rest, new_rest) =
            (old_rest.as_ref().unwrap_or(&any), new_rest.as_ref().unwrap_or(&any));
        let (old, new) = (places(pair.old), places(pair.new));
        for index in 0..old.len().max(new.len()) {
            let before = old.get(index).unwrap_or(old_rest);
            let after = new.get(index).unwrap_or(new_rest);
            self.schema(&format!("{}/prefixItems/{index}", pair.at), before, after, pair.direction);
        }
        self.schema(&format!("{}/items", pair.at), old_rest, new_rest, pair.direction);
    }

    /// Compares `allOf`: equal schemas are pairs, and the remaining schemas are
    /// paired in order.
    fn conditions(&mut self, pair: Pair<'_>) {
        let list = |schema: &Map<String, Value>| -> Vec<Value> {
            schema.get("allOf").and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let (old, new) = (list(pair.old), list(pair.new));
        let is_left = |item: &&Value, others: &[Value]| {
            !others.contains(item) || reference::has_reference(item)
        };
        let gone: Vec<&Value> = old.iter().filter(|item| is_left(item, &new)).collect();
        let added: Vec<&Value> = new.iter().filter(|item| is_left(item, &old)).collect();
        for (before, after) in gone.iter().zip(&added) {
            self.schema(&format!("{}/allOf", pair.at), before, after, pair.direction);
        }
        if gone.len() > added.len() {
            self.aspect(pair, CONDITION, Effect::Wider, "allOf");
        } else if added.len() > gone.len() {
            self.aspect(pair, CONDITION, Effect::Narrower, "allOf");
        }
    }

    /// Records the effect of a keyword on the set of valid values.
    fn aspect(&mut self, pair: Pair<'_>, aspect: aspect::Aspect, effect: Effect, keyword: &str) {
        let rule = aspect.rule(effect, pair.direction);
        let at = format!("{}/{keyword}", pair.at);
        self.note(rule, at, pair.old.get(keyword), pair.new.get(keyword));
    }
}
