//! Tests the shutdown.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper_util::rt::{TokioExecutor, TokioIo};
use stockade_core::reply::{Event, Sse};
use stockade_core::{Reply as _, Request};
use stockade_routing::{RouterOptions, create_router, health_routes};
use stockade_stages::health::Readiness;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{Client, Running, app, get, http2, ms, options, soon, start, text};
use crate::accept::Stage;
use crate::signals::advance;
use crate::{CreateServer as _, ServerHandle, ServerOptions};

/// `/wait` signals that it has begun and waits for `go`; other paths respond
/// immediately.
struct Gate {
    begun: Notify,
    go: Notify,
}

async fn start_gate(options: ServerOptions) -> (Running, Arc<Gate>) {
    let gate = Arc::new(Gate { begun: Notify::new(), go: Notify::new() });
    let inner = Arc::clone(&gate);
    let server = start(options, move |request: Request| {
        let gate = Arc::clone(&inner);
        async move {
            if request.path() == "/wait" {
                gate.begun.notify_one();
                gate.go.notified().await;
            }
            text(200, "done")
        }
    })
    .await;
    (server, gate)
}

#[tokio::test]
async fn finishes_running_requests_and_accepts_no_new_ones() {
    let (server, gate) = start_gate(options()).await;
    let mut idle = server.connect().await;
    idle.send(get("/")).await;
    assert!(!idle.answer().await.head.contains("connection: close"));
    let mut new = server.connect().await;
    let mut busy = server.connect().await;
    busy.send(get("/wait")).await;
    soon(gate.begun.notified()).await;

    server.shutdown();
    idle.closed().await;
    new.closed().await;
    soon(async { while TcpStream::connect(server.address).await.is_ok() {} }).await;

    gate.go.notify_one();
    let answer = busy.answer().await;
    assert_eq!(answer.body, "done");
    assert!(answer.head.contains("\r\nconnection: close\r\n"), "{}", answer.head);
    busy.closed().await;
    server.ended().await;
}

/// Options with timeouts longer than any test.
fn patient() -> ServerOptions {
    let long = Duration::from_secs(600);
    options().shutdown_timeout(long).header_read_timeout(long)
}

#[tokio::test]
async fn a_connection_with_half_a_head_closes_immediately() {
    let server = start(patient(), app).await;
    let mut used = server.connect().await;
    used.send(get("/hello")).await;
    assert_eq!(used.answer().await.body, "hello");
    let mut new = server.connect().await;
    for client in [&mut used, &mut new] {
        client.send("GET /hello HTTP/1.1\r\n").await;
    }
    // Once another connection has its response, the server has read the
    // incomplete heads.
    assert_eq!(server.get("/hello").await.body, "hello");
    server.shutdown();
    used.closed().await;
    new.closed().await;
    server.ended().await;
}

#[tokio::test]
async fn an_uncooperative_http2_client_has_a_second() {
    let (server, gate) = start_gate(patient()).await;
    // This client reads nothing after its response.
    let mut silent = server.connect().await;
    assert_eq!(http2::frames(&mut silent, "GET", "/").await.last().unwrap(), "DATA, end");
    // This client has not sent a request yet.
    let mut new = server.connect().await;
    new.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    new.more().await;
    // This client answers GOAWAY, and its request takes longer than a second.
    let (mut sender, connection) = http2::speak(server.connect().await.stream).await;
    let running = tokio::spawn(sender.send_request(http2::get("/wait")));
    soon(gate.begun.notified()).await;
    let begun = Instant::now();
    server.shutdown();
    for client in [&mut silent, &mut new] {
        let _ = soon(client.stream.read_to_end(&mut client.read)).await;
    }
    assert!(begun.elapsed() >= ms(1_000), "{:?}", begun.elapsed());
    gate.go.notify_one();
    assert_eq!(soon(running).await.unwrap().unwrap().status(), 200);
    soon(connection).await.unwrap().unwrap();
    server.ended().await;
}

#[tokio::test]
async fn an_http2_response_that_is_still_read_is_not_interrupted() {
    let server = start(patient(), async |_| text(200, "x".repeat(60_000))).await;
    // The client's window is smaller than the body. hyper holds the rest after
    // the handler has ended.
    let io = TokioIo::new(server.connect().await.stream);
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(16_384);
    let (mut sender, connection) = soon(builder.handshake(io)).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut answer = soon(sender.send_request(http2::get("/"))).await.unwrap();
    server.shutdown();
    // Longer than the limit for a client that does not answer GOAWAY.
    tokio::time::sleep(ms(2_500)).await;
    let body = soon(answer.body_mut().collect()).await.unwrap().to_bytes();
    assert_eq!(body.len(), 60_000);
    soon(connection).await.unwrap().unwrap();
    server.ended().await;
}

#[tokio::test]
async fn the_deadline_ends_hanging_requests() {
    let server = start(options().shutdown_timeout(ms(200)), app).await;
    let mut client = server.connect().await;
    client.send(get("/hang")).await;
    assert_eq!(server.get("/hello").await.body, "hello");
    server.shutdown();
    client.closed().await;
    server.ended().await;
}

