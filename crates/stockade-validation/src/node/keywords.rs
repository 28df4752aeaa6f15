//! Access to the keywords of a rule, for the files of the types.

use serde_json::{Map, Value};

use super::Types;

/// The input of a `compile`, and the mistakes that it finds.
#[derive(Debug)]
pub(crate) struct Source<'k> {
    pub(super) keywords: &'k Map<String, Value>,
    pub(super) types: &'k Types,
    /// Each with its keyword.
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

/// Copies keywords that mean the same in JSON Schema to a document.
pub(super) fn copy(keywords: &Map<String, Value>, names: &[&str], out: &mut Map<String, Value>) {
    for name in names {
        if let Some(value) = keywords.get(*name) {
            out.insert((*name).to_owned(), value.clone());
        }
    }
}
