//! Spans of the crate `tracing`, one for each request, with the attribute names
//! of OpenTelemetry.
//!
//! ```
//! use stockade::Middleware;
//! use stockade::middleware::with_tracing;
//!
//! // RouterOptions::new().tracing(with_tracing().url_path(true))
//! let spans = with_tracing().on_span(|span, headers| {
//!     // Continue the trace of another service: call `span.set_parent(…)` of the
//!     // crate `tracing-opentelemetry` with the data of the headers.
//!     # let _ = (span, headers);
//! });
//! # let _ = Middleware::new(spans);
//! ```
//!
//! # The span
//!
//! It has the level `INFO`, the target `stockade::request` and the name `HTTP
//! request`. It begins before any response is produced and ends with the last
//! byte of the response. All logs during that time are part of it: middleware,
//! extractors and handler run within the span, and so do response streams. The
//! log lines of stockade itself, which use the crate `log`, are part of it if
//! the subscriber collects them, as `tracing_subscriber::fmt` does. Spawned
//! tasks are not part of it unless you instrument them with the span
//! (`tracing::Instrument`).
//!
//! | field | value |
//! |---|---|
//! | `otel.name` | method and pattern, such as `GET /users/:id`; only the method if no route matches |
//! | `otel.kind` | `server` |
//! | `http.request.method` | the method; `_OTHER` for a non-standard method |
//! | `http.request.method_original` | the method as it was sent, if that is `_OTHER` |
//! | `http.route` | the pattern of the route |
//! | `http.response.status_code` | the status |
//! | `url.scheme` | `https` on a TLS connection of this server, otherwise `http` |
//! | `url.path` | the path, only with [`url_path`](RequestSpans::url_path) |
//! | `server.address`, `server.port` | from the authority of the request, or its `Host` |
//! | `client.address` | the client's address, also behind trusted proxies |
//! | `network.protocol.version` | `1.1`, `2` |
//! | `user_agent.original` | `User-Agent`, only with [`user_agent`](RequestSpans::user_agent) |
//! | `error.type` | the status of a 5xx; `aborted` if the client did not receive the whole response |
//! | `otel.status_code` | `ERROR` for a 5xx and for a response that ended with an error |
//! | `request_id` | the request id |
//! | `trace_id` | the id in a valid `traceparent` |
//!
//! An unknown field is absent. Queries, other headers and bodies are not
//! recorded, and the path and `User-Agent` are recorded only if you enable
//! them: they may contain secrets and personal names.
//!
//! The span of a WebSocket covers its handshake, and ends with the 101. A
//! session may last for days, so it does not have a span. To create one, use
//! `async { … }.instrument(span).await` as the body of the handler.
//!
//! # Performance
//!
//! Spans cost nothing unless the feature `tracing` and the option of the router
//! are both on. If both are on but no subscriber accepts the span, a request
//! costs two comparisons.
//!
//! # Beyond the spec
//! The specification does not define spans. Source: OpenTelemetry, semantic
//! conventions for HTTP spans, the stable attributes.

// Files:
// - `fields`: the values of the fields.
// - `request_spans`: `with_tracing` and `RequestSpans`.
// - `span`: the span of one request, which an observation holds.

mod fields;
mod request_spans;
mod span;

pub use request_spans::{RequestSpans, with_tracing};
pub(crate) use span::RequestSpan;
