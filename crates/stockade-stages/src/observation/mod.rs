//! Observability of a request until the end of its response: its id, its access
//! log line, its metrics, its span.
//!
//! A router observes each request in a fixed stage. It therefore also sees
//! responses that bypass middleware: 404, 405, 413, 429 and preflights.
//! `with_logging` and `with_metrics` do the same for single routes and for
//! other hosts.
//!
//! # Beyond the spec
//! The specification defines only `withLogging`.

// Files:
// - `observers`: `Observers`, the observation settings of a router.
// - `request`: `Observation`, the observation of one request.
// - `access_log`: the line in the log.
// - `counted_body`: a response body with a byte count.
// - `tool_call`: the tool of a call, for its line and its counters.

mod access_log;
mod counted_body;
mod observers;
mod request;
mod tool_call;

pub(crate) use access_log::{AccessLogLine, Ending};
pub use observers::Observers;
pub use request::Observation;
pub use tool_call::{ToolClient, ToolLabels};
