//! Formats times in UTC, in a form that sorts chronologically as text.
//!
//! The form is `2026-11-23T09:00:00.5+00:00`, without trailing zeros in the
//! fraction. `+` sorts before `.` and all digits, so a time without a fraction
//! sorts first. With `Z`, it would sort last. PostgreSQL writes the same form.

use std::fmt::Write as _;

use crate::format::Format;

/// Converts an RFC 3339 time to UTC. Returns `None` for other strings and for
/// years outside 0001 to 9999. A leap second becomes the first second of the
/// next minute.
pub(super) fn in_utc(text: &str) -> Option<String> {
    if !Format::DateTime.check(text) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let rest = text.get(19..)?;
    let offset_at = rest.find(['Z', 'z', '+', '-'])?;
    let (fraction, offset) = rest.split_at_checked(offset_at)?;
    let minutes = days(year, month, day) * MINUTES_PER_DAY + hour * 60 + minute;
    let minutes = minutes - offset_minutes(offset)? + second / 60;
    let (year, month, day) = date(minutes.div_euclid(MINUTES_PER_DAY));
    if !(1..=9999).contains(&year) {
        return None;
    }
    let (of_day, second) = (minutes.rem_euclid(MINUTES_PER_DAY), second % 60);
    let (hour, minute) = (of_day / 60, of_day % 60);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let mut utc = String::with_capacity(text.len() + 6);
    // Writing to a `String` cannot fail.
    let _ = write!(
        utc,
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}+00:00"
    );
    Some(utc)
}

const MINUTES_PER_DAY: i64 = 24 * 60;

fn offset_minutes(offset: &str) -> Option<i64> {
    let Some((hours, minutes)) = offset.get(1..)?.split_once(':') else { return Some(0) };
    let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
    Some(if offset.starts_with('-') { -minutes } else { minutes })
}

/// Returns the number of days from 1970-01-01 to a date.
///
/// Source: Hinnant, "chrono-Compatible Low-Level Date Algorithms",
/// `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970
}

/// Returns the date that is `days` days after 1970-01-01.
///
/// Source: `civil_from_days` in the same work as for [`days`].
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// The number of days in 400 years.
const DAYS_PER_ERA: i64 = 146_097;

/// The number of days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00+00:00"),
            ("2026-11-23t10:00:00.5000z", "2026-11-23T10:00:00.5+00:00"),
            ("2026-11-23T10:00:00.000-00:00", "2026-11-23T10:00:00+00:00"),
            ("2024-03-01T00:59:59+01:00", "2024-02-29T23:59:59+00:00"),
            ("2023-12-31T23:30:00-00:30", "2024-01-01T00:00:00+00:00"),
            ("2016-12-31T23:59:60.25Z", "2017-01-01T00:00:00.25+00:00"),
            ("2017-01-01T00:59:60+01:00", "2017-01-01T00:00:00+00:00"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
            ("9999-12-31T23:59:59.123456789012Z", "9999-12-31T23:59:59.123456789012+00:00"),
        ] {
            assert_eq!(in_utc(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "2024-02-30T00:00:00Z", "2024-02-29", "0000-01-01T00:00:00Z"] {
            assert_eq!(in_utc(text), None, "{text}");
        }
    }

    /// Compares every day with the calendar.
    #[test]
    fn days_agree_with_the_calendar() {
        let mut at = days(1, 1, 1);
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let text = format!("{year:04}-{month:02}-{day:02}");
                    if Format::Date.check(&text) {
                        assert_eq!(days(year, month, day), at, "{text}");
                        assert_eq!(date(at), (year, month, day), "{text}");
                        at += 1;
                    }
                }
            }
        }
        assert_eq!(days(1970, 1, 1), 0);
    }

    fn spelled() -> impl Strategy<Value = (i64, u32, String)> {
        let second = 0_i64..253_402_300_000;
        (second, 0_u32..1_000_000, -1_439_i64..=1_439, 0_usize..3).prop_map(
            |(second, micros, offset, zeros)| {
                let local = second + offset * 60;
                let (year, month, day) = date(local.div_euclid(86_400));
                let of_day = local.rem_euclid(86_400);
                let (hour, minute) = (of_day / 3_600, of_day / 60 % 60);
                let sign = if offset < 0 { '-' } else { '+' };
                let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
                let text = format!(
                    "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{micros:06}{}\
                     {sign}{hours:02}:{minutes:02}",
                    of_day % 60,
                    "0".repeat(zeros)
                );
                (second, micros, text)
            },
        )
    }

    proptest! {
        #[test]
        fn the_order_of_texts_is_the_order_of_times(one in spelled(), other in spelled()) {
            let (Some(left), Some(right)) = (in_utc(&one.2), in_utc(&other.2)) else {
                // The local year may be 10000 near the end of the calendar.
                return Err(TestCaseError::reject("not a time of RFC 3339"));
            };
            prop_assert_eq!(left.cmp(&right), (one.0, one.1).cmp(&(other.0, other.1)));
            prop_assert_eq!(in_utc(&left), Some(left));
        }
    }
}
