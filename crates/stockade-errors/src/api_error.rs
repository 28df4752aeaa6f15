//! [`ApiError`]: an error response with a status and a JSON body.
// Spec: Errors › Error classes; Errors › Response rules.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value, json};

use crate::{ErrorKind, FieldError, status_text};

/// Any error that can be the cause of an [`ApiError`].
pub type BoxError = Box<dyn Error + Send + Sync>;

/// An error that the client receives as an HTTP status and a JSON body.
///
/// The specification's error classes are constructors: [`validation`],
/// [`authentication`], [`authorization`], [`not_found`] and [`conflict`]. Use
/// [`new`] for any other status. To convert your own error enum, use
/// `#[derive(ApiError)]`.
///
/// [`validation`]: Self::validation
/// [`authentication`]: Self::authentication
/// [`authorization`]: Self::authorization
/// [`not_found`]: Self::not_found
/// [`conflict`]: Self::conflict
/// [`new`]: Self::new
///
/// ```
/// use stockade::ApiError;
/// use stockade::serde_json::json;
///
/// let error = ApiError::new(402, "card declined").with_details(json!({ "code": 51 }));
/// let body = json!({ "error": "card declined", "details": { "code": 51 } });
/// assert_eq!(error.body(false), body);
/// ```
///
/// Clones are cheap. The error response carries a clone in its extensions, so
/// middleware and layers of other hosts can read it.
// Spec: Errors › Error classes.
#[derive(Clone)]
pub struct ApiError {
    // A single pointer, because handlers return the error in a `Result`.
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    status: u16,
    is_validation: bool,
    message: Cow<'static, str>,
    problem_type: Option<Cow<'static, str>>,
    details: Option<Details>,
    members: Vec<(&'static str, Value)>,
    headers: Vec<(&'static str, String)>,
    source: Option<Arc<dyn Error + Send + Sync>>,
    /// The cached parts of the response, for a repeated error.
    answer: Option<OnceLock<Arc<dyn Any + Send + Sync>>>,
}

/// The details of an error.
#[derive(Clone)]
enum Details {
    Value(Value),
    /// `{"errors": […]}`, built on first access.
    Fields {
        errors: Vec<FieldError>,
        value: OnceLock<Value>,
    },
}

impl Details {
    fn value(&self) -> &Value {
        match self {
            Self::Value(value) => value,
            Self::Fields { errors, value } => value.get_or_init(|| json!({ "errors": errors })),
        }
    }
}

impl ApiError {
    /// Creates an error with this status and message.
    ///
    /// A status outside 400..=599 becomes 500. An empty message becomes the
    /// standard text of the status. The message of a 5xx is logged, and hidden
    /// from the client unless errors are exposed.
    pub fn new(status: u16, message: impl Into<Cow<'static, str>>) -> Self {
        let status = sound(status);
        let mut message = message.into();
        if message.is_empty() {
            message = status_text(status).into();
        }
        Self {
            inner: Arc::new(Inner {
                status,
                is_validation: false,
                message,
                problem_type: None,
                details: None,
                members: Vec::new(),
                headers: Vec::new(),
                source: None,
                answer: None,
            }),
        }
    }

    /// Creates a 400 `Validation failed`, with `errors` as `details.errors`.
    // Spec: Errors › Statuses produced by the framework, row 400.
    #[must_use]
    pub fn validation(errors: impl Into<Vec<FieldError>>) -> Self {
        let mut error = Self::new(400, "Validation failed").with_field_errors(errors.into());
        error.inner_mut().is_validation = true;
        error
    }

    /// Sets these errors as `details.errors`.
    pub(crate) fn with_field_errors(mut self, errors: Vec<FieldError>) -> Self {
        self.inner_mut().details = Some(Details::Fields { errors, value: OnceLock::new() });
        self
    }

    /// Creates a 401 `Authentication required`, for a request without a valid
    /// user.
    #[must_use]
    pub fn authentication() -> Self {
        Self::new(401, "Authentication required")
    }

    /// Creates a 403 `Access denied`, for a user without permission.
    #[must_use]
    pub fn authorization() -> Self {
        Self::new(403, "Access denied")
    }

    /// Creates a 404 `Resource not found`.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(404, "Resource not found")
    }

    /// Creates a 409 `Resource conflict`, for a change that conflicts with the
    /// current state.
    #[must_use]
    pub fn conflict() -> Self {
        Self::new(409, "Resource conflict")
    }

    /// Creates a 500 caused by `source`. The text of `source` is logged and not
    /// sent.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        Self::new(500, source.to_string()).with_source(source)
    }

