//! [`Streamed`]: a body that is sent as it is produced.

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderValue, header};
use stockade_errors::{ApiError, BoxError};

use crate::description::ResponseDoc;
use crate::{HttpBody, Reply, Response, RouteDescription};

/// A response with a stream of chunks as its body.
///
/// Each chunk is sent when the stream produces it. The stream is polled for the
/// next chunk only when the client has room for it (backpressure). A stream
/// error closes the connection, which tells the client that data is missing.
///
/// ```
/// use std::convert::Infallible;
///
/// use futures_util::stream::iter;
/// use stockade::prelude::*;
/// use stockade::reply::Streamed;
/// # use stockade::testing::TestClient;
///
/// async fn export() -> ([(&'static str, &'static str); 1], Streamed) {
///     let rows = (1..=2).map(|id| format!("{id},room {id}\r\n"));
///     let lines = std::iter::once("id,name\r\n".to_owned()).chain(rows);
///     let csv = Streamed::new(iter(lines.map(Ok::<_, Infallible>))).content_type("text/csv");
///     ([("content-disposition", "attachment; filename=\"rooms.csv\"")], csv)
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// # let mut router = Router::new();
/// router.get("/rooms.csv", export);
/// # let answer = TestClient::new(router).get("/rooms.csv").await;
/// answer.assert_header("content-type", "text/csv");
/// answer.assert_text("id,name\r\n1,room 1\r\n2,room 2\r\n");
/// # }
/// ```
#[derive(Debug)]
pub struct Streamed {
    content_type: HeaderValue,
    body: HttpBody,
}

impl Streamed {
    /// Streams a body with the content type `application/octet-stream`.
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

    /// The content type is known only at run time.
    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::bytes(200, "*/*"));
    }
}
