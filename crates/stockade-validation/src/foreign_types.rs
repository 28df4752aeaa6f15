//! [`HasSchema`] for types of other crates, each behind a feature with the name
//! of its crate.
//!
//! The type itself validates the text ([`TextForm`](crate::text_form)).
//! `format` describes the text that the type is written as. Formats outside
//! JSON Schema come from the OpenAPI format registry.

use crate::has_schema::HasSchema;
use crate::rule::Rule;

/// Types that are read only from text.
#[cfg(any(
    feature = "chrono",
    feature = "jiff",
    feature = "time",
    feature = "url",
    feature = "uuid"
))]
macro_rules! texts {
    ($($ty:ty => $format:expr, $message:literal;)*) => {
        $(impl HasSchema for $ty {
            fn rule() -> Rule {
                Rule::text_of::<Self>($format, $message)
            }
        })*
    };
}

/// Text types without a format, which have an example instead.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
macro_rules! shown_texts {
    ($($ty:ty => $example:literal, $message:literal;)*) => {
        $(impl HasSchema for $ty {
            fn rule() -> Rule {
                Rule::text_of::<Self>(None, $message).examples([$example])
            }
        })*
    };
}

#[cfg(feature = "uuid")]
texts! {
    uuid::Uuid => "uuid", "Invalid UUID format";
    uuid::NonNilUuid => "uuid", "Invalid UUID format";
}

#[cfg(feature = "url")]
texts! {
    url::Url => "uri", "Invalid URL format";
}

#[cfg(feature = "chrono")]
mod of_chrono {
    use chrono::{DateTime, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Weekday};
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::{HasSchema, Rule};

    texts! {
        NaiveDate => "date", "Invalid date";
        NaiveTime => "time-local", "Invalid time";
        NaiveDateTime => "date-time-local", "Invalid date-time";
    }

    shown_texts! {
        Month => "January", "Invalid month";
        Weekday => "Mon", "Invalid weekday";
    }

    impl<Z: TimeZone + 'static> HasSchema for DateTime<Z>
    where
        Self: DeserializeOwned + Serialize,
    {
        fn rule() -> Rule {
            Rule::text_of::<Self>("date-time", "Invalid date-time")
        }
    }

    /// Seconds, and nanoseconds of the next second.
    impl HasSchema for chrono::TimeDelta {
        fn rule() -> Rule {
            let (least, most) = (Self::MIN.num_seconds() - 1, Self::MAX.num_seconds());
            let seconds = Rule::integer().minimum(least).maximum(most);
            let nanoseconds = Rule::integer().minimum(0).maximum(999_999_999);
            Rule::tuple([seconds, nanoseconds])
        }
    }
}

#[cfg(feature = "jiff")]
mod of_jiff {
    use jiff::civil::{Date, DateTime, ISOWeekDate, Time};
    use jiff::{SignedDuration, Span, Timestamp, Zoned};

    use super::{HasSchema, Rule};

    texts! {
        Timestamp => "date-time", "Invalid date-time";
        Date => "date", "Invalid date";
        Time => "time-local", "Invalid time";
        DateTime => "date-time-local", "Invalid date-time";
        Span => "duration", "Invalid duration";
        SignedDuration => "duration", "Invalid duration";
    }

    shown_texts! {
        Zoned => "2024-02-29T12:30:00+01:00[Europe/Berlin]", "Invalid date-time";
        ISOWeekDate => "2024-W09-4", "Invalid date";
    }
}

#[cfg(feature = "time")]
mod of_time {
    use serde::de::DeserializeOwned;
    use serde::de::value::{Error, StrDeserializer};
    use serde::{Deserialize as _, Serialize};
    use serde_json::Value;
    use time::{
        Date, Month, OffsetDateTime, PlainDateTime, SignedDuration, Time, UtcDateTime, UtcOffset,
        Weekday,
    };

    use super::{HasSchema, Rule};

    texts! {
        Date => "date", "Invalid date";
    }

    // Their text is not in RFC 3339 format. serde also reads lists of numbers,
    // but only binary formats write them.
    shown_texts! {
        Time => "12:30:00.0", "Invalid time";
        PlainDateTime => "2024-02-29 12:30:00.0", "Invalid date-time";
        UtcDateTime => "2024-02-29 12:30:00.0", "Invalid date-time";
        UtcOffset => "+01:00:00", "Invalid offset";
        SignedDuration => "1.500000000", "Invalid duration";
    }

    /// The canonical form is the time in UTC, because texts with different
    /// offsets do not sort usefully.
    impl HasSchema for OffsetDateTime {
        fn rule() -> Rule {
            let rule = Rule::text_of::<Self>(None, "Invalid date-time").canonical(in_utc);
            rule.examples(["2024-02-29 12:30:00.0 +00:00:00"])
        }
    }

