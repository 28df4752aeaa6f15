//! [`ResponseBody`]: the body of an answer; its end is the end of the request.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use stockade_core::{BoxFuture, HttpBody};
use stockade_errors::BoxError;
use tokio::sync::watch;

use crate::accept::{Stage, reached};
use crate::record::InFlight;

/// The body of an answer. The request is running until it is dropped.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    body: HttpBody,
    in_flight: InFlight,
    http2: Option<Http2>,
}

/// HTTP/2 only: hyper asks for more only when the client has room, so that a
/// body that is not asked waits for the client.
#[derive(Debug)]
struct Http2 {
    owed: bool,
    /// What did not fit into the last piece.
    rest: Bytes,
}

impl ResponseBody {
    pub(crate) fn new(body: HttpBody, in_flight: InFlight, http2: bool) -> Self {
        let http2 = http2.then(|| {
            let owed = !body.is_end_stream();
            in_flight.record().answer_moved(false, owed);
            Http2 { owed, rest: Bytes::new() }
        });
        Self { body, in_flight, http2 }
    }

    /// Pieces are kept small, so that this lives until the client has nearly
    /// everything: what hyper has taken is out of sight.
    fn poll_http2(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(http2) = &mut self.http2 else { return Pin::new(&mut self.body).poll_frame(cx) };
        let mut polled = if http2.rest.is_empty() {
            Pin::new(&mut self.body).poll_frame(cx)
        } else {
            Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut http2.rest)))))
        };
        if let Poll::Ready(Some(Ok(frame))) = &mut polled
            && let Some(data) = frame.data_mut()
            && data.len() > MAX_PIECE
        {
            http2.rest = data.split_off(MAX_PIECE);
        }
        let owed = matches!(polled, Poll::Ready(Some(_)));
        self.in_flight.record().answer_moved(http2.owed, owed);
        http2.owed = owed;
        polled
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.http2.is_none() {
            Pin::new(&mut self.body).poll_frame(cx)
        } else {
            self.poll_http2(cx)
        }
    }

    fn is_end_stream(&self) -> bool {
        self.http2.as_ref().is_none_or(|http2| http2.rest.is_empty()) && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        if let Some(Http2 { rest, .. }) = &self.http2 {
            let rest = rest.len() as u64;
            let upper = hint.upper();
            hint = SizeHint::new();
            if let Some(upper) = upper {
                hint.set_upper(upper + rest);
            }
            hint.set_lower(self.body.size_hint().lower() + rest);
        }
        hint
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        if let Some(http2) = &self.http2 {
            self.in_flight.record().answer_moved(http2.owed, false);
        }
    }
}

/// A body that ends when the server begins to shut down.
pub(crate) fn until_shutdown(body: HttpBody, mut stage: watch::Receiver<Stage>) -> HttpBody {
    let shutdown = Box::pin(async move { reached(&mut stage, Stage::Finishing).await });
    HttpBody::new(UntilShutdown { body, shutdown: Some(shutdown) })
}

struct UntilShutdown {
    body: HttpBody,
    /// `None` when it has begun.
    shutdown: Option<BoxFuture<'static, ()>>,
}

impl Body for UntilShutdown {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(shutdown) = &mut self.shutdown else { return Poll::Ready(None) };
        if shutdown.as_mut().poll(cx).is_ready() {
            self.shutdown = None;
            self.body = HttpBody::empty();
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }
}

/// 64 KiB.
const MAX_PIECE: usize = 65_536;
