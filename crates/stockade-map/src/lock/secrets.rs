//! New fields of answers that hold a secret by their names.
//!
//! They are told beside the change by which they came, be it a field, an answer
//! or a route: none of these weakens anything by itself.

use std::collections::BTreeSet;

use serde_json::Value;

use super::compare::{Comparison, values_of};
use super::entry::RouteLock;
use super::file::Lock;
use super::rules::OUT_SECRET_ADDED;
use super::schema::Direction;
use crate::policy::secrets::secret_fields;

/// Notes the secrets of a route that is new.
pub(super) fn added(c: &mut Comparison<'_>, route: &RouteLock) {
    note(c, secrets_of(c.new, route));
}

/// Notes the secrets that a route did not send before.
pub(super) fn compare(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock) {
    let (before, after) = (secrets_of(c.old, old), secrets_of(c.new, new));
    note(c, after.difference(&before).cloned().collect());
}

fn note(c: &mut Comparison<'_>, places: BTreeSet<String>) {
    for place in places {
        c.note(OUT_SECRET_ADDED, "answers", Value::Null, place);
    }
}

/// Returns the places of the secrets in the answers and messages of a route,
/// whatever their status.
fn secrets_of(lock: &Lock, route: &RouteLock) -> BTreeSet<String> {
    let values = values_of(route, Direction::Reply).into_iter();
    values.flat_map(|value| secret_fields(&lock.schemas, value, "body")).collect()
}
