//! Checks each [`Assumption`] with real exchanges on the linked hyper.
//!
//! The check polls hyper by hand on an in-memory socket, so it needs no runtime
//! and no port. It takes about 2 ms in an optimized program and frees all its
//! memory.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use stockade_errors::locks::lock;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Assumption;
use super::observer::Observer;
use super::probe_socket::{Manner, ProbeSocket};

/// Returns the assumptions that the linked hyper breaks.
#[cold]
pub(super) fn broken_assumptions() -> Vec<Assumption> {
    probe(EXCHANGES, MANNERS, |socket| socket)
}

/// A request with its response.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    request: &'static str,
    status: u16,
    /// The number of pieces of the response body. Several pieces wait for each
    /// other.
    pieces: usize,
    /// The length of each piece, at most the length of [`ZEROS`].
    length: usize,
    /// True if the head announces the length of the body.
    is_sized: bool,
    /// The number of polls before the response.
    waits: usize,
}

const EXCHANGES: &[Exchange] = &[
    of(GET, 200, 1, 2).after(2),
    of("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi", 201, 1, 5_000),
    of("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n", 404, 0, 0),
    of(CHUNKED, 202, 3, 4_000).after(1),
    of(EXPECTING, 203, 1, 2),
    of(GET, 207, 3, 4_000).chunked(),
    of(EXPECTING, 200, 0, 0).after(1),
    of(GET, 500, 1, 9_000),
    of(GET, 410, 1, 2),
];

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const CHUNKED: &str = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n\
    2\r\nhi\r\n0\r\n\r\n";
const EXPECTING: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\
    expect: 100-continue\r\n\r\nhi";

const fn of(request: &'static str, status: u16, pieces: usize, length: usize) -> Exchange {
    Exchange { request, status, pieces, length, is_sized: true, waits: 0 }
}

impl Exchange {
    const fn after(self, waits: usize) -> Self {
        Self { waits, ..self }
    }

    const fn chunked(self) -> Self {
        Self { is_sized: false, ..self }
    }
}

const MANNERS: &[Manner] = &[
    Manner { most: usize::MAX, is_vectored: false },
    Manner { most: usize::MAX, is_vectored: true },
    Manner { most: 2_000, is_vectored: false },
    Manner { most: 2_000, is_vectored: true },
];

/// Runs the exchanges in each manner. Sends the requests together and then one
/// at a time, with a new part of hyper for each, like parking does. `wrap` may
/// change hyper's view of the socket.
fn probe<T>(
    exchanges: &[Exchange],
    manners: &[Manner],
    wrap: impl Fn(ProbeSocket) -> T,
) -> Vec<Assumption>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut broken = Vec::new();
    for &manner in manners {
        // `ServerOptions` and TLS decide if hyper also reads during a response.
        for half_close in [true, false] {
            for requests_at_once in [exchanges.len(), 1] {
                let observer = Arc::new(Mutex::new(Observer::new()));
                let socket = wrap(ProbeSocket::new(Arc::clone(&observer), manner));
                let run = Run { observer, exchanges, manner, half_close };
                run.serve(socket, requests_at_once);
                broken.extend_from_slice(lock(&run.observer).broken());
            }
        }
    }
    broken.sort_unstable();
    broken.dedup();
    broken
}

/// One connection of the check.
struct Run<'a> {
    observer: Arc<Mutex<Observer>>,
    exchanges: &'a [Exchange],
    manner: Manner,
    half_close: bool,
}

impl Run<'_> {
    /// Sends all requests in groups of this size. Each group ends with an empty
    /// line or without one.
    fn serve<T>(&self, mut socket: T, requests_at_once: usize)
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut sent = 0;
        for group in self.exchanges.chunks(requests_at_once) {
            sent += group.len();
            let end = if sent.is_multiple_of(2) { "" } else { "\r\n" };
            let requests = group.iter().map(|exchange| exchange.request).chain([end]);
            requests.for_each(|text| lock(&self.observer).input.extend_from_slice(text.as_bytes()));
            let Some(left) = self.drive(socket, sent, end) else {
                lock(&self.observer).report(Assumption::ServesInMemory);
                return;
            };
            socket = left;
        }
    }

    /// Returns the maximum number of polls for a group of requests. hyper 1.12
    /// needs about two for each write; another version may write small pieces.
    fn max_polls(&self) -> usize {
        let bytes = |exchange: &Exchange| 1_000 + exchange.pieces * (exchange.length + 20);
        let bytes: usize = self.exchanges.iter().map(bytes).sum();
        1_000 + bytes / 4 + 4 * bytes / self.manner.most.min(1_000)
    }

    /// Serves the socket until `count` responses are sent, and returns it.
    fn drive<T>(&self, socket: T, count: usize, end: &str) -> Option<T>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let plan: Arc<[Exchange]> = self.exchanges.into();
        let observer = Arc::clone(&self.observer);
        let service = service_fn(move |request| {
            let number = lock(&observer).request();
            let exchange = plan.get(number).or_else(|| plan.last()).copied();
            respond(Arc::clone(&observer), exchange.unwrap_or(of(GET, 200, 0, 0)), request)
        });
        let mut http1 = http1::Builder::new();
        http1.header_read_timeout(None).half_close(self.half_close).max_buf_size(MAX_BUFFER);
        if !self.manner.is_vectored {
            http1.writev(false);
        }
        let mut connection = http1.serve_connection(TokioIo::new(socket), service).with_upgrades();
        let mut cx = Context::from_waker(Waker::noop());
        let mut polls = 0;
        let mut is_sent = false;
        // Polls once more at the end, like parking.
        while !is_sent {
            is_sent = lock(&self.observer).has_sent(count);
            polls += 1;
            if polls > self.max_polls() || Pin::new(&mut connection).poll(&mut cx).is_ready() {
                return None;
            }
            lock(&self.observer).end_poll();
        }
        let parts = connection.into_parts()?;
        lock(&self.observer).hold(&parts.read_buf, end);
        Some(parts.io.into_inner())
    }
}

