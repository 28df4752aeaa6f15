//! Logs errors in response bodies.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use stockade_errors::BoxError;
use stockade_errors::panic::catch_panic_in_poll;

use super::ErrorContext;
use crate::HttpBody;
use crate::body::BoxStream;

impl HttpBody {
    /// Logs a stream error together with its request. Call it on the body of an
    /// outgoing response.
    pub(crate) fn log_to(&mut self, context: impl FnOnce() -> ErrorContext) {
        self.map_stream(|stream| {
            Box::pin(LoggedBody { state: StreamState::Runs(stream), context: context() })
        });
    }
}

/// A response stream, which may fail or panic after it began.
struct LoggedBody {
    state: StreamState,
    context: ErrorContext,
}

enum StreamState {
    Runs(BoxStream),
    /// The stream failed; the next poll returns the error.
    Failed(Option<BoxError>),
}

impl Body for LoggedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let stream = match &mut self.state {
            StreamState::Runs(stream) => stream,
            StreamState::Failed(error) => return Poll::Ready(error.take().map(Err)),
        };
        // A panic must not end the connection's task.
        let error = match ready!(catch_panic_in_poll(|| stream.as_mut().poll_frame(cx))) {
            Ok(Some(Err(error))) => error,
            Ok(frame) => return Poll::Ready(frame),
            Err(panic) => panic.into(),
        };
        self.context.log_late(error.as_ref());
        self.state = StreamState::Failed(Some(error));
        // Let the server poll once more before it gets the error. It then sends
        // its buffered bytes, so the client receives everything up to the
        // failure.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            StreamState::Runs(stream) => stream.is_end_stream(),
            StreamState::Failed(error) => error.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            StreamState::Runs(stream) => stream.size_hint(),
            StreamState::Failed(_) => SizeHint::default(),
        }
    }
}
