//! The life of a request, from its target to its response.
//!
//! Hot: beside the handler's own future nothing is allocated here for a
//! request that matches.
//!
//! Spec: Router members › handle; Errors › Statuses produced by the framework.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{HeaderValue, Method, StatusCode, Version, header};
use http_body::Body as _;
use stockade_core::{
    BodyError, Endpoint, ErrorContext, HttpBody, Params, Request, Response, Running, Settings,
};
use stockade_errors::ApiError;

use crate::app::Inner;
use crate::options::CallOptions;

/// Answers a request.
pub(crate) fn dispatch(app: &Inner, mut req: Request, options: CallOptions) -> Answering {
    let is_head = req.method() == Method::HEAD;
    let version = req.version();
    let state = match admit(app, &mut req, options) {
        Admission::Run(endpoint) => State::Running(stockade_core::run(endpoint, req)),
        Admission::Answer(response) => State::Ready(response),
    };
    Answering { state, is_head, version }
}

/// The future of [`App::handle`](crate::App::handle): it gives the response.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Answering {
    state: State,
    is_head: bool,
    version: Version,
}

#[derive(Debug)]
enum State {
    Running(Running),
    Ready(Response),
}

impl Future for Answering {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let mut response = match &mut self.state {
            State::Running(running) => ready!(Pin::new(running).poll(cx)),
            State::Ready(response) => std::mem::take(response),
        };
        finish(&mut response, self.is_head, self.version);
        Poll::Ready(response)
    }
}

/// What becomes of a request before any middleware runs.
enum Admission {
    Run(Arc<Endpoint>),
    Answer(Response),
}

/// Everything before the middleware: target, match, announced length.
fn admit(app: &Inner, req: &mut Request, options: CallOptions) -> Admission {
    let settings = settings_of(app, options);
    let refuse = |req: &Request, error| {
        Admission::Answer(ErrorContext::of(req).with_settings(settings).answer(error))
    };

    if *req.method() == Method::CONNECT {
        // Nothing is tunnelled here. 405 and not 501, which would let anybody
        // fill the log of errors.
        let context = ErrorContext::of(req).with_settings(settings);
        let methods = app.tables.iter().map(|(method, _)| method);
        return Admission::Answer(not_allowed(&context, methods));
    }
    let path = req.path();
    if path == "*" && *req.method() == Method::OPTIONS {
        return Admission::Answer(allowed(app.tables.iter().map(|(method, _)| method)));
    }
    if !is_sound(path) {
        return refuse(req, ApiError::new(400, "Bad Request"));
    }
    let Some((endpoint, params)) = find(app, req.method(), path) else {
        return Admission::Answer(unmatched(app, req, settings));
    };

    // A limit of the route itself is stronger than any other.
    let max_body = endpoint.max_body().or(options.max_body_size).unwrap_or(app.max_body);
    req.set_route(Arc::clone(&endpoint), params, settings, max_body);
    if req.announces_too_much() {
        return refuse(req, BodyError::TooLarge.into());
    }
    Admission::Run(endpoint)
}

/// Answers a request that a host does not hand over.
#[cold]
pub(crate) fn refuse(
    app: &Inner,
    req: &Request,
    error: ApiError,
    options: CallOptions,
) -> Response {
    let context = ErrorContext::of(req).with_settings(settings_of(app, options));
    let mut response = context.answer(error);
    finish(&mut response, req.method() == Method::HEAD, req.version());
    response
}

fn settings_of(app: &Inner, options: CallOptions) -> Settings {
    let mut settings = app.settings;
    settings.expose_errors = options.expose_errors.unwrap_or(settings.expose_errors);
    settings
}

/// Whether the path may be matched at all.
///
/// A backslash or a control character, also as `%00`, is never part of a path
/// that means well.
fn is_sound(path: &str) -> bool {
    path.starts_with('/')
        && !path.bytes().any(|byte| byte == b'\\' || byte.is_ascii_control())
        && !path.contains("%00")
}

/// The route of a method and a path; HEAD falls back to GET.
fn find(app: &Inner, method: &Method, path: &str) -> Option<(Arc<Endpoint>, Params)> {
    let found = find_exact(app, method, path);
    if found.is_none() && *method == Method::HEAD {
        return find_exact(app, &Method::GET, path);
    }
    found
}

