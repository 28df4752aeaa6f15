//! The limit of requests in flight: rejected requests and freed places.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::stream;
use stockade::middleware::health::Readiness;
use stockade::middleware::{Metrics, with_concurrency_limit};
use stockade::prelude::*;
use stockade::reply::Streamed;
use stockade::routing::{ResponseFuture, health_routes};
use stockade::testing::TestClient;

use crate::support::{app, block_on, call, check, log, request, text_of};

const BUSY: &str = r#"503 {"error":"Service Unavailable"}"#;

async fn pieces() -> Streamed {
    Streamed::new(stream::iter(["one", "two"].map(Ok::<_, Infallible>)))
}

async fn panics() {
    panic!("asked for");
}

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        socket.send(text?).await?;
    }
    Ok(())
}

fn api() -> RouteTree {
    routes! {
        "waits": { GET: std::future::pending::<()> },
        "fast": { GET: async || "fast", POST: async |_: Body<Value>| () },
        "pieces": { GET: pieces },
        "panics": { GET: panics },
        "exempt": { GET: { handler: async || "exempt", concurrency_limit: false } },
        "again": { GET: { handler: async || "again", concurrency_limit: true } },
        "chat": { ws: echo },
        ..health_routes()
    }
}

fn with(options: RouterOptions) -> App {
    let options = options.expose_errors(false).rate_limit(false).enable_web_sockets(true);
    app(create_router(api(), options).state(Readiness::new()))
}

