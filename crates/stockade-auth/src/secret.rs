//! [`Secret`] and [`KeyRing`]: the keys that sign tokens and session ids.
// Spec: Authentication › Token functions.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use ring::hmac;
use stockade_errors::{ConfigError, ConfigIssue};

use crate::base64url;
use crate::token::{HmacHash, TokenAlgorithm};

/// A secret for HMAC, with precomputed keys.
///
/// A secret is never empty, is cheap to clone, and is never printed. It signs
/// and verifies HS256 unless a [`TokenIssuer`](crate::TokenIssuer) or
/// [`TokenVerifier`](crate::TokenVerifier) selects HS384 (at least 48 bytes) or
/// HS512 (at least 64 bytes).
///
/// ```
/// use stockade_auth::Secret;
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// assert_eq!(format!("{secret:?}"), "Secret(..)");
/// assert!(Secret::new("").is_err());
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Secret {
    inner: Arc<Inner>,
}

struct Inner {
    keys: HmacKeys,
    kid: Option<String>,
    /// The base64url header of the tokens that this secret signs.
    header: String,
}

/// The keys of a secret, one for each hash that it is long enough for.
#[derive(Clone)]
struct HmacKeys {
    sha256: hmac::Key,
    sha384: Option<hmac::Key>,
    sha512: Option<hmac::Key>,
}

impl HmacKeys {
    fn new(bytes: &[u8]) -> Self {
        let longer = |hash: HmacHash, algorithm| {
            (bytes.len() >= hash.bytes()).then(|| hmac::Key::new(algorithm, bytes))
        };
        Self {
            sha256: hmac::Key::new(hmac::HMAC_SHA256, bytes),
            sha384: longer(HmacHash::Sha384, hmac::HMAC_SHA384),
            sha512: longer(HmacHash::Sha512, hmac::HMAC_SHA512),
        }
    }

    fn get(&self, hash: HmacHash) -> Option<&hmac::Key> {
        match hash {
            HmacHash::Sha256 => Some(&self.sha256),
            HmacHash::Sha384 => self.sha384.as_ref(),
            HmacHash::Sha512 => self.sha512.as_ref(),
        }
    }
}

/// A ring of one or more secrets: the first signs, all of them verify.
///
/// To rotate a secret, put the new one first. Keep the old one until the last
/// token that it signed has expired.
///
/// ```
/// use stockade_auth::{KeyRing, Secret, generate_jwt, verify_token};
/// use serde_json::json;
///
/// let old = Secret::new("the secret of last year, 32 bytes long")?;
/// let new = Secret::new("the secret of this year, 32 bytes long")?.with_kid("2026");
/// let token = generate_jwt(json!({ "sub": "7" }), "1h", &old)?;
///
/// let ring = KeyRing::new(new).or(old);
/// assert!(verify_token(&token, &ring).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyRing {
    signer: Secret,
    others: Vec<Secret>,
}

impl Secret {
    /// Creates a secret from text or bytes.
    ///
    /// Fewer than 32 bytes are accepted with a warning in the log. RFC 7518,
    /// section 3.2, requires at least as many bytes as the hash has.
    ///
    /// # Errors
    /// Fails if `secret` is empty.
    // Spec: Authentication › Token functions.
    #[track_caller]
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, ConfigError> {
        let bytes = secret.as_ref();
        let location = Location::caller();
        if bytes.is_empty() {
            return Err(ConfigIssue::new("the secret is empty").at(location).into());
        }
        if bytes.len() < SHORT_SECRET {
            log::warn!(
                target: crate::LOG_TARGET,
                "the secret at {}:{} has fewer than {SHORT_SECRET} bytes and can be guessed",
                location.file(),
                location.line(),
            );
        }
        let header = header(TokenAlgorithm::HS256, None);
        Ok(Self { inner: Arc::new(Inner { keys: HmacKeys::new(bytes), kid: None, header }) })
    }

    /// Sets the name of the secret, which its tokens carry as `kid`.
    ///
    /// The name is for people and other verifiers. This crate does not trust
    /// it: a token is tried with every secret of a ring, regardless of its
    /// `kid`.
    #[must_use]
    pub fn with_kid(self, kid: impl Into<String>) -> Self {
        let kid = kid.into();
        let header = header(TokenAlgorithm::HS256, Some(&kid));
        let keys = self.inner.keys.clone();
        Self { inner: Arc::new(Inner { keys, kid: Some(kid), header }) }
    }

