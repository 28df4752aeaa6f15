//! [`Compact`]: the three parts of a token.

use super::{TokenError, bearer_token};

/// The parts of a token in the compact serialization, still encoded.
///
/// RFC 7515, section 3.1.
#[expect(unnameable_types, reason = "only sealed traits use it")]
#[derive(Clone, Copy, Debug)]
pub struct Compact<'a> {
    pub(crate) header: &'a str,
    pub(crate) payload: &'a str,
    pub(crate) signature: &'a str,
    /// The signed text: the header, a dot and the payload.
    pub(crate) message: &'a str,
}

impl<'a> Compact<'a> {
    /// Splits a token, with or without `Bearer `, into its parts.
    ///
    /// A fourth part makes the signature invalid, because base64url does not
    /// contain dots.
    pub(crate) fn parse(token: &'a str, max_length: usize) -> Result<Self, TokenError> {
        let token = bearer_token(token);
        if token.len() > max_length {
            return Err(TokenError::TooLong);
        }
        let (header, rest) = split_at_dot(token).ok_or(TokenError::Malformed)?;
        let (payload, signature) = split_at_dot(rest).ok_or(TokenError::Malformed)?;
        let message = token.get(..header.len() + 1 + payload.len()).ok_or(TokenError::Malformed)?;
        Ok(Self { header, payload, signature, message })
    }
}

/// Splits at the first dot like `split_once('.')`, but with a third of the
/// instructions for a typical token.
fn split_at_dot(text: &str) -> Option<(&str, &str)> {
    let at = memchr::memchr(b'.', text.as_bytes())?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}
