//! [`TokenAlgorithm`]: the names of signature algorithms, and sets of them.

use std::fmt;

/// A token signature algorithm.
///
/// Secrets use the HMAC algorithms. JWK sets (feature `jwks`) use all others.
///
/// ```
/// use stockade_auth::TokenAlgorithm;
///
/// assert_eq!(TokenAlgorithm::Ed25519.to_string(), "Ed25519");
/// ```
///
/// Source: RFC 7518, section 3.1; RFC 8037, section 3.1; RFC 9864, section 2.2.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum TokenAlgorithm {
    /// HMAC with SHA-256. The default of secrets.
    HS256,
    /// HMAC with SHA-384. The secret must have at least 48 bytes.
    HS384,
    /// HMAC with SHA-512. The secret must have at least 64 bytes.
    HS512,
    /// RSA, PKCS #1 v1.5, with SHA-256.
    RS256,
    /// RSA, PKCS #1 v1.5, with SHA-384.
    RS384,
    /// RSA, PKCS #1 v1.5, with SHA-512.
    RS512,
    /// RSA, PSS, with SHA-256.
    PS256,
    /// RSA, PSS, with SHA-384.
    PS384,
    /// RSA, PSS, with SHA-512.
    PS512,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// ECDSA on P-384 with SHA-384.
    ES384,
    /// Ed25519 under its older name, which does not identify the curve.
    EdDSA,
    /// Ed25519 under the name of RFC 9864.
    Ed25519,
}

impl TokenAlgorithm {
    /// Returns the `alg` name in headers and keys.
    ///
    /// ```
    /// use stockade_auth::TokenAlgorithm;
    ///
    /// assert_eq!(TokenAlgorithm::HS512.name(), "HS512");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HS256 => "HS256",
            Self::HS384 => "HS384",
            Self::HS512 => "HS512",
            Self::RS256 => "RS256",
            Self::RS384 => "RS384",
            Self::RS512 => "RS512",
            Self::PS256 => "PS256",
            Self::PS384 => "PS384",
            Self::PS512 => "PS512",
            Self::ES256 => "ES256",
            Self::ES384 => "ES384",
            Self::EdDSA => "EdDSA",
            Self::Ed25519 => "Ed25519",
        }
    }

    /// Returns the asymmetric algorithm with this name.
    #[cfg(feature = "jwks")]
    pub(crate) fn asymmetric(name: &str) -> Option<Self> {
        AlgorithmSet::ASYMMETRIC_LIST.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

impl fmt::Display for TokenAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The algorithms that a verifier accepts.
#[expect(unnameable_types, reason = "only sealed traits use it")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AlgorithmSet(u16);

impl AlgorithmSet {
    pub(crate) const EMPTY: Self = Self(0);
    pub(crate) const HS256: Self = Self::EMPTY.with(TokenAlgorithm::HS256);
    const HMAC_LIST: [TokenAlgorithm; 3] =
        [TokenAlgorithm::HS256, TokenAlgorithm::HS384, TokenAlgorithm::HS512];
    const ASYMMETRIC_LIST: [TokenAlgorithm; 10] = [
        TokenAlgorithm::RS256,
        TokenAlgorithm::RS384,
        TokenAlgorithm::RS512,
        TokenAlgorithm::PS256,
        TokenAlgorithm::PS384,
        TokenAlgorithm::PS512,
        TokenAlgorithm::ES256,
        TokenAlgorithm::ES384,
        TokenAlgorithm::EdDSA,
        TokenAlgorithm::Ed25519,
    ];

    pub(crate) const fn with(self, algorithm: TokenAlgorithm) -> Self {
        Self(self.0 | 1 << algorithm as u16)
    }

    pub(crate) const fn contains(self, algorithm: TokenAlgorithm) -> bool {
        self.0 & 1 << algorithm as u16 != 0
    }

    /// Returns the algorithms, in the order of the enum.
    pub(crate) fn iter(self) -> impl Iterator<Item = TokenAlgorithm> {
        let all = Self::HMAC_LIST.into_iter().chain(Self::ASYMMETRIC_LIST);
        all.filter(move |algorithm| self.contains(*algorithm))
    }

    /// Returns true if the set contains an asymmetric algorithm.
    #[cfg(feature = "jwks")]
    pub(crate) fn has_asymmetric(self) -> bool {
        Self::ASYMMETRIC_LIST.into_iter().any(|algorithm| self.contains(algorithm))
    }
}

impl FromIterator<TokenAlgorithm> for AlgorithmSet {
    fn from_iter<I: IntoIterator<Item = TokenAlgorithm>>(algorithms: I) -> Self {
        algorithms.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// The hash of an HMAC algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HmacHash {
    Sha256,
    Sha384,
    Sha512,
}

impl HmacHash {
    const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// Returns the hash of an HMAC algorithm, or `None` for an asymmetric one.
    pub(crate) const fn of(algorithm: TokenAlgorithm) -> Option<Self> {
        match algorithm {
            TokenAlgorithm::HS256 => Some(Self::Sha256),
            TokenAlgorithm::HS384 => Some(Self::Sha384),
            TokenAlgorithm::HS512 => Some(Self::Sha512),
            _ => None,
        }
    }

    /// Returns the hashes of the HMAC algorithms in a set.
    pub(crate) fn of_set(set: AlgorithmSet) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |hash| set.contains(hash.algorithm()))
    }

    /// Returns the hash with this tag length in base64url.
    pub(crate) fn by_encoded_tag(length: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.encoded_tag() == length)
    }

    pub(crate) const fn algorithm(self) -> TokenAlgorithm {
        match self {
            Self::Sha256 => TokenAlgorithm::HS256,
            Self::Sha384 => TokenAlgorithm::HS384,
            Self::Sha512 => TokenAlgorithm::HS512,
        }
    }

    /// Returns the number of bytes in a tag, which is also the minimum length
    /// of a secret. RFC 7518, section 3.2.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// Returns the number of base64url characters in a tag.
    pub(crate) const fn encoded_tag(self) -> usize {
        (self.bytes() * 4).div_ceil(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_only_its_algorithms() {
        let set: AlgorithmSet =
            [TokenAlgorithm::HS512, TokenAlgorithm::Ed25519].into_iter().collect();
        assert!(set.contains(TokenAlgorithm::HS512) && set.contains(TokenAlgorithm::Ed25519));
        assert!(!set.contains(TokenAlgorithm::HS256) && !set.contains(TokenAlgorithm::EdDSA));
        assert_eq!(HmacHash::of_set(set).collect::<Vec<_>>(), [HmacHash::Sha512]);
        let all: Vec<TokenAlgorithm> = set.iter().collect();
        assert_eq!(all, [TokenAlgorithm::HS512, TokenAlgorithm::Ed25519]);
        assert_eq!(HmacHash::of_set(AlgorithmSet::EMPTY).count(), 0);
    }

    #[test]
    fn tag_length_determines_the_hash() {
        for (length, expected) in [
            (43, Some(HmacHash::Sha256)),
            (64, Some(HmacHash::Sha384)),
            (86, Some(HmacHash::Sha512)),
            (0, None),
            (44, None),
            (85, None),
        ] {
            assert_eq!(HmacHash::by_encoded_tag(length), expected, "{length}");
        }
    }
}
