//! Message bodies, and the errors that can occur while they arrive.

mod error;
mod http_body;

pub use error::BodyError;
pub(crate) use http_body::BoxStream;
pub use http_body::HttpBody;
