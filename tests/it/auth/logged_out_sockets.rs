//! The end of a login over real ports of the built-in server: HTTP/1.1 and
//! HTTP/2.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use futures_util::stream::{self, BoxStream};
use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use stockade::auth::{KeyRing, Revocations, TokenVerifier};
use stockade::http;
use stockade::middleware::sessions::{MemorySessionStore, Sessions};
use stockade::middleware::{CurrentSession, SessionCookie, with_auth};
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use stockade::server::ServerHandle;
use stockade::testing::TestClock;
use stockade::upgrade::Io;
use stockade::websockets::WebSocketOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::auth::logged_out::{HOUR, begin, graphql, greet, one, options, secret, token};

/// Fails the test if a future takes far too long.
async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("nothing for 60 s")
}

/// The number that the routes under `/open` send on every change.
type News = watch::Receiver<u32>;

fn news_of(news: &News) -> BoxStream<'static, String> {
    stream::unfold(news.clone(), async |mut news| {
        news.changed().await.ok()?;
        let number = *news.borrow_and_update();
        Some((format!("news {number}"), news))
    })
    .boxed()
}

async fn open_events(news: State<News>) -> Sse {
    let events = news_of(&news).map(|text| Ok::<_, Infallible>(Event::data(text)));
    Sse::new(stream::iter([Ok(Event::data("hello"))]).chain(events))
}

async fn open_socket(socket: WebSocket, news: State<News>) -> Result<(), ApiError> {
    let mut news = news_of(&news);
    socket.send("hello").await?;
    while let Some(text) = news.next().await {
        socket.send(text).await?;
    }
    Ok(())
}

async fn log_out(
    CurrentSession(id): CurrentSession,
    sessions: State<Sessions<()>>,
) -> Result<(), ApiError> {
    sessions.end(&id).await.map(drop)
}

/// A server and the ways to end its users' logins.
struct Running {
    address: SocketAddr,
    handle: ServerHandle,
    clock: TestClock,
    revocations: Revocations,
    sessions: Sessions<()>,
    news: watch::Sender<u32>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.shutdown();
    }
}

impl Running {
    async fn start() -> Self {
        let clock = TestClock::new();
        let revocations = Revocations::in_memory().clock(clock.for_tokens());
        let cookie = SessionCookie::new(KeyRing::new(secret()));
        let sessions = Sessions::new(std::sync::Arc::new(MemorySessionStore::new()), cookie);
        let verifier = TokenVerifier::new().clock(clock.for_tokens()).leeway(Duration::ZERO);
        // Checks find only ended sessions: tokens are rechecked once per hour.
        let tokens = Auth::tokens(secret(), verifier).revocations(revocations.clone());
        let often = sessions.auth().recheck_every(Duration::from_millis(50));
        let auth = with_auth(tokens.recheck_every(HOUR).or(often));
        let reason = "a test";
        let short = WebSocketOptions::new().close_timeout(Duration::from_millis(100));
        let tree = routes! {
            middleware: [auth],
            "sse": { GET: async || Sse::new(one()) },
            "ws": { ws: { handler: greet, options: short } },
            "graphql": { ..graphql().routes() },
            "log-out": { POST: log_out },
            "open/sse": { GET: { handler: open_events, outlives_user: reason } },
            "open/ws": { ws: { handler: open_socket, outlives_user: reason } },
        };
        let (news, of_routes) = watch::channel(0);
        let router = create_router(tree, options()).state(sessions.clone()).state(of_routes);
        let server = router.create_server().unwrap().bind(0).await.unwrap();
        let (address, handle) = (server.local_addr(), server.handle());
        tokio::spawn(async { server.serve().await.unwrap() });
        Self { address, handle, clock, revocations, sessions, news }
    }

    async fn connect(&self) -> TcpStream {
        soon(TcpStream::connect(self.address)).await.unwrap()
    }

    fn bearer(&self) -> Credentials {
        let claims = json!({ "sub": "ada", "jti": "of ada" });
        Credentials { name: "authorization", value: token(&self.clock, claims) }
    }

    async fn session(&self) -> Credentials {
        Credentials { name: "cookie", value: begin(&self.sessions).await.1 }
    }

