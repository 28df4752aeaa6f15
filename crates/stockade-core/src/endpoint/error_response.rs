//! [`ErrorContext`]: logs errors and creates error responses.
// Spec: Errors › Response rules.

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use stockade_errors::{ApiError, ErrorKind};
use stockade_json::to_json;

use crate::bug::bug;
use crate::error_settings::Settings;
use crate::kept_head::KeptHead;
use crate::languages::AcceptLanguage;
use crate::route_context::RouteContext;
use crate::{ErrorHandler, HttpBody, Languages, Response, escaped, header_map_pool};

/// The source of an error that rejects a request because too many others are in
/// flight. Logging each of them at error level would add more load.
#[derive(Debug)]
pub struct Overloaded;

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("overloaded")
    }
}

impl std::error::Error for Overloaded {}

/// The request that failed, with the data for its response and log line.
#[derive(Clone, Debug)]
pub struct ErrorContext {
    pub(super) settings: Settings,
    pub(super) method: Method,
    pub(super) target: Option<PathAndQuery>,
    pub(crate) route: Option<Arc<RouteContext>>,
    pub(super) id: Option<Arc<str>>,
    /// The head of the request, if an error handler needs it.
    pub(crate) head: Option<Arc<KeptHead>>,
    /// The languages of the router.
    pub(crate) languages: Option<Languages>,
    pub(crate) accept_language: Option<Box<AcceptLanguage>>,
    /// The application's error handler that applies here.
    pub(super) handler: Option<ErrorHandler>,
}

impl ErrorContext {
    /// Returns the request id, if there is one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the method of the request.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the pattern of the route, such as `/users/:id`, or `None` if no
    /// route matched.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.route.as_deref()?.route()
    }

    /// Returns the raw path of the request without the query.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.target.as_ref().map(PathAndQuery::path)
    }

    /// Returns the error body that the client receives under the settings.
    #[must_use]
    pub fn body(&self, error: &ApiError) -> Value {
        self.settings.body(error)
    }

    /// Applies the route's status for failed validations.
    pub(crate) fn with_own_status(&self, error: ApiError) -> ApiError {
        let status = self.route.as_deref().and_then(|route| route.settings.validation_status);
        match status {
            Some(status) if error.kind() == ErrorKind::Validation && error.status() == 400 => {
                error.with_status(status)
            }
            _ => error,
        }
    }

    /// Uses the handler for errors before any middleware: the route's own
    /// handler, or the router's handler for a request without a route.
    pub(super) fn handle_early(&mut self, router: Option<&ErrorHandler>) {
        let handler = match self.route.as_deref() {
            Some(route) => route.first_error_handler(),
            None => router,
        };
        self.handler = handler.cloned();
    }

    /// Logs an error, and creates its response from the settings without an
    /// error handler.
    #[cold]
    pub(crate) fn answer_plainly(&self, error: ApiError) -> Response {
        self.log(&error);
        let error = self.translate(error);
        let mut response = self.plain_response(error);
        self.add_language(&mut response);
        response
    }

    fn plain_response(&self, error: ApiError) -> Response {
        let kept = error.keep(|| CachedResponse::of(&error, self.settings));
        // The cached response may be from other settings.
        if let Some(cached) = kept.filter(|cached| cached.settings == self.settings) {
            let mut response = start(self.settings, &error, cached.body.clone().into());
            for (name, value) in &cached.headers {
                response.headers_mut().append(name, value.clone());
            }
            response.extensions_mut().insert(error);
            return response;
        }
        let body = text(&error, self.settings);
        respond_with(self.settings, error, body.into())
    }

    /// Returns the method, pattern, path and request id as text. The query is
    /// omitted because it may contain secrets.
    fn place(&self) -> String {
        let route = self.route().unwrap_or("-");
        let path = escaped(self.path().unwrap_or("-"));
        match self.id() {
            Some(id) => format!("{} {route} ({path}) [{}]", self.method, escaped(id)),
            None => format!("{} {route} ({path})", self.method),
        }
    }
}

