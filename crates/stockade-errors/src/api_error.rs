//! [`ApiError`]: a failure that is answered with a status and a JSON body.
//!
//! Spec: Errors › Error classes; Errors › Response rules.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value, json};

use crate::{ErrorKind, FieldError, status_text};

/// Any error that can be kept as the cause of another.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// A failure that is answered with an HTTP status and a JSON body.
///
/// The classes of the specification are its constructors: [`validation`],
/// [`authentication`], [`authorization`], [`not_found`], [`conflict`], and
/// [`new`] for every other status. An own error enum becomes one with
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
/// A clone is cheap. The response that answers an error has one in its
/// extensions, where middleware and the layers of another host find it.
///
/// Spec: Errors › Error classes.
#[derive(Clone)]
pub struct ApiError {
    // One pointer, so that a `Result` of a handler stays small.
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
    /// The parts of the first answer, kept for an error that is answered again
    /// and again.
    answer: Option<OnceLock<Arc<dyn Any + Send + Sync>>>,
}

/// The details of an error.
#[derive(Clone)]
enum Details {
    Value(Value),
    /// `{"errors": […]}`, which is made on the first access.
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
    /// Makes an error with this status and message.
    ///
    /// A status outside 400..=599 counts as 500, and an empty message is the
    /// standard text of the status. A message of 5xx is logged, and withheld
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

    /// Makes a 400 `Validation failed`, with `errors` as `details.errors`.
    ///
    /// Spec: Errors › Statuses produced by the framework, row 400.
    #[must_use]
    pub fn validation(errors: impl Into<Vec<FieldError>>) -> Self {
        let details = Details::Fields { errors: errors.into(), value: OnceLock::new() };
        let mut error = Self::new(400, "Validation failed");
        let inner = error.inner_mut();
        inner.details = Some(details);
        inner.is_validation = true;
        error
    }

    /// Makes a 401 `Authentication required`: there is no valid user.
    #[must_use]
    pub fn authentication() -> Self {
        Self::new(401, "Authentication required")
    }

    /// Makes a 403 `Access denied`: the user may not do this.
    #[must_use]
    pub fn authorization() -> Self {
        Self::new(403, "Access denied")
    }

