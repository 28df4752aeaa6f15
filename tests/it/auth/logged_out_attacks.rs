//! Attempts to keep a connection open after the user's login has ended.
//!
//! Tokio's clock is paused, so the time between two checks passes immediately.

use std::future::pending;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use stockade::auth::{ApiKeyHash, Revocations, TokenVerifier, generate_jwt};
use stockade::middleware::sessions::Session;
use stockade::middleware::with_auth;
use stockade::prelude::*;
use stockade::reply::Sse;
use stockade::testing::{TestClient, TestClock};
use stockade::upgrade::{Upgrade, Upgraded};
use stockade::websockets::WebSocketUpgrade;
use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::auth::logged_out::{
    CHECKED, Devices, HOUR, MINUTE, Store, begin, client, greet, one, one_by_hand, options, secret,
    sessions, token,
};

/// The time limit for a check that is due immediately. Tokio's timers can fire
/// late.
const AT_ONCE: Duration = Duration::from_millis(300);

/// Creates routes that call `act` before their connection opens.
fn during_handshake(act: impl Fn() + Clone + Send + Sync + 'static) -> RouteTree {
    let (of_sse, of_upgrade) = (act.clone(), act);
    let sse = move || {
        of_sse();
        async { Sse::new(one()) }
    };
    let upgrade = move |upgrade: WebSocketUpgrade| {
        of_upgrade();
        async { upgrade.on_upgrade(greet) }
    };
    routes! { "sse": { GET: sse }, "ws": { ws: upgrade } }
}

