//! `short_name`, `short_path`: names from clients, shortened for responses.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

/// Shortens a name to at most 200 bytes. A longer name is cut at a character
/// boundary and ends with `…`.
///
/// A client may send a name of 1 MB, and the response must not repeat it in
/// every error.
#[must_use]
pub fn short_name(name: &str) -> Cow<'_, str> {
    short_text(name, MAX_NAME_BYTES)
}

/// Shortens a text to at most `most` bytes. A longer text is cut at a character
/// boundary and ends with `…`.
#[must_use]
pub fn short_text(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let kept = before(text, most.saturating_sub(ELLIPSIS.len()));
    Cow::Owned([kept, ELLIPSIS].concat())
}

/// Returns the `Display` text of a value, shortened like [`short_name`]. The
/// rest is never copied.
#[must_use]
pub fn short_path(path: impl Display) -> String {
    let mut bounded = Bounded { text: String::new() };
    if write!(bounded, "{path}").is_ok() {
        return bounded.text;
    }
    let kept = before(&bounded.text, MAX_NAME_BYTES - ELLIPSIS.len()).len();
    bounded.text.truncate(kept);
    bounded.text.push_str(ELLIPSIS);
    bounded.text
}

/// Returns the longest prefix of whole characters within `most` bytes.
fn before(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    // The search ends at 0 at the latest, which is a boundary.
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// A writer that stores the first [`MAX_NAME_BYTES`] and then fails.
struct Bounded {
    text: String,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let kept = before(text, MAX_NAME_BYTES - self.text.len());
        self.text.push_str(kept);
        if kept.len() == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The longest name or path.
const MAX_NAME_BYTES: usize = 200;

const ELLIPSIS: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(short_name(name), expected);
        assert_eq!(short_path(name), expected, "as a path");
        // Written in pieces, like a path.
        let pieces = name.split_at(before(name, name.len() / 2).len());
        assert_eq!(short_path(format_args!("{}{}", pieces.0, pieces.1)), expected, "in pieces");
        assert!(expected.len() <= 200);
    }

    #[test]
    fn keeps_names_up_to_200_bytes() {
        check("", "");
        check("name", "name");
        check(&"n".repeat(200), &"n".repeat(200));
        check(&"ä".repeat(100), &"ä".repeat(100));
    }

    #[test]
    fn longer_names_are_cut_at_a_character() {
        check(&"n".repeat(201), &format!("{}…", "n".repeat(197)));
        check(&"n".repeat(1 << 20), &format!("{}…", "n".repeat(197)));
        check(&"ä".repeat(101), &format!("{}…", "ä".repeat(98)));
        check(&"💩".repeat(51), &format!("{}…", "💩".repeat(49)));
        check(&format!("{}💩", "n".repeat(199)), &format!("{}…", "n".repeat(197)));
    }

    #[test]
    fn texts_are_cut_at_the_given_length() {
        assert_eq!(short_text("abcdef", 6), "abcdef");
        assert_eq!(short_text("abcdefg", 6), "abc…");
        assert_eq!(short_text("ääää", 7), "ää…");
        assert_eq!(short_text("abc", 0), "…");
    }
}
