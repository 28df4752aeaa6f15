//! [`ETag`]: an entity tag, which identifies one state of a resource.
//!
//! Source: RFC 9110, section 8.8.3 (ETag).

use std::fmt;

#[cfg(feature = "compression")]
use http::HeaderValue;
use ring::digest::{Context, SHA256};

/// An entity tag, strong or weak.
///
/// ```
/// use stockade::middleware::ETag;
///
/// let tag = ETag::parse("W/\"7\"").expect("an entity tag");
/// assert!(tag.is_weak());
/// assert_eq!(tag.to_string(), "W/\"7\"");
/// assert_eq!(ETag::parse("7"), None);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ETag {
    is_weak: bool,
    /// The text without its quotes.
    ///
    /// Invariant: visible ASCII characters without quotes.
    opaque: Box<str>,
}

impl ETag {
    /// Creates the strong tag of these bytes: 32 hexadecimal digits, half of a
    /// SHA-256. The same bytes have the same tag in every process.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_parts(&[bytes])
    }

    /// Creates the strong tag of bytes in several pieces.
    pub(super) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        for part in parts {
            context.update(part);
        }
        let digest = context.finish();
        let half = digest.as_ref().iter().take(16).copied();
        Self { is_weak: false, opaque: hex::encode(half.collect::<Vec<u8>>()).into() }
    }

    /// Creates a strong tag with this text, such as a version number. Returns
    /// `None` if the text has a quote or a character other than visible ASCII.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
        text.bytes().all(allowed).then(|| Self { is_weak: false, opaque: text.into() })
    }

    /// Makes the tag weak: different bytes with the same meaning may share it.
    #[must_use]
    pub fn weak(mut self) -> Self {
        self.is_weak = true;
        self
    }

    /// Parses one tag as it appears in a header.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match split_first(text.trim().as_bytes())? {
            (tag, b"") => tag,
            _ => None,
        }
    }

    /// Returns true if the tag is weak.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }

    /// Returns true if both tags are strong and equal.
    #[must_use]
    pub fn matches_strongly(&self, other: &Self) -> bool {
        !self.is_weak && !other.is_weak && self.opaque == other.opaque
    }

    /// Returns true if both tags have the same text.
    #[must_use]
    pub fn matches_weakly(&self, other: &Self) -> bool {
        self.opaque == other.opaque
    }

    /// Returns the tags of a list up to the first malformed element. A missing comma between
    /// two tags is not an error.
    pub(super) fn list(list: &[u8]) -> Vec<Self> {
        ListOfTags::read(list).tags
    }

    /// Returns the tags of a list, or `None` if the list is empty or malformed.
    pub(super) fn strict_list(list: &[u8]) -> Option<Vec<Self>> {
        let list = ListOfTags::read(list);
        (list.is_valid && !list.is_empty).then_some(list.tags)
    }
}

/// The elements of a list of entity tags.
struct ListOfTags {
    /// The tags, except tags with non-ASCII characters. These are valid, but
    /// never equal one of our tags.
    tags: Vec<ETag>,
    is_empty: bool,
    is_valid: bool,
}

impl ListOfTags {
    /// Reads a list up to the first malformed element.
    ///
    /// Source: RFC 9110, sections 5.6.1.2 (Recipient Requirements) and 13.1.1 (If-Match).
    fn read(list: &[u8]) -> Self {
        let mut read = Self { tags: Vec::new(), is_empty: true, is_valid: true };
        let mut rest = list.trim_ascii_start();
        loop {
            let is_separated = read.is_empty || rest.starts_with(b",");
            // A list may have empty elements.
            while let Some(after) = rest.strip_prefix(b",") {
                rest = after.trim_ascii_start();
            }
            if rest.is_empty() {
                return read;
            }
            read.is_valid &= is_separated;
            let Some((tag, after)) = split_first(rest) else {
                read.is_valid = false;
                return read;
            };
            read.tags.extend(tag);
            read.is_empty = false;
            rest = after.trim_ascii_start();
        }
    }
}

/// Parses the tag at the beginning of a list. Returns the tag and the rest; a
/// tag with non-ASCII characters is `None`.
fn split_first(list: &[u8]) -> Option<(Option<ETag>, &[u8])> {
    let quoted = list.strip_prefix(b"W/");
    let is_weak = quoted.is_some();
    let quoted = quoted.unwrap_or(list).strip_prefix(b"\"")?;
    // A tag may contain commas, but no quotes.
    let end = quoted.iter().position(|byte| *byte == b'"')?;
    let (opaque, rest) = quoted.split_at_checked(end)?;
    if !opaque.iter().all(|byte| byte.is_ascii_graphic() || !byte.is_ascii()) {
        return None;
    }
    let tag = std::str::from_utf8(opaque).ok().and_then(ETag::new);
    Some((tag.map(|tag| ETag { is_weak, ..tag }), rest.strip_prefix(b"\"")?))
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_weak { "W/" } else { "" };
        write!(f, "{prefix}\"{}\"", self.opaque)
    }
}