    /// Replaces only the status. A status outside 400..=599 becomes 500.
    ///
    /// ```
    /// use stockade::{ApiError, ErrorKind};
    ///
    /// let error = ApiError::validation(&[]).with_status(422);
    /// assert_eq!((error.status(), error.kind()), (422, ErrorKind::Validation));
    /// ```
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.inner_mut().status = sound(status);
        self
    }

    /// Replaces the message. An empty message becomes the standard text of the
    /// status.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        let inner = self.inner_mut();
        inner.message = if message.is_empty() { status_text(inner.status).into() } else { message };
        self
    }

    /// Adds details. They are sent if the status is below 500.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> Self {
        self.inner_mut().details = Some(Details::Value(details.into()));
        self
    }

    /// Adds a member to the body, next to `error` and `details`. It is sent if
    /// the status is below 500.
    ///
    /// ```
    /// use stockade::ApiError;
    /// use stockade::serde_json::json;
    ///
    /// let error = ApiError::new(401, "Unauthorized").with_member("message", "Invalid token");
    /// assert_eq!(error.body(false), json!({ "error": "Unauthorized", "message": "Invalid token" }));
    /// ```
    ///
    /// In problem details, it is an extension member (RFC 9457, section 3.2).
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.inner_mut().members.push((name, value.into()));
        self
    }

    /// Sets the problem type (RFC 9457, section 3.1.1), which only problem
    /// details contain, as `type`.
    ///
    /// It is an absolute URI, or a relative path such as `sold-out`, which is
    /// resolved against the base of `RouterOptions::problem_details`. If there
    /// is no base, a relative path is sent as `about:blank`.
    ///
    /// ```
    /// use stockade::ApiError;
    ///
    /// let error = ApiError::new(409, "7 is sold out")
    ///     .with_problem_type("https://shop.example/problems/sold-out")
    ///     .with_member("sku", "7");
    /// let problem = error.problem(false);
    /// assert_eq!(problem["type"], "https://shop.example/problems/sold-out");
    /// assert_eq!(problem["sku"], "7");
    /// assert_eq!(error.body(false).to_string(), r#"{"error":"7 is sold out","sku":"7"}"#);
    /// ```
    #[must_use]
    pub fn with_problem_type(mut self, uri: impl Into<Cow<'static, str>>) -> Self {
        self.inner_mut().problem_type = Some(uri.into());
        self
    }

    /// Adds a header to the response, such as `WWW-Authenticate` on a 401.
    ///
    /// An invalid header value is logged and not sent.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.inner_mut().headers.push((name, value.into()));
        self
    }

    /// Removes a header. The name is case-insensitive.
    #[must_use]
    pub fn without_header(mut self, name: &str) -> Self {
        self.inner_mut().headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sets the cause for the log. It is never sent.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner_mut().source = Some(Arc::from(source.into()));
        self
    }

    /// Makes repeated responses with this error cheap. Use it for an error that
    /// you create once and clone for each response.
    ///
    /// The code that responds with the error can cache parts of the response
    /// with [`keep`](Self::keep). Any later change to the error discards them.
    ///
    /// ```
    /// use stockade::ApiError;
    ///
    /// let closed = ApiError::new(403, "closed on Sundays").repeated();
    /// let text = |error: &ApiError| error.keep(|| error.message().len()).map(|it| *it);
    /// assert_eq!(text(&closed.clone()), Some(17));
    /// assert_eq!(text(&closed.with_message("closed")), None);
    /// ```
    #[must_use]
    pub fn repeated(mut self) -> Self {
        self.inner_mut().answer = Some(OnceLock::new());
        self
    }

    /// Returns the cached parts of the response, shared by all clones. Calls
    /// `make` if nothing is cached yet.
    ///
    /// Returns `None` if the error is not [`repeated`](Self::repeated), or if
    /// the cached value has another type.
    pub fn keep<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let answer = self.inner.answer.as_ref()?.get_or_init(|| Arc::new(make()));
        (**answer).downcast_ref()
    }

    /// Returns the HTTP status, from 400 to 599.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.inner.status
    }

    /// Returns the kind of the error. An error from
    /// [`validation`](Self::validation) is always a validation error; the kind
    /// of any other error depends on its status.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        if self.inner.is_validation {
            ErrorKind::Validation
        } else {
            ErrorKind::of_status(self.inner.status)
        }
    }

    /// Returns the failed fields of a [`validation`](Self::validation) error,
    /// in schema order, or the field of [`StoreError::Taken`]. Returns an empty
    /// slice for any other error, or if the details were replaced.
    ///
    /// [`StoreError::Taken`]: crate::StoreError::Taken
    #[must_use]
    pub fn field_errors(&self) -> &[FieldError] {
        match &self.inner.details {
            Some(Details::Fields { errors, .. }) => errors,
            _ => &[],
        }
    }

    /// Returns the problem type, unresolved, as
    /// [`with_problem_type`](Self::with_problem_type) set it.
    #[must_use]
    pub fn problem_type(&self) -> Option<&str> {
        self.inner.problem_type.as_deref()
    }

    /// Returns the members that clients receive, in the order of the
    /// [`with_member`](Self::with_member) calls. Returns none for a 5xx.
    pub fn public_members(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let members = if self.status() < 500 { self.inner.members.as_slice() } else { &[] };
        members.iter().map(|(name, value)| (*name, value))
    }

    /// Replaces the messages of the failed fields.
    #[doc(hidden)]
    #[must_use]
    pub fn with_field_messages(mut self, text: impl Fn(&FieldError) -> Option<String>) -> Self {
        let texts: Vec<Option<String>> = self.field_errors().iter().map(text).collect();
        if texts.iter().all(Option::is_none) {
            return self;
        }
        if let Some(Details::Fields { errors, value }) = &mut self.inner_mut().details {
            *value = OnceLock::new();
            for (error, text) in errors.iter_mut().zip(texts) {
                error.message = text.map_or_else(|| std::mem::take(&mut error.message), Cow::Owned);
            }
        }
        self
    }

    /// Returns the original message, even for a 5xx. It is for the log and not
    /// for a client.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// Returns the details, if there are any.
    #[must_use]
    pub fn details(&self) -> Option<&Value> {
        self.inner.details.as_ref().map(Details::value)
    }

    /// Returns the additional response headers.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.inner.headers.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Returns the message that clients receive.
    ///
    /// A 5xx message may name tables, hosts or files. It is replaced by the
    /// standard text of the status unless `expose_errors` is set.
    // Spec: Errors › Response rules 2 and 3.
    #[must_use]
    pub fn public_message(&self, expose_errors: bool) -> &str {
        if self.status() >= 500 && !expose_errors {
            status_text(self.status())
        } else {
            self.message()
        }
    }

    /// Returns the details that clients receive. Returns `None` for a 5xx.
    #[must_use]
    pub fn public_details(&self) -> Option<&Value> {
        self.details().filter(|_| self.status() < 500)
    }

    /// Returns the JSON body that clients receive: `error`, and `details` if
    /// the error has any.
    // Spec: Errors › Response rules.
    #[must_use]
    pub fn body(&self, expose_errors: bool) -> Value {
        let mut body = Map::new();
        body.insert("error".into(), self.public_message(expose_errors).into());
        self.add_details(&mut body);
        Value::Object(body)
    }

    /// Returns [`body`](Self::body) as a value that is serialized directly,
    /// without building a `Value`.
    #[must_use]
    pub fn shown(&self, expose_errors: bool) -> Shown<'_> {
        Shown { error: self, expose_errors }
    }

    /// Returns a mutable reference to the content. Copies the content first if
    /// it is shared with a clone.
    fn inner_mut(&mut self) -> &mut Inner {
        let inner = Arc::make_mut(&mut self.inner);
        // The cached response is outdated after this change.
        inner.answer = None;
        inner
    }

    pub(crate) fn add_details(&self, body: &mut Map<String, Value>) {
        if let Some(details) = self.public_details() {
            body.insert("details".into(), details.clone());
        }
        body.extend(self.public_members().map(|(name, value)| (name.to_owned(), value.clone())));
    }
}

