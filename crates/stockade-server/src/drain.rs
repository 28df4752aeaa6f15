//! Draining: reading the rest of a body that the application does not want.
//!
//! hyper stops reading when a body is dropped, answers, and closes the socket.
//! The system then resets the connection because bytes are left. A client that
//! sends before it reads would see a broken pipe instead of its 413. So a task of
//! its own reads the body, up to a bound, while hyper answers.
//!
//! On HTTP/2 hyper resets the stream behind the answer, and clients that are still
//! sending take that for a failure: curl 7.88 loses the answer. So there the bytes
//! are read that a client may have sent ahead.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::request_body::Unread;

/// Reads and discards the rest of a body, up to a number of bytes.
///
/// The connection counts as busy meanwhile. At the bound the body is dropped, and
/// hyper closes the connection of HTTP/1, or resets the stream of HTTP/2.
pub(crate) fn start(mut unread: Unread, most: usize) {
    // As a rule a small body has come with its head, and needs no task.
    let mut left = most;
    let mut cx = Context::from_waker(Waker::noop());
    if poll(&mut unread.incoming, &mut left, &mut cx).is_ready() {
        return;
    }
    let Ok(runtime) = Handle::try_current() else { return };
    unread.set_awaited(true);
    runtime.spawn(async move {
        let rest = std::future::poll_fn(|cx| poll(&mut unread.incoming, &mut left, cx));
        // A timeout ends like the bound: the body is dropped.
        let _ = timeout(MAX_TIME, rest).await;
        drop(unread);
    });
}

/// Is ready at the end of the body, at an error, and when nothing is `left`.
fn poll(incoming: &mut Incoming, left: &mut usize, cx: &mut Context<'_>) -> Poll<()> {
    while *left > 0 {
        match Pin::new(&mut *incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let length = frame.data_ref().map_or(1, bytes::Bytes::len);
                *left = left.saturating_sub(length);
            }
            Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
    }
    Poll::Ready(())
}

/// 8 MiB.
pub(crate) const MAX_BYTES: usize = 8_388_608;

/// 1 MiB, which is the window of a connection of HTTP/2.
pub(crate) const MAX_BYTES_HTTP2: usize = 1_048_576;

const MAX_TIME: Duration = Duration::from_secs(5);
