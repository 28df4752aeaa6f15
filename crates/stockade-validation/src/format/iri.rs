//! IRIs: RFC 3987, section 2.2. IRIs are URIs with additional characters.

use super::bytes;
use super::uri::{self, Grammar};

/// Returns true if the text is an absolute IRI.
pub(super) fn is_iri(text: &str) -> bool {
    has_characters(text) && uri::is_absolute(text, &IRI)
}

/// Returns true if the text is an IRI or a relative reference.
pub(super) fn is_iri_reference(text: &str) -> bool {
    has_characters(text) && uri::is_any(text, &IRI)
}

/// Returns true if all characters beyond ASCII are valid in IRIs. Private
/// characters are valid only in the query.
fn has_characters(text: &str) -> bool {
    if text.is_ascii() {
        return true;
    }
    let (rest, fragment) = bytes::split_once(text, b'#').unwrap_or((text, ""));
    let (hierarchy, query) = bytes::split_once(rest, b'?').unwrap_or((rest, ""));
    let is_usual = |it: char| it.is_ascii() || is_usual(it);
    hierarchy.chars().chain(fragment.chars()).all(is_usual)
        && query.chars().all(|it| is_usual(it) || is_private(it))
}

/// Returns true for `ucschar`.
fn is_usual(it: char) -> bool {
    matches!(it, '\u{a0}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{ffef}')
        || matches!(u32::from(it), 0x1_0000..=0xd_ffff | 0xe_1000..=0xe_ffff)
            && u32::from(it) & 0xffff < 0xfffe
}

/// Returns true for `iprivate`.
fn is_private(it: char) -> bool {
    matches!(it, '\u{e000}'..='\u{f8ff}')
        || u32::from(it) >= 0xf_0000 && u32::from(it) & 0xffff < 0xfffe
}

/// The grammar of URIs with all bytes beyond ASCII.
static IRI: Grammar = uri::GRAMMAR.beyond_ascii();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_non_ascii_characters() {
        for text in ["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "a:é", "http://a/?\u{e000}", "http://[::1]/ä"]
        {
            assert!(is_iri(text), "{text:?}");
        }
        for text in [
            "é",
            "http://a/\u{e000}",
            "http://a/#\u{e000}",
            "http://a/\u{80}",
            "http://a/\u{fffe}",
            "http://2001:0db8:85a3::8a2e",
            "a:<é>",
            "é:a",
            "http://a b",
        ] {
            assert!(!is_iri(text), "{text:?}");
        }
    }

    #[test]
    fn references_may_be_relative() {
        for text in ["", "é", "/é?é#é", "//é/é", "a:é", "?", "#"] {
            assert!(is_iri_reference(text), "{text:?}");
        }
        for text in ["\\é", "é:b", "#é#", "//[é]"] {
            assert!(!is_iri_reference(text), "{text:?}");
        }
    }
}
