//! The comparison of idempotency keys.

use serde_json::Value;

use super::compare::Comparison;
use super::limits::amount;
use super::rules::{
    KEYS_ADDED, KEYS_CHANGED, KEYS_LONGER, KEYS_LOOSER, KEYS_OPTIONAL, KEYS_QUOTED, KEYS_REMOVED,
    KEYS_SHORTER, KEYS_STRICTER, KEYS_UNQUOTED, LockRule,
};
use crate::IdempotencyInfo;

/// Compares the idempotency keys of a route. The comparison of headers reports
/// a key that is now required.
pub(super) fn compare(
    c: &mut Comparison<'_>,
    old: Option<&IdempotencyInfo>,
    new: Option<&IdempotencyInfo>,
) {
    let (before, after) = match (old, new) {
        (None, None) => return,
        (None, Some(after)) => return c.note(KEYS_ADDED, "idempotency", Value::Null, after),
        (Some(before), None) => return c.note(KEYS_REMOVED, "idempotency", before, Value::Null),
        (Some(before), Some(after)) => (before, after),
    };
    if before.required && !after.required {
        c.note(KEYS_OPTIONAL, "idempotency/required", true, false);
    }
    let mut time = |at: &str, before: u64, after: u64| {
        amount(c, at, Some(before), Some(after), (KEYS_SHORTER, KEYS_LONGER));
    };
    time("idempotency/ttl_ms", before.ttl_ms, after.ttl_ms);
    time("idempotency/lease_ms", before.lease_ms, after.lease_ms);
    let refuses = (before.refuses_after_crash, after.refuses_after_crash);
    switch(c, "idempotency/refuses_after_crash", refuses, (KEYS_LOOSER, KEYS_STRICTER));
    let passes = (before.passes_outage, after.passes_outage);
    switch(c, "idempotency/passes_outage", passes, (KEYS_STRICTER, KEYS_LOOSER));
    let repeats = (before.repeats_errors, after.repeats_errors);
    switch(c, "idempotency/repeats_errors", repeats, (KEYS_STRICTER, KEYS_LOOSER));
    let unquoted = (before.unquoted_keys, after.unquoted_keys);
    switch(c, "idempotency/unquoted_keys", unquoted, (KEYS_QUOTED, KEYS_UNQUOTED));
    let own = (before.own_scope, after.own_scope);
    switch(c, "idempotency/own_scope", own, (KEYS_CHANGED, KEYS_CHANGED));
}

/// Compares a boolean setting. The rules apply if it is now off, and if it is
/// now on.
fn switch(
    c: &mut Comparison<'_>,
    at: &str,
    (before, after): (bool, bool),
    (off, on): (LockRule, LockRule),
) {
    if before != after {
        c.note(if after { on } else { off }, at, before, after);
    }
}
