//! One program as several processes: what they share stands on Valkey or Redis.
//!
//! ```text
//! redis-server --port 6379
//! PORT=3001 NODE=a cargo run -p stockade-examples --example cluster
//! PORT=3002 NODE=b cargo run -p stockade-examples --example cluster
//! curl -i localhost:3001/orders
//! ```
//!
//! Members of the page at `/` see each other whichever process they are at. What users
//! have in all processes is in `users.rs`.
//!
//! `haproxy.cfg` beside this file leads one port to three processes.
//! `cargo xtask cluster` starts all of it, takes parts of it away, and looks at the
//! answers.

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

/// A setting from the environment, or its default.
fn setting(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

/// Opens the engine: at an address, by Sentinel, or as a cluster.
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

/// A page on which everybody sees what the others say.
async fn page(node: State<Node>) -> Result<(HeaderMap, Html<String>), ApiError> {
    // The usual policy lets no script run; this one lets the script of the page run.
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

/// Tells everybody in the room what one of them says, in all processes.
async fn live(
    mut socket: WebSocket,
    node: State<Node>,
    rooms: State<Rooms>,
) -> Result<(), ApiError> {
    let member = rooms.enter(socket.sender())?;
    member.join(ROOM)?;
    let name = &node.0.0;
    if member.ready(ROOM).await.is_ok() {
        tell_count(&rooms, &format!("somebody has come, by {name}")).await;
    }
    while let Some(Ok(text)) = socket.recv_text().await {
        rooms.broadcast(Audience::Room(ROOM), format!("{text}: {name}"));
    }
    drop(member);
    tell_count(&rooms, &format!("somebody has gone, by {name}")).await;
    Ok(())
}

/// A room in which nobody is told who comes and goes, for many members.
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

/// Tells everybody how many there are in all processes.
async fn tell_count(rooms: &Rooms, text: &str) {
    // Without the engine nobody can say.
    let count = rooms.count_everywhere(ROOM).await;
    let count = count.map_or_else(|_| "?".to_owned(), |count| count.to_string());
    rooms.broadcast(Audience::Room(ROOM), format!("{text} ({count} here)"));
}

/// The room of the page.
const ROOM: &str = "all";

/// Makes the rooms, and counts the gaps: the page of a member that has missed something
/// says so.
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
    // All processes together allow this much; without the engine each its third.
    let limited = |name: &str, quota: Quota, store: RedisRateLimits| {
        let limit = RateLimit::from(quota).name(name).store(Arc::new(store));
        with_rate_limit(limit.on_store_failure(StoreFailure::Local { nodes: 3 }))
    };
    let shared = |name: &str, quota: Quota, deadline: u64| {
        limited(name, quota, redis.rate_limits().deadline(Duration::from_millis(deadline)))
    };
    // Takes several requests of a busy client at once from the engine.
    let leased = |name: &str, quota: Quota| limited(name, quota, redis.rate_limits().leased(16));
    // On a machine that is busy an answer may come late, and then the share decides.
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
        // Without a limit, to compare with.
        "free": { GET: async || "free" },
        // Readiness does not ask the engine: all processes would leave at once.
        "engine": { GET: async move || if state.health().is_up() { "up" } else { "down" } },
    };
    let proxies: u8 = setting("PROXIES", "1").parse().unwrap_or(1);
    let options = RouterOptions::new()
        .enable_web_sockets(true)
        .trust_proxy(proxies)
        // That of the router would count beside those of the routes.
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
