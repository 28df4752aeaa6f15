//! [`Spelling`]: other spellings of the same path.
//!
//! The matcher compares raw paths. A program behind a route may decode its path
//! and then see the path of another route. These functions return the paths
//! that such a program can see.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::encoding::encoded;
use crate::{Segment, SegmentPart, Variant, variant};

/// The amount of decoding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Spelling {
    /// Only unreserved characters are decoded. All other characters that may be
    /// encoded are encoded with uppercase digits. The meaning of the path is
    /// unchanged.
    ///
    /// Source: RFC 3986, sections 6.2.2.1 and 6.2.2.2.
    Unreserved,
    /// Everything is decoded once.
    Once,
    /// Everything is decoded twice.
    Twice,
}

impl Spelling {
    /// All spellings, from the least to the most decoding.
    pub const ALL: [Self; 3] = [Self::Unreserved, Self::Once, Self::Twice];

    /// Returns a path, or a part of one, in this spelling.
    ///
    /// Malformed escapes are unchanged. `Once` and `Twice` also decode overlong
    /// UTF-8, and treat a backslash as a slash, because some programs do so.
    #[must_use]
    pub fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Unreserved => unreserved(text),
            Self::Once => decoded(text),
            Self::Twice => match decoded(text) {
                Cow::Borrowed(text) => Cow::Borrowed(text),
                Cow::Owned(once) => Cow::Owned(decoded(&once).into_owned()),
            },
        }
    }

    /// Returns a variant with its text in this spelling. Decoded slashes split
    /// segments.
    #[must_use]
    pub fn of_variant(self, variant: &Variant) -> Variant {
        respelled(variant, &|text| self.of(text))
    }
}

/// Returns a variant with [encoded] text.
#[must_use]
pub fn encoded_variant(variant: &Variant) -> Variant {
    respelled(variant, &encoded)
}

fn respelled(variant: &Variant, spell: &dyn Fn(&str) -> Cow<'_, str>) -> Variant {
    let segments = variant.segments().iter().flat_map(|segment| respelled_segment(segment, spell));
    variant.with_segments(segments.collect())
}

fn respelled_segment(segment: &Segment, spell: &dyn Fn(&str) -> Cow<'_, str>) -> Vec<Segment> {
    let parts = match segment {
        Segment::Literal(text) => &[SegmentPart::Literal(text.clone())][..],
        Segment::Parts(parts) => parts,
        Segment::Any | Segment::Rest => return vec![segment.clone()],
    };
    let mut segments = vec![Vec::new()];
    for part in parts {
        let SegmentPart::Literal(text) = part else {
            push(&mut segments, part.clone());
            continue;
        };
        for (index, text) in spell(text).split('/').enumerate() {
            if index > 0 {
                segments.push(Vec::new());
            }
            if !text.is_empty() {
                push(&mut segments, SegmentPart::Literal(text.to_owned()));
            }
        }
    }
    segments.into_iter().map(variant::segment_of).collect()
}

fn push(segments: &mut [Vec<SegmentPart>], part: SegmentPart) {
    if let Some(last) = segments.last_mut() {
        last.push(part);
    }
}

/// Returns a path without empty segments, `.` and `..`, as file systems and
/// many services read it. `..` never leads above the root.
#[must_use]
pub fn without_detours(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_open = false;
    for segment in path.split('/') {
        ends_open = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." => _ = kept.pop(),
            _ => kept.push(segment),
        }
    }
    if ends_open && !kept.is_empty() {
        kept.push("");
    }
    kept.join("/")
}

fn unreserved(text: &str) -> Cow<'_, str> {
    let changes = |bytes: &[u8]| match (escaped(bytes), bytes) {
        (Some(byte), [_, high, low, ..]) => {
            is_unreserved(byte) || high.is_ascii_lowercase() || low.is_ascii_lowercase()
        }
        _ => !bytes[0].is_ascii(),
    };
    let bytes = text.as_bytes();
    if (0..bytes.len()).all(|at| !changes(&bytes[at..])) {
        return Cow::Borrowed(text);
    }
    let mut spelled = String::with_capacity(text.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        match escaped(rest) {
            Some(byte) if is_unreserved(byte) => spelled.push(char::from(byte)),
            // Writing to a `String` cannot fail.
            Some(byte) => _ = write!(spelled, "%{byte:02X}"),
            None if first.is_ascii() => spelled.push(char::from(*first)),
            None => _ = write!(spelled, "%{first:02X}"),
        }
        rest = if escaped(rest).is_some() { &rest[3..] } else { after };
    }
    Cow::Owned(spelled)
}

fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '\\']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = escaped(rest);
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &rest[3..] } else { after };
    }
    let mut bytes = without_overlong(&bytes);
    bytes.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the decoded byte if the text starts with an escape.
fn escaped(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(*high)? << 4 | digit(*low)?;
    u8::try_from(value).ok()
}

/// Source: RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Replaces ASCII characters that are encoded in more than one byte. UTF-8
/// forbids them, but some decoders accept them.
fn without_overlong(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        if let Some((character, length)) = overlong(*first, after) {
            kept.push(character);
            rest = &after[length..];
        } else {
            kept.push(*first);
            rest = after;
        }
    }
    kept
}

/// Returns the ASCII character of an overlong sequence, and the number of bytes
/// after the first.
fn overlong(first: u8, after: &[u8]) -> Option<(u8, usize)> {
    let length = match first {
        0xC0..=0xDF => 1,
        0xE0..=0xEF => 2,
        0xF0..=0xF7 => 3,
        0xF8..=0xFB => 4,
        0xFC..=0xFD => 5,
        _ => return None,
    };
    let others = after.get(..length)?;
    let start = u32::from(first & (0x3F >> length));
    let value = others.iter().try_fold(start, |value, byte| {
        (byte & 0xC0 == 0x80).then_some(value << 6 | u32::from(byte & 0x3F))
    })?;
    u8::try_from(value).ok().filter(u8::is_ascii).map(|character| (character, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;

    #[test]
    fn unreserved_characters_are_decoded() {
        for (text, expected) in [
            ("/admin", "/admin"),
            ("/%61dmin/%2e%7E%2D%5f%39", "/admin/.~-_9"),
            ("/a%2fb%2Fc", "/a%2Fb%2Fc"),
            ("/a%40b%3a", "/a%40b%3A"),
            ("/caf%c3%a9", "/caf%C3%A9"),
            ("/caf\u{e9}", "/caf%C3%A9"),
            ("/%2561", "/%2561"),
            ("/100%", "/100%"),
            ("/%zz%6", "/%zz%6"),
        ] {
            assert_eq!(Spelling::Unreserved.of(text), expected, "{text}");
        }
    }

    #[test]
    fn everything_is_decoded_once_or_twice() {
        for (text, once, twice) in [
            ("/a b", "/a b", "/a b"),
            ("/%61%2f%5C%2e", "/a//.", "/a//."),
            ("/%2561%252F", "/%61%2F", "/a/"),
            ("/%25%36%31", "/%61", "/a"),
            ("/100%/%zz", "/100%/%zz", "/100%/%zz"),
            ("/caf%C3%a9", "/caf\u{e9}", "/caf\u{e9}"),
            ("/%ff", "/\u{fffd}", "/\u{fffd}"),
            ("/%c0%af%C1%a1", "//a", "//a"),
            ("/%e0%80%af%f0%80%80%ae", "//.", "//."),
            ("/%f8%80%80%81%a1%fc%80%80%80%80%af", "/a/", "/a/"),
            ("/%c0x", "/\u{fffd}x", "/\u{fffd}x"),
        ] {
            assert_eq!(Spelling::Once.of(text), once, "{text}");
            assert_eq!(Spelling::Twice.of(text), twice, "{text}");
        }
    }

    #[test]
    fn removes_dot_segments_and_empty_segments() {
        for (path, expected) in [
            ("a/b", "a/b"),
            ("a//b/", "a/b/"),
            ("/a/./b/.", "a/b/"),
            ("a/x/../b/..", "a/"),
            ("../../a", "a"),
            ("a/..", ""),
            ("", ""),
            ("...", "..."),
        ] {
            assert_eq!(without_detours(path), expected, "{path}");
        }
    }

    #[test]
    fn the_text_of_a_variant_is_decoded() {
        let shown = |path: &str, spelling: Spelling| -> Vec<String> {
            let variants = Pattern::parse(path).unwrap().variants();
            let show = |variant: &Variant| {
                spelling.of_variant(variant).segments().iter().map(|it| format!("/{it}")).collect()
            };
            variants.iter().map(show).collect()
        };
        assert_eq!(shown("/%61/b%2fc", Spelling::Unreserved), ["/a/b%2Fc"]);
        assert_eq!(shown("/%61/b%2fc/**", Spelling::Once), ["/a/b/c/**"]);
        assert_eq!(shown("/%2561/:x%2F-:y", Spelling::Twice), ["/a/:x/-:y"]);
        assert_eq!(shown("/x%2F:id?", Spelling::Once), ["/x/:id", "/x/"]);
        assert_eq!(shown("/:a(%41)%41", Spelling::Once), ["/:a(%41)A"]);
    }
}