/// Checks that the route's connection ends immediately, although no check is
/// due.
async fn ends_at_once(client: &TestClient, path: &str, bearer: &str) {
    match path {
        "/sse" => {
            let mut events = client.get(path).header("authorization", bearer).stream().await;
            let ended = timeout(AT_ONCE, async { while events.chunk().await.is_some() {} }).await;
            assert!(ended.is_ok(), "{path} goes on");
        }
        _ => {
            let socket = client.websocket(path).header("authorization", bearer);
            let mut socket = socket.connect().await;
            assert_eq!(socket.receive_text().await, "hello");
            let closed = timeout(AT_ONCE, socket.receive_close()).await;
            assert_eq!(closed.expect("the WebSocket goes on").0, 4401);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_expires_during_the_handshake_ends_the_connection() {
    for path in ["/sse", "/ws"] {
        let clock = TestClock::new();
        let verifier = TokenVerifier::new().clock(clock.for_tokens()).leeway(Duration::ZERO);
        let auth = Auth::tokens(secret(), verifier).recheck_every(HOUR);
        let bearer = token(&clock, json!({}));
        let tree = during_handshake(move || clock.advance(2 * HOUR));
        ends_at_once(&client(auth, tree), path, &bearer).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_opens_within_the_leeway_ends_with_the_leeway() {
    let clock = TestClock::new();
    let verifier = TokenVerifier::new().clock(clock.for_tokens()).leeway(MINUTE);
    let auth = Auth::tokens(secret(), verifier).recheck_every(HOUR);
    let bearer = token(&clock, json!({}));
    let client = client(auth, routes! { "sse": { GET: async || Sse::new(one()) } });
    clock.advance(HOUR + Duration::from_secs(30));
    let mut events = client.get("/sse").header("authorization", &bearer).stream().await;
    events.next_event().await.unwrap();
    clock.advance(Duration::from_secs(30));
    assert!(timeout(MINUTE, events.chunk()).await.is_err());
    clock.advance(Duration::from_secs(1));
    assert!(timeout(AT_ONCE, events.chunk()).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_token_revoked_during_the_handshake_ends_the_connection() {
    for path in ["/sse", "/ws"] {
        // Use the system clock: credentials with another clock are checked
        // continuously.
        let revocations = Revocations::in_memory();
        let auth = Auth::secret(secret()).revocations(revocations.clone());
        let claims = json!({ "sub": "ada", "jti": "of ada" });
        let bearer = format!("Bearer {}", generate_jwt(claims, "1h", &secret()).unwrap());
        let tree = during_handshake(move || {
            let revoked = revocations.revoke_id(None, "of ada", SystemTime::now() + HOUR);
            // An in-memory revocation completes immediately.
            futures_util::FutureExt::now_or_never(revoked).unwrap().unwrap();
        });
        ends_at_once(&client(auth.recheck_every(HOUR), tree), path, &bearer).await;
    }
}

/// The first check fails. The next one must run in less than an hour.
#[tokio::test(start_paused = true)]
async fn a_failed_check_is_retried_soon() {
    let devices = Devices::new();
    let is_down = Arc::new(AtomicBool::new(false));
    let (known, down) = (devices.clone(), Arc::clone(&is_down));
    let auth = Auth::api_key(move |hash: ApiKeyHash| match down.load(Ordering::SeqCst) {
        true => Err(ApiError::new(503, "the database is down")),
        false => Ok(known.has(&hash).then_some("door")),
    });
    let tree = routes! { "sse": { GET: async || Sse::new(one()) } };
    let client = client(auth.recheck_every(HOUR), tree);
    let mut events = client.get("/sse").header("x-api-key", "door_1").stream().await;
    events.next_event().await.unwrap();
    is_down.store(true, Ordering::SeqCst);
    devices.remove_all();
    let began = tokio::time::Instant::now();
    let up = Arc::clone(&is_down);
    tokio::spawn(async move {
        // After the first check, which runs within the hour.
        tokio::time::sleep(HOUR + Duration::from_secs(1)).await;
        up.store(false, Ordering::SeqCst);
    });
    let ended = timeout(3 * HOUR, events.chunk()).await;
    assert!(ended.unwrap().is_none());
    assert!(began.elapsed() < HOUR + MINUTE, "after {:?}", began.elapsed());
}

/// The connection has two logins: an API key, and the session that its handler
/// extracts.
#[tokio::test(start_paused = true)]
async fn each_of_two_logins_can_end_the_connection() {
    for (of_key, required) in [(true, true), (true, false), (false, true), (false, false)] {
        let (store, devices) = (Store::default(), Devices::new());
        let sessions = sessions(&store);
        let auth = devices.auth().required(required);
        let tree = routes! {
            middleware: [with_auth(auth)],
            "sse": { GET: async |_: Session<()>| Sse::new(one()) },
        };
        let router = create_router(tree, options()).state(sessions.clone());
        let client = TestClient::new(router).with_timeout(None);
        let (id, cookie) = begin(&sessions).await;
        let request = client.get("/sse").header("cookie", &cookie);
        let mut events = request.header("x-api-key", "door_1").stream().await;
        events.next_event().await.unwrap();
        assert!(timeout(MINUTE, events.chunk()).await.is_err());
        match of_key {
            true => devices.remove_all(),
            false => drop(sessions.end(&id).await.unwrap()),
        }
        let ended = timeout(CHECKED, events.chunk()).await;
        assert!(ended.is_ok(), "the key: {of_key}, required: {required}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_optional_login_that_was_used_ends_its_connections() {
    let devices = Devices::new();
    let auth = devices.auth().required(false);
    let client = client(auth, routes! { "sse": { GET: async || Sse::new(one()) } });
    let mut events = client.get("/sse").header("x-api-key", "door_1").stream().await;
    events.next_event().await.unwrap();
    devices.remove_all();
    assert!(timeout(CHECKED, events.chunk()).await.unwrap().is_none());
}

/// The handler does not run.
#[tokio::test(start_paused = true)]
async fn an_event_stream_of_middleware_ends_with_the_login() {
    fn at_once(_: &mut Request) -> Response {
        one_by_hand()
    }
    async fn later(_: &mut Request) -> Response {
        one_by_hand()
    }
    let forms = [("at once", Middleware::new(at_once)), ("later", Middleware::new(later))];
    for (name, responding) in forms {
        let devices = Devices::new();
        let known = Middleware::new(with_auth(devices.auth()));
        let tree = routes! {
            "sse": { GET: { handler: async || "not called", middleware: vec![known, responding] } },
        };
        let client = TestClient::new(create_router(tree, options())).with_timeout(None);
        let mut events = client.get("/sse").header("x-api-key", "door_1").stream().await;
        assert_eq!(events.next_event().await.unwrap().data, "hello");
        devices.remove_all();
        assert!(timeout(CHECKED, events.chunk()).await.is_ok(), "{name}");
    }
}

/// The inner application's handler takes the whole request.
#[tokio::test(start_paused = true)]
async fn connections_of_a_mounted_request_handler_end() {
    let devices = Devices::new();
    let whole = async |socket: WebSocket, _: Request| greet(socket).await;
    let upgrade = async |upgrade: WebSocketUpgrade, _: Request| upgrade.on_upgrade(greet);
    let inner = routes! { "ws": { ws: whole }, "upgrade": { ws: upgrade } };
    let inner = create_router(inner, options()).build().unwrap();
    let client = client(devices.auth(), routes! { "mount": { mount: inner } });
    let mut sockets = Vec::new();
    for path in ["/mount/ws", "/mount/upgrade"] {
        let mut socket = client.websocket(path).header("x-api-key", "door_1").connect().await;
        assert_eq!(socket.receive_text().await, "hello");
        sockets.push((path, socket));
    }
    devices.remove_all();
    for (path, mut socket) in sockets {
        let closed = timeout(CHECKED, socket.receive_close()).await;
        assert_eq!(closed.unwrap_or_else(|_| panic!("{path} goes on")).0, 4401);
    }
}

#[tokio::test(start_paused = true)]
async fn the_interval_may_have_any_value() {
    for interval in [Duration::ZERO, Duration::MAX, Duration::from_secs(u64::MAX)] {
        let devices = Devices::new();
        let auth = devices.auth().recheck_every(interval);
        let client = client(auth, routes! { "sse": { GET: async || Sse::new(one()) } });
        let mut events = client.get("/sse").header("x-api-key", "door_1").stream().await;
        events.next_event().await.unwrap();
        assert!(timeout(MINUTE, events.try_chunk()).await.is_err(), "{interval:?}");
        devices.remove_all();
        let ended = timeout(Duration::from_secs(1), events.chunk()).await;
        assert_eq!(ended.is_ok(), interval.is_zero(), "{interval:?}");
    }
}

/// The application verifies tokens itself. Its user has an `exp` of any JSON
/// type.
#[tokio::test(start_paused = true)]
async fn the_expiry_of_a_user_may_have_any_value() {
    let past = json!(1);
    for exp in [json!(u64::MAX), json!(-1), json!(1.5), json!("never"), json!(null), past] {
        let is_valid = Arc::new(AtomicBool::new(true));
        let (user, valid) = (json!({ "exp": exp }), Arc::clone(&is_valid));
        let checks = Arc::new(Mutex::new(0));
        let count = Arc::clone(&checks);
        let auth = Auth::bearer(move |_: String| {
            *count.lock().unwrap() += 1;
            valid.load(Ordering::SeqCst).then(|| user.clone())
        });
        let client = client(auth, routes! { "sse": { GET: async || Sse::new(one()) } });
        let mut events = client.get("/sse").header("authorization", "Bearer x").stream().await;
        events.next_event().await.unwrap();
        assert!(timeout(MINUTE, events.chunk()).await.is_err(), "{exp}");
        // One check for the request, and at most one for each interval and for
        // the expiry.
        let count = *checks.lock().unwrap();
        assert!((4..=9).contains(&count), "{exp}: {count} checks");
        is_valid.store(false, Ordering::SeqCst);
        assert!(timeout(CHECKED, events.chunk()).await.is_ok(), "{exp}");
    }
}

/// Sends a signal when the handler that holds it is dropped.
struct Gone(Option<oneshot::Sender<()>>);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.take().map(|gone| gone.send(()));
    }
}

/// Returns a slot that holds one [`Gone`], and its receiver.
fn gone() -> (Arc<Mutex<Option<Gone>>>, oneshot::Receiver<()>) {
    let (sender, receiver) = oneshot::channel();
    (Arc::new(Mutex::new(Some(Gone(Some(sender))))), receiver)
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_ignores_the_end_is_dropped() {
    let (place, gone) = gone();
    let devices = Devices::new();
    let deaf = move |socket: WebSocket| {
        let gone = place.lock().unwrap().take();
        async move {
            socket.send("hello").await.unwrap();
            pending::<()>().await;
            drop((gone, socket));
        }
    };
    let client = client(devices.auth(), routes! { "ws": { ws: deaf } });
    let mut socket = client.websocket("/ws").header("x-api-key", "door_1").connect().await;
    socket.receive_text().await;
    devices.remove_all();
    assert_eq!(timeout(CHECKED, socket.receive_close()).await.unwrap().0, 4401);
    timeout(MINUTE, gone).await.expect("the handler still runs").unwrap();
}

/// The server cannot write the close frame.
#[tokio::test(start_paused = true)]
async fn the_connection_of_a_client_that_does_not_read_ends() {
    let (place, gone) = gone();
    let devices = Devices::new();
    let flood = move |socket: WebSocket| {
        let gone = place.lock().unwrap().take();
        async move {
            let text = "x".repeat(65_536);
            while socket.send(text.as_str()).await.is_ok() {}
            drop(gone);
        }
    };
    let tree = RouteTree::new().segment(
        "ws",
        RouteTree::new().web_socket(
            stockade::RouteEntry::web_socket(flood).options(
                // The login ends the connection rather than a WebSocket
                // timeout.
                stockade::websockets::WebSocketOptions::new()
                    .write_timeout(24 * HOUR)
                    .ping_interval(None),
            ),
        ),
    );
    let client = client(devices.auth(), tree);
    let socket = client.websocket("/ws").header("x-api-key", "door_1").connect().await;
    tokio::time::sleep(MINUTE).await;
    devices.remove_all();
    let began = tokio::time::Instant::now();
    timeout(HOUR, gone).await.expect("the handler still runs").unwrap();
    assert!(began.elapsed() < MINUTE, "{:?}", began.elapsed());
    drop(socket);
}

/// The upgraded protocol does not check users.
#[tokio::test(start_paused = true)]
async fn an_upgraded_connection_ends() {
    for outlives in [false, true] {
        let (place, gone) = gone();
        let devices = Devices::new();
        let tunnel = move |req: Request| {
            let gone = place.lock().unwrap().take();
            let upgrade = req.extensions().get::<Upgrade>().copied();
            async move {
                let upgrade = upgrade.ok_or_else(|| ApiError::new(426, "no upgrade"))?;
                Ok::<_, ApiError>(upgrade.switch(async move |mut upgraded: Upgraded| {
                    let mut buffer = Vec::new();
                    let _ = upgraded.io.read_to_end(&mut buffer).await;
                    drop(gone);
                }))
            }
        };
        let entry = stockade::RouteEntry::new(tunnel);
        let entry = if outlives { entry.outlives_user("a test") } else { entry };
        let tree = RouteTree::new()
            .segment("tunnel", RouteTree::new().method(stockade::http::Method::GET, entry));
        let tree = routes! { middleware: [with_auth(devices.auth())], ..tree };
        let app = create_router(tree, options()).build().unwrap();
        let mut request = http_request("/tunnel");
        request.headers_mut().insert("x-api-key", "door_1".parse().unwrap());
        request.extensions_mut().insert(Upgrade::http1());
        let mut response = app.handle(request).await;
        assert_eq!(response.status(), 101);
        let (_client, server) = tokio::io::duplex(1_024);
        let switch = stockade::upgrade::Switch::take(&mut response).unwrap();
        tokio::spawn(switch.run(Upgraded::new(server)));
        tokio::time::sleep(MINUTE).await;
        devices.remove_all();
        let ended = timeout(MINUTE, gone).await;
        assert_eq!(ended.is_ok(), !outlives, "outlives: {outlives}");
    }
}

fn http_request(path: &str) -> Request {
    Request::from(stockade::http::Request::get(path).header("host", "a").body(()).unwrap())
}
