//! The built-in stages of a router: the work that it does for every request.
//!
//! | stage | effect |
//! |---|---|
//! | `client_address` ([`TrustProxy`]) | finds the client behind trusted proxies |
//! | [`security_headers`] | adds security headers to every response |
//! | [`cors`] | sets which origins may read a response, responds to preflights |
//! | [`rate_limit`] | limits the requests of each client |
//! | `observation` | request ids, spans, access log and metrics |
//! | [`health`] | request handlers for health checks |
//!
//! A router prepares the stages once and calls them for each request. Most of
//! them also exist as middleware for single routes, such as [`with_cors`] and
//! [`with_rate_limit`]. Programs use the stages through `stockade::middleware`.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Middleware helpers; Response headers; Limits.

mod client_address;
mod concurrency_limit;
pub mod cors;
mod described;
mod error_handling;
pub mod health;
mod logging;
#[cfg(feature = "metrics")]
pub mod metrics;
#[doc(hidden)]
pub mod observation;
pub mod rate_limit;
pub mod request_id;
pub mod security_headers;
#[cfg(feature = "tracing")]
pub mod spans;
mod timeout;
mod tower_service;

pub use client_address::TrustProxy;
pub use concurrency_limit::{ConcurrencyLimit, with_concurrency_limit};
pub use cors::{CorsOptions, CorsOrigin, with_cors};
pub use error_handling::{create_error_handler, with_error_handling};
pub use logging::{AccessLog, with_logging};
#[cfg(feature = "metrics")]
pub use metrics::{Metrics, MetricsText, with_metrics};
pub use rate_limit::{RateLimit, RateLimiter, RequestLimit, RouteLimit, with_rate_limit};
pub use request_id::{RequestId, RequestIds, TraceContext, TraceParent, with_request_id};
pub use security_headers::SecurityHeaders;
#[cfg(feature = "tracing")]
pub use spans::{RequestSpans, with_tracing};
pub use timeout::{Timeout, with_timeout};
pub use tower_service::TowerService;

/// Items for the other stockade crates, without a stability guarantee.
#[doc(hidden)]
pub mod __internal {
    pub use crate::concurrency_limit::LimitsConcurrency;
    pub use crate::described::{is_any, unseen};
}

#[doc(hidden)]
pub mod client_address_internals {
    pub use super::client_address::{
        client_address, client_behind_local_peer, forwarded_host, is_trusted, trusted_proxies,
        warn_untrusted,
    };
}
