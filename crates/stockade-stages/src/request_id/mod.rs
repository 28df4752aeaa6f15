//! Request ids for requests, responses and logs, and distributed tracing.
//!
//! ```
//! use stockade::middleware::{RequestId, TraceContext, with_request_id};
//! use stockade::{Handler, Middleware};
//!
//! async fn show(id: RequestId, trace: TraceContext) -> String {
//!     format!("{id} in {:?}", trace.parent().map(|parent| parent.trace_id()))
//! }
//! # let _ = Handler::new(show);
//! assert_eq!(Middleware::new(with_request_id()).name(), "with_request_id");
//! ```
//!
//! # Beyond the spec
//! The specification does not define request ids. Source: W3C Trace Context,
//! level 1.

// Files:
// - `id`: `RequestId`.
// - `trace`: `TraceParent` and `TraceContext`.
// - `with_request_id`: `with_request_id`.

pub(crate) mod id;
pub(crate) mod trace;
mod with_request_id;

pub use id::RequestId;
pub(crate) use id::X_REQUEST_ID;
pub use trace::{TraceContext, TraceParent};
pub(crate) use with_request_id::RequestNames;
pub use with_request_id::{RequestIds, with_request_id};

#[doc(hidden)]
pub mod id_internals {
    pub use super::id::X_REQUEST_ID;
}

#[doc(hidden)]
pub mod trace_internals {
    pub use super::trace::TRACEPARENT;
}
