//! URIs: RFC 3986, `URI` in appendix A.
//!
//! A URI has a scheme; a relative reference does not. The length is not
//! limited. The grammar is generic, so `http:` and a port of ten digits pass.
//! Zones of IPv6 addresses do not, because RFC 6874 is obsolete.

use memchr::{memchr, memchr2};

use super::bytes::Set;
use super::{bytes, ip};

/// Returns true if the text is an absolute URI, with or without a fragment.
pub(super) fn is_uri(text: &str) -> bool {
    is_absolute(text, &URI)
}

/// Returns true if the text is a URI or a relative reference.
pub(super) fn is_reference(text: &str) -> bool {
    is_any(text, &URI)
}

/// The bytes of each part of a URI or of an IRI.
pub(super) struct Grammar {
    name: Set,
    user: Set,
    path: Set,
    query: Set,
}

impl Grammar {
    /// Returns the grammar with all bytes beyond ASCII.
    pub(super) const fn beyond_ascii(self) -> Self {
        let Self { name, user, path, query } = self;
        Self {
            name: bytes::beyond_ascii_and(name),
            user: bytes::beyond_ascii_and(user),
            path: bytes::beyond_ascii_and(path),
            query: bytes::beyond_ascii_and(query),
        }
    }
}

/// Returns true if the text has a scheme and follows the grammar.
pub(super) fn is_absolute(text: &str, grammar: &Grammar) -> bool {
    split_scheme(text).is_some_and(|(_, rest)| is_rest(rest, grammar))
}

/// Returns true if the text follows the grammar, with or without a scheme.
pub(super) fn is_any(text: &str, grammar: &Grammar) -> bool {
    if let Some((_, rest)) = split_scheme(text) {
        return is_rest(rest, grammar);
    }
    // The first segment of a relative path must not contain a colon.
    let first = text.find(['/', '?', '#']).unwrap_or(text.len());
    !text[..first].contains(':') && is_rest(text, grammar)
}

/// Returns true for the part after the scheme.
fn is_rest(rest: &str, grammar: &Grammar) -> bool {
    let end = memchr2(b'?', b'#', rest.as_bytes()).unwrap_or(rest.len());
    // The query keeps its question mark, which is also valid within the query.
    let (hierarchy, tail) = rest.split_at(end);
    let (query, fragment) = bytes::split_once(tail, b'#').unwrap_or((tail, ""));

    let is_hierarchy = match hierarchy.strip_prefix("//") {
        // The path after an authority is empty or begins with a slash.
        Some(rest) => {
            let (authority, path) =
                rest.split_at(memchr(b'/', rest.as_bytes()).unwrap_or(rest.len()));
            is_authority(authority, grammar) && bytes::all(path.as_bytes(), &grammar.path)
        }
        // A path without an authority does not begin with two slashes; this was
        // checked above.
        None => bytes::all(hierarchy.as_bytes(), &grammar.path),
    };
    is_hierarchy
        && bytes::all(query.as_bytes(), &grammar.query)
        && bytes::all(fragment.as_bytes(), &grammar.query)
}

/// Splits the text into the scheme and the part after its colon.
pub(super) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    // Schemes are short, so a search would cost more than this loop.
    let end = text.bytes().position(|it| SCHEME.refuses(it))?;
    let (scheme, rest) = text.split_at_checked(end)?;
    let begins_well = scheme.starts_with(|it: char| it.is_ascii_alphabetic());
    rest.strip_prefix(':').filter(|_| begins_well).map(|rest| (scheme, rest))
}

fn is_authority(text: &str, grammar: &Grammar) -> bool {
    // Most authorities are only a name.
    bytes::all(text.as_bytes(), &grammar.name)
        || split_by(text, grammar).is_some_and(|(host, _)| match host {
            Host::Address(address) => ip::is_v6(address) || is_future_address(address),
            Host::Name(name) => bytes::all(name.as_bytes(), &grammar.name),
        })
}

/// The host of an authority.
pub(super) enum Host<'t> {
    /// The text in brackets.
    Address(&'t str),
    /// Text without brackets. Invariant: it does not contain a colon.
    Name(&'t str),
}

/// Returns the host, still unchecked, and the port, which may be empty or have
/// any number of digits. Returns `None` if the port or the user information is
/// invalid.
pub(super) fn split_authority(text: &str) -> Option<(Host<'_>, &str)> {
    split_by(text, &URI)
}

fn split_by<'t>(text: &'t str, grammar: &Grammar) -> Option<(Host<'t>, &'t str)> {
    // Neither the user information nor a host contains an `@`.
    let (user, rest) = bytes::split_once(text, b'@').unwrap_or(("", text));
    let (host, port) = if let Some(rest) = rest.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        (Host::Address(address), port)
    } else {
        let (name, port) = rest.split_at(memchr(b':', rest.as_bytes()).unwrap_or(rest.len()));
        (Host::Name(name), port)
    };
    let digits = if port.is_empty() { port } else { port.strip_prefix(':')? };
    let is_port = digits.bytes().all(|it| it.is_ascii_digit());
    let is_user = bytes::all(user.as_bytes(), &grammar.user);
    (is_port && is_user).then_some((host, digits))
}

