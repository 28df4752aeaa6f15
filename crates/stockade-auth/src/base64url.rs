//! Strict base64url without padding: each byte string has exactly one encoding.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Encodes base64url without padding. RFC 7515, section 2.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Appends base64url without padding to `text`.
pub(crate) fn encode_to(bytes: &[u8], text: &mut String) {
    URL_SAFE_NO_PAD.encode_string(bytes, text);
}

/// Decodes base64url. Returns `None` for padding, other characters, and nonzero
/// unused bits.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Decodes the 43 characters of exactly 32 bytes.
pub(crate) fn decode_32(text: &[u8]) -> Option<[u8; 32]> {
    // The library requires space for whole groups of four characters.
    let mut bytes = [0; 33];
    decode_to(text, &mut bytes)?.try_into().ok()
}

/// Decodes base64url into `bytes` and returns the written part. Also returns
/// `None` if `bytes` is too short.
pub(crate) fn decode_to<'b>(text: &[u8], bytes: &'b mut [u8]) -> Option<&'b [u8]> {
    let length = URL_SAFE_NO_PAD.decode_slice(text, bytes).ok()?;
    bytes.get(..length)
}

/// Returns the encoded length of this number of bytes; `None` above
/// `usize::MAX`.
pub(crate) fn encoded_len(bytes: usize) -> Option<usize> {
    base64::encoded_len(bytes, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_the_canonical_encoding() {
        assert_eq!(decode(b"AA"), Some(vec![0]));
        // The same byte with unused bits, padding, white space, or the other
        // alphabet.
        for text in ["AB", "AA=", "AA==", "AA\n", " AA", "A", "A+", "A/", "A?", "AA.", "ÄA"] {
            assert_eq!(decode(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(decode(b""), Some(Vec::new()));
        assert_eq!(decode(b"-_"), None);
        assert_eq!(decode(b"-_8"), Some(vec![251, 255]));
    }

    #[test]
    fn decode_32_needs_exactly_32_bytes() {
        for length in [0, 1, 31, 32, 33, 34, 64] {
            let text = encode(&vec![7; length]);
            assert_eq!(decode_32(text.as_bytes()).is_some(), length == 32, "{length}");
            assert_eq!(encoded_len(length), Some(text.len()));
        }
    }
}
