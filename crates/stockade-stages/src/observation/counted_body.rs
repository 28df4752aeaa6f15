//! [`CountedBody`]: a response body that reports its end.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use stockade_core::reply::sse_internals::EndOfStream;
use stockade_core::{BoxError, HttpBody};

use super::{Ending, Observation};

/// A stream with a byte count. Its end is the end of the request.
pub(super) struct CountedBody {
    body: HttpBody,
    observation: Observation,
    bytes: u64,
    /// The length of the whole body, if known. A server need not poll after
    /// that.
    announced: Option<u64>,
    /// The shutdown signal, if a shutdown ends the stream.
    end: Option<EndOfStream>,
}

impl CountedBody {
    /// Counts a body with or without an announced length.
    pub(super) fn new(body: HttpBody, observation: Observation, announced: Option<u64>) -> Self {
        let announced = body.size_hint().exact().or(announced);
        Self { body, observation, bytes: 0, announced, end: None }
    }

    /// Sets the shutdown signal that ends the stream.
    pub(super) fn ending(mut self, end: Option<EndOfStream>) -> Self {
        self.end = end;
        self
    }

    /// Converts it to a body for the response.
    pub(super) fn into_body(self) -> HttpBody {
        HttpBody::new(self)
    }
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let polled = this.observation.in_span(|| Pin::new(&mut this.body).poll_frame(cx));
        let polled = ready!(polled);
        let bytes = this.bytes;
        match &polled {
            Some(Ok(frame)) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                this.bytes = bytes.saturating_add(length as u64);
            }
            Some(Err(_)) => this.observation.end(Some(bytes), Ending::Broken),
            None => {
                let is_short = this.announced.is_some_and(|announced| bytes < announced);
                let ending = if is_short { Ending::Broken } else { Ending::Whole };
                this.observation.end(Some(bytes), ending);
            }
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        let whole = self.body.is_end_stream()
            || self.announced == Some(self.bytes)
            || self.end.as_ref().is_some_and(EndOfStream::is_set);
        // Logs from the drop of a stream belong to its request too.
        let body = std::mem::take(&mut self.body);
        self.observation.in_span(|| drop(body));
        let ending = if whole { Ending::Whole } else { Ending::Left };
        self.observation.end(Some(self.bytes), ending);
    }
}
