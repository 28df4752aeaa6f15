//! Checks of the head other than framing and host: the target, `Content-Type`
//! and `Expect`.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Uri, Version, header};

/// Headers that matter before the route is known, and that most requests do not
/// have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EarlyHeaders {
    pub(crate) has_connection: bool,
    has_expect: bool,
}

impl EarlyHeaders {
    #[inline]
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut early = Self::default();
        if headers.keys_len() > FEW {
            early.has_connection = headers.contains_key(header::CONNECTION);
            early.has_expect = headers.contains_key(header::EXPECT);
            return early;
        }
        for name in headers.keys() {
            early.has_connection |= *name == header::CONNECTION;
            early.has_expect |= *name == header::EXPECT;
        }
        early
    }
}

/// Comparing up to this many header names costs less than two hashes.
const FEW: usize = 8;

/// Checks the head; the error is the status and the message for the client.
pub(crate) fn check(head: &Parts, early: EarlyHeaders) -> Result<(), (u16, &'static str)> {
    if !is_target(&head.uri) {
        return Err((400, "Malformed request target"));
    }
    // No header is duplicated, so `Content-Type` is not duplicated either.
    let twice = head.headers.keys_len() < head.headers.len();
    if twice && more_than_one_type(&head.headers) {
        return Err((400, "More than one Content-Type header"));
    }
    if early.has_expect && expects_what_is_unknown(head) {
        return Err((417, ""));
    }
    Ok(())
}

/// Returns true if the target is ASCII and its scheme, if any, is `http` or
/// `https`.
///
/// Source: RFC 9112, section 3.2; RFC 9110, section 4.2.
fn is_target(target: &Uri) -> bool {
    target.path_and_query().is_none_or(|path| path.as_str().is_ascii())
        && target.scheme_str().is_none_or(|scheme| matches!(scheme, "http" | "https"))
}

/// Returns true if there are two `Content-Type` lines. Some programs use the
/// first and others the last.
#[cold]
fn more_than_one_type(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_TYPE).iter().nth(1).is_some()
}

/// Returns true if `Expect` has an item other than `100-continue`.
///
/// Source: RFC 9110, section 10.1.1.
#[cold]
fn expects_what_is_unknown(head: &Parts) -> bool {
    let is_known = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"100-continue");
    // HTTP/1.0 does not define this header.
    head.version >= Version::HTTP_11 && !head.headers.get_all(header::EXPECT).iter().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks `headers`, written as `name: value` and separated by `|`.
    #[track_caller]
    fn check_of(version: Version, target: &str, headers: &str, expected: Result<(), u16>) {
        let mut request = http::Request::get(target).version(version);
        for line in headers.split('|').filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let status = check(&head, EarlyHeaders::of(&head.headers)).map_err(|(status, _)| status);
        assert_eq!(status, expected, "{version:?} {target} {headers}");
    }

    #[test]
    fn finds_early_headers_among_few_and_many() {
        for others in 0..2 * FEW {
            for (connection, expect) in [(false, false), (true, false), (false, true), (true, true)]
            {
                let mut headers = HeaderMap::new();
                for other in 0..others {
                    let name = format!("x-{other}").parse::<header::HeaderName>().unwrap();
                    headers.insert(name, HeaderValue::from_static(""));
                }
                for (name, is_there) in [(header::CONNECTION, connection), (header::EXPECT, expect)]
                {
                    if is_there {
                        headers.insert(name, HeaderValue::from_static(""));
                    }
                }
                let early = EarlyHeaders::of(&headers);
                assert_eq!((early.has_connection, early.has_expect), (connection, expect));
            }
        }
    }

    #[test]
    fn a_target_is_ascii_and_valid_http() {
        for version in [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2] {
            for good in ["/", "*", "/a?b=%C3%A9", "http://a/", "https://a/x", "HTTP://a", "a:443"] {
                check_of(version, good, "", Ok(()));
            }
            for wrong in ["/\u{e9}", "/?\u{e9}", "http://a/\u{e9}", "ftp://a/", "ws://a/", "x://a"]
            {
                check_of(version, wrong, "", Err(400));
            }
        }
    }

    #[test]
    fn a_body_has_one_type() {
        let one = "content-type: text/plain";
        check_of(Version::HTTP_11, "/", one, Ok(()));
        check_of(Version::HTTP_11, "/", &format!("{one}|accept: a|accept: b"), Ok(()));
        check_of(Version::HTTP_11, "/", &format!("{one}|{one}"), Err(400));
        check_of(Version::HTTP_2, "/", &format!("{one}|content-type: text/html"), Err(400));
    }

    #[test]
    fn accepts_only_the_100_continue_expectation() {
        check_of(Version::HTTP_11, "/", "expect: 100-Continue", Ok(()));
        check_of(Version::HTTP_11, "/", "expect: 100-continue|expect: 100-continue", Ok(()));
        for unknown in ["200-ok", "100-continue, x", "100-continue|expect: x", "100-continue; q=1"]
        {
            let expect = format!("host: a|expect: {unknown}");
            check_of(Version::HTTP_11, "/", &expect, Err(417));
            check_of(Version::HTTP_2, "/", &expect, Err(417));
            check_of(Version::HTTP_10, "/", &expect, Ok(()));
        }
    }
}
