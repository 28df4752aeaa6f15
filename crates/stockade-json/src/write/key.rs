//! Writes map keys, which are strings in JSON.

use std::{fmt, io};

use serde::ser::{Error as _, Impossible, Serialize, SerializeMap as _, Serializer};
use serde_json::Error;

use crate::write::buffer::Buffer;
use crate::write::refuse::refuse_compounds;
use crate::write::value::JsonWriter;

/// Writes a key to the end of a buffer.
pub(crate) struct KeyWriter<'a> {
    out: &'a mut Buffer,
}

impl<'a> KeyWriter<'a> {
    #[inline]
    pub(crate) fn new(out: &'a mut Buffer) -> Self {
        Self { out }
    }

    #[cold]
    #[expect(clippy::unused_self, reason = "every writer that can refuse has it")]
    fn refusal(&self) -> Error {
        refusal(&())
    }
}

/// Returns serde_json's error for an invalid key, which only serde_json can
/// create.
#[cold]
fn refusal<T: Serialize>(key: &T) -> Error {
    let mut theirs = serde_json::Serializer::new(io::sink());
    let said = theirs.serialize_map(None).and_then(|mut map| map.serialize_key(key));
    said.err().unwrap_or_else(|| Error::custom("key must be a string"))
}

macro_rules! quoted {
    ($($serialize:ident($kind:ty)),* $(,)?) => {
        $(
            fn $serialize(self, value: $kind) -> Result<(), Error> {
                self.out.push(b'"');
                JsonWriter::new(self.out).$serialize(value)?;
                self.out.push(b'"');
                Ok(())
            }
        )*
    };
}

macro_rules! quoted_if_finite {
    ($($serialize:ident($kind:ty)),* $(,)?) => {
        $(
            fn $serialize(self, value: $kind) -> Result<(), Error> {
                if !value.is_finite() {
                    return Err(refusal(&value));
                }
                self.out.push(b'"');
                JsonWriter::new(self.out).$serialize(value)?;
                self.out.push(b'"');
                Ok(())
            }
        )*
    };
}

impl Serializer for KeyWriter<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        JsonWriter::new(self.out).serialize_str(value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        JsonWriter::new(self.out).serialize_char(value)
    }

    quoted! {
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
    }

    quoted_if_finite! {
        serialize_f32(f32),
        serialize_f64(f64),
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    refuse_compounds!();

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        JsonWriter::new(self.out).collect_str(value)
    }
}
