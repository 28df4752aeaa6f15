//! [`JwkSet`]: the public keys of another issuer.

use std::panic::Location;

use jsonwebtoken::jwk::Jwk;
use serde_json::{Map, Value};
use stockade_errors::{ConfigError, ConfigIssue};

use super::key::VerifyingKey;
use super::unknown::{Warned, unknown};
use crate::token::{AlgorithmSet, Compact, Header, SealedKeys, TokenAlgorithm, TokenError};
use crate::{LOG_TARGET, base64url};

/// The public keys of another issuer, as a JWK set (RFC 7517).
///
/// The algorithms are RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384,
/// and both names of Ed25519: EdDSA and Ed25519 (RFC 9864). A key with `alg`
/// verifies only that algorithm, under that name. A key without `alg` verifies
/// RS256 and PS256, or the algorithm of its curve. HS256 and other symmetric
/// algorithms are never accepted, so a public key cannot be used as a secret.
/// To limit the algorithms, use
/// [`TokenVerifier::algorithms`](crate::TokenVerifier::algorithms).
///
/// Unlike with a [`Secret`](crate::Secret), the header is parsed before the
/// signature is checked, because it names the key.
///
/// ```
/// use stockade_auth::{JwkSet, TokenError, TokenVerifier};
///
/// let document = r#"{ "keys": [{
///     "kty": "OKP", "crv": "Ed25519", "kid": "1",
///     "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
/// }] }"#;
/// let keys = JwkSet::from_json(document)?;
/// assert_eq!(keys.len(), 1);
///
/// let header = "eyJhbGciOiJFZERTQSIsImtpZCI6IjIifQ"; // {"alg":"EdDSA","kid":"2"}
/// let outcome = TokenVerifier::new().verify(&format!("{header}.e30.AA"), &keys);
/// assert_eq!(outcome, Err(TokenError::UnknownKey));
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct JwkSet {
    keys: Vec<VerifyingKey>,
}

impl JwkSet {
    /// Parses a JWK set document, `{"keys":[…]}`.
    ///
    /// Keys that cannot verify tokens are skipped and logged at debug level:
    /// keys for encryption, symmetric keys, RSA keys below 2048 bits, and keys
    /// with a member of the wrong type. Keys with an unknown type (`kty`),
    /// curve (`crv`) or algorithm (`alg`) are skipped with a warning, because
    /// the issuer may already sign tokens with them. A
    /// [`JwkSource`](crate::JwkSource) warns once for each key. RFC 7517,
    /// section 5.
    ///
    /// # Errors
    /// Fails if the document is not a JWK set, or has more than [`MAX_KEYS`]
    /// keys (including unusable ones). Also fails if none of the keys can
    /// verify tokens.
    #[track_caller]
    pub fn from_json(document: impl AsRef<[u8]>) -> Result<Self, ConfigError> {
        Self::read(document.as_ref(), &mut Warned::default())
    }

    /// Parses a document as [`from_json`](Self::from_json) does. Warns only
    /// about keys that are not in `warned` yet.
    #[track_caller]
    pub(super) fn read(document: &[u8], warned: &mut Warned) -> Result<Self, ConfigError> {
        let location = Location::caller();
        read(document, warned).map_err(|message| ConfigIssue::new(message).at(location).into())
    }

