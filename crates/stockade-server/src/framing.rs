//! The framing of a request: the end of its body must be unambiguous.
//!
//! If two servers disagree on the end, a client can smuggle a request past the
//! first one. hyper ignores a `Content-Length` next to `chunked` and closes the
//! connection afterwards, as RFC 9112 requires. This module rejects other
//! codings that a proxy in front might read differently.
//!
//! Source: RFC 9112, sections 6.1 and 6.3.

use http::{HeaderMap, header};

/// Checks that a transfer coding is exactly `chunked`.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), &'static str> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        // RFC 9112 suggests 501, but any client could then flood the error log.
        _ => Err("Unsupported Transfer-Encoding"),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check_of(lines: &[(&'static str, &'static str)], expected: bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        assert_eq!(check(&headers).is_ok(), expected, "{lines:?}");
    }

    #[test]
    fn accepts_only_one_framing() {
        check_of(&[], true);
        check_of(&[("content-length", "5")], true);
        check_of(&[("transfer-encoding", "chunked")], true);
        check_of(&[("transfer-encoding", "Chunked")], true);
        check_of(&[("transfer-encoding", "gzip, chunked")], false);
        check_of(&[("transfer-encoding", "chunked, chunked")], false);
        check_of(&[("transfer-encoding", ",chunked")], false);
        check_of(&[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")], false);
        check_of(&[("transfer-encoding", "identity")], false);
    }
}
