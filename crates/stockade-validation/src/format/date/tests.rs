//! Dates and times at all boundaries, and against models.

use proptest::prelude::*;

use super::*;

#[test]
fn a_date_is_a_day_of_the_calendar() {
    for text in [
        "0000-01-01",
        "0000-02-29",
        "0001-01-01",
        "1582-10-10",
        "1600-02-29",
        "2000-02-29",
        "2024-02-29",
        "2023-02-28",
        "2023-04-30",
        "9999-12-31",
    ] {
        assert!(is_date(text), "{text:?}");
    }
    for text in [
        "",
        "-",
        "2023-02-29",
        "1900-02-29",
        "2100-02-29",
        "2024-02-30",
        "2023-04-31",
        "2023-00-01",
        "2023-13-01",
        "2023-01-00",
        "2023-01-32",
        "2023-1-01",
        "2023-01-1",
        "20230101",
        "2023-001",
        "2023-W01-1",
        "+2023-01-01",
        "12023-01-01",
        "-023-01-01",
        " 2023-01-01",
        "2023-01-01 ",
        "2023-01-01\n",
        "2023-01-01\0",
        "2023-01-01T",
        "2023/01/01",
        "2023-01-0１",
        "2023-01-0é",
        "20२3-01-01",
    ] {
        assert!(!is_date(text), "{text:?}");
    }
}

#[test]
fn a_time_has_an_offset() {
    for text in [
        "00:00:00Z",
        "23:59:59z",
        "12:34:56.7Z",
        "12:34:56.000000000000000000000000000001+00:00",
        "12:34:56-00:00",
        "12:34:56+23:59",
        "12:34:56-23:59",
    ] {
        assert!(is_time(text), "{text:?}");
    }
    for text in [
        "",
        "12:34:56",
        "12:34Z",
        "24:00:00Z",
        "24:00:00+01:00",
        "23:60:00Z",
        "12:34:61Z",
        "12:34:56.Z",
        "12:34:56.",
        "12:34:56.1",
        "12:34:56,1Z",
        "12:34:56.1.2Z",
        "12:34:56+24:00",
        "12:34:56+00:60",
        "12:34:56+01",
        "12:34:56+0100",
        "12:34:56+1:00",
        "12:34:56−01:00",
        "12:34:56 Z",
        "12:34:56ZZ",
        "12:34:56Z\n",
        "12:34:56Z\0",
        "T12:34:56Z",
        "12:34:5６Z",
    ] {
        assert!(!is_time(text), "{text:?}");
    }
}

#[test]
fn second_60_is_at_the_end_of_a_day_of_utc() {
    for text in [
        "23:59:60Z",
        "23:59:60.999Z",
        "23:59:60+00:00",
        "23:59:60-00:00",
        "00:59:60+01:00",
        "15:59:60-08:00",
        "05:29:60+05:30",
        "23:58:60+23:59",
        "00:00:60-23:59",
    ] {
        assert!(is_time(text), "{text:?}");
    }
    for text in ["00:00:60Z", "22:59:60Z", "23:58:60Z", "23:59:60+01:00", "24:59:60+01:00"] {
        assert!(!is_time(text), "{text:?}");
    }
}

#[test]
fn a_date_time_is_a_date_and_a_time() {
    for text in [
        "2024-02-29T00:00:00Z",
        "2024-02-29t00:00:00z",
        "1998-12-31T15:59:60.123-08:00",
        "1999-01-01T00:59:60+01:00",
    ] {
        assert!(is_date_time(text), "{text:?}");
    }
    for text in [
        "",
        "2024-02-29",
        "2024-02-29T",
        "T00:00:00Z",
        "2024-02-29 00:00:00Z",
        "2024-02-29_00:00:00Z",
        "2024-02-2900:00:00Z",
        "2023-02-29T00:00:00Z",
        "2024-02-29T00:00:00",
        "2024-02-29T24:00:00Z",
        "2024-02-29TT00:00:00Z",
        "2024-02-2éT00:00:00Z",
        "2024-02-é",
        "1708000000",
    ] {
        assert!(!is_date_time(text), "{text:?}");
    }
}

/// Walks the calendar day by day and checks every day of the format.
#[test]
fn dates_agree_with_the_calendar() {
    const DAYS: [i32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap = |year| year % 400 == 0 || year % 4 == 0 && year % 100 != 0;
    for year in (0..=400).chain(1890..=2110).chain(9_990..=9_999) {
        for month in 0..=13_i32 {
            let days = match usize::try_from(month - 1).ok().and_then(|at| DAYS.get(at)) {
                Some(28) if is_leap(year) => 29,
                Some(days) => *days,
                None => 0,
            };
            for day in 0..=33 {
                let text = format!("{year:04}-{month:02}-{day:02}");
                assert_eq!(is_date(&text), (1..=days).contains(&day), "{text:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn times_agree_with_their_numbers(
        hour in 0..26_i32, minute in 0..62_i32, second in 0..63_i32, fraction in "(\\.[0-9]{0,3})?",
        is_ahead: bool, hours in 0..26_i32, minutes in 0..62_i32,
    ) {
        let sign = if is_ahead { '+' } else { '-' };
        let text =
            format!("{hour:02}:{minute:02}:{second:02}{fraction}{sign}{hours:02}:{minutes:02}");
        let offset = (hours * 60 + minutes) * if is_ahead { 1 } else { -1 };
        let utc = (hour * 60 + minute - offset + 2 * 1_440) % 1_440;
        let expected = hour < 24 && minute < 60 && hours < 24 && minutes < 60
            && (second < 60 || second == 60 && utc == 1_439)
            && fraction != ".";
        prop_assert_eq!(is_time(&text), expected, "{}", text);
    }
}
