//! [`FieldError`]: the failure of one field.
//!
//! Spec: Validation schemas › Validation error record.

mod serde_impls;

use std::borrow::Cow;

/// A failed rule of a field.
///
/// The body of a 400 lists them as `details.errors`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FieldError {
    /// Path of the value, such as `address.zip` or `tags[0]`; empty for the
    /// whole input.
    pub field: String,
    /// The message, for a person.
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
