//! [`Reply`]: the values that a handler may return.
//!
//! | value | response |
//! |---|---|
//! | `()`, `None` | 204, no body |
//! | [`Json<T>`], `serde_json::Value`, `#[derive(Serialize, Schema)]` | 200 `application/json` |
//! | [`JsonText<T>`], a text that is already JSON | 200 `application/json` |
//! | `&'static str`, `String` | 200 `text/plain; charset=utf-8` |
//! | [`Html<T>`] | 200 `text/html; charset=utf-8` |
//! | `Bytes`, `Vec<u8>` | 200 `application/octet-stream` |
//! | [`Download`] | 200, an uploaded file that browsers save |
//! | [`Streamed`], [`Sse`] | 200, sent as it is produced |
//! | [`Redirect`] | 303, 307 or 308 with `Location` |
//! | `StatusCode` | that status, no body |
//! | [`Created<R>`], [`Accepted<R>`], [`Status<CODE, R>`] | the response of `R` with status 201, 202 or `CODE` |
//! | `WithETag<V, R>` of `stockade::middleware` (feature `conditional`) | the response of `R` with the version `V` in `ETag`, or 304 |
//! | `(P, R)`, `(P, Q, R)` | the response of `R`, changed by the parts `P` and `Q`: a `StatusCode`, a `HeaderMap`, a list of pairs as headers, or another [`ReplyPart`] |
//! | `Response` | itself |
//! | `Result<R, E>` | `R`, or `E`, which is an [`IntoError`], such as an [`ApiError`], a `StatusCode` or a [`Redirect`] |
//!
//! A handler may also write the response itself: [`ResponseWriter`].
// Spec: Handler contract.

pub(crate) mod download;
pub(crate) mod into_error;
mod json;
mod plain;
pub(crate) mod sse;
mod status;
#[doc(hidden)]
pub mod store_error;
mod streamed;
pub(crate) mod writer;
pub(crate) mod writer_link;

pub use download::Download;
pub use into_error::IntoError;
pub(crate) use into_error::{FailedReply, answer_of};
pub use json::{Json, describe_json, json_response};
pub use plain::{Html, JsonText, Redirect};
pub use sse::{EndsAtShutdown, Event, Sse};
pub use status::{Accepted, Created, Status};
pub use streamed::Streamed;
pub use writer::ResponseWriter;

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use stockade_errors::ApiError;

use crate::description::{BodyDoc, ContentSchema, ResponseDoc, StatusDoc};
use crate::{Response, RouteDescription};

/// A value that a handler may return.
///
/// The [module docs](crate::reply) have a table of all responses.
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "this is what the handler returns",
    note = "return (), text, Json<T>, serde_json::Value, StatusCode, Response, or an Option or a Result of these",
    note = "for your own struct, use #[derive(serde::Serialize, Schema)], or wrap it in Json"
)]
pub trait Reply {
    /// Converts the value to a response.
    ///
    /// # Errors
    /// Fails if the value is an error, or with a 500 if it cannot be
    /// serialized.
    fn into_response(self) -> Result<Response, ApiError>;

    /// Describes the responses of a route that returns this type. By default,
    /// they are unknown.
    ///
    /// ```
    /// use stockade::description::ResponseDoc;
    /// use stockade::{ApiError, Reply, Response, RouteDescription};
    ///
    /// struct Csv(String);
    ///
    /// impl Reply for Csv {
    ///     fn into_response(self) -> Result<Response, ApiError> {
    ///         ([("content-type", "text/csv")], self.0).into_response()
    ///     }
    ///
    ///     fn describe(doc: &mut RouteDescription) {
    ///         doc.responds(ResponseDoc::text(200, "text/csv"));
    ///     }
    /// }
    /// # assert!(Csv("a,b".to_owned()).into_response().is_ok());
    /// ```
    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::unknown(StatusDoc::Class(2)));
    }
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

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::new(StatusCode::NO_CONTENT));
    }
}

impl Reply for StatusCode {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = Response::default();
        *response.status_mut() = self;
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::new(StatusDoc::Class(2)));
    }
}

