//! [`JwkSet`]: the public keys of another issuer.

use std::panic::Location;
use std::str::FromStr;

use jsonwebtoken::Algorithm;
use jsonwebtoken::jwk::Jwk;
use serde_json::{Map, Value};
use stockade_errors::{ConfigError, ConfigIssue};

use super::key::{VerifyingKey, is_supported};
use crate::token::{Compact, Header, SealedKeys, TokenError};
use crate::{LOG_TARGET, base64url};

/// The public keys of another issuer, as a JWK set (RFC 7517).
///
/// The algorithms are RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384
/// and EdDSA (Ed25519). A key with `alg` is for that algorithm; one without is
/// for RS256 and PS256, or for the algorithm of its curve. HS256 and other
/// symmetric algorithms are never accepted, so that a public key cannot be
/// taken for a secret.
///
/// Unlike with a [`Secret`](crate::Secret), the header is read before the
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
    /// Reads a JWK set document, `{"keys":[…]}`.
    ///
    /// Keys that cannot verify tokens (for encryption, symmetric, of another
    /// type or curve, RSA below 2048 bits, with a member of the wrong type) are
    /// left out, with a line in the log at debug level. RFC 7517, section 5.
    ///
    /// # Errors
    /// Fails when the document is no JWK set, has more than [`MAX_KEYS`] keys
    /// (unusable ones count), or none that can verify.
    #[track_caller]
    pub fn from_json(document: impl AsRef<[u8]>) -> Result<Self, ConfigError> {
        let location = Location::caller();
        read(document.as_ref()).map_err(|message| ConfigIssue::new(message).at(location).into())
    }

    /// Returns the number of keys that can verify tokens; never 0.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one key")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Checks the signature of a token with the keys that may have made it:
    /// with a `kid` those of that name and those without one, without a `kid`
    /// all of them, and of these the ones for the algorithm.
    pub(super) fn validate(&self, token: &Compact<'_>) -> Result<(), Refusal> {
        let header = Header::read(token.header)?;
        let algorithm = Algorithm::from_str(&header.alg).ok();
        let algorithm = algorithm.filter(|algorithm| is_supported(*algorithm));
        let algorithm = algorithm.ok_or(TokenError::Algorithm)?;
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

    /// Returns true if a key has this name.
    fn names(&self, kid: &str) -> bool {
        self.keys.iter().any(|key| key.kid() == Some(kid))
    }
}

/// The refusal of a token.
pub(super) struct Refusal {
    pub(super) error: TokenError,
    /// True if the token may have a key that the set lacks.
    pub(super) lacks_key: bool,
}

impl From<TokenError> for Refusal {
    fn from(error: TokenError) -> Self {
        Self { error, lacks_key: false }
    }
}

/// The largest number of keys in a set, which bounds the work for a token
/// without `kid`.
pub const MAX_KEYS: usize = 32;

impl SealedKeys for JwkSet {
    fn authenticate(&self, token: &Compact<'_>) -> Result<(), TokenError> {
        self.validate(token).map_err(|refusal| refusal.error)
    }
}

/// Reads the keys one by one, so that a malformed key does not affect the
/// others.
fn read(document: &[u8]) -> Result<JwkSet, String> {
    let mut document: Map<String, Value> = serde_json::from_slice(document)
        .map_err(|error| format!("the document is no JWK set: {error}"))?;
    let Some(Value::Array(jwks)) = document.remove("keys") else {
        return Err("the document is no JWK set: it has no array `keys`".to_owned());
    };
    if jwks.len() > MAX_KEYS {
        return Err(format!("a JWK set of {} keys is above {MAX_KEYS}", jwks.len()));
    }
    let mut keys = Vec::new();
    for (index, jwk) in jwks.into_iter().enumerate() {
        match read_key(jwk) {
            Ok(key) => keys.push(key),
            Err(reason) => {
                log::debug!(target: LOG_TARGET, "key {index} of a JWK set is left out: {reason}");
            }
        }
    }
    if keys.is_empty() {
        return Err("the JWK set has no key that can verify a token".to_owned());
    }
    Ok(JwkSet { keys })
}

fn read_key(jwk: Value) -> Result<VerifyingKey, &'static str> {
    // The message of serde may quote the key, which could be a secret.
    let jwk = serde_json::from_value::<Jwk>(jwk);
    VerifyingKey::new(&jwk.map_err(|_| "a member is not what it should be")?)
}
