//! The response to a store failure.

use stockade_core::endpoint_internals::Overloaded;
use stockade_errors::{ApiError, StoreError};

/// Creates the 503 for a store failure. The failure is already logged, at most
/// once a second, because a line for each request would add load.
#[cold]
pub(crate) fn unavailable(error: &StoreError) -> ApiError {
    ApiError::new(503, error.to_string()).with_source(Overloaded).with_header("Retry-After", "1")
}
