//! The check of a resource by its store.

use std::ops::RangeInclusive;

use super::Op;

/// The requirements of a resource, and the store's findings while the router is
/// built: configuration errors, and the ranges of its integers.
///
/// ```
/// use stockade::rest::{Op, StoreDoc};
///
/// /// Reports an error for each field that a store with these columns cannot sort by.
/// fn describe(columns: &[&str], doc: &mut StoreDoc) {
///     let unknown = doc.sorts().iter().filter(|field| !columns.contains(&&***field));
///     let mistakes: Vec<_> =
///         unknown.map(|field| format!("the column {field} does not exist")).collect();
///     mistakes.into_iter().for_each(|mistake| doc.issue(mistake));
/// }
///
/// let mut doc = StoreDoc::new([("name", vec![Op::Eq])], ["name", "price"]);
/// describe(&["id", "name"], &mut doc);
/// assert_eq!(doc.issues(), ["the column price does not exist"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct StoreDoc {
    filters: Vec<(String, Vec<Op>)>,
    sorts: Vec<String>,
    scopes: bool,
    skips: bool,
    mistakes: Vec<String>,
    integers: Vec<(String, RangeInclusive<i64>)>,
}

impl StoreDoc {
    /// Creates the requirements of a resource with these filters and sorts.
    #[must_use]
    pub fn new<F: Into<String>, S: Into<String>>(
        filters: impl IntoIterator<Item = (F, Vec<Op>)>,
        sorts: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            filters: filters.into_iter().map(|(field, ops)| (field.into(), ops)).collect(),
            sorts: sorts.into_iter().map(Into::into).collect(),
            scopes: false,
            skips: false,
            mistakes: Vec::new(),
            integers: Vec::new(),
        }
    }

    /// Marks that the resource has a scope.
    #[must_use]
    pub fn with_scope(mut self) -> Self {
        self.scopes = true;
        self
    }

    /// Returns the fields that clients may filter by, each with its
    /// comparisons.
    #[must_use]
    pub fn filters(&self) -> &[(String, Vec<Op>)] {
        &self.filters
    }

    /// Returns the fields that clients may sort by, without the id.
    #[must_use]
    pub fn sorts(&self) -> &[String] {
        &self.sorts
    }

    /// Returns true if the resource has a scope. The fields of the scope are
    /// known only during a request.
    #[must_use]
    pub fn has_scope(&self) -> bool {
        self.scopes
    }

    /// Marks that a page may omit items that the store cannot read.
    /// Documentation then includes the number [`skipped`](super::Page::skipped)
    /// in a page.
    pub fn skips_rows(&mut self) {
        self.skips = true;
    }

    /// Returns true if a page may omit items.
    #[must_use]
    pub fn may_skip_rows(&self) -> bool {
        self.skips
    }

    /// Adds a configuration error: lower case, without a full stop.
    pub fn issue(&mut self, message: impl Into<String>) {
        self.mistakes.push(message.into());
    }

    /// Returns the configuration errors.
    #[must_use]
    pub fn issues(&self) -> &[String] {
        &self.mistakes
    }

    /// Sets the range of integers that a field can store, if its type has a
    /// larger one. For example, SQL columns end at `i64::MAX` and `u64` does
    /// not. Other integers are then a 400 that names the field, and the
    /// documented schemas have the same bounds.
    ///
    /// ```
    /// use stockade::rest::StoreDoc;
    ///
    /// let mut doc = StoreDoc::default();
    /// doc.keeps_integers("views", i64::MIN..=i64::MAX);
    /// assert_eq!(doc.integers(), [("views".to_owned(), i64::MIN..=i64::MAX)]);
    /// ```
    pub fn keeps_integers(&mut self, field: impl Into<String>, range: RangeInclusive<i64>) {
        self.integers.push((field.into(), range));
    }

    /// Returns the fields with a restricted range of integers.
    #[must_use]
    pub fn integers(&self) -> &[(String, RangeInclusive<i64>)] {
        &self.integers
    }
}
