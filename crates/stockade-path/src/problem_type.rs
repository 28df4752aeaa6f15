//! Validation of problem types (RFC 9457), for the macros and the router.

/// Validates a problem type: an absolute URI, or a relative path without `.`,
/// `..` and empty segments, such as `sold-out`. Returns true if it is absolute.
///
/// These restrictions ensure that resolution (RFC 3986, section 5.2) only
/// appends a relative path to the base.
///
/// # Errors
/// Returns the reason why the text is invalid, phrased to follow the text in a
/// message.
pub fn check(text: &str) -> Result<bool, &'static str> {
    if text.is_empty() {
        return Err("is empty: use a path such as `sold-out`, or an absolute URI");
    }
    if !text.bytes().all(is_uri_byte) || !has_whole_escapes(text) {
        return Err("contains characters that a URI cannot contain: percent-encode them");
    }
    let scheme_end = text.find([':', '/', '?', '#']).filter(|at| text[*at..].starts_with(':'));
    if let Some(end) = scheme_end {
        let is_scheme = text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text[..end].bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it));
        return match is_scheme && text.len() > end + 1 {
            true if text.starts_with("about:") => {
                Err("means an error without a type: remove `type`")
            }
            true => Ok(true),
            false => Err("begins with a colon or a malformed scheme"),
        };
    }
    let path = text.split_once('#').map_or(text, |(path, _)| path);
    if path.starts_with('/') {
        return Err("begins with `/`, which replaces the path of the base: remove the `/`");
    }
    if path.contains(['?', '[', ']']) || text.matches('#').count() > 1 {
        return Err("is not only a path: use a path such as `sold-out`, or an absolute URI");
    }
    if path.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        return Err("contains an empty, `.` or `..` segment");
    }
    Ok(false)
}

/// Returns true if two hexadecimal digits follow each `%`.
fn has_whole_escapes(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}

/// The reserved members of an error's body, which extension members cannot use:
/// the members of RFC 9457, section 3.1, and `error` and `details` of the
/// specification.
pub const RESERVED_MEMBERS: [&str; 7] =
    ["type", "status", "title", "detail", "instance", "error", "details"];

/// Validates the name of an extension member.
///
/// # Errors
/// Returns the reason why the name is invalid, phrased to follow the name in a
/// message.
///
/// Source: RFC 9457, section 3.2.
pub fn check_member(name: &str) -> Result<(), &'static str> {
    if RESERVED_MEMBERS.contains(&name) {
        return Err("is reserved in error bodies: use another name");
    }
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name { Ok(()) } else { Err("must be a letter, then letters, digits and `_`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_absolute_or_relative_paths() {
        for text in ["sold-out", "a/b", "a/b#c", "%20", "v1.2", "..a"] {
            assert_eq!(check(text), Ok(false), "{text}");
        }
        for text in ["https://a.example/x?y#z", "urn:x:y", "tag:a@b.example,2026:out-of-luck"] {
            assert_eq!(check(text), Ok(true), "{text}");
        }
        for text in [
            "",
            "/x",
            "//a.example/x",
            "a//b",
            "a/",
            ".",
            "..",
            "a/../b",
            "?x",
            "a?b",
            "#x",
            "a#b#c",
            "a b",
            "é",
            "a\n",
            "%2",
            "%zz",
            "a%",
            ":x",
            "1a:x",
            "https:",
            "about:blank",
            "[x]",
            "a\0",
        ] {
            assert!(check(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn members_have_unreserved_names() {
        for name in ["sku", "order_id", "orderId", "x1"] {
            assert_eq!(check_member(name), Ok(()));
        }
        for name in RESERVED_MEMBERS.into_iter().chain(["", "1x", "_x", "a-b", "é", "a b"]) {
            assert!(check_member(name).is_err(), "{name:?}");
        }
    }
}