/// Starts a request that holds a place until it is dropped.
fn waiting(app: &App, path: &str) -> Pin<Box<ResponseFuture>> {
    let mut future = Box::pin(app.handle(request(&format!("GET {path}"))));
    block_on(std::future::poll_fn(|cx| {
        assert!(future.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    }));
    future
}

#[test]
fn rejects_all_routes_above_the_limit_of_a_router() {
    log::watch();
    let (metrics, begin) = (Metrics::new(), Instant::now());
    let app = with(RouterOptions::new().concurrency_limit(2).metrics(&metrics));
    let first = waiting(&app, "/waits");
    check(&app, "GET /fast", "200 fast");
    let second = waiting(&app, "/waits?second=1");
    for text in ["GET /fast", "HEAD /fast", "GET /again", "GET /pieces"] {
        let response = block_on(app.handle(request(text)));
        assert_eq!(response.status(), 503, "{text}");
        assert_eq!(response.headers()["retry-after"], "1", "{text}");
        assert_eq!(response.headers()["x-frame-options"], "DENY", "{text}");
    }
    // The server does not even read the body.
    check(&app, "POST /fast\ncontent-type: application/json\n\n{", BUSY);
    // Health checks and requests that cost nothing still pass.
    check(&app, "GET /exempt", "200 exempt");
    check(&app, "GET /health/live", r#"200 {"status":"ok"}"#);
    check(&app, "GET /health/ready", r#"200 {"status":"ok"}"#);
    check(&app, "GET /nowhere", r#"404 {"error":"Not Found"}"#);
    drop(second);
    check(&app, "GET /fast", "200 fast");
    drop(first);
    assert!(
        metrics.text().contains(r#"route="/again",reason="overload"} 1"#),
        "{}",
        metrics.text()
    );
    let mut lines = log::lines_with("because 2 requests are in flight");
    // Another test with these lines may run concurrently.
    lines.retain(|line| !line.contains(" /own/"));
    // One line per second of the clock. The test may start anywhere within a
    // second.
    let most = 2 + begin.elapsed().as_secs();
    assert!((1..=most).contains(&(lines.len() as u64)), "{most} s: {lines:?}");
    assert!(lines[0].starts_with("WARN GET /fast was rejected, "), "{lines:?}");
    let lines = log::lines_with("503 too many requests are in flight");
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("DEBUG ")), "{lines:?}");
}

#[test]
fn a_place_is_free_after_the_last_byte() {
    let app = with(RouterOptions::new().concurrency_limit(1));
    let response = block_on(app.handle(request("GET /pieces")));
    check(&app, "GET /fast", BUSY);
    assert_eq!(block_on(text_of(response.into_body())), "onetwo");
    check(&app, "GET /fast", "200 fast");
    // A client that disconnects early, a panic, a HEAD request and an error all
    // free the place.
    drop(block_on(app.handle(request("GET /pieces"))));
    check(&app, "GET /fast", "200 fast");
    for (text, status) in [("GET /panics", 500), ("HEAD /pieces", 200), ("POST /fast\n\nx", 415)] {
        let status = status.to_string();
        assert!(block_on(call(&app, text)).starts_with(&status), "{text}");
        check(&app, "GET /fast", "200 fast");
    }
    // A complete response does not hold a place, even if nobody reads it.
    let answer = block_on(app.handle(request("GET /fast")));
    check(&app, "GET /fast", "200 fast");
    drop(answer);
}

#[test]
fn limits_of_groups_and_entries_count_separately() {
    let reports = with_concurrency_limit(1).retry_after(Duration::from_millis(2_001));
    let tree = routes! {
        "a": {
            middleware: [reports.clone()],
            "waits": { GET: std::future::pending::<()> },
            "fast": { GET: async || "a" },
            "free": { GET: { handler: async || "free", concurrency_limit: false } },
        },
        "b": { GET: { handler: async || "b", middleware: [reports] } },
        "own": {
            "waits": { GET: { handler: std::future::pending::<()>, concurrency_limit: 1 } },
            "fast": { GET: { handler: async || "own", concurrency_limit: 1 } },
        },
    };
    let app = app(create_router(tree, RouterOptions::new().concurrency_limit(2)));
    let first = waiting(&app, "/a/waits");
    check(&app, "GET /own/fast", "200 own");
    for path in ["/a/fast", "/b"] {
        let response = block_on(app.handle(request(&format!("GET {path}"))));
        let retry_after = response.headers()["retry-after"].to_str().unwrap();
        assert_eq!((response.status().as_u16(), retry_after), (503, "3"), "{path}");
    }
    check(&app, "GET /a/free", "200 free");
    let second = waiting(&app, "/own/waits");
    // Both requests hold a place of the router's limit.
    check(&app, "GET /own/fast", BUSY);
    check(&app, "GET /a/free", "200 free");
    drop(first);
    check(&app, "GET /own/fast", "200 own");
    check(&app, "GET /own/waits", BUSY);
    check(&app, "GET /a/fast", "200 a");
    drop(second);
}

#[test]
fn limits_of_an_entry_have_a_fixed_order() {
    let mut router = Router::new();
    let second = Duration::from_secs(1);
    let route = router.get("/x", async || "x").timeout(second).concurrency_limit(5);
    route.rate_limit(1 / MINUTE).concurrency_limit(with_concurrency_limit(6)).timeout(second);
    router.get("/y", async || "y").concurrency_limit(5).timeout(second).concurrency_limit(true);
    let app = app(router);
    let names = |index: usize| -> Vec<&str> {
        app.routes()[index].middleware().iter().map(stockade::Middleware::name).collect()
    };
    assert_eq!(names(0), ["with_rate_limit", "with_concurrency_limit", "with_timeout"]);
    assert_eq!(names(1), ["with_timeout"]);
}

#[tokio::test]
async fn a_web_socket_holds_a_place_during_its_handshake() {
    let client = TestClient::new(
        create_router(api(), RouterOptions::new().concurrency_limit(1).enable_web_sockets(true))
            .state(Readiness::new()),
    );
    let mut socket = client.websocket("/chat").connect().await;
    client.get("/fast").await.assert_status(200);
    socket.send_text("hi").await;
    assert_eq!(socket.receive_text().await, "hi");
}

#[test]
fn a_limit_of_zero_is_an_error_and_files_contain_a_number() {
    let mistake = |options: RouterOptions| {
        create_router(api(), options.enable_web_sockets(true))
            .state(Readiness::new())
            .build()
            .map_err(|error| error.to_string())
    };
    let error = mistake(RouterOptions::new().concurrency_limit(0)).unwrap_err();
    assert!(error.contains("a concurrency limit must not be 0"), "{error}");
    let read = |text: &str| serde_json::from_str::<RouterOptions>(text);
    let options = read(r#"{"concurrencyLimit":7}"#).unwrap();
    assert!(format!("{options:?}").contains("ConcurrencyLimit { max: 7"));
    assert!(read(r#"{"concurrencyLimit":-1}"#).is_err());
    assert!(mistake(RouterOptions::new().concurrency_limit(usize::MAX)).is_ok());
}
