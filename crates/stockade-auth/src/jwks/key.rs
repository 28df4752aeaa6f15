//! [`VerifyingKey`]: one public key and its algorithms.

use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, EllipticCurveKeyParameters, Jwk, KeyOperations,
    OctetKeyPairParameters, PublicKeyUse, RSAKeyParameters,
};
use ring::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};

use crate::base64url;
use crate::token::{AlgorithmSet, TokenAlgorithm};

/// A public key of a set. It verifies only the algorithm in its `alg`, or
/// without `alg` the default algorithms of its type. It never verifies an
/// algorithm of another key type.
#[derive(Clone, Debug)]
pub(super) struct VerifyingKey {
    kid: Option<String>,
    algorithms: AlgorithmSet,
    public: PublicKey,
}

#[derive(Clone, Debug)]
enum PublicKey {
    /// The modulus and the exponent, big-endian, without leading zeros.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// An uncompressed point on P-256.
    P256(Vec<u8>),
    /// An uncompressed point on P-384.
    P384(Vec<u8>),
    /// The 32 bytes of a key for Ed25519.
    Ed25519([u8; 32]),
}

impl VerifyingKey {
    /// Parses a key of a document, with the text of its `alg`.
    ///
    /// # Errors
    /// Returns the reason why the key cannot verify tokens: another use, type,
    /// curve, algorithm or size.
    pub(super) fn new(jwk: &Jwk, alg: Option<&str>) -> Result<Self, &'static str> {
        check_use(jwk)?;
        let public = match &jwk.algorithm {
            AlgorithmParameters::RSA(parameters) => rsa(parameters)?,
            AlgorithmParameters::EllipticCurve(parameters) => elliptic(parameters)?,
            AlgorithmParameters::OctetKeyPair(parameters) => edwards(parameters)?,
            AlgorithmParameters::OctetKey(_) => return Err("a JWK set must not contain a secret"),
            _ => return Err("the key type is not supported"),
        };
        let usual = public.usual_algorithms();
        let algorithms = match alg {
            None => usual.iter().copied().collect(),
            Some(name) => {
                let named = TokenAlgorithm::asymmetric(name).ok_or("`alg` is not supported")?;
                if !public.takes(named) {
                    return Err("`alg` does not match the key type");
                }
                AlgorithmSet::EMPTY.with(named)
            }
        };
        Ok(Self { kid: jwk.common.key_id.clone(), algorithms, public })
    }

    /// Returns the key ID.
    pub(super) fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Returns true if the key supports this algorithm.
    pub(super) fn is_for(&self, algorithm: TokenAlgorithm) -> bool {
        self.algorithms.contains(algorithm)
    }

    /// Returns true if `signature` is a valid signature of `message`.
    ///
    /// Returns false for an algorithm of another key type, whatever the bytes
    /// are.
    pub(super) fn verify(
        &self,
        algorithm: TokenAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        self.public.verify(algorithm, message, signature)
    }
}

impl PublicKey {
    /// Returns the algorithms of a key without `alg`.
    fn usual_algorithms(&self) -> &'static [TokenAlgorithm] {
        match self {
            Self::Rsa { .. } => &[TokenAlgorithm::RS256, TokenAlgorithm::PS256],
            Self::P256(_) => &[TokenAlgorithm::ES256],
            Self::P384(_) => &[TokenAlgorithm::ES384],
            Self::Ed25519(_) => &[TokenAlgorithm::EdDSA, TokenAlgorithm::Ed25519],
        }
    }

    /// Returns true if this `alg` is valid for the key type.
    fn takes(&self, algorithm: TokenAlgorithm) -> bool {
        match self {
            Self::Rsa { .. } => rsa_parameters(algorithm).is_some(),
            _ => self.usual_algorithms().contains(&algorithm),
        }
    }

    fn verify(&self, algorithm: TokenAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        let unparsed: UnparsedPublicKey<&[u8]> = match (self, algorithm) {
            (Self::Rsa { n, e }, _) => {
                return rsa_parameters(algorithm).is_some_and(|parameters| {
                    RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
                });
            }
            (Self::P256(point), TokenAlgorithm::ES256) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
            }
            (Self::P384(point), TokenAlgorithm::ES384) => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point)
            }
            (Self::Ed25519(key), TokenAlgorithm::EdDSA | TokenAlgorithm::Ed25519) => {
                UnparsedPublicKey::new(&signature::ED25519, key)
            }
            _ => return false,
        };
        unparsed.verify(message, signature).is_ok()
    }
}

