//! Fields that are not secrets, although their names suggest it.

use std::collections::BTreeSet;
use std::panic::Location;

use super::Policy;
use super::allowance::exception;
use super::finding::Finding;
use super::rule::all_routes;
use super::secrets::{letters, secret_names};
use crate::RouteMap;

/// A field that is not a secret.
#[derive(Clone, Debug)]
pub(super) struct NotSecret {
    pub(super) field: String,
    pub(super) reason: String,
    pub(super) location: &'static Location<'static>,
}

impl NotSecret {
    #[track_caller]
    pub(super) fn new(field: String, reason: String) -> Self {
        Self { field, reason, location: Location::caller() }
    }
}

impl Policy {
    /// Returns the findings about declarations without a reason, and about
    /// unnecessary ones.
    pub(super) fn needless_fields(&self, map: &RouteMap) -> Vec<Finding> {
        if self.not_secret.is_empty() {
            return Vec::new();
        }
        let values = all_routes(map).flat_map(|route| route.values());
        let names: BTreeSet<String> =
            values.flat_map(|value| secret_names(&map.schemas, value)).collect();
        let wrong = self.not_secret.iter().filter_map(|it| {
            let message = if it.reason.trim().is_empty() {
                "requires a reason"
            } else if names.contains(&letters(&it.field)) {
                return None;
            } else {
                "is not needed: no response has a field with this name, or the name does not \
                 suggest a secret"
            };
            let message = format!("`not_secret({:?})` {message}", it.field);
            Some(exception(message, it.location))
        });
        wrong.collect()
    }

    /// Returns a copy of a map with this policy, for rules that read its
    /// exceptions.
    pub(super) fn in_map(&self, map: &RouteMap) -> RouteMap {
        RouteMap { policy: Some(self.info()), ..map.clone() }
    }
}
