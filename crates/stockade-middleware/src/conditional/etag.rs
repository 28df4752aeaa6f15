//! [`ETag`]: the name of one state of a resource.
//!
//! Source: RFC 9110, section 8.8.3 (ETag).

use std::fmt;

#[cfg(feature = "compression")]
use http::HeaderValue;
use ring::digest::{Context, SHA256};

/// An entity tag, strong or weak.
///
/// ```
/// use stockade_middleware::ETag;
///
/// let tag = ETag::parse("W/\"7\"").expect("an entity tag");
/// assert!(tag.is_weak());
/// assert_eq!(tag.to_string(), "W/\"7\"");
/// assert_eq!(ETag::parse("7"), None);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ETag {
    is_weak: bool,
    /// Without the quotes.
    ///
    /// Invariant: visible ASCII characters without quotes.
    opaque: Box<str>,
}

impl ETag {
    /// The strong tag of these bytes: the same bytes give the same tag, in every
    /// process. It has 32 hexadecimal digits, half of a SHA-256.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_parts(&[bytes])
    }

    /// The strong tag of some bytes that are known in pieces.
    pub(super) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        for part in parts {
            context.update(part);
        }
        let digest = context.finish();
        let half = digest.as_ref().iter().take(16).copied();
        Self { is_weak: false, opaque: hex::encode(half.collect::<Vec<u8>>()).into() }
    }

    /// The strong tag with this text, such as the number of a version; `None`
    /// when it has other characters than visible ASCII ones, or a quote.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
        text.bytes().all(allowed).then(|| Self { is_weak: false, opaque: text.into() })
    }

    /// The same as a weak tag: bytes that mean the same may have it too.
    #[must_use]
    pub fn weak(mut self) -> Self {
        self.is_weak = true;
        self
    }

    /// Reads one tag, as it stands in a header.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match Self::split_first(text.trim())? {
            (tag, "") => Some(tag),
            _ => None,
        }
    }

    /// Whether it is weak.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }

    /// Whether both are strong and the same.
    #[must_use]
    pub fn matches_strongly(&self, other: &Self) -> bool {
        !self.is_weak && !other.is_weak && self.opaque == other.opaque
    }

    /// Whether their texts are the same.
    #[must_use]
    pub fn matches_weakly(&self, other: &Self) -> bool {
        self.opaque == other.opaque
    }

    /// The tag at the beginning of a list, and what follows it.
    fn split_first(text: &str) -> Option<(Self, &str)> {
        let (is_weak, quoted) = match text.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, text),
        };
        // There may be commas in it, but no quotes.
        let (opaque, rest) = quoted.strip_prefix('"')?.split_once('"')?;
        Some((Self { is_weak, ..Self::new(opaque)? }, rest))
    }

    /// The tags of a list, up to the first one that is none.
    pub(super) fn list(text: &str) -> Vec<Self> {
        let between = |char: char| matches!(char, ' ' | '\t' | ',');
        let mut tags = Vec::new();
        let mut rest = text.trim_start_matches(between);
        while let Some((tag, after)) = Self::split_first(rest) {
            tags.push(tag);
            rest = after.trim_start_matches(between);
        }
        tags
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_weak { "W/" } else { "" };
        write!(f, "{prefix}\"{}\"", self.opaque)
    }
}

/// The weak form of a header's strong tag; `None` when it is weak already.
#[cfg(feature = "compression")]
pub(crate) fn weaken(value: &HeaderValue) -> Option<HeaderValue> {
    let text = value.to_str().ok().filter(|text| text.starts_with('"'))?;
    HeaderValue::try_from(format!("W/{text}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[&str]) {
        let tags: Vec<String> = ETag::list(list).iter().map(ETag::to_string).collect();
        assert_eq!(tags, expected, "{list:?}");
    }

    #[test]
    fn a_list_is_read_up_to_its_first_mistake() {
        check(r#""a", W/"b" ,"c""#, &[r#""a""#, r#"W/"b""#, r#""c""#]);
        check(r#" , "a,b",, "" "#, &[r#""a,b""#, r#""""#]);
        check(r#""a", w/"b""#, &[r#""a""#]);
        check(r#""a" b "c""#, &[r#""a""#]);
        check(r#""a b""#, &[]);
        check("a", &[]);
        check("\"a", &[]);
        check("", &[]);
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
    fn the_tag_of_bytes_is_half_of_their_digest() {
        let tag = ETag::of(b"abc").to_string();
        assert_eq!(tag, "\"ba7816bf8f01cfea414140de5dae2223\"");
        assert_eq!(ETag::new("with \" quote"), None);
        assert_eq!(ETag::new("é"), None);
    }
}
