//! [`Name`]: the name of a member or a variant.

use serde::Deserializer;
use serde::de::{DeserializeSeed, EnumAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::reader::{give_number, give_text, give_wide, numbers};
use super::source::{ExpectedKind, Integer, Text, Wide};
use super::text_value;
use super::type_error::TypeError;
use stockade_json::whole_text;

/// A deserializer that passes a name to its type, which may be a number or a
/// boolean.
pub(super) struct Name<'de, 's> {
    name: Text<'de, 's>,
}

impl<'de, 's> Name<'de, 's> {
    #[inline]
    pub(super) fn new(name: Text<'de, 's>) -> Self {
        Self { name }
    }

    fn number<V: Visitor<'de>>(
        self,
        wanted: ExpectedKind,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match whole_text(self.name.as_str()) {
            Some(number) => give_number(number, visitor),
            None => Err(TypeError::kind(wanted, "string")),
        }
    }

    fn wide(&self, integer: Integer) -> Result<Wide, TypeError> {
        text_value::wide(self.name.as_str(), integer)
    }
}

impl<'de> Deserializer<'de> for Name<'de, '_> {
    type Error = TypeError;

    numbers! {}

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        give_wide(self.wide(Integer::I128)?, visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        give_wide(self.wide(Integer::U128)?, visitor)
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        give_text(self.name, visitor)
    }

    /// Passes the name to a field or a variant, which does not store text.
    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match &self.name {
            Text::Borrowed(name) => visitor.visit_borrowed_str(name),
            name => visitor.visit_str(name.as_str()),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_bool(text_value::boolean(self.name.as_str())?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        ignored_any
    }
}

impl<'de> EnumAccess<'de> for Name<'de, '_> {
    type Error = TypeError;
    type Variant = Unit;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Unit), TypeError> {
        Ok((seed.deserialize(self)?, Unit))
    }
}

/// The content of a variant without data.
pub(super) struct Unit;

impl<'de> VariantAccess<'de> for Unit {
    type Error = TypeError;

    fn unit_variant(self) -> Result<(), TypeError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        _seed: S,
    ) -> Result<S::Value, TypeError> {
        Err(TypeError::kind(ExpectedKind::Map, "string"))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _len: usize,
        _visitor: V,
    ) -> Result<V::Value, TypeError> {
        Err(TypeError::kind(ExpectedKind::Map, "string"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, TypeError> {
        Err(TypeError::kind(ExpectedKind::Map, "string"))
    }
}