/// A reply that never exists.
impl Reply for std::convert::Infallible {
    fn into_response(self) -> Result<Response, ApiError> {
        match self {}
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl<R: Reply> Reply for Option<R> {
    fn into_response(self) -> Result<Response, ApiError> {
        match self {
            Some(reply) => reply.into_response(),
            None => ().into_response(),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        R::describe(doc);
        <()>::describe(doc);
    }
}

impl<R: Reply, E: IntoError> Reply for Result<R, E> {
    fn into_response(self) -> Result<Response, ApiError> {
        match self {
            Ok(reply) => reply.into_response(),
            Err(failure) => answer_of(failure),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        R::describe(doc);
        E::describe(doc);
    }
}

/// The first element of a pair with a reply. It changes the response.
///
/// ```
/// use stockade::reply::ReplyPart;
/// use stockade::{ApiError, Reply, Response};
///
/// struct Lifetime(u32);
///
/// impl ReplyPart for Lifetime {
///     fn apply(self, response: &mut Response) -> Result<(), ApiError> {
///         let value = format!("max-age={}", self.0);
///         let value = value.parse().map_err(ApiError::internal)?;
///         response.headers_mut().insert("cache-control", value);
///         Ok(())
///     }
/// }
///
/// let response = (Lifetime(60), "text").into_response()?;
/// assert_eq!(response.headers()["cache-control"], "max-age=60");
/// # Ok::<(), ApiError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot precede a response",
    label = "not a part of a response",
    note = "parts are a StatusCode, a HeaderMap, a SetCookie, and lists of headers such as `[(header::ETAG, \"a\")]`",
    note = "the last element of a tuple is the response itself, as in `(StatusCode::CREATED, [(\"x-name\", \"value\")], \"text\")`"
)]
pub trait ReplyPart {
    /// Changes the response.
    ///
    /// # Errors
    /// Fails if the part is invalid in a response. The error becomes the
    /// response.
    fn apply(self, response: &mut Response) -> Result<(), ApiError>;

    /// Changes the description of a response in the same way that
    /// [`apply`](Self::apply) changes the response. The default does nothing.
    fn describe(_answer: &mut ResponseDoc) {}
}

/// The status is known only at run time, so documents contain `2XX`. Use
/// [`Created`], [`Accepted`] or [`Status`] to document the exact status.
impl ReplyPart for StatusCode {
    fn apply(self, response: &mut Response) -> Result<(), ApiError> {
        *response.status_mut() = self;
        Ok(())
    }

    fn describe(answer: &mut ResponseDoc) {
        answer.set_status(StatusDoc::Class(2));
    }
}

/// The headers replace the reply's headers with the same names, except
/// `Set-Cookie`: cookies are added to the reply's cookies.
impl ReplyPart for HeaderMap {
    fn apply(mut self, response: &mut Response) -> Result<(), ApiError> {
        let headers = response.headers_mut();
        // `Set-Cookie` lines are not a list: each sets another cookie.
        for cookie in self.get_all(SET_COOKIE) {
            headers.try_append(SET_COOKIE, cookie.clone()).map_err(ApiError::internal)?;
        }
        self.remove(SET_COOKIE);
        headers.extend(self);
        Ok(())
    }

    fn describe(answer: &mut ResponseDoc) {
        may_have_other_type(answer);
    }
}

/// Pairs of name and value, such as `[(header::ETAG, tag), (header::VARY, …)]`.
///
/// They replace the reply's headers with the same names. A repeated name keeps
/// all its values. `Set-Cookie` never replaces anything. An invalid header name
/// or value is a 500.
///
/// ```
/// use stockade::Reply;
/// use stockade::http::{StatusCode, header};
///
/// let headers = [(header::CONTENT_TYPE, "text/csv"), (header::CACHE_CONTROL, "no-store")];
/// let response = (StatusCode::CREATED, headers, "a,b").into_response()?;
/// assert_eq!(response.headers()["content-type"], "text/csv");
///
/// assert_eq!(([("x-file", "a\nb")], "text").into_response().unwrap_err().status(), 500);
/// # Ok::<(), stockade::ApiError>(())
/// ```
impl<N, V, const COUNT: usize> ReplyPart for [(N, V); COUNT]
where
    N: IntoHeaderName,
    V: IntoHeaderValue,
{
    fn apply(self, response: &mut Response) -> Result<(), ApiError> {
        add_pairs(response, self)
    }

    fn describe(answer: &mut ResponseDoc) {
        may_have_other_type(answer);
    }
}

/// Like an array of pairs, but the number of headers may vary.
impl<N, V> ReplyPart for Vec<(N, V)>
where
    N: IntoHeaderName,
    V: IntoHeaderValue,
{
    fn apply(self, response: &mut Response) -> Result<(), ApiError> {
        add_pairs(response, self)
    }

    fn describe(answer: &mut ResponseDoc) {
        may_have_other_type(answer);
    }
}

/// A header name in a list of pairs: any type that converts to a
/// [`HeaderName`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a header name",
    label = "not a header name",
    note = "a name is a `HeaderName` such as `header::ETAG`, or a string such as \"x-name\""
)]
pub trait IntoHeaderName {
    /// Converts the value to a header name.
    ///
    /// # Errors
    /// Fails if the text is not a valid name.
    fn into_header_name(self) -> Result<HeaderName, http::Error>;
}

