//! Calendar dates: conversion of days to years, months and days, and the text
//! of a moment.
//!
//! The calendar is always the Gregorian calendar, as in ISO 8601 and
//! JavaScript. The year 0 exists, and it is a leap year.
//!
//! Source: ECMAScript 2025, section 21.4.1.32 (Date Time String Format).

use std::fmt;

/// Writes a number of milliseconds since 1970 as a date, like JavaScript's
/// `toISOString`.
///
/// # Errors
/// Fails if the formatter fails.
pub fn write(milliseconds: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (year, month, day) = civil_from_days(milliseconds.div_euclid(MS_PER_DAY));
    let of_day = milliseconds.rem_euclid(MS_PER_DAY);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    put(&mut text[5..7], month);
    put(&mut text[8..10], day);
    put(&mut text[11..13], of_day / MS_PER_HOUR);
    put(&mut text[14..16], of_day / MS_PER_MINUTE % 60);
    put(&mut text[17..19], of_day / 1_000 % 60);
    put(&mut text[20..23], of_day % 1_000);
    let rest = if (0..=9_999).contains(&year) {
        put(&mut text[..4], year);
        &text[..]
    } else {
        write!(f, "{year:+07}")?;
        &text[4..]
    };
    f.write_str(str::from_utf8(rest).map_err(|_| fmt::Error)?)
}

/// Writes the digits of a number over a text of zeros, aligned to the right.
fn put(zeros: &mut [u8], mut number: i64) {
    for digit in zeros.iter_mut().rev() {
        // The remainder is a digit, because the number is never negative.
        *digit += u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

/// Reads a moment as milliseconds since 1970, for any year with up to six
/// digits.
///
/// Returns `None` if the text is not a date.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    let mut cursor = Cursor(text.as_bytes());
    let day = cursor.date()?;
    let of_day = if cursor.0.is_empty() {
        0
    } else {
        cursor.one_of(b"Tt")?;
        cursor.time()? - cursor.offset()?
    };
    cursor.0.is_empty().then_some(day * MS_PER_DAY + of_day)
}

/// The remaining text.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    /// Reads a date as days since 1970.
    fn date(&mut self) -> Option<i64> {
        let year = self.year()?;
        self.one_of(b"-")?;
        let month = self.number(2)?;
        self.one_of(b"-")?;
        let day = self.number(2)?;
        let is_there = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        is_there.then(|| days_from_civil(year, month, day))
    }

    /// Reads a year with four digits, or with a sign and six digits. The year 0
    /// must not have a minus sign.
    fn year(&mut self) -> Option<i64> {
        match self.one_of(b"+-") {
            None => self.number(4),
            Some(b'+') => self.number(6),
            Some(_) => self.number(6).filter(|year| *year != 0).map(|year| -year),
        }
    }

    /// Reads a time as milliseconds since midnight. Digits beyond milliseconds
    /// are dropped.
    fn time(&mut self) -> Option<i64> {
        let hour = self.number_below(24)?;
        self.one_of(b":")?;
        let minute = self.number_below(60)?;
        let mut milliseconds = hour * MS_PER_HOUR + minute * MS_PER_MINUTE;
        if self.one_of(b":").is_some() {
            milliseconds += self.number_below(60)? * 1_000;
            if self.one_of(b".").is_some() {
                milliseconds += self.fraction()?;
            }
        }
        Some(milliseconds)
    }

    /// Reads one or more digits after the point as milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        let mut milliseconds = self.number(1)? * 100;
        let mut unit = 10;
        while let Some(digit) = self.number(1) {
            milliseconds += digit * unit;
            unit /= 10;
        }
        Some(milliseconds)
    }

    /// Reads the offset from UTC in milliseconds.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hour = self.number_below(24)?;
        self.one_of(b":")?;
        let minute = self.number_below(60)?;
        Some(sign * (hour * MS_PER_HOUR + minute * MS_PER_MINUTE))
    }

    /// Reads the next byte if it is in `wanted`.
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    /// Reads exactly this number of digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (taken, rest) = self.0.split_at_checked(digits)?;
        let number = taken.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })?;
        self.0 = rest;
        Some(number)
    }

    fn number_below(&mut self, end: i64) -> Option<i64> {
        self.number(2).filter(|number| *number < end)
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

// In this arithmetic, a year begins in March as month 0. The leap day is then
// the last day of the year, and the month lengths repeat every five months.

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    days_before_year(year) + days_before_month(month) + day - 1 - DAYS_BEFORE_1970
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_BEFORE_1970;
    // The estimate is off by at most one, because a year has at most 366 days.
    let mut year = (days * 400).div_euclid(DAYS_PER_400_YEARS);
    if days < days_before_year(year) {
        year -= 1;
    } else if days >= days_before_year(year + 1) {
        year += 1;
    }
    let of_year = days - days_before_year(year);
    let month = (of_year * 5 + 2) / 153;
    let day = of_year - days_before_month(month) + 1;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

/// Returns the number of days from March 1 of the year 0 to March 1 of this
/// year.
fn days_before_year(year: i64) -> i64 {
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400)
}

/// Returns the number of days from March 1 to the first day of this month.
/// March is 0.
fn days_before_month(month: i64) -> i64 {
    (month * 153 + 2) / 5
}

const MS_PER_MINUTE: i64 = 60_000;
const MS_PER_HOUR: i64 = 3_600_000;
const MS_PER_DAY: i64 = 86_400_000;
const DAYS_PER_400_YEARS: i64 = 146_097;
/// The number of days from March 1 of the year 0 to January 1, 1970.
const DAYS_BEFORE_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_of_two_cycles_follows_the_previous_day() {
        let first = days_from_civil(-400, 1, 1);
        let (mut year, mut month, mut day) = (-400, 1, 1);
        for days in first..first + 2 * DAYS_PER_400_YEARS {
            assert_eq!(civil_from_days(days), (year, month, day));
            assert_eq!(days_from_civil(year, month, day), days);
            day += 1;
            if day > days_in(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (400, 1, 1));
    }

    #[test]
    fn the_estimate_of_a_year_holds_at_each_end_of_a_year() {
        for year in -272_000..=276_000 {
            let first = days_from_civil(year, 3, 1);
            assert_eq!(civil_from_days(first), (year, 3, 1));
            let last = first - 1;
            assert_eq!(civil_from_days(last), (year, 2, days_in(year, 2)));
        }
    }
}
