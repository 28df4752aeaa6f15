//! The route of a request, and the requests that may have one.
//!
//! Hot: [`find_route`] allocates nothing for up to eight parameters.

use std::sync::Arc;

use http::{Method, header};
use stockade_core::__internal::{Params, RequestExt as _};
use stockade_core::upgrade::Upgrade;
use stockade_core::{Endpoint, Request};
use stockade_middleware::__internal::{self, Cors};
use stockade_websockets::__internal::wants_web_socket;

use crate::app::{Resolved, RouteSet};
use crate::matcher::Table;
use crate::no_route::has_answer;

/// Finds the route of a request and puts it there, so that every stage can go by
/// its rules. Nothing else happens yet.
pub(crate) fn find_route(app: &Resolved, req: &mut Request) -> Option<Arc<Endpoint>> {
    if is_tunnel(req) {
        return None;
    }
    let found = find(&app.routes, req, req.path());
    let Some((endpoint, params)) = found.or_else(|| find_for_preflight(app, req)) else {
        return fallback_for(app, req);
    };
    // The text of a route is sound: it was checked when the route was declared.
    if !params.is_empty() && !is_sound(req.path()) {
        return None;
    }
    // A limit of the route itself is stronger than any other.
    let max_body = endpoint.max_body().unwrap_or(app.max_body);
    req.set_route(Arc::clone(&endpoint), params, app.settings, max_body);
    Some(endpoint)
}

/// Puts a request that no route takes on the fallback, unless it has an answer
/// without one: a preflight, a wrong method, a path that no route could have.
#[cold]
fn fallback_for(app: &Resolved, req: &mut Request) -> Option<Arc<Endpoint>> {
    let routes = &*app.routes;
    let endpoint = routes.fallback.as_ref()?;
    if is_preflight(req) || !is_sound(req.path()) || has_answer(routes, req) {
        return None;
    }
    let endpoint = Arc::clone(endpoint);
    let max_body = endpoint.max_body().unwrap_or(app.max_body);
    req.set_route(Arc::clone(&endpoint), Params::default(), app.settings, max_body);
    Some(endpoint)
}

/// Returns the route of any method for a preflight that no rules of CORS answer.
#[cold]
fn find_for_preflight(app: &Resolved, req: &Request) -> Option<(Arc<Endpoint>, Params)> {
    let has_rules = || app.stages.cors.is_some() || asked_cors(&app.routes, req).is_some();
    if !is_preflight(req) || has_rules() {
        return None;
    }
    find_any(&app.routes, req.path())
}

/// Returns the rules of CORS of the route that a preflight asks about, if it has
/// its own.
pub(crate) fn asked_cors<'r>(routes: &'r RouteSet, req: &Request) -> Option<&'r Arc<Cors>> {
    if !routes.has_own_cors() {
        return None;
    }
    let asked = find_asked(routes, req).map(|(endpoint, _)| endpoint);
    let fallback = || routes.fallback.clone().filter(|_| !has_answer(routes, req));
    routes.cors_of(&asked.or_else(fallback)?)
}

/// Returns the headers that pages may send to the route that a preflight asks about,
/// beside those of CORS.
pub(crate) fn asked_headers(routes: &RouteSet, req: &Request) -> &'static [&'static str] {
    let known = &routes.page_headers;
    if known.is_empty() {
        return &[];
    }
    let asked = find_asked(routes, req).and_then(|(endpoint, _)| {
        let wanted = Arc::as_ptr(&endpoint);
        known.binary_search_by_key(&wanted, |(known, _)| Arc::as_ptr(known)).ok()
    });
    asked.map_or(&[], |index| known[index].1)
}

/// Returns the route that a preflight asks about.
pub(crate) fn find_asked(routes: &RouteSet, req: &Request) -> Option<(Arc<Endpoint>, Params)> {
    let asked = req.headers().get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    let asked = Method::from_bytes(asked.as_bytes()).ok()?;
    let found = find_exact(routes, &asked, req.path());
    found.or_else(|| match asked {
        Method::HEAD => find_exact(routes, &Method::GET, req.path()),
        _ => None,
    })
}

/// Returns true for a CORS preflight.
pub(crate) fn is_preflight(req: &Request) -> bool {
    __internal::is_preflight(req.method(), req.headers())
}

/// Returns true for a CONNECT that asks for a tunnel.
pub(crate) fn is_tunnel(req: &Request) -> bool {
    *req.method() == Method::CONNECT && !is_extended_connect(req)
}

/// Returns true for the CONNECT that opens a WebSocket on HTTP/2, which only a
/// host can say.
fn is_extended_connect(req: &Request) -> bool {
    req.extensions().get().copied().is_some_and(Upgrade::is_extended_connect)
}

/// Returns true if the path may be matched at all.
///
/// A backslash or a control character, also as `%0A`, is never part of a path
/// that means well.
pub(crate) fn is_sound(path: &str) -> bool {
    // `http` takes no other control character than DEL for a part of a path.
    let odd = memchr::memchr3(b'\\', DEL, b'%', path.as_bytes());
    path.starts_with('/') && odd.is_none_or(|at| means_well(&path[at..]))
}

#[cold]
fn means_well(path: &str) -> bool {
    !path.bytes().any(|byte| byte == b'\\' || byte.is_ascii_control())
        && stockade_path::__internal::find_control_escape(path).is_none()
}

/// The one control character that `http` takes in a path.
const DEL: u8 = 0x7F;

/// Returns the route of a request; HEAD falls back to GET, OPTIONS to a route of
/// any method unless it is a preflight.
///
/// A handshake goes to the WebSocket of the path, if it has one; so does a GET
/// that nothing else takes, to be told the right form of a handshake.
pub(crate) fn find(
    routes: &RouteSet,
    req: &Request,
    path: &str,
) -> Option<(Arc<Endpoint>, Params)> {
    let method = req.method();
    if let Some(web_sockets) = &routes.web_sockets
        && matches!(*method, Method::GET | Method::CONNECT)
        && wants_web_socket(req)
        && let Some(found) = find_in(web_sockets, path)
    {
        return Some(found);
    }
    find_exact(routes, method, path).or_else(|| find_otherwise(routes, req, path))
}

/// Returns the route of a request whose own method has none.
#[cold]
fn find_otherwise(routes: &RouteSet, req: &Request, path: &str) -> Option<(Arc<Endpoint>, Params)> {
    match *req.method() {
        Method::GET => find_in(routes.web_sockets.as_ref()?, path),
        Method::HEAD => find_exact(routes, &Method::GET, path)
            .or_else(|| find_in(routes.web_sockets.as_ref()?, path)),
        Method::OPTIONS if !is_preflight(req) => find_any(routes, path),
        _ => None,
    }
}

/// Returns the route of any method that has a path.
pub(crate) fn find_any(routes: &RouteSet, path: &str) -> Option<(Arc<Endpoint>, Params)> {
    find_in(routes.tables.any()?, path)
}

pub(crate) fn find_exact(
    routes: &RouteSet,
    method: &Method,
    path: &str,
) -> Option<(Arc<Endpoint>, Params)> {
    find_in(routes.tables.get(method)?, path)
}

pub(crate) fn find_in(table: &Table<Arc<Endpoint>>, path: &str) -> Option<(Arc<Endpoint>, Params)> {
    let found = table.find(path)?;
    Some((Arc::clone(found.value), Params::new(found.names, found.spans)))
}
