//! The route of a request, as the map has it.

use stockade_core::Request;

use crate::app::App;
use crate::lookup::{find_route, is_preflight};

/// Returns the index, in the routes of the map, of the route that takes a
/// request. There is none for CORS preflights and for the fallback, which no map
/// lists.
///
/// It goes through the look-up of real requests, and calls nothing.
#[must_use]
pub fn asked_route(app: &App, mut request: Request) -> Option<usize> {
    if is_preflight(&request) {
        return None;
    }
    let route = find_route(&app.resolved, &mut request)?;
    (!app.resolved.routes.is_fallback(route)).then_some(route.index)
}
