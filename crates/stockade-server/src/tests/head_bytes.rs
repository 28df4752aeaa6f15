//! Tests HTTP/1 response heads on connections that accept few bytes at a time,
//! or none for a while.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use stockade_core::Request;
use stockade_core::reply::ResponseWriter;
use stockade_core::{ApiError, HttpBody, Response};
use stockade_errors::random::Random;
use stockade_routing::{App, Router};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::sync::mpsc;

use super::heads::{asked, lines, options};
use super::{Client, ms, soon};
use crate::{CreateServer, Listener, LocalAddr, ServerHandle, ServerOptions};

/// The number of bytes that a connection accepts at a time.
#[derive(Debug)]
enum Taking {
    /// A random number of bytes, and none every third time.
    Random { random: Random, most: usize },
    /// This many bytes, until the test allows more.
    Counted(usize),
}

#[derive(Debug)]
struct Tap {
    taking: Taking,
    /// The number of times that the connection was polled.
    polls: usize,
    waker: Option<Waker>,
}

impl Tap {
    fn poll(&mut self, cx: &Context<'_>, length: usize) -> Poll<usize> {
        self.polls += 1;
        match &mut self.taking {
            Taking::Random { random, most } => {
                if random.one_in(3) {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(length.min(1 + random.index(*most)))
            }
            Taking::Counted(0) => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Taking::Counted(left) => Poll::Ready(length.min(*left)),
        }
    }

    /// Returns the largest number of bytes that the connection accepts at once.
    fn most(&self) -> usize {
        match self.taking {
            Taking::Random { most, .. } => most,
            Taking::Counted(left) => left,
        }
    }

    fn took(&mut self, count: usize) {
        if let Taking::Counted(left) = &mut self.taking {
            *left -= count;
        }
    }
}

/// Allows a connection to accept this many more bytes.
fn open(tap: &Mutex<Tap>, count: usize) {
    let mut tap = tap.lock().unwrap();
    if let Taking::Counted(left) = &mut tap.taking {
        *left += count;
    }
    if let Some(waker) = tap.waker.take() {
        waker.wake();
    }
}

#[derive(Debug)]
struct Stingy {
    io: DuplexStream,
    tap: Arc<Mutex<Tap>>,
    is_vectored: bool,
}

impl AsyncRead for Stingy {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stingy {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let mut tap = this.tap.lock().unwrap();
        let Poll::Ready(count) = tap.poll(cx, buf.len()) else { return Poll::Pending };
        let polled = Pin::new(&mut this.io).poll_write(cx, &buf[..count]);
        if let Poll::Ready(Ok(count)) = polled {
            tap.took(count);
        }
        polled
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let most = self.tap.lock().unwrap().most();
        let all = bufs.iter().flat_map(|buf| buf.iter().copied());
        let first: Vec<u8> = all.take(most).collect();
        self.poll_write(cx, &first)
    }

