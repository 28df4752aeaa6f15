//! [`TokenKeys`] and [`SigningKeys`]: the keys that verify, and the keys that
//! sign.

use std::iter;
use std::sync::Arc;

use super::{Compact, TokenError, header};
use crate::{KeyRing, Secret, base64url};

/// Keys that verify tokens: a [`Secret`], a [`KeyRing`], and with the feature
/// `jwks` a `JwkSet` or a `JwkSource`.
///
/// Secrets take HS256 only, and JWK sets asymmetric algorithms only, so that a
/// public key never is a secret. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key for tokens",
    label = "not a `Secret`, a `KeyRing`, or a JWK set",
    note = "make one with `Secret::new(..)?`"
)]
pub trait TokenKeys: SealedKeys + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<K: SealedKeys + Send + Sync + ?Sized> TokenKeys for K {}

/// Keys that sign tokens: a [`Secret`], or the first of a [`KeyRing`]. The
/// trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key for tokens",
    label = "not a `Secret` or a `KeyRing`",
    note = "make one with `Secret::new(..)?`"
)]
pub trait SigningKeys: SealedSigning {}

#[diagnostic::do_not_recommend]
impl<K: SealedSigning + ?Sized> SigningKeys for K {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key for tokens",
    label = "not a `Secret`, a `KeyRing`, or a JWK set",
    note = "make one with `Secret::new(..)?`"
)]
#[expect(unnameable_types, reason = "it seals the trait")]
pub trait SealedKeys {
    /// Checks the signature, then the header.
    fn authenticate(&self, token: &Compact<'_>) -> Result<(), TokenError>;
}

#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key for tokens",
    label = "not a `Secret` or a `KeyRing`",
    note = "make one with `Secret::new(..)?`"
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
    fn authenticate(&self, token: &Compact<'_>) -> Result<(), TokenError> {
        hs256(self, token)
    }
}

impl SealedKeys for KeyRing {
    fn authenticate(&self, token: &Compact<'_>) -> Result<(), TokenError> {
        hs256(self, token)
    }
}

impl<K: SealedKeys + ?Sized> SealedKeys for Arc<K> {
    fn authenticate(&self, token: &Compact<'_>) -> Result<(), TokenError> {
        (**self).authenticate(token)
    }
}

/// Returns the secret that made this tag of 32 bytes, if one of them did.
///
/// Each comparison takes constant time. The number of secrets is no secret.
pub(crate) fn find_signer<'k, K: SealedSigning + ?Sized>(
    keys: &'k K,
    message: &[u8],
    tag: &[u8; 32],
) -> Option<&'k Secret> {
    let mut secrets = iter::once(keys.signer()).chain(keys.others());
    secrets.find(|secret| secret.verify(message, tag))
}

/// Checks the signature first, in constant time. The header is read only if the
/// owner of a secret wrote it.
fn hs256(keys: &impl SealedSigning, token: &Compact<'_>) -> Result<(), TokenError> {
    let signature = token.signature.as_bytes();
    let signature = base64url::decode_32(signature).ok_or(TokenError::Malformed)?;
    let signer = find_signer(keys, token.message.as_bytes(), &signature);
    let signer = signer.ok_or(TokenError::Signature)?;
    if token.header == signer.header() { Ok(()) } else { header::check_hs256(token.header) }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// C2SP/wycheproof, the groups with HS256 keys: 40 cases.
    ///
    /// 36 agree. Of the other four, two (367, 370) are the same text as case
    /// 357, which is valid, and two (372, 373) are called valid although their
    /// base64url has a foreign character, which RFC 7515 does not allow to skip.
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
                    secret.authenticate(&token)
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
