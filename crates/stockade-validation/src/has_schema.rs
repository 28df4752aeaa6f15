//! [`HasSchema`]: types that provide a schema for their JSON.
//!
//! - here: the trait, and [`Unchecked`].
//! - `has_schema_impls`: the types of the standard library.
//! - `foreign_types`: the types of other crates, each behind a feature.
// Spec: Validation schemas.

use std::any::TypeId;
use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stockade_errors::ConfigError;

use crate::rule::Rule;
use crate::schema::Schema;

/// A type with a rule for its JSON.
///
/// `#[derive(Schema)]` implements it with the feature `derive`. You can also
/// implement it by hand:
///
/// ```
/// use serde_json::json;
/// use stockade_validation::{HasSchema, Rule, ValidationOptions};
///
/// struct Even(u64);
///
/// impl HasSchema for Even {
///     fn rule() -> Rule {
///         u64::rule().custom(|value, _, _| value.as_u64().is_some_and(|n| n % 2 == 0))
///     }
/// }
///
/// let schema = Vec::<Even>::schema()?;
/// let errors = schema.check(&json!([2, 3]), &ValidationOptions::new())?;
/// assert_eq!(errors[0].message, "[1] is invalid");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Types that have it
///
/// A schema accepts the JSON that serde reads the type from, and rejects
/// everything else. `format` in documents describes the text that the type is
/// written as. A type may read more texts, such as a UUID in braces.
///
/// | Feature | Types | In JSON | `format` |
/// |---|---|---|---|
/// | | `bool`, integers, floats, `char`, `String`, `Box<str>`, `Rc<str>`, `Arc<str>`, `str`, `()` | as they are | |
/// | | `NonZero` of an integer, `Wrapping<T>`, `Saturating<T>`, `Reverse<T>`, `Box<T>`, `Rc<T>`, `Arc<T>`, `Cow<T>`, `&'static T`, `Option<T>` | same as their content | |
/// | | lists, slices, sets, arrays, maps and tuples | arrays and objects | |
/// | | `Ipv4Addr`, `Ipv6Addr` | a string | `ipv4`, `ipv6` |
/// | | `IpAddr`, `SocketAddr`, `SocketAddrV4`, `SocketAddrV6`, `PathBuf`, `Box<Path>` | a string | |
/// | | `Duration`, `SystemTime` | an object of seconds and nanoseconds | |
/// | | `Range`, `RangeInclusive`, `RangeFrom`, `RangeTo` | an object with `start` and `end` | |
/// | | `serde_json::Value`, `serde_json::Map` | anything, any object | |
/// | `bigdecimal` | `BigDecimal` | a string or a number | `decimal` |
/// | `bytes` | `Bytes`, `BytesMut` | an array of bytes, or a string | |
/// | `chrono` | `DateTime` of any zone | a string | `date-time` |
/// | | `NaiveDate`, `NaiveTime`, `NaiveDateTime` | a string | `date`, `time-local`, `date-time-local` |
/// | | `Month`, `Weekday` | a string | |
/// | | `TimeDelta` | an array of seconds and nanoseconds | |
/// | `indexmap` | `IndexMap`, `IndexSet` | an object, an array | |
/// | `jiff` | `Timestamp` | a string | `date-time` |
/// | | `Date`, `Time`, `DateTime` of `civil` | a string | `date`, `time-local`, `date-time-local` |
/// | | `Span`, `SignedDuration` | a string | `duration` |
/// | | `Zoned`, `civil::ISOWeekDate` | a string | |
/// | `rust_decimal` | `Decimal` | a string or a number | `decimal` |
/// | `secrecy` | `SecretString`, `SecretBox<T>` | a string, as `T` | `password` |
/// | `smallvec` | `SmallVec` | an array | |
/// | `time` | `Date` | a string | `date` |
/// | | `Time`, `PrimitiveDateTime`, `OffsetDateTime`, `UtcDateTime`, `UtcOffset`, `Duration` | a string of that crate's own form | |
/// | | `Month`, `Weekday` | a string, or a number | |
/// | `url` | `Url` | a string | `uri` |
/// | `uuid` | `Uuid`, `NonNilUuid` | a string | `uuid` |
///
/// A feature enables the crate and its serde support, without the crate's
/// default features. If a feature of such a crate changes the JSON that its
/// serde support reads, the schema still describes the crate without this
/// feature.
///
/// The crate `time` writes `2024-02-29 12:30:00.0 +00:00:00`. For the RFC 3339
/// format, a field needs `#[serde(with = "time::serde::rfc3339")]` and
/// `#[schema(kind = "string", format = "date-time")]`.
// Spec: Validation schemas.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "has no schema",
    note = "add `#[derive(Schema)]` to `{Self}`",
    note = "for a type of another crate, enable the feature named after that crate, such as `uuid` or `chrono`: the docs of `HasSchema` list the features",
    note = "or annotate the field: `#[schema(with = path)]` with a function that returns the `Rule`, or `#[schema(opaque)]`, which accepts any value that serde reads",
    note = "if the type is not used in a field, wrap it: `Unchecked<{Self}>`"
)]
pub trait HasSchema: 'static {
    /// Returns the rule for a value of this type.
    ///
    /// A recursive type uses [`Rule::of`] for references to itself.
    #[track_caller]
    fn rule() -> Rule;

    /// Returns the rule for this type as a part of another type: a reference
    /// for named types.
    #[doc(hidden)]
    #[track_caller]
    fn field_rule() -> Rule {
        Self::rule()
    }

    /// Returns the rule for the value that serde writes:
    /// [`field_rule`](Self::field_rule) turned to responses.
    /// [`Rule::in_replies`] defines the differences.
    #[doc(hidden)]
    #[track_caller]
    fn reply_rule() -> Rule {
        Self::field_rule().for_replies()
    }

    /// Returns true if a property of this type may be absent.
    #[doc(hidden)]
    #[must_use]
    fn is_optional() -> bool {
        false
    }

    /// Reads a value from its texts without its schema: one text for a number,
    /// and one per element for a tuple. Only integers support this, because
    /// their schema contains only bounds. Returns `None` for any other type and
    /// for an invalid number; the schema then reports the error.
    ///
    /// A request with two numbers in its path takes 11,303 instructions this
    /// way, and 12,240 with the schema (thin LTO).
    #[doc(hidden)]
    #[must_use]
    fn from_plain_texts(texts: &mut dyn Iterator<Item = &str>) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = texts;
        None
    }

    /// Returns the name in documents.
    #[doc(hidden)]
    #[must_use]
    fn schema_name() -> Cow<'static, str> {
        readable(std::any::type_name::<Self>()).into()
    }

    /// Returns true if the author of the type set the name in documents.
    #[doc(hidden)]
    #[must_use]
    fn is_name_pinned() -> bool {
        false
    }

    /// Returns the compiled schema. Each call compiles it again, so store the
    /// result.
    ///
    /// # Errors
    /// Fails if the schema is invalid. The error lists every configuration
    /// error with its field, file and line.
    #[track_caller]
    fn schema() -> Result<Schema, ConfigError>
    where
        Self: Sized,
    {
        built_for(Self::field_rule(), TypeId::of::<Self>())
    }

    /// Returns the compiled schema of the JSON that serde writes, for documents
    /// of responses.
    ///
    /// It follows serde's attributes for writing. A field that is always
    /// written is required, even if it has a default.
    ///
    /// # Errors
    /// See [`schema`](Self::schema).
    #[track_caller]
    fn reply_schema() -> Result<Schema, ConfigError>
    where
        Self: Sized,
    {
        Self::reply_rule().build()
    }
}

