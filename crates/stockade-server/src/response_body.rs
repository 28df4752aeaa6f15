//! [`ResponseBody`]: the body of a response. Its end is the end of the request.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use stockade_core::reply::sse_internals::EndOfStream;
use stockade_core::{BoxFuture, HttpBody};
use stockade_errors::BoxError;
use tokio::sync::watch;

use crate::accept::{Stage, reached};
use crate::connection_record::InFlight;
use crate::streams;

/// The body of a response. The request runs until this is dropped.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    body: HttpBody,
    in_flight: InFlight,
    /// The body is in memory and is sent as a whole, so it never breaks off.
    is_whole: bool,
    pieces: Option<Pieces>,
    /// The head announces the length of this body, which is not in memory.
    announces: bool,
    /// The premature end of the body, held back until hyper has written the
    /// earlier bytes.
    premature_end: Option<Box<PrematureEnd>>,
}

/// A premature end: an error, or `None` if the body is too short.
type PrematureEnd = Option<BoxError>;

type PolledFrame = Poll<Option<Result<Frame<Bytes>, BoxError>>>;

/// The state of a body that hyper gets in pieces if its frames are large: every
/// body on HTTP/2, and large bodies that hyper copies on HTTP/1. Event streams
/// also use it, which adds no cost to other bodies.
#[derive(Debug)]
struct Pieces {
    /// The rest of a large frame, after the last piece.
    rest: Bytes,
    /// HTTP/2: the number of bytes in memory while this exists, if there are
    /// many.
    held: u64,
    /// HTTP/2: hyper polls the body only when the client has room. An unpolled
    /// body therefore waits for the client, which [`streams`] watches.
    http2: bool,
    /// Records the end of the body when the server begins to shut down.
    end: Option<EndOfStream>,
}

impl ResponseBody {
    pub(crate) fn new(
        body: HttpBody,
        in_flight: InFlight,
        http2: bool,
        end: Option<EndOfStream>,
    ) -> Self {
        let length = body.as_bytes().map(<[u8]>::len);
        let is_copied = !http2 && length.is_some_and(|length| length <= MAX_COPIED);
        let is_whole = is_copied || !http2 && in_flight.record().http1.is_vectored();
        if is_whole && end.is_none() {
            let is_whole = length.is_some();
            return Self {
                body,
                in_flight,
                is_whole,
                pieces: None,
                announces: false,
                premature_end: None,
            };
        }
        let held = length.filter(|length| http2 && *length > MAX_PIECE).unwrap_or(0) as u64;
        if held > 0 {
            in_flight.record().http2.hold(held);
        }
        let pieces = Some(Pieces { rest: Bytes::new(), held, http2, end });
        Self { body, in_flight, is_whole: false, pieces, announces: false, premature_end: None }
    }

    /// Sets whether the head announces the length of a body that is not in
    /// memory.
    pub(crate) fn announcing(mut self, announces: bool) -> Self {
        self.announces = announces;
        self
    }

    /// Lets hyper write its buffered data before it learns that the body breaks
    /// off: `polled` becomes pending. Otherwise hyper drops the head and the
    /// unwritten data.
    #[cold]
    fn end(&mut self, polled: &mut PolledFrame, cx: &Context<'_>) {
        let is_http2 = self.pieces.as_ref().is_some_and(|pieces| pieces.http2);
        let Poll::Ready(end) = std::mem::replace(polled, Poll::Pending) else { return };
        let end = end.and_then(Result::err);
        if end.is_none() {
            // On HTTP/2, hyper ends the stream after the data.
            if !self.announces || is_http2 {
                *polled = Poll::Ready(None);
                return;
            }
            let message = "a handler's stream is shorter than its Content-Length";
            log::error!(target: "stockade", "{message}");
        }
        self.premature_end = Some(Box::new(end));
        cx.waker().wake_by_ref();
    }

