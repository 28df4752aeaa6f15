//! The methods of a `Serializer` that accepts little more than strings.
//!
//! Each method returns the error from the writer's `refusal`.

macro_rules! refuse_scalars {
    ($($serialize:ident($kind:ty)),* $(,)?) => {
        $(
            fn $serialize(self, _value: $kind) -> Result<(), Error> {
                Err(self.refusal())
            }
        )*
    };
}

macro_rules! refuse_compounds {
    () => {
        fn serialize_bytes(self, _value: &[u8]) -> Result<(), Error> {
            Err(self.refusal())
        }

        fn serialize_none(self) -> Result<(), Error> {
            Err(self.refusal())
        }

        fn serialize_unit(self) -> Result<(), Error> {
            Err(self.refusal())
        }

        fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
            Err(self.refusal())
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _value: &T,
        ) -> Result<(), Error> {
            Err(self.refusal())
        }

        fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq, Error> {
            Err(self.refusal())
        }

        fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple, Error> {
            Err(self.refusal())
        }

        fn serialize_tuple_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleStruct, Error> {
            Err(self.refusal())
        }

        fn serialize_tuple_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleVariant, Error> {
            Err(self.refusal())
        }

        fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap, Error> {
            Err(self.refusal())
        }

        fn serialize_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStruct, Error> {
            Err(self.refusal())
        }

        fn serialize_struct_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStructVariant, Error> {
            Err(self.refusal())
        }
    };
}

pub(super) use {refuse_compounds, refuse_scalars};
