//! The 401 and 403 responses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::html::Html;
use super::responses::{self, StatusResponse};
use super::{Detail, Group};

/// The 401 and 403 responses that several operations describe with the same
/// text. Each is shown only once. Every operation describes its access, so the
/// responses are not repeated there.
#[derive(Default)]
pub(super) struct Refusals {
    /// The section names, by the HTML line of the response.
    names: BTreeMap<String, String>,
}

impl Refusals {
    /// Collects them from all operations.
    pub(super) fn of(document: &Value, groups: &[Group<'_>], detail: &Detail) -> Self {
        let mut counts: BTreeMap<(&str, String), u32> = BTreeMap::new();
        for operation in groups.iter().flat_map(|group| &group.operations) {
            for status in ["401", "403"] {
                let response = &operation.value["responses"][status];
                // Stages do not send these statuses, so no shared section
                // contains them yet.
                if !response.is_null() {
                    let answer =
                        StatusResponse { status, value: responses::resolved(document, response) };
                    let line = responses::line(operation.route, answer, detail);
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

    /// Returns the section name of a line, if it has one.
    pub(super) fn name(&self, line: &Html) -> Option<&str> {
        self.names.get(line.as_str()).map(String::as_str)
    }
}
