//! Language negotiation with `Accept-Language`.
//!
//! Source: RFC 9110, section 12.5.4; RFC 4647, section 3.4 (lookup).

use http::header::ACCEPT_LANGUAGE;
use http::{HeaderMap, HeaderValue};

use super::Languages;

/// The `Accept-Language` of a request. It is parsed only if an error occurs.
#[derive(Clone, Debug)]
pub(crate) struct AcceptLanguage {
    value: HeaderValue,
}

/// The maximum number of parsed ranges. A browser sends a few.
const MAX_RANGES: usize = 32;

/// The maximum length of a range, in bytes (RFC 5646, section 4.4.1).
const MAX_RANGE_BYTES: usize = 35;

impl AcceptLanguage {
    /// Copies the header of a request if the router has languages.
    #[inline]
    pub(crate) fn of(headers: &HeaderMap, languages: Option<&Languages>) -> Option<Box<Self>> {
        languages.and_then(|_| Self::copy(headers))
    }

    fn copy(headers: &HeaderMap) -> Option<Box<Self>> {
        let mut values = headers.get_all(ACCEPT_LANGUAGE).iter();
        let first = values.next()?;
        let mut value = first.clone();
        if let Some(second) = values.next() {
            let mut joined = first.as_bytes().to_vec();
            for more in std::iter::once(second).chain(values) {
                joined.push(b',');
                joined.extend_from_slice(more.as_bytes());
            }
            value = HeaderValue::from_bytes(&joined).ok()?;
        }
        Some(Box::new(Self { value }))
    }

    /// Returns the index of the best language, or 0, the default, if none
    /// matches.
    pub(crate) fn choose(&self, tags: &[String]) -> usize {
        // A value with other characters does not contain language tags.
        self.value.to_str().map_or(0, |value| choose(value, tags))
    }
}

/// A language range, and its quality in thousandths.
type Weighted<'v> = (&'v str, u16);

fn choose(value: &str, tags: &[String]) -> usize {
    let ranges = value.split(',').map(str::trim).filter(|range| !range.is_empty());
    let mut ranges: Vec<Weighted<'_>> = ranges.take(MAX_RANGES).filter_map(weighted).collect();
    // The sort is stable: the first of several ranges with equal quality wins.
    ranges.sort_by_key(|(_, quality)| std::cmp::Reverse(*quality));
    let is_refused = |tag: &str| {
        ranges.iter().any(|(range, quality)| *quality == 0 && range.eq_ignore_ascii_case(tag))
    };
    let wanted = ranges.iter().filter(|(_, quality)| *quality > 0);
    for (range, _) in wanted {
        let found = match *range {
            // Any language that the client does not reject. The default comes
            // first.
            "*" => tags.iter().position(|tag| !is_refused(tag)),
            range => look_up(range, tags).filter(|index| !is_refused(&tags[*index])),
        };
        if let Some(index) = found {
            return index;
        }
    }
    // No accepted language is available. The default is better than no text,
    // unless the client rejects it but not another language.
    tags.iter().position(|tag| !is_refused(tag)).unwrap_or(0)
}

/// Returns the language for a range: an exact match, or the longest matching
/// prefix.
fn look_up(range: &str, tags: &[String]) -> Option<usize> {
    let mut range = range;
    loop {
        if let Some(index) = tags.iter().position(|tag| tag.eq_ignore_ascii_case(range)) {
            return Some(index);
        }
        let (shorter, _) = range.rsplit_once('-')?;
        range = shorter;
        // A single letter introduces the subtag after it, so remove both.
        while let Some((before, last)) = range.rsplit_once('-')
            && last.len() == 1
        {
            range = before;
        }
    }
}

/// Parses a range with its quality. Returns `None` if it is malformed.
fn weighted(text: &str) -> Option<Weighted<'_>> {
    let (range, quality) = match text.split_once(';') {
        None => (text, 1_000),
        Some((range, weight)) => {
            let (name, value) = weight.trim().split_once('=')?;
            if !name.eq_ignore_ascii_case("q") {
                return None;
            }
            (range.trim_end(), quality(value)?)
        }
    };
    let is_subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_range =
        range == "*" || range.len() <= MAX_RANGE_BYTES && range.split('-').all(is_subtag);
    is_range.then_some((range, quality))
}

/// Parses a quality value as thousandths.
///
/// Source: RFC 9110, section 12.4.2.
fn quality(text: &str) -> Option<u16> {
    let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
    if digits.len() > 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let thousandths = format!("{digits:0<3}").parse().ok()?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expected: &str) {
        let tags = ["en", "de", "pt-BR", "zh-Hant"].map(str::to_owned);
        assert_eq!(tags[choose(value, &tags)], expected, "{value}");
    }

    #[test]
    fn looks_up_ranges_by_quality() {
        check("de", "de");
        check("DE-de", "de");
        check("de-DE-1996", "de");
        check("fr, de;q=0.5, en;q=0.4", "de");
        check("en;q=0.4, de;q=0.5", "de");
        check("de;q=0.5, en;q=0.5", "de");
        check("zh-Hant-CN-x-private1", "zh-Hant");
        check("zh-Hans", "en");
        check("pt-br", "pt-BR");
        // Lookup shortens only the range, never the tag.
        check("pt", "en");
        check("fr", "en");
        check("", "en");
        check(" , ,de", "de");
        check("de; q=0.001", "de");
    }

    #[test]
    fn wildcard_selects_the_first_acceptable_language() {
        check("*", "en");
        check("en;q=0, *", "de");
        check("fr, *;q=0.1", "en");
        check("en;q=0", "de");
        check("en;q=0, de;q=0, pt-BR;q=0, zh-Hant;q=0", "en");
        check("de;q=0, de-DE", "en");
        check("*;q=0", "en");
    }

    #[test]
    fn malformed_ranges_are_skipped() {
        for bad in [
            "de;q=2",
            "de;q=-1",
            "de;q=0.1234",
            "de;q=1.001",
            "de;q=",
            "de;x=1",
            "de;q",
            "de-",
            "-de",
            "d\u{e9}",
            "de_DE",
            "de;q=nan",
            "toolongsubtag-de",
            "d e",
            "de;;q=1",
            "0123456789-a",
        ] {
            check(bad, "en");
            check(&format!("{bad}, pt-BR;q=0.1"), "pt-BR");
        }
    }

    #[test]
    fn hostile_lists_are_bounded() {
        check(&format!("{}de", "fr,".repeat(100_000)), "en");
        check(&format!("{}de", "fr,".repeat(31)), "de");
        check(&"-a".repeat(50_000), "en");
        check(&"a-".repeat(50_000), "en");
        check(&",".repeat(100_000), "en");
        check(&"x-y-z-".repeat(5), "en");
    }
}
