//! [`Scanner`]: finds the values of a JSON text, and reads none of them.
//!
//! It takes the texts that serde_json takes as raw values, which a test compares; an
//! escape of half a surrogate pair is one of them.

use stockade_validation::__internal::plain_end;

/// Goes through a text from its beginning, once.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// The number of arrays and objects that are open.
    depth: usize,
}

/// The text is no JSON, or is nested more deeply than [`MAX_DEPTH`].
#[derive(Debug)]
pub(crate) struct NoJson;

type Scanned<T = ()> = Result<T, NoJson>;

/// The nesting that serde_json reads.
pub(crate) const MAX_DEPTH: usize = 128;

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// Passes white space, and returns the byte behind it, which is not passed.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = self.next_byte()?;
            // Nearly always, and one comparison.
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Fails where more than white space is left.
    pub(crate) fn end(&mut self) -> Scanned {
        if self.peek().is_none() { Ok(()) } else { Err(NoJson) }
    }

    /// Passes the bracket of an array or an object that begins here.
    #[inline]
    pub(crate) fn open(&mut self) -> Scanned {
        self.depth += 1;
        self.at += 1;
        if self.depth > MAX_DEPTH { Err(NoJson) } else { Ok(()) }
    }

    /// Returns true if an array or an object has one more item, and passes the comma
    /// before it; otherwise passes the bracket that closes it.
    #[inline]
    pub(crate) fn has_next(&mut self, bracket: u8, is_first: bool) -> Scanned<bool> {
        match self.peek() {
            Some(byte) if byte == bracket => {
                self.depth -= 1;
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.at += 1;
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            _ => Err(NoJson),
        }
    }

    /// Passes a name and its colon, and returns the name with its quotation marks.
    #[inline]
    pub(crate) fn name(&mut self) -> Scanned<&'t str> {
        if self.peek() != Some(b'"') {
            return Err(NoJson);
        }
        let start = self.at;
        self.pass_text()?;
        let name = self.since(start)?;
        if self.peek() != Some(b':') {
            return Err(NoJson);
        }
        self.at += 1;
        Ok(name)
    }

    /// Passes a value, and returns its text.
    #[inline]
    pub(crate) fn value(&mut self) -> Scanned<&'t str> {
        self.peek();
        let start = self.at;
        self.pass_value()?;
        self.since(start)
    }

    fn since(&self, start: usize) -> Scanned<&'t str> {
        self.text.get(start..self.at).ok_or(NoJson)
    }

    fn pass_value(&mut self) -> Scanned {
        match self.peek() {
            Some(b'"') => self.pass_text(),
            Some(b'-' | b'0'..=b'9') => self.pass_number(),
            Some(b'{') => {
                self.open()?;
                let mut is_first = true;
                while self.has_next(b'}', is_first)? {
                    is_first = false;
                    self.name()?;
                    self.pass_value()?;
                }
                Ok(())
            }
            Some(b'[') => {
                self.open()?;
                let mut is_first = true;
                while self.has_next(b']', is_first)? {
                    is_first = false;
                    self.pass_value()?;
                }
                Ok(())
            }
            Some(b't') => self.pass_word("true"),
            Some(b'f') => self.pass_word("false"),
            Some(b'n') => self.pass_word("null"),
            _ => Err(NoJson),
        }
    }

    fn pass_word(&mut self, word: &str) -> Scanned {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += word.len();
        if rest.starts_with(word.as_bytes()) { Ok(()) } else { Err(NoJson) }
    }

    /// Passes the text that begins here with its quotation mark.
    #[inline]
    fn pass_text(&mut self) -> Scanned {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            self.at = plain_end(bytes, self.at);
            match self.next_byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.pass_escape()?,
                _ => return Err(NoJson),
            }
        }
    }

    fn pass_escape(&mut self) -> Scanned {
        let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        let length = match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', digits @ ..]
                if digits.len() >= 4 && digits.iter().take(4).all(u8::is_ascii_hexdigit) =>
            {
                6
            }
            _ => return Err(NoJson),
        };
        self.at += length;
        Ok(())
    }

    fn pass_number(&mut self) -> Scanned {
        if self.next_byte() == Some(b'-') {
            self.at += 1;
        }
        if self.next_byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.pass_digits()?;
        }
        if self.next_byte() == Some(b'.') {
            self.at += 1;
            self.pass_digits()?;
        }
        if matches!(self.next_byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.next_byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.pass_digits()?;
        }
        Ok(())
    }

    /// Passes one digit at least.
    fn pass_digits(&mut self) -> Scanned {
        let start = self.at;
        while self.next_byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(NoJson) }
    }

    #[inline]
    fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    /// Returns the value of a text, if there is one and nothing else.
    fn scanned(text: &str) -> Option<&str> {
        let mut scanner = Scanner::new(text);
        let value = scanner.value().ok()?;
        scanner.end().ok().map(|()| value)
    }

    #[track_caller]
    fn check(text: &str) {
        let expected: Option<&RawValue> = serde_json::from_str(text).ok();
        assert_eq!(scanned(text), expected.map(RawValue::get), "{text:?}");
    }

    #[test]
    fn a_value_is_found_where_serde_json_finds_it() {
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
    fn changed_texts_are_judged_as_by_serde_json() {
        const TEXT: &str =
            r#"{"a":[1,-2.5e3,"\u00e9\"x",null,{"b":true,"long name":[[],"ü"]}],"c":false}"#;
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        };
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
            accepted += usize::from(scanned(&text).is_some());
        }
        assert!(accepted > 1_000, "{accepted} of the texts were JSON");
    }

    #[test]
    fn nesting_ends() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(scanned(&nested(MAX_DEPTH)).is_some());
        assert!(scanned(&nested(MAX_DEPTH + 1)).is_none());
        assert!(scanned(&"{\"a\":".repeat(1_000_000)).is_none());
    }
}
