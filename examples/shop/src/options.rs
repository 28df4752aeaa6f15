//! The options of the router: secure values, with comments that show less
//! strict ones.

use stockade::middleware::{CorsOptions, Metrics, SecurityHeaders, with_request_id};
use stockade::prelude::*;

/// Returns the options of the shop. A comment shows how to relax each of them.
/// An option here applies to all routes, an option of a node to the routes
/// below it, and a route option to one route.
pub fn options(metrics: &Metrics) -> RouterOptions {
    RouterOptions::new()
        // The origins that may read responses, with credentials. For an API
        // without credentials that every origin may read: `.cors_origin("*")`.
        .cors_origin(["https://shop.example", "https://admin.shop.example"])
        // The number of seconds for which browsers cache preflights. The route
        // option `cors: "*"` relaxes one route.
        .cors(CorsOptions::default().max_age(3_600))
        // Enabled by default. To disable all of them, or one of them:
        // `.security_headers(false)`, or
        // `.security_headers(SecurityHeaders::default().without("x-frame-options"))`.
        .security_headers(SecurityHeaders::default())
        // Default: 100 per minute. To disable it: `.rate_limit(false)`, or the
        // route option `rate_limit: false`.
        .rate_limit(300 / MINUTE)
        // The number of trusted proxies for `X-Forwarded-For`. Behind one
        // proxy: `.trust_proxy(1)`.
        .trust_proxy(0)
        // Default: 1 MiB. As a route option: `max_body: 4 * 1024 * 1024`.
        .max_body(64 * 1024)
        // By default a route accepts the types that its handler reads. The
        // route option `accepts: ["application/json"]` rejects forms from other
        // origins.
        // WebSockets are disabled by default, and accept only the same origin:
        // `.ws_allowed_origins(["*"])`, or the route option `allowed_origins`.
        .enable_web_sockets(true)
        // A unique id for each request, or the id from a trusted caller.
        .request_id(with_request_id())
        // A log line for each request, at info level with the target
        // `stockade::access`. `RUST_LOG=info,stockade::access=off` disables it
        // too.
        .access_log(true)
        .metrics(metrics)
}

/// Returns options with all restrictions relaxed, for a trusted network.
/// Restrictions that are missing here cannot be disabled: timeouts, head size
/// limits, JSON limits.
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
