//! Tests HTTP/1 responses that end in an unusual way, and the headers of
//! adjacent responses.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use http_body::Frame;
use stockade_core::upgrade::{Upgrade, Upgraded};
use stockade_core::{HttpBody, Request, Response};
use stockade_errors::BoxError;
use stockade_routing::{App, Router, RouterOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Client, soon};
use crate::{CreateServer, ServerOptions};

/// A body of unknown length that fails or panics immediately.
struct Bad(bool);

impl http_body::Body for Bad {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        assert!(!self.0, "on purpose");
        Poll::Ready(Some(Err("no".into())))
    }
}

pub(super) fn app() -> App {
    let mut router = Router::with_options(RouterOptions::new());
    router.get("/hello", async || "hello");
    let with = |name: &'static str, value: &'static str, status: u16, body: fn() -> HttpBody| {
        move || async move {
            let mut response = Response::new(body());
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
                .headers_mut()
                .append(HeaderName::from_static(name), HeaderValue::from_static(value));
            response
        }
    };
    let full = || HttpBody::from("own".to_owned());
    let fails = || HttpBody::new(Bad(false));
    let panics = || HttpBody::new(Bad(true));
    router.get("/fails", with("x-own", "a", 200, fails));
    router.get("/panics", with("x-own", "a", 200, panics));
    router.get("/length", with("content-length", "abc", 200, fails));
    router.post("/length", async |mut request: Request| {
        let _ = request.bytes().await;
        let mut response = Response::new(HttpBody::new(Bad(false)));
        response.headers_mut().append("content-length", HeaderValue::from_static("abc"));
        response
    });
    router.get("/103", with("x-own", "a", 103, full));
    router.get("/101", with("x-own", "a", 101, HttpBody::empty));
    router.get("/999", with("x-own", "a", 999, full));
    router.get("/204", with("x-own", "a", 204, full));
    router.get("/304", with("x-own", "a", 304, full));
    router.get("/close", with("connection", "close", 200, full));
    router.get("/upgrade", async |request: Request| {
        let upgrade = request.extensions().get::<Upgrade>().copied().unwrap();
        upgrade.switch(async |mut upgraded: Upgraded| {
            upgraded.io.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let mut all = upgraded.read.to_vec();
            upgraded.io.read_buf(&mut all).await.unwrap();
            upgraded.io.write_all(&all).await.unwrap();
        })
    });
    router.build().unwrap()
}

/// Returns all bytes that arrive for these requests, until the server closes.
async fn exchange(app: &App, requests: &str) -> String {
    let server = app.clone().create_server_with(ServerOptions::new()).unwrap();
    let server = server.bind(0).await.unwrap();
    let handle = server.handle();
    tokio::spawn(server.serve());
    let stream = soon(TcpStream::connect(handle.local_addr())).await.unwrap();
    let mut client = Client::new(stream);
    client.send(requests).await;
    client.stream.shutdown().await.unwrap();
    let mut all = Vec::new();
    soon(client.stream.read_to_end(&mut all)).await.unwrap();
    String::from_utf8(all).unwrap()
}

fn nosniff(text: &str) -> usize {
    text.matches("\r\nx-content-type-options: nosniff\r\n").count()
}

#[tokio::test]
async fn an_unusual_response_gets_no_headers_of_earlier_ones() {
    let app = app();
    let get = super::get;
    let hello = get("/hello");
    let post = "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n";
    // The number of expected heads, and the number of heads with security
    // headers.
    for (last, heads, with_headers) in [
        (get("/fails"), 3, 3),
        (get("/panics"), 3, 3),
        (get("/length"), 2, 2),
        (get("/103"), 3, 3),
        (get("/101"), 3, 3),
        (get("/999"), 3, 3),
        (get("/204"), 3, 3),
        (get("/304"), 3, 3),
        (get("/close"), 3, 3),
        ("GET / HTTP/1.1\r\nHost: a\r\n :\r\n\r\n".into(), 3, 2),
        ("\0".into(), 3, 2),
        ("GET / HTTP/1.1\r\nHost: a\r\n\r".to_owned() + "x\r\n\r\n", 3, 2),
        (format!("GET /{} HTTP/1.1\r\n", "a".repeat(200_000)), 3, 2),
        ("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".into(), 3, 3),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n".into(), 3, 3),
        (format!("{post}Expect: 100-continue\r\n\r\na"), 3, 2),
        (format!("{post}\r\na"), 2, 2),
    ] {
        let text = exchange(&app, &format!("{hello}{hello}{last}")).await;
        let found = (text.matches("HTTP/1.").count(), nosniff(&text));
        assert_eq!(found, (heads, with_headers), "{:?}", &last[..last.len().min(80)]);
    }
}

#[tokio::test]
async fn an_upgrade_after_other_responses_gets_its_bytes_unchanged() {
    let app = app();
    let hello = super::get("/hello");
    let upgrade = "GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: b\r\n\r\n";
    let text = exchange(&app, &format!("{hello}{hello}{upgrade}early")).await;
    assert_eq!(nosniff(&text), 2, "{text}");
    let (_, behind) = text.split_once("HTTP/1.1 101 ").unwrap();
    let (_, raw) = behind.split_once("\r\n\r\n").unwrap();
    assert_eq!(raw, "HTTP/1.1 200 OK\r\n\r\nearly");
}
