//! Middleware of the program that may set the user of a request, for tests.

use serde_json::Value;
use stockade_core::endpoint_internals::{UserAfter, user_after};
use stockade_core::{Endpoint, Middleware, Request, RouteDescription};
use stockade_map::Place;

use crate::app::App;
use crate::lookup::{find_route, is_preflight};

/// A middleware of the program that does not declare that it authenticates
/// users.
#[derive(Clone, Debug)]
pub struct OwnMiddleware {
    /// Its index in the middleware of the route.
    pub index: usize,
    /// Its name, or the path of its function.
    pub name: String,
    /// The source location that adds it.
    pub location: Option<Place>,
}

/// Returns such middleware of a route, by the index of the route in the map.
/// Omits middleware before an authentication, which replaces the user.
#[must_use]
pub fn own_middleware(app: &App, route: usize) -> Vec<OwnMiddleware> {
    let Some(route) = app.resolved.routes.all.get(route) else { return Vec::new() };
    let all = route.endpoint.middleware();
    let last = all.iter().rposition(|it| finds_user(&route.endpoint, it));
    let later = all.iter().enumerate().skip(last.map_or(0, |last| last + 1));
    later
        .filter(|(_, middleware)| middleware.is_own())
        .map(|(index, middleware)| OwnMiddleware {
            index,
            name: middleware.name().to_owned(),
            location: middleware.place().map(|(_, location)| location.into()),
        })
        .collect()
}

/// Returns true if the description of a middleware says that it authenticates
/// users.
fn finds_user(endpoint: &Endpoint, middleware: &Middleware) -> bool {
    let mut doc = RouteDescription::new(endpoint.method().clone(), Vec::new());
    middleware.describe(&mut doc);
    doc.has_found_user()
}

/// Runs one middleware of a request's route, and returns the user after it. The
/// request begins with the given user. Returns `None` for requests without a
/// route.
pub async fn found_user(
    app: &App,
    index: usize,
    user: Option<Value>,
    mut request: Request,
) -> Option<UserAfter> {
    if is_preflight(&request) {
        return None;
    }
    let route = find_route(&app.resolved, &mut request)?;
    Some(user_after(&route.endpoint, index, user, request).await)
}
