//! Compares the responses of the fast path and of the plain path, byte by byte.
//! Only the values of `Date`, the order of headers and the sizes of chunks may
//! differ.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use http_body::{Body, Frame};
use stockade_core::{ApiError, HttpBody, Request, Response};
use stockade_routing::{App, Router, RouterOptions};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Client, get, head_edges, soon};
use crate::{CreateServer, ServerHandle, ServerOptions};

/// A body of unknown length in several frames.
struct Pieces(usize);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.0 == 0 {
            return Poll::Ready(None);
        }
        self.0 -= 1;
        if self.0.is_multiple_of(2) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let data = Bytes::from("z".repeat(self.0 * 3_000));
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

fn app() -> App {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.get("/hello", async || "hello");
    router.get("/json", async || stockade_core::reply::Json(serde_json::json!({ "a": [1, 2] })));
    router.get("/large", async || "large ".repeat(50_000));
    router.get("/medium", async || "medium ".repeat(1_000));
    router.get("/pieces", async || Response::new(HttpBody::new(Pieces(9))));
    router.get("/empty", async || ());
    router.get("/fails", async || -> Result<String, ApiError> { Err(ApiError::new(409, "no")) });
    router.get("/panics", async || -> String { panic!("on purpose") });
    router.get("/cached", async || {
        let mut response = Response::new(HttpBody::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response.headers_mut().insert(header::ETAG, HeaderValue::from_static("\"a\""));
        response
    });
    router.get("/unread", async || "unread");
    router.post("/unread", async || "unread");
    router.post("/echo", async |mut request: Request| -> Result<String, ApiError> {
        Ok(String::from_utf8_lossy(&request.bytes().await?).into_owned())
    });
    router.build().unwrap()
}

/// Requests, each followed by others on the same connection.
fn corpus() -> Vec<String> {
    let mut corpus: Vec<String> =
        ["/hello", "/json", "/large", "/medium", "/pieces", "/empty", "/fails", "/panics"]
            .into_iter()
            .chain(["/cached", "/unread", "/missing", "/hello?a=b", "/%", "/echo", "//", "*"])
            .flat_map(|path| ["GET", "HEAD", "OPTIONS", "DELETE"].map(|method| (method, path)))
            .map(|(method, path)| format!("{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n"))
            .collect();
    let preflight = "Origin: http://b\r\nAccess-Control-Request-Method: GET";
    for lines in [preflight, "Origin: http://b", "Accept: text/plain", "Connection: keep-alive"] {
        corpus.push(format!("OPTIONS /hello HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n"));
        corpus.push(format!("GET /hello HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n"));
    }
    for path in ["/echo", "/unread", "/hello", "/missing"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\n");
        for rest in [
            "Content-Length: 2\r\n\r\nhi",
            "Content-Length: 0\r\n\r\n",
            "Content-Length: 2\r\nExpect: 100-continue\r\n\r\nhi",
            "Expect: more\r\nContent-Length: 0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\nx: y\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n2\r\nhi!\r\n0\r\n\r\n",
            "Transfer-Encoding: gzip\r\n\r\n",
            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Content-Length: x\r\n\r\n",
            "Content-Length: 2\r\nContent-Type: a\r\nContent-Type: b\r\n\r\nhi",
        ] {
            corpus.push(format!("{head}{rest}"));
        }
    }
    for bad in [
        "GET /hello HTTP/1.1\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /hello HTTP/1.1\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.0\r\n\r\n",
        "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET /hello HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET http://a/hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: b\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\n\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        corpus.push(bad.to_owned());
    }
    corpus.push(format!("GET /hello HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(20_000)));
    corpus.push(format!("GET /hello HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(101)));
    corpus
}

/// A server on one of the paths.
struct Path {
    handle: ServerHandle,
    _served: JoinHandle<()>,
}

impl Path {
    async fn start(app: App, is_fast: bool) -> Self {
        let options = ServerOptions::new().hyper_fast_path(is_fast);
        let server = app.create_server_with(options).unwrap().bind(0).await.unwrap();
        let handle = server.handle();
        Self { handle, _served: tokio::spawn(async { server.serve().await.unwrap() }) }
    }

    /// Returns the bytes that arrive until the server closes.
    async fn exchange(&self, requests: &str) -> Vec<u8> {
        let mut client =
            Client::new(soon(TcpStream::connect(self.handle.local_addr())).await.unwrap());
        // The server may close before it has read everything.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut client.stream, requests.as_bytes()).await;
        let mut all = Vec::new();
        let _ = soon(client.stream.read_to_end(&mut all)).await;
        all
    }
}

/// Splits bytes into responses, with sorted headers, without the values that
/// depend on the time, and without the frames of chunks.
fn normalized(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let responses = text.split("HTTP/1.").skip(1).map(|response| {
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, "no end"));
        let mut lines: Vec<&str> = head.split("\r\n").collect();
        for line in &mut lines {
            // The limit is the only header in `head_edges` that counts time.
            for name in ["date", "ratelimit"] {
                if line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")) {
                    *line = name;
                }
            }
        }
        lines[1..].sort_unstable();
        let is_chunked = lines.contains(&"transfer-encoding: chunked");
        let body = if is_chunked { without_chunks(body) } else { body.to_owned() };
        format!("{}\r\n\r\n{body}", lines.join("\r\n"))
    });
    responses.collect()
}

/// Returns the data of a chunked body, and the rest if it is incomplete.
fn without_chunks(mut body: &str) -> String {
    let mut data = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 || rest.len() < size + 2 {
            break;
        }
        data += &rest[..size];
        body = &rest[size + 2..];
    }
    data + body
}

/// Compares the paths for each request by itself, after other requests, and
/// before one that closes the connection.
async fn compare(app: fn() -> App, corpus: &[String]) -> usize {
    let paths = [Path::start(app(), true).await, Path::start(app(), false).await];
    let last = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let mut responses = 0;
    for request in corpus {
        for earlier in [String::new(), get("/hello").repeat(3)] {
            let requests = format!("{earlier}{request}{last}");
            let [fast, plain] = [&paths[0], &paths[1]].map(|path| path.exchange(&requests));
            let (fast, plain) = (normalized(&fast.await), normalized(&plain.await));
            assert_eq!(fast, plain, "{request:?}");
            responses += fast.len();
        }
    }
    responses
}

#[tokio::test]
async fn both_paths_send_the_same_bytes() {
    let responses = compare(app, &corpus()).await;
    assert!(responses > 500, "{responses}");
}

#[tokio::test]
async fn both_paths_end_unusual_responses_in_the_same_way() {
    let paths = ["/fails", "/panics", "/length", "/103", "/101", "/999", "/204", "/304", "/close"];
    let corpus = paths.map(get);
    let responses = compare(head_edges::app, &corpus).await;
    // The response of `/length` is not sent.
    assert!(responses > 40, "{responses}");
}

/// Fails if both servers of the other tests were on the same path: the headers
/// of the built-in stages are first on the fast path.
#[tokio::test]
async fn the_paths_differ_in_the_order_of_headers() {
    let last = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for is_fast in [true, false] {
        let path = Path::start(app(), is_fast).await;
        let text = String::from_utf8(path.exchange(last).await).unwrap();
        let position = |name: &str| text.find(name).unwrap();
        let is_first = position("\r\nx-content-type-options:") < position("\r\ncontent-type:");
        assert_eq!(is_first, is_fast, "{text}");
    }
}
