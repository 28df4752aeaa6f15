//! [`validate_against_schema`] and its outcome.
//!
//! Spec: Validation helpers.

use serde_json::Value;
use stockade_errors::{ApiError, FieldError};

use crate::Schema;
use crate::check;
use crate::options::ValidationOptions;

/// The outcome of a validation.
///
/// Spec: Validation helpers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Validated {
    /// Everything that is wrong, in the order of the schema; the data is valid
    /// when there is nothing.
    pub errors: Vec<FieldError>,
    /// The data with defaults, trims, transforms and conversions applied:
    /// listed properties in schema order, then the unknown keys that are kept.
    ///
    /// If the data is not valid, use it only to show it back: it may hold
    /// refused values and unknown keys.
    pub data: Value,
}

impl Validated {
    /// Returns true if nothing is wrong.
    #[must_use]
    pub fn valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns the data if it is valid, else a 400 with the errors.
    ///
    /// # Errors
    /// When something is wrong.
    pub fn into_result(self) -> Result<Value, ApiError> {
        if self.valid() { Ok(self.data) } else { Err(ApiError::validation(self.errors)) }
    }
}

/// Judges `data` by `schema`.
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
/// 500 when a `transform`, `custom` or `default` function fails or panics;
/// never for mistakes in the data.
///
/// Spec: Validation helpers › `validateAgainstSchema`.
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

/// Judges one value by `schema` as if it were the field `field`, whose name the
/// errors carry. `None` is an absent field.
///
/// `required` is checked too. The data is the default for an absent field that
/// has one, else null.
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
/// Those of [`validate_against_schema`].
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
