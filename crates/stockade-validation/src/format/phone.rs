//! Telephone numbers as people write them.
//!
//! Digits are counted as in E.164, at most 15. Any number of spaces and `( ) .
//! -` may separate them. Parentheses must be balanced, contain a digit and not
//! be nested. A number begins with a digit or `(`.

/// Returns true if the text is an optional `+` and 7 to 15 digits.
pub(super) fn is_phone(text: &str) -> bool {
    let text = text.strip_prefix('+').unwrap_or(text);
    if !text.starts_with(|it: char| it.is_ascii_digit() || it == '(')
        || !text.ends_with(|it: char| it.is_ascii_digit() || it == ')')
    {
        return false;
    }
    let mut digits = 0_usize;
    // The number of digits before the open parenthesis.
    let mut open = None;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' if digits < MAX_DIGITS => digits += 1,
            b' ' | b'.' | b'-' => {}
            b'(' if open.is_none() => open = Some(digits),
            b')' if open.take().is_some_and(|before| before < digits) => {}
            _ => return false,
        }
    }
    digits >= MIN_DIGITS && open.is_none()
}

const MIN_DIGITS: usize = 7;
const MAX_DIGITS: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_digits_with_separators() {
        for text in [
            "5551234",
            "+5551234",
            "123456789012345",
            "+123456789012345",
            "+1 (555) 123-4567",
            "(555) 123-4567",
            "(555)123.4567",
            "555 - 123 - 4567",
            "+49 (0) 30 123456",
            "+(49) 30 123456",
            "555-1234 (56)",
            "(55) (51) 234",
        ] {
            assert!(is_phone(text), "{text:?}");
        }
    }

    #[test]
    fn rejects_wrong_lengths_and_positions() {
        for text in [
            "",
            "+",
            "()",
            "555123",
            "+555123",
            "1234567890123456",
            "+1234567890123456",
            "++5551234",
            "555+1234",
            "+ 5551234",
            " 5551234",
            "5551234 ",
            "-5551234",
            "5551234-",
            ".5551234",
            "(555 1234",
            "555) 1234",
            "((555)) 1234",
            "(555 (12) 34)",
            "() 5551234",
            "555 ( ) 1234",
            "5551234)",
            "5551234(",
            "555/1234",
            "555\t1234",
            "555\u{a0}1234",
            "555–1234",
            "5551234x9",
            "555123４",
            "555123٤",
            "5551234\n",
            "5551234\0",
        ] {
            assert!(!is_phone(text), "{text:?}");
        }
    }
}
