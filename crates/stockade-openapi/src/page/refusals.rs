//! The answers to those who may not call.

use std::collections::BTreeMap;

use serde_json::Value;

use super::html::Html;
use super::{Detail, Group, operation};

/// The answers of 401 and 403 that several operations give in the same words.
/// Each stands once, because every operation says who may call.
#[derive(Default)]
pub(super) struct Refusals {
    /// The names of their places, by their lines.
    names: BTreeMap<String, String>,
}

impl Refusals {
    /// Finds them in all operations.
    pub(super) fn of(document: &Value, groups: &[Group<'_>], detail: &Detail) -> Self {
        let mut counts: BTreeMap<(&str, String), u32> = BTreeMap::new();
        for operation in groups.iter().flat_map(|group| &group.operations) {
            for status in ["401", "403"] {
                let response = &operation.value["responses"][status];
                // No stage sends these statuses.
                if !response.is_null() {
                    let response = operation::resolved(document, response);
                    let line = operation::answer(operation.route, status, response, detail);
                    *counts.entry((status, line.into_string())).or_default() += 1;
                }
            }
        }
        let several = counts.into_iter().filter(|(_, count)| *count > 1);
        let named = several
            .enumerate()
            .map(|(index, ((status, line), _))| (line, format!("{status}-{}", index + 1)));
        Self { names: named.collect() }
    }

    /// Returns the name of the place of a line, if it is one of them.
    pub(super) fn name(&self, line: &Html) -> Option<&str> {
        self.names.get(line.as_str()).map(String::as_str)
    }
}
