//! The comparison of the policies of two routers.

use serde_json::Value;

use super::compare::Comparison;
use super::rules::{
    EXCEPTION_ADDED, EXCEPTION_REMOVED, EXCEPTION_TEXT, HARMLESS_ADDED, POLICY_ADDED,
    POLICY_REMOVED, POLICY_RULE_ADDED, POLICY_RULE_REMOVED,
};
use crate::PolicyInfo;

/// The place of the rules.
const RULES: &str = "policy/rules";

/// Compares the policies. A lock of an older version does not contain one; then
/// there is nothing to compare.
pub(super) fn compare(c: &mut Comparison<'_>) {
    let (Some(old), Some(new)) = (&c.old.policy, &c.new.policy) else { return };
    match (old.rules.is_empty(), new.rules.is_empty()) {
        (true, true) => {}
        (true, false) => c.note(POLICY_ADDED, RULES, Value::Null, &new.rules),
        (false, true) => c.note(POLICY_REMOVED, RULES, &old.rules, Value::Null),
        (false, false) => rules(c, old, new),
    }
    exceptions(c, old, new);
    not_secret(c, old, new);
}

fn rules(c: &mut Comparison<'_>, old: &PolicyInfo, new: &PolicyInfo) {
    for rule in old.rules.iter().filter(|rule| !new.rules.contains(rule)) {
        // The reason of a disabled rule.
        c.note(POLICY_RULE_REMOVED, RULES, rule, new.exceptions.get(rule));
    }
    for rule in new.rules.iter().filter(|rule| !old.rules.contains(rule)) {
        c.note(POLICY_RULE_ADDED, RULES, Value::Null, rule);
    }
}

fn exceptions(c: &mut Comparison<'_>, old: &PolicyInfo, new: &PolicyInfo) {
    for (place, before) in &old.exceptions {
        let at = format!("policy/exceptions/{place}");
        match new.exceptions.get(place) {
            None => c.note(EXCEPTION_REMOVED, at, before, Value::Null),
            Some(after) if after != before => c.note(EXCEPTION_TEXT, at, before, after),
            Some(_) => {}
        }
    }
    let is_new = |place: &&String| !old.exceptions.contains_key(*place);
    for place in new.exceptions.keys().filter(is_new) {
        // The removed rule is already reported.
        if !old.rules.contains(place) {
            let at = format!("policy/exceptions/{place}");
            c.note(EXCEPTION_ADDED, at, Value::Null, new.exceptions.get(place));
        }
    }
}

fn not_secret(c: &mut Comparison<'_>, old: &PolicyInfo, new: &PolicyInfo) {
    for (field, before) in &old.not_secret {
        let at = format!("policy/not_secret/{field}");
        match new.not_secret.get(field) {
            None => c.note(EXCEPTION_REMOVED, at, before, Value::Null),
            Some(after) if after != before => c.note(EXCEPTION_TEXT, at, before, after),
            Some(_) => {}
        }
    }
    for (field, after) in &new.not_secret {
        if !old.not_secret.contains_key(field) {
            c.note(HARMLESS_ADDED, format!("policy/not_secret/{field}"), Value::Null, after);
        }
    }
}