    /// Returns the number of keys that can verify tokens; never 0.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one key")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Checks the signature of a token with the keys that support its
    /// algorithm. If the token has a `kid`, only keys with this name and keys
    /// without a name are tried.
    pub(super) fn validate(
        &self,
        token: &Compact<'_>,
        allowed: Option<AlgorithmSet>,
    ) -> Result<(), Refusal> {
        let header = Header::read(token.header)?;
        let algorithm = TokenAlgorithm::asymmetric(&header.alg);
        let is_allowed =
            |algorithm: &TokenAlgorithm| allowed.is_none_or(|allowed| allowed.contains(*algorithm));
        let algorithm = algorithm.filter(is_allowed).ok_or(TokenError::Algorithm)?;
        let signature = base64url::decode(token.signature.as_bytes());
        let signature = signature.ok_or(TokenError::Malformed)?;
        let kid = header.kid.as_deref();
        let is_candidate = |key: &&VerifyingKey| {
            key.is_for(algorithm) && kid.is_none_or(|kid| key.kid().is_none_or(|name| name == kid))
        };
        let mut candidates = self.keys.iter().filter(is_candidate).peekable();
        let has_candidate = candidates.peek().is_some();
        let message = token.message.as_bytes();
        if candidates.any(|key| key.verify(algorithm, message, &signature)) {
            return Ok(());
        }
        let lacks_key = kid.is_none_or(|kid| !self.names(kid));
        let error = match (kid, has_candidate) {
            (Some(_), _) if lacks_key => TokenError::UnknownKey,
            (_, false) => TokenError::Algorithm,
            (_, true) => TokenError::Signature,
        };
        Err(Refusal { error, lacks_key })
    }

    /// Returns true if a key has this `kid`.
    fn names(&self, kid: &str) -> bool {
        self.keys.iter().any(|key| key.kid() == Some(kid))
    }
}

/// The rejection of a token.
pub(super) struct Refusal {
    pub(super) error: TokenError,
    /// True if the token may be signed with a key that the set lacks.
    pub(super) lacks_key: bool,
}

impl From<TokenError> for Refusal {
    fn from(error: TokenError) -> Self {
        Self { error, lacks_key: false }
    }
}

/// The maximum number of keys in a set. It bounds the work for a token without
/// `kid`.
pub const MAX_KEYS: usize = 32;

impl SealedKeys for JwkSet {
    fn authenticate(
        &self,
        token: &Compact<'_>,
        allowed: Option<AlgorithmSet>,
    ) -> Result<(), TokenError> {
        self.validate(token, allowed).map_err(|refusal| refusal.error)
    }

    fn check(&self, allowed: AlgorithmSet) -> Result<(), String> {
        check_public(allowed)
    }

    fn default_algorithms(&self) -> Option<AlgorithmSet> {
        None
    }
}

/// Fails unless the set of algorithms contains an asymmetric one. The keys do
/// not matter, because the issuer replaces them.
pub(super) fn check_public(allowed: AlgorithmSet) -> Result<(), String> {
    if allowed.has_asymmetric() {
        return Ok(());
    }
    Err("a JWK set cannot verify HS256, HS384 or HS512; use a Secret".to_owned())
}

/// Parses the keys individually, so a malformed key does not affect the others.
fn read(document: &[u8], warned: &mut Warned) -> Result<JwkSet, String> {
    let mut document: Map<String, Value> = serde_json::from_slice(document)
        .map_err(|error| format!("the document is not a JWK set: {error}"))?;
    let Some(Value::Array(jwks)) = document.remove("keys") else {
        return Err("the document is not a JWK set: the array `keys` is missing".to_owned());
    };
    if jwks.len() > MAX_KEYS {
        return Err(format!("the JWK set has {} keys; at most {MAX_KEYS} are allowed", jwks.len()));
    }
    let mut keys = Vec::new();
    for (index, jwk) in jwks.into_iter().enumerate() {
        if let Some(unknown) = unknown(&jwk) {
            warned.warn(index, &unknown);
            continue;
        }
        match read_key(jwk) {
            Ok(key) => keys.push(key),
            Err(reason) => {
                log::debug!(target: LOG_TARGET, "key {index} of a JWK set is skipped: {reason}");
            }
        }
    }
    if keys.is_empty() {
        return Err("the JWK set does not contain a key that can verify tokens".to_owned());
    }
    Ok(JwkSet { keys })
}

fn read_key(jwk: Value) -> Result<VerifyingKey, &'static str> {
    let alg = jwk.get("alg").and_then(Value::as_str).map(str::to_owned);
    // The error message of serde may quote the key, which could be secret.
    let jwk = serde_json::from_value::<Jwk>(jwk);
    VerifyingKey::new(&jwk.map_err(|_| "a member has the wrong type")?, alg.as_deref())
}
