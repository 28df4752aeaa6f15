//! The check of `Host`: exactly one, well-formed.
//!
//! If two programs attribute a request to different sites, an attacker can
//! poison caches and forge the links in password emails.
//!
//! Source: RFC 9112, section 3.2; RFC 9113, section 8.3.1; RFC 3986, section
//! 3.2.2.

use std::net::Ipv6Addr;

use http::request::Parts;
use http::{HeaderMap, Version, header};

/// Checks the host of a request; the error is the message for the client.
///
/// HTTP/1.0 does not require a host. On HTTP/2, `:authority` counts, and an
/// additional `Host` must be equal. On HTTP/1.1, the authority of the target,
/// if any, must also equal `Host`: RFC 9112 prefers the target, but not every
/// intermediary does.
pub(crate) fn check(head: &Parts) -> Result<(), &'static str> {
    if head.version < Version::HTTP_11 {
        return Ok(());
    }
    let host = match head.headers.iter().next() {
        // The usual case: `Host` is the first header, and no header is
        // duplicated.
        Some((name, host)) if *name == header::HOST && is_each_once(&head.headers) => Some(host),
        _ => {
            let mut hosts = head.headers.get_all(header::HOST).iter();
            let host = hosts.next();
            if hosts.next().is_some() {
                return Err("More than one Host header");
            }
            host
        }
    };
    let is_http2 = head.version == Version::HTTP_2;
    let host = host.map(http::HeaderValue::as_bytes);
    let host = match (host, head.uri.authority()) {
        (Some(host), Some(authority)) if is_http2 || head.uri.scheme().is_some() => {
            if !host.eq_ignore_ascii_case(authority.as_str().as_bytes()) {
                return Err(if is_http2 {
                    "Host and :authority differ"
                } else {
                    "Host and the request target differ"
                });
            }
            host
        }
        (Some(host), _) => host,
        (None, Some(authority)) if is_http2 => authority.as_str().as_bytes(),
        (None, _) => return Err("Missing Host header"),
    };
    if is_valid(host) { Ok(()) } else { Err("Malformed Host header") }
}

fn is_each_once(headers: &HeaderMap) -> bool {
    headers.keys_len() == headers.len()
}

/// Returns true for `uri-host [ ":" port ]` with a non-empty host.
fn is_valid(host: &[u8]) -> bool {
    // Search from the end, because an address in brackets may also contain
    // colons.
    let (host, port) = match host.iter().rposition(|byte| !byte.is_ascii_digit()) {
        Some(colon) if host[colon] == b':' => (&host[..colon], &host[colon + 1..]),
        _ => (host, &[][..]),
    };
    is_port(port) && (is_plain_name(host) || is_name(host) || is_ipv6_in_brackets(host))
}

/// Fast check: accepts names without escapes, and never an invalid one. It does
/// not stop at an invalid byte; this takes 4 instructions per byte, a fifth of
/// the full check.
fn is_plain_name(host: &[u8]) -> bool {
    host.iter().fold(!host.is_empty(), |is_name, byte| is_name & IN_NAME[usize::from(*byte)])
}

fn is_ipv6_in_brackets(host: &[u8]) -> bool {
    let Some(address) = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) else {
        return false;
    };
    std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// Returns true for a `reg-name` of at least one character. IPv4 addresses are
/// also such names.
fn is_name(mut name: &[u8]) -> bool {
    if name.is_empty() {
        return false;
    }
    while let [byte, rest @ ..] = name {
        name = match (byte, rest) {
            (b'%', [high, low, rest @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                rest
            }
            (byte, rest) if IN_NAME[usize::from(*byte)] => rest,
            _ => return false,
        };
    }
    true
}

/// Returns true for a number up to 65,535, or for no digits: the grammar allows
/// a colon without a port.
fn is_port(digits: &[u8]) -> bool {
    let add = |port: u16, digit: &u8| port.checked_mul(10)?.checked_add(u16::from(digit - b'0'));
    digits.iter().try_fold(0, add).is_some()
}

/// True for the bytes of `unreserved` and `sub-delims`.
const IN_NAME: [bool; 256] = {
    let bytes = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=";
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_and_addresses_with_an_optional_port() {
        let cases: &[(&str, bool)] = &[
            ("example.com", true),
            ("EXAMPLE.com.", true),
            ("example.com:8080", true),
            ("example.com:", true),
            ("localhost", true),
            ("my_service-1", true),
            ("xn--bcher-kva.example", true),
            ("a%20b", true),
            ("127.0.0.1", true),
            ("127.0.0.1:65535", true),
            ("[::1]", true),
            ("[::1]:80", true),
            ("[::ffff:10.0.0.1]:80", true),
            ("", false),
            (":80", false),
            (" example.com", false),
            ("a b", false),
            ("a,b", true), // sub-delims may appear in a name, so this is one odd name
            ("example.com:http", false),
            ("example.com:65536", false),
            ("example.com:-1", false),
            ("example.com:80:80", false),
            ("user@example.com", false),
            ("example.com/x", false),
            ("example.com?x", false),
            ("example.com#x", false),
            ("http://example.com", false),
            ("a\\b", false),
            ("a%2", false),
            ("a%zz", false),
            ("b\u{fc}cher.example", false),
            ("::1", false),
            ("[]", false),
            ("[::1", false),
            ("[::1]80", false),
            ("[::1]:x", false),
            ("[fe80::1%25eth0]", false),
            ("[127.0.0.1]", false),
        ];
        for (host, expected) in cases {
            assert_eq!(is_valid(host.as_bytes()), *expected, "{host:?}");
        }
    }

    /// Checks `hosts`, separated by spaces, and a `target` parsed by the `http`
    /// crate.
    #[track_caller]
    fn check_head(version: Version, target: &str, hosts: &str, expected: Result<(), &str>) {
        let mut request = http::Request::get(target).version(version);
        for host in hosts.split_whitespace() {
            request = request.header("host", host);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(check(&head), expected, "{version:?} {target} {hosts}");
    }

    #[test]
    fn each_version_has_its_rule() {
        let (http10, http11, http2) = (Version::HTTP_10, Version::HTTP_11, Version::HTTP_2);
        check_head(http10, "/", "", Ok(()));
        check_head(http10, "/", "a b", Ok(()));
        check_head(http11, "/", "a.example", Ok(()));
        check_head(http11, "http://a.example:80/", "A.example:80", Ok(()));
        check_head(http11, "a.example:443", "b.example", Ok(())); // CONNECT, which is rejected
        let differ = Err("Host and the request target differ");
        check_head(http11, "http://b.example/", "a.example", differ);
        check_head(http11, "http://a.example:80/", "a.example", differ);
        check_head(http11, "http://u@a.example/", "a.example", differ);
        check_head(http10, "http://b.example/", "a.example", Ok(()));
        check_head(http11, "/", "", Err("Missing Host header"));
        check_head(http11, "http://a.example/", "", Err("Missing Host header"));
        check_head(http11, "/", "a a", Err("More than one Host header"));
        check_head(http11, "/", "a@b", Err("Malformed Host header"));
        check_head(http2, "http://a.example/", "", Ok(()));
        check_head(http2, "http://a.example/", "A.example", Ok(()));
        check_head(http2, "/", "a.example", Ok(()));
        check_head(http2, "http://a.example/", "b.example", Err("Host and :authority differ"));
        check_head(http2, "http://u@a.example/", "", Err("Malformed Host header"));
        check_head(http2, "/", "", Err("Missing Host header"));
    }
}
