//! Observation of a request from its beginning to the end of its response: its
//! id, its line in the access log, its part in the metrics, its span.
//!
//! A router observes each request in a fixed stage, so that no response is
//! missed: neither 404, 405, 413 and 429 nor preflights, for which no
//! middleware runs. `with_logging` and `with_metrics` do
//! the same for single routes and for other hosts.
//!
//! # Beyond the spec
//! The specification has `withLogging` and nothing else of this.

// Where things are:
// - `observers`: `Observers`, the observation that a router is set to.
// - `request`: `Observation`, the observation of one request.
// - `access_log`: the line in the log.
// - `counted_body`: the body of a response, whose bytes are counted.

mod access_log;
mod counted_body;
mod observers;
mod request;

pub(crate) use access_log::{AccessLogLine, Ending};
pub use observers::Observers;
pub use request::Observation;
