//! [`HasSchema`]: types that know what their JSON has to be.
//!
//! - here: the trait, and [`Unchecked`].
//! - `has_schema_impls`: the types of the standard library.
//! - `foreign_types`: the types of other crates, each behind a feature.
//!
//! Spec: Validation schemas.

use std::any::TypeId;
use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stockade_errors::ConfigError;

use crate::rule::Rule;
use crate::schema::Schema;

/// A type that knows the rule for its JSON.
///
/// With the feature `derive` it is written by `#[derive(Schema)]`. By hand:
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
/// A schema takes what serde reads a type from, and refuses the rest. `format`
/// in documents is that of the text which the type is written as: a type may
/// read more, such as a UUID in braces.
///
/// | Feature | Types | In JSON | `format` |
/// |---|---|---|---|
/// | | `bool`, integers, floats, `char`, `String`, `Box<str>`, `Rc<str>`, `Arc<str>`, `str`, `()` | as they are | |
/// | | `NonZero` of an integer, `Wrapping<T>`, `Saturating<T>`, `Reverse<T>`, `Box<T>`, `Rc<T>`, `Arc<T>`, `Cow<T>`, `&'static T`, `Option<T>` | as what they hold | |
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
/// A feature brings the crate and its serde, without the crate's default
/// features. Where a feature of such a crate changes what its serde reads, the
/// schema is that of the crate as it is without.
///
/// The crate `time` writes `2024-02-29 12:30:00.0 +00:00:00`. For the form of
/// RFC 3339 a field needs `#[serde(with = "time::serde::rfc3339")]` and
/// `#[schema(kind = "string", format = "date-time")]`.
///
/// Spec: Validation schemas.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "has no schema",
    note = "add `#[derive(Schema)]` to `{Self}`",
    note = "for a type of another crate, switch on the feature of that crate's name, such as `uuid` or `chrono`: the docs of `HasSchema` list them",
    note = "or on its field: `#[schema(with = path)]` with a function that gives the `Rule`, or `#[schema(opaque)]`, which takes what serde reads",
    note = "where it is no field, wrap it: `Unchecked<{Self}>`"
)]
pub trait HasSchema: 'static {
    /// The rule for a value of this type.
    ///
    /// A type that contains itself says [`Rule::of`] where it does.
    #[track_caller]
    fn rule() -> Rule;

    /// The rule where this type is a part of another: a reference for types
    /// with a name.
    #[doc(hidden)]
    #[track_caller]
    fn field_rule() -> Rule {
        Self::rule()
    }

    /// Returns the rule of what serde writes: [`field_rule`](Self::field_rule)
    /// turned to replies. [`Rule::in_replies`] says where the two differ.
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

    /// Reads a value from its texts without its schema, one text for a number and
    /// one for each element of a tuple: only for integers, whose bounds are all
    /// that their schema says. `None` for any other type, and for a text that is
    /// no such number; the schema has the words for that.
    ///
    /// A request with two numbers in its path takes 11,303 instructions by it, and
    /// 12,240 by the schema (thin LTO).
    #[doc(hidden)]
    #[must_use]
    fn from_plain_texts(texts: &mut dyn Iterator<Item = &str>) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = texts;
        None
    }

    /// The name in documents.
    #[doc(hidden)]
    #[must_use]
    fn schema_name() -> Cow<'static, str> {
        readable(std::any::type_name::<Self>()).into()
    }

    /// Returns true if the author of the type gave the name in documents.
    #[doc(hidden)]
    #[must_use]
    fn is_name_pinned() -> bool {
        false
    }

    /// The compiled schema. It is made anew by each call: keep it.
    ///
    /// # Errors
    /// When the schema cannot work: every mistake, with its field, file and
    /// line.
    #[track_caller]
    fn schema() -> Result<Schema, ConfigError>
    where
        Self: Sized,
    {
        built_for(Self::field_rule(), TypeId::of::<Self>())
    }

    /// Returns the compiled schema of what serde writes, for documents of
    /// replies.
    ///
    /// It follows serde's attributes for writing. A field that is always
    /// written is required, also one with a default.
    ///
    /// # Errors
    /// As [`schema`](Self::schema).
    #[track_caller]
    fn reply_schema() -> Result<Schema, ConfigError>
    where
        Self: Sized,
    {
        Self::reply_rule().build()
    }
}

/// Builds the schema of a type; it is compiled once, and not for each of them.
#[track_caller]
fn built_for(rule: Rule, type_id: TypeId) -> Result<Schema, ConfigError> {
    Ok(rule.build()?.for_type(type_id))
}

/// A value that serde alone reads; its schema allows everything, absence too.
///
/// For fields of types that have no schema.
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

/// The name of a type without paths and signs: `Page_User`.
fn readable(type_name: &str) -> String {
    let words = paths_of(type_name).map(|path| path.rsplit("::").next().unwrap_or(path));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// Returns the paths in the name of a type: its own and those of its arguments.
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
