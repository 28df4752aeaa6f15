//! Test vectors from other projects; for their sources, see
//! `tests/vectors/README.md`.

use ring::hmac;
use serde_json::{Value, json};
use stockade_auth::{Secret, TokenError, TokenIssuer, TokenVerifier, UnixClock, verify_token};

use crate::support::decode;

/// Reads a file of `tests/vectors`.
fn vectors(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/");
    serde_json::from_slice(&std::fs::read(format!("{folder}{name}")).unwrap()).unwrap()
}

/// RFC 7515, A.1: the token as printed there.
#[test]
fn rfc_7515_a_1() {
    let vector = vectors("jwt/rfc7515_a1.json");
    let secret = Secret::new(decode(vector["key_base64url"].as_str().unwrap())).unwrap();
    let token = vector["token"].as_str().unwrap();
    let exp = vector["exp"].as_u64().unwrap();

    let verify = |now| TokenVerifier::new().clock(UnixClock::at(now)).verify(token, &secret);
    let claims = verify(exp).unwrap();
    let expected = r#"{"iss":"joe","exp":1300819380,"http://example.com/is_root":true}"#;
    assert_eq!(claims.into_value().to_string(), expected);
    assert_eq!(verify(exp + 1), Err(TokenError::Expired));
    assert!(verify_token(token, &secret).is_none());

    // The exact signature of the header and payload printed there.
    let (message, signature) = token.rsplit_once('.').unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &decode(vector["key_base64url"].as_str().unwrap()));
    assert_eq!(hmac::sign(&key, message.as_bytes()).as_ref(), decode(signature));
}

/// A token with known bytes, computed with Python's `hmac` and `base64`.
#[test]
fn a_token_of_known_bytes() {
    let secret = Secret::new("the secret of these tests, 32 bytes or more").unwrap();
    let issuer = TokenIssuer::new().clock(UnixClock::at_millis(1_700_000_000_250));
    let token = issuer.issue(json!({ "sub": "7" }), "1h", &secret).unwrap();
    assert_eq!(token, KNOWN);
}

const KNOWN: &str = "\
     eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\
     eyJzdWIiOiI3IiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwMDM2MDAsImlhdF9tcyI6MTcwMDAwMDAwMDI1MH0.\
     MI7Xpp7dNTSyxRJ_QCgehBNmdSGS2bPJ-g2zTcXwyU4";

/// C2SP/wycheproof: HMAC-SHA256 and HMAC-SHA512, 174 cases each, complete and
/// truncated tags.
#[test]
fn wycheproof_hmac() {
    let mut cases = 0;
    for (name, algorithm) in [
        ("wycheproof/hmac_sha256_test.json", hmac::HMAC_SHA256),
        ("wycheproof/hmac_sha512_test.json", hmac::HMAC_SHA512),
    ] {
        for group in vectors(name)["testGroups"].as_array().unwrap() {
            let tag_bytes = usize::try_from(group["tagSize"].as_u64().unwrap()).unwrap() / 8;
            for case in group["tests"].as_array().unwrap() {
                let bytes = |name: &str| hex::decode(case[name].as_str().unwrap()).unwrap();
                let key = hmac::Key::new(algorithm, &bytes("key"));
                let computed = hmac::sign(&key, &bytes("msg"));
                let equal = computed.as_ref()[..tag_bytes] == bytes("tag");
                assert_eq!(equal, case["result"] == "valid", "{name} {}", case["tcId"]);
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 348);
}
