//! The lookup of the route of a request, with the checks for valid requests.
//!
//! Hot: [`find_route`] allocates nothing for up to eight parameters.

use std::sync::Arc;

use http::{HeaderValue, Method, header};
use stockade_core::__internal::Params;
use stockade_core::Request;
use stockade_core::endpoint_internals::EndpointKind;
use stockade_core::upgrade::Upgrade;
use stockade_map::TrailingSlash;
use stockade_path::__internal::find_control_escape;
use stockade_path::SPLAT;
use stockade_path::spelling::{Spelling, without_detours};
use stockade_stages::cors::policy_internals::{self, Cors};
use stockade_websockets::handshake::wants_web_socket;

use crate::app::Resolved;
use crate::matcher::Table;
use crate::no_route::{has_answer, has_other_answer};
use crate::route::Route;
use crate::sites::Sites;
use crate::table_set::TableSet;
use crate::trailing_slash::location_of;

/// A route and the parameters in the path of a request.
pub(crate) type RouteMatch<'r> = (&'r Arc<Route>, Params);

/// The result of a lookup.
pub(crate) enum LookUp<'r> {
    /// The route of the request.
    Found(&'r Arc<Route>, Params),
    /// A route matches the raw path, but the request gets a 400.
    Rejected,
    /// A route declares the other form of the path, with or without a trailing
    /// slash. The route is known if it has the method of the request.
    Redirected(Option<&'r Arc<Route>>, HeaderValue),
    /// No route matches the request.
    Missing,
}

/// Finds the route of a request and stores it in the request, which lets every
/// stage use its rules. It does not change anything else.
pub(crate) fn find_route<'r>(app: &'r Resolved, req: &mut Request) -> Option<&'r Arc<Route>> {
    if is_tunnel(req) {
        return None;
    }
    if app.routes.hosts.is_some() {
        return find_on_host(app, req);
    }
    let tables = &app.routes.site.tables;
    let found = match tables.web_sockets {
        None => find_exact(tables, req.method(), req.path()),
        Some(_) => find(tables, req, req.path()),
    };
    let (route, params) = match found {
        Some((route, params)) if is_plain(app, req, &params) => (route, params),
        found => match examine(app, req, found) {
            LookUp::Found(route, params) => (route, params),
            LookUp::Rejected | LookUp::Redirected(..) | LookUp::Missing => return None,
        },
    };
    put(app, req, route, params);
    Some(route)
}

/// The variant of [`find_route`] for a router with hosts.
#[inline(never)]
fn find_on_host<'r>(app: &'r Resolved, req: &mut Request) -> Option<&'r Arc<Route>> {
    match examine(app, req, None) {
        LookUp::Found(route, params) => {
            put(app, req, route, params);
            Some(route)
        }
        LookUp::Rejected | LookUp::Redirected(..) | LookUp::Missing => None,
    }
}

/// Sets the route of a request.
#[inline]
fn put(app: &Resolved, req: &mut Request, route: &Route, params: Params) {
    // The route's own limit has precedence.
    let max_body = route.endpoint.max_body().unwrap_or(app.max_body);
    req.set_route(Arc::clone(route.endpoint.context()), params, app.settings, max_body);
}

/// Looks up a request, which must not be a request for a tunnel.
pub(crate) fn look_up<'r>(app: &'r Resolved, req: &Request) -> LookUp<'r> {
    examine(app, req, None)
}

/// Returns true if the parameters of a route do not need decoding, which is the
/// usual case.
#[inline]
fn is_plain(app: &Resolved, req: &Request, params: &Params) -> bool {
    // The text of a route is valid, because it was checked when the route was
    // declared.
    params.is_empty()
        || !app.routes.has_ambiguous_raw_paths && soundness(req.path()) == Soundness::Plain
}

