//! Tests a real router through the public interface.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use futures_core::Stream;
use http_body_util::{BodyExt, Full};
use stockade_core::extract::Body;
use stockade_core::reply::ResponseWriter;
use stockade_core::{ApiError, HttpBody, Request, Response};
use stockade_routing::{Router, RouterOptions};
use stockade_stages::rate_limit::HOUR;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::{Client, get, http2, log, ms, soon};
use crate::{BoundServer, CreateServer, ServeError, ServerHandle, ServerOptions};

fn router() -> Router {
    let mut router = Router::new();
    router.get("/hello", async || "hello");
    router.post("/echo", async |Body(body): Body<serde_json::Value>| body);
    router.get("/empty", async || {
        let mut response = Response::new("never sent".to_owned().into());
        *response.status_mut() = http::StatusCode::NO_CONTENT;
        response
    });
    router.get("/peer", async |req: Request| req.client_ip().map(|ip| ip.to_string()));
    router
}

async fn bind(options: ServerOptions) -> BoundServer {
    router().create_server_with(options).unwrap().bind(0).await.unwrap()
}

async fn start(server: BoundServer) -> (ServerHandle, JoinHandle<Result<(), ServeError>>) {
    let handle = server.handle();
    assert_eq!(handle.local_addr(), server.local_addr());
    (handle, tokio::spawn(server.serve()))
}

async fn connect(handle: &ServerHandle) -> Client<TcpStream> {
    Client::new(soon(TcpStream::connect(handle.local_addr())).await.unwrap())
}

#[tokio::test]
async fn serves_until_the_handle_shuts_it_down() {
    let (handle, served) = start(bind(ServerOptions::new()).await).await;
    assert!(handle.local_addr().ip().is_loopback());
    let mut client = connect(&handle).await;
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
    client.send(get("/peer")).await;
    assert_eq!(client.answer().await.body, "127.0.0.1");
    client.send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(client.head().await.contains("\r\ncontent-length: 5\r\n"));
    client.send(get("/nothing")).await;
    assert_eq!(client.answer().await.status, 404);
    handle.shutdown();
    client.closed().await;
    soon(served).await.unwrap().unwrap();
}

