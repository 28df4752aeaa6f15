//! Spans of the crate `tracing`, one for each request, with the names that
//! OpenTelemetry gives to what is recorded of a request.
//!
//! ```
//! use stockade::Middleware;
//! use stockade::middleware::with_tracing;
//!
//! // RouterOptions::new().tracing(with_tracing().url_path(true))
//! let spans = with_tracing().on_span(|span, headers| {
//!     // Where a trace of another service goes on: `span.set_parent(…)` of the
//!     // crate `tracing-opentelemetry`, by what the headers say.
//!     # let _ = (span, headers);
//! });
//! # let _ = Middleware::new(spans);
//! ```
//!
//! # The span
//!
//! It has the level `INFO`, the target `stockade::request` and the name `HTTP
//! request`. It begins before anything of the request is answered and ends with
//! the last byte of the answer. What the program logs meanwhile is part of it:
//! middleware, extractors and handler run within the span, and so do streams of
//! the answer. The lines of stockade itself, which go to the crate `log`, are
//! part of it where the subscriber takes them, as `tracing_subscriber::fmt` does.
//! Tasks that a handler spawns are not part of it, unless they are given the
//! span (`tracing::Instrument`).
//!
//! | field | value |
//! |---|---|
//! | `otel.name` | method and pattern, such as `GET /users/:id`; the method alone without a route |
//! | `otel.kind` | `server` |
//! | `http.request.method` | the method; `_OTHER` for one that is not in a standard |
//! | `http.request.method_original` | the method as it was sent, where that is `_OTHER` |
//! | `http.route` | the pattern of the route |
//! | `http.response.status_code` | the status |
//! | `url.scheme` | `https` on a TLS connection of this server, otherwise `http` |
//! | `url.path` | the path, with [`url_path`](RequestSpans::url_path) alone |
//! | `server.address`, `server.port` | of the authority of the request, or its `Host` |
//! | `client.address` | the address of the client, also behind trusted proxies |
//! | `network.protocol.version` | `1.1`, `2` |
//! | `user_agent.original` | `User-Agent`, with [`user_agent`](RequestSpans::user_agent) alone |
//! | `error.type` | the status of a 5xx; `aborted` where the client has not got the whole answer |
//! | `otel.status_code` | `ERROR` for a 5xx and for an answer that broke off |
//! | `request_id` | the id of the request |
//! | `trace_id` | the id in a valid `traceparent` |
//!
//! A field that is not known is absent. Queries, other headers and bodies are
//! not recorded, and path and `User-Agent` only when they are asked for: they
//! may hold secrets and names of people.
//!
//! The span of a WebSocket is that of its handshake, and ends with the 101. A
//! session may last for days, so that it has no span of its own; a handler that
//! wants one makes it, and its body is `async { … }.instrument(span).await`.
//!
//! # What it costs
//!
//! Without the feature `tracing` nothing. With it, a router without the option
//! pays nothing either, and one with the option two comparisons while no
//! subscriber wants the span.
//!
//! # Beyond the spec
//! The specification has no spans. Source: OpenTelemetry, semantic conventions
//! for HTTP spans, the stable attributes.

// Where things are:
// - `fields`: the values of the fields.
// - `request_spans`: `with_tracing` and `RequestSpans`.
// - `span`: the span of one request, which an observation holds.

mod fields;
mod request_spans;
mod span;

pub use request_spans::{RequestSpans, with_tracing};
pub(crate) use span::RequestSpan;