/// Finds the route of another method, of a preflight, or the fallback if no
/// route was found. Also finds other routes of the path.
#[cold]
fn examine<'r>(app: &'r Resolved, req: &Request, found: Option<RouteMatch<'r>>) -> LookUp<'r> {
    let (path, sites) = (req.path(), &Sites::of(app, req));
    if sites.is_contradictory() {
        return LookUp::Rejected;
    }
    // An equal form of the path may match a better route.
    let found = found.filter(|_| !sites.has_spellings());
    let found = found.or_else(|| sites.search(None, path, &|tables, path| find(tables, req, path)));
    let found = found.or_else(|| find_for_preflight(app, sites, None, req, path));
    let Some((route, params)) = found else {
        return match find_redirect(sites, req) {
            Some((route, location)) => LookUp::Redirected(route, location),
            None => fallback_for(sites, req),
        };
    };
    let is_rejected = !is_plain(app, req, &params)
        && (soundness(path) == Soundness::Malformed || is_shared(app, sites, req, route, &params));
    if is_rejected { LookUp::Rejected } else { LookUp::Found(route, params) }
}

/// Returns true if the path of a request also matches another route.
#[cold]
fn is_shared(
    app: &Resolved,
    sites: &Sites<'_>,
    req: &Request,
    route: &Arc<Route>,
    params: &Params,
) -> bool {
    is_ambiguous(sites, req.path(), route, params, &|spelling, path| {
        let found = sites.search(spelling, path, &|tables, path| find(tables, req, path));
        let found = found.or_else(|| find_for_preflight(app, sites, spelling, req, path));
        found.map(|(route, _)| route.index)
    })
}

/// Returns the redirect of a request without a route: the address of the other
/// form of its path, and the route that declares it, if the route has the
/// method of the request.
#[cold]
pub(crate) fn find_redirect<'r>(
    sites: &Sites<'r>,
    req: &Request,
) -> Option<(Option<&'r Arc<Route>>, HeaderValue)> {
    let (routes, path) = (sites.routes(), req.path());
    if routes.trailing_slash != TrailingSlash::Redirect || is_preflight(req) || !is_sound(path) {
        return None;
    }
    let route = sites.search_other(path, &|tables, path| find(tables, req, path));
    let is_declared =
        route.is_some() || !has_answer(sites, req, None, path) && has_other_answer(sites, req);
    is_declared.then(|| location_of(req)).flatten().map(|it| (route.map(|(route, _)| route), it))
}

/// Looks up a request without a route for the fallback, unless it gets a
/// response without a route: a preflight, a wrong method, or a path that no
/// route can have.
#[cold]
fn fallback_for<'r>(sites: &Sites<'r>, req: &Request) -> LookUp<'r> {
    let (routes, path) = (sites.routes(), req.path());
    let Some(fallback) = &routes.fallback else { return LookUp::Missing };
    if is_preflight(req) || !is_sound(path) || has_answer(sites, req, None, path) {
        return LookUp::Missing;
    }
    // A fallback may decode the path, like a mount at the root.
    let has_route = |spelling, path: &str| {
        let found = sites.search(spelling, path, &|tables, path| find(tables, req, path));
        found.is_some() || has_answer(sites, req, spelling, path)
    };
    if path.contains('%') && has_other_path(sites, path, Some(1), &has_route) {
        return LookUp::Rejected;
    }
    LookUp::Found(fallback, Params::default())
}

/// Returns the route of any method for a preflight to which no CORS rules
/// respond.
#[cold]
fn find_for_preflight<'r>(
    app: &Resolved,
    sites: &Sites<'r>,
    spelling: Option<Spelling>,
    req: &Request,
    path: &str,
) -> Option<RouteMatch<'r>> {
    let has_rules = || app.stages.cors.is_some() || asked_cors(app, sites, req).is_some();
    if !is_preflight(req) || has_rules() {
        return None;
    }
    sites.search(spelling, path, &find_any)
}

