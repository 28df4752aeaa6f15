//! The GraphiQL page, at the path of the operations.

use std::sync::OnceLock;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, VARY,
};
use http::{HeaderMap, Method, StatusCode};
use stockade_core::{Reply as _, Response};
use stockade_errors::ApiError;
use stockade_graphiql::{PAGE, POLICY};
use stockade_middleware::__internal::refuses_gzip;
use stockade_middleware::{ETag, Outcome, Preconditions, Validators};

/// Responds to a browser that opens the path.
pub(crate) fn respond(headers: &HeaderMap) -> Result<Response, ApiError> {
    if refuses_gzip(headers) {
        return Err(ApiError::new(406, "the page is served only with gzip"));
    }
    static TAG: OnceLock<ETag> = OnceLock::new();
    let tag = TAG.get_or_init(|| ETag::of(PAGE));
    let written = tag.to_string();
    let conditions = Preconditions::of(&Method::GET, headers);
    let current = Validators::etag(tag.clone());
    let common = [
        (CACHE_CONTROL, "no-cache"),
        (ETAG, written.as_str()),
        // Operations have the same URL.
        (VARY, "accept, accept-encoding"),
    ];
    if conditions.evaluate(&current) == Outcome::NotModified {
        return (StatusCode::NOT_MODIFIED, common, Bytes::new()).into_response();
    }
    let own = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_ENCODING, "gzip"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    let headers = [common, own].concat();
    (headers, Bytes::from_static(PAGE)).into_response()
}
