//! Dates and times: RFC 3339, section 5.6, with the restrictions of section
//! 5.7.
//!
//! Second 60 is valid only at 23:59 UTC, on any day, because future leap
//! seconds are unknown. `T` or `t` separates the date from the time; a space is
//! invalid. The year 0000 is a leap year, as in ISO 8601.

/// Returns true if the text is a `full-date` and the month has that day.
pub(super) fn is_date(text: &str) -> bool {
    is_full_date(text.as_bytes())
}

/// Returns true if the text is a `full-time`: hours to seconds and an offset.
pub(super) fn is_time(text: &str) -> bool {
    is_full_time(text.as_bytes())
}

/// Returns true if the text is a `date-time`.
pub(super) fn is_date_time(text: &str) -> bool {
    matches!(
        text.as_bytes().split_at_checked(DATE_BYTES),
        Some((date, [b'T' | b't', time @ ..])) if is_full_date(date) && is_full_time(time)
    )
}

/// Returns true if the text is a `full-date` or a `date-time`.
pub(super) fn is_date_or_date_time(text: &str) -> bool {
    is_date(text) || is_date_time(text)
}

fn is_full_date(text: &[u8]) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
        return false;
    };
    let (Some(century), Some(year), Some(month), Some(day)) =
        (number(y1, y2), number(y3, y4), number(m1, m2), number(d1, d2))
    else {
        return false;
    };
    // A year that ends in 00 is a leap year if its century is divisible by
    // four.
    let is_leap = if year == 0 { century % 4 == 0 } else { year % 4 == 0 };
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_full_time(text: &[u8]) -> bool {
    let &[h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = text else {
        return false;
    };
    let (Some(minute_of_day), Some(second)) = (minutes(h1, h2, m1, m2), number(s1, s2)) else {
        return false;
    };
    let Some(offset) = without_fraction(rest).and_then(offset_minutes) else {
        return false;
    };
    match second {
        0..=59 => true,
        60 => (minute_of_day - offset).rem_euclid(MINUTES_PER_DAY) == MINUTES_PER_DAY - 1,
        _ => false,
    }
}

/// Returns the text after an optional `.` with at least one digit.
fn without_fraction(text: &[u8]) -> Option<&[u8]> {
    let [b'.', rest @ ..] = text else {
        return Some(text);
    };
    match rest.iter().position(|it| !it.is_ascii_digit())? {
        0 => None,
        digits => rest.get(digits..),
    }
}

/// Returns the offset of local time from UTC in minutes.
fn offset_minutes(text: &[u8]) -> Option<i32> {
    match *text {
        [b'Z' | b'z'] => Some(0),
        [b'+', h1, h2, b':', m1, m2] => minutes(h1, h2, m1, m2),
        [b'-', h1, h2, b':', m1, m2] => minutes(h1, h2, m1, m2).map(|it| -it),
        _ => None,
    }
}

/// Converts hours up to 23 and minutes up to 59 to minutes.
fn minutes(h1: u8, h2: u8, m1: u8, m2: u8) -> Option<i32> {
    let hours = number(h1, h2).filter(|it| *it < 24)?;
    let minutes = number(m1, m2).filter(|it| *it < 60)?;
    Some(hours * 60 + minutes)
}

fn number(tens: u8, ones: u8) -> Option<i32> {
    let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
    is_number.then(|| i32::from(tens - b'0') * 10 + i32::from(ones - b'0'))
}

const DATE_BYTES: usize = "2024-02-29".len();

const MINUTES_PER_DAY: i32 = 24 * 60;

#[cfg(test)]
mod tests;
