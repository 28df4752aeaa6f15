//! Tests that a logout in one process closes the connections in another
//! process.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use http::Method;
use serde_json::json;
use stockade_auth::{KeyRing, Revocations, Secret, SessionId, TokenVerifier, generate_jwt};
use stockade_core::ApiError;
use stockade_core::extract::State;
use stockade_core::reply::{Event, Sse};
use stockade_middleware::sessions::Sessions;
use stockade_middleware::{Auth, CurrentSession, SessionCookie, with_auth};
use stockade_redis::Redis;
use stockade_routing::{App, RouteEntry, RouteTree, RouterOptions, create_router};
use stockade_websockets::WebSocket;

use crate::connections::{Events, Socket, send};
use crate::engine::Engine;
use crate::stores::linked;

const HOUR: Duration = Duration::from_secs(3_600);

/// Fails the test if a future takes far too long.
async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), future).await.unwrap()
}

fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

/// A process with a separate link to Redis.
struct Process {
    app: App,
    sessions: Sessions<()>,
    revocations: Revocations,
    // Keeps the link open while the process runs.
    _redis: Redis,
}

async fn log_out(
    CurrentSession(id): CurrentSession,
    sessions: State<Sessions<()>>,
) -> Result<(), ApiError> {
    sessions.end(&id).await.map(drop)
}

impl Process {
    fn start(engine: &Engine) -> Self {
        let redis = linked(&engine.url());
        let store = redis.sessions().deadline(Duration::from_secs(10));
        let sessions = Sessions::new(store, SessionCookie::new(KeyRing::new(secret())));
        let revocations = redis.revocations();
        let tokens = Auth::tokens(secret(), TokenVerifier::new());
        // Revocations arrive without a recheck. A recheck finds the end of a
        // session.
        let tokens = tokens.revocations(revocations.clone()).recheck_every(HOUR);
        let auth = tokens.or(sessions.auth().recheck_every(Duration::from_millis(50)));
        let events = async || {
            let hello = Ok::<_, Infallible>(Event::data("hello"));
            Sse::new(HelloThenSilence(Some(hello)))
        };
        let socket = async |mut socket: WebSocket| {
            let _ = socket.send("hello").await;
            while socket.recv().await.is_some() {}
        };
        let tree = RouteTree::new()
            .middleware(with_auth(auth))
            .segment("socket", RouteTree::new().web_socket(RouteEntry::web_socket(socket)))
            .segment("events", RouteTree::new().method(Method::GET, RouteEntry::new(events)))
            .segment("ready", RouteTree::new().method(Method::GET, RouteEntry::new(async || "yes")))
            .segment("log-out", RouteTree::new().method(Method::POST, RouteEntry::new(log_out)));
        let options = RouterOptions::new().enable_web_sockets(true).rate_limit(false);
        let app = create_router(tree, options).state(sessions.clone()).build().unwrap();
        Self { app, sessions, revocations, _redis: redis }
    }

    async fn begin(&self) -> (SessionId, String) {
        let set = self.sessions.begin(Some("ada"), &()).await.unwrap();
        let id = set.id().unwrap();
        let cookie = self.sessions.cookie().issue(&id);
        (id, cookie.to_str().unwrap().split(';').next().unwrap().to_owned())
    }

    /// Opens a WebSocket and an event stream.
    async fn open(&self, header: (&str, &str)) -> (Socket, Events) {
        let mut socket = soon(Socket::open(&self.app, header)).await;
        assert_eq!(soon(socket.text()).await, "hello");
        let mut events = soon(Events::open(&self.app, header)).await;
        soon(events.until("data: hello\n\n")).await;
        (socket, events)
    }
}

/// A stream that sends one event and never ends.
struct HelloThenSilence(Option<Result<Event, Infallible>>);

impl futures_core::Stream for HelloThenSilence {
    type Item = Result<Event, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.take().map_or(std::task::Poll::Pending, |event| std::task::Poll::Ready(Some(event)))
    }
}

async fn ends((mut socket, mut events): (Socket, Events)) {
    assert_eq!(soon(socket.close_code()).await, 4401);
    soon(events.end()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn logout_in_one_process_ends_connections_of_the_other() {
    let engine = Engine::start();
    let (one, other) = (Process::start(&engine), Process::start(&engine));
    let (_, cookie) = one.begin().await;
    let open = other.open(("cookie", &cookie)).await;
    let (_, later) = one.begin().await;
    let of_later = other.open(("cookie", &later)).await;
    let logged_out = soon(send(&one.app, Method::POST, "/log-out", ("cookie", &cookie))).await;
    assert_eq!(logged_out.status(), 204);
    ends(open).await;
    // The user's other session is still valid.
    let further = other.open(("cookie", &later)).await;
    assert_eq!(one.sessions.end_all("ada").await.unwrap(), 1);
    ends(of_later).await;
    ends(further).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_session_lost_by_redis_ends_its_connections() {
    let engine = Engine::start();
    let process = Process::start(&engine);
    let (_, cookie) = process.begin().await;
    let open = process.open(("cookie", &cookie)).await;
    engine.admin(&["FLUSHALL"]);
    ends(open).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_revocation_in_one_process_ends_the_connections_of_the_other() {
    let engine = Engine::start();
    let (one, other) = (Process::start(&engine), Process::start(&engine));
    let claims = json!({ "sub": "ada", "jti": "of ada" });
    let bearer = format!("Bearer {}", generate_jwt(claims, "1h", &secret()).unwrap());
    let ready = || send(&other.app, Method::GET, "/ready", ("authorization", &bearer));
    // The process rejects all tokens until it has read the log.
    soon(async {
        while ready().await.status() != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let open = other.open(("authorization", &bearer)).await;
    let until = SystemTime::now() + HOUR;
    soon(async { while one.revocations.revoke_id(None, "of ada", until).await.is_err() {} }).await;
    ends(open).await;
}
