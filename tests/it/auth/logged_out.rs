//! Connections that outlive their request end with the user's login.
//!
//! Tokio's clock is paused, so the time between two checks passes immediately.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{join, join_all};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use stockade::auth::{
    ApiKeyHash, KeyRing, Revocations, SessionId, TokenVerifier, generate_jwt, verify_token,
};
use stockade::extract::UserLifetime;
use stockade::graphql::{GraphQl, async_graphql as gql};
use stockade::middleware::sessions::{MemorySessionStore, Session, Sessions};
use stockade::middleware::{SessionCookie, with_auth};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use stockade::reply::{ResponseWriter, Streamed};
use stockade::rpc::{Notifier, Rpc, RpcMethod};
use stockade::testing::{TestClient, TestClock, TestStream, TestWebSocket};
use stockade::websockets::{WebSocketOptions, WebSocketUpgrade};
use stockade::{HttpBody, RouteEntry};
use tokio::time::timeout;

pub(crate) fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

pub(crate) fn one() -> BoxStream<'static, Result<Event, Infallible>> {
    stream::iter([Ok(Event::data("hello"))]).chain(stream::pending()).boxed()
}

pub(crate) fn one_by_hand() -> Response {
    let events = stream::iter([Ok::<_, Infallible>("data: hello\n\n")]).chain(stream::pending());
    let mut response = Response::new(HttpBody::stream(events));
    let events = "text/event-stream; charset=utf-8".parse().unwrap();
    response.headers_mut().insert("content-type", events);
    response
}

pub(crate) async fn greet(mut socket: WebSocket) {
    socket.send("hello").await.unwrap();
    while socket.recv().await.is_some() {}
}

async fn write(mut res: ResponseWriter) -> Result<(), ApiError> {
    res.header("content-type", "text/event-stream")?;
    res.write("data: hello\n\n").await?;
    std::future::pending().await
}

/// Event streams of every kind. Like [`SOCKETS`], they outlive their request.
const EVENTS: [&str; 6] = ["/sse", "/by-hand", "/whole", "/writer", "/mount/sse", "/mount/raw"];
const SOCKETS: [&str; 3] = ["/ws", "/upgrade", "/mount/ws"];

fn tree() -> RouteTree {
    let inner = routes! {
        "sse": { GET: async || Sse::new(one()) },
        "raw": { GET: async |_: Request| one_by_hand() },
        "ws": { ws: greet },
    };
    let inner = create_router(inner, options()).build().unwrap();
    routes! {
        "sse": { GET: async || Sse::new(one()) },
        "by-hand": { GET: async || one_by_hand() },
        "whole": { GET: async |_: Request| Sse::new(one()) },
        "writer": { GET: write },
        "ws": { ws: greet },
        "upgrade": { ws: async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(greet) },
        "mount": { mount: inner },
        "json": { GET: async || "text" },
    }
}

pub(crate) fn options() -> RouterOptions {
    RouterOptions::new().enable_web_sockets(true).rate_limit(false)
}

/// Creates a client without a timeout for these routes behind this
/// authentication.
pub(crate) fn client(auth: Auth, tree: RouteTree) -> TestClient {
    let tree = routes! { middleware: [with_auth(auth)], ..tree };
    TestClient::new(create_router(tree, options())).with_timeout(None)
}

struct Open {
    sockets: Vec<TestWebSocket>,
    streams: Vec<TestStream>,
}

/// Opens each kind of connection with this header and reads its first message.
async fn open(client: &TestClient, name: &str, value: &str) -> Open {
    let (mut sockets, mut streams) = (Vec::new(), Vec::new());
    for path in SOCKETS {
        let mut socket = client.websocket(path).header(name, value).connect().await;
        assert_eq!(socket.receive_text().await, "hello", "{path}");
        sockets.push(socket);
    }
    for path in EVENTS {
        let mut stream = client.get(path).header(name, value).stream().await;
        assert_eq!(stream.next_event().await.unwrap().data, "hello", "{path}");
        streams.push(stream);
    }
    Open { sockets, streams }
}

impl Open {
    /// Checks that no connection ends within this time. It reads all of them
    /// meanwhile, because the server disconnects a client that does not answer
    /// pings.
    async fn goes_on_for(&mut self, time: Duration) {
        let sockets = self.sockets.iter_mut().zip(SOCKETS).map(|(socket, path)| async move {
            assert!(timeout(time, socket.receive()).await.is_err(), "{path} has ended");
        });
        let streams = self.streams.iter_mut().zip(EVENTS).map(|(stream, path)| async move {
            assert!(timeout(time, stream.chunk()).await.is_err(), "{path} has ended");
        });
        join(join_all(sockets), join_all(streams)).await;
    }

