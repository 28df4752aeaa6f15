//! [`FieldError`]: what is wrong with one field.
//!
//! Spec: Validation schemas › Validation error record.

mod serde_impls;

use std::borrow::Cow;

/// One failed rule of one field.
///
/// It is an element of `details.errors` in the body of a 400.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FieldError {
    /// Path of the value, such as `address.zip` or `tags[0]`; empty for the
    /// whole input.
    pub field: String,
    /// What is wrong, for a person.
    pub message: Cow<'static, str>,
    /// The keyword that failed, such as `email` or `minLength`.
    pub rule: Cow<'static, str>,
}

impl FieldError {
    /// Makes a record from its three parts.
    pub fn new(
        field: impl Into<String>,
        message: impl Into<Cow<'static, str>>,
        rule: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { field: field.into(), message: message.into(), rule: rule.into() }
    }
}