    /// Sends a request and returns the response's status.
    async fn status_of(&self, request: &str, credentials: &Credentials) -> String {
        let mut stream = self.connect().await;
        let Credentials { name, value } = credentials;
        let head = format!("{request} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{name}: {value}");
        soon(stream.write_all(format!("{head}\r\n\r\n").as_bytes())).await.unwrap();
        let mut read = String::new();
        soon(stream.read_to_string(&mut read)).await.unwrap();
        read["HTTP/1.1 ".len()..].chars().take(3).collect()
    }
}

/// A header that logs a user in.
struct Credentials {
    name: &'static str,
    value: String,
}

/// A connection that has received its first message.
enum Open {
    /// An event stream on HTTP/1.1, with the bytes received so far.
    Http1(TcpStream, String),
    /// An event stream on HTTP/2, with the text received so far.
    Http2(Incoming, String),
    WebSocket(Box<WebSocketStream<Box<dyn Io>>>),
}

impl Open {
    async fn events(server: &Running, path: &str, credentials: &Credentials) -> Self {
        let mut stream = server.connect().await;
        let Credentials { name, value } = credentials;
        let head = format!("GET {path} HTTP/1.1\r\nhost: a\r\n{name}: {value}\r\n\r\n");
        soon(stream.write_all(head.as_bytes())).await.unwrap();
        let mut open = Self::Http1(stream, String::new());
        open.until("data: hello\n\n").await;
        open
    }

    async fn events_by_http2(server: &Running, path: &str, credentials: &Credentials) -> Self {
        let request = http::Request::get(format!("http://a{path}"));
        let request = request.header(credentials.name, &credentials.value);
        Self::respond(server, request.body(Full::default()).unwrap(), "data: hello\n\n").await
    }

    /// Opens a GraphQL subscription as an event stream on HTTP/2.
    async fn subscription(server: &Running, credentials: &Credentials) -> Self {
        let request = http::Request::post("http://a/graphql")
            .header(credentials.name, &credentials.value)
            .header("content-type", "application/json")
            .header("accept", "text/event-stream");
        let body = json!({ "query": "subscription { wait }" }).to_string();
        Self::respond(server, request.body(Full::from(body)).unwrap(), "event: next\n").await
    }

    async fn respond(
        server: &Running,
        request: http::Request<Full<bytes::Bytes>>,
        first: &str,
    ) -> Self {
        let response = soon(sender(server).await.send_request(request)).await.unwrap();
        assert_eq!(response.status(), 200);
        let mut open = Self::Http2(response.into_body(), String::new());
        open.until(first).await;
        open
    }

    async fn socket(server: &Running, path: &str, credentials: &Credentials) -> Self {
        let stream: Box<dyn Io> = Box::new(server.connect().await);
        let url = format!("ws://{}{path}", server.address);
        let mut request = url.into_client_request().unwrap();
        let value = credentials.value.parse().unwrap();
        request.headers_mut().insert(credentials.name, value);
        let (socket, _) = soon(tokio_tungstenite::client_async(request, stream)).await.unwrap();
        Self::greeted(socket).await
    }

    async fn socket_by_http2(server: &Running, path: &str, credentials: &Credentials) -> Self {
        let mut request = http::Request::connect(format!("http://a{path}"))
            .header("sec-websocket-version", "13")
            .header(credentials.name, &credentials.value)
            .body(Full::default())
            .unwrap();
        request.extensions_mut().insert(hyper::ext::Protocol::from_static("websocket"));
        let mut response = soon(sender(server).await.send_request(request)).await.unwrap();
        assert_eq!(response.status(), 200);
        let stream = soon(hyper::upgrade::on(&mut response)).await.unwrap();
        let stream: Box<dyn Io> = Box::new(TokioIo::new(stream));
        Self::greeted(WebSocketStream::from_raw_socket(stream, Role::Client, None).await).await
    }

    async fn greeted(mut socket: WebSocketStream<Box<dyn Io>>) -> Self {
        assert_eq!(soon(socket.next()).await.unwrap().unwrap(), Message::text("hello"));
        Self::WebSocket(Box::new(socket))
    }

