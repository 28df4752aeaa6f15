//! The items that a caller may see.

use serde_json::Value;

/// The items that a caller may see, selected by field values.
///
/// A resource adds it to each call of its store. An item outside it is missing,
/// for reads and writes.
///
/// ```
/// use stockade::rest::RowFilter;
///
/// let scope = RowFilter::eq("owner", "ada").and_eq("archived", false);
/// assert_eq!(scope.conditions().len(), 2);
/// assert!(RowFilter::all().conditions().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a scope does nothing until it is returned"]
pub struct RowFilter {
    conditions: Vec<(String, Value)>,
}

impl RowFilter {
    /// Creates the scope of all items.
    pub fn all() -> Self {
        Self::default()
    }

    /// Creates the scope of the items with this field value. Nothing is equal
    /// to null, so a scope with a missing value is empty.
    pub fn eq(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::all().and_eq(field, value)
    }

    /// Narrows the scope to items that also have this field value.
    pub fn and_eq(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.conditions.push((field.into(), value.into()));
        self
    }

    /// Returns the fields and values. An item must match all of them.
    #[must_use]
    pub fn conditions(&self) -> &[(String, Value)] {
        &self.conditions
    }
}
