//! Message compression: permessage-deflate (RFC 7692), with the feature
//! `compression`.
//!
//! - `options`: [`Deflate`], the options of a route.
//! - `negotiation`: the client's offers and the response to them. Pure
//!   functions.
//! - `codec`: `Inflater` and `Deflater`, the streams of one connection.

mod codec;
mod negotiation;
mod options;

pub(crate) use codec::{Deflater, Inflater};
pub(crate) use negotiation::{Agreed, negotiate};
pub use options::Deflate;
