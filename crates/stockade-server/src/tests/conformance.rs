//! Tests the requirements of RFC 9110 and 9112 for an origin server, request by
//! request.
//!
//! Each request is followed by a second request on the same connection. This
//! shows which byte the server considers the end of the first request.

use std::fmt::Write as _;

use http::Method;
use stockade_core::{ApiError, Request};
use stockade_routing::{Router, RouterOptions};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::{Client, soon};
use crate::{BoundServer, CreateServer};

const HOST: &str = "Host: a\r\n";

async fn server() -> BoundServer {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.get("/", async || "root");
    router.get("/next", async || "next");
    router.get("/q", async |req: Request| req.uri().query().map(str::to_owned));
    router.post("/echo", echo);
    router.route(Method::PUT, "/none", async || ());
    router.create_server().unwrap().bind(0).await.unwrap()
}

async fn echo(mut req: Request) -> Result<String, ApiError> {
    Ok(format!("<{}>", String::from_utf8_lossy(&req.bytes().await?)))
}

/// Runs the requests of a test against one server.
struct Suite {
    address: std::net::SocketAddr,
    _served: tokio::task::JoinHandle<()>,
    wrong: String,
}

impl Drop for Suite {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.wrong, "");
        }
    }
}

impl Suite {
    async fn new() -> Self {
        let server = server().await;
        let address = server.local_addr();
        let served = tokio::spawn(async move { server.serve().await.unwrap() });
        Self { address, _served: served, wrong: String::new() }
    }

    /// Sends a request followed by one for `/next`. Checks the responses: each
    /// has its status, and its body if it is a 200; the last entry is `next` or
    /// `closed`.
    async fn check(&mut self, request: impl AsRef<[u8]>, expected: &str) {
        let request = request.as_ref();
        let said = self.said(request).await;
        if said != expected {
            let request = String::from_utf8_lossy(request);
            let _ = writeln!(self.wrong, "{request:?}: {said}, and not {expected}");
        }
    }

