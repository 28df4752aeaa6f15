//! Hot: [`TypedReader`], the deserializer of all types.

use std::fmt;

use serde::Deserializer;
use serde::de::Visitor;

use super::access::{Access, Variant};
use super::source::{ExpectedKind, Frame, Integer, Source, Text, Token, Wide};
use super::type_error::TypeError;
use stockade_json::Number;

/// The deserializer of all types, for any `Source`. Each type is therefore
/// compiled once, rather than for each source.
///
/// It does not read structs from arrays.
pub struct TypedReader<'r, 'de> {
    source: &'r mut (dyn Source<'de> + 'r),
}

impl fmt::Debug for TypedReader<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedReader")
    }
}

impl<'r, 'de> TypedReader<'r, 'de> {
    pub(super) fn new(source: &'r mut (dyn Source<'de> + 'r)) -> Self {
        Self { source }
    }

    fn number<V: Visitor<'de>>(
        self,
        wanted: ExpectedKind,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.source.number(wanted) {
            Ok(number) => give_number(number, visitor),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn text<V: Visitor<'de>>(
        self,
        wanted: ExpectedKind,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.source.text(wanted) {
            Ok(text) => give_text(text, visitor),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn array<V: Visitor<'de>>(
        self,
        wanted: ExpectedKind,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        let mut frame = self.source.array(wanted)?;
        let value = visitor.visit_seq(Access { source: self.source, frame: &mut frame });
        ended(self.source, &mut frame, value)
    }

    #[inline]
    fn object<V: Visitor<'de>>(
        self,
        wanted: ExpectedKind,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.source.object(wanted) {
            Ok(frame) => self.members(frame, visitor),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn members<V: Visitor<'de>>(
        self,
        mut frame: Frame<'de>,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        let value = visitor.visit_map(Access { source: self.source, frame: &mut frame });
        // Repeats the code of `ended`. A call would compile one more function
        // for each struct of a program.
        if value.is_ok()
            && let Err(error) = self.source.end(&mut frame)
        {
            return Err(error);
        }
        value
    }
}

/// Ends the container after a value was read from it.
#[inline]
fn ended<'de, T>(
    source: &mut dyn Source<'de>,
    frame: &mut Frame<'de>,
    value: Result<T, TypeError>,
) -> Result<T, TypeError> {
    if value.is_ok()
        && let Err(error) = source.end(frame)
    {
        return Err(error);
    }
    value
}

#[inline]
pub(super) fn give_number<'de, V: Visitor<'de>>(
    number: Number,
    visitor: V,
) -> Result<V::Value, TypeError> {
    match number {
        Number::Whole(whole) => visitor.visit_u64(whole),
        Number::Negative(whole) => visitor.visit_i64(whole),
        Number::Float(float) => visitor.visit_f64(float),
    }
}

pub(super) fn give_wide<'de, V: Visitor<'de>>(
    wide: Wide,
    visitor: V,
) -> Result<V::Value, TypeError> {
    match wide {
        Wide::Number(number) => give_number(number, visitor),
        Wide::Signed(whole) => visitor.visit_i128(whole),
        Wide::Unsigned(whole) => visitor.visit_u128(whole),
    }
}

#[inline]
pub(super) fn give_text<'de, V: Visitor<'de>>(
    text: Text<'de, '_>,
    visitor: V,
) -> Result<V::Value, TypeError> {
    match text {
        Text::Borrowed(text) => visitor.visit_borrowed_str(text),
        Text::Passing(text) => visitor.visit_str(text),
        Text::Owned(text) => visitor.visit_string(text),
    }
}

/// Generates the methods for numbers of up to 64 bits, with the method `number`
/// of a deserializer.
macro_rules! numbers {
    () => {
        numbers! {
            deserialize_i8: ExpectedKind::Integer(Integer::I8);
            deserialize_i16: ExpectedKind::Integer(Integer::I16);
            deserialize_i32: ExpectedKind::Integer(Integer::I32);
            deserialize_i64: ExpectedKind::Integer(Integer::I64);
            deserialize_u8: ExpectedKind::Integer(Integer::U8);
            deserialize_u16: ExpectedKind::Integer(Integer::U16);
            deserialize_u32: ExpectedKind::Integer(Integer::U32);
            deserialize_u64: ExpectedKind::Integer(Integer::U64);
            deserialize_f32: ExpectedKind::Float32;
            deserialize_f64: ExpectedKind::Float64;
        }
    };
    ($($method:ident: $wanted:expr;)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
                self.number($wanted, visitor)
            }
        )*
    };
}
pub(super) use numbers;

/// Generates the methods for texts.
macro_rules! texts {
    ($($method:ident: $wanted:expr;)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
                self.text($wanted, visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for TypedReader<'_, 'de> {
    type Error = TypeError;

    numbers! {}

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        give_wide(self.source.wide(ExpectedKind::Integer(Integer::I128))?, visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        give_wide(self.source.wide(ExpectedKind::Integer(Integer::U128))?, visitor)
    }

    texts! {
        deserialize_char: ExpectedKind::Char;
        deserialize_str: ExpectedKind::Text;
        deserialize_string: ExpectedKind::Text;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.source.any()? {
            Token::Null => visitor.visit_unit(),
            Token::Boolean(flag) => visitor.visit_bool(flag),
            Token::Number(number) => give_number(number, visitor),
            Token::Text => self.text(ExpectedKind::Any, visitor),
            Token::Array => self.array(ExpectedKind::Any, visitor),
            Token::Object => self.object(ExpectedKind::Any, visitor),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_bool(self.source.boolean()?)
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.source.null()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.source.some() {
            Ok(true) => visitor.visit_some(self),
            Ok(false) => visitor.visit_none(),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.source.newtype(name) {
            Ok(None) => visitor.visit_newtype_struct(self),
            Ok(Some(frame)) => self.members(frame, visitor),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.array(ExpectedKind::List, visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.array(ExpectedKind::Tuple(len), visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.array(ExpectedKind::Tuple(len), visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.object(ExpectedKind::Map, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.object(ExpectedKind::Fields(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        let mut frame = self.source.variant(variants)?;
        let value = visitor.visit_enum(Variant { source: self.source, frame: frame.as_mut() });
        match &mut frame {
            Some(frame) => ended(self.source, frame, value),
            None => value,
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.source.skip()?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! { bytes byte_buf identifier }
}
