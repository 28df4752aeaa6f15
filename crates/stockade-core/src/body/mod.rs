//! Bodies of messages: the bytes, and what can go wrong while they come.

mod error;
mod http_body;

pub use error::BodyError;
pub use http_body::HttpBody;
