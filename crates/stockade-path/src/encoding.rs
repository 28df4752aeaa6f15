//! [`encoded`], which returns text in the form used for matching, and
//! [`EncodedPath`], a request path in this form.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::Spans;

/// Returns a path in the form that requests use: non-ASCII characters are
/// percent-encoded as UTF-8, and escapes have uppercase hexadecimal digits.
///
/// Everything else is unchanged, so `%61` does not become `a`.
///
/// ```
/// use stockade::path::encoded;
///
/// assert_eq!(encoded("café"), "caf%C3%A9");
/// assert_eq!(encoded("a%2fb"), "a%2Fb");
/// ```
///
/// Source: RFC 3986, sections 2.1, 2.5 and 6.2.2.1.
#[must_use]
pub fn encoded(text: &str) -> Cow<'_, str> {
    if is_encoded(text) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() * 3);
    for part in parts(text) {
        part.write(&mut encoded);
    }
    Cow::Owned(encoded)
}

/// Returns true if [`encoded`] returns the text unchanged.
fn is_encoded(text: &str) -> bool {
    text.is_ascii()
        && text.split('%').skip(1).all(|after| {
            let digits = after.as_bytes().first_chunk();
            digits
                .is_none_or(|digits| !is_escape(*digits) || digits.iter().copied().all(is_capital))
        })
}

fn is_escape(digits: [u8; 2]) -> bool {
    digits.iter().all(u8::is_ascii_hexdigit)
}

fn is_capital(digit: u8) -> bool {
    !digit.is_ascii_lowercase()
}

/// A unit of text that is encoded as a whole.
enum Part {
    /// An unchanged byte.
    Plain(u8),
    /// A non-ASCII byte.
    Raw(u8),
    /// The digits of an escape.
    Escape([u8; 2]),
}

impl Part {
    /// Returns the number of bytes in the original text.
    fn len(&self) -> usize {
        match self {
            Self::Plain(_) | Self::Raw(_) => 1,
            Self::Escape(_) => "%00".len(),
        }
    }

    fn write(&self, to: &mut String) {
        match self {
            Self::Plain(byte) => to.push(char::from(*byte)),
            // Writing to a `String` cannot fail.
            Self::Raw(byte) => _ = write!(to, "%{byte:02X}"),
            Self::Escape(digits) => {
                to.push('%');
                to.extend(digits.iter().map(|digit| char::from(digit.to_ascii_uppercase())));
            }
        }
    }
}

fn parts(text: &str) -> impl Iterator<Item = Part> + '_ {
    let mut rest = text.as_bytes();
    std::iter::from_fn(move || {
        let (first, after) = rest.split_first()?;
        let part = match (first, after.first_chunk()) {
            (b'%', Some(digits)) if is_escape(*digits) => Part::Escape(*digits),
            (byte, _) if byte.is_ascii() => Part::Plain(*byte),
            (byte, _) => Part::Raw(*byte),
        };
        rest = &rest[part.len()..];
        Some(part)
    })
}

/// The encoded path of a request, and the corresponding positions in the
/// original path.
#[derive(Debug)]
pub struct EncodedPath<'p> {
    sent: &'p str,
    text: String,
    /// The position in `sent` for each byte of `text` and for its end. `None`
    /// inside an encoded part.
    origins: Vec<Option<u16>>,
}

impl<'p> EncodedPath<'p> {
    /// Encodes a path. Returns `None` if the path is already encoded, or too
    /// long for any route.
    #[must_use]
    pub fn of(sent: &'p str) -> Option<Self> {
        if is_encoded(sent) || sent.len() > usize::from(u16::MAX) {
            return None;
        }
        let (mut text, mut origins) = (String::with_capacity(sent.len() * 3), Vec::new());
        let mut at: usize = 0;
        for part in parts(sent) {
            origins.push(u16::try_from(at).ok());
            part.write(&mut text);
            origins.resize(text.len(), None);
            at += part.len();
        }
        origins.push(u16::try_from(at).ok());
        Some(Self { sent, text, origins })
    }

    /// Returns the encoded path.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Converts ranges of the encoded path to ranges of the original path.
    /// Returns `None` if a range begins or ends within an encoded character,
    /// because an expression matched only a part of it.
    #[must_use]
    pub fn origins(&self, spans: &Spans) -> Option<Spans> {
        let origin = |at: u16| {
            let at = (*self.origins.get(usize::from(at))?)?;
            self.sent.is_char_boundary(usize::from(at)).then_some(at)
        };
        let mut sent = Spans::new();
        for (start, end) in spans.iter() {
            sent.push(origin(start)?, origin(end)?);
        }
        Some(sent)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn encodes_non_ascii_text_and_lowercase_escapes() {
        for (text, expected) in [
            ("", ""),
            ("/plain-._~:@*", "/plain-._~:@*"),
            ("/caf\u{e9}", "/caf%C3%A9"),
            ("/caf%c3%A9", "/caf%C3%A9"),
            ("/e\u{301}", "/e%CC%81"),
            ("/%61%2f", "/%61%2F"),
            ("/100%/%zz%c", "/100%/%zz%c"),
            ("/%%c3", "/%%C3"),
            ("/%c\u{e9}", "/%c%C3%A9"),
        ] {
            assert_eq!(encoded(text), expected, "{text}");
            assert_eq!(encoded(&encoded(text)), expected, "{text}");
        }
    }

    #[test]
    fn ranges_map_to_the_original_path() {
        let sent = "/\u{e9}/%c3%a9x/y";
        let path = EncodedPath::of(sent).unwrap();
        assert_eq!(path.text(), "/%C3%A9/%C3%A9x/y");
        let spans = |ranges: &[(u16, u16)]| {
            let mut spans = Spans::new();
            ranges.iter().for_each(|(start, end)| spans.push(*start, *end));
            path.origins(&spans).map(|spans| spans.iter().collect::<Vec<_>>())
        };
        assert_eq!(spans(&[(1, 7), (8, 15), (16, 17)]), Some(vec![(1, 3), (4, 11), (12, 13)]));
        // Inside a character, inside an escape, and past the end.
        assert_eq!(spans(&[(4, 7)]), None);
        assert_eq!(spans(&[(9, 14)]), None);
        assert_eq!(spans(&[(16, 18)]), None);
        assert!(EncodedPath::of("/caf%C3%A9").is_none());
        assert!(EncodedPath::of(&"\u{e9}".repeat(40_000)).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn every_part_maps_to_its_original_position(path in "[/a%2fFzé\u{301}]{0,12}") {
            let whole = encoded(&path);
            prop_assert!(is_encoded(&whole));
            prop_assert_eq!(is_encoded(&path), whole == path);
            if let Some(found) = EncodedPath::of(&path) {
                prop_assert_eq!(found.text(), &*whole);
                let known: Vec<usize> = found.origins.iter().flatten().map(|at| usize::from(*at)).collect();
                prop_assert!(known.is_sorted());
                prop_assert_eq!(known.last(), Some(&path.len()));
            }
        }
    }
}
