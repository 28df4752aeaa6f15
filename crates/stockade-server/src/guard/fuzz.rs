//! Fuzzes requests: hyper with and without the guard must read them the same
//! way.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Guard;
use super::tests::refused;
use crate::connection_record::ConnectionRecord;
use crate::guarded_io::GuardedIo;
use crate::sweep::SweepClock;

/// The requests that a server read from some bytes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Seen {
    /// The target and body of each request; `Err` for a body error.
    requests: Vec<(String, Result<Bytes, ()>)>,
    /// The status lines that the server sent.
    statuses: Vec<String>,
}

/// A client that sends its pieces and then closes its side.
struct Script {
    pieces: VecDeque<Bytes>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(mut piece) = self.pieces.pop_front() {
            let rest = piece.split_off(piece.len().min(buf.remaining()));
            buf.put_slice(&piece);
            if !rest.is_empty() {
                self.pieces.push_front(rest);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.written.lock().unwrap().extend_from_slice(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Serves bytes in pieces of these lengths, which repeat.
fn serve(bytes: &[u8], lengths: &[usize], guarded: bool) -> Seen {
    let mut pieces = VecDeque::new();
    let mut rest = Bytes::copy_from_slice(bytes);
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        pieces.push_back(rest.split_to(rest.len().min(*length)));
    }
    let written = Arc::default();
    let script = Script { pieces, written: Arc::clone(&written) };
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    let service = service_fn(move |request: Request<Incoming>| {
        let log = Arc::clone(&log);
        async move {
            let target = request.uri().to_string();
            let body = request.into_body().collect().await;
            let body = body.map(http_body_util::Collected::to_bytes).map_err(drop);
            let mut response = Response::new(Empty::<Bytes>::new());
            if body.is_err() {
                *response.status_mut() = http::StatusCode::BAD_REQUEST;
                response.headers_mut().insert(header::CONNECTION, "close".parse().unwrap());
            }
            log.lock().unwrap().push((target, body));
            Ok::<_, Infallible>(response)
        }
    });
    let mut http1 = http1::Builder::new();
    http1.header_read_timeout(None).half_close(true).max_header_size(16_384);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        // An error is visible in the written bytes.
        let _ = if guarded {
            let record =
                ConnectionRecord::new(Arc::new(SweepClock::new(Duration::from_secs(1))), true);
            let io = GuardedIo::new(script, Guard::new(), Arc::new(record));
            http1.serve_connection(TokioIo::new(io), service).await
        } else {
            http1.serve_connection(TokioIo::new(script), service).await
        };
    });
    let written = String::from_utf8(std::mem::take(&mut *written.lock().unwrap())).unwrap();
    let statuses = written.lines().filter(|line| line.starts_with("HTTP/1.")).map(str::to_owned);
    let statuses = statuses.collect();
    Seen { requests: std::mem::take(&mut *requests.lock().unwrap()), statuses }
}

const LINES: [&str; 3] = ["GET /a?b HTTP/1.1\r\n", "POST /a HTTP/1.1\r\n", "HEAD / HTTP/1.0\r\n"];

const HEADERS: [&str; 22] = [
    "Host: a\r\n",
    "Content-Length: 3\r\n",
    "content-length:\t0 \r\n",
    "Content-Length: 03\r\n",
    "Content-Length: 3, 3\r\n",
    "Content_Length: 3\r\n",
    "Content-Type: text/plain\r\n",
    "Transfer-Encoding: chunked\r\n",
    "TRANSFER-ENCODING: gzip , Chunked\t\r\n",
    "Transfer-Encoding: chunked, gzip\r\n",
    "Transfer-Encoding: chunked\n",
    "Transfer_Encoding: chunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Upgrade: x\r\n",
    "Expect: 100-continue\r\n",
    "Cookie: \u{e9}\r\n",
    "X: y\n",
    " folded\r\n",
    "T: u\r\n",
    "\r\n",
];

const BODIES: [&str; 20] = [
    "abc",
    "3\r\nabc\r\n",
    "3\r\n\n\r\n\r\n",
    "0\r\n\r\n",
    "0\r\nX: y\r\n\r\n",
    "0\r\nX: y\n\r\n",
    "0\r\n\n",
    "3;a=b;c=\"d;\\\"\"\r\nabc\r\n",
    "3 ;a\r\nabc\r\n",
    "3;\r\nabc\r\n",
    "3;bad[=x\r\nabc\r\n",
    "3;\0\r\nabc\r\n",
    "3 \r\nabc\r\n",
    "3\nabc\n",
    "0000000000000003\r\nabc\r\n",
    "00000000000000003\r\nabc\r\n",
    "ffffffffffffffff\r\nabc",
    "-3\r\nabc\r\n",
    "\r\n",
    "\n",
];

/// Generates requests from tables of parts, with up to two bytes replaced,
/// inserted or removed.
fn faulty() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![6 => select(&LINES[..]), 1 => Just("GET /a#b HTTP/1.1\r\n")];
    let end = prop_oneof![8 => Just("\r\n"), 1 => Just("\n")];
    let request = (line, vec(select(&HEADERS[..]), 0..4), end, vec(select(&BODIES[..]), 0..3));
    let request = request.prop_map(|(line, headers, end, bodies)| {
        [line, &headers.concat(), end, &bodies.concat()].concat().into_bytes()
    });
    let fault =
        (any::<prop::sample::Index>(), 0..3_usize, select(&b"\r\n \t\0:;,0f-_x\"#\xe9"[..]));
    (vec(request, 1..4), vec(fault, 0..3)).prop_map(|(requests, faults)| {
        let mut bytes = requests.concat();
        for (at, kind, byte) in faults {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}

/// Generates a valid body: its encoded and decoded forms.
fn sound_body() -> impl Strategy<Value = (String, Vec<u8>)> {
    let chunk = (
        vec(any::<u8>(), 1..40),
        select(&["", ";a", " ;a = b", ";a=\"\\\"; \"", ";a;b=c"][..]),
        any::<bool>(),
    );
    let trailers = select(&["", "X: y\r\n", "X: y\r\nZ:\r\n"][..]);
    let chunked = (vec(chunk, 0..4), trailers).prop_map(|(chunks, trailers)| {
        let mut sent = Vec::new();
        for (data, extension, upper) in &chunks {
            let size = data.len();
            let size = if *upper { format!("{size:X}") } else { format!("{size:04x}") };
            sent.extend_from_slice(format!("{size}{extension}\r\n").as_bytes());
            sent.extend_from_slice(data);
            sent.extend_from_slice(b"\r\n");
        }
        sent.extend_from_slice(format!("0\r\n{trailers}\r\n").as_bytes());
        ("Transfer-Encoding: chunked\r\n".to_owned(), sent)
    });
    let length = vec(any::<u8>(), 0..40)
        .prop_map(|body| (format!("Content-Length: {}\r\n", body.len()), body));
    prop_oneof![1 => Just((String::new(), Vec::new())), 2 => length, 3 => chunked]
}

/// Generates valid requests.
fn sound() -> impl Strategy<Value = Vec<u8>> {
    let request = (select(&LINES[..2]), any::<bool>(), sound_body());
    let request = request.prop_map(|(line, blank, (header, body))| {
        let blank = if blank { "\r\n" } else { "" };
        let head = format!("{blank}{line}Host: a\r\n{header}Cookie: c\r\n\r\n");
        [head.as_bytes(), &body].concat()
    });
    vec(request, 1..4).prop_map(|requests| requests.concat())
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![Just(vec![1]), vec(1..60_usize, 1..6)]
}

/// Runs a number of cases, identical in every run.
fn run<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    if let Err(error) = runner.run(strategy, test) {
        panic!("{error}");
    }
}

#[test]
fn accepts_the_requests_that_hyper_accepts() {
    run(3_000, &faulty(), |bytes| {
        let (alone, guarded) = (serve(&bytes, &[4_096], false), serve(&bytes, &[4_096], true));
        prop_assert!(guarded.requests.len() <= alone.requests.len(), "{alone:?} {guarded:?}");
        for (ours, theirs) in guarded.requests.iter().zip(&alone.requests) {
            prop_assert!(ours.1.is_err() || ours == theirs, "{alone:?} {guarded:?}");
        }
        Ok(())
    });
}

#[test]
fn rejected_requests_get_400_as_the_last_response() {
    run(3_000, &faulty(), |bytes| {
        let (alone, guarded) = (serve(&bytes, &[4_096], false), serve(&bytes, &[4_096], true));
        if alone != guarded {
            let refused = guarded.statuses.last().map_or("", |line| &line[9..12]);
            prop_assert_eq!(refused, "400", "{:?} {:?}", alone, guarded);
        }
        Ok(())
    });
}

#[test]
fn segmentation_does_not_change_the_result() {
    run(1_000, &(faulty(), lengths()), |(mut bytes, lengths)| {
        // hyper validates an incomplete head at the end of a connection only if
        // it arrived in one piece.
        bytes.extend_from_slice(b"\r\n\r\n");
        let whole = serve(&bytes, &[4_096], true);
        prop_assert_eq!(serve(&bytes, &lengths, true), whole);
        Ok(())
    });
}

#[test]
fn finds_the_first_wrong_byte_in_segments() {
    run(10_000, &(faulty(), 1..60_usize), |(bytes, piece)| {
        let whole = refused(&bytes, bytes.len());
        prop_assert_eq!(refused(&bytes, piece), whole);
        prop_assert_eq!(refused(&bytes, 1), whole);
        Ok(())
    });
}

#[test]
fn does_not_change_valid_requests() {
    run(1_000, &(sound(), lengths()), |(bytes, lengths)| {
        let seen = serve(&bytes, &lengths, true);
        prop_assert!(seen.requests.iter().all(|(_, body)| body.is_ok()), "{seen:?}");
        prop_assert_eq!(serve(&bytes, &lengths, false), seen);
        Ok(())
    });
}
