//! Hot: [`JsonText`], a JSON text that is validated while a type is read from
//! it.
//!
//! Errors do not have messages. Reading gives up at the first value that is
//! invalid, or that one look cannot decide. Skipped values are validated too.

use super::source::{ExpectedKind, Frame, Source, Text, Token};
use super::type_error::TypeError;
use super::validating::Validating;
use stockade_json::{Number, Reader, Refused, Scalar};

/// A text, read from its beginning.
pub(super) struct JsonText<'de> {
    reader: Reader<'de>,
    validating: Validating<'de>,
}

impl<'de> JsonText<'de> {
    /// Creates a source that stores at most `most_untyped` values of the text
    /// regardless of their type.
    pub(super) fn new(text: &'de str, validating: Validating<'de>, most_untyped: usize) -> Self {
        Self { reader: Reader::new(text, most_untyped), validating }
    }

    /// Returns true if the whole text was read and is valid.
    pub(super) fn is_fulfilled(&mut self) -> bool {
        self.validating.is_fulfilled() && self.reader.end().is_ok()
    }

    /// Fails if the next byte differs, because the type then expects another
    /// kind of value.
    #[inline]
    fn begins_with(&mut self, byte: u8) -> Result<(), Refused> {
        if self.reader.peek() == Some(byte) { Ok(()) } else { Err(Refused::Data) }
    }
}

impl<'de> Source<'de> for JsonText<'de> {
    fn any(&mut self) -> Result<Token, TypeError> {
        self.reader.count()?;
        self.next()
    }

    fn next(&mut self) -> Result<Token, TypeError> {
        Ok(match self.reader.peek() {
            Some(b'"') => Token::Text,
            Some(b'{') => Token::Object,
            Some(b'[') => Token::Array,
            _ => match self.reader.scalar()? {
                Scalar::Null => self.validating.null().map(|()| Token::Null)?,
                Scalar::Boolean(flag) => Token::Boolean(self.validating.boolean(flag)?),
                Scalar::Number(number) => Token::Number(self.validating.number(number)?),
            },
        })
    }

    fn boolean(&mut self) -> Result<bool, TypeError> {
        match self.reader.peek() {
            Some(b't') => self.reader.word("true").and_then(|()| self.validating.boolean(true)),
            Some(b'f') => self.reader.word("false").and_then(|()| self.validating.boolean(false)),
            _ => Err(Refused::Data),
        }
        .map_err(TypeError::from)
    }

    fn number(&mut self, _wanted: ExpectedKind) -> Result<Number, TypeError> {
        match self.reader.peek() {
            Some(b'-' | b'0'..=b'9') => {
                let number = self.reader.number()?;
                Ok(self.validating.number(number)?)
            }
            _ => Err(Refused::Data.into()),
        }
    }

    fn text(&mut self, _wanted: ExpectedKind) -> Result<Text<'de, '_>, TypeError> {
        self.begins_with(b'"')?;
        match self.reader.plain()? {
            Some(plain) => Ok(Text::Borrowed(self.validating.text(plain)?)),
            None => Ok(Text::Passing(self.validating.text(self.reader.scratch())?)),
        }
    }

    fn null(&mut self) -> Result<(), TypeError> {
        self.begins_with(b'n')?;
        self.reader.word("null")?;
        Ok(self.validating.null()?)
    }

    fn some(&mut self) -> Result<bool, TypeError> {
        if self.reader.peek() != Some(b'n') {
            return Ok(true);
        }
        self.null().map(|()| false)
    }

    fn newtype(&mut self, name: &'static str) -> Result<Option<Frame<'de>>, TypeError> {
        // A `RawValue` would receive unvalidated text.
        if name.starts_with('$') { Err(self.validating.give_up().into()) } else { Ok(None) }
    }

    fn variant(
        &mut self,
        _names: &'static [&'static str],
    ) -> Result<Option<Frame<'de>>, TypeError> {
        match self.reader.peek() {
            Some(b'"') => Ok(None),
            _ => self.object(ExpectedKind::Variant).map(Some),
        }
    }

    fn array(&mut self, _wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        self.begins_with(b'[')?;
        self.reader.open()?;
        Ok(Frame::Elements(self.validating.array()?))
    }

    fn next_element(&mut self, frame: &mut Frame<'de>) -> Result<bool, TypeError> {
        let Frame::Elements(elements) = frame else {
            return Err(self.validating.give_up().into());
        };
        if self.reader.has_next(b']', elements.is_empty())? {
            elements.next(&mut self.validating)?;
            return Ok(true);
        }
        elements.end(&mut self.validating)?;
        Ok(false)
    }

    fn object(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        self.begins_with(b'{')?;
        self.reader.open()?;
        Ok(Frame::Members(self.validating.object(wanted.ignores_order())?))
    }

    fn next_name(&mut self, frame: &mut Frame<'de>) -> Result<Option<Text<'de, '_>>, TypeError> {
        let Frame::Members(members) = frame else {
            return Err(self.validating.give_up().into());
        };
        while !members.is_whole() {
            if !self.reader.has_next(b'}', members.is_empty())? {
                members.end(&mut self.validating)?;
                break;
            }
            self.reader.begins_name()?;
            let plain = self.reader.plain()?;
            let name = plain.unwrap_or_else(|| self.reader.scratch());
            let is_seen = members.next(name, &mut self.validating)?;
            self.reader.expect(b':')?;
            if is_seen {
                return Ok(Some(match plain {
                    Some(name) => Text::Borrowed(name),
                    None => Text::Passing(self.reader.scratch()),
                }));
            }
            self.skip()?;
        }
        Ok(members.next_default(&mut self.validating)?.map(Text::Borrowed))
    }

    fn end(&mut self, frame: &mut Frame<'de>) -> Result<(), TypeError> {
        // An element that the type did not read is rejected.
        let (has_more, bracket) = match frame {
            Frame::Members(members) => {
                let ended = members.is_ended();
                (!ended && self.next_name(frame)?.is_some(), b'}')
            }
            Frame::Elements(elements) => {
                let ended = elements.is_ended();
                (!ended && self.next_element(frame)?, b']')
            }
            _ => (true, b']'),
        };
        if has_more {
            return Err(self.validating.give_up().into());
        }
        self.reader.close(bracket)?;
        self.validating.fulfil();
        Ok(())
    }

    fn locate(&mut self, frame: &Frame<'de>, error: TypeError) -> TypeError {
        self.validating.after(frame, error)
    }
}