/// Reads the body of a request and returns the response of the exchange.
async fn respond(
    observer: Arc<Mutex<Observer>>,
    exchange: Exchange,
    request: http::Request<Incoming>,
) -> Result<http::Response<ProbeBody>, Infallible> {
    let mut body = request.into_body();
    poll_fn(|cx| {
        while let Some(Ok(_)) = ready!(Pin::new(&mut body).poll_frame(cx)) {}
        Poll::Ready(())
    })
    .await;
    let mut waits = exchange.waits;
    poll_fn(|cx| {
        if waits == 0 {
            return Poll::Ready(());
        }
        waits -= 1;
        lock(&observer).wait();
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    lock(&observer).respond(exchange.status);
    let Exchange { mut pieces, length, is_sized, .. } = exchange;
    // hyper does not poll a body that announces no bytes.
    if is_sized && pieces * length == 0 {
        pieces = 0;
        lock(&observer).end();
    }
    let mut response =
        http::Response::new(ProbeBody { observer, pieces, length, is_sized, waits: false });
    // The statuses of the exchanges are valid.
    *response.status_mut() = http::StatusCode::from_u16(exchange.status).unwrap_or_default();
    Ok(response)
}

/// A body that is pending after each piece but the last.
#[derive(Debug)]
struct ProbeBody {
    observer: Arc<Mutex<Observer>>,
    /// The number of remaining pieces.
    pieces: usize,
    length: usize,
    is_sized: bool,
    waits: bool,
}

impl Body for ProbeBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let mut observer = lock(&this.observer);
        if std::mem::take(&mut this.waits) {
            observer.wait();
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if this.pieces == 0 {
            if !this.is_sized {
                observer.end();
            }
            return Poll::Ready(None);
        }
        this.pieces -= 1;
        this.waits = this.pieces > 0;
        let data = Bytes::from_static(ZEROS.get(..this.length).unwrap_or(ZEROS));
        observer.give(data.len());
        if this.is_sized && this.pieces == 0 {
            observer.end();
        }
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_sized && self.pieces == 0
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.pieces.saturating_mul(self.length) as u64;
        if self.is_sized { SizeHint::with_exact(length) } else { SizeHint::default() }
    }
}

/// The bytes of all bodies.
static ZEROS: &[u8] = &[0; 9_000];

/// The maximum size of hyper's buffers: its minimum, so the bodies of the check
/// exceed it.
const MAX_BUFFER: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::super::broken_hyper::{Altered, CHANGES};
    use super::*;

    #[test]
    fn finds_exactly_the_assumptions_that_a_changed_hyper_breaks() {
        for &(change, broken) in CHANGES {
            let found = probe(EXCHANGES, MANNERS, |socket| Altered::new(socket, change));
            assert_eq!(found, broken, "{change:?}");
        }
    }

    #[test]
    fn the_linked_hyper_breaks_no_assumption() {
        assert_eq!(broken_assumptions(), []);
        assert!(super::super::is_usable());
    }

    /// Runs more kinds of responses and sockets than the check at the start.
    #[test]
    fn the_linked_hyper_breaks_no_assumption_in_unusual_exchanges() {
        let mut exchanges = Vec::new();
        for request in [GET, CHUNKED, EXPECTING] {
            for (pieces, length) in [(0, 0), (1, 0), (1, 1), (1, 9_000), (12, 9_000), (40, 1)] {
                exchanges.push(of(request, 200, pieces, length));
                exchanges.push(of(request, 404, pieces, length).chunked().after(1));
            }
        }
        let manners = [100, 700, usize::MAX]
            .into_iter()
            .flat_map(|most| [false, true].map(|is_vectored| Manner { most, is_vectored }));
        let manners: Vec<Manner> = manners.collect();
        for group in exchanges.chunks(6) {
            assert_eq!(probe(group, &manners, |socket| socket), [], "{group:?}");
        }
    }
}
