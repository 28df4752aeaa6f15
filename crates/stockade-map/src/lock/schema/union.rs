//! Unions: values that match one of several schemas.

use serde_json::{Map, Value};
use stockade_errors::__internal::sort_by;

use super::aspect::{CONDITION, Effect, VARIANT};
use super::reference::{Resolved, resolve};
use super::types::types_of;
use super::{NOTES, Pair};
use crate::lock::compare::Comparison;
use crate::lock::file::Lock;
use crate::schemas::schema_name;

const UNIONS: [&str; 2] = ["oneOf", "anyOf"];

impl Comparison<'_> {
    /// Compares unions. Returns true if one of the schemas is a pure union, so
    /// there is nothing else to compare. The other schema is then treated as a
    /// union with one variant.
    pub(super) fn unions(&mut self, pair: Pair<'_>) -> bool {
        let (old, new) = (pure(pair.old), pure(pair.new));
        if old.is_some() || new.is_some() {
            let whole = |schema: &Map<String, Value>| vec![Value::Object(schema.clone())];
            let is_any = |schema: &Map<String, Value>| schema.keys().all(|it| is_note(it));
            if (old.is_none() && is_any(pair.old)) || (new.is_none() && is_any(pair.new)) {
                return false;
            }
            let (old, new) =
                (old.unwrap_or_else(|| whole(pair.old)), new.unwrap_or_else(|| whole(pair.new)));
            self.variants(pair, &old, &new);
            return true;
        }
        for keyword in UNIONS {
            let list = |schema: &Map<String, Value>| {
                schema.get(keyword).and_then(Value::as_array).cloned()
            };
            match (list(pair.old), list(pair.new)) {
                (Some(old), Some(new)) => self.variants(pair, &old, &new),
                (None, Some(_)) => self.aspect(pair, CONDITION, Effect::Narrower, keyword),
                (Some(_), None) => self.aspect(pair, CONDITION, Effect::Wider, keyword),
                (None, None) => {}
            }
        }
        false
    }

    fn variants(&mut self, pair: Pair<'_>, old: &[Value], new: &[Value]) {
        let at = format!("{}/variants", pair.at);
        let (same, gone, added) = matched(old, new, self.old, self.new);
        for (before, after) in same {
            self.schema(&at, before, after, pair.direction);
        }
        for variant in gone {
            self.note(VARIANT.rule(Effect::Narrower, pair.direction), &at, variant, Value::Null);
        }
        for variant in added {
            self.note(VARIANT.rule(Effect::Wider, pair.direction), &at, Value::Null, variant);
        }
    }
}

fn is_note(keyword: &str) -> bool {
    NOTES.contains(&keyword) || keyword == "default"
}

/// Returns the variants of a pure union.
fn pure(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    let mut keywords = schema.keys().filter(|keyword| !is_note(keyword));
    let keyword = keywords.next().filter(|keyword| UNIONS.contains(&keyword.as_str()))?;
    match keywords.next() {
        None => schema.get(keyword).and_then(Value::as_array).cloned(),
        Some(_) => None,
    }
}

type IsSame<'a> = dyn Fn(&Value, &Value) -> bool + 'a;

type Matched<'v> = (Vec<(&'v Value, &'v Value)>, Vec<&'v Value>, Vec<&'v Value>);

/// Pairs the variants: equal variants, variants with the same name or mark, and
/// finally the last variant of both sides if the types are equal.
fn matched<'v>(old: &'v [Value], new: &'v [Value], before: &Lock, after: &Lock) -> Matched<'v> {
    let mut same = Vec::new();
    let mut gone: Vec<&Value> = old.iter().collect();
    let mut added: Vec<&Value> = new.iter().collect();
    let is_equal = |a: &Value, b: &Value| a == b;
    let has_name =
        |a: &Value, b: &Value| schema_name(a).is_some() && schema_name(a) == schema_name(b);
    let has_mark = |a: &Value, b: &Value| mark(before, a) == mark(after, b);
    let ways: [&IsSame<'_>; 3] = [&is_equal, &has_name, &has_mark];
    for is_same in ways {
        gone.retain(|variant| match added.iter().position(|other| is_same(variant, other)) {
            Some(index) => {
                same.push((*variant, added.remove(index)));
                false
            }
            None => true,
        });
    }
    let is_typed_alike = |a: &Value, b: &Value| types(before, a) == types(after, b);
    if let ([one], [other]) = (gone.as_slice(), added.as_slice())
        && is_typed_alike(one, other)
    {
        same.push((*one, *other));
        return (same, Vec::new(), Vec::new());
    }
    (same, gone, added)
}

fn types(lock: &Lock, variant: &Value) -> Vec<String> {
    match resolve(&lock.schemas, variant) {
        Resolved::Known(schema) => types_of(&schema).into_iter().map(str::to_owned).collect(),
        Resolved::Unknown => Vec::new(),
    }
}

/// Types, and fields with their values.
type Mark = (Vec<String>, Vec<(String, Value)>);

/// Returns the mark that distinguishes a variant: its types, its fields with a
/// single value, and the name of its only field.
fn mark(lock: &Lock, variant: &Value) -> Option<Mark> {
    let Resolved::Known(schema) = resolve(&lock.schemas, variant) else { return None };
    let fields = schema.get("properties").and_then(Value::as_object);
    let only = |value: &Value| match (value.get("const"), value.get("enum")) {
        (Some(value), _) => Some(value.clone()),
        (None, Some(Value::Array(values))) if values.len() == 1 => values.first().cloned(),
        _ => None,
    };
    let marks = fields.into_iter().flatten();
    let mut marks: Vec<(String, Value)> =
        marks.filter_map(|(name, value)| Some((name.clone(), only(value)?))).collect();
    if let Some(fields) = fields.filter(|fields| fields.len() == 1) {
        marks.extend(fields.keys().map(|name| (name.clone(), Value::Null)));
    }
    sort_by(&mut marks, |(a, _), (b, _)| a.cmp(b));
    Some((types(lock, variant), marks))
}