/// Returns ring's parameters for an RSA algorithm; `None` for other algorithms.
fn rsa_parameters(algorithm: TokenAlgorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        TokenAlgorithm::RS256 => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
        TokenAlgorithm::RS384 => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
        TokenAlgorithm::RS512 => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
        TokenAlgorithm::PS256 => Some(&signature::RSA_PSS_2048_8192_SHA256),
        TokenAlgorithm::PS384 => Some(&signature::RSA_PSS_2048_8192_SHA384),
        TokenAlgorithm::PS512 => Some(&signature::RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}

/// Fails if the key is not for signatures. RFC 7517, 4.2 and 4.3.
fn check_use(jwk: &Jwk) -> Result<(), &'static str> {
    match &jwk.common.public_key_use {
        None | Some(PublicKeyUse::Signature) => {}
        Some(_) => return Err("`use` is not `sig`"),
    }
    match &jwk.common.key_operations {
        Some(operations) if !operations.contains(&KeyOperations::Verify) => {
            Err("`key_ops` does not contain `verify`")
        }
        _ => Ok(()),
    }
}

fn rsa(parameters: &RSAKeyParameters) -> Result<PublicKey, &'static str> {
    let unsigned = |text: &str| {
        let bytes = base64url::decode(text.as_bytes()).ok_or("the key is not base64url")?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Ok(bytes[zeros..].to_vec())
    };
    let (n, e) = (unsigned(&parameters.n)?, unsigned(&parameters.e)?);
    if !(MIN_RSA_BYTES..=MAX_RSA_BYTES).contains(&n.len()) {
        return Err("an RSA key must have 2048 to 8192 bits");
    }
    Ok(PublicKey::Rsa { n, e })
}

fn elliptic(parameters: &EllipticCurveKeyParameters) -> Result<PublicKey, &'static str> {
    let point = |bytes: usize| {
        let mut point = vec![UNCOMPRESSED];
        for coordinate in [&parameters.x, &parameters.y] {
            let coordinate = base64url::decode(coordinate.as_bytes());
            match coordinate.filter(|coordinate| coordinate.len() == bytes) {
                Some(coordinate) => point.extend(coordinate),
                None => return Err("a coordinate has the wrong length"),
            }
        }
        Ok(point)
    };
    match parameters.curve {
        EllipticCurve::P256 => point(32).map(PublicKey::P256),
        EllipticCurve::P384 => point(48).map(PublicKey::P384),
        _ => Err("the curve is not supported"),
    }
}

fn edwards(parameters: &OctetKeyPairParameters) -> Result<PublicKey, &'static str> {
    if parameters.curve != EllipticCurve::Ed25519 {
        return Err("the curve is not supported");
    }
    let key = base64url::decode_32(parameters.x.as_bytes());
    key.map(PublicKey::Ed25519).ok_or("an Ed25519 key must have 32 bytes")
}

/// The first byte of an uncompressed point. SEC 1, 2.3.3.
const UNCOMPRESSED: u8 = 4;
/// 2048 bits, the minimum of RFC 7518 (section 3.3) and of ring.
const MIN_RSA_BYTES: usize = 256;
/// 8192 bits, the maximum of ring.
const MAX_RSA_BYTES: usize = 1_024;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;
    use crate::token::{Compact, Header};

    /// C2SP/wycheproof, all groups with public keys: 361 cases.
    ///
    /// 357 agree. Two others (347, 351) use P-521, which ring does not support.
    /// The last two (346, 350) have PS384 in the header although the key's
    /// `alg` is PS256.
    #[test]
    fn wycheproof_signatures() {
        let file =
            include_str!("../../../../tests/vectors/wycheproof/json_web_signature_test.json");
        let file: Value = serde_json::from_str(file).unwrap();
        let (mut agreed, mut cases) = (0, 0);
        let mut differing: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for group in file["testGroups"].as_array().unwrap() {
            let Some(public) = group.get("public") else { continue };
            let key = serde_json::from_value::<Jwk>(public.clone()).ok();
            let key = key.and_then(|jwk| VerifyingKey::new(&jwk, public["alg"].as_str()).ok());
            for case in group["tests"].as_array().unwrap() {
                let token = case["jws"].as_str().unwrap_or_default();
                let valid = key.as_ref().is_some_and(|key| is_valid(key, token));
                cases += 1;
                if valid == (case["result"] == "valid") {
                    agreed += 1;
                } else {
                    let group = public["alg"].as_str().unwrap_or("no alg");
                    let id = case["tcId"].as_u64().unwrap();
                    differing.entry(group.to_owned()).or_default().push(id);
                }
            }
        }
        let expected = [("ES521", vec![347, 351]), ("PS256", vec![346, 350])];
        let expected = expected.map(|(group, ids)| (group.to_owned(), ids)).into();
        assert_eq!((agreed, cases, differing), (357, 361, expected));
    }

    fn is_valid(key: &VerifyingKey, token: &str) -> bool {
        let Ok(token) = Compact::parse(token, usize::MAX) else { return false };
        let Ok(header) = Header::read(token.header) else { return false };
        let Some(algorithm) = TokenAlgorithm::asymmetric(&header.alg) else { return false };
        let Some(signature) = base64url::decode(token.signature.as_bytes()) else { return false };
        base64url::decode(token.payload.as_bytes()).is_some()
            && key.is_for(algorithm)
            && key.verify(algorithm, token.message.as_bytes(), &signature)
    }
}
