//! [`ResponseObject`]: the response to a call, created from the response of its
//! method.
//!
//! Hot: a JSON result is copied unchanged.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use stockade_core::error_settings::Settings;
use stockade_core::{BoxFuture, HttpBody, Response, error_of};

use crate::error_object::ErrorObject;

/// The response to one call.
///
/// Source: the specification of JSON-RPC 2.0, section 5.
#[derive(Debug)]
pub(crate) struct ResponseObject {
    /// The serialized object.
    pub(crate) text: Vec<u8>,
    /// The headers of the method's response, except content headers.
    pub(crate) headers: HeaderMap,
}

/// The call for which a response object is created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The id as received.
    pub(crate) id: &'a str,
    /// True if the call had no member `jsonrpc`.
    pub(crate) is_plain: bool,
    /// The name of the method.
    pub(crate) method: &'a str,
    pub(crate) settings: Settings,
    /// The remaining bytes for the response object.
    pub(crate) room: u64,
}

impl ResponseObject {
    /// Creates the response object of a call that did not reach its method.
    pub(crate) fn failed(id: &str, is_plain: bool, error: &ErrorObject) -> Self {
        Self { text: write_error(id, is_plain, error), headers: HeaderMap::new() }
    }

    /// Creates the response object from the response of a method.
    pub(crate) fn of(asked: Asked<'_>, response: Response) -> Made<'_> {
        let error = error_object_of(&response, asked.settings);
        let (parts, body) = response.into_parts();
        let mut headers = parts.headers;
        let form = form_of(parts.status, &headers);
        // Most responses have only a content type.
        if form != Form::Json || headers.len() > 1 {
            CONTENT.iter().for_each(|name| drop(headers.remove(name)));
        }
        let written = match (error, body.as_bytes()) {
            (Some(error), _) => Err(error),
            (None, Some(bytes)) => write_result(asked, form, bytes),
            (None, None) => {
                let read =
                    async move { Self::made(asked, collect(asked, form, body).await, headers) };
                return Made::Later(Box::pin(read));
            }
        };
        Made::Now(Self::made(asked, written, headers))
    }

    fn made(asked: Asked<'_>, written: Result<Vec<u8>, ErrorObject>, headers: HeaderMap) -> Self {
        let text = written.unwrap_or_else(|error| write_error(asked.id, asked.is_plain, &error));
        Self { text, headers }
    }
}

/// A response object, or a boxed future if the result is a stream. The box
/// keeps other calls small.
pub(crate) enum Made<'a> {
    Now(ResponseObject),
    Later(BoxFuture<'a, ResponseObject>),
}

/// Returns the error of a response, if it is an error.
fn error_object_of(response: &Response, settings: Settings) -> Option<ErrorObject> {
    let status = response.status();
    if let Some(error) = error_of(response) {
        return Some(ErrorObject::of_error(error, status, settings));
    }
    if !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    let details = response.body().as_bytes().and_then(|body| serde_json::from_slice(body).ok());
    let retry_after = response.headers().get(header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    Some(ErrorObject::of_status(status.as_u16(), details, retry_after))
}

/// The format of a method's response body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Json,
    Text,
    /// Content that JSON cannot contain. Only an empty body has a result: null.
    Other,
}

fn form_of(status: StatusCode, headers: &HeaderMap) -> Form {
    let content_type = headers.get(header::CONTENT_TYPE).filter(|_| status.is_success());
    // The usual case, without a header lookup.
    if headers.len() == 1 && content_type.is_some_and(|value| value == "application/json") {
        return Form::Json;
    }
    let Some(content_type) = content_type.and_then(|value| value.to_str().ok()) else {
        return Form::Other;
    };
    // `split` returns at least one part.
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_encoded = headers.contains_key(header::CONTENT_ENCODING);
    match essence {
        _ if is_encoded => Form::Other,
        "application/json" => Form::Json,
        _ if essence.ends_with("+json") => Form::Json,
        _ if essence.starts_with("text/") => Form::Text,
        _ => Form::Other,
    }
}

/// Reads a complete result and creates its response object.
async fn collect(asked: Asked<'_>, form: Form, body: HttpBody) -> Result<Vec<u8>, ErrorObject> {
    match body.collect(asked.room).await {
        Ok(bytes) => write_result(asked, form, &bytes),
        Err(error) => {
            let method = asked.method;
            log::error!(target: TARGET, "rpc:{method}: its result was cut off: {error}");
            Err(ErrorObject::INTERNAL)
        }
    }
}

fn write_result(asked: Asked<'_>, form: Form, body: &[u8]) -> Result<Vec<u8>, ErrorObject> {
    if body.len() as u64 > asked.room {
        return Err(ErrorObject::too_large());
    }
    let text;
    let result = match form {
        _ if body.is_empty() => b"null".as_slice(),
        Form::Json => body,
        Form::Text => {
            text = serde_json::to_vec(&String::from_utf8_lossy(body))
                .map_err(|_| ErrorObject::INTERNAL)?;
            &text
        }
        Form::Other => {
            let method = asked.method;
            log::error!(target: TARGET, "rpc:{method}: its result is neither JSON nor text");
            return Err(ErrorObject::INTERNAL);
        }
    };
    Ok(write(asked.id, asked.is_plain, "result", result))
}

fn write_error(id: &str, is_plain: bool, error: &ErrorObject) -> Vec<u8> {
    // Its members are text, numbers and JSON, so serialization cannot fail.
    let error = serde_json::to_vec(error)
        .unwrap_or_else(|_| br#"{"code":-32603,"message":"Internal error"}"#.to_vec());
    write(id, is_plain, "error", &error)
}

/// Writes a response object: the version, the result or error, and the id.
fn write(id: &str, is_plain: bool, member: &str, value: &[u8]) -> Vec<u8> {
    let begin = if is_plain { "{\"" } else { "{\"jsonrpc\":\"2.0\",\"" };
    let parts: [&[u8]; 7] =
        [begin.as_bytes(), member.as_bytes(), b"\":", value, b",\"id\":", id.as_bytes(), b"}"];
    // The buffer has the exact length, so the response reuses it without a
    // copy.
    parts.concat()
}

/// Creates the HTTP response with one response object.
pub(crate) fn respond(object: ResponseObject) -> Response {
    let ResponseObject { text, mut headers } = object;
    headers.insert(header::CONTENT_TYPE, JSON);
    let mut response = Response::new(Bytes::from(text).into());
    *response.headers_mut() = headers;
    response
}

/// Creates the HTTP response to a message without response objects.
pub(crate) fn respond_nothing() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Headers that are dropped: content headers, which do not apply to a response
/// object, and error headers, which appear in its data.
const CONTENT: [HeaderName; 9] = [
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::CONTENT_DISPOSITION,
    header::CONTENT_RANGE,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LOCATION,
    header::RETRY_AFTER,
];

/// The log target for errors.
const TARGET: &str = "stockade::error";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, content_type: &str, body: &str, expected: &str) {
        let response =
            http::Response::builder().status(status).header("content-type", content_type);
        let response = response.body(HttpBody::from(body.to_owned())).unwrap();
        let settings = Settings::default();
        let asked = Asked { id: "7", is_plain: true, method: "a", settings, room: 20 };
        let Made::Now(object) = ResponseObject::of(asked, response) else {
            panic!("nothing here waits");
        };
        assert_eq!(
            String::from_utf8(object.text).unwrap(),
            expected,
            "{status} {content_type} {body}"
        );
    }

    #[test]
    fn a_body_is_a_result() {
        check(200, "application/json", "[1, 2]", r#"{"result":[1, 2],"id":7}"#);
        check(201, "application/hal+json", "{}", r#"{"result":{},"id":7}"#);
        check(200, "text/plain; charset=utf-8", "a\"b", r#"{"result":"a\"b","id":7}"#);
        check(200, "application/json", "", r#"{"result":null,"id":7}"#);
        check(204, "", "", r#"{"result":null,"id":7}"#);
    }

    #[test]
    fn unsuitable_responses_become_errors() {
        let internal = r#"{"error":{"code":-32603,"message":"Internal error"},"id":7}"#;
        check(200, "image/png", "png", internal);
        check(302, "application/json", "{}", internal);
        let large = r#"{"error":{"code":-32603,"message":"Internal error","data":{"reason":"the response is too large"}},"id":7}"#;
        check(200, "application/json", "\"123456789012345678901234567890\"", large);
        let conflict = r#"{"error":{"code":-32009,"message":"Conflict","data":{"status":409,"details":{"a":1}}},"id":7}"#;
        check(409, "application/json", r#"{"a":1}"#, conflict);
    }
}