    /// Opens every kind of connection.
    async fn all(server: &Running, credentials: &Credentials) -> Vec<Self> {
        vec![
            Self::events(server, "/sse", credentials).await,
            Self::events_by_http2(server, "/sse", credentials).await,
            Self::subscription(server, credentials).await,
            Self::socket(server, "/ws", credentials).await,
            Self::socket_by_http2(server, "/ws", credentials).await,
        ]
    }

    /// Opens connections that may outlive the user's login.
    async fn outliving(server: &Running, credentials: &Credentials) -> Vec<Self> {
        vec![
            Self::events(server, "/open/sse", credentials).await,
            Self::events_by_http2(server, "/open/sse", credentials).await,
            Self::socket(server, "/open/ws", credentials).await,
            Self::socket_by_http2(server, "/open/ws", credentials).await,
        ]
    }

    /// Reads more. Returns `false` at a proper end.
    async fn more(&mut self) -> bool {
        match self {
            Self::Http1(stream, read) => {
                let mut piece = [0; 1_024];
                let count = soon(stream.read(&mut piece)).await.unwrap();
                assert!(count > 0, "the connection was closed behind {read:?}");
                read.push_str(str::from_utf8(&piece[..count]).unwrap());
                !read.ends_with("\r\n0\r\n\r\n")
            }
            Self::Http2(body, read) => match soon(body.frame()).await {
                Some(frame) => {
                    let data = frame.unwrap().into_data().unwrap();
                    read.push_str(str::from_utf8(&data).unwrap());
                    true
                }
                None => false,
            },
            Self::WebSocket(_) => unreachable!("it has messages"),
        }
    }

    async fn until(&mut self, text: &str) {
        if let Self::WebSocket(socket) = self {
            assert_eq!(soon(socket.next()).await.unwrap().unwrap(), Message::text(text));
            return;
        }
        while !matches!(self, Self::Http1(_, read) | Self::Http2(_, read) if read.contains(text)) {
            assert!(self.more().await, "ended without {text:?}");
        }
    }

    /// Waits for the end of the connection.
    async fn ends(mut self) {
        if let Self::WebSocket(socket) = &mut self {
            let message = soon(socket.next()).await.unwrap().unwrap();
            let Message::Close(Some(frame)) = message else { panic!("{message:?}") };
            assert_eq!(
                (u16::from(frame.code), frame.reason.as_str()),
                (4401, "the login has ended")
            );
            return;
        }
        while self.more().await {}
    }
}

async fn sender(server: &Running) -> http2::SendRequest<Full<bytes::Bytes>> {
    let io = TokioIo::new(server.connect().await);
    let (mut sender, connection) = soon(http2::handshake(TokioExecutor::new(), io)).await.unwrap();
    tokio::spawn(connection);
    // Extended CONNECT requires the server's settings, which arrive before this
    // response.
    let request = http::Request::get("http://a/none").body(Full::default()).unwrap();
    assert_eq!(soon(sender.send_request(request)).await.unwrap().status(), 404);
    sender
}

/// Checks that all connections end, and that a client that reconnects gets a
/// 401.
async fn all_end(server: &Running, credentials: &Credentials, open: Vec<Open>) {
    for open in open {
        open.ends().await;
    }
    let value = format!("{}\r\nlast-event-id: 1", credentials.value);
    let resuming = Credentials { name: credentials.name, value };
    assert_eq!(server.status_of("GET /sse", &resuming).await, "401");
}

/// Checks that the connections still receive data.
async fn all_go_on(server: &Running, open: Vec<Open>) {
    server.news.send(7).unwrap();
    for mut open in open {
        let text = if matches!(open, Open::WebSocket(_)) { "news 7" } else { "data: news 7\n\n" };
        open.until(text).await;
    }
}

#[tokio::test]
async fn an_expired_token_ends_connections_on_ports() {
    let server = Running::start().await;
    let credentials = server.bearer();
    let outliving = Open::outliving(&server, &credentials).await;
    let open = Open::all(&server, &credentials).await;
    server.clock.advance(HOUR + Duration::from_secs(1));
    all_end(&server, &credentials, open).await;
    all_go_on(&server, outliving).await;
}