/// Returns the weak form of a strong tag in a header, or `None` if the tag is
/// weak.
#[cfg(feature = "compression")]
pub(crate) fn weaken(value: &HeaderValue) -> Option<HeaderValue> {
    let text = value.to_str().ok().filter(|text| text.starts_with('"'))?;
    HeaderValue::try_from(format!("W/{text}")).ok()
}

/// Returns a list of tags with its weak tags made strong. Returns `None` if it
/// does not contain a weak tag or is not text.
#[cfg(feature = "compression")]
pub(crate) fn strengthen(list: &HeaderValue) -> Option<HeaderValue> {
    let text = list.to_str().ok().filter(|text| text.contains("W/"))?;
    // Parts with an odd index are inside quotes, and a tag may contain any
    // text.
    let parts = text.split('"').enumerate().map(|(index, part)| match index % 2 {
        0 => part.strip_suffix("W/").unwrap_or(part),
        _ => part,
    });
    HeaderValue::try_from(parts.collect::<Vec<_>>().join("\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "compression")]
    #[test]
    fn makes_weak_tags_of_a_list_strong() {
        let strong = |list: &str| {
            let strong = strengthen(&list.parse().unwrap())?;
            Some(strong.to_str().unwrap().to_owned())
        };
        for (list, expected) in [
            (r#"W/"7""#, Some(r#""7""#)),
            (r#""1", W/"2" ,W/"W/""#, Some(r#""1", "2" ,"W/""#)),
            (r#""W/", W/"a,b""#, Some(r#""W/", "a,b""#)),
            (r#"W/ "7""#, Some(r#"W/ "7""#)),
            (r#"w/"7""#, None),
            (r#""7""#, None),
            ("*", None),
            // A malformed tag stays malformed.
            (r#"W/"7"#, Some(r#""7"#)),
            ("W/", Some("")),
        ] {
            assert_eq!(strong(list).as_deref(), expected, "{list}");
        }
    }

    #[track_caller]
    fn check(list: &str, expected: &[&str]) {
        let tags: Vec<String> = ETag::list(list.as_bytes()).iter().map(ETag::to_string).collect();
        assert_eq!(tags, expected, "{list:?}");
    }

    #[test]
    fn reads_a_list_up_to_its_first_error() {
        check(r#""a", W/"b" ,"c""#, &[r#""a""#, r#"W/"b""#, r#""c""#]);
        check(r#" , "a,b",, "" "#, &[r#""a,b""#, r#""""#]);
        check(r#""a", w/"b""#, &[r#""a""#]);
        check(r#""a" b "c""#, &[r#""a""#]);
        check(r#""a" "b""c""#, &[r#""a""#, r#""b""#, r#""c""#]);
        check(r#""a", "é", "c""#, &[r#""a""#, r#""c""#]);
        check(r#""a b""#, &[]);
        check("a", &[]);
        check("\"a", &[]);
        check("", &[]);
    }

    #[test]
    fn a_strict_list_is_all_or_nothing() {
        let strict = |list: &[u8]| {
            let tags = ETag::strict_list(list)?;
            Some(tags.iter().map(ETag::to_string).collect::<Vec<_>>().join(" "))
        };
        for (list, expected) in [
            (&br#""a", W/"b" ,"c""#[..], Some(r#""a" W/"b" "c""#)),
            (br#" , "a,b",, "" "#, Some(r#""a,b" """#)),
            (b"\"a\",\"\xe9\"", Some(r#""a""#)),
            (b"\"\xe9\"", Some("")),
            (br#""a", w/"b""#, None),
            (br#""a" "b""#, None),
            (br#""a" b"#, None),
            (br#""a b""#, None),
            (br#"W/ "a""#, None),
            (br#""a", *"#, None),
            (b"a", None),
            (b"\"a", None),
            (b"\"", None),
            (b"W/", None),
            (b", ,", None),
            (b"", None),
        ] {
            let shown = String::from_utf8_lossy(list);
            assert_eq!(strict(list).as_deref(), expected, "{shown}");
        }
    }

    #[test]
    fn strong_tags_match_more_strictly() {
        let strong = ETag::new("1").unwrap();
        let weak = strong.clone().weak();
        assert!(strong.matches_strongly(&strong) && strong.matches_weakly(&weak));
        assert!(!strong.matches_strongly(&weak) && !weak.matches_strongly(&weak));
        assert!(weak.matches_weakly(&weak) && !weak.matches_weakly(&ETag::new("2").unwrap()));
    }

    #[test]
    fn the_tag_of_bytes_is_half_the_digest() {
        let tag = ETag::of(b"abc").to_string();
        assert_eq!(tag, "\"ba7816bf8f01cfea414140de5dae2223\"");
        assert_eq!(ETag::new("with \" quote"), None);
        assert_eq!(ETag::new("é"), None);
    }
}
