//! Base64: RFC 4648, section 4, with padding and without line breaks.

/// Returns true if the text is base64.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    text.len().is_multiple_of(4)
        && padding <= 2
        && digits.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'+' || it == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_complete() {
        for text in ["", "YQ==", "YWI=", "YWJj", "+/+/"] {
            assert!(is_base64(text), "{text:?}");
        }
        for text in ["Y", "YQ", "YQ=", "Y===", "====", "YW=j", "YQ==\n", "-_-_", "YWJ ", "äääa"]
        {
            assert!(!is_base64(text), "{text:?}");
        }
    }
}
