//! Prepares a value: trims, transforms and converts it.

use serde_json::Value;
use stockade_errors::ApiError;

use super::path::Path;
use super::sink::Sink;
use super::walk::Walk;
use crate::data::{Data, Kind};
use crate::depth::{MAX_DEPTH, exceeds};
use crate::node::{Node, kind};
use crate::number::{self, whole_float};
use crate::pattern;

impl<'s, S: Sink<'s>> Walk<'_, 's, S> {
    /// Returns the prepared value, or `None` if it is unchanged.
    ///
    /// # Errors
    ///
    /// Returns the error of a failed `transform`. Also fails if the result is
    /// nested too deeply.
    pub(super) fn prepare<'d>(
        &self,
        node: &Node,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Result<Option<Value>, ApiError> {
        let mut prepared = if node.trim { trim(value) } else { None };
        if let Some(transform) = &node.transform
            && self.root.is_some()
            && !self.sink.is_done()
        {
            let value = prepared.unwrap_or_else(|| value.to_value().into_owned());
            let field = path.to_string();
            let value = transform.call(value, &field)?;
            if exceeds(&value, MAX_DEPTH) {
                let message =
                    format!("`transform` of {field:?} returned a value that is nested too deeply");
                return Err(ApiError::new(500, message));
            }
            prepared = Some(value);
        }

        let current = prepared.as_ref().map_or_else(|| value.kind(), Data::kind);
        if self.options.coerce_types
            && let Kind::Text(text) = current
            && let Some(converted) = coerce(node, text, self.options.strict_numbers)
        {
            return Ok(Some(converted));
        }
        if let Kind::Number(number) = current
            && node.types.want_whole()
            && let Some(whole) = whole_float(number)
        {
            return Ok(Some(Value::Number(whole)));
        }
        if self.options.list_from_one
            && matches!(path, Path::Field { parent: Path::Root, .. })
            && is_one_of_list(node, current)
        {
            let one = prepared.unwrap_or_else(|| value.to_value().into_owned());
            return Ok(Some(Value::Array(vec![one])));
        }
        Ok(prepared)
    }
}

fn trim<'d>(value: impl Data<'d>) -> Option<Value> {
    let text = value.text()?;
    let trimmed = pattern::trim(text);
    (trimmed.len() < text.len()).then(|| trimmed.into())
}

pub(super) fn coerce(node: &Node, text: &str, strict_numbers: bool) -> Option<Value> {
    let types = &node.types;
    if types.take_text() {
        return None;
    }
    if types.has(kind::BOOLEAN) {
        match text {
            "true" => return Some(true.into()),
            "false" => return Some(false.into()),
            _ => {}
        }
    }
    if types.has(kind::NUMBER | kind::INTEGER) {
        if strict_numbers && !number::is_strict(text) {
            return None;
        }
        let number = number::parse(text)?;
        // Convert `1.0` to an integer, because typed code cannot read it
        // otherwise.
        let whole = if node.types.want_whole() { whole_float(&number) } else { None };
        return Some(Value::Number(whole.unwrap_or(number)));
    }
    None
}

/// Returns true if the schema expects a list but the value is a single item, as
/// in a query string.
pub(super) fn is_one_of_list(node: &Node, value: Kind<'_>) -> bool {
    let is_scalar = matches!(value, Kind::Text(_) | Kind::Number(_) | Kind::Bool(_));
    let takes_scalar = node.types.mask & !(kind::ARRAY | kind::NULL) != 0;
    is_scalar && node.types.has(kind::ARRAY) && !takes_scalar && node.types.formats.is_empty()
}
