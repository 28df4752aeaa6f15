//! The end of a login, and its effect on clients of a host over a port. The
//! tests of the adapters include this file.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use futures_util::{SinkExt as _, StreamExt as _, stream};
use http::Method;
use stockade_auth::{Revocations, Secret, TokenVerifier};
use stockade_core::reply::{Event, Sse};
use stockade_middleware::{Auth, with_auth};
use stockade_routing::{RouteEntry, RouteTree, Router, RouterOptions, create_router};
use stockade_testing::TestClock;
use stockade_websockets::WebSocket;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{WebSocketStream, client_async};

const HOUR: Duration = Duration::from_secs(3_600);

/// Fails the test if a future takes far too long.
async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), future).await.unwrap()
}

/// The ways to end a login.
pub(crate) struct Logins {
    clock: TestClock,
    revocations: Revocations,
}

impl Logins {
    fn new() -> Self {
        let clock = TestClock::new();
        let revocations = Revocations::in_memory().clock(clock.for_tokens());
        Self { clock, revocations }
    }

    fn secret() -> Secret {
        Secret::new("a secret of thirty-two bytes or more").unwrap()
    }

    /// Returns the header of a new token.
    fn bearer(&self) -> String {
        let issuer = stockade_auth::TokenIssuer::new().clock(self.clock.for_tokens());
        let claims = serde_json::json!({ "sub": "ada", "jti": "of ada" });
        format!("Bearer {}", issuer.issue(claims, "1h", &Self::secret()).unwrap())
    }

    pub(crate) fn expire(&self) {
        self.clock.advance(HOUR + Duration::from_secs(1));
    }

    pub(crate) async fn revoke(&self) {
        let until = SystemTime::now() + HOUR;
        self.revocations.revoke_id(None, "of ada", until).await.unwrap();
    }

    /// Returns routes that end with the login and, below `open`, routes that do
    /// not.
    pub(crate) fn api(&self) -> Router {
        let verifier = TokenVerifier::new().clock(self.clock.for_tokens()).leeway(Duration::ZERO);
        let auth = Auth::tokens(Self::secret(), verifier).revocations(self.revocations.clone());
        let events = async || {
            let events = stream::iter([Ok::<_, Infallible>(Event::data("hello"))]);
            Sse::new(events.chain(stream::pending()))
        };
        let echo = async |mut socket: WebSocket| {
            let _ = socket.send("hello").await;
            while let Some(Ok(text)) = socket.recv_text().await {
                let _ = socket.send(text).await;
            }
        };
        let socket = || RouteEntry::web_socket(echo);
        let tree = RouteTree::new()
            .middleware(with_auth(auth.recheck_every(HOUR)))
            .segment("events", RouteTree::new().method(Method::GET, RouteEntry::new(events)))
            .segment("socket", RouteTree::new().web_socket(socket()))
            .segment("open", RouteTree::new().web_socket(socket().outlives_user("a test")));
        create_router(tree, RouterOptions::new().enable_web_sockets(true).rate_limit(false))
    }
}

async fn connect(address: SocketAddr, path: &str, bearer: &str) -> WebSocketStream<TcpStream> {
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    request.headers_mut().insert("authorization", bearer.parse().unwrap());
    let stream = soon(TcpStream::connect(address)).await.unwrap();
    let (mut socket, _) = soon(client_async(request, stream)).await.unwrap();
    assert_eq!(soon(socket.next()).await.unwrap().unwrap(), Message::text("hello"));
    socket
}

async fn events(address: SocketAddr, path: &str, bearer: &str) -> TcpStream {
    let mut stream = soon(TcpStream::connect(address)).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: a\r\nauthorization: {bearer}\r\n\r\n");
    soon(stream.write_all(head.as_bytes())).await.unwrap();
    until(&mut stream, "data: hello\n\n").await;
    stream
}

/// Reads until the text arrives.
async fn until(stream: &mut TcpStream, text: &str) {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(text) {
        assert!(soon(stream.read_buf(&mut read)).await.unwrap() > 0, "closed without {text:?}");
    }
}

/// Checks that the end of a login closes its connections, both for the whole
/// application below `/whole` and for its routes below `/routes`.
pub(crate) async fn check(serve: impl AsyncFn(&Logins) -> SocketAddr, end: impl AsyncFn(&Logins)) {
    for way in ["/whole", "/routes"] {
        let logins = Logins::new();
        let (address, bearer) = (serve(&logins).await, logins.bearer());
        let mut open = connect(address, &format!("{way}/open"), &bearer).await;
        let mut stream = events(address, &format!("{way}/events"), &bearer).await;
        let mut socket = connect(address, &format!("{way}/socket"), &bearer).await;
        end(&logins).await;
        let message = soon(socket.next()).await.unwrap().unwrap();
        let code = match &message {
            Message::Close(Some(frame)) => u16::from(frame.code),
            _ => 0,
        };
        assert_eq!(code, 4401, "{way}: {message:?}");
        until(&mut stream, "0\r\n\r\n").await;
        // A route that may outlive its user still responds.
        open.send(Message::text("still here")).await.unwrap();
        let message = soon(open.next()).await.unwrap().unwrap();
        assert_eq!(message, Message::text("still here"), "{way}");
    }
}
