//! JSON pointers: RFC 6901, and relative ones by draft-bhutton-relative-json-pointer-00.

/// Returns true if the text is a JSON pointer in its string form. The fragment
/// form is rejected.
pub(super) fn is_pointer(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let mut bytes = text.bytes();
    bytes.next() == Some(b'/')
        && loop {
            match bytes.next() {
                None => break true,
                Some(b'~') if !matches!(bytes.next(), Some(b'0' | b'1')) => break false,
                Some(_) => {}
            }
        }
}

/// Returns true if the text is a number of levels, then `#` or a JSON pointer.
pub(super) fn is_relative_pointer(text: &str) -> bool {
    let Some(rest) = after_number(text) else { return false };
    // A change of the index.
    let rest = match rest.strip_prefix(['+', '-']) {
        None => rest,
        Some(index) if index.starts_with('0') => return false,
        Some(index) => match after_number(index) {
            Some(rest) => rest,
            None => return false,
        },
    };
    rest == "#" || is_pointer(rest)
}

/// Returns the text after a whole number without leading zeros.
fn after_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|it: char| it.is_ascii_digit());
    let digits = text.len() - rest.len();
    (digits == 1 || digits > 1 && !text.starts_with('0')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_complete() {
        for text in ["", "/", "/a~0b/~1", "//", "/ä", "/0"] {
            assert!(is_pointer(text), "{text:?}");
        }
        for text in ["a", "#", "#/a", "/~", "/~2", "/a~", "0"] {
            assert!(!is_pointer(text), "{text:?}");
        }
    }

    #[test]
    fn levels_have_no_leading_zeros() {
        for text in ["0", "1/a", "0#", "10/", "2+1/a", "2-10#"] {
            assert!(is_relative_pointer(text), "{text:?}");
        }
        for text in ["", "/a", "#", "01", "00/a", "-1/a", "+1/a", "0##", "1a", "1+0#", "1+"] {
            assert!(!is_relative_pointer(text), "{text:?}");
        }
    }
}
