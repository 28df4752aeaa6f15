//! Reads typed values with a schema.

use std::any::TypeId;

use serde::de::DeserializeOwned;
use serde_json::Value;
use stockade_errors::FieldError;

use super::duplicate::DuplicateNames;
use super::error::too_many_values;
use super::json::JsonText;
use super::pairs::{Field, Pairs, PairsKind};
use super::parsed::Parsed;
use super::reader::TypedReader;
use super::slot::{Slot, nothing_read};
use super::type_error::TypeError;
use super::untyped::{not_utf8, read_into};
use super::validating::Validating;
use super::{ReadError, read_value};
use crate::check::{self, TextSource};
use crate::data::Tape;
use crate::node::Inner;
use crate::options::ValidationOptions;
use crate::pattern;
use crate::{Schema, Validated};
use stockade_json::{Refused, has_more_values};

/// Typed values.
impl Schema {
    /// Reads a typed value from JSON text that follows this schema.
    ///
    /// Returns the same result as [`validate_against_schema`] followed by
    /// reading the type from its data. Valid text goes straight into the type,
    /// and nothing is allocated except the value. Schemas with `transform` or
    /// `custom` rules, and data that must be changed, use a slower path.
    ///
    /// A struct is not read from an array. A duplicate key is an error if the
    /// type has a field with that name. In maps, the last value counts.
    ///
    /// ```
    /// use stockade_validation::{ReadError, ValidationOptions, schema};
    ///
    /// #[derive(Debug, serde::Deserialize)]
    /// struct User {
    ///     name: String,
    ///     role: String,
    /// }
    ///
    /// let schema = schema!({
    ///     "name": { "type": "string", "required": true, "minLength": 2, "trim": true },
    ///     "role": { "type": "string", "default": "reader" },
    /// })?;
    /// let options = ValidationOptions::new();
    ///
    /// let user: User = schema.read_json(br#"{ "name": " Ada " }"#, &options)?;
    /// assert_eq!((&*user.name, &*user.role), ("Ada", "reader"));
    ///
    /// let error = schema.read_json::<User>(br#"{ "name": "A" }"#, &options).unwrap_err();
    /// let ReadError::Invalid(errors) = error else { unreachable!() };
    /// assert_eq!(errors[0].message, "String must be at least 2 characters");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ReadError::Syntax`] if the text is not JSON, even in parts that the
    /// type skips. [`ReadError::Invalid`] if the data violates the schema, with
    /// all errors, or does not fit the type, with one error of the rule `type`.
    /// [`ReadError::Failed`] if a function of the schema fails.
    ///
    /// [`validate_against_schema`]: crate::validate_against_schema
    pub fn read_json<T: DeserializeOwned>(
        &self,
        text: &[u8],
        options: &ValidationOptions,
    ) -> Result<T, ReadError> {
        self.read_json_within(text, options, usize::MAX)
    }

    /// Reads a typed value from parsed text.
    fn read_parsed(
        &self,
        text: &str,
        options: &ValidationOptions,
        most_values: usize,
        target: &mut dyn Slot,
    ) -> Result<(), ReadError> {
        if has_more_values(text.as_bytes(), most_values) {
            return Err(too_many_values(text.as_bytes(), most_values));
        }
        let value: Value = serde_json::from_str(text).map_err(ReadError::Syntax)?;
        let data = self.validated(value, options)?;
        if let Some(error) = repeated(text, &data, target) {
            return Err(ReadError::misfit(error));
        }
        read_into(Parsed::new(&data), target)
    }

    /// Reads a typed value from data that this schema validates.
    ///
    /// Returns the same result as [`validate_against_schema`] followed by
    /// reading the type from its data. A struct is not read from an array.
    ///
    /// # Errors
    /// Fails like [`read_json`](Schema::read_json), but never with
    /// [`ReadError::Syntax`].
    ///
    /// [`validate_against_schema`]: crate::validate_against_schema
    pub fn read_value<T: DeserializeOwned>(
        &self,
        value: &Value,
        options: &ValidationOptions,
    ) -> Result<T, ReadError> {
        if check::accepts(self.compiled(), value, options, true) {
            return read_value(value);
        }
        read_value(&self.validated(value.clone(), options)?)
    }

