//! JSON that is only looked at, in either of two forms: parsed, as a `Value`,
//! or written down as it came, on a [`Tape`].
//!
//! - `look`: [`Data`], what both forms tell of a value.
//! - `value`: the parsed form.
//! - `tape`: the other one, which copies nothing; `record`: from text to tape.

mod look;
mod record;
mod tape;
mod value;

pub(crate) use look::{Data, Kind};
pub(crate) use tape::Tape;
