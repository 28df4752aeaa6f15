//! [`Reply`]: what a handler may return.
//!
//! | value | answer |
//! |---|---|
//! | `()`, `None` | 204, no body |
//! | [`Json<T>`], `serde_json::Value`, `#[derive(Reply)]` | 200 `application/json` |
//! | `&'static str`, `String` | 200 `text/plain; charset=utf-8` |
//! | [`Html<T>`] | 200 `text/html; charset=utf-8` |
//! | `Bytes`, `Vec<u8>` | 200 `application/octet-stream` |
//! | [`Streamed`], [`Sse`] | 200, sent as it comes |
//! | [`Redirect`] | 303, 307 or 308 with `Location` |
//! | `StatusCode` | that status, no body |
//! | `(StatusCode, R)` | the answer of `R` with that status |
//! | `(HeaderMap, R)` | the answer of `R` with these headers |
//! | `Response` | itself |
//! | `Result<R, E>` | `R`, or `E` as an error |
//!
//! A handler may also write the response itself: [`ResponseWriter`].
//!
//! Spec: Handler contract.

mod json;
mod plain;
mod sse;
mod streamed;
pub(crate) mod writer;

pub use json::{Json, json_response};
pub use plain::{Html, Redirect};
pub use sse::{Event, Sse};
pub use streamed::Streamed;
pub use writer::ResponseWriter;

use http::{HeaderMap, StatusCode};
use stockade_errors::ApiError;

use crate::{Response, RouteDoc};

/// What a handler may return.
///
/// See the [module docs](self) for the table of answers.
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "this is what the handler returns",
    note = "return (), text, Json<T>, serde_json::Value, StatusCode, Response, or an Option or a Result of these",
    note = "for a struct of your own: #[derive(serde::Serialize, Reply)], or wrap it in Json"
)]
pub trait Reply {
    /// Makes the response.
    ///
    /// # Errors
    /// When the value is an error, or cannot be serialised, which is a 500.
    fn into_response(self) -> Result<Response, ApiError>;

    /// Says what the route answers.
    fn describe(_doc: &mut RouteDoc) {}
}

impl Reply for Response {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(self)
    }
}

impl Reply for () {
    fn into_response(self) -> Result<Response, ApiError> {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl Reply for StatusCode {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = Response::default();
        *response.status_mut() = self;
        Ok(response)
    }
}

impl Reply for std::convert::Infallible {
    fn into_response(self) -> Result<Response, ApiError> {
        match self {}
    }
}

impl<R: Reply> Reply for Option<R> {
    fn into_response(self) -> Result<Response, ApiError> {
        match self {
            Some(reply) => reply.into_response(),
            None => ().into_response(),
        }
    }

    fn describe(doc: &mut RouteDoc) {
        R::describe(doc);
    }
}

impl<R: Reply, E: Into<ApiError>> Reply for Result<R, E> {
    fn into_response(self) -> Result<Response, ApiError> {
        self.map_err(Into::into)?.into_response()
    }

    fn describe(doc: &mut RouteDoc) {
        R::describe(doc);
    }
}

impl<R: Reply> Reply for (StatusCode, R) {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = self.1.into_response()?;
        *response.status_mut() = self.0;
        Ok(response)
    }

    fn describe(doc: &mut RouteDoc) {
        R::describe(doc);
    }
}

impl<R: Reply> Reply for (HeaderMap, R) {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = self.1.into_response()?;
        // A header of the map replaces that of the reply.
        response.headers_mut().extend(self.0);
        Ok(response)
    }

    fn describe(doc: &mut RouteDoc) {
        R::describe(doc);
    }
}

impl<R: Reply> Reply for (StatusCode, HeaderMap, R) {
    fn into_response(self) -> Result<Response, ApiError> {
        (self.0, (self.1, self.2)).into_response()
    }

    fn describe(doc: &mut RouteDoc) {
        R::describe(doc);
    }
}
