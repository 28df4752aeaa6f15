//! The route of a request, by its index in the map.

use stockade_core::Request;

use crate::app::App;
use crate::lookup::{find_route, is_preflight};

/// Returns the index of a request's route in the routes of the map. Returns
/// `None` for CORS preflights and for the fallback, which the map does not
/// list.
///
/// It uses the lookup for real requests, and calls nothing.
#[must_use]
pub fn asked_route(app: &App, mut request: Request) -> Option<usize> {
    if is_preflight(&request) {
        return None;
    }
    let route = find_route(&app.resolved, &mut request)?;
    (!app.resolved.routes.is_fallback(route)).then_some(route.index)
}
