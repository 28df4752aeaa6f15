//! Responses and their security headers.

use bench_common::header::{CORS, ORIGINS, SECURITY};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, VARY};
use hyper::{Response, StatusCode};

pub(crate) type Answer = Response<Full<Bytes>>;

pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

pub(crate) fn not_found() -> Answer {
    json(StatusCode::NOT_FOUND, r#"{"error":"Not Found"}"#)
}

/// Adds the security and CORS headers.
pub(crate) fn protect(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    headers.reserve(16);
    for (name, value) in SECURITY {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = origin.filter(|origin| ORIGINS.iter().any(|allowed| origin == allowed))
    else {
        return;
    };
    let [(allow, _), (credentials, yes), (expose, names), _] = CORS;
    headers.insert(HeaderName::from_static(allow), origin);
    headers.insert(HeaderName::from_static(credentials), HeaderValue::from_static(yes));
    headers.insert(HeaderName::from_static(expose), HeaderValue::from_static(names));
}
