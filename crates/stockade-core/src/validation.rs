//! [`Validation`]: what the `validation` entry of a route holds.
//!
//! Spec: Route entry object; Validation helpers.

use serde_json::Value;
use stockade_errors::FieldError;

/// Checks a request's body before the handler runs.
///
/// It is implemented for functions that list the errors of a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot check a body",
    label = "not a validation",
    note = "a validation is a function from `&Value` to a list of what is wrong, `Vec<FieldError>`"
)]
pub trait Validation: Send + Sync + 'static {
    /// Checks `data`, and gives it back as the handler shall see it.
    fn validate(&self, data: Value) -> Validated;
}

/// The outcome of a validation.
///
/// Spec: Validation helpers.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated {
    /// Everything that is wrong; the data is valid when there is nothing.
    pub errors: Vec<FieldError>,
    /// The data, with defaults and conversions applied.
    pub data: Value,
}

impl Validated {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn valid(&self) -> bool {
        self.errors.is_empty()
    }
}

impl<F> Validation for F
where
    F: Fn(&Value) -> Vec<FieldError> + Send + Sync + 'static,
{
    fn validate(&self, data: Value) -> Validated {
        Validated { errors: self(&data), data }
    }
}
