//! [`RowFilter`]: the items that a caller may see at all.

use serde_json::Value;

/// The items that a caller may see: those whose fields have given values.
///
/// A resource adds it to each call of its store, so that an item outside of it is
/// missing, for reads and for writes alike.
///
/// ```
/// use stockade::rest::RowFilter;
///
/// let scope = RowFilter::eq("owner", "ada").and_eq("archived", false);
/// assert_eq!(scope.conditions().len(), 2);
/// assert!(RowFilter::all().conditions().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a scope limits nothing until it is returned"]
pub struct RowFilter {
    conditions: Vec<(String, Value)>,
}

impl RowFilter {
    /// Makes the scope of all items.
    pub fn all() -> Self {
        Self::default()
    }

    /// Makes the scope of the items whose field is equal to `value`. Nothing is equal
    /// to null, so that a scope by a value that is missing has no items.
    pub fn eq(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::all().and_eq(field, value)
    }

    /// Narrows the scope to items whose field is equal to `value`, too.
    pub fn and_eq(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.conditions.push((field.into(), value.into()));
        self
    }

    /// Returns the fields and the values that an item has, all of them.
    #[must_use]
    pub fn conditions(&self) -> &[(String, Value)] {
        &self.conditions
    }
}
