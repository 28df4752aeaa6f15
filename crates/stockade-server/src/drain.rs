//! Draining: reads the rest of a request body that the application does not
//! want.
//!
//! When a body is dropped, hyper stops reading, sends the response and closes
//! the socket. The system then resets the connection because of the unread
//! bytes. A client that sends before it reads would get a broken pipe instead
//! of its 413. A separate task therefore reads the body, up to a limit, while
//! hyper sends the response.
//!
//! On HTTP/2, hyper resets the stream after the response. Clients that are
//! still sending treat this as a failure: curl 7.88 loses the response. On
//! HTTP/2, the task therefore reads the bytes that a client may have sent
//! ahead.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::request_body::Unread;

/// Reads and discards the rest of a body, up to a number of bytes.
///
/// The connection counts as busy meanwhile. At the limit the body is dropped,
/// and hyper closes the HTTP/1 connection or resets the HTTP/2 stream.
pub(crate) fn start(mut unread: Unread, most: usize) {
    // A small body has usually arrived with its head and needs no task.
    let mut left = most;
    let mut cx = Context::from_waker(Waker::noop());
    if poll(&mut unread.incoming, &mut left, &mut cx).is_ready() {
        return;
    }
    let Ok(runtime) = Handle::try_current() else { return };
    unread.set_awaited(true);
    runtime.spawn(async move {
        let rest = std::future::poll_fn(|cx| poll(&mut unread.incoming, &mut left, cx));
        // A timeout has the same effect as the limit: the body is dropped.
        let _ = timeout(MAX_TIME, rest).await;
        drop(unread);
    });
}

/// Completes at the end of the body, on an error, or when `left` reaches 0.
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

/// 1 MiB, the window of an HTTP/2 connection.
pub(crate) const MAX_BYTES_HTTP2: usize = 1_048_576;

const MAX_TIME: Duration = Duration::from_secs(5);
