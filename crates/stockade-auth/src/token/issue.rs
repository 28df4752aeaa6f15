//! [`generate_jwt`] and [`TokenIssuer`]: issue tokens.
// Spec: Authentication › Token functions.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};
use stockade_errors::__internal::setters;

use super::claims::{ISSUED_AT_MILLIS, MAX_TIME, time};
use super::clock::Reading;
use super::{
    ExpiresIn, HmacHash, IntoExpiresIn, IssueError, MAX_TOKEN_LENGTH, SigningKeys, TokenAlgorithm,
    UnixClock, json,
};
use crate::{Secret, base64url};

/// Issues a token with this payload, signed with HMAC-SHA256.
///
/// `payload` is any value that serializes to a JSON object. `iat` (now) and
/// `exp` (now plus `expires_in`) are added and replace existing members.
/// `expires_in` is `"90m"`, `"1h"`, `"7d"` or a
/// [`Duration`](std::time::Duration). Any other text means one hour, with a
/// warning in the log. `ExpiresIn::default()` is also one hour.
///
/// ```
/// use std::time::Duration;
///
/// use serde_json::json;
/// use stockade_auth::{Secret, generate_jwt, verify_token};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let token = generate_jwt(json!({ "sub": "7" }), Duration::from_secs(900), &secret)?;
/// assert_eq!(verify_token(&token, &secret).ok_or("not valid")?["sub"], "7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if the payload is not an object, cannot be serialized as JSON, is
/// nested deeper than 127 levels, or has an `nbf` that is not a time. Also
/// fails if the token would be longer than [`MAX_TOKEN_LENGTH`].
// Spec: Authentication › Token functions.
#[doc(alias = "generateJWT")]
pub fn generate_jwt<K: SigningKeys + ?Sized>(
    payload: impl Serialize,
    expires_in: impl IntoExpiresIn,
    keys: &K,
) -> Result<String, IssueError> {
    let issuer = TokenIssuer { adds_millis: false, ..TokenIssuer::new() };
    issuer.issue(payload, expires_in, keys)
}

/// An issuer of tokens: [`generate_jwt`] with a configurable algorithm, limit
/// and clock.
///
/// Its tokens have the additional claim `iat_ms`: the time of issue in
/// milliseconds. It replaces an existing member with this name. With this
/// claim, a token that is issued after
/// [`revoke_before`](crate::Revocations::revoke_before) in the same second is
/// valid.
///
/// ```
/// use serde_json::json;
/// use stockade_auth::{Secret, TokenIssuer, UnixClock};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let issuer = TokenIssuer::new().max_length(2_048).clock(UnixClock::at(1_000_000_000));
/// assert!(issuer.issue(json!({ "scopes": "x".repeat(2_048) }), "1h", &secret).is_err());
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[doc(alias = "jwt")]
#[derive(Clone, Debug)]
pub struct TokenIssuer {
    algorithm: TokenAlgorithm,
    max_length: usize,
    clock: UnixClock,
    adds_millis: bool,
}

impl Default for TokenIssuer {
    fn default() -> Self {
        Self {
            algorithm: TokenAlgorithm::HS256,
            max_length: MAX_TOKEN_LENGTH,
            clock: UnixClock::default(),
            adds_millis: true,
        }
    }
}

impl TokenIssuer {
    /// Creates an issuer with the defaults of [`generate_jwt`] and the claim
    /// `iat_ms`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the algorithm. Default: HS256. HS384 needs a secret of at least
        /// 48 bytes, HS512 of at least 64 bytes. Also set it in
        /// [`TokenVerifier::algorithms`](crate::TokenVerifier::algorithms).
        algorithm: TokenAlgorithm;

        /// Sets the maximum length of a token, in bytes. Default:
        /// [`MAX_TOKEN_LENGTH`].
        max_length: usize;

        /// Sets the clock. Default: the system clock.
        clock: UnixClock;
    }

    /// Issues a token; see [`generate_jwt`].
    ///
    /// # Errors
    /// Fails as [`generate_jwt`] does. Returns [`IssueError::ShortSecret`] if
    /// the secret is too short for the [`algorithm`](Self::algorithm), and
    /// [`IssueError::Algorithm`] if it is not an HMAC algorithm.
    pub fn issue<K: SigningKeys + ?Sized>(
        &self,
        payload: impl Serialize,
        expires_in: impl IntoExpiresIn,
        keys: &K,
    ) -> Result<String, IssueError> {
        let payload = serde_json::to_value(payload).map_err(IssueError::Unserializable)?;
        let Value::Object(mut claims) = payload else { return Err(IssueError::NotAnObject) };
        let now = self.clock.read().ok_or(IssueError::UnixClock)?;
        add_times(&mut claims, now, expires_in.into())?;
        if self.adds_millis && now.millis <= MAX_TIME {
            claims.insert(ISSUED_AT_MILLIS.to_owned(), now.millis.into());
        }
        if json::is_too_deep(&claims) {
            return Err(IssueError::TooDeep);
        }
        let payload = serde_json::to_vec(&claims).map_err(IssueError::Unserializable)?;
        sign(keys.signer(), self.algorithm, &payload, self.max_length)
    }
}

/// Sets `iat` and `exp`, and replaces existing values.
// Spec: Authentication data.
fn add_times(
    claims: &mut Map<String, Value>,
    now: Reading,
    expires_in: ExpiresIn,
) -> Result<(), IssueError> {
    if claims.get("nbf").is_some_and(|nbf| time(nbf).is_none()) {
        return Err(IssueError::NotBefore);
    }
    let now = now.seconds.min(MAX_TIME);
    // The expiry is limited to the latest time that verifiers accept.
    let end = now.saturating_add(expires_in.seconds()).min(MAX_TIME);
    claims.insert("iat".to_owned(), now.into());
    claims.insert("exp".to_owned(), end.into());
    Ok(())
}

/// Joins the header, payload and signature, if the length is allowed.
fn sign(
    secret: &Secret,
    algorithm: TokenAlgorithm,
    payload: &[u8],
    limit: usize,
) -> Result<String, IssueError> {
    let hash = HmacHash::of(algorithm).ok_or(IssueError::Algorithm { algorithm })?;
    let header = match hash {
        HmacHash::Sha256 => Cow::Borrowed(secret.header()),
        HmacHash::Sha384 | HmacHash::Sha512 => Cow::Owned(secret.header_for(algorithm)),
    };
    // A length above `usize::MAX` exceeds every limit.
    let encoded = base64url::encoded_len(payload.len()).unwrap_or(usize::MAX);
    let bytes = encoded.saturating_add(header.len() + hash.encoded_tag() + 2);
    if bytes > limit {
        return Err(IssueError::TooLong { bytes, limit });
    }
    let mut token = String::with_capacity(bytes);
    token.push_str(&header);
    token.push('.');
    base64url::encode_to(payload, &mut token);
    let tag = secret.sign_by(hash, token.as_bytes());
    let tag = tag.ok_or_else(|| IssueError::ShortSecret { algorithm, bytes: hash.bytes() })?;
    token.push('.');
    base64url::encode_to(tag.as_ref(), &mut token);
    Ok(token)
}
