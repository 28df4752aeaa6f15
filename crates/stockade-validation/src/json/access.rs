//! [`Access`]: what arrays and objects contain.

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use super::reader::Reader;
use super::refused::Refused;

/// The elements of an array, or the members of an object.
pub(super) struct Access<'r, 'de> {
    reader: &'r mut Reader<'de>,
    is_first: bool,
}

impl<'r, 'de> Access<'r, 'de> {
    #[inline]
    pub(super) fn new(reader: &'r mut Reader<'de>) -> Self {
        Self { reader, is_first: true }
    }

    #[inline]
    fn has_next(&mut self, bracket: u8) -> Result<bool, Refused> {
        let is_first = std::mem::take(&mut self.is_first);
        self.reader.has_next(bracket, is_first)
    }
}

impl<'de> SeqAccess<'de> for Access<'_, 'de> {
    type Error = Refused;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refused> {
        if !self.has_next(b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

impl<'de> MapAccess<'de> for Access<'_, 'de> {
    type Error = Refused;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refused> {
        if !self.has_next(b'}')? {
            return Ok(None);
        }
        self.reader.begins_name()?;
        seed.deserialize(Key { reader: self.reader }).map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refused> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// The name of a member, which may be a number in quotation marks.
struct Key<'r, 'de> {
    reader: &'r mut Reader<'de>,
}

/// The methods that ask for a number.
macro_rules! number {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
                self.number(visitor)
            }
        )*
    };
}

impl<'de> Key<'_, 'de> {
    /// White space is no part of it.
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.reader.pass();
        let value = self.reader.number(visitor)?;
        if self.reader.text.as_bytes().get(self.reader.at) != Some(&b'"') {
            return Err(Refused::Data);
        }
        self.reader.pass();
        Ok(value)
    }
}

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = Refused;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.reader.string(visitor)
    }

    number! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    /// What serde_json says of the rest, it says of its own value.
    fn deserialize_bool<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Refused> {
        Err(Refused::Data)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct enum identifier ignored_any
    }
}