#[diagnostic::do_not_recommend]
impl<N: TryInto<HeaderName, Error: Into<http::Error>>> IntoHeaderName for N {
    fn into_header_name(self) -> Result<HeaderName, http::Error> {
        self.try_into().map_err(Into::into)
    }
}

/// A header value in a list of pairs: any type that converts to a
/// [`HeaderValue`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a header value",
    label = "not a header value",
    note = "a value is a string, bytes, an integer or a `HeaderValue`; all pairs of a list must have the same types"
)]
pub trait IntoHeaderValue {
    /// Converts the value to a header value.
    ///
    /// # Errors
    /// Fails if the text is not a valid value.
    fn into_header_value(self) -> Result<HeaderValue, http::Error>;
}

#[diagnostic::do_not_recommend]
impl<V: TryInto<HeaderValue, Error: Into<http::Error>>> IntoHeaderValue for V {
    fn into_header_value(self) -> Result<HeaderValue, http::Error> {
        self.try_into().map_err(Into::into)
    }
}

fn add_pairs<N, V>(
    response: &mut Response,
    pairs: impl IntoIterator<Item = (N, V)>,
) -> Result<(), ApiError>
where
    N: IntoHeaderName,
    V: IntoHeaderValue,
{
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = name.into_header_name().map_err(ApiError::internal)?;
        let value = value.into_header_value().map_err(ApiError::internal)?;
        headers.try_append(name, value).map_err(ApiError::internal)?;
    }
    headers.apply(response)
}

/// Describes a response with a content type that a list of headers may replace.
/// Text often becomes CSV this way, but JSON stays JSON.
fn may_have_other_type(answer: &mut ResponseDoc) {
    let BodyDoc::Content(contents) = &mut answer.body else { return };
    for content in contents {
        if matches!(content.schema, ContentSchema::Text | ContentSchema::Bytes) {
            content.media_type = "*/*".into();
        }
    }
}

impl<P: ReplyPart> ReplyPart for Vec<P> {
    fn apply(self, response: &mut Response) -> Result<(), ApiError> {
        self.into_iter().try_for_each(|part| part.apply(response))
    }

    fn describe(answer: &mut ResponseDoc) {
        let before = answer.headers.len();
        P::describe(answer);
        // The part may be `None`.
        answer.headers[before..].iter_mut().for_each(|header| header.always = false);
    }
}

impl<P: ReplyPart, R: Reply> Reply for (P, R) {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = self.1.into_response()?;
        self.0.apply(&mut response)?;
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responses_changed(R::describe, P::describe);
    }
}

impl<P: ReplyPart, Q: ReplyPart, R: Reply> Reply for (P, Q, R) {
    fn into_response(self) -> Result<Response, ApiError> {
        (self.0, (self.1, self.2)).into_response()
    }

    fn describe(doc: &mut RouteDescription) {
        <(P, (Q, R))>::describe(doc);
    }
}

impl RouteDescription {
    /// Lets the return value of the handler describe itself.
    pub(crate) fn reply<R: Reply>(&mut self) {
        if !self.has_no_reply {
            R::describe(self);
        }
    }
}

#[doc(hidden)]
pub mod into_error_internals {
    pub use super::into_error::{DescribesFailure, DescribesUnknown, InnerFailure, answer_of};
}

#[doc(hidden)]
pub mod derive_internals {
    pub use serde::Serialize;
}

#[doc(hidden)]
pub mod sse_internals {
    pub use super::sse::EndOfStream;
}