/// Returns true for an `IPvFuture`: `v`, a hexadecimal version, a dot, an
/// address.
fn is_future_address(text: &str) -> bool {
    let Some((version, address)) =
        text.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.'))
    else {
        return false;
    };
    !version.is_empty()
        && version.bytes().all(|it| it.is_ascii_hexdigit())
        && !address.is_empty()
        && !address.contains('%')
        && bytes::all(address.as_bytes(), &URI.user)
}

static SCHEME: Set = bytes::letters_digits_and(b"+-.");

pub(super) static URI: Grammar = GRAMMAR;

/// The grammar of URIs. The grammar of IRIs is derived from it.
pub(super) const GRAMMAR: Grammar = Grammar {
    // `unreserved`, `sub-delims` and escapes.
    name: bytes::escapes_and(bytes::letters_digits_and(b"-._~!$&'()*+,;=")),
    // The same with `:`.
    user: bytes::escapes_and(bytes::letters_digits_and(b"-._~!$&'()*+,;=:")),
    // `pchar`, or a slash.
    path: bytes::escapes_and(bytes::letters_digits_and(b"-._~!$&'()*+,;=:@/")),
    query: bytes::escapes_and(bytes::letters_digits_and(b"-._~!$&'()*+,;=:@/?")),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_generic_grammar() {
        for text in [
            "a:",
            "http:",
            "http://",
            "http:///",
            "http://?",
            "http://#",
            "a:b",
            "a:/b",
            "a:b//c",
            "a:/b//c",
            "a:?",
            "a:#",
            "a:?b?c/d#e?f/g",
            "A+-.1:b",
            "javascript:alert(1)",
            "data:text/plain,a%20b",
            "mailto:joe@a.b",
            "urn:isbn:0451450523",
            "tel:+1-816-555-1212",
            "http://a",
            "http://a:",
            "http://a:80",
            "http://a:99999999999",
            "http://:80",
            "http://@",
            "http://joe@a",
            "http://joe:secret:more@a:80/",
            "http://joe%40b:@a",
            "http://a%41/%7e%7E",
            "http://1.2.3.999",
            "http://[::1]",
            "http://[::1]:",
            "http://joe@[2001:db8::7]:80/",
            "http://[::ffff:1.2.3.4]",
            "http://[v1.a]",
            "http://[VfF.a:b!]",
            "http://a/!$&'()*+,;=:@",
        ] {
            assert!(is_uri(text), "{text:?}");
        }
    }

    #[test]
    fn references_may_be_relative() {
        for text in ["", "a", "/a:b", "./a:b", "//a:80/b", "?a:b", "#a", "a/b:c", "a:b", "//[::1]"]
        {
            assert!(is_reference(text), "{text:?}");
        }
        for text in ["1a:b", "\\", "a b", "//a:b", "#a#b", "ä", "%", ":"] {
            assert!(!is_reference(text), "{text:?}");
        }
    }

    #[test]
    fn rejects_anything_else() {
        for text in [
            "",
            ":",
            "a",
            "/a",
            "//a",
            "?a",
            "#a",
            "://a",
            "1a:b",
            "+a:b",
            "a_b:c",
            "a,b:c",
            "ä:b",
            " a:b",
            "a:b ",
            "a:b\n",
            "a:\0",
            "a:\u{7f}",
            "a:ä",
            "a:#b#c",
            "a:%",
            "a:%4",
            "a:%4g",
            "a:%é",
            "a:b[c]",
            "a:?[]",
            "a:#[",
            "a:\\b",
            "a:\"",
            "a:<",
            "a:>",
            "a:^",
            "a:`",
            "a:{",
            "a:|",
            "a:}",
            "http://a b",
            "http://a:b",
            "http://a:-1",
            "http://a:1:2",
            "http://a@b@c",
            "http://a:8@b:c",
            "http://[",
            "http://]",
            "http://[]",
            "http://[::1",
            "http://::1",
            "http://[::1]a",
            "http://[::1]80",
            "http://[::1]:a",
            "http://a[::1]",
            "http://[1.2.3.4]",
            "http://[fe80::1%25eth0]",
            "http://[fe80::1%eth0]",
            "http://[v.a]",
            "http://[v1.]",
            "http://[v1]",
            "http://[vg.a]",
            "http://[v1.%41]",
            "http:/[::1]",
        ] {
            assert!(!is_uri(text), "{text:?}");
        }
    }
}
