//! The algorithms of secrets: HS256, HS384, HS512.
//!
//! RFC 7518, section 3.2; RFC 8725, sections 2.1 and 3.1.

use ring::hmac;
use serde_json::json;
use stockade_auth::{
    IssueError, KeyRing, Secret, TokenAlgorithm as Algorithm, TokenError, TokenIssuer,
    TokenVerifier, UnixClock, generate_jwt, verify_token,
};

use crate::support::{HEADER, NOW, encode, forge, secret, verifier};

const HMACS: [(Algorithm, hmac::Algorithm); 3] = [
    (Algorithm::HS256, hmac::HMAC_SHA256),
    (Algorithm::HS384, hmac::HMAC_SHA384),
    (Algorithm::HS512, hmac::HMAC_SHA512),
];

/// 64 bytes, long enough for each algorithm.
const LONG_KEY: &[u8] = b"sixty-four bytes of a secret for the tests of HS512 and of HS384";

fn long() -> Secret {
    Secret::new(LONG_KEY).unwrap()
}

/// Creates a token with a valid signature, without the crate under test.
fn sign(header: &str, hash: hmac::Algorithm, key: &[u8]) -> String {
    let message = format!("{}.{}", encode(header), encode("{}"));
    let tag = hmac::sign(&hmac::Key::new(hash, key), message.as_bytes());
    format!("{message}.{}", encode(tag))
}