/// Returns the status if it is an error status, and otherwise 500.
fn sound(status: u16) -> u16 {
    match status {
        status @ 400..=599 => status,
        _ => 500,
    }
}

/// The body of an error, for a serializer; see [`ApiError::shown`].
#[derive(Clone, Copy, Debug)]
pub struct Shown<'e> {
    error: &'e ApiError,
    expose_errors: bool,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { error, expose_errors } = *self;
        if !error.inner.members.is_empty() {
            return error.body(expose_errors).serialize(serializer);
        }
        let details = error.inner.details.as_ref().filter(|_| error.status() < 500);
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("error", error.public_message(expose_errors))?;
        match details {
            Some(Details::Value(value)) => body.serialize_entry("details", value)?,
            Some(Details::Fields { errors, .. }) => {
                body.serialize_entry("details", &Fields { errors })?;
            }
            None => {}
        }
        body.end()
    }
}

struct Fields<'e> {
    errors: &'e [FieldError],
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(1))?;
        object.serialize_entry("errors", self.errors)?;
        object.end()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiError")
            .field("status", &self.inner.status)
            .field("message", &self.inner.message)
            .field("details", &self.details())
            .field("source", &self.inner.source)
            .finish_non_exhaustive()
    }
}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.inner.source.as_ref().map(|source| source.as_ref() as _)
    }
}

