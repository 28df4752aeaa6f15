//! JSON data that is only read, in either of two forms: parsed, as a `Value`,
//! or as a list of the values in the text, a [`Tape`].
//!
//! - `look`: [`Data`], the view of a value that both forms share.
//! - `value`: the parsed form.
//! - `tape`: the other one, which copies nothing; `record`: from text to tape.

mod look;
mod record;
mod tape;
mod value;

pub(crate) use look::{Data, Kind};
pub(crate) use tape::Tape;
