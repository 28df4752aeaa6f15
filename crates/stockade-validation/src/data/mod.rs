//! Read-only JSON data in two forms: parsed, as a `Value`, or unparsed, as a
//! [`Tape`] that lists the values of a text.
//!
//! - `look`: [`Data`], the access that both forms share.
//! - `value`: the parsed form.
//! - `tape`: the unparsed form, which copies nothing; `record` builds it from
//!   text.

mod look;
mod record;
mod tape;
mod value;

pub(crate) use look::{Data, Kind};
pub(crate) use tape::Tape;
