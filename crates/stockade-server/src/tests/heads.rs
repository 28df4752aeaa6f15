//! Tests the heads of HTTP/1 responses: each header of the application appears
//! exactly once, whether hyper or this crate writes it.

use bytes::Bytes;
use http::{HeaderMap, Request, header};
use stockade_core::reply::ResponseWriter;
use stockade_core::{ApiError, HttpBody, Response};
use stockade_routing::{App, Router, RouterOptions};
use stockade_stages::rate_limit::HOUR;
use stockade_stages::{SecurityHeaders, with_request_id};
use tokio::net::TcpStream;

use super::{Client, soon};
use crate::{CreateServer, ServerHandle, ServerOptions};

pub(super) fn options() -> RouterOptions {
    RouterOptions::new().cors_origin(["https://a.example"]).rate_limit(1_000 / HOUR)
}

fn app(options: RouterOptions) -> App {
    async fn streams(mut res: ResponseWriter) -> Result<(), ApiError> {
        for _ in 0..3 {
            res.write("HTTP/1.1 200 OK\r\n").await?;
        }
        Ok(())
    }
    let own = |name, value| {
        move || async move {
            let mut response = Response::new("own".to_owned().into());
            response.headers_mut().insert(name, http::HeaderValue::from_static(value));
            response
        }
    };
    let mut router = Router::with_options(options);
    router.get("/hello", async || "hello");
    router.get("/fails", async || Err::<(), _>(ApiError::new(409, "no")));
    router.get("/empty", async || ());
    router.get("/large", async || "HTTP/1.1 ".repeat(8_192));
    router.get("/huge", async || "HTTP/1.1 ".repeat(1_048_576));
    router.get("/streams", streams);
    router.get("/framed", own(header::X_FRAME_OPTIONS, "SAMEORIGIN"));
    router.get("/varies", own(header::VARY, "Accept"));
    router.get("/cached", own(header::ETAG, "\"a\""));
    router.post("/echo", async |body: Bytes| body);
    router.build().unwrap()
}

async fn serve(app: &App) -> (ServerHandle, Client<TcpStream>) {
    let server = app.clone().create_server_with(ServerOptions::new()).unwrap();
    let server = server.bind(0).await.unwrap();
    let handle = server.handle();
    tokio::spawn(server.serve());
    let stream = soon(TcpStream::connect(handle.local_addr())).await.unwrap();
    (handle, Client::new(stream))
}

/// Returns the sorted lines of a head, without the headers of the server and
/// the number of remaining requests.
pub(super) fn lines(head: &str) -> Vec<String> {
    let mut lines: Vec<_> = head.trim_end().lines().skip(1).map(str::to_lowercase).collect();
    let of_server = ["date:", "content-length:", "transfer-encoding:", "connection:"];
    lines.retain(|line| !of_server.iter().any(|name| line.starts_with(name)));
    for line in &mut lines {
        if line.starts_with("ratelimit:") {
            line.truncate("ratelimit:".len());
        }
    }
    lines.sort();
    lines
}

fn text(headers: &HeaderMap) -> String {
    let line = |(name, value): (&header::HeaderName, &header::HeaderValue)| {
        format!("{name}: {}\n", value.to_str().unwrap())
    };
    format!("\n{}", headers.iter().map(line).collect::<String>())
}

/// Calls the application directly.
pub(super) async fn asked(
    app: &App,
    method: &str,
    path: &str,
    origin: Option<&str>,
) -> Vec<String> {
    let mut request = Request::builder().method(method).uri(path).header("host", "a");
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    let response = app.handle(request.body(HttpBody::empty()).unwrap()).await;
    lines(&text(response.headers()))
}

const PATHS: [&str; 9] = [
    "/hello", "/fails", "/empty", "/large", "/streams", "/framed", "/varies", "/cached", "/nothing",
];

