//! [`Reader`]: a deserializer of JSON text.

use std::borrow::Cow;

use serde::Deserializer;
use serde::de::{Error, Visitor};

use super::access::Access;
use super::number::{self, Number};
use super::refused::Refused;
use super::text;

/// Reads a text from its beginning.
pub(crate) struct Reader<'de> {
    pub(super) text: &'de str,
    pub(super) at: usize,
    /// How many containers may still be opened in each other, and one more.
    levels: u8,
    /// The number of values that may still be read without a wish for their type, as
    /// those that become a `Value`.
    untyped_left: usize,
    /// The last string that had an escape.
    scratch: String,
}

impl<'de> Reader<'de> {
    /// Reads at most so many values without a wish for their type.
    pub(crate) fn new(text: &'de str, most_untyped: usize) -> Self {
        Self { text, at: 0, levels: LEVELS, untyped_left: most_untyped, scratch: String::new() }
    }

    /// Counts a value that is kept, whatever it is.
    #[inline]
    pub(crate) fn count(&mut self) -> Result<(), Refused> {
        self.untyped_left = self.untyped_left.checked_sub(1).ok_or(Refused::TooMany)?;
        Ok(())
    }

    /// Gives whatever is there, uncounted.
    #[inline]
    pub(crate) fn any<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Refused> {
        match self.peek() {
            Some(b'"') => self.string(visitor),
            Some(b'{') => self.object(visitor),
            Some(b'[') => self.array(visitor),
            Some(b'-' | b'0'..=b'9') => self.any_number(visitor),
            Some(b't') => self.word("true", ()).and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self.word("false", ()).and_then(|()| visitor.visit_bool(false)),
            Some(b'n') => self.word("null", ()).and_then(|()| visitor.visit_unit()),
            _ => Err(Refused::Syntax),
        }
    }

    /// Refuses text behind the value.
    pub(crate) fn end(&mut self) -> Result<(), Refused> {
        if self.peek().is_none() { Ok(()) } else { Err(Refused::Syntax) }
    }

    /// The next byte that is no white space.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Passes the byte that [`peek`](Self::peek) gave.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.at += 1;
    }

    /// The next byte must be this one.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Refused> {
        if self.peek() != Some(byte) {
            return Err(Refused::Syntax);
        }
        self.pass();
        Ok(())
    }

    /// Passes the comma before the next item of a container; false, if there is
    /// none.
    #[inline]
    pub(crate) fn has_next(&mut self, bracket: u8, is_first: bool) -> Result<bool, Refused> {
        match self.peek() {
            Some(byte) if byte == bracket => return Ok(false),
            Some(b',') if !is_first => self.pass(),
            Some(_) if is_first => {}
            _ => return Err(Refused::Syntax),
        }
        Ok(true)
    }

    /// A name must come next.
    #[inline]
    pub(crate) fn begins_name(&mut self) -> Result<(), Refused> {
        if self.peek() == Some(b'"') { Ok(()) } else { Err(Refused::Syntax) }
    }

    fn word<T>(&mut self, word: &str, value: T) -> Result<T, Refused> {
        // Behind the end there is no word.
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(Refused::Syntax);
        }
        self.at += word.len();
        Ok(value)
    }

    /// Gives the string that begins here.
    #[inline]
    pub(super) fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Refused> {
        match self.plain()? {
            Some(plain) => visitor.visit_borrowed_str(plain),
            None => visitor.visit_str(&self.scratch),
        }
    }

    /// The string that begins here.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Cow<'de, str>, Refused> {
        Ok(match self.plain()? {
            Some(plain) => Cow::Borrowed(plain),
            None => Cow::Owned(self.scratch.clone()),
        })
    }

    /// The string that begins here, as it stands there; `None` if it has
    /// escapes and is in the scratch.
    #[inline]
    fn plain(&mut self) -> Result<Option<&'de str>, Refused> {
        let start = self.at + 1;
        let end = text::plain_end(self.text.as_bytes(), start);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return self.text.get(start..end).map(Some).ok_or(Refused::Syntax);
        }
        self.at = text::read_escaped(self.text, start, end, &mut self.scratch)?;
        Ok(None)
    }

    #[inline]
    pub(super) fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Refused> {
        let (number, end) = number::read(self.text, self.at)?;
        self.at = end;
        Self::give(number, visitor)
    }

    #[inline]
    fn give<V: Visitor<'de>>(number: Number, visitor: V) -> Result<V::Value, Refused> {
        match number {
            Number::Whole(whole) => visitor.visit_u64(whole),
            Number::Negative(whole) => visitor.visit_i64(whole),
            Number::Float(float) => visitor.visit_f64(float),
        }
    }

    /// A number that may be kept as it is.
    #[inline]
    fn any_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Refused> {
        let (number, end) = number::read(self.text, self.at)?;
        if matches!(number, Number::Float(_)) && number::keeps_digits() {
            return Err(Refused::Data);
        }
        self.at = end;
        Self::give(number, visitor)
    }

    #[inline]
    fn array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Refused> {
        self.open()?;
        let value = visitor.visit_seq(Access::new(self))?;
        self.close(b']')?;
        Ok(value)
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Refused> {
        self.open()?;
        let value = visitor.visit_map(Access::new(self))?;
        self.close(b'}')?;
        Ok(value)
    }

    /// Passes the bracket that opens a container.
    #[inline]
    pub(crate) fn open(&mut self) -> Result<(), Refused> {
        let levels = self.levels.checked_sub(1).filter(|levels| *levels > 0);
        self.levels = levels.ok_or(Refused::Syntax)?;
        self.pass();
        Ok(())
    }

    /// Passes the bracket that closes it.
    #[inline]
    pub(crate) fn close(&mut self, bracket: u8) -> Result<(), Refused> {
        self.expect(bracket)?;
        self.levels += 1;
        Ok(())
    }
}

/// The methods that ask for one kind of value, told by its first byte.
macro_rules! of_kind {
    ($($byte:pat => $give:ident: $($method:ident)*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
                match self.peek() {
                    Some($byte) => self.$give(visitor),
                    _ => Err(Refused::Data),
                }
            }
        )*)*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Refused;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.count()?;
        self.any(visitor)
    }

    /// A skipped value takes no memory.
    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.any(visitor)
    }

    of_kind! {
        b'"' => string: deserialize_str deserialize_string deserialize_char;
        b'-' | b'0'..=b'9' => number: deserialize_i8 deserialize_i16 deserialize_i32
            deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
            deserialize_f32 deserialize_f64;
        b't' | b'f' => any: deserialize_bool;
        b'n' => any: deserialize_unit;
        b'[' => array: deserialize_seq;
        b'{' => object: deserialize_map;
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.peek() == Some(b'n') {
            return self.word("null", ()).and_then(|()| visitor.visit_none());
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.peek() {
            Some(b'{') => self.object(visitor),
            Some(b'[') => self.array(visitor),
            _ => Err(Refused::Data),
        }
    }

    /// [`Judged`](crate::read) takes enums apart itself.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Refused> {
        Err(Refused::custom("an enum"))
    }

    serde::forward_to_deserialize_any! {
        i128 u128 bytes byte_buf identifier
    }
}

/// As many containers in each other as serde_json reads, and one more.
const LEVELS: u8 = 128;
