//! Parking: frees hyper's part of an idle HTTP/1 connection.
//!
//! hyper allocates about 10 KiB for each HTTP/1 connection, even for an idle
//! one. The sweep therefore parks idle connections: it frees hyper's part while
//! the task keeps the socket. The first bytes of the next request create a new
//! part.
//!
//! The decision depends only on facts that this crate observes itself
//! ([`Exchanges`](super::exchanges::Exchanges)). A connection is parked only if
//!
//! - the [`Guard`] is at the start of a message, and the number of completely
//!   received requests equals the number of complete responses;
//! - the socket has accepted every byte of these responses;
//! - no request and no request body exists in this process
//!   ([`InFlight`](crate::connection_record::InFlight));
//! - on this connection, no request body was left unread, no client waited for
//!   `100 Continue`, no bytes were rejected, and neither side announced a
//!   close;
//! - hyper was polled once more after all this was true, and it is still true.
//!
//! hyper then holds no bytes from the client, except an empty line between
//! requests
//! ([`Assumption::NothingReadAhead`](super::Assumption::NothingReadAhead)). If
//! it returns any others, the connection closes. The guard continues across
//! parking, so every byte is checked exactly once. `tests/parking.rs` and
//! `tests/pipelines.rs` check the whole rule with generated connections.
//!
//! A connection is also parked briefly after its first large response, because
//! hyper decides how to write bodies when its part is created.
//!
//! [`Guard`]: crate::guard::Guard

use std::io;
use std::pin::Pin;
use std::task::{Poll, ready};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::service::HttpService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::{Http1, until_told};
use crate::connection_record::{Command, ConnectionRecord};
use crate::response_body::ResponseBody;
use crate::rewind::Rewind;

/// Moves the socket from hyper into `slot` and frees the rest. Returns true if
/// the client has sent an empty line since its last request.
///
/// Returns `None` if the connection was upgraded, or if hyper holds unread
/// bytes, which must not be read again.
#[expect(clippy::boxed_local, reason = "the box is freed immediately")]
pub(crate) fn take_apart<T, S>(
    connection: Box<Http1<T, S>>,
    slot: &mut Option<Rewind<T>>,
) -> Option<bool>
where
    T: AsyncRead + AsyncWrite + Unpin,
    S: HttpService<Incoming, ResBody = ResponseBody>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let parts = connection.into_parts()?;
    // The guard has read an empty line between requests, which is meaningless
    // (RFC 9112, section 2.2).
    if !matches!(&parts.read_buf[..], b"" | b"\r\n") {
        let count = parts.read_buf.len();
        log::error!(
            target: "stockade::server",
            "this is a bug in stockade: {count} bytes are unread between two requests; \
             the connection is closed",
        );
        return None;
    }
    let (io, guard) = parts.io.into_inner().into_inner().into_io_and_guard();
    *slot = Some(io);
    Some(guard.is_after_blank())
}

/// Waits for the next request. Returns false if the connection ends instead.
pub(crate) async fn rest<T>(record: &ConnectionRecord, io: &mut Rewind<T>) -> bool
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    let first = std::future::poll_fn(|cx| {
        let mut first = [0; FIRST_READ];
        let mut first = ReadBuf::new(&mut first);
        ready!(Pin::new(&mut *io).poll_read(cx, &mut first))?;
        Poll::Ready(io::Result::Ok(Bytes::copy_from_slice(first.filled())))
    });
    match until_told(record, Command::Finish, first).await {
        Some(Ok(first)) if !first.is_empty() => {
            io.rewind(first);
            true
        }
        Some(Err(_)) => false,
        // The client has closed or must close: TLS sends `close_notify`.
        Some(Ok(_)) | None => {
            let end = std::future::poll_fn(|cx| Pin::new(&mut *io).poll_shutdown(cx));
            // The connection ends in any case.
            let _ = until_told(record, Command::Finish, end).await;
            false
        }
    }
}

/// The number of bytes in the first read after parking: usually the whole head
/// of a request.
const FIRST_READ: usize = 1_024;
