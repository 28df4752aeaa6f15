//! The tests of each [`Assumption`], with real connections of hyper on a socket that
//! records what happens.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use super::Assumption;

/// One call of hyper.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Call {
    /// The bytes that the socket took.
    Write(Vec<u8>),
    Flush,
}

/// The state of a [`Socket`], for the test.
#[derive(Debug, Default)]
struct Script {
    /// The bytes that hyper may read.
    input: Vec<u8>,
    calls: Vec<Call>,
}

/// A socket in memory that takes a number of bytes at a time, and nothing each second
/// time.
#[derive(Debug)]
struct Socket {
    script: Arc<Mutex<Script>>,
    most: usize,
    vectored: bool,
    waits: bool,
}

impl Socket {
    fn new(most: usize, vectored: bool) -> (Self, Arc<Mutex<Script>>) {
        let script = Arc::<Mutex<Script>>::default();
        (Self { script: Arc::clone(&script), most, vectored, waits: false }, script)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut script = self.script.lock().unwrap();
        if script.input.is_empty() {
            return Poll::Pending;
        }
        let count = script.input.len().min(buf.remaining());
        buf.put_slice(&script.input.drain(..count).collect::<Vec<_>>());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.waits = !self.waits;
        if self.waits && self.most < usize::MAX {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let count = buf.len().min(self.most);
        self.script.lock().unwrap().calls.push(Call::Write(buf[..count].to_vec()));
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
        self.as_mut().poll_write(cx, &all)
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.script.lock().unwrap().calls.push(Call::Flush);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const POST: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi";

/// Serves these requests with a body of this length, and returns the calls of hyper and
/// the bytes that it holds at the end.
async fn serve(requests: &str, body: usize, most: usize, vectored: bool) -> (Vec<Call>, Bytes) {
    let (socket, script) = Socket::new(most, vectored);
    script.lock().unwrap().input = requests.into();
    let service = service_fn(async |request: http::Request<hyper::body::Incoming>| {
        http_body_util::BodyExt::collect(request.into_body()).await.unwrap();
        Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from(vec![b'z'; body]))))
    });
    let mut connection =
        http1::Builder::new().half_close(true).serve_connection(TokioIo::new(socket), service);
    let mut cx = Context::from_waker(Waker::noop());
    // More often than hyper needs, because the socket wakes nobody.
    let responses = requests.matches("HTTP/1.1").count();
    for _ in 0..4 * responses * (body + 500) / most.min(1_000) + 40 {
        assert!(Pin::new(&mut connection).poll(&mut cx).is_pending());
    }
    let held = connection.into_parts().read_buf;
    let calls = script.lock().unwrap().calls.clone();
    (calls, held)
}

/// The bytes between two flushes.
fn rounds(calls: &[Call]) -> Vec<Vec<u8>> {
    let rounds = calls.split(|call| *call == Call::Flush);
    let written = rounds.map(|round| {
        let bytes = round.iter().map(|call| match call {
            Call::Write(bytes) => bytes.as_slice(),
            Call::Flush => &[],
        });
        bytes.collect::<Vec<_>>().concat()
    });
    written.filter(|round| !round.is_empty()).collect()
}

/// Requests, the length of the responses, the bytes that the socket takes at a time, and
/// whether it takes several pieces at once.
fn cases() -> Vec<(String, usize, usize, bool)> {
    let mut cases = Vec::new();
    for requests in [GET.to_owned(), [GET, POST, GET].concat(), POST.repeat(5)] {
        for body in [0, 2, 9_000, 100_000] {
            for most in [700, usize::MAX] {
                for vectored in [false, true] {
                    cases.push((requests.clone(), body, most, vectored));
                }
            }
        }
    }
    cases
}

#[tokio::test]
async fn hyper_flushes_after_it_has_written_everything() {
    for (requests, body, most, vectored) in cases() {
        let case = format!("{:?} {requests:?} {body} {most} {vectored}", Assumption::FlushAfterAll);
        let (calls, _) = serve(&requests, body, most, vectored).await;
        let rounds = rounds(&calls);
        assert!(!rounds.is_empty(), "{case}");
        for round in &rounds {
            // A round has whole responses: a head, and as many bytes as it announces.
            let mut rest = &round[..];
            while !rest.is_empty() {
                let end = rest.windows(4).position(|it| it == b"\r\n\r\n").expect(&case) + 4;
                assert!(rest.len() >= end + body, "{case}");
                rest = &rest[end + body..];
            }
        }
    }
}

#[tokio::test]
async fn hyper_begins_with_a_head_after_a_flush() {
    for (requests, body, most, vectored) in cases() {
        let case =
            format!("{:?} {requests:?} {body} {most} {vectored}", Assumption::HeadAfterFlush);
        let (calls, _) = serve(&requests, body, most, vectored).await;
        let count = requests.matches("HTTP/1.1").count();
        let rounds = rounds(&calls);
        assert_eq!(rounds.len(), count, "one response for each flush: {case}");
        for round in rounds {
            assert!(round.starts_with(b"HTTP/1.1 200 OK\r\n"), "{case}");
        }
    }
}

#[tokio::test]
async fn hyper_holds_no_bytes_after_everything_is_answered() {
    for (requests, body, most, vectored) in cases() {
        for (end, held) in [("", &[][..]), ("\r\n", b"\r\n")] {
            let requests = format!("{requests}{end}");
            let case =
                format!("{:?} {requests:?} {body} {most} {vectored}", Assumption::NothingReadAhead);
            let (_, read) = serve(&requests, body, most, vectored).await;
            assert_eq!(&read[..], held, "{case}");
        }
    }
}

#[tokio::test]
async fn hyper_flushes_in_each_poll_while_a_response_is_made() {
    let (socket, script) = Socket::new(usize::MAX, false);
    script.lock().unwrap().input = GET.into();
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let service = service_fn(move |_request: http::Request<hyper::body::Incoming>| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::new())))
        }
    });
    let mut connection =
        http1::Builder::new().half_close(true).serve_connection(TokioIo::new(socket), service);
    let mut cx = Context::from_waker(Waker::noop());
    for polls in 1..=3 {
        assert!(Pin::new(&mut connection).poll(&mut cx).is_pending());
        let flushes = script.lock().unwrap().calls.len();
        assert!(flushes >= polls, "{:?}: {flushes} of {polls}", Assumption::FlushInEachPoll);
    }
    go.notify_one();
    assert!(Pin::new(&mut connection).poll(&mut cx).is_pending());
    assert_eq!(rounds(&script.lock().unwrap().calls).len(), 1);
}
