//! Access to the keywords of a rule, for the modules of the types.

use serde_json::{Map, Value};

use super::Types;

/// The input of a `compile` function, and the configuration errors that it
/// finds.
#[derive(Debug)]
pub(crate) struct Source<'k> {
    pub(super) keywords: &'k Map<String, Value>,
    pub(super) types: &'k Types,
    /// The configuration errors, each with its keyword.
    pub(crate) mistakes: Vec<(&'static str, String)>,
}

impl<'k> Source<'k> {
    pub(crate) fn new(keywords: &'k Map<String, Value>, types: &'k Types) -> Self {
        Self { keywords, types, mistakes: Vec::new() }
    }
}

/// Returns true if the keyword is `true`.
pub(crate) fn flag(keywords: &Map<String, Value>, name: &str) -> bool {
    keywords.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the text of a keyword.
pub(crate) fn text_of<'k>(keywords: &'k Map<String, Value>, name: &str) -> Option<&'k str> {
    keywords.get(name).and_then(Value::as_str)
}

/// Copies keywords with the same meaning in JSON Schema to a document.
pub(super) fn copy(keywords: &Map<String, Value>, names: &[&str], out: &mut Map<String, Value>) {
    for name in names {
        if let Some(value) = keywords.get(*name) {
            out.insert((*name).to_owned(), value.clone());
        }
    }
}
