//! Comparison of object fields and lists of values.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::aspect::{Effect, LIST, LISTED, OTHERS};
use super::{Direction, Pair};
use crate::lock::compare::Comparison;
use crate::lock::rules::{
    IN_DEFAULT, IN_FIELD_ADDED, IN_FIELD_DEMANDED, IN_FIELD_OPTIONAL, IN_FIELD_REMOVED,
    IN_FIELD_REQUIRED, IN_TYPE_REMOVED, LockRule, OUT_FIELD_ADDED, OUT_FIELD_OPTIONAL,
    OUT_FIELD_REMOVED, OUT_FIELD_REQUIRED, OUT_TYPE_WIDENED,
};

impl Comparison<'_> {
    /// Compares the fields of objects.
    pub(super) fn fields(&mut self, pair: Pair<'_>) {
        let (old, new) = (Fields::of(pair.old), Fields::of(pair.new));
        for name in old.names().union(&new.names()) {
            self.field(pair, name, &old, &new);
        }
        self.other_fields(pair);
    }

    fn field(&mut self, pair: Pair<'_>, name: &str, old: &Fields<'_>, new: &Fields<'_>) {
        let at = format!("{}/properties/{name}", pair.at);
        let (before, after) = (old.schema(name), new.schema(name));
        let (was_required, is_required) = (old.requires(name), new.requires(name));
        let is_request = pair.direction == Direction::Request;
        let choose = |of_request: LockRule, of_reply: LockRule| {
            if is_request { of_request } else { of_reply }
        };
        let (Some(before), Some(after)) = (before, after) else {
            let rule = match (before, is_required) {
                (Some(_), _) => choose(IN_FIELD_REMOVED, OUT_FIELD_REMOVED),
                (None, true) => choose(IN_FIELD_DEMANDED, OUT_FIELD_ADDED),
                (None, false) => choose(IN_FIELD_ADDED, OUT_FIELD_ADDED),
            };
            return self.note(rule, at, before, after);
        };
        if was_required != is_required {
            let rule = if is_required {
                choose(IN_FIELD_REQUIRED, OUT_FIELD_REQUIRED)
            } else {
                choose(IN_FIELD_OPTIONAL, OUT_FIELD_OPTIONAL)
            };
            let words = |required: bool| if required { "required" } else { "optional" };
            self.note(rule, at.clone(), words(was_required), words(is_required));
        }
        // A client could not use the default of a required field.
        if is_request && !was_required && !is_required {
            let (before, after) = (before.get("default"), after.get("default"));
            if before != after {
                self.note(IN_DEFAULT, format!("{at}/default"), before, after);
            }
        }
        self.schema(&at, before, after, pair.direction);
    }

    /// Compares the rules for unlisted fields.
    fn other_fields(&mut self, pair: Pair<'_>) {
        let keyword = "additionalProperties";
        let (before, after) = (pair.old.get(keyword), pair.new.get(keyword));
        match (Others::of(before), Others::of(after)) {
            (Others::Like(before), Others::Like(after)) => {
                self.schema(&format!("{}/{keyword}", pair.at), before, after, pair.direction);
            }
            (before, after) if before.rank() < after.rank() => {
                self.aspect(pair, OTHERS, Effect::Wider, keyword);
            }
            (before, after) if before.rank() > after.rank() => {
                self.aspect(pair, OTHERS, Effect::Narrower, keyword);
            }
            _ => {}
        }
    }

    /// Records that every value is valid now.
    pub(super) fn any_value(&mut self, pair: Pair<'_>) {
        let rule = match pair.direction {
            Direction::Request => IN_TYPE_REMOVED,
            Direction::Reply => OUT_TYPE_WIDENED,
        };
        self.note(rule, pair.at, pair.old, pair.new);
    }

    /// Compares lists of values.
    pub(super) fn values(&mut self, pair: Pair<'_>) {
        let list = |schema: &Map<String, Value>| -> Option<Vec<Value>> {
            let one = schema.get("const").map(|value| vec![value.clone()]);
            one.or_else(|| schema.get("enum").and_then(Value::as_array).cloned())
        };
        let (before, after) = (list(pair.old), list(pair.new));
        let rule = |effect: Effect| LISTED.rule(effect, pair.direction);
        let at = format!("{}/enum", pair.at);
        match (before, after) {
            (None, None) => {}
            (None, Some(after)) => {
                self.note(LIST.rule(Effect::Narrower, pair.direction), at, Value::Null, after);
            }
            (Some(before), None) => {
                self.note(LIST.rule(Effect::Wider, pair.direction), at, before, Value::Null);
            }
            (Some(before), Some(after)) => {
                for value in before.iter().filter(|value| !after.contains(value)) {
                    self.note(rule(Effect::Narrower), at.clone(), value, Value::Null);
                }
                for value in after.iter().filter(|value| !before.contains(value)) {
                    self.note(rule(Effect::Wider), at.clone(), Value::Null, value);
                }
            }
        }
    }
}

/// The fields that a schema lists.
struct Fields<'s> {
    listed: Option<&'s Map<String, Value>>,
    required: BTreeSet<&'s str>,
}

/// The schema of a field that is only listed as required.
const ANY: &Value = &Value::Bool(true);

impl<'s> Fields<'s> {
    fn of(schema: &'s Map<String, Value>) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str).collect();
        Self { listed: schema.get("properties").and_then(Value::as_object), required }
    }

    fn names(&self) -> BTreeSet<&'s str> {
        let listed = self.listed.into_iter().flat_map(|fields| fields.keys());
        listed.map(String::as_str).chain(self.required.iter().copied()).collect()
    }

    fn schema(&self, name: &str) -> Option<&'s Value> {
        let listed = self.listed.and_then(|fields| fields.get(name));
        listed.or_else(|| self.requires(name).then_some(ANY))
    }

    fn requires(&self, name: &str) -> bool {
        self.required.contains(name)
    }
}

/// The rule for unlisted fields.
enum Others<'s> {
    Refused,
    /// They match this schema.
    Like(&'s Value),
    Free,
}

impl<'s> Others<'s> {
    fn of(value: Option<&'s Value>) -> Self {
        match value {
            None | Some(Value::Bool(true)) => Self::Free,
            Some(Value::Bool(false)) => Self::Refused,
            Some(Value::Object(schema)) if schema.is_empty() => Self::Free,
            Some(schema) => Self::Like(schema),
        }
    }

    /// Returns a number that is larger for rules that allow more.
    fn rank(&self) -> u8 {
        match self {
            Self::Refused => 0,
            Self::Like(_) => 1,
            Self::Free => 2,
        }
    }
}