fn header(algorithm: Algorithm) -> String {
    format!(r#"{{"alg":"{algorithm}"}}"#)
}

#[test]
fn each_algorithm_verifies_only_if_it_is_listed() {
    for (signs, hash) in HMACS {
        let token = sign(&header(signs), hash, LONG_KEY);
        for (accepts, _) in HMACS {
            let outcome = verifier().algorithms([accepts]).verify(&token, &long());
            let expected = (signs != accepts).then_some(TokenError::Malformed);
            assert_eq!(outcome.err(), expected, "{signs} for {accepts}");
        }
        let all = verifier().algorithms(HMACS.map(|(algorithm, _)| algorithm));
        assert_eq!(all.verify(&token, &long()).err(), None);
        // The functions of the specification only use HS256.
        assert_eq!(verify_token(&token, &long()).is_some(), signs == Algorithm::HS256);
        assert_eq!(verifier().verify(&token, &long()).is_ok(), signs == Algorithm::HS256);
    }
}

/// Tokens that Python's `hmac` and `hashlib` signed.
#[test]
fn issues_tokens_of_known_bytes() {
    let payload = "eyJzdWIiOiI3IiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwMDM2MDAsImlhdF9tcyI6MTcwMDAw\
         MDAwMDI1MH0";
    for (algorithm, header, signature) in [
        (
            Algorithm::HS384,
            "eyJhbGciOiJIUzM4NCIsInR5cCI6IkpXVCJ9",
            "NHr1-OMDI17pzuSR05iY46JKwcaRu3LOBKPsdcHcOzcSw8VDFfp2S0LwCE9FjIvo",
        ),
        (
            Algorithm::HS512,
            "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9",
            "zGjl-vX8UXmff53-aMYBBUCRM5ieJgFXE-N52Nlxoq45JDFSfLToL8A-BpIFEAW3zbYI0F2SUf5-su6othg\
             1qg",
        ),
    ] {
        let issuer =
            TokenIssuer::new().algorithm(algorithm).clock(UnixClock::at_millis(NOW * 1_000 + 250));
        let token = issuer.issue(json!({ "sub": "7" }), "1h", &long()).unwrap();
        assert_eq!(token, format!("{header}.{payload}.{signature}"));
        let claims = verifier().algorithms([algorithm]).verify(&token, &long()).unwrap();
        assert_eq!(claims.subject(), Some("7"));
    }
    let by_function = generate_jwt(json!({}), "1h", &long()).unwrap();
    assert!(by_function.starts_with("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."));
}

#[test]
fn the_header_must_name_the_algorithm_of_the_signature() {
    let all = verifier().algorithms(HMACS.map(|(algorithm, _)| algorithm));
    for (signs, hash) in HMACS {
        for name in ["HS256", "HS384", "HS512", "RS256", "none", "hs512", "HS512 ", ""] {
            let token = sign(&format!(r#"{{"alg":"{name}"}}"#), hash, LONG_KEY);
            let expected = (name != signs.name()).then_some(TokenError::Algorithm);
            assert_eq!(all.verify(&token, &long()).err(), expected, "{name} signed by {signs}");
        }
        // An HMAC-SHA512 that is cut to the length of an HMAC-SHA256.
        let token = sign(&header(signs), hmac::HMAC_SHA512, LONG_KEY);
        let (message, tag) = token.rsplit_once('.').unwrap();
        let cut = format!("{message}.{}", &tag[..43]);
        assert!(all.verify(&cut, &long()).is_err(), "{signs}");
        let longer = format!("{token}AA");
        assert_eq!(all.verify(&longer, &long()), Err(TokenError::Malformed));
    }
    // Another secret.
    let token = sign(&header(Algorithm::HS512), hmac::HMAC_SHA512, &[b'x'; 64]);
    assert_eq!(all.verify(&token, &long()), Err(TokenError::Signature));
    let token = sign(r#"{"alg":"HS512","crit":["exp"]}"#, hmac::HMAC_SHA512, LONG_KEY);
    assert_eq!(all.verify(&token, &long()), Err(TokenError::Malformed));
}

#[test]
fn short_secrets_neither_sign_nor_verify() {
    #[track_caller]
    fn check(algorithm: Algorithm, bytes: usize, needed: usize) {
        let key = &LONG_KEY[..bytes];
        let secret = Secret::new(key).unwrap();
        let (_, hash) = HMACS[HMACS.iter().position(|(it, _)| *it == algorithm).unwrap()];
        let is_long_enough = bytes >= needed;
        let verifier = verifier().algorithms([algorithm]);
        let message = format!("{algorithm} needs a secret of at least {needed} bytes");
        match verifier.check_keys(&secret) {
            Ok(()) => assert!(is_long_enough, "{algorithm}, {bytes}"),
            Err(error) => {
                assert!(!is_long_enough, "{algorithm}, {bytes}");
                assert_eq!(error.issues()[0].message(), message);
                assert_eq!(error.issues()[0].location().unwrap().file(), file!());
            }
        }
        let token = sign(&header(algorithm), hash, key);
        assert_eq!(verifier.verify(&token, &secret).is_ok(), is_long_enough);
        let issued = TokenIssuer::new().algorithm(algorithm).issue(json!({}), "1h", &secret);
        assert_eq!(issued.is_ok(), is_long_enough);
        if let Err(error) = issued {
            assert!(matches!(error, IssueError::ShortSecret { bytes, .. } if bytes == needed));
            assert_eq!(error.to_string(), message);
        }
    }
    check(Algorithm::HS384, 47, 48);
    check(Algorithm::HS384, 48, 48);
    check(Algorithm::HS512, 48, 64);
    check(Algorithm::HS512, 63, 64);
    check(Algorithm::HS512, 64, 64);
}

#[test]
fn ring_can_contain_a_shorter_secret_of_an_earlier_algorithm() {
    #[track_caller]
    fn check(verifier: &TokenVerifier, ring: &KeyRing, expected: Option<&str>) {
        let outcome = verifier.check_keys(ring).err();
        let message = outcome.as_ref().map(|error| error.issues()[0].message());
        assert_eq!(message, expected);
    }
    let both = verifier().algorithms([Algorithm::HS512, Algorithm::HS256]);
    let new = verifier().algorithms([Algorithm::HS512]);
    let ring = KeyRing::new(long()).or(secret());
    check(&both, &ring, None);
    check(&new, &ring, Some("HS512 needs a secret of at least 64 bytes"));
    check(&both, &KeyRing::new(secret()), Some("HS512 needs a secret of at least 64 bytes"));
    // Tokens of both secrets are valid, except HS512 tokens of the short
    // secret.
    assert!(both.verify(&forge(HEADER, "{}"), &ring).is_ok());
    let by_new = sign(&header(Algorithm::HS512), hmac::HMAC_SHA512, LONG_KEY);
    assert!(both.verify(&by_new, &ring).is_ok());
    let forged = sign(&header(Algorithm::HS512), hmac::HMAC_SHA512, crate::support::KEY);
    assert_eq!(both.verify(&forged, &ring), Err(TokenError::Signature));
}

#[test]
fn reports_algorithms_that_need_longer_secrets() {
    #[track_caller]
    fn check(algorithms: &[Algorithm], expected: Option<&str>) {
        let verifier = verifier().algorithms(algorithms.iter().copied());
        let error = verifier.check_keys(&long()).err();
        let message = error.as_ref().map(|error| error.issues()[0].message());
        assert_eq!(message, expected);
        let accepts = verifier.verify(&sign(HEADER, hmac::HMAC_SHA256, LONG_KEY), &long()).is_ok();
        assert_eq!(accepts, algorithms.contains(&Algorithm::HS256));
    }
    check(&[], Some("`algorithms` of a TokenVerifier is empty, so no token is valid"));
    let others = Some("a secret verifies only HS256, HS384 and HS512");
    check(&[Algorithm::RS256], others);
    check(&[Algorithm::EdDSA, Algorithm::Ed25519], others);
    check(&[Algorithm::RS256, Algorithm::HS256], None);
    assert!(verifier().check_keys(&secret()).is_ok());
    for algorithm in [Algorithm::RS256, Algorithm::ES256, Algorithm::Ed25519] {
        let issued = TokenIssuer::new().algorithm(algorithm).issue(json!({}), "1h", &long());
        assert!(matches!(issued, Err(IssueError::Algorithm { .. })), "{algorithm}");
    }
}