    async fn said(&self, request: &[u8]) -> String {
        let mut client = self.connect().await;
        client.send([request, b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n"].concat()).await;
        let mut said = Vec::new();
        let mut is_head = request.starts_with(b"HEAD");
        loop {
            let Some((status, _, body)) = answer(&mut client, is_head).await else {
                said.push("closed".to_owned());
                break;
            };
            is_head = false;
            if body == "next" {
                said.push(body);
                break;
            }
            said.push(if status == 200 { format!("200 {body}") } else { status.to_string() });
        }
        said.join(", ")
    }

    /// Returns the head of the response to a request, in lower case.
    async fn head(&self, request: &str) -> String {
        let mut client = self.connect().await;
        client.send(request).await;
        client.head().await
    }

    async fn connect(&self) -> Client<TcpStream> {
        Client::new(soon(TcpStream::connect(self.address)).await.unwrap())
    }
}

/// Returns the next response: its status, its head in lower case and its body.
/// Returns `None` if the connection closes instead.
async fn answer(client: &mut Client<TcpStream>, is_head: bool) -> Option<(u16, String, String)> {
    loop {
        let text = String::from_utf8_lossy(&client.read).into_owned();
        if let Some((head, rest)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let status: u16 = head[9..12].parse().unwrap();
            let length = head.split_once("\r\ncontent-length: ").filter(|_| !is_head);
            let length = length.map_or(0, |(_, it)| it.lines().next().unwrap().parse().unwrap());
            if rest.len() >= length {
                let used = text.len() - rest.len() + length;
                client.read.drain(..used);
                return Some((status, head, rest[..length].to_owned()));
            }
        }
        // Unread bytes may cause a reset.
        let count = soon(client.stream.read_buf(&mut client.read)).await.unwrap_or(0);
        if count == 0 {
            return None;
        }
    }
}

/// RFC 9112, sections 2.2, 2.3 and 3; RFC 9110, section 9.1.
#[tokio::test]
async fn request_lines() {
    let mut suite = Suite::new().await;
    suite.check(format!("GET / HTTP/1.1\r\n{HOST}\r\n"), "200 root, next").await;
    for line in [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        " GET / HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET /",
        "GET HTTP/1.1",
        "/ HTTP/1.1",
        "G(T / HTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/1",
        "GET / HTTP/01.1",
        "GET / HTTP/ 1.1",
        "GET / HTTP/1.2",
        "GET / HTTP/2.0",
        "GET / HTTP/9.9",
        "GET /\0 HTTP/1.1",
        "GET /\x7f HTTP/1.1\r",
        "GET / HTTP/1.1\rX: y",
    ] {
        suite.check(format!("{line}\r\n{HOST}\r\n"), "400, closed").await;
    }
    // Methods are case-sensitive; a method without a route gets the list of
    // allowed methods.
    for method in ["get", "FOOBAR", "DELETE", "TRACE", "!#$%&'*+-.^_`|~"] {
        suite.check(format!("{method} / HTTP/1.1\r\n{HOST}\r\n"), "405, next").await;
    }
}

/// RFC 9112, section 2.2.
#[tokio::test]
async fn line_ends() {
    let mut suite = Suite::new().await;
    suite.check(format!("\r\nGET / HTTP/1.1\r\n{HOST}\r\n"), "200 root, next").await;
    for request in [
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\n",
        "GET / HTTP/1.1\n\n",
        "GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
    ] {
        suite.check(request, "400, closed").await;
    }
}

/// RFC 9112, section 3.2; RFC 9110, sections 4.2.4 and 7.1.
#[tokio::test]
async fn targets() {
    let mut suite = Suite::new().await;
    for (target, expected) in [
        ("/q?a=b", "200 a=b, next"),
        ("/q?a=%0D%0A", "200 a=%0D%0A, next"),
        ("http://a/", "200 root, next"),
        ("HTTP://A/", "200 root, next"),
        ("https://a", "200 root, next"),
        ("http://b/", "400, next"),
        ("http://a:80/", "400, next"),
        ("http://u@a/", "400, next"),
        ("ftp://a/", "400, next"),
        ("ws://a/", "400, next"),
        ("*", "400, next"),
        ("/caf\u{e9}", "400, next"),
        ("/q?\u{e9}", "400, next"),
        ("/#f", "400, closed"),
        ("/q?a#f", "400, closed"),
        ("http://a/#f", "400, closed"),
        ("/a\\b", "400, next"),
        ("/a%00", "400, next"),
        ("/a%0d%0aX:y", "400, next"),
        ("/a%7F", "400, next"),
        ("/a%20b", "404, next"),
        ("/../", "404, next"),
    ] {
        suite.check(format!("GET {target} HTTP/1.1\r\n{HOST}\r\n"), expected).await;
    }
    let bytes = [b"GET /", &b"\xc0\xaf"[..], b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat();
    suite.check(bytes, "400, closed").await;
    suite.check(format!("OPTIONS * HTTP/1.1\r\n{HOST}\r\n"), "204, next").await;
    suite.check("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", "405, next").await;
    let long = "x".repeat(8_000);
    suite.check(format!("GET /{long} HTTP/1.1\r\n{HOST}\r\n"), "404, next").await;
}

/// RFC 9112, section 3.2.
#[tokio::test]
async fn hosts() {
    let mut suite = Suite::new().await;
    for hosts in ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nHost: b\r\n", "Host: a, b\r\n"] {
        suite.check(format!("GET / HTTP/1.1\r\n{hosts}\r\n"), "400, next").await;
    }
    for host in ["", "u@a", "a/b", "a b", "a:x", "http://a"] {
        suite.check(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), "400, next").await;
    }
    suite.check("GET / HTTP/1.0\r\n\r\n", "200 root, closed").await;
}

/// RFC 9112, section 5; RFC 9110, section 5.5.
#[tokio::test]
async fn header_lines() {
    let mut suite = Suite::new().await;
    for line in ["X:y", "X:  y\t ", "X:", "x!#$%&'*+-.^_`|~: y", "X: \u{e9}", "X_Y: z"] {
        suite.check(format!("GET / HTTP/1.1\r\n{HOST}{line}\r\n\r\n"), "200 root, next").await;
    }
    for line in [
        "X : y",
        "X\t: y",
        ": y",
        "X",
        "X[: y",
        "X\u{e9}: y",
        "X: y\r\n z",
        "X: y\r\n\tz",
        "X: a\0b",
        "X: a\rb",
        "X: \x07",
        "X: \x0b",
        "X: \x7f",
    ] {
        suite.check(format!("GET / HTTP/1.1\r\n{HOST}{line}\r\n\r\n"), "400, closed").await;
    }
}

/// RFC 9112, section 6; RFC 9110, section 8.6.
#[tokio::test]
async fn lengths() {
    let mut suite = Suite::new().await;
    let post = |line: &str, body: &str| format!("POST /echo HTTP/1.1\r\n{HOST}{line}\r\n{body}");
    suite.check(post("", ""), "200 <>, next").await;
    for (line, body, expected) in [
        ("Content-Length: 0\r\n", "", "200 <>, next"),
        ("Content-Length: 5\r\n", "hello", "200 <hello>, next"),
        ("content-length:\t5 \r\n", "hello", "200 <hello>, next"),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", "hello", "200 <hello>, next"),
    ] {
        suite.check(post(line, body), expected).await;
    }
    for line in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: abc\r\n",
        "Content-Length:\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: -0\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 0o5\r\n",
        "Content-Length: 005\r\n",
        "Content-Length: 00\r\n",
        "Content-Length: 1 0\r\n",
        "Content-Length: 1_0\r\n",
        "Content-Length: 5.0\r\n",
        "Content-Length : 5\r\n",
        "Content\tLength: 5\r\n",
        "Content_Length: 5\r\n",
        "Content-Length: 5\r\nContent_Length: 99\r\n",
        "Content-Length: 5\r\nTransfer_Encoding: chunked\r\n",
    ] {
        suite.check(post(line, "hello"), "400, closed").await;
    }
    // Lengths that do not fit an integer. The server waits for a moment until
    // the client has read each 413, so there are only a few of them.
    let nines = "9".repeat(100);
    for (length, prefix) in [
        ("18446744073709551614", ""),
        ("18446744073709551615", "X: y\r\n"),
        (&*nines, ""),
        ("99999999999999999999\r\nContent-Length: 99999999999999999999", ""),
    ] {
        let line = format!("{prefix}content-length: {length}\r\n");
        suite.check(post(&line, "hello"), "413, closed").await;
    }
    for length in ["9223372036854775808", "18446744073709551615", "99999999999999999999\t ", &nines]
    {
        let line = format!("Content-Length: {length}\r\n");
        suite.check(post(&format!("{line}Content-Length: 5\r\n"), "hello"), "400, closed").await;
        suite
            .check(post(&format!("{line}Transfer-Encoding: chunked\r\n"), ""), "400, closed")
            .await;
    }
    for wrong in ["99999999999999999999x", "99999999999999999999 9", "9999999999999999999,9"] {
        suite.check(post(&format!("Content-Length: {wrong}\r\n"), "hello"), "400, closed").await;
    }
    // The body of a method without one is skipped.
    for method in ["GET", "HEAD"] {
        let request = format!("{method} / HTTP/1.1\r\n{HOST}Content-Length: 5\r\n\r\nhello");
        let body = if method == "GET" { "200 root, next" } else { "200 , next" };
        suite.check(request, body).await;
    }
    let options = format!("OPTIONS / HTTP/1.1\r\n{HOST}Content-Length: 5\r\n\r\nhello");
    suite.check(options, "204, next").await;
}

