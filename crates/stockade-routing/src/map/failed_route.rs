//! The response of a route to an error, for tests of error formats.

use stockade_core::{Request, Response};
use stockade_errors::ApiError;

use crate::app::App;
use crate::lookup::{find_route, is_preflight};

/// Returns the response to an error that occurs before the middleware of a
/// request's route. Returns `None` for requests without a route.
///
/// It logs the error, and calls only the error handler of the route.
#[must_use]
pub fn failed_route(app: &App, mut request: Request, error: ApiError) -> Option<Response> {
    if is_preflight(&request) {
        return None;
    }
    find_route(&app.resolved, &mut request)?;
    Some(app.resolved.error_context(&request).answer(error))
}
