//! Tests on real local sockets. Each wait is bounded.

mod bodies;
mod both_paths;
mod conformance;
mod crowded;
mod half_close;
mod handshake;
#[cfg(unix)]
mod haproxy;
mod head_bytes;
mod head_edges;
mod heads;
mod http2;
#[cfg(unix)]
mod inherited;
mod listening;
mod log;
mod parking;
#[cfg(unix)]
mod pipelines;
mod proxied;
mod requests;
mod router;
mod several;
mod shutdown;
mod slow;
#[cfg(feature = "tls")]
mod tls;
mod tower;
#[cfg(unix)]
mod unix;
mod upgrades;

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use stockade_core::{ApiError, ErrorContext, HttpBody, Request, Response};
use stockade_routing::__internal::HeadSink;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::accept::{self, Stage};
use crate::connection::Shared;
use crate::listener::Bound;
use crate::service::{self, AppService, request_of};
use crate::signals::advance;
use crate::{ServerOptions, tcp};

type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A header that a [`Function`] writes as a line of the head if possible.
const AS_LINE: &str = "x-as-line";
const AS_LINE_TEXT: &str = "x-as-line: ";

/// A function as an application. It is one type, because the server should be
/// compiled once for all tests.
struct Function(Box<dyn Fn(Request) -> Answering + Send + Sync>);

impl Function {
    fn new<F, Fut>(app: F) -> Self
    where
        F: Fn(Request) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response> + Send + 'static,
    {
        Self(Box::new(move |request| Box::pin(app(request))))
    }
}

impl AppService for Function {
    type Future = Answering;

    fn call(&self, head: Parts, body: HttpBody, client: service::Client) -> Answering {
        (self.0)(request_of(head, body, client))
    }

    fn poll_into(
        answering: &mut Answering,
        cx: &mut Context<'_>,
        slot: &mut Poll<Response>,
        sink: Option<&HeadSink>,
    ) {
        *slot = answering.as_mut().poll(cx);
        let (Poll::Ready(response), Some(sink)) = (slot, sink) else { return };
        if let Some(value) = response.headers_mut().remove(AS_LINE) {
            sink.set(|text| {
                text.extend_from_slice(AS_LINE_TEXT.as_bytes());
                text.extend_from_slice(value.as_bytes());
                text.extend_from_slice(b"\r\n");
            });
        }
    }

    fn refuse(&self, request: Request, error: ApiError) -> Answering {
        Box::pin(async move { ErrorContext::of(&request).answer(error) })
    }
}

/// A server that runs until it is dropped.
struct Running {
    address: SocketAddr,
    stage: watch::Sender<Stage>,
    served: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.served.abort();
    }
}

impl Running {
    async fn connect(&self) -> Client<TcpStream> {
        Client::new(soon(TcpStream::connect(self.address)).await.unwrap())
    }

    /// Sends one request on a new connection.
    async fn get(&self, path: &str) -> Answered {
        let mut client = self.connect().await;
        client.send(&get(path)).await;
        client.answer().await
    }

    fn shutdown(&self) {
        advance(&self.stage, Stage::Leaving);
    }

    /// Waits until `serve` has returned.
    async fn ended(mut self) {
        soon(&mut self.served).await.unwrap();
    }
}

/// Serves a function.
async fn start<F, Fut>(options: ServerOptions, app: F) -> Running
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Response> + Send + 'static,
{
    serve(Shared::new(Function::new(app), &options))
}

fn serve<A: AppService>(shared: Shared<A>) -> Running {
    let listener = tcp::listen(([127, 0, 0, 1], 0).into(), 4_096, false).unwrap();
    let address = listener.local_addr().unwrap();
    let stage = watch::Sender::new(Stage::Running);
    let sender = stage.clone();
    let served = tokio::spawn(async move {
        accept::serve(vec![Bound::tcp(listener).unwrap()], Arc::new(shared), sender).await;
    });
    Running { address, stage, served }
}

/// Responds on `/hello` and echoes on `/echo`. Other paths do not read the
/// body; `/413` and `/404` respond with these statuses.
async fn app(mut request: Request) -> Response {
    let mut response = match request.path() {
        "/hello" => text(200, "hello"),
        "/echo" => match request.bytes().await {
            Ok(bytes) => Response::new(bytes.into()),
            Err(error) => text(error.status(), error.to_string()),
        },
        "/hang" => std::future::pending().await,
        path => text(path[1..].parse().unwrap(), "unread"),
    };
    // Like a real application.
    if response.status() == 413 {
        response.headers_mut().insert("connection", "close".parse().unwrap());
    }
    response
}

fn text(status: u16, text: impl Into<String>) -> Response {
    let mut response = Response::new(HttpBody::from(text.into()));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
    response
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
}

/// Options with short timeouts, to avoid long waits in tests.
fn options() -> ServerOptions {
    ServerOptions::new()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Fails the test if something takes far too long.
#[track_caller]
fn soon<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let place = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(Duration::from_secs(30), future).await {
            Ok(output) => output,
            Err(_) => panic!("nothing happened for 30 s at {place}"),
        }
    }
}

/// A client that reads responses with `Content-Length`.
struct Client<S> {
    stream: S,
    read: Vec<u8>,
}

#[derive(Debug)]
struct Answered {
    status: u16,
    /// The headers as received, with names in lower case.
    head: String,
    body: String,
}

impl<S: AsyncReadExt + AsyncWriteExt + Unpin> Client<S> {
    fn new(stream: S) -> Self {
        Self { stream, read: Vec::new() }
    }

    async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        soon(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    async fn answer(&mut self) -> Answered {
        let head = self.head().await;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        while self.read.len() < length {
            self.more().await;
        }
        let body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        Answered { status: head[9..12].parse().unwrap(), head, body }
    }

    /// Returns a head including its empty line, with field names in lower case.
    async fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = self.read.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap().to_lowercase();
            }
            self.more().await;
        }
    }

    async fn more(&mut self) {
        let count = soon(self.stream.read_buf(&mut self.read)).await.unwrap();
        assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(&self.read));
    }

    /// Waits until the server has closed. No more bytes may arrive.
    async fn closed(&mut self) {
        let closed = soon(self.stream.read_buf(&mut self.read)).await;
        assert!(matches!(closed, Ok(0) | Err(_)), "{:?}", String::from_utf8_lossy(&self.read));
        assert_eq!(String::from_utf8_lossy(&self.read), "");
    }
}
