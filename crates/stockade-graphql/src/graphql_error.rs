//! The errors that a client receives, and the errors that are only logged.

use std::any::Any;
use std::fmt::Write as _;

use async_graphql::parser::Error as SyntaxError;
use async_graphql::{ErrorExtensionValues, PathSegment, Pos, ServerError, Value};
use http::StatusCode;
use serde::{Serialize, Serializer};
use stockade_core::ErrorContext;
use stockade_core::error_settings::Settings;
use stockade_core::log_text::escaped;
use stockade_errors::{ApiError, BoxError};

/// An error as the client receives it.
///
/// Source: the specification of GraphQL, section 7.1.2 (errors).
#[derive(Clone, Debug)]
pub(crate) struct GraphQlError {
    error: ServerError,
}

impl GraphQlError {
    /// Creates an error about a request as a whole.
    #[cold]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { error: ServerError::new(message, None) }
    }

    /// Creates an error at a position in the document.
    #[cold]
    pub(crate) fn at(message: impl Into<String>, pos: Pos) -> Self {
        Self { error: ServerError::new(message, Some(pos)) }
    }

    /// Creates the error for a malformed document.
    #[cold]
    pub(crate) fn of_syntax(error: SyntaxError) -> Self {
        let mut error = ServerError::from(error);
        // The parser first prints the line of the document. The last line
        // contains the expected tokens.
        let expected = error.message.lines().last().unwrap_or_default();
        let expected = expected.trim_start().trim_start_matches("= ");
        error.message = format!("The document is malformed: {expected}");
        shorten(&mut error.message);
        Self { error }
    }

    /// Creates the error for a request that a route would have rejected with
    /// this error.
    #[cold]
    pub(crate) fn of_error(error: &ApiError, settings: Settings) -> Self {
        let mut graphql_error = Self::new(error.public_message(settings.expose_errors));
        graphql_error.error.extensions = Some(extensions_of(error, settings));
        graphql_error
    }

    /// Creates the error for an operation that ends because its user has logged
    /// out.
    #[cold]
    pub(crate) fn logged_out() -> Self {
        Self::new("The login has ended").with_code("UNAUTHENTICATED")
    }

    pub(crate) fn message(&self) -> &str {
        &self.error.message
    }

    /// Adds a code that identifies the error for clients.
    #[must_use]
    pub(crate) fn with_code(mut self, code: &str) -> Self {
        self.error.extensions.get_or_insert_default().set("code", code);
        self
    }
}

impl Serialize for GraphQlError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.error.serialize(serializer)
    }
}

/// The part of the errors that a client may see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// The error format, and whether messages of 5xx errors are exposed.
    pub(crate) settings: Settings,
    /// True if errors suggest names from the schema.
    pub(crate) schema: bool,
}

/// Returns the errors for the client and logs the hidden ones.
pub(crate) fn show(
    errors: Vec<ServerError>,
    is_request_error: bool,
    shown: Shown,
    context: &ErrorContext,
) -> Vec<GraphQlError> {
    let most = if is_request_error { REQUEST_ERRORS } else { usize::MAX };
    let mut logging = Logging { context, left: LINES, skipped: 0 };
    let show = |error: ServerError| {
        let mut error = show_one(error, shown, &mut logging);
        if is_request_error {
            cut_suggestion(&mut error.message, shown);
            shorten(&mut error.message);
        }
        GraphQlError { error }
    };
    let errors = errors.into_iter().take(most).map(show).collect();
    logging.end();
    errors
}

fn show_one(mut error: ServerError, shown: Shown, logging: &mut Logging<'_>) -> ServerError {
    let Some(source) = error.source.take() else {
        if !is_missing_data(&error.message) {
            // The program or async-graphql intends this message for the client.
            return error;
        }
        logging.log(&error.path, ApiError::new(500, std::mem::take(&mut error.message)));
        return hidden(error, shown);
    };
    if let Some(api_error) = api_error(&*source) {
        let api_error = &logging.context.translate(api_error.clone());
        let exposes = shown.settings.expose_errors;
        api_error.public_message(exposes).clone_into(&mut error.message);
        error.extensions = Some(extensions_of(api_error, shown.settings));
        logging.log(&error.path, api_error.clone());
        return error;
    }
    // The message may come from a driver and contain a password, so it is only
    // logged, in every mode.
    logging.log(&error.path, ApiError::new(500, std::mem::take(&mut error.message)));
    hidden(error, shown)
}

