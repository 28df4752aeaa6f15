//! [`RequestBody`]: a request body that other threads may read.
//!
//! An actix-web payload is not `Send`, but stockade bodies are. A task on the
//! worker thread therefore reads the payload, exactly one chunk for each poll
//! of the body.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body, Frame};
use stockade_core::BodyError;
use tokio::sync::mpsc;

/// A request body that is read on demand.
#[derive(Debug)]
pub(crate) struct RequestBody {
    asks: mpsc::Sender<()>,
    pieces: mpsc::Receiver<Piece>,
    /// True while a chunk is requested.
    asked: bool,
}

type Piece = Result<Bytes, BodyError>;

impl RequestBody {
    /// Starts the task, which ends with this body. A body with a `length` ends
    /// there, and later bytes of the payload are not read.
    pub(crate) fn new(payload: Payload, length: Option<u64>) -> Self {
        let (asks, asked) = mpsc::channel(1);
        let (giving, pieces) = mpsc::channel(1);
        actix_web::rt::spawn(give(payload, length, asked, giving));
        Self { asks, pieces, asked: false }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if !self.asked {
            // The channel has a capacity of one, and a chunk is requested only
            // once.
            let _ = self.asks.try_send(());
            self.asked = true;
        }
        let piece = ready!(self.pieces.poll_recv(cx));
        self.asked = false;
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }
}

/// Reads one chunk for each request of the body.
async fn give(
    mut payload: Payload,
    mut left: Option<u64>,
    mut asks: mpsc::Receiver<()>,
    pieces: mpsc::Sender<Piece>,
) {
    while asks.recv().await.is_some() && left != Some(0) {
        let piece = tokio::select! {
            piece = next(&mut payload) => piece,
            // The body was dropped.
            () = pieces.closed() => return,
        };
        let piece = match piece {
            Some(Ok(piece)) => Ok(within(piece, left.as_mut())),
            Some(Err(error)) => Err(broken(&error)),
            None if left.is_some() => Err(BodyError::Broken),
            None => return,
        };
        if pieces.send(piece).await.is_err() {
            return;
        }
    }
}

/// Returns the part of a chunk that belongs to the body.
fn within(mut piece: Bytes, left: Option<&mut u64>) -> Bytes {
    if let Some(left) = left {
        // A length above `usize::MAX` is longer than any chunk.
        piece.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
        *left -= piece.len() as u64;
    }
    piece
}

/// Waits for the next chunk of a payload.
pub(crate) async fn next(payload: &mut Payload) -> Option<Result<Bytes, PayloadError>> {
    poll_fn(|cx| Pin::new(&mut *payload).poll_next(cx)).await
}

fn broken(error: &PayloadError) -> BodyError {
    match error {
        PayloadError::Overflow => BodyError::TooLarge,
        _ => BodyError::Broken,
    }
}