    /// Returns a validator for values on their way into a type, or `None` if
    /// one look at each value is not enough.
    fn validating<'p>(&'p self, options: &'p ValidationOptions) -> Option<Validating<'p>> {
        let compiled = self.compiled();
        (!compiled.needs.second_look).then(|| Validating::by(compiled, options))
    }

    /// Returns the validated and changed data.
    fn validated(&self, value: Value, options: &ValidationOptions) -> Result<Value, ReadError> {
        let outcome = check::validate(self.compiled(), None, value, options)?;
        let Validated { errors, data } = outcome;
        if errors.is_empty() { Ok(data) } else { Err(ReadError::Invalid(errors)) }
    }
}

impl Schema {
    /// Reads like [`read_json`](Schema::read_json), but limits the number of
    /// values that are stored regardless of their type: as `Value`s of the
    /// target type, or to validate the text.
    ///
    /// A valid typed value of any size is therefore read if its schema does not
    /// use functions, unions or unique items.
    ///
    /// # Errors
    /// Fails like [`read_json`](Schema::read_json), and with
    /// [`ReadError::TooManyValues`].
    #[doc(hidden)]
    pub fn read_json_within<T: DeserializeOwned>(
        &self,
        text: &[u8],
        options: &ValidationOptions,
        most_values: usize,
    ) -> Result<T, ReadError> {
        let mut slot = None;
        self.read_json_into(text, options, most_values, &mut slot)?;
        Ok(slot.ok_or_else(nothing_read)?)
    }

    /// Reads like [`read_json_within`](Self::read_json_within), for a type
    /// behind a `dyn` target.
    ///
    /// # Errors
    /// Fails like [`read_json_within`](Self::read_json_within).
    #[doc(hidden)]
    pub fn read_json_into(
        &self,
        text: &[u8],
        options: &ValidationOptions,
        most_values: usize,
        target: &mut dyn Slot,
    ) -> Result<(), ReadError> {
        let Ok(utf8) = std::str::from_utf8(text) else {
            return Err(ReadError::Syntax(not_utf8(text)));
        };
        let quick = self.validating(options);
        match quick.map(|validating| read_text(validating, utf8, most_values, target)) {
            Some(Ok(())) => return Ok(()),
            Some(Err(Refused::Syntax)) => {
                return self.read_parsed(utf8, options, most_values, target);
            }
            Some(Err(Refused::TooMany)) => {
                return Err(too_many_values(text, most_values));
            }
            Some(Err(Refused::Data)) | None => {}
        }
        let compiled = self.compiled();
        if !compiled.wants_parsed() {
            match Tape::of(utf8, most_values) {
                Ok(tape) => {
                    let outcome = check::validate_text(compiled, &tape, options)?;
                    let data = outcome.map_err(ReadError::Invalid)?;
                    return read_into(Parsed::new(&data), target);
                }
                Err(Refused::TooMany) => return Err(too_many_values(text, most_values)),
                Err(Refused::Syntax | Refused::Data) => {}
            }
        }
        self.read_parsed(utf8, options, most_values, target)
    }

    /// Reads a typed value from JSON text if it is valid and one look at each
    /// value decides. Returns `None` otherwise.
    #[must_use]
    #[doc(hidden)]
    pub fn read_quickly<T: DeserializeOwned>(
        &self,
        text: &str,
        options: &ValidationOptions,
    ) -> Option<T> {
        let mut slot = None;
        read_text(self.validating(options)?, text, usize::MAX, &mut slot).ok()?;
        slot
    }

