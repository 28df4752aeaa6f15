//! The last HTTP rules for a response from a handler, middleware or the router.
//!
//! Hot: each response passes through here.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use http_body::Body as _;
use stockade_core::{HttpBody, Response, error_of};
use stockade_errors::ApiError;

/// Finishes a response from any source. Depends only on the method and version
/// of its request.
pub(crate) fn finish_response(response: &mut Response, is_head: bool, version: Version) {
    let status = response.status().as_u16();
    // An error handler may have changed the status of an unread body.
    let was_unread = matches!(error_of(response).map(ApiError::status), Some(408 | 413));
    if is_head || matches!(status, 204 | 205 | 304) {
        without_body(response, is_head);
    }
    // The rest of the body is not read, so the connection cannot be reused.
    if (matches!(status, 408 | 413) || was_unread) && version <= Version::HTTP_11 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Removes headers that would make the response a malformed message.
///
/// The host does the framing, because it knows the length of the message.
///
/// An empty body in a response to HEAD, or in a 304, may have the length of
/// another body.
pub(crate) fn correct_framing(response: &mut Response, is_head: bool) {
    // Most responses do not need a correction. Comparing a few names takes a
    // tenth of the time of two lookups.
    let frames =
        |name: &HeaderName| matches!(*name, header::TRANSFER_ENCODING | header::CONTENT_LENGTH);
    if !response.headers().keys().any(frames) {
        return;
    }
    if response.headers().contains_key(header::TRANSFER_ENCODING) {
        remove_transfer_encoding(response.headers_mut());
    }
    let Some(length) = response.body().size_hint().exact() else { return };
    if length == 0 && (is_head || response.status() == StatusCode::NOT_MODIFIED) {
        return;
    }
    let wrong = |value: &HeaderValue| {
        value.to_str().ok().and_then(|text| text.parse().ok()) != Some(length)
    };
    if response.headers().get(header::CONTENT_LENGTH).is_some_and(wrong) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
        log::error!(target: "stockade", "removed a wrong Content-Length from a handler's response");
    }
}

/// Removes `Transfer-Encoding`, which belongs to one connection.
///
/// A proxy forwards `chunked` from its upstream with a decoded body. This is
/// not an error, but it would log a line for each response. A body in any other
/// coding cannot be read.
#[cold]
fn remove_transfer_encoding(headers: &mut HeaderMap) {
    let mut values = headers.get_all(header::TRANSFER_ENCODING).iter();
    let is_chunked = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"chunked");
    let level = if values.all(is_chunked) { log::Level::Debug } else { log::Level::Error };
    headers.remove(header::TRANSFER_ENCODING);
    log::log!(target: "stockade", level, "removed Transfer-Encoding from a handler's response");
}

/// Removes the body. A response to HEAD keeps the length that the body has.
///
/// Source: RFC 9110, sections 9.3.2 (HEAD), 15.3.5 (204), 15.3.6 (205) and
/// 15.4.5 (304).
fn without_body(response: &mut Response, is_head: bool) {
    let length = response.body().size_hint().exact();
    *response.body_mut() = HttpBody::empty();
    let status = response.status().as_u16();
    let headers = response.headers_mut();
    match status {
        204 => {
            headers.remove(header::CONTENT_TYPE);
            headers.remove(header::CONTENT_LENGTH);
        }
        205 => {
            headers.remove(header::CONTENT_TYPE);
            headers.insert(header::CONTENT_LENGTH, 0.into());
        }
        304 => {}
        _ if is_head => {
            // A service or an upstream may already omit the body of a HEAD
            // response, so an empty body does not indicate the length for GET.
            if let Some(length) = length.filter(|length| *length > 0) {
                headers.entry(header::CONTENT_LENGTH).or_insert(length.into());
            }
        }
        _ => {}
    }
}