impl ErrorContext {
    /// Sets other settings for a request without a route.
    #[must_use]
    #[doc(hidden)]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the id of a request that does not have one.
    #[must_use]
    #[doc(hidden)]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Returns the settings for error responses.
    #[doc(hidden)]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Logs the error once, and creates its response. Only this function
    /// decides which text the client receives. The application's error handler
    /// for the route, or for requests without a route, creates the response if
    /// there is one.
    // Spec: Errors › Response rules.
    #[doc(hidden)]
    #[cold]
    pub fn answer(&self, error: ApiError) -> Response {
        match &self.handler {
            Some(handler) => handler.answer(error, self),
            None => self.answer_plainly(self.with_own_status(error)),
        }
    }

    /// Logs an error with the request id in the text and as the key-value
    /// `request_id`. A 5xx is logged at error level with its chain of causes. A
    /// 4xx and [`Overloaded`] are logged at debug level.
    ///
    /// Texts are `escaped`, because a client may control parts of them.
    #[doc(hidden)]
    pub fn log(&self, error: &ApiError) {
        let status = error.status();
        if status >= 500 && !error.source().is_some_and(|source| source.is::<Overloaded>()) {
            let (place, chain) = (self.place(), chain(error));
            log::error!(
                target: TARGET, request_id = self.id(); "{place}: {status} {}", escaped(chain)
            );
        } else if log::log_enabled!(target: TARGET, log::Level::Debug) {
            let place = self.place();
            log::debug!(
                target: TARGET, request_id = self.id(); "{place}: {status} {}", escaped(error)
            );
        }
    }

    /// Logs an error that occurred after the response began. It is always an
    /// error, because the client misses data and the status is already sent.
    #[doc(hidden)]
    #[cold]
    pub fn log_late(&self, error: &(dyn std::error::Error + 'static)) {
        let (place, chain) = (self.place(), chain(error));
        log::error!(
            target: TARGET, request_id = self.id(); "{place}: response aborted: {}", escaped(chain)
        );
    }
}

pub(crate) fn respond_with(settings: Settings, error: ApiError, body: HttpBody) -> Response {
    let mut response = start(settings, &error, body);
    response.headers_mut().extend(headers_of(&error));
    response.extensions_mut().insert(error);
    response
}

/// Creates a response without the headers of the error.
fn start(settings: Settings, error: &ApiError, body: HttpBody) -> Response {
    let problem = settings.problem_details;
    let content_type = if problem { "application/problem+json" } else { "application/json" };
    let content_type = HeaderValue::from_static(content_type);
    let mut response = header_map_pool::response(body, content_type);
    *response.status_mut() =
        StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// The shared parts of the responses to a repeated error.
struct CachedResponse {
    settings: Settings,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
}

impl CachedResponse {
    fn of(error: &ApiError, settings: Settings) -> Self {
        let headers = headers_of(error).collect();
        Self { settings, headers, body: text(error, settings).into() }
    }
}

/// Logs a bug in stockade and returns its response, when information about the
/// request is no longer available.
#[cold]
#[must_use]
pub fn answer_bug(message: &str, settings: Settings) -> Response {
    let error = bug(message);
    log::error!(target: TARGET, "{error}");
    let body = text(&error, settings);
    respond_with(settings, error, body.into())
}

/// Returns the body of an error as JSON.
pub(crate) fn text(error: &ApiError, settings: Settings) -> Vec<u8> {
    let expose = settings.expose_errors;
    if settings.problem_details {
        return settings.body(error).to_string().into();
    }
    // The fallback writes the same text and cannot fail.
    to_json(&error.shown(expose)).unwrap_or_else(|_| error.body(expose).to_string().into())
}

/// Returns the headers of an error. A malformed header is logged and skipped.
fn headers_of(error: &ApiError) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    error.headers().filter_map(|(name, value)| {
        let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
        if header.is_none() {
            log::error!("an error's header {name:?} is malformed and was omitted");
        }
        header
    })
}

pub(crate) const TARGET: &str = "stockade::error";

/// Returns the text of an error and its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut chain = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        // `ApiError::internal` uses the text of its source.
        if !chain.ends_with(&text) {
            chain.push_str(": ");
            chain.push_str(&text);
        }
        source = cause.source();
    }
    chain
}

/// Returns the error behind an error response, from its extensions.
///
/// Use it in middleware on the response of [`Next::run`](crate::Next::run), and
/// in layers of other hosts.
#[must_use]
pub fn error_of(response: &Response) -> Option<&ApiError> {
    response.extensions().get()
}
