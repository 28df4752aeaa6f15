//! Converts an actix-web request to a stockade request.

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::Version as TheirVersion;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use http::uri::{PathAndQuery, Uri};
use http::{HeaderMap, Method, Version, request::Parts};
use stockade_core::upgrade::{TlsConnection, Upgrade};
use stockade_core::{ApiError, HttpBody, PeerAddr, Request};
use stockade_routing::OriginalUri;

use crate::request_body::RequestBody;

/// Converts an actix-web request, with `path` as its path. If the request asks
/// for an upgrade, also returns the payload, which then contains the bytes of
/// the connection. If a service may be mounted, the original target is recorded
/// for it.
///
/// # Errors
/// Returns a 400 for a head that actix-web accepts but the `http` crate does
/// not.
pub(crate) fn translate(
    theirs: &HttpRequest,
    path: &str,
    payload: Payload,
    has_mounts: bool,
) -> Result<(Request, Option<Payload>), ApiError> {
    let unreadable = |error: http::Error| {
        log::debug!(target: "stockade::server", "cannot read a request: {error}");
        ApiError::new(400, "Bad Request")
    };
    let mut head = head(theirs, path).map_err(unreadable)?;
    let original = theirs.uri().path();
    if has_mounts && original != path {
        head.extensions.insert(OriginalUri(uri(theirs, original).map_err(unreadable)?));
    }
    if let Some(address) = theirs.peer_addr() {
        head.extensions.insert(PeerAddr(address));
    }
    if asks_to_upgrade(&head) {
        head.extensions.insert(Upgrade::http1());
        if theirs.app_config().secure() {
            head.extensions.insert(TlsConnection);
        }
        return Ok((Request::new(head, HttpBody::empty()), Some(payload)));
    }
    let body = match payload {
        Payload::None => HttpBody::empty(),
        payload => HttpBody::new(RequestBody::new(payload, length_of_endless(&head.headers))),
    };
    Ok((Request::new(head, body), None))
}

fn head(theirs: &HttpRequest, path: &str) -> Result<Parts, http::Error> {
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.method = Method::from_bytes(theirs.method().as_str().as_bytes())?;
    head.uri = uri(theirs, path)?;
    head.version = match theirs.version() {
        TheirVersion::HTTP_09 => Version::HTTP_09,
        TheirVersion::HTTP_10 => Version::HTTP_10,
        TheirVersion::HTTP_2 => Version::HTTP_2,
        TheirVersion::HTTP_3 => Version::HTTP_3,
        _ => Version::HTTP_11,
    };
    head.headers = headers(theirs)?;
    Ok(head)
}

fn uri(theirs: &HttpRequest, path: &str) -> Result<Uri, http::Error> {
    let uri = theirs.uri();
    let target = match uri.query() {
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}"))?,
        None => PathAndQuery::try_from(path)?,
    };
    let Some((scheme, authority)) = uri.scheme_str().zip(uri.authority()) else {
        return Ok(Uri::from(target));
    };
    let builder = Uri::builder().scheme(scheme).authority(authority.as_str());
    builder.path_and_query(target).build()
}

fn headers(theirs: &HttpRequest) -> Result<HeaderMap, http::Error> {
    let mut headers = HeaderMap::with_capacity(theirs.headers().len());
    for (name, value) in theirs.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes())?;
        headers.append(name, HeaderValue::from_bytes(value.as_bytes())?);
    }
    Ok(headers)
}

/// Returns true if the bytes after the head are not a body, but the connection
/// itself.
fn asks_to_upgrade(head: &Parts) -> bool {
    let headers = &head.headers;
    head.version == Version::HTTP_11
        && head.method == Method::GET
        && headers.contains_key(UPGRADE)
        && !headers.contains_key(TRANSFER_ENCODING)
        && headers.get(CONTENT_LENGTH).is_none_or(|length| length == "0")
}

/// Returns the length of a body that actix-web would read until the connection
/// ends, as it does with `Upgrade: websocket`. Returns `None` for bodies that
/// actix-web ends itself.
///
/// Source: RFC 9112, section 6.3.
fn length_of_endless(headers: &HeaderMap) -> Option<u64> {
    if !headers.contains_key(UPGRADE) || headers.contains_key(TRANSFER_ENCODING) {
        return None;
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    Some(length.unwrap_or(0))
}
