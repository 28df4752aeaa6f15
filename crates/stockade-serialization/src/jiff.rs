//! Dates from the crate jiff.

use ::jiff::tz::TimeZone;
use ::jiff::{Timestamp, Zoned};

use crate::date::NS_PER_MS;
use crate::{Date, FromDate, SerializationError, ToDate};

impl ToDate for Timestamp {
    fn to_date(&self) -> Result<Date, SerializationError> {
        Date::from_nanos(self.as_nanosecond())
    }
}

impl FromDate for Timestamp {
    fn from_date(date: Date) -> Result<Self, SerializationError> {
        // `Timestamp::from_millisecond` rejects the last second of a
        // `Timestamp`.
        Self::from_nanosecond(i128::from(date.as_millis()) * NS_PER_MS)
            .map_err(|_| SerializationError::DateOutOfRange)
    }
}

impl ToDate for Zoned {
    fn to_date(&self) -> Result<Date, SerializationError> {
        self.timestamp().to_date()
    }
}

/// The result is in UTC.
impl FromDate for Zoned {
    fn from_date(date: Date) -> Result<Self, SerializationError> {
        Timestamp::from_date(date).map(|timestamp| timestamp.to_zoned(TimeZone::UTC))
    }
}
