//! The comparison of GraphQL schemas, member by member.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::compare::Comparison;
use super::rules::{
    GRAPHQL_ADDED, GRAPHQL_RELAXED, GRAPHQL_REMOVED, GRAPHQL_REQUIRED, GRAPHQL_TYPE, LockRule,
    OUT_SECRET_ADDED,
};
use crate::PolicyInfo;
use crate::policy::secrets::secret_fields;

type Members = BTreeMap<String, String>;

/// Compares the members of two schemas.
pub(super) fn compare(c: &mut Comparison<'_>, old: &Members, new: &Members) {
    for (name, before) in old {
        let place = format!("graphql/{name}");
        match new.get(name) {
            None => c.note(GRAPHQL_REMOVED, place, before, Value::Null),
            Some(after) => {
                if let Some(rule) = changed(name, before, after) {
                    c.note(rule, place, before, after);
                }
            }
        }
    }
    for (name, after) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        let is_demanded = is_input(name) && is_required(after) && has_owner(old, name);
        let rule = if is_demanded { GRAPHQL_REQUIRED } else { GRAPHQL_ADDED };
        c.note(rule, format!("graphql/{name}"), Value::Null, after);
        if !is_input(name) && is_secret(name, c.new.policy.as_ref()) {
            c.note(OUT_SECRET_ADDED, format!("graphql/{name}"), Value::Null, after);
        }
    }
}

/// Returns the rule for a member with a changed type.
fn changed(name: &str, before: &str, after: &str) -> Option<LockRule> {
    if before == after {
        return None;
    }
    let (old, new) = (base(before), base(after));
    Some(match (is_required(before), is_required(after)) {
        _ if old != new => GRAPHQL_TYPE,
        (false, true) if is_input(name) => GRAPHQL_REQUIRED,
        (true, false) if !is_input(name) => GRAPHQL_TYPE,
        _ => GRAPHQL_RELAXED,
    })
}

/// Returns true for arguments and for input fields.
fn is_input(name: &str) -> bool {
    name.starts_with("input ") || name.ends_with(')')
}

/// Returns true for a required input, and for a field that is never null.
fn is_required(of_type: &str) -> bool {
    of_type.ends_with('!')
}

/// Returns a type without its default and without its last `!`.
fn base(of_type: &str) -> &str {
    let of_type = of_type.split_once(" = ").map_or(of_type, |(of_type, _)| of_type);
    of_type.strip_suffix('!').unwrap_or(of_type)
}

/// Returns true if the field of an argument, or the type of an input field,
/// already existed. Existing clients do not use a new field or type, so its
/// inputs cannot break them.
fn has_owner(old: &Members, name: &str) -> bool {
    match name.split_once('(') {
        Some((field, _)) => old.contains_key(field),
        None => name.rsplit_once('.').is_some_and(|(of_type, _)| {
            let start = format!("{of_type}.");
            old.range(start.clone()..).next().is_some_and(|(known, _)| known.starts_with(&start))
        }),
    }
}

/// Returns true if the name of a field suggests a secret.
fn is_secret(name: &str, policy: Option<&PolicyInfo>) -> bool {
    let field = name.rsplit_once('.').map_or(name, |(_, field)| field);
    let schema = json!({ "type": "object", "properties": { field: { "type": "string" } } });
    !secret_fields(&BTreeMap::new(), &schema, "data", policy).is_empty()
}