/// Returns the [`ApiError`] of a failed resolver, if it has one.
fn api_error(source: &(dyn Any + Send + Sync)) -> Option<&ApiError> {
    let boxed = || source.downcast_ref::<BoxError>()?.downcast_ref();
    source.downcast_ref().or_else(boxed)
}

/// Replaces the details of an error with a generic message.
fn hidden(mut error: ServerError, shown: Shown) -> ServerError {
    let plain = ApiError::new(500, "");
    plain.message().clone_into(&mut error.message);
    error.extensions = Some(extensions_of(&plain, shown.settings));
    error
}

/// Returns true for the async-graphql error when a resolver needs data that the
/// program has not added to the schema. This is a bug in the program, and the
/// message contains its type names.
fn is_missing_data(message: &str) -> bool {
    message.starts_with("Data `") && message.ends_with("` does not exist.")
}

/// Returns the code and the status of an error, with its details, problem type
/// and members.
fn extensions_of(error: &ApiError, settings: Settings) -> ErrorExtensionValues {
    let mut extensions = ErrorExtensionValues::default();
    // Members come first, so they cannot replace the other values.
    let (uri, members) = settings.problem(error);
    for (name, value) in members {
        if let Ok(value) = Value::from_json(value.clone()) {
            extensions.set(name, value);
        }
    }
    if let Some(uri) = uri {
        extensions.set("type", uri.into_owned());
    }
    extensions.set("code", code_of(error.status()));
    extensions.set("status", error.status());
    let details = error.public_details().and_then(|it| Value::from_json(it.clone()).ok());
    if let Some(details) = details {
        extensions.set("details", details);
    }
    let retry_after = error.headers().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
    if let Some(seconds) = retry_after.and_then(|(_, value)| value.parse::<u64>().ok()) {
        extensions.set("retryAfter", seconds);
    }
    extensions
}

/// Returns the name of a status, such as `NOT_FOUND`.
fn code_of(status: u16) -> String {
    let text = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let name = |text: &str| text.to_ascii_uppercase().replace([' ', '-', '\''], "_");
    text.map_or_else(|| "ERROR".to_owned(), name)
}

/// Removes the suggested names from a message.
fn cut_suggestion(message: &mut String, shown: Shown) {
    if let Some(start) = message.find(SUGGESTION).filter(|_| !shown.schema) {
        message.truncate(start);
    }
}

/// Shortens a message, which may contain text from the client.
fn shorten(message: &mut String) {
    if message.chars().count() > CHARS {
        let end = message.char_indices().nth(CHARS - 1).map_or(message.len(), |(end, _)| end);
        message.truncate(end);
        message.push('…');
    }
}

/// Logs the errors of one response.
struct Logging<'c> {
    context: &'c ErrorContext,
    /// The number of remaining log lines.
    left: usize,
    skipped: usize,
}

impl Logging<'_> {
    fn log(&mut self, path: &[PathSegment], error: ApiError) {
        let Some(left) = self.left.checked_sub(1) else {
            self.skipped += 1;
            return;
        };
        self.left = left;
        let mut message = String::new();
        for (index, segment) in path.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            // Writing to a `String` cannot fail.
            let _ = match segment {
                PathSegment::Field(name) => write!(message, "{dot}{}", escaped(name)),
                PathSegment::Index(index) => write!(message, "{dot}{index}"),
            };
        }
        let dots = if path.is_empty() { "" } else { ": " };
        let _ = write!(message, "{dots}{error}");
        self.context.log(&ApiError::new(error.status(), message).with_source(error));
    }

    /// Logs the number of errors beyond the limit of log lines.
    fn end(self) {
        if self.skipped > 0 {
            let message = format!("{} more errors in this response", self.skipped);
            self.context.log(&ApiError::new(500, message));
        }
    }
}

/// The maximum number of request errors in a response; more would repeat the
/// document.
const REQUEST_ERRORS: usize = 10;

/// The maximum length of a message with client text, in characters.
const CHARS: usize = 200;

/// The maximum number of log lines per response, because a list may fail at
/// each item.
const LINES: usize = 20;

/// The start of async-graphql's name suggestions.
const SUGGESTION: &str = " Did you mean";