    fn is_write_vectored(&self) -> bool {
        self.is_vectored
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

struct Pipes(mpsc::UnboundedReceiver<Stingy>);

impl Listener for Pipes {
    type Io = Stingy;

    async fn accept(&mut self) -> io::Result<(Stingy, Option<SocketAddr>)> {
        let client = ([192, 0, 2, 1], 1).into();
        match self.0.recv().await {
            Some(pipe) => Ok((pipe, Some(client))),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> LocalAddr {
        LocalAddr::Other("pipes".to_owned())
    }
}

struct Pipe {
    clients: mpsc::UnboundedSender<Stingy>,
    handle: ServerHandle<LocalAddr>,
}

impl Pipe {
    async fn serve(app: &App, options: ServerOptions) -> Self {
        let (clients, pipes) = mpsc::unbounded_channel();
        let bound = app.clone().create_server_with(options).unwrap().bind(Pipes(pipes)).await;
        let bound = bound.unwrap();
        let handle = bound.handle();
        tokio::spawn(bound.serve());
        Self { clients, handle }
    }

    fn connect(
        &self,
        taking: Taking,
        is_vectored: bool,
    ) -> (Client<DuplexStream>, Arc<Mutex<Tap>>) {
        let (client, server) = tokio::io::duplex(100_000);
        let tap = Arc::new(Mutex::new(Tap { taking, polls: 0, waker: None }));
        self.clients.send(Stingy { io: server, tap: Arc::clone(&tap), is_vectored }).unwrap();
        (Client::new(client), tap)
    }
}

fn app() -> App {
    async fn streams(mut res: ResponseWriter) -> Result<(), ApiError> {
        for index in 0..4 {
            if index > 1 {
                tokio::task::yield_now().await;
            }
            res.write("HTTP/1.1 200 OK\r\n").await?;
        }
        Ok(())
    }
    let mut router = Router::with_options(options().rate_limit(false));
    router.get("/hello", async || "hello");
    router.get("/empty", async || ());
    router.get("/large", async || "HTTP/1.1 ".repeat(8_192));
    router.get("/streams", streams);
    router.get("/varies", async || {
        let mut response = Response::new(HttpBody::from("own".to_owned()));
        response.headers_mut().insert("vary", http::HeaderValue::from_static("Accept"));
        response
    });
    router.post("/echo", async |body: Bytes| body);
    // Responds while the body is still arriving.
    router.post("/early", async |mut request: Request| {
        tokio::spawn(async move { request.bytes().await.map(drop) });
        "early"
    });
    router.build().unwrap()
}

struct Asked {
    method: &'static str,
    path: &'static str,
    rest: String,
}

fn random_requests(seed: u64) -> Vec<Asked> {
    let long = "b".repeat(3_000);
    let of = |index: usize| -> (&'static str, &'static str, String) {
        match index {
            0 | 1 => ("GET", "/hello", "\r\n".into()),
            2 => ("HEAD", "/large", "\r\n".into()),
            3 => ("GET", "/large", "\r\n".into()),
            4 => ("GET", "/streams", "\r\n".into()),
            5 => ("GET", "/varies", "\r\n".into()),
            6 => ("GET", "/empty", "\r\n".into()),
            7 => ("GET", "/nothing", "\r\n".into()),
            8 => ("POST", "/echo", "Content-Length: 2\r\n\r\nok".into()),
            9 => ("POST", "/echo", "Content-Length: 2\r\nExpect: 100-continue\r\n\r\nok".into()),
            10 => ("POST", "/early", format!("Content-Length: 3000\r\n\r\n{long}")),
            _ => {
                let expect = "Expect: 100-continue\r\nContent-Length: 3000";
                ("POST", "/early", format!("{expect}\r\n\r\n{long}"))
            }
        }
    };
    let mut random = Random::new(seed);
    let requests = (0..40).map(|_| {
        let (method, path, rest) = of(random.index(12));
        Asked { method, path, rest }
    });
    requests.collect()
}

/// Returns the head of a final response, and skips its body.
async fn answer_of<S: AsyncRead + AsyncWrite + Unpin>(
    client: &mut Client<S>,
    is_head: bool,
) -> String {
    let mut head = client.head().await;
    if head.starts_with("http/1.1 100 ") {
        assert_eq!(head, "http/1.1 100 continue\r\n\r\n");
        head = client.head().await;
    }
    let status: u16 = head[9..12].parse().unwrap_or_else(|_| panic!("{head}"));
    if is_head || matches!(status, 204 | 304) {
        return head;
    }
    if head.contains("\r\ntransfer-encoding: chunked\r\n") {
        let end = b"\r\n0\r\n\r\n";
        let found = loop {
            match client.read.windows(end.len()).position(|it| it == end) {
                Some(found) => break found,
                None => client.more().await,
            }
        };
        let body: Vec<u8> = client.read.drain(..found + end.len()).collect();
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body.matches("HTTP/1.1 200 OK\r\n").count(), 4, "{body}");
        assert!(!body.contains("nosniff"));
        return head;
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.unwrap_or_else(|| panic!("{head}")).parse().unwrap();
    while client.read.len() < length {
        client.more().await;
    }
    let body: Vec<u8> = client.read.drain(..length).collect();
    assert!(!String::from_utf8(body).unwrap().contains("nosniff"));
    head
}

#[tokio::test]
async fn each_response_has_its_headers_once_in_writes_of_any_size() {
    let app = app();
    let pipe = Pipe::serve(&app, ServerOptions::new()).await;
    for seed in 0..60_usize {
        let is_vectored = seed % 2 == 1;
        let most = [13, 40, 700, 5_000, 200_000][seed / 2 % 5];
        let taking = Taking::Random { random: Random::new(seed as u64), most };
        let (client, _tap) = pipe.connect(taking, is_vectored);
        let requests = random_requests(seed as u64 + 100);
        let text = |it: &Asked| {
            let Asked { method, path, rest } = it;
            format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{rest}")
        };
        let sent = requests.iter().map(text).collect::<String>();
        let (read, mut write) = tokio::io::split(client.stream);
        let mut client = Client::new(tokio::io::join(read, tokio::io::sink()));
        tokio::spawn(async move {
            for part in sent.as_bytes().chunks(1 + seed * 37 % 5_000) {
                if write.write_all(part).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
            // The connection stays open until the end of the test.
            std::future::pending::<()>().await;
            drop(write);
        });
        for request in &requests {
            let head = answer_of(&mut client, request.method == "HEAD").await;
            let expected = asked(&app, request.method, request.path, None).await;
            assert_eq!(lines(&head), expected, "{seed} {} {}", request.method, request.path);
        }
    }
}

/// Sends two responses on a connection that is full after a number of bytes,
/// for each number below 1,500.
#[tokio::test]
async fn a_head_can_be_cut_after_each_byte() {
    let app = app();
    let pipe = Pipe::serve(&app, ServerOptions::new()).await;
    let expected = asked(&app, "GET", "/hello", None).await;
    for is_vectored in [false, true] {
        for count in 0..1_500 {
            let (mut client, tap) = pipe.connect(Taking::Counted(count), is_vectored);
            let get = super::get("/hello");
            client.send(format!("{get}{get}")).await;
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            open(&tap, 100_000);
            for _ in 0..2 {
                let head = answer_of(&mut client, false).await;
                assert_eq!(lines(&head), expected, "{count}");
            }
            assert_eq!(client.read, b"");
        }
    }
}

/// The number of bytes of a head that a connection accepts, and true for
/// vectored writes.
const PARTS: [(usize, bool); 8] = [
    (0, false),
    (1, false),
    (17, false),
    (300, false),
    (0, true),
    (1, true),
    (17, true),
    (300, true),
];

#[tokio::test]
async fn data_after_a_head_is_neither_parked_nor_lost() {
    let app = app();
    let options = ServerOptions::new().park_after(ms(10)).idle_timeout(ms(150));
    let pipe = Pipe::serve(&app, options.header_read_timeout(ms(100))).await;
    let expected = asked(&app, "GET", "/hello", None).await;
    let mut all = PARTS.map(|(count, vectored)| pipe.connect(Taking::Counted(count), vectored));
    for (client, _) in &mut all {
        client.send(super::get("/hello")).await;
    }
    tokio::time::sleep(ms(400)).await;
    for (client, tap) in &mut all {
        // Two polls per sweep, and a few for the request.
        let polls = tap.lock().unwrap().polls;
        assert!(polls < 300, "{polls}");
        open(tap, 100_000);
        // The connection did not count as idle while bytes waited, so it is
        // still open.
        for _ in 0..2 {
            assert_eq!(lines(&answer_of(client, false).await), expected);
            client.send(super::get("/hello")).await;
        }
    }
}

#[tokio::test]
async fn only_a_stalled_client_is_disconnected_within_a_head() {
    let app = app();
    let pipe = Pipe::serve(&app, ServerOptions::new().write_stall_timeout(ms(500))).await;
    let all =
        PARTS.map(|(count, vectored)| (count, pipe.connect(Taking::Counted(count), vectored)));
    let mut clients = Vec::new();
    for (count, (mut client, tap)) in all {
        client.send(super::get("/hello")).await;
        clients.push((count, client, tap));
    }
    let (mut slow, tap) = pipe.connect(Taking::Counted(0), false);
    slow.send(super::get("/hello")).await;
    let drip = async {
        for _ in 0..100 {
            tokio::time::sleep(ms(10)).await;
            open(&tap, 8);
        }
    };
    let (head, ()) = tokio::join!(answer_of(&mut slow, false), drip);
    assert_eq!(lines(&head), asked(&app, "GET", "/hello", None).await);
    for (count, mut client, _tap) in clients {
        let mut taken = Vec::new();
        soon(client.stream.read_to_end(&mut taken)).await.unwrap();
        assert_eq!(taken.len(), count);
    }
}

#[tokio::test]
async fn a_shutdown_waits_for_data_after_a_head() {
    let app = app();
    for count in [0, 1, 17, 300] {
        let pipe = Pipe::serve(&app, ServerOptions::new()).await;
        let (mut client, tap) = pipe.connect(Taking::Counted(count), false);
        client.send(super::get("/hello")).await;
        tokio::time::sleep(ms(20)).await;
        pipe.handle.shutdown();
        tokio::time::sleep(ms(50)).await;
        open(&tap, 100_000);
        let head = answer_of(&mut client, false).await;
        assert_eq!(lines(&head), asked(&app, "GET", "/hello", None).await, "{count}");
        client.closed().await;
    }
}
