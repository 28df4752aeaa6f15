//! From JSON text to a typed value, judged on the way.
//!
//! Text goes through serde into the type, and each value that passes is judged
//! by the [`Plan`](crate::plan::Plan) of the schema. At the first thing that is
//! wrong, or that the plan cannot settle, this way is given up; then the values
//! of the text are found once more, without the type, and `check` judges them
//! with all its words. They stay a [`Tape`](crate::data::Tape) unless a function
//! wants them parsed or a name comes twice. What is right becomes a `Value`, and
//! the type is read from that. So the quick way only ever says "valid".
//!
//! - `error`: [`ReadError`].
//! - `schema`: [`Schema::read_json`](crate::Schema::read_json) and
//!   [`Schema::read_value`](crate::Schema::read_value).
//! - `untyped`: [`read_value`], without a schema.
//! - `judged`: the deserializer that judges what passes.
//! - `member`, `element`, `variant`: the contents of objects and arrays, and
//!   enums.
//! - `misfit`: what is said of a value that does not fit its type.
//! - `asked`: what a type would be read from.
//! - `twice`: names that an object has more than once.

mod asked;
mod element;
mod error;
mod judged;
mod member;
mod misfit;
mod schema;
mod twice;
mod untyped;
mod variant;

pub use asked::{Asked, asked};
pub use error::ReadError;
pub use untyped::read_value;

pub(crate) use judged::is_private;