    /// Returns the name that [`with_kid`](Self::with_kid) set.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.inner.kid.as_deref()
    }

    /// Returns the base64url header of the HS256 tokens that this secret signs.
    pub(crate) fn header(&self) -> &str {
        &self.inner.header
    }

    /// Returns the base64url header of the tokens that this secret signs with
    /// another algorithm.
    pub(crate) fn header_for(&self, algorithm: TokenAlgorithm) -> String {
        header(algorithm, self.kid())
    }

    /// Returns true if the secret is long enough for this hash.
    pub(crate) fn fits(&self, hash: HmacHash) -> bool {
        self.inner.keys.get(hash).is_some()
    }

    /// Returns the HMAC-SHA256 of `message`, 32 bytes.
    pub(crate) fn sign(&self, message: &[u8]) -> hmac::Tag {
        hmac::sign(&self.inner.keys.sha256, message)
    }

    /// Returns the HMAC of `message`; `None` if the secret is too short for this hash.
    pub(crate) fn sign_by(&self, hash: HmacHash, message: &[u8]) -> Option<hmac::Tag> {
        self.inner.keys.get(hash).map(|key| hmac::sign(key, message))
    }

    /// Derives a secret for the purpose that the label names.
    pub(crate) fn derive(&self, label: &[u8]) -> Self {
        let keys = HmacKeys::new(self.sign(label).as_ref());
        Self { inner: Arc::new(Inner { keys, kid: None, header: String::new() }) }
    }

    /// Returns true if `tag` is the complete HMAC of `message`, in constant
    /// time. Returns false if the secret is too short for this hash.
    pub(crate) fn verify(&self, hash: HmacHash, message: &[u8], tag: &[u8]) -> bool {
        let key = self.inner.keys.get(hash);
        key.is_some_and(|key| hmac::verify(key, message, tag).is_ok())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl KeyRing {
    /// Creates a ring of one secret, which signs.
    #[must_use]
    pub fn new(secret: Secret) -> Self {
        Self { signer: secret, others: Vec::new() }
    }

    /// Adds a secret that verifies but does not sign.
    ///
    /// Keep the ring short, because a forged token costs an HMAC for each
    /// secret.
    #[must_use]
    pub fn or(mut self, secret: Secret) -> Self {
        self.others.push(secret);
        self
    }

    /// Returns the secret that signs.
    pub(crate) fn signer(&self) -> &Secret {
        &self.signer
    }

    /// Returns the secrets that only verify.
    pub(crate) fn others(&self) -> &[Secret] {
        &self.others
    }
}

impl From<Secret> for KeyRing {
    fn from(secret: Secret) -> Self {
        Self::new(secret)
    }
}

/// Returns the header of a token, with its members in the order of the
/// specification.
// Spec: Authentication data.
fn header(algorithm: TokenAlgorithm, kid: Option<&str>) -> String {
    let mut json = format!(r#"{{"alg":"{algorithm}","typ":"JWT""#);
    if let Some(kid) = kid {
        json += r#","kid":"#;
        json += &serde_json::Value::from(kid).to_string();
    }
    json.push('}');
    base64url::encode(json.as_bytes())
}

/// The minimum length of a secret without a warning. RFC 7518, section 3.2.
const SHORT_SECRET: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_matches_the_specification() {
        #[track_caller]
        fn check(kid: Option<&str>, expected: &str) {
            let header = header(TokenAlgorithm::HS256, kid);
            let decoded = base64url::decode(header.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(decoded).unwrap(), expected);
        }
        check(None, r#"{"alg":"HS256","typ":"JWT"}"#);
        check(Some("a\"b"), r#"{"alg":"HS256","typ":"JWT","kid":"a\"b"}"#);
    }

    /// C2SP/wycheproof, HMAC-SHA256: complete tags verify, truncated tags never
    /// do.
    #[test]
    fn wycheproof_hmac_sha256() {
        let file = include_str!("../../../tests/vectors/wycheproof/hmac_sha256_test.json");
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        let mut cases = 0;
        for group in file["testGroups"].as_array().unwrap() {
            for case in group["tests"].as_array().unwrap() {
                let bytes = |name: &str| hex::decode(case[name].as_str().unwrap()).unwrap();
                let secret = Secret::new(bytes("key")).unwrap();
                let expected = case["result"] == "valid" && group["tagSize"] == 256;
                let outcome = secret.verify(HmacHash::Sha256, &bytes("msg"), &bytes("tag"));
                assert_eq!(outcome, expected, "{}", case["tcId"]);
                cases += 1;
            }
        }
        assert_eq!(cases, 174);
    }

    #[test]
    fn a_secret_converts_to_a_ring_with_one_key() {
        let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
        let ring: KeyRing = secret.clone().into();
        assert_eq!(ring.signer().sign(b"a").as_ref(), secret.sign(b"a").as_ref());
        assert!(ring.others().is_empty());
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let secret = Secret::new("correct horse battery staple").unwrap().with_kid("horse");
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_eq!(
            format!("{:?}", KeyRing::new(secret)),
            "KeyRing { signer: Secret(..), others: [] }"
        );
        let error = Secret::new([]).unwrap_err();
        assert_eq!(error.issues()[0].message(), "the secret is empty");
        assert_eq!(error.issues()[0].location().unwrap().file(), file!());
    }
}
