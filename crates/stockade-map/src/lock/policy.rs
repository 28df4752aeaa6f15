//! The comparison of the policies of two routers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::Comparison;
use super::rules::{
    EXCEPTION_ADDED, EXCEPTION_REMOVED, EXCEPTION_TEXT, HARMLESS_ADDED, LockRule, POLICY_ADDED,
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
    // A removed rule is already reported, with the reason.
    let is_known = |place: &String| old.rules.contains(place);
    reasons(c, "policy/exceptions", (&old.exceptions, &new.exceptions), EXCEPTION_ADDED, is_known);
}

fn not_secret(c: &mut Comparison<'_>, old: &PolicyInfo, new: &PolicyInfo) {
    let fields = (&old.not_secret, &new.not_secret);
    reasons(c, "policy/not_secret", fields, HARMLESS_ADDED, |_| false);
}

/// Compares exceptions by their reasons. `is_known` returns true for a new one
/// that is already reported.
fn reasons(
    c: &mut Comparison<'_>,
    place: &str,
    (old, new): (&BTreeMap<String, String>, &BTreeMap<String, String>),
    added: LockRule,
    is_known: impl Fn(&String) -> bool,
) {
    for (name, before) in old {
        let at = format!("{place}/{name}");
        match new.get(name) {
            None => c.note(EXCEPTION_REMOVED, at, before, Value::Null),
            Some(after) if after != before => c.note(EXCEPTION_TEXT, at, before, after),
            Some(_) => {}
        }
    }
    for (name, after) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        if !is_known(name) {
            c.note(added, format!("{place}/{name}"), Value::Null, after);
        }
    }
}
