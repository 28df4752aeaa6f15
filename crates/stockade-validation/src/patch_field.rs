//! [`Patch`] and [`Optional`]: fields of a partial update, which may be absent.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{IntoDeserializer as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::has_schema::HasSchema;
use crate::rule::Rule;

/// A field of a partial update that may be absent, null or a value, as in JSON
/// Merge Patch (RFC 7396).
///
/// Reading the field needs no attribute: serde and the schema accept its
/// absence. Writing it with serde requires `#[serde(skip_serializing_if =
/// "Patch::is_absent")]`. Otherwise an absent field is a serialization error,
/// because null would have a different meaning.
///
#[cfg_attr(feature = "derive", doc = "```")]
#[cfg_attr(not(feature = "derive"), doc = "```ignore")]
/// use serde::Deserialize;
/// use stockade_validation::{HasSchema, Optional, Patch, Schema};
///
/// #[derive(Debug, Deserialize, Schema)]
/// struct ChangeUser {
///     /// May be absent, must not be null.
///     name: Optional<String>,
///     /// May be absent, and null deletes it.
///     #[schema(max_length = 200)]
///     bio: Patch<String>,
/// }
///
/// let schema = ChangeUser::schema()?;
/// let read = |text: &str| schema.read_json::<ChangeUser>(text.as_bytes(), &Default::default());
///
/// let mut name = String::from("ada");
/// let mut bio = Some(String::from("mathematician"));
///
/// let change = read(r#"{ "name": "Ada" }"#)?;
/// assert!(change.bio.is_absent());
/// change.name.apply(&mut name);
/// change.bio.apply(&mut bio);
/// assert_eq!((name.as_str(), bio.as_deref()), ("Ada", Some("mathematician")));
///
/// let change = read(r#"{ "bio": null }"#)?;
/// assert!(change.name.is_absent() && change.bio.is_null());
/// change.bio.apply(&mut bio);
/// assert_eq!(bio, None);
///
/// assert!(read(r#"{ "name": null }"#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Patch<T> {
    /// The field is absent: nothing changes.
    #[default]
    Absent,
    /// The field is null: the value is deleted.
    Null,
    /// The field has this value.
    Value(T),
}

impl<T> Patch<T> {
    /// Returns true if the field is absent.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns true if the field is null.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the value, if any.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Returns `None` for an absent field and `Some(None)` for null.
    pub fn into_option(self) -> Option<Option<T>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }

    /// Sets `target` to the value or to `None`. An absent field does not change
    /// it.
    pub fn apply(self, target: &mut Option<T>) {
        if let Some(new) = self.into_option() {
            *target = new;
        }
    }
}

impl<T> From<Option<Option<T>>> for Patch<T> {
    fn from(field: Option<Option<T>>) -> Self {
        match field {
            None => Self::Absent,
            Some(None) => Self::Null,
            Some(Some(value)) => Self::Value(value),
        }
    }
}

impl<T: HasSchema> HasSchema for Patch<T> {
    fn rule() -> Rule {
        T::field_rule().or_null()
    }

    fn is_optional() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_present::<Option<T>, D>(deserializer).map(Self::from)
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => Err(absent("Patch")),
            Self::Null => serializer.serialize_none(),
            Self::Value(value) => serializer.serialize_some(value),
        }
    }
}

/// A field that may be absent. It must not be null unless `T` allows null.
///
/// An `Option` field may be absent or null. `Optional` is read and written like
/// [`Patch`]; see there for an example of both.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Optional<T> {
    /// The field is absent.
    #[default]
    Absent,
    /// The field has this value.
    Value(T),
}

impl<T> Optional<T> {
    /// Returns true if the field is absent.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns the value if the field is present.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent => None,
        }
    }

    /// Returns the value if the field is present.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent => None,
        }
    }

    /// Sets `target` to the value. An absent field does not change it.
    pub fn apply(self, target: &mut T) {
        if let Self::Value(value) = self {
            *target = value;
        }
    }
}

impl<T> From<Option<T>> for Optional<T> {
    fn from(field: Option<T>) -> Self {
        field.map_or(Self::Absent, Self::Value)
    }
}

impl<T: HasSchema> HasSchema for Optional<T> {
    fn rule() -> Rule {
        T::field_rule()
    }

    fn is_optional() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Optional<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_present::<T, D>(deserializer).map(Self::from)
    }
}

impl<T: Serialize> Serialize for Optional<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => Err(absent("Optional")),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

#[cold]
fn absent<E: serde::ser::Error>(name: &str) -> E {
    E::custom(format_args!(
        "an absent field cannot be serialized: add `#[serde(skip_serializing_if = \
         \"{name}::is_absent\")]` to it"
    ))
}

/// Reads a field, or returns `None` if the field is absent.
///
/// For a missing field, serde passes a deserializer that supports only `Option`
/// and yields `None`. serde_json also yields `None` for null, so an `Option`
/// cannot distinguish the two. This function requests a newtype instead:
/// serde's deserializer then fails before it calls the visitor, while every
/// other deserializer calls the visitor.
fn read_present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let is_there = Cell::new(false);
    let visitor = Present { is_there: &is_there, of: PhantomData };
    match deserializer.deserialize_newtype_struct("Present", visitor) {
        Ok(value) => Ok(Some(value)),
        // Any other error before the visitor is called comes from the format.
        Err(error) if !is_there.get() && is_missing_field(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns true for the message of `serde::de::Error::missing_field`.
fn is_missing_field(error: &impl fmt::Display) -> bool {
    error.to_string().starts_with("missing field")
}

/// Reads a value and records its presence.
struct Present<'c, T> {
    is_there: &'c Cell<bool>,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Present<'_, T> {
    fn read<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        self.is_there.set(true);
        T::deserialize(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Present<'_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<T, D::Error> {
        self.read(inner)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<T, D::Error> {
        self.read(inner)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<T, E> {
        self.read(().into_deserializer())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<T, E> {
        self.read(().into_deserializer())
    }
}
