//! [`OutgoingUrl`]: a web address that a user chose.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};
use stockade_validation::{HasSchema, Rule};

use super::OutgoingError;

/// An absolute web address in a strict form, which every client reads in the
/// same way.
///
/// The scheme is `http` or `https`. The host is a name of letters, digits, `-`,
/// `_` and dots, or an IP address in its usual notation. It has at
/// most 2,048 bytes, all visible ASCII. A user name, a `\`, a quote, a brace or
/// any other bracket is an error.
///
/// As a field of a body, anything else is a validation failure. Nothing is
/// resolved before [`OutgoingRequest::resolve`](super::OutgoingRequest::resolve).
///
/// ```
/// use stockade::outgoing::OutgoingUrl;
///
/// let url = OutgoingUrl::parse("https://Example.com:8443/hook?a=1")?;
/// assert_eq!((url.host(), url.port(), url.is_https()), ("example.com", 8443, true));
/// assert!(OutgoingUrl::parse("http://user@example.com/").is_err());
/// assert!(OutgoingUrl::parse("http://0x7f.1/").is_err());
/// # Ok::<(), stockade::outgoing::OutgoingError>(())
/// ```
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct OutgoingUrl {
    /// Scheme and host are in lower case.
    text: String,
    is_https: bool,
    /// An IPv6 address is without brackets.
    host: String,
    address: Option<IpAddr>,
    port: u16,
    /// The position of the path in the text.
    path: usize,
}

impl OutgoingUrl {
    /// Parses a text. A fragment (`#…`) is removed.
    ///
    /// # Errors
    /// Fails with the first difference from the accepted form.
    pub fn parse(text: &str) -> Result<Self, OutgoingError> {
        let text = text.split('#').next().unwrap_or_default();
        if text.len() > MAX_LENGTH || !text.bytes().all(is_allowed) {
            return Err(OutgoingError::Malformed);
        }
        let (scheme, rest) = text.split_once("://").ok_or(OutgoingError::Malformed)?;
        let is_https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(OutgoingError::Scheme),
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(OutgoingError::UserInfo);
        }
        // Brackets are only allowed around an IPv6 address.
        if path.contains(['[', ']']) {
            return Err(OutgoingError::Malformed);
        }
        let (host, port) = split_port(authority)?;
        let port = port.unwrap_or(if is_https { 443 } else { 80 });
        let (host, address) = read_host(host)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let before =
            format!("{}://{}", scheme.to_ascii_lowercase(), authority.to_ascii_lowercase());
        let text = format!("{before}{slash}{path}");
        Ok(Self { text, is_https, host, address, port, path: before.len() })
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host in lower case, without the brackets of an IPv6 address.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port: 443 or 80 if the URL has none.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns true for `https`.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns the path and the query: `/` at least.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        self.text.get(self.path..).unwrap_or("/")
    }

    /// Returns the host as an address, if it is one.
    pub(super) fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Returns the target of a `Location`, which may be relative (RFC 3986,
    /// section 5.2). Dots in a path stay for the server.
    pub(super) fn join(&self, location: &str) -> Result<Self, OutgoingError> {
        let origin = self.text.get(..self.path).unwrap_or_default();
        let scheme = if self.is_https { "https" } else { "http" };
        let path = self.path_and_query();
        let path = path.split('?').next().unwrap_or_default();
        let joined = match location {
            "" => self.text.clone(),
            it if it.starts_with("//") => format!("{scheme}:{it}"),
            it if it.starts_with('/') => format!("{origin}{it}"),
            it if it.starts_with(['?', '#']) => format!("{origin}{path}{it}"),
            it if has_scheme(it) => it.to_owned(),
            it => {
                let folder = path.rfind('/').map_or("", |slash| path.get(..slash).unwrap_or(""));
                format!("{origin}{folder}/{it}")
            }
        };
        Self::parse(&joined)
    }
}

/// Returns true if a reference begins with a scheme (RFC 3986, section 3.1).
fn has_scheme(reference: &str) -> bool {
    let before = reference.split(['/', '?', '#']).next().unwrap_or_default();
    before.contains(':')
}

/// Splits `host:port`. An IPv6 address keeps its brackets.
fn split_port(authority: &str) -> Result<(&str, Option<u16>), OutgoingError> {
    let from = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    let Some(colon) = authority.get(from..).and_then(|rest| rest.find(':')) else {
        return Ok((authority, None));
    };
    let (host, port) = authority.split_at(from + colon);
    let digits = port.get(1..).unwrap_or_default();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse().ok().filter(|port| is_number && *port != 0);
    Ok((host, Some(port.ok_or(OutgoingError::Malformed)?)))
}

/// Reads the host: a name, or an address.
fn read_host(host: &str) -> Result<(String, Option<IpAddr>), OutgoingError> {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address = Ipv6Addr::from_str(inner).map_err(|_| OutgoingError::Malformed)?;
        return Ok((address.to_string(), Some(address.into())));
    }
    let host = host.to_ascii_lowercase();
    let name = host.strip_suffix('.').unwrap_or(&host);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(is_letter);
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(OutgoingError::Malformed);
    }
    // Resolvers and browsers read other notations of numbers as an address:
    // `2130706433`, `0x7f.1`, `127.1`.
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit()) {
        let address = Ipv4Addr::from_str(&host).map_err(|_| OutgoingError::Malformed)?;
        return Ok((host, Some(address.into())));
    }
    Ok((host, None))
}

/// Returns true for a character that all clients read in the same way.
fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'\\' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}')
}

