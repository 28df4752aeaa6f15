//! [`ErrorReply`]: the response to an error, for the function that formats it.

use std::borrow::Cow;
use std::error::Error;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Serialize;
use serde_json::Value;
use stockade_errors::{ApiError, ErrorKind, FieldError, status_text};
use stockade_json::to_json;

use crate::endpoint::ErrorContext;
use crate::error_settings::Settings;
use crate::{HttpBody, Response};

/// An error with its request and its response, which a function may change.
///
/// Such a function is an [`ErrorHandler`](crate::ErrorHandler). It receives the
/// default response, with the status and the headers of the error, and the body
/// from the settings. Everything that the function does not change is sent as
/// it is.
///
/// ```
/// use stockade::serde_json::{Map, json};
/// use stockade::{ErrorHandler, ErrorKind, ErrorReply};
///
/// /// Formats errors like Conduit: `{"errors": {"email": ["is required"]}}`.
/// fn conduit(error: &mut ErrorReply) {
///     let mut errors = Map::new();
///     for failed in error.field_errors() {
///         // The field of an error of the whole input is empty.
///         let field = if failed.field.is_empty() { "body" } else { failed.field.as_str() };
///         let texts = errors.entry(field).or_insert(json!([]));
///         texts.as_array_mut().into_iter().for_each(|list| list.push(json!(failed.message)));
///     }
///     if error.kind() != ErrorKind::Validation {
///         errors.insert("body".to_owned(), json!([error.message()]));
///     }
///     error.set_json(json!({ "errors": errors }));
/// }
///
/// let handler = ErrorHandler::from(conduit);
/// # let _ = handler;
/// ```
///
/// If the function also needs the headers or the user of the request, take a
/// [`RequestHead`](crate::RequestHead) as the second argument.
///
/// A client may see [`message`](Self::message) and [`details`](Self::details).
/// Only [`error`](Self::error) and [`source`](Self::source) contain the text of
/// a 5xx.
///
/// The client gets the router's plain 500 if the function panics or sets a body
/// that cannot be serialized.
#[derive(Debug)]
pub struct ErrorReply {
    error: ApiError,
    context: ErrorContext,
    settings: Settings,
    json: Value,
    response: Response,
    /// The failure of the function.
    failure: Option<ApiError>,
}

impl ErrorReply {
    pub(super) fn new(
        error: ApiError,
        context: &ErrorContext,
        settings: Settings,
        json: Value,
        response: Response,
    ) -> Self {
        Self { error, context: context.clone(), settings, json, response, failure: None }
    }

    /// Returns the response, or the failure of the function.
    pub(super) fn finish(mut self) -> Result<Response, ApiError> {
        let status = self.response.status().as_u16();
        if self.settings.problem_details && status != self.error.status() {
            self.correct_problem();
        }
        match self.failure {
            Some(failure) => Err(failure),
            None if (200..=599).contains(&status) => Ok(self.response),
            None => {
                let message = format!("an error handler set {status}, which is not a final status");
                Err(ApiError::new(500, message))
            }
        }
    }

    /// Updates the status in problem details, because RFC 9457, section 3.1.3,
    /// requires it to match the response.
    fn correct_problem(&mut self) {
        let is_problem = |value: &HeaderValue| value == "application/problem+json";
        if !self.response.headers().get(CONTENT_TYPE).is_some_and(is_problem) {
            return;
        }
        // A stream, or a body that is not JSON, comes from the function.
        let text = self.response.body().as_bytes();
        let Some(Ok(mut body)) = text.map(serde_json::from_slice::<Value>) else {
            return;
        };
        let (old, new) = (self.error.status(), self.response.status());
        let Some(members) = body.as_object_mut().filter(|it| it.get("status") == Some(&old.into()))
        else {
            return;
        };
        members.insert("status".to_owned(), new.as_u16().into());
        // The title of `about:blank` is the text of the status.
        let is_error = new.is_client_error() || new.is_server_error();
        if is_error && members.get("title").is_some_and(|title| title == status_text(old)) {
            members.insert("title".to_owned(), status_text(new.as_u16()).into());
        }
        // The framework's type also depends on the status.
        let base = self.settings.problem_base;
        let sent = self.error.problem_type_at(base);
        if is_error && members.get("type").is_some_and(|uri| *uri == *sent) {
            let error = self.error.clone().with_status(new.as_u16());
            members.insert("type".to_owned(), error.problem_type_at(base).into());
        }
        *self.response.body_mut() = body.to_string().into();
    }

