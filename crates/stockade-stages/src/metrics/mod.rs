//! Request metrics as text for Prometheus.
//!
//! | metric | kind | labels |
//! |---|---|---|
//! | `http_requests_total` | counter | method, route, status |
//! | `http_rejections_total` | counter | method, route, reason |
//! | `http_request_duration_seconds` | histogram | method, route |
//! | `http_requests_in_flight` | gauge | method, route |
//! | `stockade_connections`, `stockade_connections_limit` | gauge | |
//! | `stockade_websockets`, `stockade_websockets_limit` | gauge | |
//!
//! `route` is the pattern, such as `/users/:id`. It is never a path, so clients
//! cannot create labels; a request without a route has `(none)`. `reason` is
//! `bad_request`, `validation`, `unauthorized`, `forbidden`, `not_found`,
//! `method_not_allowed`, `timeout` (408, or the `timeout` of a route),
//! `conflict`, `precondition_failed`, `body_too_large`,
//! `unsupported_media_type`, `rate_limit`, `headers_too_large`, `other` (any
//! other 4xx) or `server_error`. A request is in flight until the end of its
//! response body. Its duration ends with the head of its response. The last four
//! metrics exist only on the built-in server, and if the router may have
//! WebSocket routes.
//!
//! A call of a tool for AI agents is also counted with the label `tool`, under
//! the method and the route of the tool. Its request is counted under the route
//! of the endpoint, without this label.
//!
//! [`Metrics::add_source`] adds the metrics of other parts of a program, such
//! as a connection to Redis.
//!
//! ```
//! use std::time::Duration;
//!
//! use stockade::http::{Method, StatusCode};
//! use stockade::middleware::{Metrics, with_metrics};
//! use stockade::{Handler, Middleware};
//!
//! let metrics = Metrics::new();
//! let (counts, shows) = (Middleware::new(with_metrics(metrics.clone())), Handler::new(metrics.handler()));
//! # let _ = (counts, shows);
//! metrics.observe(&Method::GET, None, StatusCode::NOT_FOUND, Duration::from_millis(2));
//! let line = r#"http_rejections_total{method="GET",route="(none)",reason="not_found"} 1"#;
//! assert!(metrics.text().contains(line));
//! ```
//!
//! # Beyond the spec
//! The specification does not define metrics. Source: Prometheus text format,
//! version 0.0.4.

// Files:
// - `registry`: `Metrics`; the counting, without locks.
// - `reason`: the reasons for rejections.
// - `series`: the counters of one method and route.
// - `exposition`: the text that Prometheus reads.
// - `source`: metrics of other parts of the program.
// - `usage`: connections and WebSockets, with their limits.
// - `with_metrics`: `with_metrics`.

mod exposition;
mod reason;
mod registry;
mod series;
mod source;
mod usage;
mod with_metrics;

pub(crate) use reason::Reason;
pub(crate) use registry::InFlight;
pub use registry::{Metrics, MetricsText};
pub(crate) use series::tool_series;
pub use source::{HistogramValue, MetricsSource, MetricsWriter};
#[doc(hidden)]
pub use usage::Resource;
pub use with_metrics::with_metrics;
