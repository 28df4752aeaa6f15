//! The comparison of the signatures of requests.

use serde_json::Value;

use super::compare::Comparison;
use super::rules::{
    SIGNATURE_ADDED, SIGNATURE_CHANGED, SIGNATURE_OLDER, SIGNATURE_REMOVED, SIGNATURE_YOUNGER,
};
use crate::SignatureInfo;

/// Compares the signatures that the requests of a route must have.
pub(super) fn compare(
    c: &mut Comparison<'_>,
    old: Option<&SignatureInfo>,
    new: Option<&SignatureInfo>,
) {
    let (before, after) = match (old, new) {
        (None, None) => return,
        (None, Some(after)) => return c.note(SIGNATURE_ADDED, "signature", Value::Null, after),
        (Some(before), None) => return c.note(SIGNATURE_REMOVED, "signature", before, Value::Null),
        (Some(before), Some(after)) => (before, after),
    };
    if before.sender != after.sender {
        c.note(SIGNATURE_CHANGED, "signature/sender", &before.sender, &after.sender);
    }
    if before.format != after.format {
        c.note(SIGNATURE_CHANGED, "signature/format", &before.format, &after.format);
    }
    let (age, new_age) = (before.max_age_ms, after.max_age_ms);
    if age != new_age {
        // A signature without a time is valid forever.
        let is_older = new_age.unwrap_or(u64::MAX) > age.unwrap_or(u64::MAX);
        let rule = if is_older { SIGNATURE_OLDER } else { SIGNATURE_YOUNGER };
        c.note(rule, "signature/max_age_ms", age, new_age);
    }
}