/// The maximum length of a URL, in bytes.
const MAX_LENGTH: usize = 2_048;

impl fmt::Display for OutgoingUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for OutgoingUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutgoingUrl({:?})", self.text)
    }
}

impl FromStr for OutgoingUrl {
    type Err = OutgoingError;

    fn from_str(text: &str) -> Result<Self, OutgoingError> {
        Self::parse(text)
    }
}

impl<'de> Deserialize<'de> for OutgoingUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl Serialize for OutgoingUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl HasSchema for OutgoingUrl {
    fn rule() -> Rule {
        // A path may contain `@`.
        let pattern =
            "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\@\"<>^`{|}/?#]+([/?#][^\\s\\\\\"<>^`{|}]*)?$";
        // The type `string` rejects a value that is not a string.
        Rule::string().max_length(MAX_LENGTH).pattern(pattern).custom(|value, _, _| {
            match value.as_str().map(Self::parse) {
                Some(Err(error)) => Err(error.to_string()),
                _ => Ok(()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_scheme_host_port_and_path() {
        #[track_caller]
        fn check(text: &str, host: &str, port: u16, path: &str) {
            let url = OutgoingUrl::parse(text).unwrap();
            assert_eq!(
                (url.host(), url.port(), url.path_and_query()),
                (host, port, path),
                "{text}"
            );
        }
        check("http://example.com", "example.com", 80, "/");
        check("HTTPS://EXAMPLE.com/A?b=C#d", "example.com", 443, "/A?b=C");
        check("https://example.com:8443?a", "example.com", 8443, "/?a");
        check("https://example.com./", "example.com.", 443, "/");
        check("http://[::1]:81/x", "::1", 81, "/x");
        check("http://[::FFFF:127.0.0.1]", "::ffff:127.0.0.1", 80, "/");
        check("http://127.0.0.1/", "127.0.0.1", 80, "/");
        check("https://xn--bcher-kva.example/%2e", "xn--bcher-kva.example", 443, "/%2e");
    }

    #[test]
    fn rejects_what_clients_read_in_different_ways() {
        #[track_caller]
        fn check(texts: &[&str], expected: OutgoingError) {
            for text in texts {
                assert_eq!(OutgoingUrl::parse(text), Err(expected), "{text:?}");
            }
        }
        check(
            &[
                "",
                "example.com",
                "//example.com",
                "http:example.com",
                "http:/example.com",
                "http://",
                "http:///x",
                "http://exa mple.com",
                "http://example.com\\@127.0.0.1/",
                "http://example.com/\r\nx",
                "http://exämple.com",
                "http://a..b/",
                "http://.a/",
                "http://a%2eb/",
                "http://2130706433/",
                "http://0x7f000001/",
                "http://0x7f.1/",
                "http://127.1/",
                "http://0177.0.0.1/",
                "http://127.0.0.1./",
                "http://1.2.3.4.5/",
                "http://256.0.0.1/",
                "http://[::1/",
                "http://[fe80::1%25eth0]/",
                "http://[1.2.3.4]/",
                "http://[::1]x/",
                "http://a:b/",
                "http://a:/",
                "http://a:0/",
                "http://a:65536/",
                "http://a:+80/",
                "http://a:80:80/",
                "http://a/[x]",
                " http://a/",
            ],
            OutgoingError::Malformed,
        );
        check(
            &["ftp://a/", "file:///etc/passwd", "gopher://a/", "javascript://a/"],
            OutgoingError::Scheme,
        );
        check(&["http://u@a/", "http://u:p@a/", "http://a:80@b/"], OutgoingError::UserInfo);
        let long = format!("http://a/{}", "b".repeat(MAX_LENGTH));
        check(&[&long], OutgoingError::Malformed);
    }

    #[test]
    fn joins_the_location_of_a_redirect() {
        #[track_caller]
        fn check(location: &str, expected: &str) {
            let url = OutgoingUrl::parse("https://a.example/b/c?d").unwrap();
            assert_eq!(url.join(location).unwrap().as_str(), expected, "{location:?}");
        }
        check("http://b.example", "http://b.example/");
        check("//b.example/x", "https://b.example/x");
        check("/x?y", "https://a.example/x?y");
        check("x", "https://a.example/b/x");
        check("../x", "https://a.example/b/../x");
        check("?y", "https://a.example/b/c?y");
        check("#y", "https://a.example/b/c");
        check("", "https://a.example/b/c?d");
        let url = OutgoingUrl::parse("https://a.example/b").unwrap();
        assert_eq!(url.join("file:///etc/passwd"), Err(OutgoingError::Scheme));
        assert_eq!(url.join("data:text/html,x"), Err(OutgoingError::Malformed));
        assert_eq!(url.join("/\\b.example"), Err(OutgoingError::Malformed));
    }

    #[test]
    fn a_field_of_a_body_is_validated() {
        let schema = OutgoingUrl::schema().unwrap();
        let is_valid = |text: &str| {
            let errors = schema.check(&serde_json::json!(text), &Default::default()).unwrap();
            errors.is_empty()
        };
        for text in ["https://example.com/hook", "http://a", "https://a/@b?c=@d#e", "HTTP://A:81"] {
            assert!(is_valid(text), "{text}");
        }
        for text in ["ftp://a/", "http://u@a/", "http://0x7f.1/", "javascript:alert(1)", ""] {
            assert!(!is_valid(text), "{text}");
        }
        let read: OutgoingUrl = serde_json::from_str("\"http://A/\"").unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"http://a/\"");
        assert!(serde_json::from_str::<OutgoingUrl>("\"http://u@a/\"").is_err());
    }
}
