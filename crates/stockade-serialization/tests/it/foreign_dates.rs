//! Tests of dates from jiff, chrono and time, with the features of these names.

#[cfg(feature = "jiff")]
mod jiff {
    use jiff::{Timestamp, Zoned};
    use stockade_serialization::{deserialize_date, serialize_date};

    #[test]
    fn a_timestamp_is_a_date() {
        let date: Timestamp = "2024-02-29T12:34:56.7899Z".parse().unwrap();
        let text = serialize_date(&date).unwrap();
        assert_eq!(text, "2024-02-29T12:34:56.789Z");
        assert_eq!(deserialize_date::<Timestamp>(&text).unwrap(), text.parse().unwrap());
        assert!(deserialize_date::<Timestamp>("+010000-01-01").is_err());
    }

    #[test]
    fn a_zoned_time_is_a_date() {
        let date: Zoned = "2024-02-29T12:34:56.789+01:00[+01:00]".parse().unwrap();
        let text = serialize_date(&date).unwrap();
        assert_eq!(text, "2024-02-29T11:34:56.789Z");
        let back: Zoned = deserialize_date(&text).unwrap();
        assert_eq!(back.timestamp(), date.timestamp());
        assert_eq!(back.offset().seconds(), 0);
    }

    #[test]
    fn both_ends_of_jiff_are_dates() {
        for date in [Timestamp::MIN, Timestamp::MAX] {
            let back: Timestamp = deserialize_date(&serialize_date(&date).unwrap()).unwrap();
            let cut = date.as_nanosecond().div_euclid(1_000_000);
            assert_eq!(back.as_nanosecond(), cut * 1_000_000);
        }
    }
}

#[cfg(feature = "chrono")]
mod chrono {
    use chrono::{DateTime, FixedOffset, Utc};
    use stockade_serialization::{deserialize_date, serialize_date};

    #[test]
    fn a_date_time_is_a_date() {
        let date = DateTime::parse_from_rfc3339("2024-02-29T12:34:56.7899+01:00").unwrap();
        let text = serialize_date(&date).unwrap();
        assert_eq!(text, "2024-02-29T11:34:56.789Z");
        assert_eq!(serialize_date(&date.to_utc()).unwrap(), text);
        let back: DateTime<Utc> = deserialize_date(&text).unwrap();
        assert_eq!(back.timestamp_millis(), date.timestamp_millis());
        let back: DateTime<FixedOffset> = deserialize_date(&text).unwrap();
        assert_eq!(back.offset().local_minus_utc(), 0);
    }

    #[test]
    fn both_ends_of_chrono_are_dates() {
        for date in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
            let back: DateTime<Utc> = deserialize_date(&serialize_date(&date).unwrap()).unwrap();
            assert_eq!(back.timestamp_millis(), date.timestamp_millis());
        }
        assert!(deserialize_date::<DateTime<Utc>>("+275760-01-01").is_err());
    }

    #[test]
    fn rounds_down_before_1970() {
        let date = DateTime::<Utc>::from_timestamp(-1, 999_999_999).unwrap();
        assert_eq!(serialize_date(&date).unwrap(), "1969-12-31T23:59:59.999Z");
    }
}

#[cfg(feature = "time")]
mod time {
    use stockade_serialization::{deserialize_date, serialize_date};
    use time::{Duration, OffsetDateTime, UtcOffset};

    #[test]
    fn an_offset_date_time_is_a_date() {
        let date = OffsetDateTime::UNIX_EPOCH - Duration::nanoseconds(1);
        let date = date.to_offset(UtcOffset::from_hms(5, 30, 0).unwrap());
        let text = serialize_date(&date).unwrap();
        assert_eq!(text, "1969-12-31T23:59:59.999Z");
        let back: OffsetDateTime = deserialize_date(&text).unwrap();
        assert_eq!(back, OffsetDateTime::UNIX_EPOCH - Duration::milliseconds(1));
        assert!(back.offset().is_utc());
        assert!(deserialize_date::<OffsetDateTime>("+275760-01-01").is_err());
    }
}