/// Builds the schema of a type. This function is compiled only once, rather
/// than for each type.
#[track_caller]
fn built_for(rule: Rule, type_id: TypeId) -> Result<Schema, ConfigError> {
    Ok(rule.build()?.for_type(type_id))
}

/// A value that only serde reads. Its schema allows everything, including
/// absence.
///
/// Use it for fields of types without a schema.
///
/// ```
/// use stockade_validation::Unchecked;
///
/// let port: Unchecked<std::net::SocketAddr> = serde_json::from_str(r#""127.0.0.1:80""#)?;
/// assert_eq!(port.0.port(), 80);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Unchecked<T>(pub T);

impl<T: 'static> HasSchema for Unchecked<T> {
    fn rule() -> Rule {
        Rule::any()
    }

    fn is_optional() -> bool {
        true
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Unchecked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

impl<T: Serialize> Serialize for Unchecked<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Returns the name of a type without paths and punctuation: `Page_User`.
fn readable(type_name: &str) -> String {
    let words = paths_of(type_name).map(|path| path.rsplit("::").next().unwrap_or(path));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// Returns the paths in a type name: the path of the type and the paths of its
/// arguments.
pub(crate) fn paths_of(type_name: &str) -> impl Iterator<Item = &str> {
    type_name.split(|char: char| !char.is_alphanumeric() && char != '_' && char != ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable() {
        for (type_name, expected) in [
            ("app::User", "User"),
            ("app::Page<app::user::User>", "Page_User"),
            ("app::Pair<(alloc::string::String, [u8; 4])>", "Pair_String_u8_4"),
            ("app::main::{{closure}}::Inner", "closure_Inner"),
        ] {
            assert_eq!(readable(type_name), expected);
        }
    }
}