    fn in_utc(text: &str) -> Option<String> {
        let time = OffsetDateTime::deserialize(StrDeserializer::<Error>::new(text)).ok()?;
        match serde_json::to_value(time.checked_to_offset(UtcOffset::UTC)?) {
            Ok(Value::String(written)) => Some(written),
            _ => None,
        }
    }

    /// A name, or the number of the month.
    impl HasSchema for Month {
        fn rule() -> Rule {
            name_or_number::<Self>(12, "Invalid month").examples(["January"])
        }
    }

    /// A name, or the number of the day, starting with Monday.
    impl HasSchema for Weekday {
        fn rule() -> Rule {
            name_or_number::<Self>(7, "Invalid weekday").examples(["Monday"])
        }
    }

    /// Returns the rule for a value that is read as a name or a number and
    /// written as a name.
    fn name_or_number<T: DeserializeOwned + Serialize>(last: u8, message: &'static str) -> Rule {
        let rule = Rule::kinds(["string", "integer"]).form_of::<T>(None, message);
        rule.minimum(1).maximum(last).in_replies(Rule::text_of::<T>(None, message))
    }
}

/// Types that are also read from a number, within the range of the number type.
#[cfg(feature = "rust_decimal")]
impl HasSchema for rust_decimal::Decimal {
    fn rule() -> Rule {
        let rule = number_or_decimal::<Self>().minimum(-DECIMAL_MAX).maximum(DECIMAL_MAX);
        rule.in_replies(decimal::<Self>(Rule::string()))
    }
}

/// The largest `Decimal`, 2^96 - 1, is not representable as a float; this is
/// the next float below it.
#[cfg(feature = "rust_decimal")]
const DECIMAL_MAX: f64 = 79_228_162_514_264_328_797_450_928_128.0;

/// Also read from a number.
#[cfg(feature = "bigdecimal")]
impl HasSchema for bigdecimal::BigDecimal {
    fn rule() -> Rule {
        number_or_decimal::<Self>().in_replies(decimal::<Self>(Rule::string()))
    }
}

#[cfg(any(feature = "bigdecimal", feature = "rust_decimal"))]
fn number_or_decimal<T: serde::de::DeserializeOwned + serde::Serialize>() -> Rule {
    decimal::<T>(Rule::kinds(["string", "number"]))
}

#[cfg(any(feature = "bigdecimal", feature = "rust_decimal"))]
fn decimal<T: serde::de::DeserializeOwned + serde::Serialize>(rule: Rule) -> Rule {
    rule.form_of::<T>("decimal", "Invalid decimal")
}

/// serde reads the keys; the schema does not check them.
#[cfg(feature = "indexmap")]
impl<K: 'static, V: HasSchema, S: 'static> HasSchema for indexmap::IndexMap<K, V, S> {
    fn rule() -> Rule {
        Rule::map(V::field_rule())
    }
}

#[cfg(feature = "indexmap")]
impl<T: HasSchema, S: 'static> HasSchema for indexmap::IndexSet<T, S> {
    fn rule() -> Rule {
        Rule::array(T::field_rule()).unique_items()
    }
}

#[cfg(feature = "smallvec")]
impl<A: smallvec::Array + 'static> HasSchema for smallvec::SmallVec<A>
where
    A::Item: HasSchema,
{
    fn rule() -> Rule {
        Rule::array(A::Item::field_rule())
    }
}

/// Written as a list of numbers, and also read from text.
#[cfg(feature = "bytes")]
macro_rules! bytes {
    ($($ty:ty),*) => {
        $(impl HasSchema for $ty {
            fn rule() -> Rule {
                let rule = Rule::kinds(["array", "string"]).items(u8::field_rule());
                rule.in_replies(Rule::array(u8::field_rule()))
            }
        })*
    };
}

#[cfg(feature = "bytes")]
bytes!(bytes::Bytes, bytes::BytesMut);

#[cfg(feature = "secrecy")]
mod of_secrecy {
    use std::borrow::Cow;

    use secrecy::zeroize::Zeroize;
    use secrecy::{SecretBox, SecretString};

    use super::{HasSchema, Rule};

    impl HasSchema for SecretString {
        fn rule() -> Rule {
            Rule::string().read_as::<Self>("password", "Invalid text")
        }
    }

    impl<T: HasSchema + Zeroize> HasSchema for SecretBox<T> {
        fn rule() -> Rule {
            T::field_rule()
        }

        fn is_optional() -> bool {
            T::is_optional()
        }

        fn schema_name() -> Cow<'static, str> {
            T::schema_name()
        }
    }
}
