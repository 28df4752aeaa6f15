//! Dates: [`Date`], [`serialize_date`], [`deserialize_date`], and the
//! functions for `#[serde(with = "stockade::serialization::date")]`.
//!
//! ```
//! use std::time::SystemTime;
//!
//! #[derive(serde::Deserialize, serde::Serialize)]
//! struct Event {
//!     #[serde(with = "stockade::serialization::date")]
//!     at: SystemTime,
//!     #[serde(default, with = "stockade::serialization::date::option")]
//!     until: Option<SystemTime>,
//! }
//!
//! let text = r#"{"at":"2024-02-29T12:34:56.789Z","until":null}"#;
//! let event: Event = stockade::serde_json::from_str(text)?;
//! assert_eq!(stockade::serde_json::to_string(&event)?, text);
//! # Ok::<(), stockade::serde_json::Error>(())
//! ```
// Spec: Serialization helpers.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{self, Serialize, Serializer};

use crate::SerializationError;

/// Writes a date as ISO 8601 in UTC with milliseconds, like JavaScript's
/// `toISOString`.
///
/// Fractions of a millisecond are rounded down, toward the past. Years from 0
/// to 9999 have four digits. All other years have a sign and six digits.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use stockade::serialization::serialize_date;
///
/// assert_eq!(serialize_date(&SystemTime::UNIX_EPOCH)?, "1970-01-01T00:00:00.000Z");
/// let before = SystemTime::UNIX_EPOCH - Duration::from_nanos(1);
/// assert_eq!(serialize_date(&before)?, "1969-12-31T23:59:59.999Z");
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Returns [`DateOutOfRange`](SerializationError::DateOutOfRange) if the date
/// is more than 8.64e15 ms away from 1970. The limits are in the years -271821
/// and 275760.
// Spec: Serialization helpers.
pub fn serialize_date<D: ToDate + ?Sized>(date: &D) -> Result<String, SerializationError> {
    Ok(date.to_date()?.to_string())
}

/// Reads a date in ISO 8601.
///
/// # Beyond the spec
/// A date without a time is midnight in UTC. A time consists of hours and
/// minutes, optional seconds and an optional fraction. It must end with `Z` or
/// an offset such as `+02:00`, because otherwise it does not specify a moment.
/// Digits beyond milliseconds are dropped. `t` and `z` may be lower case. A
/// year has four digits, or a sign and six digits. Hour 24, second 60 and the
/// year `-000000` are rejected.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use stockade::serialization::deserialize_date;
///
/// let read: SystemTime = deserialize_date("1970-01-01T02:00:01.5+02:00")?;
/// assert_eq!(read, SystemTime::UNIX_EPOCH + Duration::from_millis(1_500));
/// assert!(deserialize_date::<SystemTime>("1970-02-30").is_err());
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// # Errors
/// Returns [`UnreadableDate`](SerializationError::UnreadableDate), a 400, if
/// the text is not such a date, or if JavaScript or `D` cannot represent it.
// Spec: Serialization helpers.
pub fn deserialize_date<D: FromDate>(text: &str) -> Result<D, SerializationError> {
    D::from_date(text.parse()?).map_err(|_| SerializationError::unreadable_date(text))
}

/// Writes a date, for `#[serde(with = "stockade::serialization::date")]`.
///
/// # Errors
/// Fails like [`serialize_date`], or if the serializer fails.
pub fn serialize<D, S>(date: &D, serializer: S) -> Result<S::Ok, S::Error>
where
    D: ToDate + ?Sized,
    S: Serializer,
{
    date.to_date().map_err(ser::Error::custom)?.serialize(serializer)
}

/// Reads a date, for `#[serde(with = "stockade::serialization::date")]`.
///
/// # Errors
/// Fails like [`deserialize_date`], or if the value is not a string.
pub fn deserialize<'de, D, S>(deserializer: S) -> Result<D, S::Error>
where
    D: FromDate,
    S: Deserializer<'de>,
{
    let date = Date::deserialize(deserializer)?;
    D::from_date(date).map_err(de::Error::custom)
}

/// Functions for a date or `null`, for `#[serde(with =
/// "stockade::serialization::date::option")]`.
pub mod option {
    use super::{
        Date, Deserialize, Deserializer, FromDate, Serialize, Serializer, ToDate, de, ser,
    };

    /// Writes a date, or `null` for `None`.
    ///
    /// # Errors
    /// Fails like [`serialize_date`](super::serialize_date), or if the
    /// serializer fails.
    pub fn serialize<D, S>(date: &Option<D>, serializer: S) -> Result<S::Ok, S::Error>
    where
        D: ToDate,
        S: Serializer,
    {
        let date = date.as_ref().map(ToDate::to_date).transpose();
        date.map_err(ser::Error::custom)?.serialize(serializer)
    }

    /// Reads a date, or `None` from `null`.
    ///
    /// # Errors
    /// Fails like [`deserialize_date`](super::deserialize_date), or if the
    /// value is neither a string nor `null`.
    pub fn deserialize<'de, D, S>(deserializer: S) -> Result<Option<D>, S::Error>
    where
        D: FromDate,
        S: Deserializer<'de>,
    {
        let date = Option::<Date>::deserialize(deserializer)?;
        date.map(D::from_date).transpose().map_err(de::Error::custom)
    }
}

