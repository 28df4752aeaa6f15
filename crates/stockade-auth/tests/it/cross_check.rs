//! Cross-checks with `jsonwebtoken`: each library verifies the tokens of the
//! other.
//!
//! These tests provide the cryptography of `jsonwebtoken`, because the
//! workspace excludes its built-in providers. `tests/jwt-features` tests those.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use ring::hmac;
use serde_json::{Map, Value, json};
use stockade_auth::{generate_jwt, verify_token};
use stockade_errors::random::Random;

use crate::support::{KEY, secret};

const TOKENS: u64 = 10_000;

#[test]
fn tokens_are_compatible_in_both_directions() {
    install();
    let mut random = RandomJson(Random::new(1));
    let mut validation = Validation::new(Algorithm::HS256);
    validation.leeway = 0;
    validation.validate_aud = false;
    validation.validate_nbf = true;
    let (encoding, decoding) = (EncodingKey::from_secret(KEY), DecodingKey::from_secret(KEY));
    for _ in 0..TOKENS {
        let payload = random.object(3);

        let ours = generate_jwt(&payload, "1h", &secret()).unwrap();
        let theirs = jsonwebtoken::decode::<Map<String, Value>>(&ours, &decoding, &validation);
        let theirs = theirs.unwrap().claims;
        assert_eq!(verify_token(&ours, &secret()).unwrap().as_map(), &theirs);
        for (name, value) in payload.as_object().unwrap() {
            assert_eq!(&theirs[name], value);
        }

        // The other library signs the claims that it read, including times.
        let token = jsonwebtoken::encode(&Header::default(), &theirs, &encoding).unwrap();
        assert_eq!(verify_token(&token, &secret()).unwrap().as_map(), &theirs);
    }
}

/// Modified tokens and tokens of another secret. Both libraries must reject
/// them.
#[test]
fn both_reject_the_same_tokens() {
    install();
    let mut random = RandomJson(Random::new(2));
    let decoding = DecodingKey::from_secret(KEY);
    let validation = Validation::new(Algorithm::HS256);
    let mut refused = 0;
    for _ in 0..1_000 {
        let token = generate_jwt(random.object(2), "1h", &secret()).unwrap();
        let mut bytes = token.into_bytes();
        let index = usize::try_from(random.0.below(bytes.len() as u64)).unwrap();
        bytes[index] = b"Aa0-_.=~"[usize::try_from(random.0.below(8)).unwrap()];
        let changed = String::from_utf8(bytes).unwrap();
        let theirs = jsonwebtoken::decode::<Map<String, Value>>(&changed, &decoding, &validation);
        let ours = verify_token(&changed, &secret());
        assert_eq!(ours.is_some(), theirs.is_ok(), "{changed}");
        refused += u32::from(ours.is_none());
    }
    assert!(refused > 900, "{refused}");
}

/// Random JSON, the same in every run.
struct RandomJson(Random);

impl RandomJson {
    fn object(&mut self, depth: u32) -> Value {
        let members = self.0.below(6);
        (0..members).map(|_| (self.text(), self.value(depth))).collect::<Map<_, _>>().into()
    }

    fn value(&mut self, depth: u32) -> Value {
        match self.0.below(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.0.below(2) == 0),
            2 => json!(self.0.below(u64::MAX)),
            3 => json!(-i64::try_from(self.0.below(1 << 40)).unwrap()),
            4 => json!(f64::from(u32::try_from(self.0.below(1 << 20)).unwrap()) / 8.0),
            5 => Value::String(self.text()),
            6 => (0..self.0.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth - 1),
        }
    }

    /// Returns a random text. It is never `exp`, `iat` or `nbf`, because it
    /// starts with a letter that they do not contain.
    fn text(&mut self) -> String {
        let letters: Vec<char> = "az \"\\/\n\u{0}\u{7f}é٣\u{2028}\u{1f600}.-_".chars().collect();
        let length = self.0.below(12);
        let mut text = String::from("k");
        for _ in 0..length {
            text.push(letters[usize::try_from(self.0.below(letters.len() as u64)).unwrap()]);
        }
        text
    }
}

/// HMAC-SHA256 on ring, for `jsonwebtoken`.
struct Hs256(hmac::Key);

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, signature::Error> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], tag: &Vec<u8>) -> std::result::Result<(), signature::Error> {
        hmac::verify(&self.0, message, tag).map_err(|_| signature::Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of `jsonwebtoken`")]
fn signer(algorithm: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    check(*algorithm)?;
    Ok(Box::new(Hs256(hmac::Key::new(hmac::HMAC_SHA256, KEY))))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of `jsonwebtoken`")]
fn verifier(algorithm: &Algorithm, _: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    check(*algorithm)?;
    Ok(Box::new(Hs256(hmac::Key::new(hmac::HMAC_SHA256, KEY))))
}

fn check(algorithm: Algorithm) -> Result<()> {
    match algorithm {
        Algorithm::HS256 => Ok(()),
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| PROVIDER.install_default().unwrap());
}