/// Converts any boxed error other than an `ApiError` to a 500.
// Spec: Errors › Response rules 2.
impl From<BoxError> for ApiError {
    fn from(source: BoxError) -> Self {
        match source.downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::internal(source),
        }
    }
}

/// Converts the error to a 500.
impl From<std::io::Error> for ApiError {
    fn from(source: std::io::Error) -> Self {
        Self::internal(source)
    }
}

/// Converts the error to a 500, because a value that cannot be serialized is
/// the server's fault.
impl From<serde_json::Error> for ApiError {
    fn from(source: serde_json::Error) -> Self {
        Self::internal(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &ApiError, expose_errors: bool, expected: &str) {
        let actual = format!("{} {}", error.status(), error.body(expose_errors));
        assert_eq!(actual, expected);
        let shown = serde_json::to_string(&error.shown(expose_errors)).unwrap();
        assert_eq!(format!("{} {shown}", error.status()), expected);
    }

    #[test]
    fn classes_have_their_status_and_default_message() {
        check(&ApiError::authentication(), false, r#"401 {"error":"Authentication required"}"#);
        check(&ApiError::authorization(), false, r#"403 {"error":"Access denied"}"#);
        check(&ApiError::not_found(), false, r#"404 {"error":"Resource not found"}"#);
        check(&ApiError::conflict(), false, r#"409 {"error":"Resource conflict"}"#);
        check(
            &ApiError::validation([FieldError::new("age", "Expected number, got string", "type")]),
            false,
            r#"400 {"error":"Validation failed","details":{"errors":[{"field":"age","message":"Expected number, got string","rule":"type"}]}}"#,
        );
    }

    #[test]
    fn hides_5xx_messages_and_details_unless_exposed() {
        let error = || ApiError::new(503, "db-7 is down").with_details(json!({ "host": 7 }));
        check(&error(), false, r#"503 {"error":"Service Unavailable"}"#);
        check(&error(), true, r#"503 {"error":"db-7 is down"}"#);
    }

    #[test]
    fn invalid_status_is_500_and_empty_message_is_the_default() {
        check(&ApiError::new(200, "fine?"), true, r#"500 {"error":"fine?"}"#);
        check(&ApiError::new(600, ""), true, r#"500 {"error":"Internal Server Error"}"#);
        check(&ApiError::new(418, ""), false, r#"418 {"error":"Bad Request"}"#);
        check(&ApiError::not_found().with_message(""), false, r#"404 {"error":"Not Found"}"#);
    }

    #[test]
    fn validation_errors_have_their_own_kind() {
        let fields = [FieldError::new("age", "is required", "required")];
        let failed = ApiError::validation(fields).with_status(422).with_message("no");
        assert_eq!((failed.status(), failed.kind()), (422, ErrorKind::Validation));
        assert_eq!(failed.field_errors()[0].field, "age");
        let other = failed.with_details(json!([]));
        assert_eq!((other.kind(), other.field_errors().len()), (ErrorKind::Validation, 0));
        assert_eq!(ApiError::new(422, "").kind(), ErrorKind::Other);
        assert_eq!(ApiError::not_found().with_status(200).status(), 500);
    }

    #[test]
    fn a_boxed_api_error_keeps_its_status() {
        let boxed: BoxError = Box::new(ApiError::conflict());
        assert_eq!(ApiError::from(boxed).status(), 409);
        let plain = ApiError::from(BoxError::from("disk full"));
        assert_eq!((plain.status(), plain.message()), (500, "disk full"));
        assert!(plain.source().is_some());
    }

    #[test]
    fn changing_a_clone_keeps_the_original() {
        let first = ApiError::conflict().with_source(ApiError::not_found());
        let second = first.clone().with_message("taken");
        assert_eq!((first.message(), second.message()), ("Resource conflict", "taken"));
        assert!(second.source().is_some());
    }
}
