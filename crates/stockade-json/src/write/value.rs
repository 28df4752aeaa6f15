//! Writes any value.

use std::fmt::{self, Write as _};

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;

use crate::write::buffer::Buffer;
use crate::write::compound::Compound;
use crate::write::embedded::{NUMBER, RAW_VALUE};
use crate::write::string;

/// Writes one value to the end of a buffer.
pub(crate) struct JsonWriter<'a> {
    out: &'a mut Buffer,
}

impl<'a> JsonWriter<'a> {
    #[inline]
    pub(crate) fn new(out: &'a mut Buffer) -> Self {
        Self { out }
    }

    /// Begins the object with the name of a variant.
    #[inline]
    fn tag(&mut self, variant: &str) {
        string::write_name(self.out, b'{', variant);
    }
}

macro_rules! by_itoa {
    ($($write:ident($kind:ty)),* $(,)?) => {
        $(
            #[inline]
            fn $write(out: &mut Buffer, value: $kind) {
                out.slice(itoa::Buffer::new().format(value).as_bytes());
            }
        )*
    };
}

by_itoa! {
    write_i64(i64),
    write_u64(u64),
    write_i128(i128),
    write_u128(u128),
}

macro_rules! floats {
    ($($serialize:ident($kind:ty)),* $(,)?) => {
        $(
            #[inline]
            fn $serialize(self, value: $kind) -> Result<(), Error> {
                if !value.is_finite() {
                    return Err(not_finite());
                }
                self.out.slice(zmij::Buffer::new().format_finite(value).as_bytes());
                Ok(())
            }
        )*
    };
}

#[cold]
fn not_finite() -> Error {
    Error::custom(
        "a float is NaN or infinite, which JSON cannot represent: use `None` to write null",
    )
}

macro_rules! numbers {
    ($($serialize:ident($kind:ty) by $write:ident),* $(,)?) => {
        $(
            #[inline]
            fn $serialize(self, value: $kind) -> Result<(), Error> {
                $write(self.out, value.into());
                Ok(())
            }
        )*
    };
}

impl<'a> Serializer for JsonWriter<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    numbers! {
        serialize_i8(i8) by write_i64,
        serialize_i16(i16) by write_i64,
        serialize_i32(i32) by write_i64,
        serialize_i64(i64) by write_i64,
        serialize_i128(i128) by write_i128,
        serialize_u8(u8) by write_u64,
        serialize_u16(u16) by write_u64,
        serialize_u32(u32) by write_u64,
        serialize_u64(u64) by write_u64,
        serialize_u128(u128) by write_u128,
    }

    floats! {
        serialize_f32(f32),
        serialize_f64(f64),
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    #[inline]
    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        string::write(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Error> {
        self.out.array(*b"null");
        Ok(())
    }

    #[inline]
    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.tag(variant);
        value.serialize(JsonWriter::new(self.out))?;
        self.out.push(b'}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _len: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(Compound::array(self.out))
    }

    #[inline]
    fn serialize_tuple(self, _len: usize) -> Result<Compound<'a>, Error> {
        Ok(Compound::array(self.out))
    }

    #[inline]
    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Compound<'a>, Error> {
        Ok(Compound::array(self.out))
    }

    #[inline]
    fn serialize_tuple_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'a>, Error> {
        self.tag(variant);
        Ok(Compound::array(self.out))
    }

    #[inline]
    fn serialize_map(self, _len: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(Compound::object(self.out))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Compound<'a>, Error> {
        match name {
            NUMBER | RAW_VALUE => Ok(Compound::embedded(self.out, name)),
            _ => Ok(Compound::object(self.out)),
        }
    }

    #[inline]
    fn serialize_struct_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'a>, Error> {
        self.tag(variant);
        Ok(Compound::object(self.out))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.out.push(b'"');
        write!(Escaping(self.out), "{value}").map_err(Error::custom)?;
        self.out.push(b'"');
        Ok(())
    }
}

/// Writes the pieces of a `Display` implementation and escapes them.
struct Escaping<'a>(&'a mut Buffer);

impl fmt::Write for Escaping<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        string::write_content(self.0, piece);
        Ok(())
    }
}
