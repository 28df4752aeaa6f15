//! Rate limiting: for the whole API, for a part of it, for a route, and by the
//! plan of a user.
//!
//! ```text
//! cargo run -p stockade-examples --bin limits
//! curl -i localhost:3000/
//! curl -i localhost:3000/orders -H 'Authorization: Bearer acme'
//! ```
//!
//! It runs behind one proxy, which sends the client address in
//! `X-Forwarded-For`. `MAX_KEYS` is the maximum number of clients with separate
//! counts; `cargo xtask keys` sends more.

use std::time::Duration;

use stockade::middleware::{RateLimit, with_rate_limit};
use stockade::prelude::*;

/// Returns a setting from the environment, or its default.
fn setting<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[derive(serde::Deserialize)]
struct Member {
    org: String,
    paid: bool,
}

/// Treats any token as the name of an organization. A real program verifies it.
fn token() -> Middleware {
    with_auth(|org: String| Some(json!({ "paid": org == "acme", "org": org })))
}

fn router() -> Router {
    let hourly = RateLimit::new()
        .max_requests(100)
        .window(Duration::from_secs(3_600))
        .max_keys(setting("MAX_KEYS", 100_000));
    // Members of an organization share a count, which remains if the plan
    // changes.
    let by_plan = RateLimit::by(|req| {
        let me: Member = req.user_as()?;
        Some((me.org, if me.paid { 600 } else { 60 } / MINUTE))
    });
    let api = routes! {
        GET: async || "a hundred in an hour",
        "orders": {
            middleware: token(),
            rate_limit: by_plan.name("plan"),
            GET: async || "as many as the plan allows",
        },
        "admin": {
            // Both routes share a count.
            middleware: [with_rate_limit(RateLimit::from(20 / MINUTE).name("admin"))],
            GET: async || "twenty of them in a minute",
            "login": { POST: { async || "five of those", rate_limit: 5 / MINUTE } },
        },
    };
    create_router(api, RouterOptions::new().trust_proxy(1).rate_limit(hourly))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let server = router().create_server()?.bind(setting("PORT", 3000_u16)).await?;
    println!("listening on http://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
