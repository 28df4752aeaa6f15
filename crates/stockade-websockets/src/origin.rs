//! The `Origin` check: which pages may connect.
//!
//! A browser sends cookies with every handshake, even from a page of another
//! site. Neither a preflight nor the same-origin policy protects the handshake.
// Spec: WebSocket routes, rule 2.

/// Returns true if a page of `origin` may connect to `host`.
///
/// A list replaces the same-origin rule.
pub(crate) fn is_allowed(origin: &str, host: &str, tls: bool, list: Option<&[String]>) -> bool {
    match list {
        Some(list) => list.iter().any(|item| item == "*" || item == origin),
        None => is_same(origin, host, tls),
    }
}

/// Returns true if an origin has this host and port. The default port of the
/// origin's scheme equals no port.
///
/// Over TLS the scheme must be `https`, because a network attacker can forge
/// `http` pages. Without TLS both schemes match, because a proxy may have
/// terminated TLS.
fn is_same(origin: &str, host: &str, tls: bool) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let default = match scheme.to_ascii_lowercase().as_str() {
        "http" if !tls => ":80",
        "https" => ":443",
        _ => return false,
    };
    let bare = |text: &str| text.strip_suffix(default).unwrap_or(text).to_ascii_lowercase();
    !authority.is_empty() && !host.is_empty() && bare(authority) == bare(host)
}

/// Returns the configuration error in a list item, if any.
pub(crate) fn issue(item: &str) -> Option<String> {
    if item == "*" {
        return None;
    }
    let sound = item.split_once("://").is_some_and(|(scheme, rest)| {
        !scheme.is_empty()
            && !rest.is_empty()
            && !rest.contains(['/', '?', '#', '@', '*'])
            && !item.contains(char::is_whitespace)
    });
    (!sound).then(|| format!("{item:?} is not an origin such as \"https://example.com\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origin: &str, host: &str, expected: bool) {
        assert_eq!(is_allowed(origin, host, false, None), expected, "{origin} to {host}");
        let on_tls = expected && origin.starts_with("https");
        assert_eq!(is_allowed(origin, host, true, None), on_tls, "{origin} to {host} on TLS");
    }

    #[test]
    fn the_same_origin_has_the_same_host_and_port() {
        check("https://example.com", "example.com", true);
        check("https://EXAMPLE.com", "Example.COM", true);
        check("https://example.com", "example.com:443", true);
        check("http://example.com:80", "example.com", true);
        check("http://localhost:3000", "localhost:3000", true);
        check("http://[::1]:3000", "[::1]:3000", true);

        check("http://example.com:443", "example.com", false);
        check("http://example.com", "example.com:443", false);
        check("http://localhost:3001", "localhost:3000", false);
        check("https://evil.example.com", "example.com", false);
        check("https://example.com.evil.com", "example.com", false);
        check("https://evil.com#example.com", "example.com", false);
        check("null", "example.com", false);
        check("null", "null", false);
        check("https://", "", false);
        check("", "", false);
        check("file://", "example.com", false);
    }

    #[test]
    fn a_list_replaces_the_same_origin_rule() {
        let list = ["https://app.example.com".to_owned()];
        let allowed = |origin| is_allowed(origin, "example.com", true, Some(&list));
        assert!(allowed("https://app.example.com"));
        assert!(!allowed("https://APP.example.com"), "exactly");
        assert!(!allowed("https://example.com"), "not even the same origin");
        assert!(!is_allowed("https://example.com", "example.com", true, Some(&[])));
        assert!(is_allowed("null", "example.com", true, Some(&["*".to_owned()])));
    }

    #[test]
    fn origins_that_can_never_match_are_errors() {
        for sound in ["*", "https://example.com", "http://localhost:3000", "app://shop"] {
            assert_eq!(issue(sound), None);
        }
        for wrong in ["", "example.com", "https://example.com/", "https://*.example.com", "null"] {
            assert!(issue(wrong).is_some(), "{wrong}");
        }
    }
}
