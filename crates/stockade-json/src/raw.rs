//! Raw values: the reader skips a value and returns its text instead of parsing
//! it.
//!
//! These functions accept the same texts as serde_json's raw values, including
//! an escape that is half of a surrogate pair. A test compares both.

use super::reader::Reader;
use super::refused::Refused;
use super::text::plain_end;

/// The number of nested containers that a reader from [`Reader::of_raw`]
/// accepts.
pub const MAX_RAW_DEPTH: usize = 128;

type Scanned<T = ()> = Result<T, Refused>;

impl<'t> Reader<'t> {
    /// Creates a reader of raw values that may be nested up to
    /// [`MAX_RAW_DEPTH`].
    #[must_use]
    pub fn of_raw(text: &'t str) -> Self {
        Self::with_levels(text, RAW_LEVELS, 0)
    }

    /// Returns true if a container has another item, and skips the comma before
    /// it. Otherwise skips the closing bracket.
    ///
    /// # Errors
    /// Fails if neither an item nor the bracket follows.
    #[inline]
    pub fn next_or_close(&mut self, bracket: u8, is_first: bool) -> Scanned<bool> {
        let has_next = self.has_next(bracket, is_first)?;
        if !has_next {
            // Skip the bracket.
            self.pass();
            self.levels += 1;
        }
        Ok(has_next)
    }

    /// Skips a name and its colon, and returns the name with its quotation
    /// marks.
    ///
    /// # Errors
    /// Fails if the name or the colon is missing.
    #[inline]
    pub fn raw_name(&mut self) -> Scanned<&'t str> {
        self.begins_name()?;
        let start = self.at;
        self.skip_text()?;
        let name = self.since(start)?;
        self.expect(b':')?;
        Ok(name)
    }

    /// Skips a value, and returns its text.
    ///
    /// # Errors
    /// Fails if it is invalid or nested too deeply.
    #[inline]
    pub fn raw_value(&mut self) -> Scanned<&'t str> {
        self.peek();
        let start = self.at;
        self.skip_value()?;
        self.since(start)
    }

    fn since(&self, start: usize) -> Scanned<&'t str> {
        self.text.get(start..self.at).ok_or(Refused::Syntax)
    }

    fn skip_value(&mut self) -> Scanned {
        match self.peek() {
            Some(b'"') => self.skip_text(),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            Some(b'{') => {
                self.open()?;
                let mut is_first = true;
                while self.next_or_close(b'}', is_first)? {
                    is_first = false;
                    self.raw_name()?;
                    self.skip_value()?;
                }
                Ok(())
            }
            Some(b'[') => {
                self.open()?;
                let mut is_first = true;
                while self.next_or_close(b']', is_first)? {
                    is_first = false;
                    self.skip_value()?;
                }
                Ok(())
            }
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(Refused::Syntax),
        }
    }

    /// Skips the string that begins here with its quotation mark.
    #[inline]
    fn skip_text(&mut self) -> Scanned {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            self.at = plain_end(bytes, self.at);
            match self.next_byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.skip_escape()?,
                _ => return Err(Refused::Syntax),
            }
        }
    }

    fn skip_escape(&mut self) -> Scanned {
        let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        let length = match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', digits @ ..]
                if digits.len() >= 4 && digits.iter().take(4).all(u8::is_ascii_hexdigit) =>
            {
                6
            }
            _ => return Err(Refused::Syntax),
        };
        self.at += length;
        Ok(())
    }

    fn skip_number(&mut self) -> Scanned {
        if self.next_byte() == Some(b'-') {
            self.at += 1;
        }
        if self.next_byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.skip_digits()?;
        }
        if self.next_byte() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.next_byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.next_byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    /// Skips one or more digits.
    fn skip_digits(&mut self) -> Scanned {
        let start = self.at;
        while self.next_byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Refused::Syntax) }
    }

    #[inline]
    fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// [`MAX_RAW_DEPTH`], plus one.
const RAW_LEVELS: u8 = 129;

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use stockade_errors::random::Random;

    use super::*;

    /// Returns the value if the whole text is one value.
    fn raw_value(text: &str) -> Option<&str> {
        let mut reader = Reader::of_raw(text);
        let value = reader.raw_value().ok()?;
        reader.end().ok().map(|()| value)
    }

    #[track_caller]
    fn check(text: &str) {
        let expected: Option<&RawValue> = serde_json::from_str(text).ok();
        assert_eq!(raw_value(text), expected.map(RawValue::get), "{text:?}");
    }

    #[test]
    fn finds_the_values_that_serde_json_finds() {
        for text in [
            "",
            " ",
            "1",
            " \n1\t",
            "-",
            "-0",
            "01",
            "00",
            "1.",
            "1.0",
            ".1",
            "1e",
            "1e+",
            "1E-7",
            "1e400",
            "-1.50e+03",
            "1 2",
            "+1",
            "NaN",
            "true",
            "tru",
            "truex",
            "nul",
            "null",
            "[]",
            "[ ]",
            "[,]",
            "[1,]",
            "[1 2]",
            "[1,2]",
            "[",
            "]",
            "[1",
            "[[],{}]",
            "[}",
            "{]",
            "{}",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{\"a\" : 1 , \"a\" : [ ] }",
            "{1:2}",
            "\"",
            "\"a\"",
            "\"\\\"",
            "\"\\\"\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u00e9\"",
            "\"\\ud800\"",
            "\"\\u00g0\"",
            "\"a\nb\"",
            "\"a\u{1f}b\"",
            "\"é\u{7f}\u{80}\"",
            "\u{c}1",
            "\u{feff}1",
            "\"long enough for more than one word of bytes \\n and an escape\"",
        ] {
            check(text);
        }
    }

    #[test]
    fn accepts_changed_text_if_serde_json_does() {
        const TEXT: &str =
            r#"{"a":[1,-2.5e3,"\u00e9\"x",null,{"b":true,"long name":[[],"ü"]}],"c":false}"#;
        let mut random = Random::new(1);
        let mut next = move |below: usize| random.index(below);
        let mut accepted = 0;
        for _ in 0..20_000 {
            let mut chars: Vec<char> = TEXT.chars().collect();
            for _ in 0..=next(3) {
                let at = next(chars.len());
                match next(3) {
                    0 => chars[at] = char::from(u8::try_from(next(128)).unwrap()),
                    1 => drop(chars.remove(at)),
                    _ => chars.insert(at, char::from(b"{}[]\",:\\0n-.e "[next(14)])),
                }
            }
            let text: String = chars.into_iter().collect();
            check(&text);
            accepted += usize::from(raw_value(&text).is_some());
        }
        assert!(accepted > 1_000, "{accepted} of the texts were JSON");
    }

    #[test]
    fn limits_nesting() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(raw_value(&nested(MAX_RAW_DEPTH)).is_some());
        assert!(raw_value(&nested(MAX_RAW_DEPTH + 1)).is_none());
        assert!(raw_value(&"{\"a\":".repeat(1_000_000)).is_none());
    }
}
