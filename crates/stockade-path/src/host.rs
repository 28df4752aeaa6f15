//! [`HostPattern`], which restricts routes to a host, and the parser of request
//! hosts.
//!
//! A host is matched like a path, label by label: `:tenant.example.com` is the
//! pattern `/:tenant/example/com`.

use std::net::Ipv6Addr;

use crate::Pattern;

/// A host that routes are restricted to: text and parameters separated by dots.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostPattern {
    text: String,
    pattern: Pattern,
}

impl HostPattern {
    /// Parses a host such as `api.example.com` or `:tenant.example.com`. Letter
    /// case and a trailing dot are ignored.
    ///
    /// # Errors
    /// Returns a message that describes the invalid part.
    pub fn parse(host: &str) -> Result<Self, String> {
        let fault = |reason: &str| Err(format!("host {host:?} {reason}"));
        let text = lower_case(host.strip_suffix('.').unwrap_or(host));
        if text.is_empty() {
            return fault("is empty: use a name such as `api.example.com`");
        }
        if let Some(address) = address_in_brackets(&text) {
            let Some(address) = address else { return fault("has a malformed IPv6 address") };
            let pattern = Pattern::parse(&address.replace(':', r"\:"));
            let pattern = pattern.map_err(|error| error.to_string())?;
            return Ok(Self { text: address, pattern });
        }
        if text.contains(['/', '@', '?', '#', '\\']) {
            return fault("is not a host name: remove the scheme, path and user");
        }
        if text.contains('*') {
            return fault("contains `*`: use a parameter such as `:tenant`");
        }
        if !text.is_ascii() {
            return fault("contains non-ASCII characters: use the form that begins with `xn--`");
        }
        if text.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|it| it.is_ascii_digit()))
        {
            return fault("contains a port: remove it, because routes match every port");
        }
        if text.contains("..") || text.starts_with('.') {
            return fault("contains an empty label between dots");
        }
        let is_allowed = |byte: u8| is_in_label(byte) || b".:$".contains(&byte);
        if !text.bytes().all(|byte| is_allowed(byte.to_ascii_lowercase())) {
            return fault(
                "contains a character that is not allowed in hosts: use `:tenant` for a parameter",
            );
        }
        let pattern = Pattern::parse(&text.replace('.', "/"));
        let pattern = pattern.map_err(|error| format!("host {host:?}: {error}"))?;
        Ok(Self { text, pattern })
    }

    /// Returns the notation in lower case, without a trailing dot.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the pattern of the labels.
    #[must_use]
    pub fn labels(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the names of the parameters in order.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.pattern.params().map(|(name, _)| name)
    }
}

/// Returns a host in lower case, except the names of its parameters.
fn lower_case(host: &str) -> String {
    let mut in_name = false;
    let lower = host.chars().map(|character| {
        in_name = character == ':'
            || in_name && (character.is_alphanumeric() || "_$".contains(character));
        if in_name { character } else { character.to_ascii_lowercase() }
    });
    lower.collect()
}

/// Returns the bracketed address in its canonical form. The inner `Option` is
/// `None` if the address is malformed.
fn address_in_brackets(host: &str) -> Option<Option<String>> {
    let rest = host.strip_prefix('[')?;
    let address = rest.strip_suffix(']').and_then(|address| address.parse::<Ipv6Addr>().ok());
    Some(address.map(|address| format!("[{address}]")))
}

/// Returns true for a byte that may appear in a lowercase host label.
fn is_in_label(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte)
}

/// Returns the host of a request as a path of labels: `/acme/example/com` for
/// `Acme.Example.com.:8080`. Returns `None` if the text is neither a name nor
/// an address.
///
/// Source: RFC 9110, section 7.2; RFC 3986, section 3.2.2.
#[must_use]
pub fn labels_of(host: &[u8]) -> Option<String> {
    let host = std::str::from_utf8(host).ok()?.to_ascii_lowercase();
    // Search from the end: a bracketed address also contains colons.
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => &host,
    };
    if let Some(address) = address_in_brackets(host) {
        return address.map(|address| format!("/{address}"));
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(is_in_label);
    let is_name = name.len() <= 253 && name.split('.').all(is_label);
    is_name.then(|| format!("/{}", name.replace('.', "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_patterns_of_labels() {
        for (host, text, labels) in [
            ("api.example.com", "api.example.com", "/api/example/com"),
            (":tenant.Example.COM.", ":tenant.example.com", "/:tenant/example/com"),
            (":tenantId.example.com", ":tenantId.example.com", "/:tenantId/example/com"),
            ("Shop-:id.example.com", "shop-:id.example.com", "/shop-:id/example/com"),
            ("localhost", "localhost", "/localhost"),
            ("127.0.0.1", "127.0.0.1", "/127/0/0/1"),
            ("[2001:DB8::0:1]", "[2001:db8::1]", r"/[2001\:db8\:\:1]"),
        ] {
            let pattern = HostPattern::parse(host).unwrap();
            assert_eq!(pattern.as_str(), text, "{host}");
            assert_eq!(pattern.labels().as_str(), labels, "{host}");
        }
    }

    #[test]
    fn rejects_other_hosts() {
        for (host, reason) in [
            ("", "is empty"),
            (".", "is empty"),
            ("https://example.com", "not a host name"),
            ("example.com/x", "not a host name"),
            ("user@example.com", "not a host name"),
            ("*.example.com", "use a parameter"),
            ("caf\u{e9}.example", "xn--"),
            ("example.com:8080", "contains a port"),
            (":tenant.example.com:", "contains a port"),
            ("a..b", "empty label"),
            (".example.com", "empty label"),
            ("a b.example", "not allowed in hosts"),
            (":tenant(a|b).example.com", "not allowed in hosts"),
            (":tenant?.example.com", "not a host name"),
            ("[::1", "IPv6"),
            ("[::1]:80", "IPv6"),
            (":a.:a.example", "duplicate parameter"),
            ("shop:id.example.com", "directly after a letter"),
        ] {
            let error = HostPattern::parse(host).unwrap_err();
            assert!(error.contains(reason), "{host}: {error}");
        }
    }

    #[test]
    fn hosts_of_requests_are_normalized() {
        for (host, expected) in [
            ("acme.example.com", Some("/acme/example/com")),
            ("ACME.Example.com.:8080", Some("/acme/example/com")),
            ("localhost:", Some("/localhost")),
            ("my_host-1", Some("/my_host-1")),
            ("[2001:DB8:0::1]:443", Some("/[2001:db8::1]")),
            ("127.0.0.1:80", Some("/127/0/0/1")),
            ("", None),
            (":80", None),
            ("a..b", None),
            ("a.b..", None),
            ("a/b", None),
            ("a%2eb", None),
            ("u@a.b", None),
            ("a b", None),
            ("a\0b", None),
            ("[::1", None),
            ("[::1]x", None),
            ("b\u{fc}cher.example", None),
        ] {
            assert_eq!(labels_of(host.as_bytes()).as_deref(), expected, "{host:?}");
        }
        assert_eq!(labels_of(b"\xff.example"), None);
        assert_eq!(labels_of("a".repeat(64).as_bytes()), None);
        assert_eq!(labels_of("a.".repeat(127).as_bytes()).map(|it| it.len()), Some(254));
        assert_eq!(labels_of("a.".repeat(128).as_bytes()), None);
    }
}
