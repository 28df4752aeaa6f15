//! Random bytes from the operating system, and [`generate_token`].
// Spec: Authentication › Token functions.

use std::fmt;
use std::panic::Location;

use stockade_errors::{ApiError, ConfigError, ConfigIssue};

/// Returns a random text of `2 * bytes` lowercase hex characters. It is not a
/// JWT.
///
/// The specification's default is [`DEFAULT_TOKEN_BYTES`].
///
/// ```
/// use stockade_auth::{DEFAULT_TOKEN_BYTES, generate_token};
///
/// assert_eq!(generate_token(DEFAULT_TOKEN_BYTES)?.len(), 64);
/// assert!(generate_token(0).is_err());
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
///
/// # Errors
/// Fails if `bytes` is 0 or above [`MAX_TOKEN_BYTES`], or if the operating
/// system provides no randomness.
// Spec: Authentication › Token functions.
#[doc(alias = "generateToken")]
#[track_caller]
pub fn generate_token(bytes: usize) -> Result<String, ConfigError> {
    let location = Location::caller();
    let refuse = |message: String| ConfigError::from(ConfigIssue::new(message).at(location));
    if bytes == 0 {
        return Err(refuse("a token must have at least 1 byte".to_owned()));
    }
    if bytes > MAX_TOKEN_BYTES {
        return Err(refuse(format!(
            "a token must have at most {MAX_TOKEN_BYTES} bytes, found {bytes}"
        )));
    }
    let mut random = vec![0; bytes];
    fill(&mut random).map_err(|error| refuse(error.to_string()))?;
    Ok(hex::encode(random))
}

/// The specification's default number of bytes for a token: 32.
pub const DEFAULT_TOKEN_BYTES: usize = 32;

/// The maximum number of bytes for [`generate_token`]: 1 MiB (1,048,576).
pub const MAX_TOKEN_BYTES: usize = 1_048_576;

/// The operating system provided no random bytes.
///
/// The systems that Rust supports always provide random bytes after startup. If
/// this error occurs, a program can only abort its current work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RandomError(());

impl fmt::Display for RandomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operating system did not provide random bytes")
    }
}

impl std::error::Error for RandomError {}

impl From<RandomError> for ApiError {
    fn from(error: RandomError) -> Self {
        Self::internal(error)
    }
}

/// Fills `bytes` with random bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), RandomError> {
    getrandom::fill(bytes).map_err(|_| RandomError(()))
}

/// Returns an array of random bytes.
pub(crate) fn array<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_hex_of_the_requested_length() {
        for bytes in [1, 16, DEFAULT_TOKEN_BYTES, MAX_TOKEN_BYTES] {
            let token = generate_token(bytes).unwrap();
            assert_eq!(token.len(), 2 * bytes);
            assert!(token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        }
        assert_ne!(generate_token(16), generate_token(16));
        for bytes in [0, MAX_TOKEN_BYTES + 1, usize::MAX] {
            assert!(generate_token(bytes).is_err(), "{bytes}");
        }
    }
}
