//! The responses to requests without a route: 204, 400, 404 and 405.

use std::sync::{Arc, LazyLock};

use http::{HeaderValue, Method, StatusCode, header};
use stockade_core::{ErrorContext, Request, Response};
use stockade_errors::ApiError;

use crate::app::{Resolved, RouteSet};
use crate::lookup::{LookUp, is_sound, is_tunnel, look_up};
use crate::matcher::Table;
use crate::route::Route;
use crate::sites::{Forms, Sites};
use crate::stages::RequestScope;
use crate::table_set::TableSet;
use crate::trailing_slash::redirect;
use stockade_path::spelling::Spelling;

/// Responds to a request without a route.
#[cold]
pub(crate) fn no_route(app: &Resolved, req: &Request, scope: &mut RequestScope) -> Response {
    let context = app.error_context(req);
    let routes = &*app.routes;
    if is_tunnel(req) {
        // Tunnels are not supported. The status is 405, because clients could
        // fill the error log with a 501.
        return not_allowed(&context, &methods_of_all(routes));
    }
    let path = req.path();
    if path == "*" && *req.method() == Method::OPTIONS {
        return allowed(&methods_of_all(routes));
    }
    if !is_sound(path) {
        return context.answer(ApiError::new(400, "Bad Request"));
    }
    match look_up(app, req) {
        LookUp::Rejected => context.answer(ApiError::new(400, "Bad Request")),
        LookUp::Redirected(route, location) => {
            // Other origins only follow a redirect if its CORS headers allow
            // it.
            if let Some(own) = route.and_then(|route| route.cors.as_ref()) {
                scope.follow(Arc::clone(own), req);
            }
            redirect(location)
        }
        LookUp::Found(..) | LookUp::Missing => unmatched(&Sites::of(app, req), req, &context),
    }
}

/// Responds if no route has this method and path.
#[cold]
pub(crate) fn unmatched(sites: &Sites<'_>, req: &Request, context: &ErrorContext) -> Response {
    let others = methods_at(sites, None, req.path());
    if !is_told_of(&others, sites.routes(), req) {
        return context.answer(NOT_FOUND.clone());
    }
    if *req.method() == Method::OPTIONS {
        return allowed(&others);
    }
    not_allowed(context, &others)
}

/// Returns true if the other form of a path, with or without a trailing slash,
/// has a response for a request without a route.
pub(crate) fn has_other_answer(sites: &Sites<'_>, req: &Request) -> bool {
    let mut others = Vec::new();
    for site in sites.iter() {
        let forms = Forms::of(site, None, req.path());
        others.extend(methods_of(&site.tables, |table| forms.has_other(table)));
    }
    is_told_of(&others, sites.routes(), req)
}

/// Returns true if the response to a request without a route lists the methods
/// of a path in a spelling.
pub(crate) fn has_answer(
    sites: &Sites<'_>,
    req: &Request,
    spelling: Option<Spelling>,
    path: &str,
) -> bool {
    is_told_of(&methods_at(sites, spelling, path), sites.routes(), req)
}

fn is_told_of(others: &[&str], routes: &RouteSet, req: &Request) -> bool {
    !others.is_empty() && (routes.method_not_allowed || *req.method() == Method::OPTIONS)
}

/// Returns the methods of a path in a spelling.
fn methods_at<'r>(sites: &Sites<'r>, spelling: Option<Spelling>, path: &str) -> Vec<&'r str> {
    let mut methods = Vec::new();
    for site in sites.iter() {
        let (tables, forms) = (site.get(spelling), Forms::of(site, spelling, path));
        let has = |table: &Table<Arc<Route>>| sites.has(&forms, table);
        methods.extend(methods_of(tables, has));
        if tables.web_sockets.as_ref().is_some_and(has) {
            methods.push("GET");
        }
    }
    methods
}

/// Cached, because many clients request unknown paths.
static NOT_FOUND: LazyLock<ApiError> = LazyLock::new(|| ApiError::new(404, "Not Found").repeated());

/// Returns the methods of all routes.
fn methods_of_all(routes: &RouteSet) -> Vec<&str> {
    routes.sites().flat_map(|site| methods_of(&site.tables, |_| true)).collect()
}

/// Returns the methods with a table for which `has` is true, or all usual
/// methods if a route of any method is among them.
fn methods_of(tables: &TableSet, has: impl Fn(&Table<Arc<Route>>) -> bool) -> Vec<&str> {
    let named = tables.methods.iter().filter(|(_, table)| has(table));
    let mut methods: Vec<&str> = named.map(|(method, _)| method.as_str()).collect();
    if tables.methods.any().is_some_and(has) {
        methods.extend(USUAL_ORDER);
    }
    methods
}

/// Returns a 405 with `Allow`.
fn not_allowed(context: &ErrorContext, methods: &[&str]) -> Response {
    let error = ApiError::new(405, "Method Not Allowed").with_header("allow", allow(methods));
    context.answer(error)
}

/// Returns a 204 with `Allow`.
fn allowed(methods: &[&str]) -> Response {
    let mut response = no_content();
    // Methods are tokens, which are valid in any header.
    if let Ok(allow) = HeaderValue::try_from(allow(methods)) {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}

pub(crate) fn no_content() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Returns the value of `Allow`. GET includes HEAD, and OPTIONS is always
/// allowed.
fn allow(methods: &[&str]) -> String {
    let mut names = methods.to_vec();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.push("OPTIONS");
    // Without duplicates, in the usual order; unusual methods are last.
    let place = |name: &str| USUAL_ORDER.iter().position(|usual| *usual == name);
    names.sort_by_key(|name| (place(name).unwrap_or(USUAL_ORDER.len()), *name));
    names.dedup();
    names.join(", ")
}

const USUAL_ORDER: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
