//! [`Range`]: the requested part of a file.
//!
//! Source: RFC 9110, sections 14.1.2 (byte ranges), 14.2 (Range) and 13.1.5
//! (If-Range).

use std::time::SystemTime;

use http::{HeaderMap, HeaderName, Method, header};
use stockade_core::headers::only;

use crate::ETag;

/// A range of bytes and its condition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct RangeRequest {
    range: ByteRange,
    condition: Option<Condition>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ByteRange {
    /// From this byte to the end.
    From(u64),
    /// From the first to the second byte, both included.
    Between(u64, u64),
    /// This many bytes at the end.
    Last(u64),
}

/// The value of `If-Range`.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Condition {
    Tag(ETag),
    Date(SystemTime),
    /// Neither a tag nor a date; never fulfilled.
    Malformed,
}

/// The bytes that are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Selected {
    /// The whole file.
    Whole,
    /// The bytes from `start` up to but not including `end`, at least one.
    Part { start: u64, end: u64 },
    /// The file does not have these bytes: 416.
    Unsatisfiable,
}

impl RangeRequest {
    /// Reads the range of a request. Returns `None` without a usable range.
    ///
    /// Only GET has ranges. Several ranges, a malformed range, or one with
    /// another unit are ignored, as RFC 9110 allows.
    pub(super) fn of(method: &Method, headers: &HeaderMap) -> Option<Self> {
        if *method != Method::GET {
            return None;
        }
        let range = ByteRange::parse(only_text(headers, &header::RANGE)?)?;
        let condition = headers.contains_key(header::IF_RANGE).then(|| {
            let condition = only_text(headers, &header::IF_RANGE).and_then(Condition::parse);
            condition.unwrap_or(Condition::Malformed)
        });
        Some(Self { range, condition })
    }

    /// Returns true if the client's state is the current one.
    ///
    /// Both comparisons are strong, so a weak tag never matches. `modified` is
    /// absent while the time is too recent to distinguish two states.
    pub(super) fn applies_to(&self, etag: Option<&ETag>, modified: Option<SystemTime>) -> bool {
        match &self.condition {
            None => true,
            Some(Condition::Tag(tag)) => etag.is_some_and(|etag| etag.matches_strongly(tag)),
            Some(Condition::Date(date)) => modified.is_some_and(|modified| modified == *date),
            Some(Condition::Malformed) => false,
        }
    }

    /// Selects the bytes in a file of this length.
    pub(super) fn select(&self, length: u64) -> Selected {
        let (start, end) = match self.range {
            ByteRange::From(start) => (start, length),
            ByteRange::Between(start, last) => (start, last.saturating_add(1).min(length)),
            ByteRange::Last(0) => return Selected::Unsatisfiable,
            // The end of an empty file is the whole file, without
            // `Content-Range`.
            ByteRange::Last(_) if length == 0 => return Selected::Whole,
            ByteRange::Last(count) => (length.saturating_sub(count), length),
        };
        if start < length { Selected::Part { start, end } } else { Selected::Unsatisfiable }
    }
}

impl ByteRange {
    fn parse(text: &str) -> Option<Self> {
        let (unit, set) = text.split_once('=')?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (first, last) = set.trim_matches([' ', '\t']).split_once('-')?;
        match (first, last) {
            ("", count) => number(count).map(Self::Last),
            (first, "") => number(first).map(Self::From),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::Between(first, last))
            }
        }
    }
}

/// Parses digits; a number beyond 64 bits is after the end of every file.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        let date = || httpdate::parse_http_date(text.trim()).ok().map(Self::Date);
        ETag::parse(text).map(Self::Tag).or_else(date)
    }
}

/// Returns the text of a header that appears exactly once.
fn only_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    only(headers, name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &Method, head: &[(HeaderName, &str)]) -> Option<RangeRequest> {
        let mut headers = HeaderMap::new();
        for (name, value) in head {
            headers.append(name, value.parse().unwrap());
        }
        RangeRequest::of(method, &headers)
    }

    #[track_caller]
    fn check(range: &str, length: u64, expected: Option<Selected>) {
        let read = read(&Method::GET, &[(header::RANGE, range)]);
        assert_eq!(read.map(|range| range.select(length)), expected, "{range} of {length}");
    }

    #[test]
    fn one_range_selects_a_part() {
        let part = |start, end| Some(Selected::Part { start, end });
        check("bytes=0-0", 10, part(0, 1));
        check("bytes=2-4", 10, part(2, 5));
        check("bytes=2-99", 10, part(2, 10));
        check("bytes=9-", 10, part(9, 10));
        check("BYTES= 0-1\t", 10, part(0, 2));
        check("bytes=-3", 10, part(7, 10));
        check("bytes=-99", 10, part(0, 10));
        check("bytes=0-18446744073709551615", 10, part(0, 10));
        check("bytes=0-99999999999999999999999", 10, part(0, 10));
    }

    #[test]
    fn a_range_beyond_the_end_is_unsatisfiable() {
        for range in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99999999999999999999-"] {
            check(range, 10, Some(Selected::Unsatisfiable));
        }
        check("bytes=0-", 0, Some(Selected::Unsatisfiable));
        check("bytes=-1", 0, Some(Selected::Whole));
    }

    #[test]
    fn ignores_other_ranges() {
        for range in [
            "bytes=0-1,3-4",
            "bytes=4-2",
            "bytes=-",
            "bytes=",
            "bytes",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=1 - 2",
            "bytes=--1",
            "lines=0-1",
            "",
        ] {
            check(range, 10, None);
        }
        let range = (header::RANGE, "bytes=0-1");
        assert_eq!(read(&Method::HEAD, std::slice::from_ref(&range)), None);
        assert_eq!(read(&Method::GET, &[range.clone(), range]), None);
    }

    #[test]
    fn if_range_requires_an_unchanged_file() {
        const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        let date = httpdate::parse_http_date(DATE).unwrap();
        let strong = ETag::new("1").unwrap();
        let weak = strong.clone().weak();
        let check = |conditions: &[&str], etag: &ETag, modified, expected| {
            let mut head = vec![(header::RANGE, "bytes=0-1")];
            head.extend(conditions.iter().map(|condition| (header::IF_RANGE, *condition)));
            let range = read(&Method::GET, &head).unwrap();
            assert_eq!(range.applies_to(Some(etag), modified), expected, "{conditions:?}");
        };
        check(&[], &strong, Some(date), true);
        check(&["\"1\""], &strong, Some(date), true);
        check(&["\"2\""], &strong, Some(date), false);
        check(&["\"1\""], &weak, Some(date), false);
        check(&["W/\"1\""], &strong, Some(date), false);
        check(&[DATE], &strong, Some(date), true);
        check(&[DATE], &strong, None, false);
        check(&[DATE], &strong, Some(date + std::time::Duration::from_secs(1)), false);
        check(&["yesterday"], &strong, Some(date), false);
        check(&["\"1\"", "\"1\""], &strong, Some(date), false);
    }
}
