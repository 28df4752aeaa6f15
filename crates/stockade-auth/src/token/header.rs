//! [`Header`]: the header of a token.

use serde_json::Value;

use super::{HmacHash, TokenError, json};
use crate::base64url;

/// The relevant members of a header. A header is rejected if it changes the
/// meaning of the token to something other than a signed object.
///
/// `jwk`, `jku`, `x5c` and similar members are ignored, because a token must
/// not choose the key that verifies it. RFC 8725, section 3.10.
pub(crate) struct Header {
    pub(crate) alg: String,
    #[cfg_attr(not(feature = "jwks"), expect(dead_code, reason = "only JWK sets use it"))]
    pub(crate) kid: Option<String>,
}

impl Header {
    /// Parses the encoded header of a token.
    ///
    /// A header with `crit` is rejected, because no extension is supported. A
    /// header with `b64` other than true is rejected too. RFC 7515, section
    /// 4.1.11; RFC 7797, section 3.
    pub(crate) fn read(encoded: &str) -> Result<Self, TokenError> {
        let json = base64url::decode(encoded.as_bytes()).ok_or(TokenError::Malformed)?;
        let mut members = json::object(&json).ok_or(TokenError::Malformed)?;
        let is_encoded = members.get("b64").is_none_or(|b64| *b64 == Value::Bool(true));
        if members.contains_key("crit") || !is_encoded {
            return Err(TokenError::Malformed);
        }
        if members.get("typ").is_some_and(|typ| !typ.is_string()) {
            return Err(TokenError::Malformed);
        }
        let Some(Value::String(alg)) = members.remove("alg") else {
            return Err(TokenError::Malformed);
        };
        let kid = match members.remove("kid") {
            None => None,
            Some(Value::String(kid)) => Some(kid),
            Some(_) => return Err(TokenError::Malformed),
        };
        Ok(Self { alg, kid })
    }
}

/// Checks that an encoded header names the algorithm of this hash.
///
/// Common headers are recognized by comparing their text.
pub(super) fn check_hmac(encoded: &str, hash: HmacHash) -> Result<(), TokenError> {
    if usual(hash).contains(&encoded) {
        return Ok(());
    }
    let name = hash.algorithm().name();
    if Header::read(encoded)?.alg == name { Ok(()) } else { Err(TokenError::Algorithm) }
}

/// Returns the most common headers: `{"alg":"…","typ":"JWT"}`, as written by
/// this crate, and `{"typ":"JWT","alg":"…"}`, as written by `jsonwebtoken`.
const fn usual(hash: HmacHash) -> [&'static str; 2] {
    match hash {
        HmacHash::Sha256 => {
            ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9"]
        }
        HmacHash::Sha384 => {
            ["eyJhbGciOiJIUzM4NCIsInR5cCI6IkpXVCJ9", "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzM4NCJ9"]
        }
        HmacHash::Sha512 => {
            ["eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9", "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzUxMiJ9"]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &Result<(), TokenError>) {
        let encoded = base64url::encode(json.as_bytes());
        assert_eq!(check_hmac(&encoded, HmacHash::Sha256), *expected, "{json}");
    }

    #[test]
    fn usual_headers_name_their_algorithm() {
        for hash in [HmacHash::Sha256, HmacHash::Sha384, HmacHash::Sha512] {
            let name = hash.algorithm();
            let headers = [
                format!(r#"{{"alg":"{name}","typ":"JWT"}}"#),
                format!(r#"{{"typ":"JWT","alg":"{name}"}}"#),
            ];
            assert_eq!(headers.map(|json| base64url::encode(json.as_bytes())), usual(hash));
        }
    }

    #[test]
    fn only_a_plain_header_with_hs256_passes() {
        check(r#"{"alg":"HS256"}"#, &Ok(()));
        check(r#"{ "typ" : "at+jwt", "alg" : "HS256", "kid": "1", "b64": true }"#, &Ok(()));
        check(r#"{"alg":"HS256","jwk":{"kty":"oct","k":"AA"},"jku":"http://x"}"#, &Ok(()));
        for alg in ["hs256", "HS384", "HS512", "RS256", "none", "None", "nOnE", "", "HS256 "] {
            check(&format!(r#"{{"alg":"{alg}"}}"#), &Err(TokenError::Algorithm));
        }
        for json in [
            r#"{"typ":"JWT"}"#,
            r#"{"alg":null}"#,
            r#"{"alg":["HS256"]}"#,
            r#"{"alg":"HS256","alg":"HS256"}"#,
            r#"{"alg":"HS256","crit":[]}"#,
            r#"{"alg":"HS256","crit":["exp"],"exp":1}"#,
            r#"{"alg":"HS256","crit":null}"#,
            r#"{"alg":"HS256","b64":false}"#,
            r#"{"alg":"HS256","kid":7}"#,
            r#"{"alg":"HS256","typ":{}}"#,
            r#"["HS256"]"#,
            r#""HS256""#,
            "",
        ] {
            check(json, &Err(TokenError::Malformed));
        }
    }
}
