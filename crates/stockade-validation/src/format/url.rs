//! URLs as HTML forms accept them: absolute, with a destination.
//!
//! - Schemes that run code or open local resources never pass, in any case and
//!   even with a host: `javascript:`, `vbscript:`, `data:`, `file:`, `blob:`,
//!   `view-source:`, `intent:`.
//! - `mailto:` must be followed by text, and `urn:` by a name as in RFC 8141.
//! - Every other scheme is followed by `//`, optional user information and `@`,
//!   a host, and an optional port up to 65535.
//! - A host is an IPv6 address in brackets, an IPv4 address in four decimal
//!   numbers, or labels of letters, digits, hyphens and underscores with an
//!   optional trailing dot. Letters beyond ASCII are the letters of RFC 5892,
//!   in either case, also after `xn--`; symbols such as emoji are not letters.
//!   A name with a numeric last label is invalid, as in the URL Standard.
//! - Path, query and fragment use the code points of the URL Standard, so text
//!   beyond ASCII does not need escapes. They may also contain `[ ] { } | ^`,
//!   which browsers do not change. Spaces, `"`, `<`, `>`, `\`, `` ` `` and
//!   control characters must be written as escapes of two hexadecimal digits.
//!
//! Therefore neither `url` nor `uri` contains the other: `uri` also accepts
//! schemes without a host, but no character beyond ASCII.

use memchr::{memchr_iter, memchr3};

use super::bytes::Set;
use super::uri::{self, Host};
use super::{bytes, hostname, idna, ip};

/// Returns true if the text is an absolute URL of at most 2,048 characters.
pub(super) fn is_url(text: &str) -> bool {
    // The second comparison bounds the cost of the count.
    if text.len() > MAX_CHARACTERS
        && (text.len() > MAX_CHARACTERS * 4 || text.chars().count() > MAX_CHARACTERS)
    {
        return false;
    }
    let Some((scheme, rest)) = uri::split_scheme(text) else {
        return false;
    };
    let is = |name: &str| scheme.eq_ignore_ascii_case(name);
    if REFUSED_SCHEMES.iter().any(|refused| is(refused)) {
        return false;
    }
    if is("mailto") {
        return !rest.is_empty() && !rest.starts_with('/') && is_tail(rest);
    }
    if is("urn") {
        return is_urn_rest(rest);
    }
    let Some(rest) = rest.strip_prefix("//") else {
        return false;
    };
    let (authority, tail) =
        rest.split_at(memchr3(b'/', b'?', b'#', rest.as_bytes()).unwrap_or(rest.len()));
    is_authority(authority) && is_tail(tail)
}

/// Checks the part after `urn:`: a namespace, a colon, and a name within the
/// namespace.
fn is_urn_rest(text: &str) -> bool {
    text.split_once(':').is_some_and(|(namespace, name)| {
        (2..=32).contains(&namespace.len())
            && hostname::is_ldh(namespace)
            && name.starts_with(|it: char| !"/?#".contains(it))
            && is_tail(name)
    })
}

fn is_authority(text: &str) -> bool {
    uri::split_authority(text).is_some_and(|(host, port)| {
        let is_host = match host {
            Host::Address(address) => ip::is_v6(address),
            Host::Name(name) => is_host_name(name),
        };
        is_host && (port.is_empty() || port.parse::<u16>().is_ok())
    })
}

fn is_host_name(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    let last = name.rsplit('.').next().unwrap_or(name);
    if is_number(last) {
        return ip::is_v4(text);
    }
    name.len() <= hostname::MAX_NAME_BYTES && name.split('.').all(is_label)
}

/// Returns true if the label can end an address: decimal digits, or `0x` and
/// hexadecimal digits.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    hexadecimal.is_some_and(|it| it.bytes().all(|it| it.is_ascii_hexdigit()))
        || !label.is_empty() && label.bytes().all(|it| it.is_ascii_digit())
}

fn is_label(label: &str) -> bool {
    if !label.is_ascii() {
        return idna::is_unicode_label(label);
    }
    label.len() <= hostname::MAX_LABEL_BYTES
        && !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
        && hostname::ace_suffix(label).is_none_or(idna::is_a_label_suffix)
}

/// Returns true if path, query and fragment contain no character that must be
/// escaped.
fn is_tail(text: &str) -> bool {
    bytes::all(text.as_bytes(), &TAIL)
        && memchr_iter(b'#', text.as_bytes()).nth(1).is_none()
        && (text.is_ascii() || text.chars().all(|it| it.is_ascii() || is_beyond_ascii(it)))
}

/// The bytes of path, query and fragment. Characters beyond ASCII are not
/// checked here.
static TAIL: Set = bytes::escapes_and(bytes::beyond_ascii_and(bytes::letters_digits_and(
    b"-._~!$&'()*+,;=:@/?#[]{}|^",
)));

/// Returns true if a URL may contain this character beyond ASCII. Control
/// characters, noncharacters and white space, which browsers escape, are
/// invalid.
fn is_beyond_ascii(character: char) -> bool {
    let is_noncharacter =
        matches!(character, '\u{fdd0}'..='\u{fdef}') || u32::from(character) & 0xfffe == 0xfffe;
    !character.is_control() && !character.is_whitespace() && !is_noncharacter
}

const MAX_CHARACTERS: usize = 2_048;

/// Schemes that run code, read a local file, or start another local program.
const REFUSED_SCHEMES: [&str; 7] =
    ["javascript", "vbscript", "data", "file", "blob", "view-source", "intent"];

#[cfg(test)]
mod tests;
