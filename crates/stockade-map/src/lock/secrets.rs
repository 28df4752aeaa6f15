//! New fields of responses with names that suggest a secret.
//!
//! They are reported in addition to the change that adds them, such as a new
//! field, response or route, because none of these is weakening by itself.

use std::collections::BTreeSet;

use serde_json::Value;

use super::compare::{Comparison, values_of};
use super::entry::RouteLock;
use super::file::Lock;
use super::rules::OUT_SECRET_ADDED;
use super::schema::Direction;
use crate::policy::secrets::secret_fields;

/// Reports the secrets of a new route.
pub(super) fn added(c: &mut Comparison<'_>, route: &RouteLock) {
    note(c, secrets_of(c, c.new, route));
}

/// Reports the secrets that a route did not send before.
pub(super) fn compare(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock) {
    let (before, after) = (secrets_of(c, c.old, old), secrets_of(c, c.new, new));
    note(c, after.difference(&before).cloned().collect());
}

fn note(c: &mut Comparison<'_>, places: BTreeSet<String>) {
    for place in places {
        c.note(OUT_SECRET_ADDED, "answers", Value::Null, place);
    }
}

/// Returns the places of secrets in all responses and messages of a route. The
/// new policy declares which fields are harmless.
fn secrets_of(c: &Comparison<'_>, lock: &Lock, route: &RouteLock) -> BTreeSet<String> {
    let policy = c.new.policy.as_ref();
    let values = values_of(route, Direction::Reply).into_iter();
    values.flat_map(|value| secret_fields(&lock.schemas, value, "body", policy)).collect()
}
