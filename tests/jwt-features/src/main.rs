//! Issues and verifies tokens with any feature set of `jsonwebtoken`.
//!
//! Without a backend, or with two, `jsonwebtoken` itself panics at its first
//! token; stockade must not panic. With exactly one backend, each of the two
//! libraries reads the other's tokens.

use std::error::Error;

use serde_json::json;
use stockade_auth::{
    JwkSet, JwkSource, Secret, TokenError, TokenVerifier, generate_jwt, verify_token,
};

const KEY: &[u8] = b"the secret of this program, 32 bytes or more";

/// RFC 8037, A.4: the signature of `Example of Ed25519 signing` with the key of
/// A.2.
const ED25519_SET: &str = r#"{ "keys": [{
    "kty": "OKP", "crv": "Ed25519", "kid": "1",
    "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
}] }"#;
const ED25519_TOKEN: &str = "eyJhbGciOiJFZERTQSJ9.\
    RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.\
    hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let secret = Secret::new(KEY)?;
    let ours = generate_jwt(json!({ "sub": "7" }), "1h", &secret)?;
    assert!(verify_token(&ours, &secret).is_some());

    let source = JwkSource::new(|| Ok(ED25519_SET.to_owned()))?;
    source.refresh()?;
    for keys in [source.current().as_ref(), &JwkSet::from_json(ED25519_SET)?] {
        // The signature is valid, but the payload is not an object.
        let outcome = TokenVerifier::new().verify(ED25519_TOKEN, keys);
        assert_eq!(outcome, Err(TokenError::Malformed));
        let forged = ED25519_TOKEN.replace(".hgyY", ".hgyZ");
        assert_eq!(TokenVerifier::new().verify(&forged, keys), Err(TokenError::Signature));
        assert_eq!(TokenVerifier::new().verify(&ours, keys), Err(TokenError::Algorithm));
    }

    if cfg!(feature = "aws_lc_rs") != cfg!(feature = "rust_crypto") {
        cross_check(&ours, &secret)?;
    }
    println!("ok");
    Ok(())
}

/// Checks both directions with the available backend.
fn cross_check(ours: &str, secret: &Secret) -> Result<(), Box<dyn Error + Send + Sync>> {
    use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};

    let (decoding, encoding) = (DecodingKey::from_secret(KEY), EncodingKey::from_secret(KEY));
    let rules = Validation::new(Algorithm::HS256);
    let theirs = jsonwebtoken::decode::<serde_json::Value>(ours, &decoding, &rules)?.claims;
    let token = jsonwebtoken::encode(&Header::default(), &theirs, &encoding)?;
    let read = verify_token(&token, secret).ok_or("their token is not valid here")?;
    assert_eq!(read.into_value(), theirs);
    Ok(())
}