#[tokio::test]
async fn bodies_above_the_limit_are_413() {
    let (handle, served) = start(bind(ServerOptions::new()).await).await;
    let post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";

    let mut client = connect(&handle).await;
    client.send(format!("{post}Content-Length: 2097152\r\n\r\n")).await;
    let answer = client.answer().await;
    assert_eq!(answer.body, r#"{"error":"Request body too large"}"#);

    let mut client = connect(&handle).await;
    client.send(format!("{post}Content-Length: 4194304\r\n\r\n")).await;
    client.send(vec![b' '; 4_194_304]).await;
    assert_eq!(client.answer().await.status, 413);
    client.closed().await;

    let mut client = connect(&handle).await;
    client.send(format!("{post}Transfer-Encoding: chunked\r\n\r\n")).await;
    client.send([&b"400000\r\n"[..], &[b' '; 4_194_304], b"\r\n0\r\n\r\n"].concat()).await;
    assert_eq!(client.answer().await.status, 413);
    client.closed().await;

    handle.shutdown_now();
    soon(served).await.unwrap().unwrap();
}

#[tokio::test]
async fn server_options_override_router_options() {
    let (handle, _served) = start(bind(ServerOptions::new().max_body_size(3)).await).await;
    let mut client = connect(&handle).await;
    let post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    client.send(format!("{post}Content-Length: 3\r\n\r\n123")).await;
    assert_eq!(client.answer().await.body, "123");
    client.send(format!("{post}Content-Length: 4\r\n\r\n1234")).await;
    assert_eq!(client.answer().await.status, 413);
}

#[tokio::test]
async fn a_dripping_body_of_a_route_is_408() {
    let options = ServerOptions::new().body_read_timeout(ms(200));
    let (handle, _served) = start(bind(options).await).await;
    let mut client = connect(&handle).await;
    let post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    client.send(format!("{post}Content-Length: 4\r\n\r\n1")).await;
    let answer = client.answer().await;
    assert_eq!((answer.status, answer.body.as_str()), (408, r#"{"error":"Request Timeout"}"#));
    client.closed().await;
}

#[tokio::test]
async fn serves_until_a_future_completes() {
    let server = bind(ServerOptions::new()).await;
    let handle = server.handle();
    let (done, waiting) = tokio::sync::oneshot::channel::<()>();
    let served = tokio::spawn(server.serve_until(async {
        let _ = waiting.await;
    }));
    let mut client = connect(&handle).await;
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
    done.send(()).unwrap();
    client.closed().await;
    soon(served).await.unwrap().unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn sigterm_shuts_it_down() {
    let (handle, served) = start(bind(ServerOptions::new()).await.with_signals()).await;
    let mut client = connect(&handle).await;
    client.send(get("/hello")).await;
    // It responds, so it already watches for signals.
    assert_eq!(client.answer().await.body, "hello");
    let kill = format!("kill -TERM {}", std::process::id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    client.closed().await;
    soon(served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_it() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = router().create_server().unwrap().listen(port).await.unwrap_err();
    let expected = format!("cannot listen on 127.0.0.1:{port}: address already in use");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn reports_errors_of_routes_and_options_together() {
    let mut router = router();
    router.get("/hello", async || "again");
    let options = ServerOptions::new().max_connections(0).idle_timeout(ms(0));
    let error = router.create_server_with(options).unwrap_err();
    let texts: Vec<_> = error.issues().iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].contains("GET /hello"), "{texts:?}");
    assert!(texts[1].contains("idle_timeout must not be 0"), "{texts:?}");
    assert!(texts[2].contains("src/tests/router.rs"), "{texts:?}");
}

#[tokio::test]
async fn an_application_can_have_several_servers() {
    let app = router().build().unwrap();
    let small = app.clone().create_server_with(ServerOptions::new().max_body_size(3)).unwrap();
    let (small, _served) = start(small.bind(0).await.unwrap()).await;
    let (large, _served) = start(app.create_server().unwrap().bind(0).await.unwrap()).await;
    let post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    for (handle, expected) in [(small, 413), (large, 200)] {
        let mut client = connect(&handle).await;
        client.send(format!("{post}Content-Length: 4\r\n\r\n1234")).await;
        assert_eq!(client.answer().await.status, expected);
    }
}

#[test]
fn option_errors_of_an_application_name_their_location() {
    let app = router().build().unwrap();
    let options = ServerOptions::new().max_connections(0);
    let error = app.create_server_with(options).unwrap_err().to_string();
    assert!(error.contains("max_connections must not be 0"), "{error}");
    assert!(error.contains("src/tests/router.rs"), "{error}");
}

#[tokio::test]
async fn server_rejections_have_the_error_format_of_the_router() {
    let mut router = Router::with_options(RouterOptions::new().problem_details(true));
    router.get("/hello", async || "hello");
    let (handle, _served) = start(router.create_server().unwrap().bind(0).await.unwrap()).await;
    let mut client = connect(&handle).await;
    client.send("GET /hello HTTP/1.1\r\n\r\n").await;
    let answer = client.answer().await;
    let expected = r#"{"type":"about:blank","title":"Bad Request","status":400,"detail":"Missing Host header"}"#;
    assert_eq!(answer.body, expected);
}

#[tokio::test]
async fn server_rejections_count_for_rate_limits() {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(3 / HOUR));
    router.get("/hello", async || "hello");
    let (handle, _served) = start(router.create_server().unwrap().bind(0).await.unwrap()).await;
    let cases = [
        ("GET /hello HTTP/1.1\r\n\r\n", 400, "Missing Host header", "2"),
        ("GET /hello HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", 417, "Expectation Failed", "1"),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            400,
            "Unsupported Transfer-Encoding",
            "0",
        ),
        ("GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n", 429, "Too Many Requests", "0"),
        ("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", 429, "Too Many Requests", "0"),
    ];
    for (request, status, message, left) in cases {
        let mut client = connect(&handle).await;
        client.send(request).await;
        let answer = client.answer().await;
        let body = format!(r#"{{"error":"{message}"}}"#);
        assert_eq!((answer.status, answer.body), (status, body), "{request}");
        let headers = ["\r\nx-content-type-options: nosniff\r\n", &format!(";r={left};")];
        for header in headers {
            assert!(answer.head.contains(header), "{header} in {}", answer.head);
        }
    }
}

#[tokio::test]
async fn written_data_arrives_before_a_late_error_ends_the_connection() {
    async fn fails(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.write("begun").await?;
        Err(ApiError::new(500, "too late"))
    }
    let mut router = Router::new();
    router.get("/late", fails);
    let (handle, _served) = start(router.create_server().unwrap().bind(0).await.unwrap()).await;
    let mut client = connect(&handle).await;
    client.send(get("/late")).await;
    assert!(client.head().await.starts_with("http/1.1 200 "));
    // The piece has arrived; the last chunk, which would end the body properly,
    // has not.
    while client.read.len() < "5\r\nbegun\r\n".len() {
        client.more().await;
    }
    assert_eq!(client.read.split_off(0), b"5\r\nbegun\r\n");
    client.closed().await;
}

#[tokio::test]
async fn connect_is_405_and_lists_the_methods() {
    let (handle, _served) = start(bind(ServerOptions::new()).await).await;
    let mut client = connect(&handle).await;
    client.send("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!(answer.status, 405);
    assert!(answer.head.contains("\r\nallow: get, head, post, options\r\n"), "{}", answer.head);
    assert_eq!(answer.body, r#"{"error":"Method Not Allowed"}"#);
}

#[tokio::test]
async fn options_of_the_whole_server_is_204_and_lists_the_methods() {
    let (handle, _served) = start(bind(ServerOptions::new()).await).await;
    let mut client = connect(&handle).await;
    client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let head = client.head().await;
    assert!(head.starts_with("http/1.1 204 "), "{head}");
    assert!(head.contains("\r\nallow: get, head, post, options\r\n"), "{head}");
    assert!(!head.contains("\r\ncontent-length: "), "{head}");
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

/// A target in the form that clients send to proxies.
#[tokio::test]
async fn an_absolute_target_is_routed_by_its_path() {
    let (handle, _served) = start(bind(ServerOptions::new()).await).await;
    let mut client = connect(&handle).await;
    for (target, status) in [("/hello", 200), ("/hello?q=1", 200), ("/nothing", 404), ("", 404)] {
        client
            .send(format!("GET http://a.example{target} HTTP/1.1\r\nHost: a.example\r\n\r\n"))
            .await;
        assert_eq!(client.answer().await.status, status, "{target}");
    }
}

#[tokio::test]
async fn the_response_to_head_on_http2_has_the_length_and_no_body() {
    let (handle, _served) = start(bind(ServerOptions::new()).await).await;
    let (mut sender, _connection) = http2::speak(connect(&handle).await.stream).await;
    let head = http::Request::head("http://a.example/hello").body(Full::<Bytes>::default());
    let answer = soon(sender.send_request(head.unwrap())).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-length"], "5");
    assert_eq!(soon(answer.into_body().collect()).await.unwrap().to_bytes(), "");
    assert_eq!(
        http2::frames(&mut connect(&handle).await, "HEAD", "/hello").await,
        ["HEADERS, end"]
    );
}

#[tokio::test]
async fn no_data_is_sent_on_http2_with_a_204() {
    let (handle, _served) = start(bind(ServerOptions::new()).await).await;
    let frames = async |path| http2::frames(&mut connect(&handle).await, "GET", path).await;
    assert_eq!(frames("/empty").await, ["HEADERS, end"]);
    // A response with data, for comparison.
    assert_eq!(frames("/hello").await, ["HEADERS", "DATA, end"]);
}

#[tokio::test]
async fn rejects_a_length_above_the_limit_within_100_ms() {
    let (handle, _served) = start(bind(ServerOptions::new()).await).await;
    let (mut best, mut tries) = (ms(u64::MAX), 100);
    // Retries, because a busy machine distorts the measurement.
    while best >= ms(100) && tries > 0 {
        tries -= 1;
        let mut client = connect(&handle).await;
        let begun = Instant::now();
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2097152\r\n\r\n").await;
        assert_eq!(client.answer().await.status, 413);
        best = best.min(begun.elapsed());
    }
    assert!(best < ms(100), "{best:?}");
}

/// Sends a notification on drop.
struct Guard(Arc<Notify>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_disconnect_ends_a_handler_that_has_not_read_the_body() {
    let (begun, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (Arc::clone(&begun), Arc::clone(&ended));
    let mut router = Router::new();
    router.post("/hang", move |req: Request| {
        let (begun, guard) = (Arc::clone(&signals.0), Guard(Arc::clone(&signals.1)));
        async move {
            let _unread = (guard, req);
            begun.notify_one();
            std::future::pending::<&str>().await
        }
    });
    let (handle, _served) = start(router.create_server().unwrap().bind(0).await.unwrap()).await;

    for rest in [
        "Content-Length: 2\r\n\r\n{}",
        "Content-Length: 9\r\n\r\n{}",
        "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ] {
        let mut client = connect(&handle).await;
        client.send(format!("POST /hang HTTP/1.1\r\nHost: a\r\n{rest}")).await;
        soon(begun.notified()).await;
        drop(client);
        soon(ended.notified()).await;
    }
}

#[tokio::test]
async fn a_disconnect_ends_the_handler() {
    let (begun, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (Arc::clone(&begun), Arc::clone(&ended));
    let mut router = Router::new();
    router.get("/hang", move || {
        let (begun, guard) = (Arc::clone(&signals.0), Guard(Arc::clone(&signals.1)));
        async move {
            let _guard = guard;
            begun.notify_one();
            std::future::pending::<&str>().await
        }
    });
    let (handle, _served) = start(router.create_server().unwrap().bind(0).await.unwrap()).await;

    let mut client = connect(&handle).await;
    client.send(get("/hang")).await;
    soon(begun.notified()).await;
    drop(client);
    soon(ended.notified()).await;

    // On HTTP/2 the client may cancel one request and stay connected.
    let (mut sender, _connection) = http2::speak(connect(&handle).await.stream).await;
    let request = tokio::spawn(sender.send_request(http2::get("/hang")));
    soon(begun.notified()).await;
    request.abort();
    soon(ended.notified()).await;
    assert_eq!(soon(sender.send_request(http2::get("/nothing"))).await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_request_received_during_another_gets_the_next_response() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (Arc::clone(&begun), Arc::clone(&go_on));
    let mut router = Router::new();
    router.get("/wait", move || {
        let (begun, go_on) = (Arc::clone(&signals.0), Arc::clone(&signals.1));
        async move {
            begun.notify_one();
            go_on.notified().await;
            "waited"
        }
    });
    let (handle, _served) = start(router.create_server().unwrap().bind(0).await.unwrap()).await;

    let mut client = connect(&handle).await;
    client.send(get("/wait")).await;
    soon(begun.notified()).await;
    // The server checks whether the client is connected, and finds a request.
    client.send(get("/nothing")).await;
    for _ in 0..2 {
        tokio::task::yield_now().await;
    }
    go_on.notify_one();
    assert_eq!(client.answer().await.body, "waited");
    assert_eq!(client.answer().await.status, 404);
    // The server watches the client again during the next request.
    client.send(get("/wait")).await;
    soon(begun.notified()).await;
    drop(client);
    let mut another = connect(&handle).await;
    another.send(get("/nothing")).await;
    assert_eq!(another.answer().await.status, 404);
}

#[test]
fn warns_of_exposed_errors() {
    let warning = "WARN stockade: real messages of 5xx errors are sent to clients; \
                   never do this in production";
    let logged = |options: ServerOptions| {
        let quiet = RouterOptions::new().expose_errors(false);
        log::of(|| drop(Router::with_options(quiet).create_server_with(options).unwrap()))
    };
    assert_eq!(logged(ServerOptions::new().expose_errors(true)), [warning]);
    assert_eq!(logged(ServerOptions::new().expose_errors(false)), [""; 0]);
    assert_eq!(logged(ServerOptions::new()), [""; 0]);
}

/// A stream of ready pieces.
struct Pieces(std::vec::IntoIter<Result<Bytes, ApiError>>);

impl Pieces {
    fn body(pieces: &[&'static str], fails: bool) -> HttpBody {
        let mut pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::from(*piece))).collect();
        if fails {
            pieces.push(Err(ApiError::new(500, "broken")));
        }
        HttpBody::stream(Self(pieces.into_iter()))
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, ApiError>;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next())
    }
}

/// Starts a server with streams that break off, and others.
async fn streams() -> (ServerHandle, JoinHandle<Result<(), ServeError>>) {
    let mut router = Router::new();
    let length = |response: HttpBody| -> Response {
        let mut response = Response::new(response);
        response.headers_mut().insert("content-length", 10.into());
        response
    };
    router.get("/short", async move || length(Pieces::body(&["one", "two"], false)));
    router.get("/nothing", async move || length(Pieces::body(&[], false)));
    router.get("/fails", async move || length(Pieces::body(&["one"], true)));
    router.get("/fails-first", async || Response::new(Pieces::body(&[], true)));
    router.get("/fails-later", async || Response::new(Pieces::body(&["one"], true)));
    router.get("/whole", async move || length(Pieces::body(&["01234", "56789"], false)));
    router.get("/empty", async move || length(HttpBody::empty()));
    start(router.create_server().unwrap().bind(0).await.unwrap()).await
}

#[tokio::test]
async fn an_aborted_stream_keeps_its_head_and_data() {
    let (handle, _served) = streams().await;
    for (path, length, expected) in [
        ("/short", Some("10"), "onetwo"),
        ("/nothing", Some("10"), ""),
        ("/fails", Some("10"), "one"),
        ("/fails-first", None, ""),
        ("/fails-later", None, "3\r\none\r\n"),
        ("/whole", Some("10"), "0123456789"),
        ("/empty", Some("0"), ""),
    ] {
        let mut client = connect(&handle).await;
        let request = get(path).replacen("\r\n", "\r\nConnection: close\r\n", 1);
        client.send(request).await;
        let head = client.head().await;
        assert!(head.starts_with("http/1.1 200 "), "{path}: {head}");
        let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        assert_eq!(line, length, "{path}");
        while soon(client.stream.read_buf(&mut client.read)).await.is_ok_and(|count| count > 0) {}
        assert_eq!(String::from_utf8_lossy(&client.read), expected, "{path}");
    }
}

#[tokio::test]
async fn an_aborted_stream_keeps_its_head_on_http2() {
    let (handle, _served) = streams().await;
    let (mut sender, connection) = http2::speak(connect(&handle).await.stream).await;
    let _connection = tokio::spawn(connection);
    for path in ["/fails-first", "/fails-later"] {
        let answer = soon(sender.send_request(http2::get(path))).await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert!(soon(answer.into_body().collect()).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn response_to_http10_is_not_kept_alive_if_it_ends_the_connection() {
    let mut router = router();
    router.get("/stream", async || Response::new(Pieces::body(&["one", "two"], false)));
    router.get("/closes", async || {
        let mut response = Response::new("bye".to_owned().into());
        response.headers_mut().insert("connection", "close".parse().unwrap());
        response
    });
    let (handle, _served) = start(router.create_server().unwrap().bind(0).await.unwrap()).await;
    for (path, kept, body) in
        [("/hello", true, "hello"), ("/stream", false, "onetwo"), ("/closes", false, "bye")]
    {
        let mut client = connect(&handle).await;
        client.send(format!("GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")).await;
        let head = client.head().await;
        let lines: Vec<_> = head.lines().filter(|line| line.starts_with("connection:")).collect();
        let expected = if kept { "connection: keep-alive" } else { "connection: close" };
        assert_eq!(lines, [expected], "{path}: {head}");
        while client.read.len() < body.len() {
            client.more().await;
        }
        assert_eq!(client.read, body.as_bytes());
        client.read.clear();
        if kept {
            client.send("GET /hello HTTP/1.0\r\n\r\n").await;
            assert_eq!(client.answer().await.body, "hello");
        }
        client.closed().await;
    }
}
