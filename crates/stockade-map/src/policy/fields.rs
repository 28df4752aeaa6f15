//! The fields of a schema, at every depth.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::rules::referred;

/// A field of a schema.
pub(super) struct Field<'s> {
    /// Its place: `body.user.name`, `body.items[].id`.
    pub(super) place: String,
    pub(super) name: &'s str,
    pub(super) schema: &'s Value,
}

/// The longest chain of references to follow. A recursive type is not entered
/// again.
const DEEPEST: usize = 8;

/// The schema of a field that is only listed as required.
const ANY: &Value = &Value::Bool(true);

/// Returns the fields of a schema and of its parts. `place` is the name of the
/// whole.
pub(super) fn fields_of<'s>(
    schemas: &'s BTreeMap<String, Value>,
    root: &'s Value,
    place: &str,
) -> Vec<Field<'s>> {
    let mut walk = Walk { schemas, root, followed: Vec::new(), found: Vec::new() };
    walk.visit(root, place);
    walk.found
}

struct Walk<'s> {
    schemas: &'s BTreeMap<String, Value>,
    root: &'s Value,
    /// The references that led here.
    followed: Vec<&'s str>,
    found: Vec<Field<'s>>,
}

impl<'s> Walk<'s> {
    fn visit(&mut self, schema: &'s Value, place: &str) {
        let Value::Object(object) = schema else { return };
        self.visit_fields(object, place);
        for (keyword, end) in [("additionalProperties", ".*"), ("items", "[]")] {
            if let Some(schema) = object.get(keyword) {
                self.visit(schema, &format!("{place}{end}"));
            }
        }
        for (index, schema) in list(object, "prefixItems").enumerate() {
            self.visit(schema, &format!("{place}[{index}]"));
        }
        for branch in ["allOf", "anyOf", "oneOf"].iter().flat_map(|it| list(object, it)) {
            self.visit(branch, place);
        }
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            self.follow(reference, place);
        }
    }

    fn visit_fields(&mut self, object: &'s Map<String, Value>, place: &str) {
        let properties = object.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let place = format!("{place}.{name}");
            self.visit(schema, &place);
            self.found.push(Field { place, name, schema });
        }
        let is_listed = |name: &str| properties.is_some_and(|it| it.contains_key(name));
        let required = list(object, "required").filter_map(Value::as_str);
        for name in required.filter(|name| !is_listed(name)) {
            self.found.push(Field { place: format!("{place}.{name}"), name, schema: ANY });
        }
    }

    fn follow(&mut self, reference: &'s str, place: &str) {
        if self.followed.len() == DEEPEST || self.followed.contains(&reference) {
            return;
        }
        if let Some(target) = referred(self.schemas, self.root, reference) {
            self.followed.push(reference);
            self.visit(target, place);
            self.followed.pop();
        }
    }
}

fn list<'s>(object: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    object.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Returns true if a value may have one of the `types`. A schema without a type
/// may have any type.
pub(super) fn may_be(
    schemas: &BTreeMap<String, Value>,
    root: &Value,
    schema: &Value,
    types: &[&str],
) -> bool {
    may_be_within(schemas, root, schema, types, DEEPEST)
}

fn may_be_within(
    schemas: &BTreeMap<String, Value>,
    root: &Value,
    schema: &Value,
    types: &[&str],
    deepest: usize,
) -> bool {
    let (Value::Object(object), Some(deeper)) = (schema, deepest.checked_sub(1)) else {
        return true;
    };
    let goes_on = |schema: &Value| may_be_within(schemas, root, schema, types, deeper);
    let is_wanted = |name: &Value| name.as_str().is_some_and(|name| types.contains(&name));
    let named = match object.get("type") {
        Some(Value::Array(several)) => several.iter().any(is_wanted),
        Some(one) => is_wanted(one),
        None => true,
    };
    let reference = object.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|it| referred(schemas, root, it));
    let branches = |name: &str| {
        let mut branches = list(object, name).peekable();
        branches.peek().is_none() || branches.any(goes_on)
    };
    named
        && target.is_none_or(goes_on)
        && branches("anyOf")
        && branches("oneOf")
        && list(object, "allOf").all(goes_on)
}
