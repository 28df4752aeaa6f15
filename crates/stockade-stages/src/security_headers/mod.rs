//! The security headers of every response, including errors and preflights.
//!
//! [`SecurityHeaders`] is prepared once. Headers that a response sets itself
//! are not replaced.
//!
//! ```
//! use stockade::http::HeaderMap;
//! use stockade::middleware::SecurityHeaders;
//!
//! let prepared = SecurityHeaders::new().set("X-Frame-Options", "SAMEORIGIN")?.no_store();
//! let mut headers = HeaderMap::new();
//! prepared.apply(&mut headers);
//! assert_eq!(headers["x-frame-options"], "SAMEORIGIN");
//! assert_eq!(headers["x-content-type-options"], "nosniff");
//! assert_eq!(headers["cache-control"], "no-store");
//! # Ok::<(), stockade::ConfigError>(())
//! ```
// Spec: Response headers.

mod prepared;

pub use prepared::SecurityHeaders;