/// Returns true if a program that decodes the path of a request would see the
/// path of another route. That route may have a guard. `find` looks up a path.
///
/// A parameter stays one value: only its unreserved characters are decoded. The
/// service behind a mount or a wildcard may decode everything, even twice, and
/// may remove empty segments, `.`, `..`, and a decoded trailing slash.
#[cold]
pub(crate) fn is_ambiguous(
    sites: &Sites<'_>,
    path: &str,
    route: &Arc<Route>,
    params: &Params,
    find: Find<'_>,
) -> bool {
    let has_escape = path.contains('%');
    let may_be_ambiguous = has_escape
        || route.endpoint.kind() == EndpointKind::Mount && path.contains("//")
        || sites.has_spellings() && !path.is_ascii();
    if params.is_empty() || !may_be_ambiguous {
        return false;
    }
    let is_another =
        |spelling, path: &str| find(spelling, path).is_some_and(|other| other != route.index);
    has_other_path(sites, path, params.start(SPLAT), &is_another)
}

/// A function that returns the index of the route that matches a path in a
/// spelling.
pub(crate) type Find<'f> = &'f dyn Fn(Option<Spelling>, &str) -> Option<usize>;

/// Returns true if `is_another` returns true for another spelling of a path.
/// The wildcard of the path begins at `rest` if it has one.
fn has_other_path(
    sites: &Sites<'_>,
    path: &str,
    rest: Option<usize>,
    is_another: &dyn Fn(Option<Spelling>, &str) -> bool,
) -> bool {
    let differs = |spelling, other: &str| {
        // If no text has other spellings, the tables are the same.
        let is_known = !sites.has_spellings() && other == path;
        !is_known && is_another(Some(spelling), other)
    };
    if differs(Spelling::Unreserved, &Spelling::Unreserved.of(path)) {
        return true;
    }
    let parts = rest.and_then(|start| path.split_at_checked(start));
    parts.is_some_and(|(before, rest)| {
        [Spelling::Once, Spelling::Twice].into_iter().any(|spelling| {
            let (before, rest) = (spelling.of(before), spelling.of(rest));
            let whole = format!("{before}{rest}");
            let clean = [
                format!("{before}{}", without_detours(&rest)),
                format!("/{}", without_detours(&whole)),
            ];
            // Removes only an encoded slash, because a path with a trailing
            // slash is a different path.
            let without_slash = |clean: &String| {
                let bare = clean.strip_suffix('/').filter(|bare| bare.len() > before.len());
                !path.ends_with('/') && bare.is_some_and(|bare| differs(spelling, bare))
            };
            differs(spelling, &whole)
                || clean.iter().any(|clean| differs(spelling, clean) || without_slash(clean))
        })
    })
}

/// Returns the CORS rules of the route that a preflight requests, if it has its
/// own rules.
fn asked_cors<'r>(app: &Resolved, sites: &Sites<'r>, req: &Request) -> Option<&'r Arc<Cors>> {
    if !app.routes.has_own_cors {
        return None;
    }
    asked_route(sites, req)?.cors.as_ref()
}

/// Returns the route with the CORS rules for a preflight: the requested route,
/// or the fallback.
#[cold]
pub(crate) fn asked_route<'r>(sites: &Sites<'r>, req: &Request) -> Option<&'r Arc<Route>> {
    let asked = |tables, path: &str| find_asked(tables, req, path);
    let routes = sites.routes();
    let mut found = sites.search(None, req.path(), &asked);
    if routes.trailing_slash == TrailingSlash::Redirect {
        found = found.or_else(|| sites.search_other(req.path(), &asked));
    }
    if let Some((route, _)) = found {
        return Some(route);
    }
    let fallback = routes.fallback.as_ref()?;
    (!has_answer(sites, req, None, req.path())).then_some(fallback)
}

/// Returns the route that a preflight requests.
pub(crate) fn find_asked<'r>(
    tables: &'r TableSet,
    req: &Request,
    path: &str,
) -> Option<RouteMatch<'r>> {
    let asked = req.headers().get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    let asked = Method::from_bytes(asked.as_bytes()).ok()?;
    let found = find_exact(tables, &asked, path);
    found.or_else(|| match asked {
        Method::HEAD => find_exact(tables, &Method::GET, path),
        _ => None,
    })
}

