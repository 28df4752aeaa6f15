//! `IntoError`: the errors that handlers and middleware may return.

use std::borrow::Cow;
use std::convert::Infallible;
use std::marker::PhantomData;

use http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use stockade_errors::{ApiError, BoxError};
use stockade_json::SerializationError;
use stockade_validation::{HasSchema, ReadError};

use super::{Html, Json, Redirect};
use crate::description::{ResponseDoc, StatusDoc};
use crate::extract::FileNameError;
use crate::{BodyError, HttpBody, Reply, Response, RouteDescription};

/// An error that handlers and middleware may return: the `E` of a `Result<T,
/// E>`.
///
/// | error | response |
/// |---|---|
/// | [`ApiError`], a type with `#[derive(ApiError)]` | its status, with an error body |
/// | [`BoxError`], `std::io::Error`, `serde_json::Error` | 500, with the text only in the log; a boxed `ApiError` keeps its status |
/// | `StatusCode` of 400 and above | an `ApiError` with the standard text of the status |
/// | `(StatusCode, text)` of 400 and above | an `ApiError` with this message, hidden from the client if the status is a 5xx |
/// | `StatusCode`, `(StatusCode, text)` below 400 | sent as it is: not every early return is a failure, such as a 304 |
/// | `(StatusCode, T)` with `T` a `Json`, `Value` or `Html` | sent as it is |
/// | [`Redirect`], [`Response`] | sent as it is |
///
/// An `ApiError` passes through `error_handling`, which may change its form. A
/// reply that is sent as it is does not; if its status is a 5xx, it is logged.
///
/// ```
/// use stockade::extract::Path;
/// use stockade::http::StatusCode;
/// use stockade::reply::Redirect;
/// use stockade::BoxError;
///
/// async fn show(Path(id): Path<u32>) -> Result<String, StatusCode> {
///     if id == 7 { Ok("seven".to_owned()) } else { Err(StatusCode::NOT_FOUND) }
/// }
///
/// async fn half(Path(number): Path<String>) -> Result<String, (StatusCode, String)> {
///     let number: u32 = number.parse().map_err(|_| {
///         (StatusCode::BAD_REQUEST, format!("{number} is no number"))
///     })?;
///     Ok((number / 2).to_string())
/// }
///
/// async fn account() -> Result<&'static str, Redirect> {
///     Err(Redirect::to("/login"))
/// }
///
/// async fn read() -> Result<String, BoxError> {
///     Ok(std::fs::read_to_string("/etc/hostname")?)
/// }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/numbers/:id", show);
/// router.get("/halves/:number", half);
/// router.get("/account", account);
/// router.get("/name", read);
/// let client = TestClient::new(router);
/// client.get("/numbers/8").await.assert_status(404).assert_error("Not Found");
/// client.get("/halves/few").await.assert_status(400).assert_error("few is no number");
/// client.get("/account").await.assert_status(303).assert_header("location", "/login");
/// # }
/// ```
///
/// An error type without the derive defines its own response:
///
/// ```
/// use stockade::reply::IntoError;
/// use stockade::{ApiError, Response, RouteDescription};
///
/// struct Lost;
///
/// impl IntoError for Lost {
///     fn into_error_response(self) -> Result<Response, ApiError> {
///         Err(ApiError::not_found())
///     }
///
///     fn describe(doc: &mut RouteDescription) {
///         doc.may_respond(404, "There is no such page");
///     }
/// }
///
/// async fn show() -> Result<&'static str, Lost> {
///     Err(Lost)
/// }
/// # let _ = show;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned as an error",
    label = "this error cannot be converted to a response",
    note = "for your own error type, use `#[derive(Debug, ApiError)]` with `#[status(404, \"…\")]` on the type or on each variant, or `impl IntoError`",
    note = "for an error of another crate, return `ApiError` or `BoxError`; `?` converts any error to a `BoxError`, which becomes a 500",
    note = "StatusCode, (StatusCode, text), (StatusCode, Json<T>), Redirect and Response are errors too"
)]
pub trait IntoError: Sized {
    /// Converts the error to a response that is sent as it is, or to an
    /// `ApiError`.
    ///
    /// # Errors
    /// Returns the `ApiError`, which is sent in the application's error format.
    /// Most failures are one.
    fn into_error_response(self) -> Result<Response, ApiError>;

    /// Describes the error responses of a route. The default allows any error,
    /// which documents show as `default`.
    ///
    /// `#[derive(ApiError)]` describes the status and the message of each
    /// variant.
    fn describe(doc: &mut RouteDescription) {
        doc.responds(any_error());
    }
}

/// Returns the description of an error with any status.
fn any_error() -> ResponseDoc {
    ResponseDoc::error(StatusDoc::Default)
}

/// Describes the responses of a failure with a status known only at run time:
/// an error from 400, and `reply` below.
fn describe_by_status(doc: &mut RouteDescription, reply: fn(StatusDoc) -> ResponseDoc) {
    for class in [4, 5] {
        doc.responds(ResponseDoc::error(StatusDoc::Class(class)));
    }
    doc.responds(reply(StatusDoc::Default).meaning("A response that is not an error"));
}