    /// Returns the kind of the error.
    ///
    /// [`route`](Self::route) is `None` for a 404 of the router, when no route
    /// matches the path.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.error.kind()
    }

    /// Returns the message that the client may see. For a 5xx, this is the
    /// standard text of the status unless errors are exposed.
    #[must_use]
    pub fn message(&self) -> &str {
        self.error.public_message(self.settings.expose_errors)
    }

    /// Returns the details that the client may see. Returns `None` for a 5xx.
    #[must_use]
    pub fn details(&self) -> Option<&Value> {
        self.error.public_details()
    }

    /// Returns the failed fields, if this is a failed validation of fields.
    #[must_use]
    pub fn field_errors(&self) -> &[FieldError] {
        self.error.field_errors()
    }

    /// Returns the error itself, for decisions. Do not send its message if the
    /// status is a 5xx.
    #[must_use]
    pub fn error(&self) -> &ApiError {
        &self.error
    }

    /// Returns the cause of the error, such as an application error that became
    /// an [`ApiError`]. Use `downcast_ref` to get its type.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }

    /// Returns the pattern of the route, such as `/users/:id`, or `None` if no
    /// route matched.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.context.route()
    }

    /// Returns the method of the request.
    #[must_use]
    pub fn method(&self) -> &Method {
        self.context.method()
    }

    /// Returns the raw path of the request without the query.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.context.path()
    }

    /// Returns the request id, if there is one.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.context.id()
    }

    /// Returns the default body from the settings. It is sent unless the
    /// function sets another body.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Returns the problem type that problem details contain: an absolute URI
    /// or `about:blank`.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::serde_json::{Map, Value, from_slice, from_str};
    /// use stockade::{ErrorReply, http};
    ///
    /// #[derive(Debug, ApiError)]
    /// #[status(409, "{sku} is sold out", type = "sold-out")]
    /// struct SoldOut {
    ///     #[member]
    ///     sku: String,
    /// }
    ///
    /// fn envelope(error: &mut ErrorReply) {
    ///     let members: Map<_, _> =
    ///         error.members().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    ///     error.set_json(json!({ "problem": error.problem_type(), "about": members }));
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let options = RouterOptions::new()
    ///     .problem_details("https://shop.example/problems/")
    ///     .error_handling(envelope);
    /// let api = routes! { "orders": { POST: async || Err::<(), _>(SoldOut { sku: "7".into() }) } };
    /// let response = create_router(api, options)
    ///     .build()?
    ///     .handle(http::Request::post("/orders").body(())?)
    ///     .await;
    /// let expected = r#"{"about":{"sku":"7"},"problem":"https://shop.example/problems/sold-out"}"#;
    /// let body: Value = from_slice(response.body().as_bytes().unwrap())?;
    /// assert_eq!(body, from_str::<Value>(expected)?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn problem_type(&self) -> Cow<'_, str> {
        self.error.problem_type_at(self.settings.problem_base)
    }

    /// Returns the members of the error that the client may see. Returns none
    /// for a 5xx.
    pub fn members(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.error.public_members()
    }

    /// Returns the language for the client: the best match of the router's
    /// [`languages`](crate::Languages) for `Accept-Language`. The messages of
    /// failed fields use this language. Returns `None` if the router does not
    /// have languages.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        self.context.language()
    }

    /// Returns the status of the response, which is initially the status of the
    /// error.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Sets the status of the response, from 200 to 599. Any other status
    /// becomes the plain 500. In the body, only
    /// `status`, `title` and `type` of problem details change, if they still
    /// match the error.
    pub fn set_status(&mut self, status: StatusCode) {
        *self.response.status_mut() = status;
    }

    /// Returns the headers of the response: the content type, and the headers
    /// of the error, such as `Allow`, `Retry-After` and `WWW-Authenticate`.
    ///
    /// The headers of the router, the rate limit and CORS are added later.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns a mutable reference to the [headers](Self::headers) of the
    /// response.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        self.response.headers_mut()
    }

    /// Sets the body to a value as JSON. The content type stays
    /// `application/json`, or `application/problem+json` if the router sends
    /// problem details.
    pub fn set_json(&mut self, value: impl Serialize) {
        match to_json(&value) {
            Ok(json) => *self.response.body_mut() = json.into(),
            Err(error) => self.failure = Some(ApiError::internal(error)),
        }
    }

    /// Sets the body and its content type, such as `text/html; charset=utf-8`.
    pub fn set_body(&mut self, content_type: &str, body: impl Into<HttpBody>) {
        match HeaderValue::try_from(content_type) {
            Ok(content_type) => {
                self.response.headers_mut().insert(CONTENT_TYPE, content_type);
                *self.response.body_mut() = body.into();
            }
            Err(error) => self.failure = Some(ApiError::internal(error)),
        }
    }
}
