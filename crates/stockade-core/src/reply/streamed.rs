//! [`Streamed`]: a body that is sent as it is produced.

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderValue, header};
use stockade_errors::{ApiError, BoxError};

use crate::description::Answer;
use crate::{HttpBody, Reply, Response, RouteDoc};

/// An answer whose body is a stream of pieces.
///
/// Each piece is sent when the stream gives it; the stream is asked for the
/// next one only when the client has room for it. An error ends the connection,
/// so that the client notices that something is missing.
#[derive(Debug)]
pub struct Streamed {
    content_type: HeaderValue,
    body: HttpBody,
}

impl Streamed {
    /// Streams `application/octet-stream`.
    pub fn new<S, D, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<D, E>> + Send + 'static,
        D: Into<Bytes> + 'static,
        E: Into<BoxError> + 'static,
    {
        Self {
            content_type: HeaderValue::from_static("application/octet-stream"),
            body: HttpBody::stream(stream),
        }
    }

    /// Sets another content type, such as `text/csv`.
    #[must_use]
    pub fn content_type(mut self, content_type: &'static str) -> Self {
        self.content_type = HeaderValue::from_static(content_type);
        self
    }
}

impl Reply for Streamed {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = Response::new(self.body);
        response.headers_mut().insert(header::CONTENT_TYPE, self.content_type);
        Ok(response)
    }

    /// The content type is known at run time alone.
    fn describe(doc: &mut RouteDoc) {
        doc.answers(Answer::bytes(200, "*/*"));
    }
}