/// Converts a failure to a response, and marks a 5xx for the log.
///
/// # Errors
/// Returns the error, unless the failure is a response.
pub fn answer_of<E: IntoError>(failure: E) -> Result<Response, ApiError> {
    failure.into_error_response().map(noted)
}

fn noted(mut response: Response) -> Response {
    if response.status().is_server_error() {
        response.extensions_mut().insert(FailedReply);
    }
    response
}

/// Marks a 5xx response that a handler returned as an error and that is not
/// logged yet.
#[derive(Clone, Copy)]
pub(crate) struct FailedReply;

impl IntoError for ApiError {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Err(self)
    }
}

impl IntoError for Infallible {
    fn into_error_response(self) -> Result<Response, ApiError> {
        match self {}
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl IntoError for Response {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Ok(self)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::unknown(StatusDoc::Default));
    }
}

impl IntoError for Redirect {
    fn into_error_response(self) -> Result<Response, ApiError> {
        self.into_response()
    }

    fn describe(doc: &mut RouteDescription) {
        <Self as Reply>::describe(doc);
    }
}

impl IntoError for StatusCode {
    fn into_error_response(self) -> Result<Response, ApiError> {
        if is_error(self) { Err(ApiError::new(self.as_u16(), "")) } else { self.into_response() }
    }

    fn describe(doc: &mut RouteDescription) {
        describe_by_status(doc, ResponseDoc::new);
    }
}

/// Returns true for an error status.
fn is_error(status: StatusCode) -> bool {
    status.as_u16() >= 400
}

macro_rules! errors_of_any_status {
    ($($error:ty)*) => {
        $(impl IntoError for $error {
            fn into_error_response(self) -> Result<Response, ApiError> {
                Err(self.into())
            }
        })*
    };
}

errors_of_any_status! { BoxError ReadError SerializationError }

macro_rules! errors_are_failures {
    ($($error:ty: $failures:expr;)*) => {
        $(impl IntoError for $error {
            fn into_error_response(self) -> Result<Response, ApiError> {
                Err(self.into())
            }

            fn describe(doc: &mut RouteDescription) {
                doc.may_fail(&$failures);
            }
        })*
    };
}

errors_are_failures! {
    std::io::Error: [(500, "")];
    serde_json::Error: [(500, "")];
    BodyError: [
        (400, "The body is malformed"),
        (408, "The body arrived too slowly"),
        (413, "The body is too large"),
    ];
    FileNameError: [(400, "The file name is not allowed")];
}

macro_rules! texts_are_messages {
    ($($text:ty)*) => {
        $(impl IntoError for (StatusCode, $text) {
            fn into_error_response(self) -> Result<Response, ApiError> {
                let (status, text) = self;
                if is_error(status) {
                    return Err(ApiError::new(status.as_u16(), text));
                }
                (status, text).into_response()
            }

            fn describe(doc: &mut RouteDescription) {
                describe_by_status(doc, |status| ResponseDoc::text(status, "text/plain"));
            }
        })*
    };
}

texts_are_messages! { String &'static str Cow<'static, str> }

macro_rules! replies_are_sent {
    ($([$($T:ident: $($bound:path)+)?] $reply:ty;)*) => {
        $(impl<$($T: $($bound +)+)?> IntoError for (StatusCode, $reply) {
            fn into_error_response(self) -> Result<Response, ApiError> {
                self.into_response()
            }

            fn describe(doc: &mut RouteDescription) {
                doc.responses_changed(<$reply>::describe, |answer| {
                    answer.set_status(StatusDoc::Default);
                });
            }
        })*
    };
}

replies_are_sent! {
    [] Value;
    [T: Serialize HasSchema] Json<T>;
    [T: Into<HttpBody>] Html<T>;
}

/// The field type of a transparent variant. `#[derive(ApiError)]` lets it
/// describe itself.
#[derive(Debug)]
pub struct InnerFailure<E>(PhantomData<E>);

impl<E> InnerFailure<E> {
    /// The only value.
    pub const NEW: Self = Self(PhantomData);
}

/// Describes a field that is an [`IntoError`].
pub trait DescribesFailure {
    /// Describes the responses of the failure.
    fn describe(&self, doc: &mut RouteDescription);
}

impl<E: IntoError> DescribesFailure for InnerFailure<E> {
    fn describe(&self, doc: &mut RouteDescription) {
        E::describe(doc);
    }
}

/// Describes any other field. The compiler uses it if [`DescribesFailure`] is
/// not implemented, because it needs one more reference.
pub trait DescribesUnknown {
    /// Describes an error with any status.
    fn describe(&self, doc: &mut RouteDescription);
}

impl<E> DescribesUnknown for &InnerFailure<E> {
    fn describe(&self, doc: &mut RouteDescription) {
        doc.responds(any_error());
    }
}
