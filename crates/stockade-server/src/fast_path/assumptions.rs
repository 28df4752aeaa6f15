//! Tests each [`Assumption`] with real hyper connections on a recording socket.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::Notify;

use super::Assumption;
use super::recording_socket::{Call, RecordingSocket, written};

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const POST: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi";

/// Serves these requests with a body of this length. Returns hyper's calls and
/// the bytes that hyper holds at the end.
async fn serve(requests: &str, body: usize, most: usize, vectored: bool) -> (Vec<Call>, Bytes) {
    let (socket, script) = RecordingSocket::new(most, vectored);
    script.lock().unwrap().input = requests.into();
    let service = service_fn(async |request: http::Request<hyper::body::Incoming>| {
        http_body_util::BodyExt::collect(request.into_body()).await.unwrap();
        Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from(vec![b'z'; body]))))
    });
    let mut connection =
        http1::Builder::new().half_close(true).serve_connection(TokioIo::new(socket), service);
    let mut cx = Context::from_waker(Waker::noop());
    // More often than hyper needs, because the socket never wakes the task.
    let responses = requests.matches("HTTP/1.1").count();
    for _ in 0..4 * responses * (body + 500) / most.min(1_000) + 40 {
        assert!(Pin::new(&mut connection).poll(&mut cx).is_pending());
    }
    let held = connection.into_parts().read_buf;
    let calls = script.lock().unwrap().calls.clone();
    (calls, held)
}

/// Returns the bytes between every two flushes.
fn rounds(calls: &[Call]) -> Vec<Vec<u8>> {
    let rounds = calls.split(|call| *call == Call::Flush).map(written);
    rounds.filter(|round| !round.is_empty()).collect()
}

/// Serves requests, followed by `end`, in all variants: the socket accepts few
/// bytes or all, in one piece or several. Calls `check` with the name of the
/// case, the requests, the length of each response body, the rounds, and the
/// bytes that hyper holds at the end.
async fn each_case(
    assumption: Assumption,
    end: &str,
    check: impl Fn(&str, &str, usize, &[Vec<u8>], &[u8]),
) {
    for requests in [GET.to_owned(), [GET, POST, GET].concat(), POST.repeat(5)] {
        for body in [0, 2, 9_000, 100_000] {
            for (most, vectored) in
                [700, usize::MAX].into_iter().flat_map(|it| [(it, false), (it, true)])
            {
                let case = format!("{assumption:?} {requests:?} {body} {most} {vectored}");
                let sent = format!("{requests}{end}");
                let (calls, held) = serve(&sent, body, most, vectored).await;
                check(&case, &requests, body, &rounds(&calls), &held);
            }
        }
    }
}

#[tokio::test]
async fn hyper_flushes_after_it_has_written_everything() {
    each_case(Assumption::FlushAfterAll, "", |case, _, body, rounds, _| {
        assert!(!rounds.is_empty(), "{case}");
        for round in rounds {
            // A round contains complete responses: a head, and as many bytes as
            // it announces.
            let mut rest = &round[..];
            while !rest.is_empty() {
                let end = rest.windows(4).position(|it| it == b"\r\n\r\n").expect(case) + 4;
                assert!(rest.len() >= end + body, "{case}");
                rest = &rest[end + body..];
            }
        }
    })
    .await;
}

#[tokio::test]
async fn hyper_begins_with_a_head_after_a_flush() {
    each_case(Assumption::HeadAfterFlush, "", |case, requests, _, rounds, _| {
        let count = requests.matches("HTTP/1.1").count();
        assert_eq!(rounds.len(), count, "one response for each flush: {case}");
        for round in rounds {
            assert!(round.starts_with(b"HTTP/1.1 200 OK\r\n"), "{case}");
        }
    })
    .await;
}

#[tokio::test]
async fn hyper_buffers_no_bytes_after_the_last_response() {
    for end in ["", "\r\n"] {
        each_case(Assumption::NothingReadAhead, end, |case, _, _, _, held| {
            assert_eq!(held, end.as_bytes(), "{case}");
        })
        .await;
    }
}

#[tokio::test]
async fn hyper_flushes_in_each_poll_while_a_response_is_made() {
    let (socket, script) = RecordingSocket::new(usize::MAX, false);
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
