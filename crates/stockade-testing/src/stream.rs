//! [`TestStream`]: a streamed response.

use std::fmt;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use stockade_core::HttpBody;
use stockade_hardening::exchange::Exchange;
use stockade_hardening::fail::or_fail;

use crate::event::EventReader;
use crate::{IntoStatus, TestClient, TestError, TestEvent, TestResponse};

/// A response with a body that is read by chunk or by event.
///
/// Dropping it early disconnects the client and cancels the handler's stream.
pub struct TestStream {
    client: TestClient,
    pub(crate) exchange: Exchange,
    body: HttpBody,
    is_broken: bool,
    events: EventReader,
}

impl TestStream {
    pub(crate) fn new(client: TestClient, exchange: Exchange, body: HttpBody) -> Self {
        Self { client, exchange, body, is_broken: false, events: EventReader::default() }
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.exchange.status
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.exchange.headers
    }

    /// Asserts the status, such as `200` or `StatusCode::OK`.
    ///
    /// # Panics
    /// Panics if the status differs.
    #[track_caller]
    pub fn assert_status(&self, expected: impl IntoStatus) -> &Self {
        self.exchange.assert_status(expected.into_status());
        self
    }

    /// Asserts the value of a header. Repeated headers are joined with a comma
    /// and a space.
    ///
    /// # Panics
    /// Panics if the header is missing or the value differs.
    #[track_caller]
    pub fn assert_header(&self, name: &str, expected: &str) -> &Self {
        self.exchange.assert_header(name, expected);
        self
    }

    /// Returns the next chunk of the body; `None` at its end.
    ///
    /// Over a port, the transport may join or split the chunks of the handler.
    ///
    /// # Panics
    /// Panics if the body ends early or the timeout expires.
    pub async fn chunk(&mut self) -> Option<Bytes> {
        or_fail(self.try_chunk().await)
    }

    /// Returns the next chunk of the body; `None` at its end.
    ///
    /// # Errors
    /// Fails if the body ends early or the timeout expires.
    pub async fn try_chunk(&mut self) -> Result<Option<Bytes>, TestError> {
        let piece = if self.is_broken {
            Ok(Err(TestError::new(BROKEN)))
        } else {
            self.client.in_time("chunk of the body", next_piece(&mut self.body)).await
        };
        self.is_broken |= matches!(piece, Ok(Err(_)));
        piece.and_then(|piece| piece).map_err(|error| error.in_exchange(&self.exchange))
    }

    /// Returns the next server-sent event; `None` at the end of the stream.
    /// Skips comments, which keep a connection alive.
    ///
    /// # Panics
    /// Panics if the body ends early or the timeout expires.
    pub async fn next_event(&mut self) -> Option<TestEvent> {
        loop {
            if let Some(event) = self.events.next() {
                return Some(event);
            }
            let piece = self.chunk().await?;
            self.events.push(&piece);
        }
    }

    /// Reads the rest of the body.
    ///
    /// # Panics
    /// Panics if the body ends early or the timeout expires.
    pub async fn into_response(self) -> TestResponse {
        or_fail(self.try_into_response().await)
    }

    pub(crate) async fn try_into_response(mut self) -> Result<TestResponse, TestError> {
        if self.is_broken {
            return Err(TestError::new(BROKEN).in_exchange(&self.exchange));
        }
        let mut bytes = BytesMut::new();
        let whole = collect(&mut self.body, &mut bytes);
        let whole = self.client.in_time("complete response", whole).await;
        // An error prints the received part.
        self.exchange.body = bytes.freeze();
        let whole = whole.and_then(|whole| whole).and_then(|()| self.check_contract(true));
        match whole {
            Ok(()) => Ok(TestResponse { exchange: self.exchange }),
            Err(error) => Err(error.in_exchange(&self.exchange)),
        }
    }

    /// Returns the stream if its head satisfies the contract of the client.
    pub(crate) fn checked(self) -> Result<Self, TestError> {
        match self.check_contract(false) {
            Ok(()) => Ok(self),
            Err(error) => Err(error.in_exchange(&self.exchange)),
        }
    }

    /// Checks the response against the contract of the client. Includes the
    /// body if all of it was received.
    #[cfg(feature = "contract")]
    fn check_contract(&self, is_whole: bool) -> Result<(), TestError> {
        let Some(contract) = &self.client.contract else { return Ok(()) };
        let outcome = contract.check_exchange(&self.exchange, is_whole);
        outcome.map_err(|error| TestError::new(error.to_string()))
    }

    #[cfg(not(feature = "contract"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    fn check_contract(&self, _is_whole: bool) -> Result<(), TestError> {
        Ok(())
    }
}

/// Returns the next chunk of data, without trailers.
async fn next_piece(body: &mut HttpBody) -> Result<Option<Bytes>, TestError> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| TestError::new(BROKEN).caused_by(error))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    // A stream may panic if it is polled after its end.
    *body = HttpBody::empty();
    Ok(None)
}

async fn collect(body: &mut HttpBody, bytes: &mut BytesMut) -> Result<(), TestError> {
    while let Some(piece) = next_piece(body).await? {
        if bytes.len() + piece.len() > MAX_WHOLE {
            let what =
                "the body is larger than 64 MiB: use TestRequest::stream to read it in chunks";
            return Err(TestError::new(what));
        }
        bytes.extend_from_slice(&piece);
        // A handler that never waits must not block the timeout.
        tokio::task::consume_budget().await;
    }
    Ok(())
}

impl fmt::Debug for TestStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.exchange, f)
    }
}

const BROKEN: &str = "the body ended early";

/// The maximum size of a body that is read completely.
const MAX_WHOLE: usize = 64 * 1024 * 1024;
