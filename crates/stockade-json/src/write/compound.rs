//! Writes arrays and objects.

use serde::ser::{self, Serialize};
use serde_json::Error;

use crate::write::buffer::Buffer;
use crate::write::embedded;
use crate::write::key::KeyWriter;
use crate::write::string;
use crate::write::value::JsonWriter;

/// An unfinished array or object, or a struct that contains JSON.
pub(crate) struct Compound<'a> {
    out: &'a mut Buffer,
    /// The byte before the next item: first the bracket, then a comma. The
    /// bracket is delayed, so it is written together with the quotation mark of
    /// a name.
    lead: u8,
    /// serde_json's name for a struct that contains JSON. Otherwise empty.
    embedded: &'static str,
}

impl<'a> Compound<'a> {
    #[inline]
    pub(crate) fn array(out: &'a mut Buffer) -> Self {
        Self { out, lead: b'[', embedded: "" }
    }

    #[inline]
    pub(crate) fn object(out: &'a mut Buffer) -> Self {
        Self { out, lead: b'{', embedded: "" }
    }

    /// Begins a struct with a single field that is already JSON.
    #[inline]
    pub(crate) fn embedded(out: &'a mut Buffer, name: &'static str) -> Self {
        Self { out, lead: b',', embedded: name }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(self.lead);
        self.lead = b',';
        value.serialize(JsonWriter::new(self.out))
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        string::write_name(self.out, self.lead, name);
        self.lead = b',';
        value.serialize(JsonWriter::new(self.out))
    }

    #[inline]
    fn close_array(&mut self) {
        if self.lead == b'[' {
            self.out.push(b'[');
        }
        self.out.push(b']');
    }

    #[inline]
    fn close_object(&mut self) {
        if self.lead == b'{' {
            self.out.push(b'{');
        }
        self.out.push(b'}');
    }
}

/// Implements the serde traits that write an array and differ only in their
/// names.
macro_rules! write_as_array {
    ($($compound:ident by $element:ident),* $(,)?) => {
        $(
            impl ser::$compound for Compound<'_> {
                type Ok = ();
                type Error = Error;

                #[inline]
                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                    self.item(value)
                }

                #[inline]
                fn end(mut self) -> Result<(), Error> {
                    self.close_array();
                    Ok(())
                }
            }
        )*
    };
}

write_as_array! {
    SerializeSeq by serialize_element,
    SerializeTuple by serialize_element,
    SerializeTupleStruct by serialize_field,
}

impl ser::SerializeTupleVariant for Compound<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Error> {
        self.close_array();
        self.out.push(b'}');
        Ok(())
    }
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.out.push(self.lead);
        self.lead = b',';
        key.serialize(KeyWriter::new(self.out))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        value.serialize(JsonWriter::new(self.out))
    }

    #[inline]
    fn end(mut self) -> Result<(), Error> {
        self.close_object();
        Ok(())
    }
}

impl ser::SerializeStruct for Compound<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if self.embedded.is_empty() {
            return self.field(name, value);
        }
        embedded::write(self.out, self.embedded, name, value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Error> {
        if self.embedded.is_empty() {
            self.close_object();
        }
        Ok(())
    }
}

impl ser::SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(name, value)
    }

    #[inline]
    fn end(mut self) -> Result<(), Error> {
        self.close_object();
        self.out.push(b'}');
        Ok(())
    }
}
