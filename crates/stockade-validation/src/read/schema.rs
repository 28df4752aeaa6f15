//! Reading typed values by a schema.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use stockade_errors::FieldError;

use super::asked::is_named;
use super::judged::{Judged, Reading};
use super::misfit::is_duplicate;
use super::twice::Twice;
use super::untyped::{misfit, not_utf8};
use super::{ReadError, read_value};
use crate::check;
use crate::data::Tape;
use crate::json::{Reader, Refused, has_more_values};
use crate::node::Inner;
use crate::options::ValidationOptions;
use crate::pattern;
use crate::plan::Plan;
use crate::{Schema, Validated};

/// Typed values.
impl Schema {
    /// Reads a typed value from JSON text that is right by this schema.
    ///
    /// The result is that of [`validate_against_schema`], and of reading the
    /// type from its data; but text that is right goes straight into the type,
    /// unless the schema has `transform` or `custom` rules or the data is to be
    /// changed. On that way nothing is allocated beside the value.
    ///
    /// A struct is not read from an array. A key that comes twice is an error
    /// where the type has a field of that name; in maps the last one counts.
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
    /// [`ReadError::Syntax`] for text that is not JSON, also in parts that the
    /// type skips; [`ReadError::Invalid`] for data that breaks the schema, with
    /// all its errors, or does not fit the type, with one error of the rule
    /// `type`; [`ReadError::Failed`] when a function of the schema fails.
    ///
    /// [`validate_against_schema`]: crate::validate_against_schema
    pub fn read_json<T: DeserializeOwned>(
        &self,
        text: &[u8],
        options: &ValidationOptions,
    ) -> Result<T, ReadError> {
        self.read_json_within(text, options, usize::MAX)
    }

    /// As [`read_json`](Self::read_json), but keeps at most so many values of
    /// the text whatever their type: as `Value`s of the type that is read, or to
    /// judge the text.
    ///
    /// So a typed value of any size is read as long as it is right and its
    /// schema has no functions, unions and unique items.
    ///
    /// # Errors
    /// Those of [`read_json`](Self::read_json), and
    /// [`ReadError::TooManyValues`].
    #[doc(hidden)]
    pub fn read_json_within<T: DeserializeOwned>(
        &self,
        text: &[u8],
        options: &ValidationOptions,
        most_values: usize,
    ) -> Result<T, ReadError> {
        let Ok(utf8) = std::str::from_utf8(text) else {
            return Err(ReadError::Syntax(not_utf8(text)));
        };
        if let Some(plan) = self.plan() {
            // A large value is not moved more often than it must be.
            let mut reader = Reader::new(utf8, most_values);
            let reading = Reading::new(options);
            match read_quickly(plan, &reading, &mut reader) {
                Ok(value) if reading.is_fulfilled() && reader.end().is_ok() => return Ok(value),
                Err(Refused::Syntax) => return self.read_parsed(utf8, options, most_values),
                Err(Refused::TooMany) => return Err(ReadError::too_many_values(text, most_values)),
                Ok(_) | Err(Refused::Data) => {}
            }
        }
        if !self.compiled().wants_parsed {
            match Tape::of(utf8, most_values) {
                Ok(tape) => {
                    let outcome = check::validate_text(self.compiled(), &tape, options)?;
                    return read_value(&outcome.map_err(ReadError::Invalid)?);
                }
                Err(Refused::TooMany) => return Err(ReadError::too_many_values(text, most_values)),
                Err(Refused::Syntax | Refused::Data) => {}
            }
        }
        self.read_parsed(utf8, options, most_values)
    }

    /// Reads a typed value from parsed text.
    fn read_parsed<T: DeserializeOwned>(
        &self,
        text: &str,
        options: &ValidationOptions,
        most_values: usize,
    ) -> Result<T, ReadError> {
        if has_more_values(text.as_bytes(), most_values) {
            return Err(ReadError::too_many_values(text.as_bytes(), most_values));
        }
        let value: Value = serde_json::from_str(text).map_err(ReadError::Syntax)?;
        let data = self.validated(value, options)?;
        if let Some(error) = repeated::<T>(text, &data) {
            return Err(ReadError::misfit(error));
        }
        read_value(&data)
    }

    /// Reads a typed value from data that is right by this schema.
    ///
    /// The result is that of [`validate_against_schema`], and of reading the
    /// type from its data. A struct is not read from an array.
    ///
    /// # Errors
    /// As [`read_json`](Self::read_json), but never [`ReadError::Syntax`].
    ///
    /// [`validate_against_schema`]: crate::validate_against_schema
    pub fn read_value<T: DeserializeOwned>(
        &self,
        value: &Value,
        options: &ValidationOptions,
    ) -> Result<T, ReadError> {
        if self.accepts(value, options, true) {
            return read_value(value);
        }
        read_value(&self.validated(value.clone(), options)?)
    }

    /// Reads a typed value from a deserializer that gives what a type asks for,
    /// such as numbers of texts; `None` if something is wrong or cannot be
    /// settled on the way. Then `validate_against_schema` has the words.
    #[doc(hidden)]
    pub fn read_quickly<'de, T, D>(&self, reader: D, options: &ValidationOptions) -> Option<T>
    where
        T: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        pattern::begin();
        let reading = Reading::new(options);
        let read = T::deserialize(Judged::new(self.plan()?, &reading, reader));
        read.ok().filter(|_| reading.is_fulfilled())
    }

    /// Whether an object without this property gets it from its default.
    #[doc(hidden)]
    #[must_use]
    pub fn fills(&self, property: &str) -> bool {
        let compiled = self.compiled();
        let root = match compiled.root.inner.as_deref() {
            Some(Inner::Definition(place)) => {
                compiled.definitions.get(*place).map(|definition| &definition.node)
            }
            _ => Some(&compiled.root),
        };
        let rules = root.and_then(|node| node.object.as_deref());
        let mut properties = rules.into_iter().flat_map(|rules| &rules.properties);
        properties.any(|known| &*known.name == property && known.node.default.is_some())
    }

    /// The changed data.
    fn validated(&self, value: Value, options: &ValidationOptions) -> Result<Value, ReadError> {
        let outcome = check::validate(self.compiled(), None, value, options)?;
        let Validated { errors, data } = outcome;
        if errors.is_empty() { Ok(data) } else { Err(ReadError::Invalid(errors)) }
    }
}

/// The value, as far as it is right and the plan can tell.
#[inline]
fn read_quickly<T: DeserializeOwned>(
    plan: &Plan,
    reading: &Reading<'_>,
    reader: &mut Reader<'_>,
) -> Result<T, Refused> {
    if reader.peek() == Some(b'[') && is_named::<T>() {
        return Err(Refused::Data);
    }
    pattern::begin();
    T::deserialize(Judged::new(plan, reading, reader))
}

/// The error of a text that has a field of the type twice: parsed data has
/// lost the first one.
///
/// The type reads the text up to the first thing that does not fit, perhaps
/// not as far as that field. The changed data fits, so it is read again with
/// the names twice that are twice in the text.
fn repeated<T: DeserializeOwned>(text: &str, data: &Value) -> Option<FieldError> {
    let twice = Twice::of(text)?;
    duplicate::<T>(text).or_else(|| duplicate::<T>(&twice.repeated(data)?))
}

/// The error of a field that is there twice, if it is the first thing that
/// does not fit.
fn duplicate<T: DeserializeOwned>(text: &str) -> Option<FieldError> {
    let error = serde_json::from_str::<T>(text).err()?;
    is_duplicate(&error).then(|| misfit::<T>(text, &error))
}