#[tokio::test]
async fn a_revocation_ends_connections_on_ports() {
    let server = Running::start().await;
    let credentials = server.bearer();
    let outliving = Open::outliving(&server, &credentials).await;
    let open = Open::all(&server, &credentials).await;
    server.revocations.revoke_id(None, "of ada", SystemTime::now() + HOUR).await.unwrap();
    all_end(&server, &credentials, open).await;
    all_go_on(&server, outliving).await;
}

#[tokio::test]
async fn a_logout_in_another_request_ends_connections_on_ports() {
    let server = Running::start().await;
    let (credentials, other) = (server.session().await, server.session().await);
    let outliving = Open::outliving(&server, &credentials).await;
    let of_other = Open::all(&server, &other).await;
    let open = Open::all(&server, &credentials).await;
    assert_eq!(server.status_of("POST /log-out", &credentials).await, "204");
    all_end(&server, &credentials, open).await;
    all_go_on(&server, outliving).await;
    // The same user's other session has worked until now.
    assert_eq!(server.status_of("POST /log-out", &other).await, "204");
    all_end(&server, &other, of_other).await;
}

/// Sends a raw handshake and reads the `101` response and the first message.
async fn handshake(server: &Running, credentials: &Credentials) -> TcpStream {
    let mut stream = server.connect().await;
    let Credentials { name, value } = credentials;
    let head = format!(
        "GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         {name}: {value}\r\n\r\n"
    );
    soon(stream.write_all(head.as_bytes())).await.unwrap();
    let mut read = Vec::new();
    while !read.ends_with(b"hello") {
        assert!(soon(stream.read_buf(&mut read)).await.unwrap() > 0);
    }
    assert!(read.starts_with(b"HTTP/1.1 101"));
    stream
}

/// Returns the server's close frame: 4401 and the reason.
fn close_frame() -> Vec<u8> {
    let payload = [&4_401_u16.to_be_bytes()[..], b"the login has ended"].concat();
    [&[0x88, u8::try_from(payload.len()).unwrap()], &payload[..]].concat()
}

#[tokio::test]
async fn a_client_that_ignores_the_close_frame_is_disconnected() {
    let server = Running::start().await;
    let credentials = server.session().await;
    let mut stream = handshake(&server, &credentials).await;
    assert_eq!(server.status_of("POST /log-out", &credentials).await, "204");
    // Read to the end of the connection. The client sends nothing more.
    let mut read = Vec::new();
    soon(stream.read_to_end(&mut read)).await.unwrap();
    assert_eq!(read, close_frame());
}

/// The client sends messages continuously.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_without_pause_is_disconnected() {
    let server = Running::start().await;
    let credentials = server.bearer();
    let (mut reader, mut writer) = handshake(&server, &credentials).await.into_split();
    // Short text frames with a mask of zeros.
    let frames = b"\x81\x81\0\0\0\0x".repeat(10_000);
    let writing = tokio::spawn(async move { while writer.write_all(&frames).await.is_ok() {} });
    let id = "of ada";
    server.revocations.revoke_id(None, id, SystemTime::now() + HOUR).await.unwrap();
    let mut read = Vec::new();
    // The server resets the connection because it has not read everything.
    let _ = soon(reader.read_to_end(&mut read)).await;
    assert!(read.is_empty() || read == close_frame(), "{read:?}");
    soon(writing).await.unwrap();
}

/// The client sends and reads application messages after the logout.
#[tokio::test]
async fn no_message_arrives_after_the_close_frame() {
    let server = Running::start().await;
    let credentials = server.bearer();
    let Open::WebSocket(mut socket) = Open::socket(&server, "/ws", &credentials).await else {
        panic!("a WebSocket")
    };
    server.revocations.revoke_id(None, "of ada", SystemTime::now() + HOUR).await.unwrap();
    let message = soon(socket.next()).await.unwrap().unwrap();
    assert!(message.is_close(), "{message:?}");
    let _ = socket.send(Message::text("still here")).await;
    while let Some(Ok(message)) = soon(socket.next()).await {
        assert!(message.is_close(), "{message:?}");
    }
}
