//! [`Reader`]: reads a JSON text token by token.

use std::borrow::Cow;

use super::number::{self, Number};
use super::refused::Refused;
use super::text;

/// Reads a text from its start.
#[derive(Debug)]
pub struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The number of nested containers that may still be opened, plus one.
    pub(super) levels: u8,
    /// The number of untyped values that may still be stored, such as values of
    /// a `Value`.
    untyped_left: usize,
    /// The last string with an escape, unescaped.
    scratch: String,
}

/// A value that does not contain other values.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number.
    Number(Number),
}

impl<'t> Reader<'t> {
    /// Creates a reader that stores at most `most_untyped` untyped values.
    #[must_use]
    pub fn new(text: &'t str, most_untyped: usize) -> Self {
        Self::with_levels(text, LEVELS, most_untyped)
    }

    pub(super) fn with_levels(text: &'t str, levels: u8, most_untyped: usize) -> Self {
        Self { text, at: 0, levels, untyped_left: most_untyped, scratch: String::new() }
    }

    /// Counts an untyped value.
    ///
    /// # Errors
    /// Fails if there are too many.
    #[inline]
    pub fn count(&mut self) -> Result<(), Refused> {
        self.untyped_left = self.untyped_left.checked_sub(1).ok_or(Refused::TooMany)?;
        Ok(())
    }

    /// Checks that only white space remains.
    ///
    /// # Errors
    /// Fails if other text remains.
    pub fn end(&mut self) -> Result<(), Refused> {
        if self.peek().is_none() { Ok(()) } else { Err(Refused::Syntax) }
    }

    /// Returns the number of bytes read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Skips white space, and returns the next byte without reading it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Skips the byte that [`peek`](Self::peek) returned.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.at += 1;
    }

    /// Skips white space and this byte.
    ///
    /// # Errors
    /// Fails if another byte follows.
    #[inline]
    pub fn expect(&mut self, byte: u8) -> Result<(), Refused> {
        if self.peek() != Some(byte) {
            return Err(Refused::Syntax);
        }
        self.pass();
        Ok(())
    }

    /// Returns true if the container has another item, and skips the comma
    /// before it.
    ///
    /// # Errors
    /// Fails if neither an item nor the bracket follows.
    #[inline]
    pub fn has_next(&mut self, bracket: u8, is_first: bool) -> Result<bool, Refused> {
        match self.peek() {
            Some(byte) if byte == bracket => return Ok(false),
            Some(b',') if !is_first => self.pass(),
            Some(_) if is_first => {}
            _ => return Err(Refused::Syntax),
        }
        Ok(true)
    }

    /// Checks that a name follows.
    ///
    /// # Errors
    /// Fails if it does not.
    #[inline]
    pub fn begins_name(&mut self) -> Result<(), Refused> {
        if self.peek() == Some(b'"') { Ok(()) } else { Err(Refused::Syntax) }
    }

    /// Reads the null, boolean or number that begins here.
    ///
    /// # Errors
    /// Fails if the value is invalid or of another type, or if a number would
    /// lose digits that serde_json preserves.
    #[inline]
    pub fn scalar(&mut self) -> Result<Scalar, Refused> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.any_number().map(Scalar::Number),
            Some(b't') => self.word("true").map(|()| Scalar::Boolean(true)),
            Some(b'f') => self.word("false").map(|()| Scalar::Boolean(false)),
            Some(b'n') => self.word("null").map(|()| Scalar::Null),
            _ => Err(Refused::Syntax),
        }
    }

    /// Skips this word.
    ///
    /// # Errors
    /// Fails if another word follows.
    pub fn word(&mut self, word: &str) -> Result<(), Refused> {
        // A text without more bytes does not match.
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(Refused::Syntax);
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads the string that begins here.
    ///
    /// # Errors
    /// Fails if it is invalid.
    #[inline]
    pub fn text(&mut self) -> Result<Cow<'t, str>, Refused> {
        Ok(match self.plain()? {
            Some(plain) => Cow::Borrowed(plain),
            None => Cow::Owned(self.scratch.clone()),
        })
    }

    /// Reads the string that begins here, and borrows it from the text. Returns
    /// `None` if it has escapes; [`scratch`](Self::scratch) then returns it.
    ///
    /// # Errors
    /// Fails if it is invalid.
    #[inline]
    pub fn plain(&mut self) -> Result<Option<&'t str>, Refused> {
        let start = self.at + 1;
        let end = text::plain_end(self.text.as_bytes(), start);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return self.text.get(start..end).map(Some).ok_or(Refused::Syntax);
        }
        self.at = text::read_escaped(self.text, start, end, &mut self.scratch)?;
        Ok(None)
    }

    /// Returns the last string with an escape, unescaped.
    #[inline]
    #[must_use]
    pub fn scratch(&self) -> &str {
        &self.scratch
    }

    /// Reads the number that begins here.
    ///
    /// # Errors
    /// Fails if it is invalid or too large for a float.
    #[inline]
    pub fn number(&mut self) -> Result<Number, Refused> {
        let (number, end) = number::read(self.text, self.at)?;
        self.at = end;
        Ok(number)
    }

    /// Reads a number. Fails for a float if serde_json would preserve all its
    /// digits.
    #[inline]
    fn any_number(&mut self) -> Result<Number, Refused> {
        let (number, end) = number::read(self.text, self.at)?;
        if matches!(number, Number::Float(_)) && number::keeps_digits() {
            return Err(Refused::Data);
        }
        self.at = end;
        Ok(number)
    }

    /// Skips the opening bracket of a container.
    ///
    /// # Errors
    /// Fails if the containers are nested too deeply.
    #[inline]
    pub fn open(&mut self) -> Result<(), Refused> {
        let levels = self.levels.checked_sub(1).filter(|levels| *levels > 0);
        self.levels = levels.ok_or(Refused::Syntax)?;
        self.pass();
        Ok(())
    }

    /// Skips the closing bracket of a container.
    ///
    /// # Errors
    /// Fails if another byte follows.
    #[inline]
    pub fn close(&mut self, bracket: u8) -> Result<(), Refused> {
        self.expect(bracket)?;
        self.levels += 1;
        Ok(())
    }
}

/// The depth that serde_json accepts, plus one.
const LEVELS: u8 = 128;