/// RFC 9112, sections 6.1, 6.3 and 7.
#[tokio::test]
async fn codings() {
    let mut suite = Suite::new().await;
    let post = |line: &str| format!("POST /echo HTTP/1.1\r\n{HOST}{line}\r\n\r\n0\r\n\r\n");
    for line in ["Transfer-Encoding: chunked", "TRANSFER-ENCODING:\tChunked "] {
        suite.check(post(line), "200 <>, next").await;
    }
    for line in [
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked;x=y",
        "Transfer-Encoding:",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding: \x0cchunked",
        "Transfer-Encoding: chunked\0",
        "Transfer-Encoding:\r\n chunked",
        "Transfer_Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nContent-Length: x",
    ] {
        suite.check(post(line), "400, closed").await;
    }
    let old = "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    suite.check(old, "400, closed").await;
}

/// RFC 9112, section 7.1.
#[tokio::test]
async fn chunks() {
    let mut suite = Suite::new().await;
    let head = format!("POST /echo HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n");
    for good in [
        "5\r\nhello\r\n0\r\n\r\n",
        "2\r\nhe\r\n3\r\nllo\r\n000\r\n\r\n",
        "0000000000000005\r\nhello\r\n0\r\n\r\n",
        "5;a\r\nhello\r\n0;b=c\r\n\r\n",
        "5 ; a = \"b;\"\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n",
        "5\r\nhello\r\n0\r\nContent-Length: 50\r\nHost: b\r\n\r\n",
    ] {
        suite.check(format!("{head}{good}"), "200 <hello>, next").await;
    }
    suite.check(format!("{head}A\r\n0123456789\r\n0\r\n\r\n"), "200 <0123456789>, next").await;
    let long = "a".repeat(2_000);
    for wrong in [
        "5;\r\nhello\r\n0\r\n\r\n",
        "5;bad[=x\r\nhello\r\n0\r\n\r\n",
        "5;\0ext\r\nhello\r\n0\r\n\r\n",
        "5;a\rb\r\nhello\r\n0\r\n\r\n",
        "5;a\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "5\nhello\n0\n\n",
        "5\rhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "1_0\r\nhello\r\n0\r\n\r\n",
        "\r\n5\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello!!\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFF0\r\nhello\r\n0\r\n\r\n",
        "00000000000000005\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\n",
        "5\r\nhello\r\n0\r\nX: y\n\r\n",
        "5\r\nhello\r\n0\r\nX : y\r\n\r\n",
        "5\r\nhello\r\n0\r\n y\r\n\r\n",
        "+0\r\n\r\n",
        &format!("5;ext={long}\r\nhello\r\n0\r\n\r\n"),
        &"0".repeat(2_000),
    ] {
        suite.check(format!("{head}{wrong}"), "400, closed").await;
    }
}

