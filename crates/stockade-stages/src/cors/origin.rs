//! The syntax of an origin.
//!
//! Source: RFC 6454, section 6.2.

/// Returns true only for `<scheme>://<host>` and `<scheme>://<host>:<port>`. A
/// path, a user, `null` and `*` are invalid.
#[must_use]
pub fn is_origin(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    // The colons of an IPv6 address precede its closing bracket. Without a
    // bracket, the first colon precedes the port.
    let after_host = rest.rfind(']').unwrap_or_default();
    let (host, port) = match rest[after_host..].find(':') {
        Some(at) => (&rest[..after_host + at], Some(&rest[after_host + at + 1..])),
        None => (rest, None),
    };
    is_scheme(scheme) && is_host(host) && port.is_none_or(is_port)
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn is_host(host: &str) -> bool {
    if let Some(inside) = host.strip_prefix('[') {
        let address = inside.strip_suffix(']');
        return address.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    }
    !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

fn is_port(port: &str) -> bool {
    // `str::parse::<u16>` accepts a leading `+`; a port does not.
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_scheme_host_and_port() {
        for text in [
            "https://app.example",
            "http://localhost:3000",
            "http://[::1]",
            "http://[::1]:8080",
            "http://127.0.0.1:0",
            "capacitor://localhost",
            "chrome-extension://abcdef",
            "https://xn--bcher-kva.example",
            "HTTPS://App.Example",
        ] {
            assert!(is_origin(text), "{text:?}");
        }
    }

    #[test]
    fn rejects_anything_else() {
        for text in [
            "",
            "null",
            "*",
            "app.example",
            "https://",
            "://app.example",
            "https:app.example",
            "https://app.example/",
            "https://app.example/path",
            "https://app.example?x",
            "https://user@app.example",
            "https://app.example:",
            "https://app.example:65536",
            "https://app.example:+1",
            "https://a:1:2",
            " https://app.example",
            "https://app.example ",
            "https://*.example",
            "https://bücher.example",
            "https://app.example, https://admin.example",
            "https://app.example\r\n",
            "http://[::1",
            "http://::1",
            "http://[::1]x",
            "1http://x",
        ] {
            assert!(!is_origin(text), "{text:?}");
        }
    }
}
