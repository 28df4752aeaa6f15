//! [`asked`]: what a type would be read from.

use serde::Deserializer;
use serde::de::value::Error;
use serde::de::{self, DeserializeOwned, Visitor};
use serde::forward_to_deserialize_any;

/// What a type would be read from.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Asked {
    /// A boolean, a number, text, or an enum, which may be text.
    Single,
    /// An array of so many elements.
    Tuple(usize),
    /// An array.
    List,
    /// A struct with these fields.
    Fields(&'static [&'static str]),
    /// A map, or something that cannot be told.
    Any,
}

/// Finds out what a type would be read from, perhaps in a newtype or an
/// `Option`, without any data.
#[doc(hidden)]
#[must_use]
pub fn asked<T: DeserializeOwned>() -> Asked {
    let mut asked = Asked::Any;
    // It always fails; what counts is what was asked for.
    let _: Result<T, Error> = T::deserialize(Probe { asked: &mut asked });
    asked
}

/// Whether the type is a struct with named fields, perhaps in a newtype or an
/// `Option`.
///
/// serde reads such a struct from an array too, by position. Clients of an API
/// name their fields.
pub(super) fn is_named<T: DeserializeOwned>() -> bool {
    matches!(asked::<T>(), Asked::Fields(_))
}

/// Has no value; notes what it is asked for.
struct Probe<'a> {
    asked: &'a mut Asked,
}

impl Probe<'_> {
    fn note<T>(self, asked: Asked) -> Result<T, Error> {
        *self.asked = asked;
        Err(de::Error::custom("no value"))
    }
}

/// The methods that ask for one value.
macro_rules! single {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
                self.note(Asked::Single)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    single! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        self.note(Asked::Any)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        self.note(Asked::List)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.note(Asked::Tuple(len))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.note(Asked::Tuple(len))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.note(Asked::Fields(fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.note(Asked::Single)
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct map identifier ignored_any }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only asked")]
    struct User {
        name: String,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only asked")]
    struct Wrapped(Option<User>);

    #[test]
    fn types_are_asked_without_data() {
        assert_eq!(asked::<u8>(), Asked::Single);
        assert_eq!(asked::<Option<String>>(), Asked::Single);
        assert_eq!(asked::<(u8, u8)>(), Asked::Tuple(2));
        assert_eq!(asked::<Vec<u8>>(), Asked::List);
        assert_eq!(asked::<Wrapped>(), Asked::Fields(&["name"]));
        assert_eq!(asked::<BTreeMap<String, u8>>(), Asked::Any);
    }
}
