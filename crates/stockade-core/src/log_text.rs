//! `escaped`: makes untrusted text safe for a log line.

use std::fmt::{self, Write as _};

/// Displays a value on one line. Escapes characters that could begin a new
/// line, control a terminal or change the direction of text, such as `\n`.
///
/// Use it for text in a log that a client may control. Otherwise, a client
/// could forge log lines.
#[must_use]
pub fn escaped<T: fmt::Display>(value: T) -> Escaped<T> {
    Escaped(value)
}

/// Text for the log; see [`escaped`].
#[derive(Clone, Copy, Debug)]
pub struct Escaped<T>(T);

impl<T: fmt::Display> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

/// A writer that escapes text before it reaches a formatter.
struct Escaping<'f, 'g>(&'f mut fmt::Formatter<'g>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_unsafe) {
            let (plain, after) = rest.split_at(at);
            self.0.write_str(plain)?;
            let mut chars = after.chars();
            if let Some(char) = chars.next() {
                write!(self.0, "{}", char.escape_default())?;
            }
            rest = chars.as_str();
        }
        self.0.write_str(rest)
    }
}

/// Returns true for control characters, line and paragraph separators, and
/// marks that change the direction of text.
fn is_unsafe(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(escaped(text).to_string(), expected);
    }

    #[test]
    fn escapes_only_unsafe_characters() {
        check("", "");
        check(
            "no such user\n2026-01-01 INFO all is well\u{1b}[2J",
            r"no such user\n2026-01-01 INFO all is well\u{1b}[2J",
        );
        check("GET /müller?q=\"a\" 名前 \\", "GET /müller?q=\"a\" 名前 \\");
        check("a\r\nb\tc", r"a\r\nb\tc");
        check("\0\u{7f}\u{85}\u{1b}", r"\u{0}\u{7f}\u{85}\u{1b}");
        check("x\u{2028}y\u{202e}z\u{2066}", r"x\u{2028}y\u{202e}z\u{2066}");
    }
}
