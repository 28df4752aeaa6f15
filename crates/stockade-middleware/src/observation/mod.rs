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
//! use stockade_middleware::__internal::Observers;
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
