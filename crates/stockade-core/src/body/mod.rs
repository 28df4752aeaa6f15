//! Bodies of messages: the bytes, and the errors that can happen while they
//! come.

mod error;
mod http_body;

pub use error::BodyError;
pub(crate) use http_body::BoxStream;
pub use http_body::HttpBody;
