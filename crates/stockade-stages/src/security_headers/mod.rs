//! The security headers of every response, errors and preflights included.
//!
//! [`SecurityHeaders`] is prepared once. A response keeps each header that it
//! has set itself.
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
//!
//! Spec: Response headers.

mod prepared;

pub use prepared::SecurityHeaders;
