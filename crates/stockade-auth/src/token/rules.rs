//! [`VerifierRules`]: the rules of a verifier, as data.

/// The rules of a [`TokenVerifier`](super::TokenVerifier), for descriptions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct VerifierRules {
    /// The accepted algorithms. Empty if the keys of the issuer determine them.
    pub algorithms: Vec<&'static str>,
    /// The accepted issuers. Empty for any or none.
    pub issuers: Vec<String>,
    /// The accepted audiences. Empty for any or none.
    pub audiences: Vec<String>,
    /// The required claims.
    pub required_claims: Vec<String>,
    /// The leeway after `exp` and before `nbf`.
    pub leeway_seconds: u64,
    /// The longest accepted time from `iat` to `exp`. `None` for any.
    pub max_life_seconds: Option<u64>,
}