    /// Makes a 404 `Resource not found`.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(404, "Resource not found")
    }

    /// Makes a 409 `Resource conflict`: the change contradicts the current
    /// state.
    #[must_use]
    pub fn conflict() -> Self {
        Self::new(409, "Resource conflict")
    }

    /// Makes a 500 caused by `source`, whose text is logged and withheld.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        Self::new(500, source.to_string()).with_source(source)
    }

    /// Replaces the status and nothing else; one outside 400..=599 counts as
    /// 500.
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

    /// Replaces the message; an empty one is the standard text of the status.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        let inner = self.inner_mut();
        inner.message = if message.is_empty() { status_text(inner.status).into() } else { message };
        self
    }

    /// Adds details, which are sent with every status below 500.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> Self {
        self.inner_mut().details = Some(Details::Value(details.into()));
        self
    }

    /// Adds a member to the body, beside `error` and `details`; it is sent with
    /// every status below 500.
    ///
    /// ```
    /// use stockade::ApiError;
    /// use stockade::serde_json::json;
    ///
    /// let error = ApiError::new(401, "Unauthorized").with_member("message", "Invalid token");
    /// assert_eq!(error.body(false), json!({ "error": "Unauthorized", "message": "Invalid token" }));
    /// ```
    ///
    /// Problem details have it as an extension member (RFC 9457, section 3.2).
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.inner_mut().members.push((name, value.into()));
        self
    }

    /// Sets the problem type (RFC 9457, section 3.1.1): an absolute URI, or a relative path
    /// such as `sold-out`, which is resolved against the base of
    /// `RouterOptions::problem_details`. Only problem details have it, as `type`. Without a
    /// base, a relative path is sent as `about:blank`.
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
    /// A value that cannot stand in a header is left out and logged.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.inner_mut().headers.push((name, value.into()));
        self
    }

    /// Removes a header, in any case of its name.
    #[must_use]
    pub fn without_header(mut self, name: &str) -> Self {
        self.inner_mut().headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Keeps the cause for the log. It is never sent.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner_mut().source = Some(Arc::from(source.into()));
        self
    }

    /// Makes the error cheap to answer many times. It is for an error that is
    /// made once and given out as clones. The code that answers such an error
    /// can [`keep`](Self::keep) the parts of the answer, until the error is
    /// changed.
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

    /// Returns the kept parts of the answer; `make` makes them for the first
    /// clone that asks. `None` if the error is not
    /// [`repeated`](Self::repeated), or if a value of another type is kept.
    pub fn keep<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let answer = self.inner.answer.as_ref()?.get_or_init(|| Arc::new(make()));
        (**answer).downcast_ref()
    }

    /// Returns the HTTP status, from 400 to 599.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.inner.status
    }

    /// Returns the kind of the error: validation for one that
    /// [`validation`](Self::validation) made, whatever its status is, and else
    /// the kind of its status.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        if self.inner.is_validation {
            ErrorKind::Validation
        } else {
            ErrorKind::of_status(self.inner.status)
        }
    }

    /// Returns the failed fields of a [`validation`](Self::validation), in the
    /// order of the schema; none of any other error, and none where other details
    /// took their place.
    #[must_use]
    pub fn field_errors(&self) -> &[FieldError] {
        match &self.inner.details {
            Some(Details::Fields { errors, .. }) => errors,
            _ => &[],
        }
    }

    /// Returns the problem type as [`with_problem_type`](Self::with_problem_type) set it.
    #[must_use]
    pub fn problem_type(&self) -> Option<&str> {
        self.inner.problem_type.as_deref()
    }

    /// Returns the members that leave the process, in the order in which
    /// [`with_member`](Self::with_member) added them: none of a 5xx.
    pub fn public_members(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let members = if self.status() < 500 { self.inner.members.as_slice() } else { &[] };
        members.iter().map(|(name, value)| (*name, value))
    }

    /// Replaces the messages of the failed fields by other texts.
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

    /// Returns the message as given, also of a 5xx: for the log, not for a
    /// client.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// Returns the details, if there are any.
    #[must_use]
    pub fn details(&self) -> Option<&Value> {
        self.inner.details.as_ref().map(Details::value)
    }

    /// Returns the headers that the response gets besides the usual ones.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.inner.headers.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Returns the message that leaves the process.
    ///
    /// A 5xx message may name tables, hosts or files, so it is the standard
    /// text of the status unless `expose_errors` is set.
    ///
    /// Spec: Errors › Response rules 2 and 3.
    #[must_use]
    pub fn public_message(&self, expose_errors: bool) -> &str {
        if self.status() >= 500 && !expose_errors {
            status_text(self.status())
        } else {
            self.message()
        }
    }

    /// Returns the details that leave the process: none of a 5xx.
    #[must_use]
    pub fn public_details(&self) -> Option<&Value> {
        self.details().filter(|_| self.status() < 500)
    }

    /// Returns the JSON body that leaves the process: `error`, and `details` if
    /// given.
    ///
    /// Spec: Errors › Response rules.
    #[must_use]
    pub fn body(&self, expose_errors: bool) -> Value {
        let mut body = Map::new();
        body.insert("error".into(), self.public_message(expose_errors).into());
        self.add_details(&mut body);
        Value::Object(body)
    }

    /// Returns [`body`](Self::body) as a value that serialises without being
    /// made first.
    #[must_use]
    pub fn shown(&self, expose_errors: bool) -> Shown<'_> {
        Shown { error: self, expose_errors }
    }

    /// Returns the content of the error, to change it. A clone gets a copy of
    /// its own first.
    fn inner_mut(&mut self) -> &mut Inner {
        let inner = Arc::make_mut(&mut self.inner);
        // The kept answer shows the content before this change.
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

/// Returns a status that an error may have.
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

/// Makes a 500 of any error but an `ApiError` in a box.
///
/// Spec: Errors › Response rules 2.
impl From<BoxError> for ApiError {
    fn from(source: BoxError) -> Self {
        match source.downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::internal(source),
        }
    }
}

/// Makes a 500.
impl From<std::io::Error> for ApiError {
    fn from(source: std::io::Error) -> Self {
        Self::internal(source)
    }
}

/// Makes a 500, because a value that cannot be serialised is the server's
/// fault.
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
    fn messages_and_details_of_5xx_are_withheld_unless_exposed() {
        let error = || ApiError::new(503, "db-7 is down").with_details(json!({ "host": 7 }));
        check(&error(), false, r#"503 {"error":"Service Unavailable"}"#);
        check(&error(), true, r#"503 {"error":"db-7 is down"}"#);
    }

    #[test]
    fn odd_statuses_are_500_and_empty_messages_the_standard_text() {
        check(&ApiError::new(200, "fine?"), true, r#"500 {"error":"fine?"}"#);
        check(&ApiError::new(600, ""), true, r#"500 {"error":"Internal Server Error"}"#);
        check(&ApiError::new(418, ""), false, r#"418 {"error":"Bad Request"}"#);
        check(&ApiError::not_found().with_message(""), false, r#"404 {"error":"Not Found"}"#);
    }

    #[test]
    fn a_failed_validation_is_told_apart_from_other_errors() {
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
    fn a_clone_is_changed_apart() {
        let first = ApiError::conflict().with_source(ApiError::not_found());
        let second = first.clone().with_message("taken");
        assert_eq!((first.message(), second.message()), ("Resource conflict", "taken"));
        assert!(second.source().is_some());
    }
}
