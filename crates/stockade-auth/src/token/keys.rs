//! [`TokenKeys`] and [`SigningKeys`]: the keys that verify and the keys that
//! sign.

use std::iter;
use std::sync::Arc;

use super::algorithm::AlgorithmSet;
use super::{Compact, HmacHash, TokenError, header};
use crate::{KeyRing, Secret, base64url};

/// Keys that verify tokens: a [`Secret`], a [`KeyRing`], and with the feature
/// `jwks` a `JwkSet` or a `JwkSource`.
///
/// Secrets use only HMAC and JWK sets only asymmetric algorithms, so a public
/// key is never used as a secret. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a token key",
    label = "not a `Secret`, a `KeyRing`, or a JWK set",
    note = "create one with `Secret::new(..)?`"
)]
pub trait TokenKeys: SealedKeys + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<K: SealedKeys + Send + Sync + ?Sized> TokenKeys for K {}

/// Keys that sign tokens: a [`Secret`], or the first secret of a [`KeyRing`].
/// The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a token key",
    label = "not a `Secret` or a `KeyRing`",
    note = "create one with `Secret::new(..)?`"
)]
pub trait SigningKeys: SealedSigning {}

#[diagnostic::do_not_recommend]
impl<K: SealedSigning + ?Sized> SigningKeys for K {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a token key",
    label = "not a `Secret`, a `KeyRing`, or a JWK set",
    note = "create one with `Secret::new(..)?`"
)]
#[expect(unnameable_types, reason = "it seals the trait")]
pub trait SealedKeys {
    /// Checks the signature, then the header. If `allowed` is `None`, the keys
    /// determine the algorithms.
    fn authenticate(
        &self,
        token: &Compact<'_>,
        allowed: Option<AlgorithmSet>,
    ) -> Result<(), TokenError>;

    /// Fails if these keys cannot verify any of the algorithms, or are too
    /// short.
    fn check(&self, allowed: AlgorithmSet) -> Result<(), String>;

    /// Returns the algorithms if the verifier does not select any. Returns
    /// `None` if the keys of an issuer determine them, which may change.
    fn default_algorithms(&self) -> Option<AlgorithmSet>;
}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a token key",
    label = "not a `Secret` or a `KeyRing`",
    note = "create one with `Secret::new(..)?`"
)]
#[expect(unnameable_types, reason = "it seals the trait")]
pub trait SealedSigning {
    /// Returns the secret that signs.
    fn signer(&self) -> &Secret;

    /// Returns the secrets that only verify.
    fn others(&self) -> &[Secret];
}

impl SealedSigning for Secret {
    fn signer(&self) -> &Secret {
        self
    }

    fn others(&self) -> &[Secret] {
        &[]
    }
}

impl SealedSigning for KeyRing {
    fn signer(&self) -> &Secret {
        Self::signer(self)
    }

    fn others(&self) -> &[Secret] {
        Self::others(self)
    }
}

impl SealedKeys for Secret {
    fn authenticate(
        &self,
        token: &Compact<'_>,
        allowed: Option<AlgorithmSet>,
    ) -> Result<(), TokenError> {
        hmac(self, token, allowed)
    }

    fn check(&self, allowed: AlgorithmSet) -> Result<(), String> {
        check_secrets(self, allowed)
    }

    fn default_algorithms(&self) -> Option<AlgorithmSet> {
        Some(AlgorithmSet::HS256)
    }
}

impl SealedKeys for KeyRing {
    fn authenticate(
        &self,
        token: &Compact<'_>,
        allowed: Option<AlgorithmSet>,
    ) -> Result<(), TokenError> {
        hmac(self, token, allowed)
    }

    fn check(&self, allowed: AlgorithmSet) -> Result<(), String> {
        check_secrets(self, allowed)
    }

    fn default_algorithms(&self) -> Option<AlgorithmSet> {
        Some(AlgorithmSet::HS256)
    }
}

impl<K: SealedKeys + ?Sized> SealedKeys for Arc<K> {
    fn authenticate(
        &self,
        token: &Compact<'_>,
        allowed: Option<AlgorithmSet>,
    ) -> Result<(), TokenError> {
        (**self).authenticate(token, allowed)
    }

    fn check(&self, allowed: AlgorithmSet) -> Result<(), String> {
        (**self).check(allowed)
    }

