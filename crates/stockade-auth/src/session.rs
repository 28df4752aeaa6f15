//! [`SessionId`]: random session ids, signed for a cookie.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use subtle::ConstantTimeEq;

use crate::random::array;
use crate::token::{HmacHash, find_signer};
use crate::{KeyRing, RandomError, SigningKeys, base64url};

/// The random id of a session, 256 bits.
///
/// The client stores the signed form, so a guessed id never reaches the store.
/// The caller provides the cookie, its attributes and the store.
///
/// ```
/// use stockade_auth::{Secret, SessionId, SessionKeys};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let customers = SessionKeys::new("customers", &secret);
/// let id = SessionId::generate()?;
/// let cookie = id.sign(&customers);
///
/// assert_eq!(SessionId::verify(&cookie, &customers), Some(id));
/// assert_eq!(SessionId::verify(&cookie.to_lowercase(), &customers), None);
/// // The same secret with another kind of session.
/// let admins = SessionKeys::new("admins", &secret);
/// assert_eq!(SessionId::verify(&cookie, &admins), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Beyond the spec
/// Sessions are not in the specification.
#[derive(Clone, Copy)]
pub struct SessionId {
    bytes: [u8; 32],
}

/// The keys that sign the session ids of one kind.
///
/// Each kind has its own keys, which are derived from the secrets. A signed id
/// of one kind is not valid for another kind, even with the same secret.
#[derive(Clone)]
pub struct SessionKeys {
    kind: Arc<str>,
    keys: KeyRing,
}

impl SessionKeys {
    /// Derives the keys for a kind of sessions, such as `customers`, from a
    /// secret or a key ring. The name is not secret; a different name
    /// invalidates all signed ids.
    #[must_use]
    pub fn new<K: SigningKeys + ?Sized>(kind: &str, keys: &K) -> Self {
        let label = [DOMAIN, kind.as_bytes()].concat();
        let signer = KeyRing::new(keys.signer().derive(&label));
        let others = keys.others().iter().map(|secret| secret.derive(&label));
        Self { kind: kind.into(), keys: others.fold(signer, KeyRing::or) }
    }

    /// Returns the name of the kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

/// Prints only the kind.
impl fmt::Debug for SessionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionKeys").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl SessionId {
    /// Generates a new id.
    ///
    /// # Errors
    /// Fails if the operating system provides no randomness.
    pub fn generate() -> Result<Self, RandomError> {
        Ok(Self { bytes: array()? })
    }

    /// Returns the signed form: 43 characters for the id, a dot, and 43
    /// characters for the HMAC-SHA256. All characters are valid in a cookie.
    ///
    /// The secret of the keys may also sign tokens, because the derived keys
    /// differ from it.
    #[must_use]
    pub fn sign(&self, keys: &SessionKeys) -> String {
        let tag = keys.keys.signer().sign(&self.bytes);
        let mut signed = base64url::encode(&self.bytes);
        signed.push('.');
        base64url::encode_to(tag.as_ref(), &mut signed);
        signed
    }

    /// Returns the id of a signed form, or `None` if none of the keys signed
    /// it.
    ///
    /// The signature is compared in constant time.
    #[must_use]
    pub fn verify(signed: &str, keys: &SessionKeys) -> Option<Self> {
        let (id, tag) = signed.split_once('.')?;
        let id: Self = id.parse().ok()?;
        let tag = base64url::decode_32(tag.as_bytes())?;
        find_signer(&keys.keys, HmacHash::Sha256, &id.bytes, &tag).map(|_| id)
    }
}

/// The prefix of the labels for deriving the keys of a kind. No token starts
/// with it, because base64url does not use colons. Version 1 signed the
/// ids with the secret itself.
const DOMAIN: &[u8] = b"stockade:session:2:";

/// Writes the 43 characters of base64url, without the signature, for the store.
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64url::encode(&self.bytes))
    }
}

/// Hides the id, because anyone who also has the secret could open the session.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

/// Parses the text that `Display` writes.
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

/// The error for a text that is not a session id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionIdError(());

impl fmt::Display for SessionIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session id must be 43 base64url characters")
    }
}

impl std::error::Error for SessionIdError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Secret, generate_jwt, verify_token};

    fn keys(kind: &str, byte: u8) -> SessionKeys {
        SessionKeys::new(kind, &Secret::new([byte; 32]).unwrap())
    }

    #[test]
    fn only_the_signed_text_itself_verifies() {
        let keys = keys("session", 7);
        let id = SessionId::generate().unwrap();
        let signed = id.sign(&keys);
        assert_eq!(signed.len(), 87);
        assert_eq!(SessionId::verify(&signed, &keys), Some(id));

        // Every change of one character, and of the length.
        for index in 0..signed.len() {
            for other in ["A", "B", "z", "-", ".", "=", "é"] {
                let mut changed = signed.clone();
                changed.replace_range(index..=index, other);
                if changed != signed {
                    assert_eq!(SessionId::verify(&changed, &keys), None, "{changed}");
                }
            }
        }
        for changed in [format!("{signed}="), format!("{signed}\n"), format!(" {signed}")] {
            assert_eq!(SessionId::verify(&changed, &keys), None);
        }
        for changed in ["", ".", &signed[..43], &signed[43..], &id.to_string()] {
            assert_eq!(SessionId::verify(changed, &keys), None);
        }
    }

    #[test]
    fn a_kind_rejects_the_ids_of_other_kinds() {
        let kinds = ["", "a", "A", "ab", "a:", "session", "sessions", "__Host-session", "ä"];
        let id = SessionId::generate().unwrap();
        for one in kinds {
            let signed = id.sign(&keys(one, 7));
            for other in kinds {
                let expected = (one == other).then_some(id);
                assert_eq!(SessionId::verify(&signed, &keys(other, 7)), expected, "{one} {other}");
            }
        }
        assert_eq!(keys("admins", 7).kind(), "admins");
    }

    #[test]
    fn a_kind_rejects_ids_that_the_secret_itself_signed() {
        let secret = Secret::new([7; 32]).unwrap();
        let id = SessionId::generate().unwrap();
        for message in [id.bytes.to_vec(), [b"stockade:session:1:", &id.bytes[..]].concat()] {
            let signed = format!("{id}.{}", base64url::encode(secret.sign(&message).as_ref()));
            assert_eq!(SessionId::verify(&signed, &keys("", 7)), None);
            assert_eq!(SessionId::verify(&signed, &keys("session", 7)), None);
        }
    }

    #[test]
    fn secrets_can_be_rotated() {
        let (old, new) = (Secret::new([1; 32]).unwrap(), Secret::new([2; 32]).unwrap());
        let id = SessionId::generate().unwrap();
        let signed = id.sign(&SessionKeys::new("session", &old));
        assert_eq!(SessionId::verify(&signed, &SessionKeys::new("session", &new)), None);
        let ring = SessionKeys::new("session", &KeyRing::new(new).or(old));
        assert_eq!(SessionId::verify(&signed, &ring), Some(id));
    }

    #[test]
    fn tokens_and_session_ids_are_not_interchangeable() {
        let secret = Secret::new([7; 32]).unwrap();
        let keys = keys("session", 7);
        let signed = SessionId::generate().unwrap().sign(&keys);
        assert!(verify_token(&signed, &secret).is_none());
        let token = generate_jwt(serde_json::json!({}), "1h", &secret).unwrap();
        assert_eq!(SessionId::verify(&token, &keys), None);
    }
}