/// A moment with the precision and range of JavaScript: whole milliseconds, at
/// most 8.64e15 away from 1970-01-01T00:00:00Z.
///
/// `Display` and `Serialize` write the text of [`serialize_date`]. `FromStr`
/// and `Deserialize` read the texts that [`deserialize_date`] accepts.
///
/// ```
/// use stockade::serialization::Date;
///
/// let date = Date::from_millis(-62_198_755_200_000)?;
/// assert_eq!(date.to_string(), "-000001-01-01T00:00:00.000Z");
/// assert_eq!("-000001-01-01".parse::<Date>()?, date);
/// # Ok::<(), stockade::serialization::SerializationError>(())
/// ```
///
/// Source: ECMAScript 2025, section 21.4.1.1 (Time Values and Time Range).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Date {
    /// Invariant: at most `MAX_MS` away from 0.
    milliseconds: i64,
}

impl Date {
    /// The last moment: +275760-09-13T00:00:00.000Z.
    pub const MAX: Self = Self { milliseconds: MAX_MS };
    /// The first moment: -271821-04-20T00:00:00.000Z.
    pub const MIN: Self = Self { milliseconds: -MAX_MS };

    /// Creates the moment this number of milliseconds after the start of 1970.
    ///
    /// # Errors
    /// Returns [`DateOutOfRange`](SerializationError::DateOutOfRange) above
    /// 8.64e15 and below -8.64e15.
    pub fn from_millis(milliseconds: i64) -> Result<Self, SerializationError> {
        if (-MAX_MS..=MAX_MS).contains(&milliseconds) {
            Ok(Self { milliseconds })
        } else {
            Err(SerializationError::DateOutOfRange)
        }
    }

    /// Returns the milliseconds since the start of 1970. Negative before 1970.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.milliseconds
    }

    /// Creates a moment from nanoseconds, rounded down to milliseconds.
    pub(crate) fn from_nanos(nanoseconds: i128) -> Result<Self, SerializationError> {
        let milliseconds = nanoseconds.div_euclid(NS_PER_MS);
        i64::try_from(milliseconds)
            .map_err(|_| SerializationError::DateOutOfRange)
            .and_then(Self::from_millis)
    }
}

const MAX_MS: i64 = 8_640_000_000_000_000;
pub(crate) const NS_PER_MS: i128 = 1_000_000;

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stockade_json::date::write(self.milliseconds, f)
    }
}

impl FromStr for Date {
    type Err = SerializationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        stockade_json::date::parse(text)
            .and_then(|milliseconds| Self::from_millis(milliseconds).ok())
            .ok_or_else(|| SerializationError::unreadable_date(text))
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DateVisitor)
    }
}

struct DateVisitor;

impl de::Visitor<'_> for DateVisitor {
    type Value = Date;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a date in ISO 8601")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Date, E> {
        text.parse().map_err(E::custom)
    }
}

/// A type that represents a moment.
///
/// [`Date`] and `SystemTime` implement it. With the features `jiff`, `chrono`
/// and `time`, `jiff::Timestamp`, `jiff::Zoned`, `chrono::DateTime` and
/// `time::OffsetDateTime` implement it too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a date",
    note = "dates are `SystemTime` and `Date`, and the types of jiff, chrono and time if the feature of that name is enabled"
)]
pub trait ToDate {
    /// Returns the moment, rounded down to milliseconds.
    ///
    /// # Errors
    /// Returns [`DateOutOfRange`](SerializationError::DateOutOfRange) if the
    /// moment is more than 8.64e15 ms away from 1970.
    fn to_date(&self) -> Result<Date, SerializationError>;
}

/// A type that can be created from a moment.
///
/// The types with [`ToDate`] implement it. Types with a time zone get UTC.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be created from a date",
    note = "dates are `SystemTime` and `Date`, and the types of jiff, chrono and time if the feature of that name is enabled"
)]
pub trait FromDate: Sized {
    /// Creates the value for this moment.
    ///
    /// # Errors
    /// Returns [`DateOutOfRange`](SerializationError::DateOutOfRange) if the
    /// type cannot represent the moment.
    fn from_date(date: Date) -> Result<Self, SerializationError>;
}

impl ToDate for Date {
    fn to_date(&self) -> Result<Date, SerializationError> {
        Ok(*self)
    }
}

impl FromDate for Date {
    fn from_date(date: Date) -> Result<Self, SerializationError> {
        Ok(date)
    }
}

impl ToDate for SystemTime {
    fn to_date(&self) -> Result<Date, SerializationError> {
        let nanoseconds = match self.duration_since(Self::UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()),
            Err(error) => i128::try_from(error.duration().as_nanos()).map(|before| -before),
        };
        nanoseconds.map_err(|_| SerializationError::DateOutOfRange).and_then(Date::from_nanos)
    }
}

impl FromDate for SystemTime {
    fn from_date(date: Date) -> Result<Self, SerializationError> {
        let distance = Duration::from_millis(date.milliseconds.unsigned_abs());
        let moment = if date.milliseconds < 0 {
            Self::UNIX_EPOCH.checked_sub(distance)
        } else {
            Self::UNIX_EPOCH.checked_add(distance)
        };
        moment.ok_or(SerializationError::DateOutOfRange)
    }
}