    fn default_algorithms(&self) -> Option<AlgorithmSet> {
        (**self).default_algorithms()
    }
}

/// Returns the secret that signed this complete tag, if any.
///
/// Each comparison takes constant time. The number of secrets is public.
pub(crate) fn find_signer<'k, K: SealedSigning + ?Sized>(
    keys: &'k K,
    hash: HmacHash,
    message: &[u8],
    tag: &[u8],
) -> Option<&'k Secret> {
    let mut secrets = iter::once(keys.signer()).chain(keys.others());
    secrets.find(|secret| secret.verify(hash, message, tag))
}

/// Checks the signature first, in constant time. The header is parsed only
/// after the signature is verified.
///
/// The length of the signature determines the hash, and the header must name
/// the same one.
fn hmac(
    keys: &impl SealedSigning,
    token: &Compact<'_>,
    allowed: Option<AlgorithmSet>,
) -> Result<(), TokenError> {
    let signature = token.signature.as_bytes();
    let hash = HmacHash::by_encoded_tag(signature.len()).ok_or(TokenError::Malformed)?;
    if !allowed.unwrap_or(AlgorithmSet::HS256).contains(hash.algorithm()) {
        return Err(TokenError::Malformed);
    }
    // The library requires space for whole groups of four characters.
    let mut bytes = [0; MAX_TAG_BYTES + 2];
    let tag = base64url::decode_to(signature, &mut bytes).ok_or(TokenError::Malformed)?;
    let signer = find_signer(keys, hash, token.message.as_bytes(), tag);
    let signer = signer.ok_or(TokenError::Signature)?;
    // The prepared header names HS256.
    let is_prepared = hash == HmacHash::Sha256 && token.header == signer.header();
    if is_prepared { Ok(()) } else { header::check_hmac(token.header, hash) }
}

/// Fails unless the signing secret is long enough for each HMAC algorithm of
/// the set, and each other secret for one of them.
///
/// A secret that only verifies may be a shorter one for an earlier algorithm.
fn check_secrets(keys: &impl SealedSigning, allowed: AlgorithmSet) -> Result<(), String> {
    let hashes = || HmacHash::of_set(allowed);
    let Some(shortest) = hashes().next() else {
        return Err("a secret verifies only HS256, HS384 and HS512".to_owned());
    };
    let too_short = hashes().find(|hash| !keys.signer().fits(*hash));
    let too_short = too_short
        .or_else(|| keys.others().iter().any(|secret| !secret.fits(shortest)).then_some(shortest));
    match too_short {
        Some(hash) => {
            Err(format!("{} needs a secret of at least {} bytes", hash.algorithm(), hash.bytes()))
        }
        None => Ok(()),
    }
}

/// The number of bytes in the longest tag.
const MAX_TAG_BYTES: usize = HmacHash::Sha512.bytes();

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// C2SP/wycheproof, the groups with HS256 keys: 40 cases.
    ///
    /// 36 agree. Two others (367, 370) are the same text as case 357, which is
    /// valid. The last two (372, 373) are declared valid, although they contain
    /// a character that is not part of base64url. RFC 7515 does not allow a
    /// verifier to skip it.
    #[test]
    fn wycheproof_signatures() {
        let file =
            include_str!("../../../../tests/vectors/wycheproof/json_web_signature_test.json");
        let file: Value = serde_json::from_str(file).unwrap();
        let mut agreed = 0;
        let mut differing = Vec::new();
        for group in file["testGroups"].as_array().unwrap() {
            let key = &group["private"];
            if key["kty"] != "oct" {
                continue;
            }
            let key = base64url::decode(key["k"].as_str().unwrap().as_bytes()).unwrap();
            let secret = Secret::new(key).unwrap();
            for case in group["tests"].as_array().unwrap() {
                let token = case["jws"].as_str().unwrap_or_default();
                let outcome = Compact::parse(token, usize::MAX).and_then(|token| {
                    base64url::decode(token.payload.as_bytes()).ok_or(TokenError::Malformed)?;
                    secret.authenticate(&token, None)
                });
                if outcome.is_ok() == (case["result"] == "valid") {
                    agreed += 1;
                } else {
                    differing.push(case["tcId"].as_u64().unwrap());
                }
            }
        }
        assert_eq!((agreed, differing), (36, vec![367, 370, 372, 373]));
    }
}
