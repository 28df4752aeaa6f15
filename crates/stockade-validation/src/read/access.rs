//! Hot: [`Access`], the contents of arrays and objects, and [`Variant`], the
//! content of an enum.

use serde::de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::name::Name;
use super::parsed::Parsed;
use super::reader::TypedReader;
use super::source::{ExpectedKind, Frame, Source};
use super::type_error::TypeError;
use stockade_json::{Refused, keeps_digits};

/// The elements of an array, or the members of an object.
pub(super) struct Access<'a, 'de> {
    pub(super) source: &'a mut (dyn Source<'de> + 'a),
    pub(super) frame: &'a mut Frame<'de>,
}

impl<'de> Access<'_, 'de> {
    /// Reads the next value.
    #[inline]
    fn read<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, TypeError> {
        let value = seed.deserialize(TypedReader::new(self.source));
        match value {
            Ok(value) => Ok(value),
            Err(error) => Err(self.source.locate(self.frame, error)),
        }
    }
}

impl<'de> SeqAccess<'de> for Access<'_, 'de> {
    type Error = TypeError;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, TypeError> {
        match self.source.next_element(self.frame) {
            Ok(true) => match self.read(seed) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(error),
            },
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.frame.size_hint()
    }
}

impl<'de> MapAccess<'de> for Access<'_, 'de> {
    type Error = TypeError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, TypeError> {
        let key = match self.source.next_name(self.frame) {
            Ok(Some(name)) => seed.deserialize(Name::new(name)),
            Ok(None) => return Ok(None),
            Err(error) => return Err(error),
        };
        match key {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(of_name(self.source, self.frame, error)),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, TypeError> {
        match self.frame.default() {
            None => self.read(seed),
            Some(value) => self.read_default(seed, value),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.frame.size_hint()
    }
}

impl<'de> Access<'_, 'de> {
    #[cold]
    fn read_default<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
        value: &'de Value,
    ) -> Result<S::Value, TypeError> {
        // The slow path can also read it from rounded numbers.
        if keeps_digits() {
            return Err(Refused::Data.into());
        }
        let value = seed.deserialize(TypedReader::new(&mut Parsed::new(value)));
        value.map_err(|error| self.source.locate(self.frame, error))
    }
}

/// Adds the location of an invalid name to an error.
#[cold]
fn of_name<'de>(source: &mut dyn Source<'de>, frame: &Frame<'de>, error: TypeError) -> TypeError {
    let error = error.of_name();
    if error.is_unknown() { error } else { source.locate(frame, error) }
}

/// An enum: the name of its variant, followed by the content.
pub(super) struct Variant<'a, 'de> {
    pub(super) source: &'a mut (dyn Source<'de> + 'a),
    /// `None` for a variant that is only a text.
    pub(super) frame: Option<&'a mut Frame<'de>>,
}

impl<'a, 'de> Variant<'a, 'de> {
    fn read<T>(
        self,
        wanted: ExpectedKind,
        read: impl FnOnce(TypedReader<'_, 'de>) -> Result<T, TypeError>,
    ) -> Result<T, TypeError> {
        let Some(frame) = self.frame else {
            return Err(TypeError::kind(wanted, "string"));
        };
        let value = read(TypedReader::new(self.source));
        value.map_err(|error| self.source.locate(frame, error))
    }
}

impl<'a, 'de> EnumAccess<'de> for Variant<'a, 'de> {
    type Error = TypeError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), TypeError> {
        let Self { source, frame } = self;
        let Some(frame) = frame else {
            let value = seed.deserialize(Name::new(source.text(ExpectedKind::Variant)?))?;
            return Ok((value, Self { source, frame: None }));
        };
        let value = match source.next_name(frame)? {
            Some(name) => seed.deserialize(Name::new(name))?,
            None => return Err(TypeError::kind(ExpectedKind::Variant, "object")),
        };
        Ok((value, Self { source, frame: Some(frame) }))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = TypeError;

    fn unit_variant(self) -> Result<(), TypeError> {
        if self.frame.is_none() {
            return Ok(());
        }
        self.read(ExpectedKind::Null, |reader| <()>::deserialize(reader))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, TypeError> {
        self.read(ExpectedKind::Map, |reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, TypeError> {
        self.read(ExpectedKind::Map, |reader| reader.deserialize_tuple(len, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.read(ExpectedKind::Map, |reader| reader.deserialize_struct("", fields, visitor))
    }
}
