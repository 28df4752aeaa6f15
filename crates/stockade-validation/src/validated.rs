//! [`validate_against_schema`] and its outcome.
// Spec: Validation helpers.

use serde_json::Value;
use stockade_errors::{ApiError, FieldError};

use crate::Schema;
use crate::check;
use crate::options::ValidationOptions;

/// The outcome of a validation.
// Spec: Validation helpers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Validated {
    /// All errors, in the order of the schema. Empty if the data is valid.
    pub errors: Vec<FieldError>,
    /// The data with defaults, trims, transforms and conversions applied:
    /// listed properties in schema order, followed by the remaining unknown
    /// keys.
    ///
    /// If the data is invalid, use it only for display: it may contain rejected
    /// values and unknown keys.
    pub data: Value,
}

impl Validated {
    /// Returns true if there are no errors.
    #[must_use]
    pub fn valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns the data if it is valid.
    ///
    /// # Errors
    /// Fails with a 400 that lists the errors if the data is invalid.
    pub fn into_result(self) -> Result<Value, ApiError> {
        if self.valid() { Ok(self.data) } else { Err(ApiError::validation(self.errors)) }
    }
}

/// Validates `data` with `schema`.
///
/// ```
/// use serde_json::json;
/// use stockade_validation::{ValidationOptions, schema, validate_against_schema};
///
/// let schema = schema!({ "page": { "type": "integer", "min": 1, "default": 1 } })?;
/// let options = ValidationOptions::new().coerce_types(true);
///
/// let outcome = validate_against_schema(&schema, json!({ "page": "7" }), &options)?;
/// assert!(outcome.valid());
/// assert_eq!(outcome.data, json!({ "page": 7 }));
///
/// let outcome = validate_against_schema(&schema, json!({}), &options)?;
/// assert_eq!(outcome.data, json!({ "page": 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails with a 500 if a `transform`, `custom` or `default` function fails or
/// panics. Invalid data is not an error here.
// Spec: Validation helpers › `validateAgainstSchema`.
#[doc(alias = "validateAgainstSchema")]
pub fn validate_against_schema(
    schema: &Schema,
    data: Value,
    options: &ValidationOptions,
) -> Result<Validated, ApiError> {
    if check::accepts(schema.compiled(), &data, options, true) {
        return Ok(Validated { errors: Vec::new(), data });
    }
    check::validate(schema.compiled(), None, data, options)
}

/// Validates one value with `schema` as the field `field`, which the errors
/// name. `None` is an absent field.
///
/// `required` is checked too. The resulting data is the default for an absent
/// field with a default, and null for any other absent field.
///
/// ```
/// use serde_json::json;
/// use stockade_validation::{Rule, ValidationOptions, validate_field};
///
/// let age = Rule::integer().minimum(18).required().build()?;
/// let options = ValidationOptions::new();
/// let outcome = validate_field(&age, "age", Some(json!(12)), &options)?;
/// assert_eq!(outcome.errors[0].field, "age");
///
/// let outcome = validate_field(&age, "age", None, &options)?;
/// assert_eq!(outcome.errors[0].message, "Required field 'age' is missing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`validate_against_schema`].
#[doc(alias = "validateField")]
pub fn validate_field(
    schema: &Schema,
    field: &str,
    value: Option<Value>,
    options: &ValidationOptions,
) -> Result<Validated, ApiError> {
    match value {
        Some(value) => check::validate(schema.compiled(), Some(field), value, options),
        None => check::validate_absent(&schema.compiled().root, field),
    }
}
