//! [`ErrorReply`]: the response to an error, for the function that shapes it.

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

/// An error on its way to the client: the error, the request that it came from,
/// and the response, which a function may change.
///
/// Such a function is an [`ErrorHandler`](crate::ErrorHandler). It gets the
/// response as it would be sent: with the status and the headers of the error,
/// and with the body that the settings make. All that it leaves alone stays.
///
/// ```
/// use stockade::serde_json::{Map, json};
/// use stockade::{ErrorHandler, ErrorKind, ErrorReply};
///
/// /// Answers as Conduit does: `{"errors": {"email": ["is required"]}}`.
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
/// A function that also needs the headers or the user of the request takes a
/// [`RequestHead`](crate::RequestHead) as its second argument.
///
/// A client may read [`message`](Self::message) and [`details`](Self::details);
/// the text of a 5xx is behind [`error`](Self::error) and
/// [`source`](Self::source) alone.
///
/// A function that panics, or gives a body that cannot be serialised, is
/// answered with the plain 500 of the router.
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

    /// Returns the response, or the error of the function that has changed it.
    pub(super) fn finish(mut self) -> Result<Response, ApiError> {
        let status = self.response.status().as_u16();
        if self.settings.problem_details && status != self.error.status() {
            self.correct_problem();
        }
        match self.failure {
            Some(failure) => Err(failure),
            None if (200..=599).contains(&status) => Ok(self.response),
            None => {
                let message = format!("an error handler gave {status}, which is no final status");
                Err(ApiError::new(500, message))
            }
        }
    }

    /// Gives problem details the status that the response has now: RFC 9457,
    /// section 3.1.3, wants both to be the same.
    fn correct_problem(&mut self) {
        let is_problem = |value: &HeaderValue| value == "application/problem+json";
        if !self.response.headers().get(CONTENT_TYPE).is_some_and(is_problem) {
            return;
        }
        // A body that comes in pieces, or is no JSON, is the function's own.
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
        // So is the type of the framework.
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
    /// A 404 of the router, where no route has the path, is told apart by
    /// [`route`](Self::route), which is `None` then.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.error.kind()
    }

    /// Returns the message that a client may read: of a 5xx the standard text of
    /// its status, unless errors are exposed.
    #[must_use]
    pub fn message(&self) -> &str {
        self.error.public_message(self.settings.expose_errors)
    }

    /// Returns the details that a client may read: none of a 5xx.
    #[must_use]
    pub fn details(&self) -> Option<&Value> {
        self.error.public_details()
    }

    /// Returns the fields that failed, if this is a failed validation of fields.
    #[must_use]
    pub fn field_errors(&self) -> &[FieldError] {
        self.error.field_errors()
    }

    /// Returns the error itself, for decisions. Its message is not for the
    /// client where the status is 5xx.
    #[must_use]
    pub fn error(&self) -> &ApiError {
        &self.error
    }

    /// Returns the cause of the error, such as the application's own error that
    /// became an [`ApiError`]; `downcast_ref` tells its type.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }

    /// Returns the pattern of the route, such as `/users/:id`; `None` if none
    /// took the request.
    #[must_use]
    pub fn route(&self) -> Option<&str> {
        self.context.route()
    }

    /// Returns the method of the request.
    #[must_use]
    pub fn method(&self) -> &Method {
        self.context.method()
    }

    /// Returns the path of the request, as it was sent, without the query.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.context.path()
    }

    /// Returns the name of the request in logs, if it has one.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.context.id()
    }

    /// Returns the body that the settings make of the error, which is sent
    /// unless the function sets another.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Returns the problem type of the error as problem details have it: an absolute URI, or
    /// `about:blank`.
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

    /// Returns the members of the error that a client may read: none of a 5xx.
    pub fn members(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.error.public_members()
    }

    /// Returns the language of the client's choice: the best of
    /// [`languages`](crate::Languages) of the router for `Accept-Language`. The messages of the
    /// failed fields are in this language. `None` if the router has no languages.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        self.context.language()
    }

    /// Returns the status of the response: at first that of the error.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Sets the status of the response, from 200 to 599; any other becomes the
    /// plain 500. The body stays as it is, but for `status` and `title` of problem
    /// details that still name the status of the error.
    pub fn set_status(&mut self, status: StatusCode) {
        *self.response.status_mut() = status;
    }

    /// Returns the headers of the response: the content type, and those of the
    /// error, such as `Allow`, `Retry-After` and `WWW-Authenticate`.
    ///
    /// The headers of the router, of the rate limit and of CORS come later.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the [headers](Self::headers) of the response, to change them.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        self.response.headers_mut()
    }

    /// Sets the body to a value as JSON. The content type stays
    /// `application/json`, or `application/problem+json` where the router sends
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