/// RFC 9110, section 10.1.1.
#[tokio::test]
async fn expectations() {
    let mut suite = Suite::new().await;
    let post = |version: &str, expect: &str| {
        format!(
            "POST /echo HTTP/1.{version}\r\n{HOST}Expect: {expect}\r\nContent-Length: 5\r\n\r\nhello"
        )
    };
    suite.check(post("1", "100-continue"), "100, 200 <hello>, next").await;
    suite.check(post("1", "100-Continue"), "100, 200 <hello>, next").await;
    suite.check(post("0", "100-continue"), "200 <hello>, closed").await;
    suite.check(post("1", "200-ok"), "417, next").await;
    suite.check(post("1", "100-continue, x"), "417, next").await;
    suite.check(format!("GET / HTTP/1.1\r\n{HOST}Expect: 200-ok\r\n\r\n"), "417, next").await;
    // A client that expects both still waits before it sends the body.
    for (expect, expected) in [
        ("foo\r\nExpect: 100-continue", "417, closed"),
        ("100-continue\r\nExpect: foo", "417, closed"),
    ] {
        suite.check(post("1", expect), expected).await;
        let head = post("1", expect).replace("hello", "");
        assert!(suite.head(&head).await.starts_with("http/1.1 417 "), "{expect}");
    }
    let types = "Content-Type: text/plain\r\nContent-Type: text/html\r\n";
    let two = format!("POST /echo HTTP/1.1\r\n{HOST}{types}Content-Length: 5\r\n\r\nhello");
    suite.check(two, "400, next").await;
}

/// RFC 9112, sections 9.3 and 9.6; RFC 9110, sections 7.6.1 and 7.8.
#[tokio::test]
async fn connections() {
    let mut suite = Suite::new().await;
    for (request, expected) in [
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "200 root, closed"),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", "200 root, closed"),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "200 root, next"),
        ("GET / HTTP/1.0\r\n\r\n", "200 root, closed"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
            "200 root, next",
        ),
        ("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "200 root, closed"),
    ] {
        suite.check(request, expected).await;
    }
    let said = suite.head("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(said.contains("\r\nconnection: close\r\n"), "{said}");
}

/// RFC 9110, sections 6.6.1, 8.6, 9.3.2, 10.2.1 and 14.2.
#[tokio::test]
async fn response_messages() {
    let suite = Suite::new().await;
    for request in [
        format!("GET / HTTP/1.1\r\n{HOST}\r\n"),
        format!("GET /none HTTP/1.1\r\n{HOST}\r\n"),
        format!("OPTIONS / HTTP/1.1\r\n{HOST}\r\n"),
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "nonsense\r\n\r\n".to_owned(),
    ] {
        let head = suite.head(&request).await;
        let date = head.split_once("\r\ndate: ").unwrap_or_else(|| panic!("{request}: {head}")).1;
        // For example `sun, 06 nov 1994 08:49:37 gmt`.
        assert_eq!((&date[3..5], &date[25..31]), (", ", " gmt\r\n"), "{head}");
    }
    let head = suite.head(&format!("DELETE / HTTP/1.1\r\n{HOST}\r\n")).await;
    assert!(head.starts_with("http/1.1 405 "), "{head}");
    assert!(head.contains("\r\nallow: get, head, options\r\n"), "{head}");
    for request in ["OPTIONS / HTTP/1.1", "PUT /none HTTP/1.1"] {
        let head = suite.head(&format!("{request}\r\n{HOST}\r\n")).await;
        assert!(head.starts_with("http/1.1 204 "), "{head}");
        assert!(!head.contains("\r\ncontent-length: "), "{head}");
        assert!(!head.contains("\r\ntransfer-encoding: "), "{head}");
    }
    let range = format!("GET / HTTP/1.1\r\n{HOST}Range: bytes=0-1\r\n\r\n");
    assert!(suite.head(&range).await.starts_with("http/1.1 200 "));
    // HEAD has the same head as GET.
    let [get, head] = ["GET", "HEAD"].map(|method| format!("{method} / HTTP/1.1\r\n{HOST}\r\n"));
    let without_date = |head: String| -> Vec<String> {
        head.lines().filter(|line| !line.starts_with("date: ")).map(str::to_owned).collect()
    };
    let (get, head) = (suite.head(&get).await, suite.head(&head).await);
    let names = |head: String| -> Vec<String> {
        let lines = without_date(head).into_iter().filter(|line| !line.starts_with("ratelimit"));
        lines.collect()
    };
    assert_eq!(names(head), names(get));
}