#[tokio::test]
async fn a_second_signal_does_not_wait() {
    let (server, gate) = start_gate(options()).await;
    let mut client = server.connect().await;
    client.send(get("/wait")).await;
    soon(gate.begun.notified()).await;
    server.shutdown();
    advance(&server.stage, Stage::Ended);
    client.closed().await;
    server.ended().await;
}

#[tokio::test]
async fn dropping_the_server_closes_everything() {
    let (server, gate) = start_gate(options()).await;
    let mut client = server.connect().await;
    client.send(get("/wait")).await;
    soon(gate.begun.notified()).await;
    drop(server);
    client.closed().await;
}

/// `Instant + Duration::MAX` would panic, in the shutdown and while waiting for
/// a body.
#[tokio::test]
async fn endless_timeouts_are_served_and_shut_down() {
    let options = options()
        .header_read_timeout(Duration::MAX)
        .idle_timeout(Duration::MAX)
        .body_read_timeout(Duration::MAX)
        .write_stall_timeout(Duration::MAX)
        .shutdown_timeout(Duration::MAX);
    let (begun, mut waits) = tokio::sync::mpsc::unbounded_channel();
    let server = start(options, move |mut request: Request| {
        let begun = begun.clone();
        async move {
            let mut bytes = std::pin::pin!(request.bytes());
            let first = std::future::poll_fn(|cx| Poll::Ready(bytes.as_mut().poll(cx))).await;
            begun.send(first.is_pending()).unwrap();
            let bytes = match first {
                Poll::Ready(bytes) => bytes,
                Poll::Pending => bytes.await,
            };
            text(200, String::from_utf8(bytes.unwrap().into()).unwrap())
        }
    })
    .await;
    let mut client = server.connect().await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n").await;
    assert_eq!(soon(waits.recv()).await, Some(true), "the body is waited for");
    server.shutdown();
    client.send("hello").await;
    assert_eq!(client.answer().await.body, "hello");
    client.closed().await;
    server.ended().await;
}

/// Yields one event, and then waits forever.
struct Once(bool);

impl futures_core::Stream for Once {
    type Item = Result<Event, stockade_core::ApiError>;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Event::data("one"))))
    }
}

#[tokio::test]
async fn a_stream_of_events_ends_at_the_shutdown() {
    let server = start(options(), async |_| Sse::new(Once(false)).into_response().unwrap()).await;
    let mut client = server.connect().await;
    client.send(get("/")).await;
    let chunk = "B\r\ndata: one\n\n\r\n";
    client.head().await;
    while client.read.len() < chunk.len() {
        client.more().await;
    }
    server.shutdown();
    // Not cut off: the last chunk arrives.
    let whole = format!("{chunk}0\r\n\r\n");
    while client.read.len() < whole.len() {
        client.more().await;
    }
    assert_eq!(String::from_utf8_lossy(&client.read), whole);
    server.ended().await;
}

#[tokio::test]
async fn a_stream_of_events_on_http2_ends_at_the_shutdown() {
    let server = start(options(), async |_| Sse::new(Once(false)).into_response().unwrap()).await;
    let (mut sender, connection) = http2::speak(server.connect().await.stream).await;
    let mut body = soon(sender.send_request(http2::get("/"))).await.unwrap().into_body();
    let event = soon(body.frame()).await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(event, "data: one\n\n");
    server.shutdown();
    let rest = soon(body.collect()).await.unwrap().to_bytes();
    assert_eq!(rest, "", "not cut off");
    soon(connection).await.unwrap().unwrap();
    server.ended().await;
}

/// Serves a router with health routes.
async fn watched(options: ServerOptions) -> (ServerHandle, Readiness, JoinHandle<()>) {
    let readiness = Readiness::new();
    let router = create_router(health_routes(), RouterOptions::new()).state(readiness.clone());
    let server = router.create_server_with(options).unwrap();
    let server = server.bind(0).await.unwrap();
    let handle = server.handle();
    (handle, readiness, tokio::spawn(async { server.serve().await.unwrap() }))
}

#[tokio::test]
async fn readiness_ends_before_the_port_closes() {
    let (handle, readiness, served) = watched(options().shutdown_delay(Duration::MAX)).await;
    let mut before = Client::new(TcpStream::connect(handle.local_addr()).await.unwrap());
    before.send(get("/health/ready")).await;
    assert_eq!(before.answer().await.status, 200);
    handle.shutdown();
    soon(async {
        while readiness.is_ready() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // Old and new connections are served as before.
    let mut after = Client::new(TcpStream::connect(handle.local_addr()).await.unwrap());
    for client in [&mut before, &mut after] {
        client.send(get("/health/ready")).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (503, r#"{"status":"unavailable"}"#));
        client.send(get("/health/live")).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, 200);
        assert!(!answer.head.contains("connection: close"), "{}", answer.head);
    }
    handle.shutdown_now();
    before.closed().await;
    soon(served).await.unwrap();
}

#[tokio::test]
async fn readiness_ends_with_the_port_if_no_delay_is_set() {
    let (handle, readiness, served) = watched(options()).await;
    handle.shutdown();
    soon(served).await.unwrap();
    assert!(!readiness.is_ready());
}
