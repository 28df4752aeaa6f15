//! Text, HTML, bytes and redirects.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use stockade_errors::ApiError;
use stockade_path::encoded;

use crate::description::{HeaderDoc, ResponseDoc};
use crate::{HttpBody, Reply, Response, RouteDescription, header_map_pool};

/// Text with the content type `text/html; charset=utf-8`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Html<T>(pub T);

impl<T: Into<HttpBody>> Reply for Html<T> {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(header_map_pool::response(self.0.into(), const { HeaderValue::from_static(HTML) }))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::text(200, "text/html"));
    }
}

/// Text that is already JSON, such as stored JSON. It is sent unchanged as
/// `application/json`.
///
/// ```
/// use stockade::Reply;
/// use stockade::reply::JsonText;
///
/// let response = JsonText(r#"{"status":"ok"}"#).into_response()?;
/// assert_eq!(response.headers()["content-type"], "application/json");
/// assert_eq!(response.body().as_bytes(), Some(br#"{"status":"ok"}"#.as_slice()));
/// # Ok::<(), stockade::ApiError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct JsonText<T>(pub T);

impl<T: Into<HttpBody>> Reply for JsonText<T> {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(header_map_pool::response(
            self.0.into(),
            const { HeaderValue::from_static("application/json") },
        ))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::any_json(200));
    }
}

impl Reply for &'static str {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(header_map_pool::response(self.into(), const { HeaderValue::from_static(TEXT) }))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::text(200, "text/plain"));
    }
}

impl Reply for String {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(header_map_pool::response(self.into(), const { HeaderValue::from_static(TEXT) }))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::text(200, "text/plain"));
    }
}

impl Reply for Cow<'static, str> {
    fn into_response(self) -> Result<Response, ApiError> {
        match self {
            Cow::Borrowed(text) => text.into_response(),
            Cow::Owned(text) => text.into_response(),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::text(200, "text/plain"));
    }
}

impl Reply for Bytes {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(header_map_pool::response(self.into(), const { HeaderValue::from_static(BYTES) }))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::bytes(200, BYTES));
    }
}

impl Reply for Vec<u8> {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(header_map_pool::response(self.into(), const { HeaderValue::from_static(BYTES) }))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responds(ResponseDoc::bytes(200, BYTES));
    }
}

/// Redirects the client to another address. Characters beyond ASCII are
/// percent-encoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Redirect {
    status: StatusCode,
    location: String,
}

impl Redirect {
    /// Creates a 303: the client fetches `location` with GET, for example after
    /// a POST.
    pub fn to(location: impl Into<String>) -> Self {
        Self { status: StatusCode::SEE_OTHER, location: location.into() }
    }

    /// Creates a 307: the client repeats the request at `location`.
    pub fn temporary(location: impl Into<String>) -> Self {
        Self { status: StatusCode::TEMPORARY_REDIRECT, location: location.into() }
    }

    /// Creates a 308: the client repeats the request at `location`, now and in
    /// the future.
    pub fn permanent(location: impl Into<String>) -> Self {
        Self { status: StatusCode::PERMANENT_REDIRECT, location: location.into() }
    }
}

impl Reply for Redirect {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = self.status.into_response()?;
        // A location with a line break is a 500, because the line break could
        // start another header.
        let location = encoded(&self.location);
        let location = HeaderValue::try_from(&*location).map_err(ApiError::internal)?;
        response.headers_mut().insert(header::LOCATION, location);
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        for status in [303_u16, 307, 308] {
            let location = HeaderDoc::new("Location", "The redirect target");
            doc.responds(ResponseDoc::new(status).header(location));
        }
    }
}

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";
