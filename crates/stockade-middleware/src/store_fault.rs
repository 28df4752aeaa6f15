//! The response for a store that fails.

use stockade_core::endpoint_internals::Overloaded;
use stockade_errors::{ApiError, StoreError};

/// Makes the 503 for the failure of a store that is logged already, at most once a
/// second. One line for each request would be more load.
#[cold]
pub(crate) fn unavailable(error: &StoreError) -> ApiError {
    ApiError::new(503, error.to_string()).with_source(Overloaded).with_header("Retry-After", "1")
}
