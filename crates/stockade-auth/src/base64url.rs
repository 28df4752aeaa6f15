//! base64url without padding, read strictly, so that each byte string has one
//! text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Writes base64url without padding. RFC 7515, section 2.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Adds base64url without padding to `text`.
pub(crate) fn encode_to(bytes: &[u8], text: &mut String) {
    URL_SAFE_NO_PAD.encode_string(bytes, text);
}

/// Reads base64url; `None` for padding, other characters, and unused bits that
/// are not zero.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Reads the 43 characters of exactly 32 bytes.
pub(crate) fn decode_32(text: &[u8]) -> Option<[u8; 32]> {
    // The library needs room for whole groups of four characters.
    let mut bytes = [0; 33];
    decode_to(text, &mut bytes)?.try_into().ok()
}

/// Reads base64url into `bytes`, and returns the part that was written. `None` also if
/// it does not fit.
pub(crate) fn decode_to<'b>(text: &[u8], bytes: &'b mut [u8]) -> Option<&'b [u8]> {
    let length = URL_SAFE_NO_PAD.decode_slice(text, bytes).ok()?;
    bytes.get(..length)
}

/// Returns the number of characters of this number of bytes; `None` above
/// `usize::MAX`.
pub(crate) fn encoded_len(bytes: usize) -> Option<usize> {
    base64::encoded_len(bytes, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_text_for_each_byte_string() {
        assert_eq!(decode(b"AA"), Some(vec![0]));
        // The same byte with unused bits, padding, white space, the other alphabet.
        for text in ["AB", "AA=", "AA==", "AA\n", " AA", "A", "A+", "A/", "A?", "AA.", "ÄA"] {
            assert_eq!(decode(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(decode(b""), Some(Vec::new()));
        assert_eq!(decode(b"-_"), None);
        assert_eq!(decode(b"-_8"), Some(vec![251, 255]));
    }

    #[test]
    fn thirty_two_bytes_are_neither_less_nor_more() {
        for length in [0, 1, 31, 32, 33, 34, 64] {
            let text = encode(&vec![7; length]);
            assert_eq!(decode_32(text.as_bytes()).is_some(), length == 32, "{length}");
            assert_eq!(encoded_len(length), Some(text.len()));
        }
    }
}
