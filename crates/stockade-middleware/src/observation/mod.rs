//! What is noted of a request from its beginning to the end of its answer: its
//! name, its line in the access log, its part in the metrics.
//!
//! A router does it as a fixed stage, so that no answer is missed: neither 404,
//! 405, 413 and 429 nor preflights, for which no middleware runs.
//! [`with_logging`](crate::with_logging) and `with_metrics` do the same for
//! single routes and for other hosts.
//!
//! ```
//! use stockade_core::{Request, Response};
//! use stockade_middleware::observation::Observers;
//! use stockade_middleware::with_request_id;
//!
//! let observers = Observers::new(Some(with_request_id()), false);
//! let sent = http::Request::get("/").header("x-request-id", "7f3a").body(()).unwrap();
//! let mut req = Request::from(sent);
//! let observation = observers.enter(&mut req);
//! assert_eq!(req.id(), Some("7f3a"));
//!
//! let mut response = Response::default();
//! observation.name(response.headers_mut());
//! assert_eq!(response.headers()["x-request-id"], "7f3a");
//! observation.leave(&mut response);
//! ```
//!
//! # The line
//!
//! One for each request, at info level under the target `stockade::access`.
//!
//! | key | value |
//! |---|---|
//! | `method` | as it was sent |
//! | `route` | the pattern, such as `/users/:id`, and never the path |
//! | `status` | of the answer |
//! | `duration_us` | microseconds until the last byte of the answer was handed over |
//! | `bytes` | of the answer's body that were handed over |
//! | `client` | the address, behind trusted proxies that of the client |
//! | `request_id` | the name of the request |
//! | `trace_id` | of a valid `traceparent` |
//! | `aborted` | true where the client left before it had the whole answer, or the answer broke off |
//!
//! What is not known, or is not so, is null. Paths, queries, headers and bodies
//! are not logged: they may hold secrets. For an answer that is whole when it
//! is made the line is written then; for a stream, when it ends.
//!
//! # Where things are
//!
//! - `observers`: [`Observers`], what a router has.
//! - `request`: [`Observation`], what is noted of one request.
//! - `access_log`: the line in the log.
//! - `counted_body`: the body of an answer, with its bytes counted.
//!
//! # Beyond the spec
//! The specification has none of it but `withLogging`.

mod access_log;
mod counted_body;
mod observers;
mod request;

pub(crate) use access_log::AccessLogLine;
pub use observers::Observers;
pub use request::Observation;