    /// Polls the body in small pieces. On HTTP/2, this therefore exists until
    /// the client has nearly everything: the server cannot see the bytes inside
    /// hyper.
    fn poll_pieces(&mut self, cx: &mut Context<'_>) -> PolledFrame {
        let Some(pieces) = &mut self.pieces else {
            return Pin::new(&mut self.body).poll_frame(cx);
        };
        if let Some(end) = &pieces.end
            && self.in_flight.record().is_told_to_shut_down()
        {
            end.set();
            self.body = HttpBody::empty();
        }
        let mut polled = if pieces.rest.is_empty() {
            Pin::new(&mut self.body).poll_frame(cx)
        } else {
            Poll::Ready(Some(Ok(Frame::data(last_apart(&mut pieces.rest)))))
        };
        if let Poll::Ready(Some(Ok(frame))) = &mut polled
            && let Some(data) = frame.data_mut()
            && data.len() > MAX_PIECE
        {
            pieces.rest = data.split_off(MAX_PIECE);
        }
        match &polled {
            _ if !pieces.http2 => {}
            Poll::Ready(Some(Ok(frame))) => {
                streams::gave_data(frame.data_ref().map_or(0, Bytes::len))
            }
            _ => streams::has_no_data(),
        }
        polled
    }
}

/// Takes the rest of a large frame. Copies a short rest, because a slice would
/// keep the whole frame in memory.
fn last_apart(rest: &mut Bytes) -> Bytes {
    let rest = std::mem::take(rest);
    if rest.len() > MAX_PIECE { rest } else { Bytes::copy_from_slice(&rest) }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame {
        if self.is_whole {
            return Pin::new(&mut self.body).poll_frame(cx);
        }
        if let Some(end) = self.premature_end.take() {
            return Poll::Ready(end.map(Err));
        }
        let mut polled = if self.pieces.is_none() {
            Pin::new(&mut self.body).poll_frame(cx)
        } else {
            self.poll_pieces(cx)
        };
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.end(&mut polled, cx);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.as_ref().is_none_or(|pieces| pieces.rest.is_empty())
            && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        if let Some(Pieces { rest, .. }) = &self.pieces {
            let rest = rest.len() as u64;
            if let Some(upper) = hint.upper() {
                hint.set_upper(upper + rest);
            }
            hint.set_lower(hint.lower() + rest);
        }
        hint
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.in_flight.record().http1.exchanges.answered();
        match self.pieces {
            None => {}
            Some(Pieces { http2: false, .. }) if self.in_flight.record().http1.is_vectored() => {}
            Some(Pieces { http2: false, .. }) => self.in_flight.record().ask_for_vectored(),
            Some(Pieces { held, .. }) => self.in_flight.record().http2.release(held),
        }
    }
}

/// Creates a body that ends when the server begins to shut down, for HTTP/2.
///
/// On HTTP/1, the connection polls its body and is woken by a command, so
/// [`ResponseBody`] checks for that command. An HTTP/2 stream has a separate
/// task that watches the stage. This costs 700 instructions per event, because
/// hyper polls a body three times.
pub(crate) fn until_shutdown(
    body: HttpBody,
    mut stage: watch::Receiver<Stage>,
    end: EndOfStream,
) -> HttpBody {
    let shutdown = Box::pin(async move { reached(&mut stage, Stage::Finishing).await });
    HttpBody::new(UntilShutdown { body, shutdown: Some(shutdown), end })
}

struct UntilShutdown {
    body: HttpBody,
    /// `None` once the shutdown has begun.
    shutdown: Option<BoxFuture<'static, ()>>,
    end: EndOfStream,
}

impl Body for UntilShutdown {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame {
        let Some(shutdown) = &mut self.shutdown else { return Poll::Ready(None) };
        if shutdown.as_mut().poll(cx).is_ready() {
            self.shutdown = None;
            self.end.set();
            self.body = HttpBody::empty();
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }
}

/// The largest body that hyper copies after its head: 4 KiB. The buffer for the
/// head has an initial size of 8 KiB and does not grow.
const MAX_COPIED: usize = 4_096;

/// The largest piece: 32 KiB. The server sees progress only once the client has
/// accepted a complete piece. At the minimum rate, a piece must fit into the
/// write stall timeout: 37,500 bytes by default.
const MAX_PIECE: usize = 32_768;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ServerOptions;
    use crate::time_budget::TimeBudget;

    #[test]
    fn a_client_at_the_minimum_rate_reads_a_piece_in_time() {
        let options = ServerOptions::new();
        let mut budget = TimeBudget::full(options.write_terms());
        let piece = MAX_PIECE as u64;
        let wait = Duration::from_millis(piece * 1_000 / u64::from(options.min_write_rate));
        for _ in 0..100 {
            assert!(budget.left() > wait, "{wait:?} is too long");
            budget.moved(piece, wait);
        }
    }
}
