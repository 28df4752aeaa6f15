//! Reads typed values from JSON text and validates them on the way.
//!
//! serde reads the text into the type, and the `Node` of the schema validates
//! each value that passes. This fast path gives up at the first value that is
//! invalid, or that one look cannot decide. Then the values of the text are
//! located again, without the type. `check` validates them and creates the
//! messages. They remain a `Tape` unless a function needs parsed values or a
//! name is duplicated. Valid data becomes a `Value`, from which the type is
//! read. The fast path therefore only ever reports "valid".
//!
//! - `error`: `ReadError`.
//! - `schema`: `Schema::read_json` and `Schema::read_value`.
//! - `untyped`: `read_value`, without a schema.
//! - `reader`: `TypedReader`, the deserializer of all types; `access`: the
//!   contents of arrays, objects and enums; `name`: the names of members and
//!   variants.
//! - `slot`: `Slot`, the target of a value of an unnamed type.
//! - `source`: `Source`, the values that a reader consumes.
//! - `json`, `pairs`: sources that validate their values while they are read;
//!   `validating`: the validation of these values.
//! - `parsed`: the source of validated data; `duplicate`: duplicate member
//!   names; `text_value`: texts for numbers.
//! - `probe`: sources without data, which determine the values that a type
//!   reads.
//! - `common`: types that are compiled here for all programs.
//! - `type_error`: `TypeError`, the error of all sources.

mod access;
mod common;
mod duplicate;
mod error;
mod json;
mod name;
mod pairs;
mod parsed;
mod probe;
mod reader;
#[cfg(test)]
mod same_as_serde_json;
mod schema;
mod slot;
mod source;
mod text_value;
mod type_error;
mod untyped;
mod validating;

pub use common::COMMON_TYPES;
pub use error::{ReadError, too_many_values};
pub use pairs::{Field, PairsKind};
pub use probe::{Fit, ParamShape, fit_of, read_nothing, shape_of};
pub use reader::TypedReader;
pub use slot::{Slot, nothing_read};
pub use type_error::TypeError;
pub use untyped::{read_texts_into, read_value};

pub(crate) use probe::kinds_of;