async fn body(client: &mut Client<TcpStream>, head: &str) -> String {
    if head.contains("\r\ntransfer-encoding: chunked\r\n") {
        while !client.read.ends_with(b"0\r\n\r\n") {
            client.more().await;
        }
        return String::from_utf8(std::mem::take(&mut client.read)).unwrap();
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    while client.read.len() < length {
        client.more().await;
    }
    String::from_utf8(client.read.drain(..length).collect()).unwrap()
}

#[tokio::test]
async fn responses_have_each_application_header_once() {
    let plain = || RouterOptions::new().cors(false).enable_security_headers(false);
    let all = [
        options(),
        RouterOptions::new(),
        options().rate_limit(false),
        plain(),
        plain().rate_limit(false),
        plain().rate_limit(false).cors(true),
    ];
    for options in all {
        let app = app(options);
        let (_handle, mut client) = serve(&app).await;
        // The first large response changes how hyper writes later ones.
        for path in PATHS.iter().chain(&PATHS) {
            for origin in [None, Some("https://a.example"), Some("https://b.example")] {
                for method in ["GET", "HEAD", "OPTIONS", "DELETE"] {
                    let line = origin.map_or(String::new(), |it| format!("Origin: {it}\r\n"));
                    let request = format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{line}\r\n");
                    client.send(request).await;
                    let head = client.head().await;
                    if method != "HEAD" {
                        body(&mut client, &head).await;
                    }
                    let expected = asked(&app, method, path, origin).await;
                    assert_eq!(lines(&head), expected, "{method} {path} {origin:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn pipelined_requests_get_all_headers() {
    let app = app(options());
    let (_handle, mut client) = serve(&app).await;
    let requests = PATHS.map(|path| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
    client.send(requests.concat()).await;
    for path in PATHS {
        let head = client.head().await;
        assert_eq!(lines(&head), asked(&app, "GET", path, None).await, "{path}");
        if head.contains("\r\ntransfer-encoding: chunked\r\n") {
            let end = b"0\r\n\r\n";
            let found = loop {
                let found = client.read.windows(end.len()).position(|it| it == end);
                match found {
                    Some(found) => break found,
                    None => client.more().await,
                }
            };
            client.read.drain(..found + end.len());
        } else {
            body(&mut client, &head).await;
        }
    }
}

#[tokio::test]
async fn a_head_after_an_unread_response_has_all_headers() {
    let app = app(options());
    let (_handle, mut client) = serve(&app).await;
    // The body of the second request arrives while the first response waits for
    // the client.
    let post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n";
    client.send(format!("GET /huge HTTP/1.1\r\nHost: a\r\n\r\n{post}o")).await;
    let head = client.head().await;
    client.send("k").await;
    assert_eq!(lines(&head), asked(&app, "GET", "/huge", None).await);
    assert_eq!(body(&mut client, &head).await.len(), 9 * 1_048_576);
    let answer = client.answer().await;
    assert_eq!(answer.body, "ok");
    assert!(answer.head.contains("\r\nx-content-type-options: nosniff\r\n"), "{}", answer.head);
}

#[tokio::test]
async fn an_expected_100_comes_before_the_head_and_has_no_headers() {
    let app = app(options());
    let (_handle, mut client) = serve(&app).await;
    let post =
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    // The body waits for the 100 in one case, and has already arrived in the
    // other.
    for (first, second) in [(post.to_owned(), "ok"), (format!("{post}ok"), "")] {
        client.send(first).await;
        let interim = client.head().await;
        assert_eq!(interim, "http/1.1 100 continue\r\n\r\n");
        client.send(second).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
        let nosniff = "\r\nx-content-type-options: nosniff\r\n";
        assert_eq!(answer.head.matches(nosniff).count(), 1, "{}", answer.head);
    }
}

#[tokio::test]
async fn http_1_0_gets_the_same_headers() {
    let app = app(options());
    for path in PATHS {
        let (_handle, mut client) = serve(&app).await;
        client.send(format!("GET {path} HTTP/1.0\r\n\r\n")).await;
        let head = client.head().await;
        assert!(head.starts_with("http/1.0 "), "{head}");
        assert_eq!(lines(&head), asked(&app, "GET", path, None).await, "{path}");
    }
}

/// A header that two stages write appears once.
#[tokio::test]
async fn a_security_header_with_the_name_of_another_stage_appears_once() {
    for name in ["retry-after", "x-request-id", "traceparent", "vary", "ratelimit-policy"] {
        let security = SecurityHeaders::new().set(name, "a").unwrap();
        let limit = RouterOptions::new().rate_limit(1 / HOUR).security_headers(security);
        let app = app(limit.request_id(with_request_id()));
        let (_handle, mut client) = serve(&app).await;
        let trace = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        for status in [200, 429] {
            client.send(format!("GET /hello HTTP/1.1\r\nHost: a\r\n{trace}\r\n\r\n")).await;
            let answer = client.answer().await;
            assert_eq!(answer.status, status);
            let found = answer.head.matches(&format!("\r\n{name}: ")).count();
            assert_eq!(found, 1, "{name} {}", answer.head);
        }
    }
}
