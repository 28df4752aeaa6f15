//! Tests tower services instead of an application.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use http_body_util::Full;
use stockade_core::{ApiError, BodyError, BoxError, HttpBody, LocalPeer, PeerAddr};
use stockade_routing::{App, Router, RouterOptions};
use stockade_websockets::{WebSocket, WebSocketOptions};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tower_service::Service;

use super::{Client, get, ms, options};
use crate::{CreateServer as _, FromTower, ServerHandle, ServerOptions};

/// A service that is ready at the second poll.
#[derive(Clone, Default)]
struct Echo {
    asked: u32,
    calls: Arc<AtomicU32>,
}

impl Service<http::Request<HttpBody>> for Echo {
    type Response = http::Response<Full<bytes::Bytes>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, io::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.asked += 1;
        cx.waker().wake_by_ref();
        if self.asked < 2 { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn call(&mut self, request: http::Request<HttpBody>) -> Self::Future {
        assert_eq!(self.asked, 2, "called before it was ready");
        self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(request.uri().path() != "/panics", "at once");
        Box::pin(async move {
            let (head, body) = request.into_parts();
            assert!(head.uri.path() != "/panics-later", "later");
            let peer = head.extensions.get::<PeerAddr>().map(|peer| peer.0.ip().to_string());
            let is_local = head.extensions.get::<LocalPeer>().is_some();
            let mut response = http::Response::new(Full::default());
            *response.body_mut() = match head.uri.path() {
                "/peer" => format!("{peer:?} {is_local}").into(),
                "/fails" => return Err(io::Error::other("secret")),
                "/switch" => {
                    *response.status_mut() = http::StatusCode::SWITCHING_PROTOCOLS;
                    Full::default()
                }
                _ => body.collect(u64::MAX).await.map_err(io::Error::other)?.into(),
            };
            Ok(response)
        })
    }
}

type Served = (ServerHandle, JoinHandle<()>);

async fn serve<S>(server: FromTower<S>, options: ServerOptions) -> Served
where
    FromTower<S>: crate::CreateServer,
{
    let bound = server.create_server_with(options).unwrap().bind(0).await.unwrap();
    (bound.handle(), tokio::spawn(async { bound.serve().await.unwrap() }))
}

async fn connect(handle: &ServerHandle) -> Client<TcpStream> {
    Client::new(TcpStream::connect(handle.local_addr()).await.unwrap())
}

#[tokio::test]
async fn a_service_responds_when_ready_and_its_errors_are_hidden() {
    let echo = Echo::default();
    let (handle, _served) = serve(FromTower(echo.clone()), options()).await;
    let mut client = connect(&handle).await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").await;
    assert_eq!(client.answer().await.body, "hi");
    client.send(get("/peer")).await;
    assert_eq!(client.answer().await.body, r#"Some("127.0.0.1") false"#);
    for path in ["/fails", "/panics", "/panics-later", "/switch"] {
        client.send(get(path)).await;
        let answer = client.answer().await;
        let expected = (500, r#"{"error":"Internal Server Error"}"#);
        assert_eq!((answer.status, answer.body.as_str()), expected, "{path}");
    }
    assert_eq!(echo.calls.load(Ordering::Relaxed), 6);
}

/// A service that fails with an application error.
#[derive(Clone)]
struct Fails;

impl Service<http::Request<HttpBody>> for Fails {
    type Response = stockade_core::Response;
    type Error = BoxError;
    type Future = std::future::Ready<Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<HttpBody>) -> Self::Future {
        std::future::ready(Err(match request.uri().path() {
            "/conflict" => ApiError::new(409, "taken").into(),
            "/long" => Box::new(BodyError::TooLarge),
            _ => "secret".into(),
        }))
    }
}

/// The same rule applies to services in mounts and layers.
#[tokio::test]
async fn an_error_of_a_service_keeps_its_status() {
    let (handle, _served) = serve(FromTower(Fails), options()).await;
    for (path, status, body) in [
        ("/conflict", 409, r#"{"error":"taken"}"#),
        ("/long", 413, r#"{"error":"Request body too large"}"#),
        ("/", 500, r#"{"error":"Internal Server Error"}"#),
    ] {
        let mut client = connect(&handle).await;
        client.send(get(path)).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (status, body), "{path}");
    }
}

#[tokio::test]
async fn bodies_have_no_size_limit_and_slow_ones_time_out() {
    let options = options().body_read_timeout(ms(200));
    let (handle, _served) = serve(FromTower(Echo::default()), options).await;
    let mut client = connect(&handle).await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n").await;
    client.send(vec![b'x'; 3_000_000]).await;
    assert_eq!(client.answer().await.body.len(), 3_000_000);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1").await;
    // The service converts the body's error to its own.
    assert_eq!(client.answer().await.status, 500);
    client.closed().await;
}

#[tokio::test]
async fn malformed_requests_do_not_reach_the_service() {
    let echo = Echo::default();
    let (handle, _served) = serve(FromTower(echo.clone()), options()).await;
    for request in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let mut client = connect(&handle).await;
        client.send(request).await;
        assert_eq!(client.answer().await.status, 400, "{request}");
    }
    assert_eq!(echo.calls.load(Ordering::Relaxed), 0);
}

/// A layer around an application.
#[derive(Clone)]
struct Layered(App);

impl Service<http::Request<HttpBody>> for Layered {
    type Response = stockade_core::Response;
    type Error = Infallible;
    type Future = <App as Service<http::Request<HttpBody>>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<HttpBody>) -> Self::Future {
        self.0.call(request)
    }
}

#[tokio::test]
async fn web_sockets_work_through_a_layer() {
    let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
    router
        .get("/peer", async |req: stockade_core::Request| req.client_ip().map(|ip| ip.to_string()));
    router.add_web_socket_route(
        "/ws",
        async |mut socket: WebSocket| {
            while let Some(Ok(message)) = socket.recv().await {
                if socket.send(message).await.is_err() {
                    return;
                }
            }
        },
        WebSocketOptions::new(),
    );
    let app = router.build().unwrap();
    let (handle, _served) = serve(FromTower(Layered(app)), options()).await;
    let mut client = connect(&handle).await;
    client.send(get("/peer")).await;
    assert_eq!(client.answer().await.body, "127.0.0.1");
    client
        .send(
            "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )
        .await;
    let head = client.head().await;
    assert!(head.starts_with("http/1.1 101 ") && head.contains("sec-websocket-accept"), "{head}");
    client.send([0x81, 0x82, 0, 0, 0, 0, b'h', b'i']).await;
    while client.read.len() < 4 {
        client.more().await;
    }
    assert_eq!(client.read, [0x81, 0x02, b'h', b'i']);
}

#[test]
fn reports_errors_in_the_options() {
    let options = ServerOptions::new().max_headers(0);
    let error = FromTower(Echo::default()).create_server_with(options).unwrap_err().to_string();
    assert!(error.contains("max_headers must not be 0") && error.contains("tower.rs"), "{error}");
}
