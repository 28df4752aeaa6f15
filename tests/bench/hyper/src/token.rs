//! Handwritten HS256 bearer tokens with ring.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bench_common::token::SECRET;
use hyper::header::HeaderValue;
use ring::hmac;

/// Verifies tokens with one key, which is prepared once.
pub(crate) struct Tokens {
    key: hmac::Key,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()) }
    }
}

impl Tokens {
    /// Returns true if the header contains a currently valid token.
    pub(crate) fn verify(&self, header: &HeaderValue) -> bool {
        self.expiry(header.as_bytes()).is_some_and(|expiry| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.is_ok_and(|now| now.as_secs() < expiry)
        })
    }

    fn expiry(&self, header: &[u8]) -> Option<u64> {
        let token = header.strip_prefix(b"Bearer ")?;
        let end = token.iter().rposition(|&byte| byte == b'.')?;
        let (signed, signature) = (&token[..end], &token[end + 1..]);
        let claims = signed.strip_prefix(HEADER)?;

        let mut tag = [0; 64];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(signature, &mut tag).ok()?;
        hmac::verify(&self.key, signed, &tag[..length]).ok()?;

        let mut text = [0; 512];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(claims, &mut text).ok()?;
        let claims: Claims = serde_json::from_slice(&text[..length]).ok()?;
        Some(claims.exp)
    }
}

/// `{"alg":"HS256","typ":"JWT"}`, the only accepted header.
const HEADER: &[u8] = b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.";

#[derive(serde::Deserialize)]
struct Claims {
    exp: u64,
}
