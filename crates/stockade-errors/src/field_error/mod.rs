//! [`FieldError`]: the failure of one field.
// Spec: Validation schemas › Validation error record.

mod params;
mod serde_impls;

use std::borrow::Cow;

use self::params::Params;
pub use self::params::{ErrorText, ParamValue};

/// A failed rule of a field.
///
/// The body of a 400 lists them as `details.errors`. Two records are equal if
/// the three members that a client receives are equal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FieldError {
    /// The path of the value, such as `address.zip` or `tags[0]`. Empty for the
    /// whole input.
    pub field: String,
    /// The human-readable message.
    pub message: Cow<'static, str>,
    /// The keyword that failed, such as `email` or `minLength`.
    pub rule: Cow<'static, str>,
    params: Params,
    text_id: Option<Cow<'static, str>>,
}

impl PartialEq for FieldError {
    fn eq(&self, other: &Self) -> bool {
        (&self.field, &self.message, &self.rule) == (&other.field, &other.message, &other.rule)
    }
}

impl Eq for FieldError {}

impl FieldError {
    /// Creates a record from its three parts.
    pub fn new(
        field: impl Into<String>,
        message: impl Into<Cow<'static, str>>,
        rule: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
            rule: rule.into(),
            params: Params::None,
            text_id: None,
        }
    }

    /// Creates the record of a custom check, with the message, the id and the
    /// parameters of `text`.
    pub fn of_text(
        field: impl Into<String>,
        text: ErrorText,
        rule: impl Into<Cow<'static, str>>,
    ) -> Self {
        let mut error = Self::new(field, text.message, rule);
        (error.text_id, error.params) = (text.id, *text.params);
        error
    }

    /// Returns the parameters of the rule. Use them to write the message in
    /// another language or form. They are not sent.
    ///
    /// | rule | parameters |
    /// |---|---|
    /// | bounds and lengths, such as `maxLength` | `limit`: 100 |
    /// | `type` | `expected` and `got`: `integer`, `string` |
    /// | `enum` | `values`: the list as JSON texts, such as `"a", "b"` |
    /// | `const` | `value`: JSON text |
    /// | `format` | `format`: `date-time` |
    /// | `depth` | `limit` |
    ///
    /// ```
    /// use stockade::validation::{Rule, ValidationOptions, validate_against_schema};
    /// use stockade::{ParamValue, serde_json::json};
    ///
    /// let schema = Rule::string().max_length(3).build()?;
    /// let outcome = validate_against_schema(&schema, json!("four"), &ValidationOptions::new())?;
    /// assert_eq!(outcome.errors[0].params(), [("limit", ParamValue::from(3))]);
    /// # Ok::<(), stockade::BoxError>(())
    /// ```
    #[must_use]
    pub fn params(&self) -> &[(&'static str, ParamValue)] {
        self.params.as_slice()
    }

    /// Returns the parameter with this name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&ParamValue> {
        self.params().iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Sets a parameter. Replaces a parameter with the same name.
    #[must_use]
    pub fn with_param(mut self, name: &'static str, value: impl Into<ParamValue>) -> Self {
        self.params.set(name, value.into());
        self
    }

    /// Returns the id of the message in language catalogs. Returns `None` for
    /// an application's message without an id.
    #[must_use]
    pub fn text_id(&self) -> Option<&str> {
        self.text_id.as_deref()
    }

    /// Sets the id of the message in language catalogs, such as `maxLength`.
    #[must_use]
    pub fn with_text_id(mut self, id: impl Into<Cow<'static, str>>) -> Self {
        self.text_id = Some(id.into());
        self
    }
}
