//! [`ApiKey`] and [`ApiKeyHash`]: API keys that are stored as hashes.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use ring::digest;
use stockade_errors::ApiError;
use subtle::ConstantTimeEq;

use crate::random::array;
use crate::{RandomError, base64url};

/// A new API key, which its owner sees once. Store its [`hash`](Self::hash).
///
/// A key has 256 random bits and cannot be guessed, so one round of SHA-256
/// without a salt is sufficient.
///
/// ```
/// use stockade_auth::{ApiKey, ApiKeyHash};
///
/// let key = ApiKey::generate("shop")?;
/// assert!(key.reveal().starts_with("shop_"));
/// let stored = key.hash().to_string();
///
/// // Later, with what a client sent:
/// let hash: ApiKeyHash = stored.parse()?;
/// assert!(hash.verify(key.reveal()));
/// assert!(!hash.verify("shop_guess"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Beyond the spec
/// API keys are not in the specification.
#[derive(Clone)]
pub struct ApiKey {
    text: String,
}

/// The SHA-256 of an API key, for storage. The text form is 64 lowercase hex
/// characters. It is deterministic, so you can look it up in a table.
///
/// Equality is checked in constant time. Ordering, and therefore a map lookup,
/// is not; its timing may reveal parts of the hash but not of the key.
#[derive(Clone, Copy, Debug)]
pub struct ApiKeyHash {
    digest: [u8; 32],
}

impl ApiKey {
    /// Creates a random key: `prefix`, `_` and 43 characters of base64url.
    ///
    /// The prefix helps people and secret scanners to identify the key. An
    /// empty prefix adds no `_`. A prefix has 0 to 32 characters: ASCII
    /// letters, digits, `_` and `-`, which are valid in a header.
    ///
    /// # Errors
    /// Fails for any other prefix, or if the operating system provides no
    /// randomness.
    pub fn generate(prefix: &str) -> Result<Self, ApiKeyError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if prefix.len() > MAX_PREFIX_LENGTH || !prefix.bytes().all(is_allowed) {
            return Err(ApiKeyError::Prefix);
        }
        let random = base64url::encode(&array::<32>()?);
        let separator = if prefix.is_empty() { "" } else { "_" };
        Ok(Self { text: format!("{prefix}{separator}{random}") })
    }

    /// Returns the key itself. Show it only to its owner.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Returns the hash of the key, for storage.
    #[must_use]
    pub fn hash(&self) -> ApiKeyHash {
        ApiKeyHash::of(&self.text)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

impl ApiKeyHash {
    /// Hashes a key that a client sent.
    #[must_use]
    pub fn of(key: &str) -> Self {
        let mut bytes = [0; 32];
        let digest = digest::digest(&digest::SHA256, key.as_bytes());
        // A SHA-256 digest has exactly the length of the array.
        bytes.copy_from_slice(digest.as_ref());
        Self { digest: bytes }
    }

    /// Returns true if this is the hash of `key`, in constant time.
    #[must_use]
    pub fn verify(&self, key: &str) -> bool {
        *self == Self::of(key)
    }
}

/// Compares in constant time.
impl PartialEq for ApiKeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.digest.ct_eq(&other.digest).into()
    }
}

impl Eq for ApiKeyHash {}

impl Hash for ApiKeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// Compares the bytes in the order of the text form, not in constant time.
impl Ord for ApiKeyHash {
    fn cmp(&self, other: &Self) -> Ordering {
        self.digest.cmp(&other.digest)
    }
}

impl PartialOrd for ApiKeyHash {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ApiKeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.digest))
    }
}

/// Parses the 64 hex characters, in either case.
impl FromStr for ApiKeyHash {
    type Err = ApiKeyHashError;

    fn from_str(text: &str) -> Result<Self, ApiKeyHashError> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest).map_err(|_| ApiKeyHashError(()))?;
        Ok(Self { digest })
    }
}

/// An error while creating an API key. As an [`ApiError`] it is a 500.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ApiKeyError {
    /// The prefix has more than 32 characters, or other characters than ASCII
    /// letters, digits, `_` and `-`.
    Prefix,
    /// The operating system provided no random bytes.
    Random(RandomError),
}

impl fmt::Display for ApiKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix => f.write_str(
                "an API key prefix must be at most 32 characters: ASCII letters, digits, `_` and \
                 `-`",
            ),
            Self::Random(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ApiKeyError {}

impl From<RandomError> for ApiKeyError {
    fn from(error: RandomError) -> Self {
        Self::Random(error)
    }
}

impl From<ApiKeyError> for ApiError {
    fn from(error: ApiKeyError) -> Self {
        Self::internal(error)
    }
}

/// The error for a stored text that is not an API key hash.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ApiKeyHashError(());

impl fmt::Display for ApiKeyHashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an API key hash must be 64 hex characters")
    }
}

impl std::error::Error for ApiKeyHashError {}

/// The maximum length of a prefix, in bytes (all characters are ASCII).
const MAX_PREFIX_LENGTH: usize = 32;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use super::*;

    #[test]
    fn a_prefix_is_short_and_plain() {
        for prefix in ["shop", "shop_live", "Shop-2", "_", "-", &"x".repeat(32)] {
            let key = ApiKey::generate(prefix).unwrap();
            let random = key.reveal().strip_prefix(prefix).and_then(|key| key.strip_prefix('_'));
            assert_eq!(random.map(str::len), Some(43), "{prefix:?}");
        }
        for prefix in
            [" ", "a b", "a\n", "a\0", "a:b", "a.b", "a/b", "shöp", "\u{1f600}", &"x".repeat(33)]
        {
            assert_eq!(ApiKey::generate(prefix).unwrap_err(), ApiKeyError::Prefix, "{prefix:?}");
        }
    }

    #[test]
    fn hashes_are_usable_as_map_keys() {
        let hashes = ["one", "two", "three"].map(ApiKeyHash::of);
        let by_hash: HashMap<_, _> = hashes.iter().copied().zip(1..).collect();
        let by_order: BTreeMap<_, _> = hashes.iter().copied().zip(1..).collect();
        for (key, expected) in [("one", Some(1)), ("three", Some(3)), ("four", None)] {
            let hash = ApiKeyHash::of(key);
            assert_eq!(
                (by_hash.get(&hash), by_order.get(&hash)),
                (expected.as_ref(), expected.as_ref())
            );
        }
        let texts: Vec<String> = by_order.keys().map(ToString::to_string).collect();
        assert!(texts.is_sorted(), "{texts:?}");
    }

    #[test]
    fn the_hash_is_sha_256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(ApiKeyHash::of("abc").to_string(), expected);
        assert_eq!(expected.to_uppercase().parse(), Ok(ApiKeyHash::of("abc")));
        for text in ["", "ba", &expected[1..], &format!("{expected}00"), &"g".repeat(64)] {
            assert!(text.parse::<ApiKeyHash>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn keys_differ_and_are_not_printed() {
        let (one, other) = (ApiKey::generate("").unwrap(), ApiKey::generate("").unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), 43);
        assert_eq!(format!("{one:?}"), "ApiKey(..)");
        assert!(one.hash().verify(one.reveal()));
        assert!(!one.hash().verify(other.reveal()));
    }
}
