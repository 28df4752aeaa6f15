//! One program as several processes that share state in Redis or Valkey.
//!
//! ```text
//! redis-server --port 6379
//! PORT=3001 NODE=a cargo run -p cluster
//! PORT=3002 NODE=b cargo run -p cluster
//! curl -i localhost:3001/orders
//! ```
//!
//! Members of the page at `/` see each other, whichever process they are
//! connected to. `users.rs` contains the user state that all processes share.
//!
//! `haproxy.cfg` in this folder distributes one port to three processes.
//! `cargo xtask cluster` starts everything, stops parts of it, and checks the
//! responses.

mod users;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stockade::auth::generate_token;
use stockade::http::HeaderMap;
use stockade::middleware::health::Readiness;
use stockade::middleware::rate_limit::{HOUR, Quota, RateLimit, StoreFailure};
use stockade::middleware::with_rate_limit;
use stockade::prelude::*;
use stockade::redis::{Redis, RedisOptions, RedisRateLimits};
use stockade::routing::health_routes;
use stockade::websockets::{Audience, RoomLimits, Rooms, WebSocketOptions};

/// Returns a setting from the environment, or its default.
fn setting(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

/// Connects to Redis: at an address, with Sentinel, or as a cluster.
fn engine() -> Result<Redis, ConfigError> {
    let options = RedisOptions::new().prefix("shop");
    let (url, master) = (setting("REDIS_URL", ""), setting("REDIS_MASTER", ""));
    let addresses = setting("REDIS_NODES", "redis://127.0.0.1:6379");
    if !url.is_empty() {
        Redis::open(&url, options)
    } else if master.is_empty() {
        Redis::cluster(addresses.split(','), options)
    } else {
        Redis::sentinel(addresses.split(','), &master, options)
    }
}

/// The name of this process, as state.
#[derive(Clone)]
struct Node(Arc<str>);

/// Returns a page that shows the messages of all members.
async fn page(node: State<Node>) -> Result<(HeaderMap, Html<String>), ApiError> {
    // The default policy allows no scripts; this one allows the script of the
    // page.
    let nonce = generate_token(16).map_err(ApiError::internal)?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut headers = HeaderMap::new();
    let policy = header::HeaderValue::try_from(policy).map_err(ApiError::internal)?;
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    let page = include_str!("page.html").replace("NONCE", &nonce).replace("NODE", &node.0.0);
    Ok((headers, Html(page)))
}

/// Broadcasts each message to the room, in all processes.
async fn live(
    mut socket: WebSocket,
    node: State<Node>,
    rooms: State<Rooms>,
) -> Result<(), ApiError> {
    let member = rooms.enter(socket.sender())?;
    member.join(ROOM)?;
    let name = &node.0.0;
    if member.ready(ROOM).await.is_ok() {
        tell_count(&rooms, &format!("somebody joined, by {name}")).await;
    }
    while let Some(Ok(text)) = socket.recv_text().await {
        rooms.broadcast(Audience::Room(ROOM), format!("{text}: {name}"));
    }
    drop(member);
    tell_count(&rooms, &format!("somebody left, by {name}")).await;
    Ok(())
}

/// A room for many members, without messages about joining and leaving.
async fn crowd(mut socket: WebSocket, rooms: State<Rooms>) -> Result<(), ApiError> {
    let member = rooms.enter(socket.sender())?;
    member.join("crowd")?;
    if member.ready("crowd").await.is_ok() && socket.send("here").await.is_err() {
        return Ok(());
    }
    while let Some(Ok(text)) = socket.recv_text().await {
        rooms.broadcast(Audience::Room("crowd"), text.to_string());
    }
    Ok(())
}

/// Broadcasts the number of members in all processes.
async fn tell_count(rooms: &Rooms, text: &str) {
    // The number is unknown without Redis.
    let count = rooms.count_everywhere(ROOM).await;
    let count = count.map_or_else(|_| "?".to_owned(), |count| count.to_string());
    rooms.broadcast(Audience::Room(ROOM), format!("{text} ({count} here)"));
}

/// The room of the page.
const ROOM: &str = "all";

/// Creates the rooms and counts the gaps. The page informs a member that missed
/// messages.
fn rooms(redis: &Redis, gaps: &Arc<AtomicU64>) -> Rooms {
    let rooms = Rooms::with_backplane(RoomLimits::new(), redis.rooms());
    let (weak, gaps) = (rooms.downgrade(), Arc::clone(gaps));
    rooms.on_gap(move |gap| {
        gaps.fetch_add(1, Ordering::Relaxed);
        if let Some(rooms) = weak.upgrade() {
            rooms.deliver(gap.audience, "(something is missing here)", None);
        }
    })
}

fn router(redis: &Redis) -> Result<Router, BoxError> {
    // All processes together allow this rate; without Redis, each allows a
    // third.
    let limited = |name: &str, quota: Quota, store: RedisRateLimits| {
        let limit = RateLimit::from(quota).name(name).store(Arc::new(store));
        with_rate_limit(limit.on_store_failure(StoreFailure::Local { nodes: 3 }))
    };
    let shared = |name: &str, quota: Quota, deadline: u64| {
        limited(name, quota, redis.rate_limits().deadline(Duration::from_millis(deadline)))
    };
    // Reserves several requests of a busy client at once in Redis.
    let leased = |name: &str, quota: Quota| limited(name, quota, redis.rate_limits().leased(16));
    // On a busy machine a reply may be late; then the local share decides.
    let deadline: u64 = setting("DEADLINE", "100").parse().unwrap_or(100);
    let state = redis.clone();
    let gaps = Arc::new(AtomicU64::new(0));
    let rooms = rooms(redis, &gaps);
    let users = users::Users::new(redis, Duration::from_millis(deadline))?;
    let api = routes! {
        ..health_routes(),
        ..users.routes(),
        GET: page,
        "live": {
            ws: { live, options: WebSocketOptions::new().max_payload(1_024) },
            "crowd": { ws: { crowd, options: WebSocketOptions::new().max_payload(1_024) } },
            "gaps": { GET: async move || gaps.load(Ordering::Relaxed).to_string() },
        },
        "orders": {
            GET: { async || "orders", middleware: [shared("orders", 100 / HOUR, deadline)] },
        },
        "catalog": {
            GET: {
                async |node: State<Node>| node.0.0.to_string(),
                middleware: [shared("catalog", 9_000_000 / HOUR, 100)],
            },
        },
        "offers": { GET: { async || "offers", middleware: [leased("offers", 100 / HOUR)] } },
        "deals": { GET: { async || "deals", middleware: [leased("deals", 90_000 / HOUR)] } },
        // Without a limit, for comparison.
        "free": { GET: async || "free" },
        // Readiness does not depend on Redis, because all processes would
        // become unready at the same time.
        "engine": { GET: async move || if state.health().is_up() { "up" } else { "down" } },
    };
    let proxies: u8 = setting("PROXIES", "1").parse().unwrap_or(1);
    let options = RouterOptions::new()
        .enable_web_sockets(true)
        .trust_proxy(proxies)
        // The router's limit would count in addition to the limits of the
        // routes.
        .rate_limit(false);
    Ok(create_router(api, options)
        .state(Readiness::new())
        .state(Node(setting("NODE", "a").into()))
        .state(rooms)
        .state(users.sessions)
        .state(users.revocations))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let redis = engine()?;
    let port: u16 = setting("PORT", "3000").parse()?;
    let server = router(&redis)?.create_server()?.bind(format!("127.0.0.1:{port}")).await?;
    println!("listening on http://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
