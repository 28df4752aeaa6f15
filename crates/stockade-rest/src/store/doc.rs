//! [`StoreDoc`]: the check of a resource by its store.

use std::ops::RangeInclusive;

use super::Op;

/// The demands of a resource, and what its store says of them while the router is
/// built: the mistakes that it finds, and the integers that it can keep.
///
/// ```
/// use stockade::rest::{Op, StoreDoc};
///
/// /// Notes a mistake for each field that a store of these columns cannot sort by.
/// fn describe(columns: &[&str], doc: &mut StoreDoc) {
///     let unknown = doc.sorts().iter().filter(|field| !columns.contains(&&***field));
///     let mistakes: Vec<_> = unknown.map(|field| format!("there is no column {field}")).collect();
///     mistakes.into_iter().for_each(|mistake| doc.issue(mistake));
/// }
///
/// let mut doc = StoreDoc::new([("name", vec![Op::Eq])], ["name", "price"]);
/// describe(&["id", "name"], &mut doc);
/// assert_eq!(doc.issues(), ["there is no column price"]);
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
    /// Makes the demands of a resource with these filters and sorts.
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

    /// Says that the resource has a scope.
    #[must_use]
    pub fn with_scope(mut self) -> Self {
        self.scopes = true;
        self
    }

    /// Returns the fields that clients may filter by, each with its comparisons.
    #[must_use]
    pub fn filters(&self) -> &[(String, Vec<Op>)] {
        &self.filters
    }

    /// Returns the fields that clients may sort by, without the id.
    #[must_use]
    pub fn sorts(&self) -> &[String] {
        &self.sorts
    }

    /// Returns true if the resource has a scope, whose fields are known with a
    /// request alone.
    #[must_use]
    pub fn has_scope(&self) -> bool {
        self.scopes
    }

    /// Says that a page may leave out items that the store cannot read, so that documents
    /// have the number [`skipped`](super::Page::skipped) in a page.
    pub fn skips_rows(&mut self) {
        self.skips = true;
    }

    /// Returns true if a page may leave items out.
    #[must_use]
    pub fn may_skip_rows(&self) -> bool {
        self.skips
    }

    /// Notes a mistake: lower case, no full stop.
    pub fn issue(&mut self, message: impl Into<String>) {
        self.mistakes.push(message.into());
    }

    /// Returns the mistakes.
    #[must_use]
    pub fn issues(&self) -> &[String] {
        &self.mistakes
    }

    /// Says which integers a field can keep, where its type has more of them: the
    /// columns of SQL databases end at `i64::MAX`, and a `u64` does not. Others are then
    /// a 400 that names the field, and the schemas of documents end there too.
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

    /// Returns the fields that cannot keep each integer, with those that they keep.
    #[must_use]
    pub fn integers(&self) -> &[(String, RangeInclusive<i64>)] {
        &self.integers
    }
}
