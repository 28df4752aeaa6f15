//! The answers to requests that no route takes: 204, 400, 404 and 405.

use std::sync::LazyLock;

use http::{HeaderValue, Method, StatusCode, header};
use stockade_core::__internal::ErrorContextExt as _;
use stockade_core::{ErrorContext, Request, Response};
use stockade_errors::ApiError;

use crate::app::{Resolved, RouteSet};
use crate::lookup::{is_sound, is_tunnel};

/// Returns the answer to a request that no route takes.
#[cold]
pub(crate) fn no_route(app: &Resolved, req: &Request) -> Response {
    let context = app.error_context(req);
    let routes = &*app.routes;
    if is_tunnel(req) {
        // Nothing is tunnelled here. 405 and not 501, which would let anybody
        // fill the log of errors.
        return not_allowed(&context, routes.tables.iter().map(|(method, _)| method));
    }
    let path = req.path();
    if path == "*" && *req.method() == Method::OPTIONS {
        return allowed(routes.tables.iter().map(|(method, _)| method));
    }
    if !is_sound(path) {
        return context.answer(ApiError::new(400, "Bad Request"));
    }
    unmatched(routes, req, &context)
}

/// Returns the answer when no route has this method and path.
#[cold]
pub(crate) fn unmatched(routes: &RouteSet, req: &Request, context: &ErrorContext) -> Response {
    let others = methods_of(routes, req.path());
    if !is_told_of(&others, routes, req) {
        return context.answer(NOT_FOUND.clone());
    }
    if *req.method() == Method::OPTIONS {
        return allowed(others.into_iter());
    }
    not_allowed(context, others.into_iter())
}

/// Returns true if the answer to a request without a route names the methods of
/// its path.
pub(crate) fn has_answer(routes: &RouteSet, req: &Request) -> bool {
    is_told_of(&methods_of(routes, req.path()), routes, req)
}

fn is_told_of(others: &[&Method], routes: &RouteSet, req: &Request) -> bool {
    !others.is_empty() && (routes.method_not_allowed || *req.method() == Method::OPTIONS)
}

/// Returns the methods that a path has.
fn methods_of<'r>(routes: &'r RouteSet, path: &str) -> Vec<&'r Method> {
    let tables = routes.tables.iter().filter(|(_, table)| table.find(path).is_some());
    let mut methods: Vec<&Method> = tables.map(|(method, _)| method).collect();
    if routes.web_sockets.as_ref().is_some_and(|table| table.find(path).is_some()) {
        methods.push(&Method::GET);
    }
    methods
}

/// Kept, because many clients ask for paths that are not there.
static NOT_FOUND: LazyLock<ApiError> = LazyLock::new(|| ApiError::new(404, "Not Found").repeated());

/// Returns a 405 with `Allow`.
fn not_allowed<'m>(context: &ErrorContext, methods: impl Iterator<Item = &'m Method>) -> Response {
    let error = ApiError::new(405, "Method Not Allowed").with_header("allow", allow(methods));
    context.answer(error)
}

/// Returns a 204 with `Allow`.
fn allowed<'m>(methods: impl Iterator<Item = &'m Method>) -> Response {
    let mut response = no_content();
    // Methods are tokens, which any header may hold.
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

/// Returns the value of `Allow`: HEAD comes with GET, OPTIONS always works.
fn allow<'m>(methods: impl Iterator<Item = &'m Method>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for method in methods {
        names.push(method.as_str());
        if *method == Method::GET {
            names.push("HEAD");
        }
    }
    names.push("OPTIONS");
    // Each once, in the usual order; unusual methods come last.
    let place = |name: &str| USUAL_ORDER.iter().position(|usual| *usual == name);
    names.sort_by_key(|name| (place(name).unwrap_or(USUAL_ORDER.len()), *name));
    names.dedup();
    names.join(", ")
}

const USUAL_ORDER: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
