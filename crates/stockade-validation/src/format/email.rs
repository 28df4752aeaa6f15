//! Addresses of mail: as RFC 5321 has them and as the forms of the web do.
//!
//! Both have at most 64 bytes before the `@` and 254 in all (RFC 5321, section
//! 4.5.3.1), labels of at most 63 bytes, and ASCII only.
//!
//! Of address literals only those with a meaning pass: IPv4, and IPv6 with its
//! tag. Numbers of an IPv4 literal have no leading zeros.

use memchr::{memchr, memrchr};

use super::bytes::Set;
use super::hostname::{is_international_hostname, is_ldh_name};
use super::{bytes, ip};

/// Returns true if the text is a `Mailbox` of RFC 5321, section 4.1.2.
pub(super) fn is_mailbox(text: &str) -> bool {
    // No domain has an `@`, a quoted local part may.
    let Some((local, domain)) = split(text, memrchr) else {
        return false;
    };
    let is_domain = match domain.strip_prefix('[') {
        Some(literal) => literal.strip_suffix(']').is_some_and(is_address_literal),
        None => is_ldh_name(domain),
    };
    is_domain && if local.starts_with('"') { is_quoted(local) } else { is_dot_string(local) }
}

/// Returns true if the text is a `Mailbox` of RFC 6531, section 3.3, which may have
/// characters beyond ASCII.
pub(super) fn is_international_mailbox(text: &str) -> bool {
    if text.is_ascii() {
        return is_mailbox(text);
    }
    let Some((local, domain)) = split(text, memrchr) else {
        return false;
    };
    let is_domain = match domain.strip_prefix('[') {
        Some(literal) => literal.strip_suffix(']').is_some_and(is_address_literal),
        None => is_international_hostname(domain),
    };
    // Each character beyond ASCII counts as a letter.
    let local: String = local.chars().map(|it| if it.is_ascii() { it } else { 'a' }).collect();
    is_domain && if local.starts_with('"') { is_quoted(&local) } else { is_dot_string(&local) }
}

/// Returns true if the text is a valid address for HTML's `<input type=email>`, with a
/// dot in the domain.
pub(super) fn is_form_address(text: &str) -> bool {
    split(text, memchr).is_some_and(|(local, domain)| {
        !local.is_empty()
            && bytes::all(local.as_bytes(), &ATEXT_AND_DOT)
            && domain.contains('.')
            && is_ldh_name(domain)
    })
}

/// Returns the parts at the `@` that `find` finds, if their lengths are right.
fn split(text: &str, find: fn(u8, &[u8]) -> Option<usize>) -> Option<(&str, &str)> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let at = find(b'@', text.as_bytes()).filter(|at| *at <= MAX_LOCAL_BYTES)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

fn is_dot_string(text: &str) -> bool {
    let mut last = b'.';
    let fits = text.bytes().all(|byte| {
        let is_empty = byte == b'.' && last == b'.';
        last = byte;
        !is_empty && !ATEXT_AND_DOT.refuses(byte)
    });
    fits && last != b'.'
}

static ATEXT_AND_DOT: Set = bytes::letters_digits_and(b"!#$%&'*+-/=?^_`{|}~.");

/// Returns true for printable characters and blanks in quotation marks; a
/// backslash and a quotation mark only after a backslash.
fn is_quoted(text: &str) -> bool {
    let Some(text) = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else {
        return false;
    };
    let is_printable = |byte: u8| matches!(byte, b' '..=b'~');
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'"' => false,
            b'\\' => bytes.next().is_some_and(is_printable),
            _ => is_printable(byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

fn is_address_literal(text: &str) -> bool {
    match text.split_at_checked(IPV6_TAG.len()) {
        Some((tag, address)) if tag.eq_ignore_ascii_case(IPV6_TAG) => {
            // Unlike RFC 4291, `::` stands for two groups or more.
            let is_short = address.contains("::");
            let groups = address.split(':').filter(|it| !it.is_empty()).count();
            let groups = groups + usize::from(address.contains('.'));
            ip::is_v6(address) && (!is_short || groups <= 6)
        }
        _ => ip::is_v4(text),
    }
}

const IPV6_TAG: &str = "IPv6:";

const MAX_LOCAL_BYTES: usize = 64;
const MAX_BYTES: usize = 254;

#[cfg(test)]
mod tests;
