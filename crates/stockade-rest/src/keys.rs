//! Reads some fields of an item without the others.

use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeMap, SerializeStruct, Serializer};
use serde_json::value::Serializer as ToValue;
use serde_json::{Error, Value};

/// Returns the values of these fields from an item's JSON. Other fields are not
/// copied.
///
/// # Errors
/// Returns an error if a field is missing, or if the item is not an object or
/// cannot be serialized.
pub(crate) fn keys_of(item: &impl Serialize, names: &[&str]) -> Result<Vec<Value>, Error> {
    let mut keys = vec![None; names.len()];
    item.serialize(Picker { names, keys: &mut keys, name: None })?;
    let keys = keys.into_iter().zip(names);
    let missing =
        |name| Error::custom(format_args!("the JSON of an item does not have the field {name:?}"));
    keys.map(|(key, name)| key.ok_or_else(|| missing(name))).collect()
}

/// A serializer that records the values of some fields.
struct Picker<'k> {
    names: &'k [&'k str],
    keys: &'k mut [Option<Value>],
    /// The index for the next value of a map, if the value is wanted.
    name: Option<usize>,
}

impl Picker<'_> {
    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|wanted| *wanted == name)
    }
}

fn no_object<T>() -> Result<T, Error> {
    Err(Error::custom("the JSON of an item is not an object"))
}

macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<(), Error> {
            no_object()
        })*
    };
}

impl Serializer for Picker<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Error>;

    scalars! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    }

    fn serialize_none(self) -> Result<(), Error> {
        no_object()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        no_object()
    }

    fn serialize_unit_variant(self, _: &str, _: u32, _: &str) -> Result<(), Error> {
        no_object()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &str,
        _: u32,
        _: &str,
        _: &T,
    ) -> Result<(), Error> {
        no_object()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        no_object()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        no_object()
    }

    fn serialize_tuple_struct(
        self,
        _: &str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Error> {
        no_object()
    }

    fn serialize_tuple_variant(
        self,
        _: &str,
        _: u32,
        _: &str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        no_object()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct(self, _: &str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &str,
        _: u32,
        _: &str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        no_object()
    }
}

impl SerializeStruct for Picker<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if let Some(at) = self.position(name) {
            self.keys[at] = Some(value.serialize(ToValue)?);
        }
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// A struct with flattened fields is serialized as a map.
impl SerializeMap for Picker<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Error> {
        self.name = name.serialize(ToValue)?.as_str().and_then(|name| self.position(name));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if let Some(at) = self.name.take() {
            self.keys[at] = Some(value.serialize(ToValue)?);
        }
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Tea {
        id: i64,
        #[serde(rename = "NAME")]
        name: &'static str,
        price: Price,
        tags: Vec<Never>,
    }

    #[derive(Serialize)]
    struct Price(f64);

    /// A value that fails to serialize.
    struct Never;

    impl Serialize for Never {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("it was written"))
        }
    }

    #[derive(Serialize)]
    struct Flat {
        shelf: u8,
        #[serde(flatten)]
        tea: Tea,
    }

    #[derive(Serialize)]
    struct Wrapped<T>(T);

    fn tea() -> Tea {
        Tea { id: 7, name: "Assam", price: Price(4.5), tags: vec![] }
    }

    #[track_caller]
    fn check(item: &impl Serialize, names: &[&str], expected: &Value) {
        assert_eq!(Value::from(keys_of(item, names).unwrap()), *expected, "{names:?}");
    }

    #[test]
    fn keys_are_in_the_order_of_the_names() {
        check(&tea(), &["id"], &json!([7]));
        check(&tea(), &["price", "NAME", "id"], &json!([4.5, "Assam", 7]));
        check(&tea(), &[], &json!([]));
        check(&Some(Wrapped(tea())), &["NAME"], &json!(["Assam"]));
        check(&Flat { shelf: 3, tea: tea() }, &["id", "shelf"], &json!([7, 3]));
        check(&json!({ "a": { "b": 1 }, "b": 2 }), &["b", "a"], &json!([2, { "b": 1 }]));
    }

    #[test]
    fn other_fields_are_not_written() {
        let item = Tea { tags: vec![Never], ..tea() };
        check(&item, &["id", "NAME"], &json!([7, "Assam"]));
        assert_eq!(keys_of(&item, &["tags"]).unwrap_err().to_string(), "it was written");
    }

    #[track_caller]
    fn check_refused(item: &impl Serialize, names: &[&str], expected: &str) {
        assert_eq!(keys_of(item, names).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_missing_field_is_an_error() {
        check_refused(
            &tea(),
            &["id", "name"],
            "the JSON of an item does not have the field \"name\"",
        );
        for item in [json!(null), json!(true), json!(1), json!("id"), json!(["id"])] {
            check_refused(&item, &["id"], "the JSON of an item is not an object");
        }
    }
}
