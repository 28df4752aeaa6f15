//! Dates from the crate chrono.

use ::chrono::{DateTime, FixedOffset, TimeZone, Utc};

use crate::{Date, FromDate, SerializationError, ToDate};

/// A leap second counts as the following second.
impl<Tz: TimeZone> ToDate for DateTime<Tz> {
    fn to_date(&self) -> Result<Date, SerializationError> {
        Date::from_millis(self.timestamp_millis())
    }
}

impl FromDate for DateTime<Utc> {
    fn from_date(date: Date) -> Result<Self, SerializationError> {
        Self::from_timestamp_millis(date.as_millis()).ok_or(SerializationError::DateOutOfRange)
    }
}

/// The result is in UTC.
impl FromDate for DateTime<FixedOffset> {
    fn from_date(date: Date) -> Result<Self, SerializationError> {
        DateTime::<Utc>::from_date(date).map(|moment| moment.fixed_offset())
    }
}
