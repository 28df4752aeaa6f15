//! Errors of stockade for clients and for programmers, without HTTP.
//!
//! - [`ApiError`] is an error response: a status, a message, details.
//!   [`ApiError::body`] decides what the client receives.
//! - [`ErrorKind`] is the kind of an error, such as a failed validation or a
//!   missing user.
//! - [`FieldError`] is the failure of one field of a request.
//! - [`ProblemBase`] resolves problem types to absolute URIs (RFC 9457).
//! - [`StoreError`] is the error of a store, such as a database that is down.
//! - [`ConfigError`] lists all configuration errors, each with its route, file
//!   and line.
//!
//! ```
//! use stockade::ApiError;
//!
//! let error = ApiError::not_found().with_message("no product 7");
//! assert_eq!(error.status(), 404);
//! assert_eq!(error.body(false).to_string(), r#"{"error":"no product 7"}"#);
//!
//! let secret = ApiError::new(500, "cannot reach db-7.internal");
//! assert_eq!(secret.body(false).to_string(), r#"{"error":"Internal Server Error"}"#);
//! ```
//!
//! This crate depends only on JSON. It does not contain HTTP code and does not
//! need a runtime.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Errors.

mod api_error;
mod config_error;
mod error_kind;
mod field_error;
#[doc(hidden)]
pub mod locks;
#[doc(hidden)]
pub mod panic;
mod problem;
#[cfg(feature = "random")]
#[doc(hidden)]
pub mod random;
mod setters;
#[doc(hidden)]
pub mod short_name;
mod sorting;
mod status;
mod store_error;

pub use api_error::{ApiError, BoxError, Shown};
pub use config_error::{ConfigError, ConfigIssue};
pub use error_kind::ErrorKind;
pub use field_error::{ErrorText, FieldError, ParamValue};
pub use problem::{InvalidProblemBase, ProblemBase};
pub use status::status_text;
pub use store_error::StoreError;

/// Items for the other crates of stockade, without a promise of stability.
#[doc(hidden)]
pub mod __internal {
    pub use crate::__setters as setters;
    pub use crate::sorting::sort_by;
}

#[doc(hidden)]
pub mod problem_internals {
    pub use crate::problem::{BLANK, TYPES, VALIDATION_FAILED, is_absolute, type_of_status};
}
