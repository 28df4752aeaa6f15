//! Text that is already JSON: `RawValue`, and `Number` with the feature
//! `arbitrary_precision`.
//!
//! serde_json serializes both as a struct with a single field. The field has
//! the same name as the struct.

use std::io;

use serde::ser::{Error as _, Impossible, Serialize, SerializeStruct as _, Serializer};
use serde_json::Error;

use crate::write::buffer::Buffer;
use crate::write::refuse::{refuse_compounds, refuse_scalars};

/// serde_json's name for a number as text.
pub const NUMBER: &str = "$serde_json::private::Number";
/// serde_json's name for unparsed JSON.
pub const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Writes the field of such a struct.
#[cold]
pub(crate) fn write<T: Serialize + ?Sized>(
    out: &mut Buffer,
    name: &'static str,
    field: &'static str,
    value: &T,
) -> Result<(), Error> {
    if field != name {
        return Err(refusal(name, field));
    }
    value.serialize(EmbeddedWriter { out, name })
}

/// Returns serde_json's error for a field that is not a string.
#[cold]
fn refusal(name: &'static str, field: &'static str) -> Error {
    let mut theirs = serde_json::Serializer::new(io::sink());
    let said = theirs.serialize_struct(name, 1).and_then(|mut it| it.serialize_field(field, &()));
    // serde_json does not have this struct unless the feature is enabled.
    said.err().unwrap_or_else(|| Error::custom("expected JSON text"))
}

/// Writes a string unchanged, and rejects any other value.
struct EmbeddedWriter<'a> {
    out: &'a mut Buffer,
    name: &'static str,
}

impl EmbeddedWriter<'_> {
    #[cold]
    fn refusal(&self) -> Error {
        refusal(self.name, self.name)
    }
}

impl Serializer for EmbeddedWriter<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_str(self, json: &str) -> Result<(), Error> {
        self.out.slice(json.as_bytes());
        Ok(())
    }

    refuse_scalars! {
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
        serialize_f32(f32),
        serialize_f64(f64),
        serialize_char(char),
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<(), Error> {
        Err(self.refusal())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<(), Error> {
        Err(self.refusal())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _value: &T,
    ) -> Result<(), Error> {
        Err(self.refusal())
    }

    refuse_compounds!();
}