    /// Checks that all connections end within this time.
    async fn ends_within(self, time: Duration) {
        let sockets = self.sockets.into_iter().zip(SOCKETS).map(|(mut socket, path)| async move {
            let closed = timeout(time, socket.receive_close()).await;
            let closed = closed.unwrap_or_else(|_| panic!("{path} goes on"));
            assert_eq!(closed, (4401, "the login has ended".to_owned()), "{path}");
        });
        let streams = self.streams.into_iter().zip(EVENTS).map(|(mut stream, path)| async move {
            let ended = timeout(time, stream.try_chunk()).await;
            let ended = ended.unwrap_or_else(|_| panic!("{path} goes on"));
            assert!(matches!(ended, Ok(None)), "{path}: {ended:?}");
        });
        join(join_all(sockets), join_all(streams)).await;
    }
}

/// The time within which a check detects a logged-out user.
pub(crate) const CHECKED: Duration = Duration::from_secs(16);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) fn token(clock: &TestClock, json: Value) -> String {
    let mut claims = json;
    claims["iat"] = clock.unix_seconds().into();
    claims["exp"] = (clock.unix_seconds() + 3_600).into();
    format!("Bearer {}", generate_at(clock, claims))
}

pub(crate) fn generate_at(clock: &TestClock, claims: Value) -> String {
    stockade::auth::TokenIssuer::new()
        .clock(clock.for_tokens())
        .issue(claims, "1h", &secret())
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_expired_token_ends_its_connections() {
    let clock = TestClock::new();
    let verifier = TokenVerifier::new().clock(clock.for_tokens()).leeway(Duration::from_secs(30));
    let client = client(Auth::tokens(secret(), verifier), tree());
    let mut open = open(&client, "authorization", &token(&clock, json!({}))).await;
    clock.advance(HOUR + Duration::from_secs(30));
    open.goes_on_for(CHECKED).await;
    clock.advance(Duration::from_secs(1));
    open.ends_within(Duration::from_millis(300)).await;
}

/// The timer fires when the token expires rather than at the next check.
#[tokio::test]
async fn a_token_ends_its_connections_at_its_expiry_by_the_system_clock() {
    let auth = Auth::secret(secret()).recheck_every(HOUR);
    let client = client(auth, tree());
    let token = generate_jwt(json!({}), Duration::from_secs(1), &secret()).unwrap();
    let open = open(&client, "authorization", &format!("Bearer {token}")).await;
    open.ends_within(Duration::from_secs(20)).await;
}

#[tokio::test(start_paused = true)]
async fn a_revocation_ends_the_connections_of_its_token_immediately() {
    let clock = TestClock::new();
    let revocations = Revocations::in_memory().clock(clock.for_tokens());
    let verifier = TokenVerifier::new().clock(clock.for_tokens());
    let auth = Auth::tokens(secret(), verifier.clone()).revocations(revocations.clone());
    let client = client(auth.recheck_every(HOUR), tree());
    let bearer = |name: &str| token(&clock, json!({ "sub": name, "jti": format!("of {name}") }));
    let ada = open(&client, "authorization", &bearer("ada")).await;
    let mut bob = open(&client, "authorization", &bearer("bob")).await;
    let until = std::time::SystemTime::now() + HOUR;
    revocations.revoke_id(None, "of ada", until).await.unwrap();
    ada.ends_within(Duration::from_millis(5)).await;
    bob.goes_on_for(Duration::from_secs(1)).await;
    let time = std::time::UNIX_EPOCH + Duration::from_secs(clock.unix_seconds() + 1);
    revocations.revoke_before(None, "bob", time).await.unwrap();
    bob.ends_within(Duration::from_millis(5)).await;
}

/// Device keys that an application can remove.
#[derive(Clone, Default)]
pub(crate) struct Devices(Arc<Mutex<HashSet<String>>>);

impl Devices {
    pub(crate) fn new() -> Self {
        let devices = Self::default();
        devices.0.lock().unwrap().insert(ApiKeyHash::of("door_1").to_string());
        devices
    }

    pub(crate) fn auth(&self) -> Auth {
        let devices = self.clone();
        Auth::api_key(move |hash: ApiKeyHash| {
            devices.0.lock().unwrap().contains(&hash.to_string()).then_some("door")
        })
    }

    pub(crate) fn has(&self, hash: &ApiKeyHash) -> bool {
        self.0.lock().unwrap().contains(&hash.to_string())
    }

    pub(crate) fn remove_all(&self) {
        self.0.lock().unwrap().clear();
    }
}

#[tokio::test(start_paused = true)]
async fn a_removed_api_key_ends_its_connections() {
    let devices = Devices::new();
    let client = client(devices.auth(), tree());
    let mut open = open(&client, "x-api-key", "door_1").await;
    open.goes_on_for(MINUTE).await;
    devices.remove_all();
    open.ends_within(CHECKED).await;
}

#[tokio::test(start_paused = true)]
async fn the_time_between_two_checks_can_be_set() {
    let devices = Devices::new();
    let client = client(devices.auth().recheck_every(MINUTE), tree());
    let mut open = open(&client, "x-api-key", "door_1").await;
    // The first check runs after half of the interval at the earliest.
    devices.remove_all();
    open.goes_on_for(Duration::from_secs(3)).await;
    open.ends_within(MINUTE).await;
}

pub(crate) type Store = Arc<MemorySessionStore>;

pub(crate) fn sessions(store: &Store) -> Sessions<()> {
    Sessions::new(Arc::clone(store), SessionCookie::new(KeyRing::new(secret())))
}

pub(crate) async fn begin(sessions: &Sessions<()>) -> (SessionId, String) {
    let set = sessions.begin(Some("user:7"), &()).await.unwrap();
    let id = set.id().unwrap();
    let cookie = sessions.cookie().issue(&id);
    (id, cookie.to_str().unwrap().split(';').next().unwrap().to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_session_that_another_process_ends_ends_its_connections() {
    let store = Store::default();
    let (here, elsewhere) = (sessions(&store), sessions(&store));
    let client = client(here.auth(), tree());
    for all in [false, true] {
        let (id, cookie) = begin(&here).await;
        let mut open = open(&client, "cookie", &cookie).await;
        open.goes_on_for(MINUTE).await;
        match all {
            false => drop(elsewhere.end(&id).await.unwrap()),
            true => assert_eq!(elsewhere.end_all("user:7").await.unwrap(), 1),
        }
        open.ends_within(CHECKED).await;
    }
}

#[tokio::test(start_paused = true)]
async fn only_requests_keep_a_session_alive() {
    let clock = TestClock::new();
    let store = Arc::new(MemorySessionStore::new().clock(clock.for_route_limits()));
    let sessions = sessions(&store);
    let client = client(sessions.auth(), tree());
    let (_, cookie) = begin(&sessions).await;
    let mut open = open(&client, "cookie", &cookie).await;
    for _ in 0..3 {
        clock.advance(Duration::from_secs(25 * 60));
        // Another request renews the session.
        client.get("/json").header("cookie", &cookie).await.assert_status(200);
        open.goes_on_for(CHECKED).await;
    }
    // Checks do not renew the session.
    clock.advance(Duration::from_secs(29 * 60));
    open.goes_on_for(CHECKED).await;
    clock.advance(MINUTE);
    open.ends_within(CHECKED).await;
}

/// The handlers extract the session directly, without `with_auth`.
#[tokio::test(start_paused = true)]
async fn a_session_extracted_by_a_handler_ends_its_connections() {
    let store = Store::default();
    let sessions = sessions(&store);
    let socket = async |_: Session<()>, socket: WebSocket| greet(socket).await;
    let upgrade = async |_: Session<()>, it: WebSocketUpgrade| it.on_upgrade(greet);
    let api = routes! {
        "sse": { GET: async |_: Option<Session<()>>| Sse::new(one()) },
        "ws": { ws: socket },
        "upgrade": { ws: upgrade },
    };
    let router = create_router(api, options()).state(sessions.clone());
    let client = TestClient::new(router).with_timeout(None);
    let (id, cookie) = begin(&sessions).await;
    let mut sockets = Vec::new();
    for path in ["/ws", "/upgrade"] {
        let mut socket = client.websocket(path).header("cookie", &cookie).connect().await;
        assert_eq!(socket.receive_text().await, "hello");
        sockets.push(socket);
    }
    let mut events = client.get("/sse").header("cookie", &cookie).stream().await;
    let mut of_nobody = client.get("/sse").stream().await;
    events.next_event().await.unwrap();
    of_nobody.next_event().await.unwrap();
    assert!(timeout(CHECKED, events.chunk()).await.is_err());
    let _ = sessions.end(&id).await.unwrap();
    let closed = sockets.iter_mut().map(|it| timeout(CHECKED, it.receive_close()));
    let (closed, ended) = join(join_all(closed), timeout(CHECKED, events.chunk())).await;
    assert!(closed.into_iter().all(|closed| closed.unwrap().0 == 4401));
    assert!(ended.unwrap().is_none());
    assert!(timeout(MINUTE, of_nobody.chunk()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn unauthenticated_connections_do_not_end() {
    let devices = Devices::new();
    let client = client(devices.auth().required(false), tree());
    let mut open = open(&client, "x-other", "1").await;
    devices.remove_all();
    open.goes_on_for(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn downloads_are_not_interrupted() {
    let devices = Devices::new();
    let lines = || {
        let lines = stream::unfold(0, |line| async move {
            tokio::time::sleep(MINUTE).await;
            (line < 3).then(|| (Ok::<_, Infallible>(Bytes::from(format!("{line}\n"))), line + 1))
        });
        async { Streamed::new(lines).content_type("text/csv") }
    };
    let client = client(devices.auth(), routes! { "export": { GET: lines } });
    let mut download = client.get("/export").header("x-api-key", "door_1").stream().await;
    assert_eq!(download.chunk().await.unwrap(), "0\n");
    devices.remove_all();
    assert_eq!(download.into_response().await.text(), "1\n2\n");
}

/// Both users are required, so both must stay logged in.
#[tokio::test(start_paused = true)]
async fn a_required_outer_authentication_also_ends_connections() {
    for (required, ends) in [(true, true), (false, false)] {
        let (outer, inner) = (Devices::new(), Devices::new());
        let mut router = Router::with_options(options());
        router.use_(with_auth(outer.auth().required(required)));
        let known = with_auth(inner.auth());
        router.get("/sse", async || Sse::new(one())).middleware(known);
        let client = TestClient::new(router).with_timeout(None);
        let mut events = client.get("/sse").header("x-api-key", "door_1").stream().await;
        events.next_event().await.unwrap();
        outer.remove_all();
        assert_eq!(timeout(MINUTE, events.chunk()).await.is_ok(), ends, "required: {required}");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_for_an_unknown_user_and_then_ends_the_connection() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let auth = Auth::api_key(move |_: ApiKeyHash| match down.load(Ordering::SeqCst) {
        true => Err(ApiError::new(503, "the database is down")),
        false => Ok(Some("door")),
    });
    let client = client(auth, tree());
    let mut open = open(&client, "x-api-key", "door_1").await;
    is_down.store(true, Ordering::SeqCst);
    open.goes_on_for(Duration::from_secs(30)).await;
    is_down.store(false, Ordering::SeqCst);
    open.goes_on_for(MINUTE).await;
    is_down.store(true, Ordering::SeqCst);
    open.ends_within(Duration::from_secs(330)).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_wait_for_the_end_of_the_login() {
    let devices = Devices::new();
    let wait = async |lifetime: UserLifetime| {
        lifetime.await;
        "logged out"
    };
    let client = client(devices.auth(), routes! { "wait": { GET: wait } });
    let waiting = client.get("/wait").header("x-api-key", "door_1");
    devices.remove_all();
    waiting.await.assert_status(401);
    let devices = Devices::new();
    let client =
        TestClient::clone(&self::client(devices.auth(), routes! { "wait": { GET: wait } }));
    let task = tokio::spawn(async move { client.get("/wait").header("x-api-key", "door_1").await });
    tokio::time::sleep(MINUTE).await;
    assert!(!task.is_finished());
    devices.remove_all();
    task.await.unwrap().assert_text("logged out");
}

fn outliving(devices: &Devices) -> Router {
    let tree = routes! {
        middleware: [with_auth(devices.auth())],
        "sse": { GET: {
            handler: async || Sse::new(one()),
            outlives_user: "it shows public prices",
        } },
        "ws": { ws: { handler: greet, outlives_user: "the ticket is used once" } },
    };
    create_router(tree, options())
}

#[tokio::test(start_paused = true)]
async fn a_route_may_outlive_its_user_with_a_reason() {
    let devices = Devices::new();
    let client = TestClient::new(outliving(&devices)).with_timeout(None);
    let mut events = client.get("/sse").header("x-api-key", "door_1").stream().await;
    events.next_event().await.unwrap();
    let mut socket = client.websocket("/ws").header("x-api-key", "door_1").connect().await;
    socket.receive_text().await;
    devices.remove_all();
    let (events, socket) =
        join(timeout(HOUR, events.chunk()), timeout(HOUR, socket.receive())).await;
    assert!(events.is_err() && socket.is_err());
}

#[test]
fn lists_routes_that_outlive_their_user() {
    let app = outliving(&Devices::new()).build().unwrap();
    let audit = Policy::recommended().audit(&app.route_map()).to_string();
    let list = "outlives the login of its user:\n  GET /sse: it shows public prices\n  \
                WS /ws: the ticket is used once\n";
    assert!(audit.contains(list), "{audit}");
    let explained = app.explain("WS /ws").unwrap().to_string();
    assert!(explained.contains("may outlive it: the ticket is used once"), "{explained}");
    let reasons: Vec<_> =
        app.route_map().routes.into_iter().map(|it| it.access.outlives_user).collect();
    assert!(reasons.contains(&Some("it shows public prices".to_owned())), "{reasons:?}");
}

#[tokio::test(start_paused = true)]
async fn the_close_code_can_be_set() {
    let devices = Devices::new();
    let entry =
        RouteEntry::web_socket(greet).options(WebSocketOptions::new().logged_out_code(3000));
    let tree = RouteTree::new().segment("ws", RouteTree::new().web_socket(entry));
    let client = client(devices.auth(), tree);
    let mut socket = client.websocket("/ws").header("x-api-key", "door_1").connect().await;
    socket.receive_text().await;
    devices.remove_all();
    assert_eq!(socket.receive_close().await.0, 3000);
}

#[test]
fn rejects_a_close_code_that_must_not_be_sent_and_an_empty_reason() {
    let entry =
        RouteEntry::web_socket(greet).options(WebSocketOptions::new().logged_out_code(1005));
    let tree =
        RouteTree::new().segment("ws", RouteTree::new().web_socket(entry.outlives_user(" ")));
    let error = create_router(tree, options()).build().unwrap_err().to_string();
    assert!(error.contains("logged_out_code is 1005, which a close frame cannot have"), "{error}");
    assert!(error.contains("`outlives_user` requires a reason"), "{error}");
}

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn hello(&self) -> &str {
        "hello"
    }
}

struct Subscription;

#[gql::Subscription(crate = "gql")]
impl Subscription {
    async fn wait(&self) -> impl futures_util::Stream<Item = i32> {
        stream::iter([1]).chain(stream::pending())
    }
}

pub(crate) fn graphql() -> GraphQl {
    GraphQl::new(gql::Schema::build(Query, gql::EmptyMutation, Subscription)).web_socket(true)
}

/// Starts two subscriptions.
async fn subscribe(client: &TestClient, init: Value) -> TestWebSocket {
    let socket = client.websocket("/graphql").protocol("graphql-transport-ws");
    let mut socket = socket.header("x-api-key", "door_1").connect().await;
    socket.send_json(json!({ "type": "connection_init", "payload": init })).await;
    assert_eq!(socket.receive_text().await, r#"{"type":"connection_ack"}"#);
    for id in ["a", "b"] {
        let payload = json!({ "query": "subscription { wait }" });
        socket.send_json(json!({ "type": "subscribe", "id": id, "payload": payload })).await;
        assert_eq!(socket.receive_json::<Value>().await["type"], "next");
    }
    socket
}

#[tokio::test(start_paused = true)]
async fn subscriptions_end_with_the_user_of_the_handshake() {
    let devices = Devices::new();
    let client = client(devices.auth(), routes! { "graphql": { ..graphql().routes() } });
    let mut socket = subscribe(&client, json!({})).await;
    assert!(timeout(MINUTE, socket.receive()).await.is_err());
    devices.remove_all();
    assert_eq!(timeout(CHECKED, socket.receive_close()).await.unwrap().0, 4401);
}

#[tokio::test(start_paused = true)]
async fn subscriptions_end_with_the_user_of_the_first_message() {
    let devices = Devices::new();
    let known = devices.clone();
    let graphql = graphql().on_init(move |payload: Value| {
        let hash = ApiKeyHash::of(payload["key"].as_str()?);
        known.0.lock().unwrap().contains(&hash.to_string()).then_some("door")
    });
    let router = create_router(routes! { "graphql": { ..graphql.routes() } }, options());
    let client = TestClient::new(router).with_timeout(None);
    let mut socket = subscribe(&client, json!({ "key": "door_1" })).await;
    assert!(timeout(MINUTE, socket.receive()).await.is_err());
    devices.remove_all();
    for id in ["a", "b"] {
        let error: Value = timeout(CHECKED, socket.receive_json()).await.unwrap();
        let failure = json!({
            "message": "The login has ended", "extensions": { "code": "UNAUTHENTICATED" },
        });
        assert_eq!(error, json!({ "type": "error", "id": id, "payload": [failure] }));
    }
    assert_eq!(socket.receive_close().await, (4401, "the login has ended".to_owned()));
}

/// The function verifies a token and returns its claims as the user.
#[tokio::test]
async fn subscriptions_end_when_the_token_of_the_first_message_expires() {
    let graphql = graphql().on_init(|payload: Value| {
        verify_token(payload["token"].as_str()?, &secret()).map(|claims| claims.into_value())
    });
    let router = create_router(routes! { "graphql": { ..graphql.routes() } }, options());
    let client = TestClient::new(router).with_timeout(None);
    let token = generate_jwt(json!({}), Duration::from_secs(1), &secret()).unwrap();
    let mut socket = subscribe(&client, json!({ "token": token })).await;
    let error: Value = timeout(Duration::from_secs(7), socket.receive_json()).await.unwrap();
    assert_eq!(error["type"], "error");
}

#[tokio::test(start_paused = true)]
async fn subscriptions_by_events_end_with_an_error_and_complete() {
    for outlives in [false, true] {
        let devices = Devices::new();
        let graphql = match outlives {
            false => graphql(),
            true => graphql().outlives_user("a test"),
        };
        let client = client(devices.auth(), routes! { "graphql": { ..graphql.routes() } });
        let request = client.post("/graphql").header("x-api-key", "door_1");
        let request = request.header("accept", "text/event-stream");
        let mut events = request.json(json!({ "query": "subscription { wait }" })).stream().await;
        assert_eq!(events.next_event().await.unwrap().name, "next");
        devices.remove_all();
        if outlives {
            // The server sends only comments.
            assert!(timeout(HOUR, events.next_event()).await.is_err());
            continue;
        }
        let last = timeout(CHECKED, events.next_event()).await.unwrap().unwrap();
        assert_eq!(last.name, "next");
        assert_eq!(last.json::<Value>()["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
        assert_eq!(events.next_event().await.unwrap().name, "complete");
        assert!(events.next_event().await.is_none());
    }
}

async fn follow(news: Notifier) -> &'static str {
    tokio::spawn(async move {
        while news.notify("news", json!([])).await.is_ok() {
            tokio::time::sleep(MINUTE).await;
        }
    });
    "following"
}

async fn call(socket: &mut TestWebSocket) {
    socket.send_json(json!({ "jsonrpc": "2.0", "method": "follow", "id": 1 })).await;
    let mut got = [socket.receive_json::<Value>().await, socket.receive_json().await];
    got.sort_by_key(|message| message["method"].is_null());
    assert_eq!((&got[0]["method"], &got[1]["result"]), (&json!("news"), &json!("following")));
}

#[tokio::test(start_paused = true)]
async fn json_rpc_ends_with_the_user_of_the_handshake() {
    let devices = Devices::new();
    let rpc = Rpc::new().method("follow", follow).web_socket(true);
    let client = client(devices.auth(), routes! { "rpc": { ..rpc.routes() } });
    let mut socket = client.websocket("/rpc").header("x-api-key", "door_1").connect().await;
    call(&mut socket).await;
    devices.remove_all();
    assert_eq!(timeout(CHECKED, socket.receive_close()).await.unwrap().0, 4401);
}

/// The route is public, but the method that sends notifications requires a
/// user.
#[tokio::test(start_paused = true)]
async fn json_rpc_ends_with_the_user_of_a_call_that_sends_notifications() {
    let devices = Devices::new();
    let follow = RpcMethod::new(follow).middleware(with_auth(devices.auth()));
    let rpc = Rpc::new().method("follow", follow).web_socket(true);
    let router = create_router(routes! { "rpc": { ..rpc.routes() } }, options());
    let client = TestClient::new(router).with_timeout(None);
    let mut socket = client.websocket("/rpc").header("x-api-key", "door_1").connect().await;
    call(&mut socket).await;
    call(&mut socket).await;
    devices.remove_all();
    let closed = timeout(CHECKED, socket.receive_close()).await.unwrap();
    assert_eq!(closed, (4401, "the login has ended".to_owned()));
}
