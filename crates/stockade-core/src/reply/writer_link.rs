//! The channel between a `ResponseWriter` and the response that it writes.

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
    /// The writer is gone and has not begun: the status and headers that were set.
    Unbegun(Head),
    Piece(Bytes),
}

/// The other end of a [`ResponseWriter`](super::ResponseWriter).
pub(crate) struct Link {
    pub(super) receiver: mpsc::Receiver<Message>,
}
