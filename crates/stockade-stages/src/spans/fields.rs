//! The field values of a span.

use std::fmt;

use http::header::HOST;
use http::uri::Authority;
use http::{Method, Version};
use stockade_core::Request;

use stockade_core::headers::only;

/// The name of a span: method and route.
pub(super) struct SpanName<'r>(pub(super) &'r Request);

impl fmt::Display for SpanName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An unknown method may be any text, and would create unlimited names.
        f.write_str(known_method(self.0.method()).unwrap_or("HTTP"))?;
        match self.0.route() {
            Some(route) => write!(f, " {route}"),
            None => Ok(()),
        }
    }
}

/// Returns the method if it is standardized.
pub(super) fn known_method(method: &Method) -> Option<&str> {
    const KNOWN: [&str; 10] =
        ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "QUERY"];
    KNOWN.contains(&method.as_str()).then_some(method.as_str())
}

/// Returns the scheme of the connection to this server.
pub(super) fn scheme(req: &Request) -> &'static str {
    if req.is_on_tls() { "https" } else { "http" }
}

/// Returns the authority of the target, or of the header `Host`.
pub(super) fn authority(req: &Request) -> Option<Authority> {
    req.uri().authority().cloned().or_else(|| {
        let host = only(req.headers(), &HOST)?;
        Authority::try_from(host.as_bytes()).ok()
    })
}

/// Returns the host of an authority, without the brackets of an IPv6 address.
pub(super) fn address(authority: &Authority) -> &str {
    authority.host().trim_start_matches('[').trim_end_matches(']')
}

pub(super) fn version(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_09 => Some("0.9"),
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        Version::HTTP_3 => Some("3"),
        _ => None,
    }
}
