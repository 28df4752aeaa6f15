//! Dates from the crate time.

use ::time::OffsetDateTime;

use crate::date::NS_PER_MS;
use crate::{Date, FromDate, SerializationError, ToDate};

impl ToDate for OffsetDateTime {
    fn to_date(&self) -> Result<Date, SerializationError> {
        Date::from_nanos(self.unix_timestamp_nanos())
    }
}

/// The result is in UTC.
impl FromDate for OffsetDateTime {
    fn from_date(date: Date) -> Result<Self, SerializationError> {
        Self::from_unix_timestamp_nanos(i128::from(date.as_millis()) * NS_PER_MS)
            .map_err(|_| SerializationError::DateOutOfRange)
    }
}