fn find_exact(app: &Inner, method: &Method, path: &str) -> Option<(Arc<Endpoint>, Params)> {
    let (_, table) = app.tables.iter().find(|(known, _)| known == method)?;
    let found = table.find(path)?;
    Some((Arc::clone(found.value), Params::new(Arc::clone(found.names), found.spans)))
}

/// The answer when no route has this method and path.
#[cold]
fn unmatched(app: &Inner, req: &Request, settings: Settings) -> Response {
    let path = req.path();
    let tables = app.tables.iter().filter(|(_, table)| table.find(path).is_some());
    let others: Vec<&Method> = tables.map(|(method, _)| method).collect();
    let known = !others.is_empty();
    if *req.method() == Method::OPTIONS {
        if is_preflight(req) {
            // Nothing is allowed to other origins by this answer.
            return no_content();
        }
        if known {
            return allowed(others.into_iter());
        }
    }
    let context = ErrorContext::of(req).with_settings(settings);
    if known && app.method_not_allowed && *req.method() != Method::OPTIONS {
        return not_allowed(&context, others.into_iter());
    }
    context.answer(ApiError::new(404, "Not Found"))
}

/// Whether it is a CORS preflight request.
///
/// Source: Fetch standard, section 3.3.3 (CORS-preflight request).
fn is_preflight(req: &Request) -> bool {
    let headers = req.headers();
    headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// 405 with `Allow`.
fn not_allowed<'m>(context: &ErrorContext, methods: impl Iterator<Item = &'m Method>) -> Response {
    let mut response = context.answer(ApiError::new(405, "Method Not Allowed"));
    response.headers_mut().insert(header::ALLOW, allow(methods));
    response
}

/// 204 with `Allow`.
fn allowed<'m>(methods: impl Iterator<Item = &'m Method>) -> Response {
    let mut response = no_content();
    response.headers_mut().insert(header::ALLOW, allow(methods));
    response
}

fn no_content() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// The value of `Allow`: HEAD comes with GET, OPTIONS always works.
fn allow<'m>(methods: impl Iterator<Item = &'m Method>) -> HeaderValue {
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
    HeaderValue::try_from(names.join(", ")).unwrap_or(HeaderValue::from_static("OPTIONS"))
}

const USUAL_ORDER: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// What depends on the request alone, whoever made the response.
fn finish(response: &mut Response, is_head: bool, version: Version) {
    // The usual response has a content type and nothing to be set right.
    let headers = response.headers();
    if headers.len() > 1 || !headers.contains_key(header::CONTENT_TYPE) {
        set_right(response);
    }
    let status = response.status().as_u16();
    if is_head || matches!(status, 204 | 205 | 304) {
        without_body(response, is_head);
    }
    // The rest of the body is not read, so the connection cannot go on.
    if matches!(status, 408 | 413) && version <= Version::HTTP_11 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Removes headers that would make a malformed message of the response.
///
/// The framing is the host's: it knows the length of what it sends.
fn set_right(response: &mut Response) {
    if response.headers_mut().remove(header::TRANSFER_ENCODING).is_some() {
        log::error!(target: "stockade", "a handler's Transfer-Encoding is left out");
    }
    let Some(length) = response.body().size_hint().exact().filter(|length| *length > 0) else {
        return;
    };
    let wrong = |value: &HeaderValue| {
        value.to_str().ok().and_then(|text| text.parse().ok()) != Some(length)
    };
    if response.headers().get(header::CONTENT_LENGTH).is_some_and(wrong) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
        log::error!(target: "stockade", "a handler's Content-Length is wrong and left out");
    }
}

/// Drops the body; an answer to HEAD keeps the length that it would have.
///
/// Source: RFC 9110, sections 9.3.2 (HEAD), 15.3.5 (204), 15.3.6 (205) and
/// 15.4.5 (304).
fn without_body(response: &mut Response, is_head: bool) {
    let length = response.body().size_hint().exact();
    *response.body_mut() = HttpBody::empty();
    let status = response.status().as_u16();
    let headers = response.headers_mut();
    match status {
        204 => {
            headers.remove(header::CONTENT_TYPE);
            headers.remove(header::CONTENT_LENGTH);
        }
        205 => {
            headers.remove(header::CONTENT_TYPE);
            headers.insert(header::CONTENT_LENGTH, 0.into());
        }
        304 => {}
        _ if is_head => {
            if let Some(length) = length {
                headers.entry(header::CONTENT_LENGTH).or_insert(length.into());
            }
        }
        _ => {}
    }
}
