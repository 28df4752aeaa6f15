//! Email addresses: the grammar of RFC 5321, and the grammar of HTML forms.
//!
//! Both allow at most 64 bytes before the `@` and 254 in total (RFC 5321,
//! section 4.5.3.1), labels of at most 63 bytes, and only ASCII.
//!
//! Only address literals with a defined meaning pass: IPv4, and IPv6 with its
//! tag. Numbers of an IPv4 literal must not have leading zeros.

use memchr::{memchr, memrchr};

use super::bytes::Set;
use super::hostname::{is_international_hostname, is_ldh_name};
use super::{bytes, ip};

/// Returns true if the text is a `Mailbox` of RFC 5321, section 4.1.2.
pub(super) fn is_mailbox(text: &str) -> bool {
    // A domain never contains an `@`, but a quoted local part may.
    let Some((local, domain)) = split(text, memrchr) else {
        return false;
    };
    let is_domain = match domain.strip_prefix('[') {
        Some(literal) => literal.strip_suffix(']').is_some_and(is_address_literal),
        None => is_ldh_name(domain),
    };
    is_domain && if local.starts_with('"') { is_quoted(local) } else { is_dot_string(local) }
}

/// Returns true if the text is a `Mailbox` of RFC 6531, section 3.3, which may
/// contain characters beyond ASCII.
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
    // Characters beyond ASCII count as letters.
    let local: String = local.chars().map(|it| if it.is_ascii() { it } else { 'a' }).collect();
    is_domain && if local.starts_with('"') { is_quoted(&local) } else { is_dot_string(&local) }
}

/// Returns true if the text is a valid address for HTML's `<input type=email>`
/// and its domain contains a dot.
pub(super) fn is_form_address(text: &str) -> bool {
    split(text, memchr).is_some_and(|(local, domain)| {
        !local.is_empty()
            && bytes::all(local.as_bytes(), &ATEXT_AND_DOT)
            && domain.contains('.')
            && is_ldh_name(domain)
    })
}

/// Splits the text at the `@` that `find` finds, and checks the lengths of the
/// parts.
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

/// Returns true for printable characters and spaces in quotation marks. A
/// backslash must precede each inner backslash and quotation mark.
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
            // Unlike in RFC 4291, `::` replaces at least two groups.
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