    /// Reads like [`read_value`](Schema::read_value), for a type behind a `dyn`
    /// target.
    ///
    /// # Errors
    /// Fails like [`read_value`](Schema::read_value).
    #[doc(hidden)]
    pub fn read_value_into(
        &self,
        value: &Value,
        options: &ValidationOptions,
        target: &mut dyn Slot,
    ) -> Result<(), ReadError> {
        if check::accepts(self.compiled(), value, options, true) {
            return read_into(Parsed::new(value), target);
        }
        read_into(Parsed::new(&self.validated(value.clone(), options)?), target)
    }

    /// Reads a typed value from text pairs, which represent the values that the
    /// type requests. Returns false if a value is invalid or cannot be decided
    /// on the way; `validate_against_schema` then creates the messages.
    #[must_use]
    #[doc(hidden)]
    pub fn read_pairs_into<'f>(
        &'f self,
        fields: &mut (dyn Iterator<Item = Field<'f>> + '_),
        kind: PairsKind,
        options: &'f ValidationOptions,
        target: &mut dyn Slot,
    ) -> bool {
        let Some(validating) = self.validating(options) else {
            return false;
        };
        pattern::begin();
        let mut pairs = Pairs::new(fields, kind, validating);
        target.read(TypedReader::new(&mut pairs)).is_ok() && pairs.is_fulfilled()
    }

    /// Prepares the object of a form or a query for validation, because a
    /// browser omits some values. `options` are the options of the validation.
    ///
    /// In a form, an absent required boolean becomes false, and the text `on`
    /// becomes true. Empty text is removed if the field is optional and its
    /// rule rejects empty text. In a query, the options decide.
    #[doc(hidden)]
    pub fn fill_texts(&self, data: &mut Value, options: &ValidationOptions, source: TextSource) {
        let has_work = source == TextSource::Form || options.checkboxes || options.empty_as_absent;
        if has_work {
            check::fill_texts(self.compiled(), data, options, source);
        }
    }

    /// Returns true if an object without this property receives it from its
    /// default.
    #[must_use]
    #[doc(hidden)]
    pub fn fills(&self, property: &str) -> bool {
        let compiled = self.compiled();
        let root = match compiled.root.inner.as_deref() {
            Some(Inner::Definition(place)) => {
                compiled.definitions.get(*place).map(|definition| &definition.node)
            }
            _ => Some(&compiled.root),
        };
        let rules = root.and_then(|node| node.object.as_deref());
        let mut properties = rules.into_iter().flat_map(|rules| rules.properties());
        properties.any(|known| &*known.name == property && known.node.default.is_some())
    }

    /// Returns the type of this schema if
    /// [`HasSchema::schema`](crate::HasSchema::schema) created it.
    #[must_use]
    #[doc(hidden)]
    pub fn rust_type(&self) -> Option<TypeId> {
        self.type_id()
    }
}

/// Reads the value if it is valid and one look at each value decides.
fn read_text(
    validating: Validating<'_>,
    text: &str,
    most_values: usize,
    target: &mut dyn Slot,
) -> Result<(), Refused> {
    pattern::begin();
    let mut source = JsonText::new(text, validating, most_values);
    match target.read(TypedReader::new(&mut source)) {
        Ok(()) if source.is_fulfilled() => Ok(()),
        Ok(()) => Err(Refused::Data),
        Err(error) => Err(error.refused()),
    }
}

/// Reads a text without a schema and without messages.
#[cfg(test)]
pub(crate) fn read_unvalidated<T: DeserializeOwned>(text: &str) -> Option<T> {
    let mut slot = None;
    let options = ValidationOptions::new();
    read_text(Validating::of_any(&options), text, usize::MAX, &mut slot).ok()?;
    slot
}

/// Returns the error of a text that contains a field of the type twice. Parsed
/// data has lost the first value.
///
/// The changed data fits, so it is read together with the duplicate names of
/// the text.
fn repeated(text: &str, data: &Value, target: &mut dyn Slot) -> Option<FieldError> {
    let duplicates = DuplicateNames::of(text)?;
    let read = Parsed::with_duplicates(data, &duplicates).read_into(target);
    read.err().filter(TypeError::is_duplicate).map(TypeError::into_field_error)
}
