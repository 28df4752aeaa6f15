//! From JSON text to a typed value, judged on the way.
//!
//! Text goes through serde into the type, and each value that passes is judged
//! by the `Node` of the schema. This way is given up at
//! the first value that is wrong, or that one look cannot settle. Then the
//! values of the text are found once more, without the type, and `check` judges
//! them and makes the messages. They stay a `Tape` unless
//! a function wants them parsed or a name comes twice. Valid data becomes a
//! `Value`, and the type is read from that. So the quick way only ever says
//! "valid".
//!
//! - `error`: `ReadError`.
//! - `schema`: `Schema::read_json` and `Schema::read_value`.
//! - `untyped`: `read_value`, without a schema.
//! - `reader`: `TypedReader`, the deserializer of all types; `access`: the
//!   contents of arrays, objects and enums; `name`: the names of members and
//!   variants.
//! - `slot`: `Slot`, the place of a value whose type is not named.
//! - `source`: `Source`, the values that a reader takes.
//! - `json`, `pairs`: sources whose values are validated while they are read; `validating`:
//!   the validation of these values.
//! - `parsed`: the source of validated data; `duplicate`: names that an object has more than
//!   once; `text_value`: texts for numbers.
//! - `probe`: sources without data, which find out what a type reads.
//! - `common`: types that are read here for all programs.
//! - `type_error`: `TypeError`, the error of all of them.

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
