//! The canonical spelling of the values that enter a store.

use std::borrow::Cow;

use serde_json::{Map, Value};
use stockade_errors::FieldError;
use stockade_validation::__internal::CanonicalForms;
use stockade_validation::HasSchema;

use crate::store::{ListQuery, Op, RowFilter};

/// The canonical forms of a type's fields. Types without such fields have no
/// overhead.
#[derive(Clone, Debug, Default)]
pub struct Canonical {
    forms: CanonicalForms,
}

impl Canonical {
    /// Returns the forms for a type's fields. A type with an invalid schema has
    /// none, because its resource reports the configuration errors.
    #[must_use]
    pub fn of<T: HasSchema>() -> Self {
        let forms = T::schema().map(|schema| CanonicalForms::of(&schema));
        Self { forms: forms.unwrap_or_default() }
    }

    /// Returns true if no field has a canonical form.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Returns true if the field is an exact number, which may be a text.
    #[must_use]
    pub fn is_decimal(&self, field: &str) -> bool {
        self.forms.is_decimal(field)
    }

    /// Returns the canonical form of a field's value.
    #[must_use]
    pub fn value(&self, field: &str, value: Value) -> Value {
        self.forms.canonical(field, &value).unwrap_or(value)
    }

    /// Changes the values of an item to their canonical forms.
    pub fn change(&self, values: &mut Map<String, Value>) {
        if self.is_empty() {
            return;
        }
        for (field, value) in values {
            if let Some(canonical) = self.forms.canonical(field, value) {
                *value = canonical;
            }
        }
    }

    /// Returns the scope with canonical values.
    #[must_use = "the scope itself does not change"]
    pub fn scope<'s>(&self, scope: &'s RowFilter) -> Cow<'s, RowFilter> {
        let mut conditions = scope.conditions().iter();
        if self.is_empty() || !conditions.any(|(name, value)| self.changes(name, value)) {
            return Cow::Borrowed(scope);
        }
        let values = scope.conditions().iter().cloned();
        let canonical = values.fold(RowFilter::all(), |scope, (field, value)| {
            let value = self.value(&field, value);
            scope.and_eq(field, value)
        });
        Cow::Owned(canonical)
    }

    /// Returns the query with canonical values.
    #[must_use]
    pub fn query<'a>(&self, query: &'a ListQuery) -> Cow<'a, ListQuery> {
        if self.is_empty() {
            return Cow::Borrowed(query);
        }
        let mut query = query.clone();
        query.scope = self.scope(&query.scope).into_owned();
        for filter in query.filters.iter_mut().filter(|filter| compares_values(filter.op)) {
            for value in &mut filter.values {
                if let Some(canonical) = self.forms.canonical(&filter.field, value) {
                    *value = canonical;
                }
            }
        }
        for (sort, key) in query.sorts.iter().zip(query.after.iter_mut().flatten()) {
            if let Some(canonical) = self.forms.canonical(&sort.field, key) {
                *key = canonical;
            }
        }
        Cow::Owned(query)
    }

    /// Returns errors for values that the schema accepts but that do not have a
    /// canonical form: times and dates outside the years 0001 to 9999.
    #[must_use]
    pub fn misfits(&self, values: &Map<String, Value>) -> Vec<FieldError> {
        if self.is_empty() {
            return Vec::new();
        }
        let errors = values.iter().filter_map(|(field, value)| self.misfit(field, value));
        errors.collect()
    }

    /// Returns errors for filter values, like [`misfits`](Self::misfits).
    #[must_use]
    pub fn misfits_of(&self, query: &ListQuery) -> Vec<FieldError> {
        if self.is_empty() {
            return Vec::new();
        }
        let filters = query.filters.iter().filter(|filter| compares_values(filter.op));
        let errors = filters.filter_map(|filter| {
            filter.values.iter().find_map(|it| self.misfit(&filter.field, it))
        });
        errors.collect()
    }

    fn misfit(&self, field: &str, value: &Value) -> Option<FieldError> {
        let message = self.forms.misfit(field, value)?;
        Some(FieldError::new(field, message, "format").with_text_id("year"))
    }

    fn changes(&self, field: &str, value: &Value) -> bool {
        self.forms.canonical(field, value).is_some()
    }
}

/// Returns true if the operator compares whole values. A prefix is only the
/// start of a value.
fn compares_values(op: Op) -> bool {
    !matches!(op, Op::Prefix | Op::Null)
}
