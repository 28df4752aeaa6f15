//! Shared test helpers: a secret, a time, and tokens with any content.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use stockade_auth::{Secret, TokenError, TokenVerifier, UnixClock, verify_token};

pub(crate) const KEY: &[u8] = b"the secret of these tests, 32 bytes or more";

/// The current time in the tests, in seconds since 1970.
pub(crate) const NOW: u64 = 1_700_000_000;

/// A header that is not recognized by its text.
pub(crate) const HEADER: &str = r#"{"alg":"HS256"}"#;

pub(crate) fn secret() -> Secret {
    Secret::new(KEY).unwrap()
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn decode(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}

/// Returns `message` with a valid signature, without the crate under test.
pub(crate) fn signed(message: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, KEY);
    format!("{message}.{}", encode(hmac::sign(&key, message.as_bytes())))
}

/// Returns a token with any header and payload and a valid signature.
pub(crate) fn forge(header: impl AsRef<[u8]>, payload: impl AsRef<[u8]>) -> String {
    signed(&format!("{}.{}", encode(header), encode(payload)))
}

pub(crate) fn verifier() -> TokenVerifier {
    TokenVerifier::new().clock(UnixClock::at(NOW))
}

/// Checks the reason why a token is rejected.
#[track_caller]
pub(crate) fn refuse(token: &str, expected: &TokenError) {
    let start: String = token.chars().take(200).collect();
    assert_eq!(verifier().verify(token, &secret()).as_ref(), Err(expected), "{start}");
    assert!(verify_token(token, &secret()).is_none(), "{start}");
}

/// Checks that a token is accepted at [`NOW`].
#[track_caller]
pub(crate) fn accept(token: &str) {
    assert_eq!(verifier().verify(token, &secret()).err(), None, "{token}");
}
