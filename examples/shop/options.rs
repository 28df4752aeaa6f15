//! The options of the router: secure values, and comments with looser ones.

use stockade::middleware::{CorsOptions, Metrics, SecurityHeaders, with_request_id};
use stockade::prelude::*;

/// The options of the shop. A comment shows how to loosen each of them. A looser option here
/// applies to all routes; in a node it applies to the routes below, and in an entry to one
/// route.
pub fn options(metrics: &Metrics) -> RouterOptions {
    RouterOptions::new()
        // The pages that may read answers, with credentials. For an API that
        // every page may read, and without credentials: `.cors_origin("*")`.
        .cors_origin(["https://shop.example", "https://admin.shop.example"])
        // For how many seconds browsers remember it. `cors: "*"` in an entry
        // loosens one route.
        .cors(CorsOptions::default().max_age(3_600))
        // On is the default: `.security_headers(false)`, or one of them
        // `.security_headers(SecurityHeaders::default().without("x-frame-options"))`.
        .security_headers(SecurityHeaders::default())
        // 100 a minute is the default: `.rate_limit(false)`, or `rate_limit: false`
        // in an entry.
        .rate_limit(300 / MINUTE)
        // Whose `X-Forwarded-For` is believed: behind one proxy `.trust_proxy(1)`.
        .trust_proxy(0)
        // 1 MiB is the default; `max_body: 4 * 1024 * 1024` in an entry.
        .max_body(64 * 1024)
        // What a handler reads is the default; `accepts: ["application/json"]` in an
        // entry lets no form of another page reach it.
        // WebSockets are off by default, and open to pages of the same origin:
        // `.ws_allowed_origins(["*"])`, or `allowed_origins` in an entry.
        .enable_web_sockets(true)
        // A name for each request, that of a trusted caller if it sends one.
        .request_id(with_request_id())
        // A line for each request, while `stockade::access` is logged at info
        // level: `RUST_LOG=info,stockade::access=off` is silent too.
        .access_log(true)
        .metrics(metrics)
}

/// Everything loosened that can be, for a network in which everyone is trusted.
/// What is not here cannot be switched off: bounds of time, of heads, of JSON.
pub fn loose() -> RouterOptions {
    RouterOptions::new()
        .cors_origin("*")
        .security_headers(false)
        .rate_limit(false)
        .trust_proxy(1)
        .max_body(1024 * 1024 * 1024)
        .enable_web_sockets(true)
        .ws_allowed_origins(["*"])
        .expose_errors(true)
}
