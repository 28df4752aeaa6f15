//! [`SessionId`]: random ids of sessions, signed for a cookie.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

use crate::random::array;
use crate::token::find_signer;
use crate::{RandomError, SigningKeys, base64url};

/// The random id of a session, 256 bits.
///
/// A client keeps the signed form, so that a guessed id does not even reach the
/// store. The caller provides the cookie, its attributes and the store.
///
/// ```
/// use stockade_auth::{Secret, SessionId};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let id = SessionId::generate()?;
/// let cookie = id.sign(&secret);
///
/// assert_eq!(SessionId::verify(&cookie, &secret), Some(id));
/// assert_eq!(SessionId::verify(&cookie.to_lowercase(), &secret), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Beyond the spec
/// The specification has no sessions.
#[derive(Clone, Copy)]
pub struct SessionId {
    bytes: [u8; 32],
}

impl SessionId {
    /// Makes a new id.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn generate() -> Result<Self, RandomError> {
        Ok(Self { bytes: array()? })
    }

    /// Returns the signed form: 43 characters of id, a dot, 43 characters of
    /// HMAC-SHA256, all of which may stand in a cookie.
    ///
    /// The same secret may sign tokens too: a session id is signed behind a
    /// prefix that no token begins with.
    #[must_use]
    pub fn sign<K: SigningKeys + ?Sized>(&self, keys: &K) -> String {
        let tag = keys.signer().sign(&self.message());
        let mut signed = base64url::encode(&self.bytes);
        signed.push('.');
        base64url::encode_to(tag.as_ref(), &mut signed);
        signed
    }

    /// Reads the id of a signed form; `None` unless one of the keys signed it.
    ///
    /// The signature is compared in constant time.
    #[must_use]
    pub fn verify<K: SigningKeys + ?Sized>(signed: &str, keys: &K) -> Option<Self> {
        let (id, tag) = signed.split_once('.')?;
        let id: Self = id.parse().ok()?;
        let tag = base64url::decode_32(tag.as_bytes())?;
        find_signer(keys, &id.message(), &tag).map(|_| id)
    }

    /// Returns the bytes that are signed.
    fn message(&self) -> [u8; DOMAIN.len() + 32] {
        let mut message = [0; DOMAIN.len() + 32];
        let (domain, id) = message.split_at_mut(DOMAIN.len());
        domain.copy_from_slice(DOMAIN);
        id.copy_from_slice(&self.bytes);
        message
    }
}

/// The prefix of the signed bytes. No token begins with it, because base64url
/// has no colon.
const DOMAIN: &[u8] = b"stockade:session:1:";

/// Writes the 43 characters of base64url, without the signature, for the store.
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64url::encode(&self.bytes))
    }
}

/// Shows nothing of the id, which opens the session to anyone who has the
/// secret too.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

/// Reads the text that `Display` writes.
impl FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, SessionIdError> {
        let bytes = base64url::decode_32(text.as_bytes()).ok_or(SessionIdError(()))?;
        Ok(Self { bytes })
    }
}

/// Compares in constant time.
impl PartialEq for SessionId {
    fn eq(&self, other: &Self) -> bool {
        self.bytes.ct_eq(&other.bytes).into()
    }
}

impl Eq for SessionId {}

/// The error for a text that is no session id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionIdError(());

impl fmt::Display for SessionIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a session must be 43 characters of base64url")
    }
}

impl std::error::Error for SessionIdError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyRing, Secret, generate_jwt, verify_token};

    #[test]
    fn only_the_signed_text_itself_verifies() {
        let secret = Secret::new([7; 32]).unwrap();
        let id = SessionId::generate().unwrap();
        let signed = id.sign(&secret);
        assert_eq!(signed.len(), 87);
        assert_eq!(SessionId::verify(&signed, &secret), Some(id));

        // Every change of one character, and of the length.
        for index in 0..signed.len() {
            for other in ["A", "B", "z", "-", ".", "=", "é"] {
                let mut changed = signed.clone();
                changed.replace_range(index..=index, other);
                if changed != signed {
                    assert_eq!(SessionId::verify(&changed, &secret), None, "{changed}");
                }
            }
        }
        for changed in [format!("{signed}="), format!("{signed}\n"), format!(" {signed}")] {
            assert_eq!(SessionId::verify(&changed, &secret), None);
        }
        for changed in ["", ".", &signed[..43], &signed[43..], &id.to_string()] {
            assert_eq!(SessionId::verify(changed, &secret), None);
        }
    }

    #[test]
    fn secrets_can_be_changed() {
        let (old, new) = (Secret::new([1; 32]).unwrap(), Secret::new([2; 32]).unwrap());
        let id = SessionId::generate().unwrap();
        let signed = id.sign(&old);
        assert_eq!(SessionId::verify(&signed, &new), None);
        assert_eq!(SessionId::verify(&signed, &KeyRing::new(new).or(old)), Some(id));
    }

    #[test]
    fn a_token_is_no_session_and_a_session_no_token() {
        let secret = Secret::new([7; 32]).unwrap();
        let signed = SessionId::generate().unwrap().sign(&secret);
        assert!(verify_token(&signed, &secret).is_none());
        let token = generate_jwt(serde_json::json!({}), "1h", &secret).unwrap();
        assert_eq!(SessionId::verify(&token, &secret), None);
    }
}
