//! The channel between a `ResponseWriter` and its response, and the signal that
//! a handler begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::sync::mpsc;

#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(super) status: Option<StatusCode>,
    pub(super) headers: HeaderMap,
}

#[derive(Debug)]
pub(crate) enum Message {
    /// The response begins.
    Begin(Head),
    /// The writer was dropped before the response began; contains the status
    /// and headers that were set.
    Unbegun(Head),
    Piece(Bytes),
}

/// The messages of a [`ResponseWriter`](super::ResponseWriter).
pub(crate) type Messages = mpsc::Receiver<Message>;

/// A signal for the end of argument extraction, attached to a request.
pub(crate) enum Link {
    /// The receiver of a [`ResponseWriter`](super::ResponseWriter), which is an
    /// argument.
    Writer(Messages),
    /// Becomes true when the function of the handler begins.
    Begins(Arc<AtomicBool>),
}

impl Link {
    /// Signals that the function begins. Returns the receiver of the writer, if
    /// there is one.
    pub(crate) fn begin(self) -> Option<Messages> {
        match self {
            Self::Writer(receiver) => Some(receiver),
            Self::Begins(has_begun) => {
                has_begun.store(true, Ordering::Release);
                None
            }
        }
    }
}