/// Returns true for a CORS preflight.
pub(crate) fn is_preflight(req: &Request) -> bool {
    policy_internals::is_preflight(req.method(), req.headers())
}

/// Returns true for a CONNECT that requests a tunnel.
pub(crate) fn is_tunnel(req: &Request) -> bool {
    *req.method() == Method::CONNECT && !is_extended_connect(req)
}

/// Returns true for the CONNECT that opens a WebSocket on HTTP/2. Only a host
/// can determine this.
fn is_extended_connect(req: &Request) -> bool {
    req.extensions().get().copied().is_some_and(Upgrade::is_extended_connect)
}

/// The validity of a path.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Soundness {
    /// It does not need decoding.
    Plain,
    /// It contains escapes.
    Escaped,
    /// It must not be matched: it does not begin with a slash, or contains a
    /// backslash or a control character, also as `%0A`. No legitimate path
    /// does.
    Malformed,
}

/// Returns true if the path may be matched at all.
pub(crate) fn is_sound(path: &str) -> bool {
    soundness(path) != Soundness::Malformed
}

#[inline]
fn soundness(path: &str) -> Soundness {
    // `http` rejects all control characters except DEL in a path.
    let odd = memchr::memchr3(b'\\', DEL, b'%', path.as_bytes());
    match odd {
        _ if !path.starts_with('/') => Soundness::Malformed,
        Some(at) => soundness_of(&path[at..]),
        None => Soundness::Plain,
    }
}

#[cold]
fn soundness_of(path: &str) -> Soundness {
    let is_odd = |byte: u8| byte == b'\\' || byte.is_ascii_control();
    match path.bytes().any(is_odd) || find_control_escape(path).is_some() {
        true => Soundness::Malformed,
        false => Soundness::Escaped,
    }
}

/// The only control character that `http` accepts in a path.
const DEL: u8 = 0x7F;

/// Returns the route of a request. HEAD falls back to GET. OPTIONS falls back
/// to a route of any method unless it is a preflight.
///
/// A handshake uses the WebSocket of the path, if it has one. So does a GET
/// without another route, because the WebSocket's error describes a valid
/// handshake.
pub(crate) fn find<'r>(tables: &'r TableSet, req: &Request, path: &str) -> Option<RouteMatch<'r>> {
    let method = req.method();
    if let Some(web_sockets) = &tables.web_sockets
        && matches!(*method, Method::GET | Method::CONNECT)
        && wants_web_socket(req)
        && let Some(found) = find_in(web_sockets, path)
    {
        return Some(found);
    }
    find_exact(tables, method, path).or_else(|| find_otherwise(tables, req, path))
}

/// Returns the route of a request if its own method has no route.
#[cold]
fn find_otherwise<'r>(tables: &'r TableSet, req: &Request, path: &str) -> Option<RouteMatch<'r>> {
    match *req.method() {
        Method::GET => find_in(tables.web_sockets.as_ref()?, path),
        Method::HEAD => find_exact(tables, &Method::GET, path)
            .or_else(|| find_in(tables.web_sockets.as_ref()?, path)),
        Method::OPTIONS if !is_preflight(req) => find_any(tables, path),
        _ => None,
    }
}

/// Returns the route of any method that matches a path.
pub(crate) fn find_any<'r>(tables: &'r TableSet, path: &str) -> Option<RouteMatch<'r>> {
    find_in(tables.methods.any()?, path)
}

pub(crate) fn find_exact<'r>(
    tables: &'r TableSet,
    method: &Method,
    path: &str,
) -> Option<RouteMatch<'r>> {
    find_in(tables.methods.get(method)?, path)
}

pub(crate) fn find_in<'r>(table: &'r Table<Arc<Route>>, path: &str) -> Option<RouteMatch<'r>> {
    let found = table.find(path)?;
    Some((found.value, Params::new(found.names, found.spans)))
}
