//! JWK sets: keys from the tests and from wycheproof.

use std::slice;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ring::rand::SystemRandom;
use ring::rsa;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA512,
    RSA_PSS_SHA256, RsaEncoding,
};
use serde_json::{Value, json};
use stockade_auth::{
    JwkSet, JwkSource, MAX_KEYS, Secret, TokenAlgorithm, TokenError, TokenKeys, TokenVerifier,
    UnixClock, verify_token,
};

use crate::support::{HEADER, NOW, decode, encode, forge, secret, verifier};

/// A key pair, its public half as a JWK, and its signing function.
struct Pair {
    alg: &'static str,
    jwk: Value,
    sign: Sign,
}

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8>>;

impl Pair {
    fn token(&self, header: &Value, payload: &Value) -> String {
        let message = format!("{}.{}", encode(header.to_string()), encode(payload.to_string()));
        let signature = encode((self.sign)(message.as_bytes()));
        format!("{message}.{signature}")
    }

    fn named(&self, kid: &str) -> Value {
        let mut jwk = self.jwk.clone();
        jwk["kid"] = kid.into();
        jwk
    }
}

fn with_alg(pair: &Pair, alg: &str) -> Value {
    let mut jwk = pair.jwk.clone();
    jwk["alg"] = alg.into();
    jwk
}

fn pairs() -> Vec<Pair> {
    vec![
        elliptic("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING),
        elliptic("ES384", "P-384", &ECDSA_P384_SHA384_FIXED_SIGNING),
        edwards(),
        rsa_pair("RS256", &RSA_PKCS1_SHA256),
        rsa_pair("PS256", &RSA_PSS_SHA256),
    ]
}

fn elliptic(alg: &'static str, crv: &str, signing: &'static EcdsaSigningAlgorithm) -> Pair {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(signing, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(signing, pkcs8.as_ref(), &random).unwrap();
    let point = &pair.public_key().as_ref()[1..];
    let (x, y) = point.split_at(point.len() / 2);
    let jwk = json!({ "kty": "EC", "crv": crv, "x": encode(x), "y": encode(y) });
    let sign = move |message: &[u8]| pair.sign(&random, message).unwrap().as_ref().to_vec();
    Pair { alg, jwk, sign: Box::new(sign) }
}

fn edwards() -> Pair {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key()) });
    let sign = move |message: &[u8]| pair.sign(message).as_ref().to_vec();
    Pair { alg: "EdDSA", jwk, sign: Box::new(sign) }
}

/// ring generates no RSA keys, so this one is from wycheproof.
fn rsa_pair(alg: &'static str, encoding: &'static dyn RsaEncoding) -> Pair {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/wycheproof/json_web_signature_test.json"
    );
    let file: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut groups = file["testGroups"].as_array().unwrap().iter();
    let key = &groups.find(|group| group["private"]["qi"].is_string()).unwrap()["private"];
    let part = |name: &str| decode(key[name].as_str().unwrap());
    let components = rsa::KeyPairComponents {
        public_key: rsa::PublicKeyComponents { n: part("n"), e: part("e") },
        d: part("d"),
        p: part("p"),
        q: part("q"),
        dP: part("dp"),
        dQ: part("dq"),
        qInv: part("qi"),
    };
    let pair = rsa::KeyPair::from_components(&components).unwrap();
    let jwk = json!({ "kty": "RSA", "n": key["n"], "e": key["e"] });
    let sign = move |message: &[u8]| {
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(encoding, &SystemRandom::new(), message, &mut signature).unwrap();
        signature
    };
    Pair { alg, jwk, sign: Box::new(sign) }
}

fn set(keys: &[Value]) -> JwkSet {
    JwkSet::from_json(json!({ "keys": keys }).to_string()).unwrap()
}

#[track_caller]
fn check(token: &str, keys: &impl TokenKeys, expected: Option<&TokenError>) {
    let outcome = verifier().verify(token, keys);
    assert_eq!(outcome.as_ref().err(), expected, "{token}");
}

#[test]
fn each_algorithm_verifies_only_with_its_key() {
    let pairs = pairs();
    for pair in &pairs {
        let token = pair.token(&json!({ "alg": pair.alg, "kid": "1" }), &json!({ "sub": "7" }));
        for other in &pairs {
            let keys = set(&[other.named("1")]);
            let same_key = other.jwk == pair.jwk;
            let expected = (!same_key).then_some(&TokenError::Algorithm);
            check(&token, &keys, expected);
        }
        let keys = set(&[pair.named("1")]);
        assert_eq!(verify_token(&token, &keys).unwrap().subject(), Some("7"));
        assert!(verify_token(&format!("Bearer {token}"), &keys).is_some());

        // The `alg` in the header names another algorithm with the same
        // signature length.
        for alg in ["ES256", "ES384", "EdDSA", "RS256", "PS256", "RS512", "none", "HS256", "es256"]
        {
            if alg == pair.alg {
                continue;
            }
            let token = pair.token(&json!({ "alg": alg, "kid": "1" }), &json!({}));
            assert!(verify_token(&token, &keys).is_none(), "{} as {alg}", pair.alg);
        }
    }
}

#[test]
fn a_changed_token_does_not_verify() {
    for pair in pairs() {
        let keys = set(slice::from_ref(&pair.jwk));
        let token = pair.token(&json!({ "alg": pair.alg }), &json!({ "role": "user" }));
        check(&token, &keys, None);
        let parts: Vec<&str> = token.split('.').collect();
        let payload = encode(r#"{"role":"admin"}"#);
        let changed = format!("{}.{payload}.{}", parts[0], parts[2]);
        check(&changed, &keys, Some(&TokenError::Signature));
        let signature = decode(parts[2]);
        for signature in [
            Vec::new(),
            vec![0; signature.len()],
            signature[1..].to_vec(),
            [&signature[..], &[0]].concat(),
        ] {
            let changed = format!("{}.{}.{}", parts[0], parts[1], encode(signature));
            check(&changed, &keys, Some(&TokenError::Signature));
        }
        check(&format!("{token}="), &keys, Some(&TokenError::Malformed));
        let expired = pair.token(&json!({ "alg": pair.alg }), &json!({ "exp": NOW - 1 }));
        check(&expired, &keys, Some(&TokenError::Expired));
        let critical = pair.token(&json!({ "alg": pair.alg, "crit": ["exp"] }), &json!({}));
        check(&critical, &keys, Some(&TokenError::Malformed));
    }
}

#[test]
fn a_public_key_is_never_a_secret() {
    let pair = elliptic("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING);
    let keys = set(&[pair.named("1")]);
    // All public data of the key, tried as an HMAC secret.
    for guess in [
        pair.jwk["x"].as_str().unwrap().as_bytes().to_vec(),
        decode(pair.jwk["x"].as_str().unwrap()),
        pair.jwk.to_string().into_bytes(),
    ] {
        let forged = stockade_auth::generate_jwt(json!({}), "1h", &Secret::new(guess).unwrap());
        check(&forged.unwrap(), &keys, Some(&TokenError::Algorithm));
    }
    // Conversely, a secret rejects tokens of a key pair.
    let token = pair.token(&json!({ "alg": "ES256" }), &json!({}));
    assert!(verify_token(&token, &secret()).is_none());
    check(&forge(HEADER, "{}"), &keys, Some(&TokenError::Algorithm));
}

/// RFC 9864: `Ed25519` identifies the curve, and `EdDSA` does not.
#[test]
fn ed25519_has_two_names() {
    let pair = edwards();
    let token = |alg: &str| pair.token(&json!({ "alg": alg }), &json!({}));
    let key = |alg: &str| set(&[with_alg(&pair, alg)]);
    let any = set(slice::from_ref(&pair.jwk));
    for alg in ["EdDSA", "Ed25519"] {
        check(&token(alg), &any, None);
        check(&token(alg), &key(alg), None);
    }
    // A key with `alg` verifies only this name.
    check(&token("EdDSA"), &key("Ed25519"), Some(&TokenError::Algorithm));
    check(&token("Ed25519"), &key("EdDSA"), Some(&TokenError::Algorithm));
    for alg in ["Ed448", "ed25519", "ED25519", "eddsa", "EdDsa", "Ed25519ph", "none", "ES256"] {
        check(&token(alg), &any, Some(&TokenError::Algorithm));
    }
    // The name does not fit another key type either.
    let rsa = rsa_pair("RS256", &RSA_PKCS1_SHA256);
    for alg in ["Ed25519", "EdDSA"] {
        let forged = rsa.token(&json!({ "alg": alg }), &json!({}));
        check(&forged, &set(slice::from_ref(&rsa.jwk)), Some(&TokenError::Algorithm));
        let document = json!({ "keys": [with_alg(&rsa, alg)] }).to_string();
        assert!(JwkSet::from_json(document).is_err(), "{alg}");
    }
}

#[test]
fn a_verifier_limits_the_algorithms_of_a_set() {
    let pair = edwards();
    let keys = set(slice::from_ref(&pair.jwk));
    let token = pair.token(&json!({ "alg": "EdDSA" }), &json!({}));
    let outcome = |algorithms: &[TokenAlgorithm]| {
        let verifier = verifier().algorithms(algorithms.iter().copied());
        (verifier.verify(&token, &keys).err(), verifier.check_keys(&keys).is_ok())
    };
    let refused = Some(TokenError::Algorithm);
    assert_eq!(outcome(&[TokenAlgorithm::EdDSA]), (None, true));
    assert_eq!(outcome(&[TokenAlgorithm::Ed25519]), (refused.clone(), true));
    assert_eq!(outcome(&[TokenAlgorithm::HS256, TokenAlgorithm::HS512]), (refused.clone(), false));
    assert_eq!(outcome(&[]), (refused, false));
}

/// HS512 with all public data of an RSA key as its secret.
#[test]
fn a_public_rsa_key_is_not_a_secret_for_any_hash() {
    let rsa = rsa_pair("RS256", &RSA_PKCS1_SHA256);
    let keys = set(&[rsa.named("1")]);
    let guesses = [decode(rsa.jwk["n"].as_str().unwrap()), rsa.named("1").to_string().into_bytes()];
    let hmacs = [TokenAlgorithm::HS256, TokenAlgorithm::HS384, TokenAlgorithm::HS512];
    for (guess, algorithm) in guesses.iter().flat_map(|guess| hmacs.map(|it| (guess, it))) {
        let issuer = stockade_auth::TokenIssuer::new().algorithm(algorithm);
        let secret = Secret::new(guess).unwrap().with_kid("1");
        let forged = issuer.issue(json!({}), "1h", &secret).unwrap();
        check(&forged, &keys, Some(&TokenError::Algorithm));
        let all = verifier().algorithms(hmacs.into_iter().chain([TokenAlgorithm::RS256]));
        assert_eq!(all.verify(&forged, &keys), Err(TokenError::Algorithm));
    }
}

#[test]
fn skips_an_unknown_key_with_one_warning() {
    crate::secrets::listen();
    let warnings = |kid: &str| {
        let kid = format!("{kid:?}");
        crate::secrets::lines().into_iter().filter(|line| line.contains(&kid)).collect::<Vec<_>>()
    };
    let pair = edwards();
    let unknown = |kid: &str, member: &str, value: &str| {
        let mut jwk = pair.named(kid);
        jwk[member] = value.into();
        jwk
    };
    let document = |kid: &str| {
        let unknown = unknown(kid, "alg", "ML-DSA-65\nforged line");
        json!({ "keys": [unknown.clone(), pair.named("good"), unknown] }).to_string()
    };
    let first = document("future 1");
    let source = JwkSource::new(move || Ok(first.clone())).unwrap();
    for _ in 0..3 {
        source.refresh().unwrap();
        source.update(document("future 1")).unwrap();
    }
    let token = pair.token(&json!({ "alg": "EdDSA", "kid": "good" }), &json!({}));
    check(&token, &source, None);
    assert_eq!(
        warnings("future 1"),
        ["key \"future 1\" of a JWK set is skipped: `alg` is \"ML-DSA-65\\nforged line\", \
          which is not supported; tokens of this key are rejected"]
    );
    source.update(document("future 2")).unwrap();
    source.update(document("future 2")).unwrap();
    assert_eq!(warnings("future 2").len(), 1);

    // Also with an unknown curve or type. No key remains then.
    for (kid, member, value) in [("future 3", "crv", "Ed448"), ("future 4", "kty", "AKP")] {
        let only = json!({ "keys": [unknown(kid, member, value)] }).to_string();
        assert!(source.update(&only).is_err());
        assert!(JwkSet::from_json(&only).is_err());
        assert_eq!(warnings(kid).len(), 2, "once for the source, and once for the set");
    }
    check(&token, &source, None);
    // Encryption keys are common.
    let encryption = unknown("future 5", "use", "enc");
    assert!(JwkSet::from_json(json!({ "keys": [encryption] }).to_string()).is_err());
    assert_eq!(warnings("future 5").len(), 0);
}

#[test]
fn kid_chooses_the_key() {
    let (one, two) = (edwards(), edwards());
    let keys = set(&[one.named("1"), two.named("2")]);
    let token =
        |pair: &Pair, kid: Value| pair.token(&json!({ "alg": "EdDSA", "kid": kid }), &json!({}));
    check(&token(&one, "1".into()), &keys, None);
    check(&token(&two, "2".into()), &keys, None);
    check(&token(&two, "1".into()), &keys, Some(&TokenError::Signature));
    check(&token(&two, "3".into()), &keys, Some(&TokenError::UnknownKey));
    check(&token(&two, 2.into()), &keys, Some(&TokenError::Malformed));
    // A token that does not name a key is checked with every key for its
    // algorithm.
    check(&two.token(&json!({ "alg": "EdDSA" }), &json!({})), &keys, None);
    // A key without a name may match.
    check(&token(&two, "2".into()), &set(&[one.named("1"), two.jwk.clone()]), None);
    // A key inside the token is ignored.
    let brought = two.token(&json!({ "alg": "EdDSA", "jwk": two.jwk }), &json!({}));
    check(&brought, &set(&[one.named("1")]), Some(&TokenError::Signature));
}

#[test]
fn the_alg_of_a_key_is_binding() {
    let (rs256, rs512) =
        (rsa_pair("RS256", &RSA_PKCS1_SHA256), rsa_pair("RS512", &RSA_PKCS1_SHA512));
    let token = rs256.token(&json!({ "alg": "RS256" }), &json!({}));
    check(&token, &set(&[with_alg(&rs256, "RS256")]), None);
    for alg in ["RS384", "RS512", "PS256", "PS512"] {
        check(&token, &set(&[with_alg(&rs256, alg)]), Some(&TokenError::Algorithm));
    }
    let token = rs512.token(&json!({ "alg": "RS512" }), &json!({}));
    check(&token, &set(&[with_alg(&rs512, "RS512")]), None);
    check(&token, &set(slice::from_ref(&rs512.jwk)), Some(&TokenError::Algorithm));
    // A key is rejected if its algorithm does not fit its type.
    for alg in ["HS256", "ES256", "EdDSA", "RSA-OAEP", "none", ""] {
        let document = json!({ "keys": [with_alg(&rs256, alg)] }).to_string();
        assert!(JwkSet::from_json(document).is_err(), "{alg}");
    }
}

#[test]
fn skips_keys_that_cannot_verify() {
    let pair = edwards();
    let with = |name: &str, value: Value| {
        let mut jwk = pair.jwk.clone();
        jwk[name] = value;
        jwk
    };
    let useless = [
        with("use", json!("enc")),
        with("key_ops", json!(["sign"])),
        with("key_ops", json!([])),
        with("crv", json!("X25519")),
        with("crv", json!("P-256")),
        with("kty", json!("oct")),
        with("x", json!("AAAA")),
        with("x", json!("not base64url")),
        json!({ "kty": "oct", "k": encode([7; 32]), "alg": "HS256" }),
        json!({ "kty": "RSA", "n": encode([0xff; 128]), "e": "AQAB" }),
        json!({ "kty": "RSA", "n": encode([0xff; 1_025]), "e": "AQAB" }),
        json!({ "kty": "EC", "crv": "P-521", "x": "AA", "y": "AA" }),
        json!({ "kty": "EC", "crv": "P-256", "x": encode([1; 31]), "y": encode([1; 32]) }),
        json!({ "kty": "AKP", "alg": "ML-DSA-44", "pub": "AA" }),
        json!({}),
        // Members of the wrong type.
        with("kid", json!(5)),
        with("x5c", json!("abc")),
        with("x5t", json!([])),
        with("use", json!(1)),
        with("alg", json!({})),
        with("key_ops", json!("verify")),
        with("kty", json!(null)),
        with("x", json!(7)),
        json!(null),
        json!("key"),
        json!([]),
    ];
    for jwk in &useless {
        let document = json!({ "keys": [jwk] }).to_string();
        assert!(JwkSet::from_json(&document).is_err(), "{jwk}");
        let keys = set(&[jwk.clone(), pair.named("1")]);
        assert_eq!(keys.len(), 1, "{jwk}");
        check(&pair.token(&json!({ "alg": "EdDSA", "kid": "1" }), &json!({})), &keys, None);
    }
    assert_eq!(set(&[with("key_ops", json!(["verify"])), with("use", json!("sig"))]).len(), 2);
}

#[test]
fn rejects_documents_that_are_not_key_sets() {
    for document in ["", "[]", "{}", r#"{"keys":[]}"#, r#"{"keys":{}}"#, "<html>", "null"] {
        assert!(JwkSet::from_json(document).is_err(), "{document}");
    }
    let many = |count| json!({ "keys": vec![edwards().jwk; count] }).to_string();
    assert!(JwkSet::from_json(many(MAX_KEYS)).is_ok());
    assert!(JwkSet::from_json(many(MAX_KEYS + 1)).is_err());
    // A point that is not on the curve, and an RSA key that is all ones.
    let off = json!({ "kty": "EC", "crv": "P-256", "x": encode([1; 32]), "y": encode([1; 32]) });
    let token = format!("{}.e30.{}", encode(r#"{"alg":"ES256"}"#), encode([1; 64]));
    check(&token, &set(&[off]), Some(&TokenError::Signature));
    let ones = json!({ "kty": "RSA", "n": encode([0xff; 256]), "e": encode([0xff; 9]) });
    let token = format!("{}.e30.{}", encode(r#"{"alg":"RS256"}"#), encode([1; 256]));
    check(&token, &set(&[ones]), Some(&TokenError::Signature));
}

#[test]
fn refreshes_if_a_key_is_missing_or_the_set_is_old() {
    let (old, new) = (edwards(), edwards());
    let documents = [
        json!({ "keys": [old.named("old")] }).to_string(),
        json!({ "keys": [new.named("new")] }).to_string(),
        "<html>".to_owned(),
    ];
    let now = Arc::new(AtomicU64::new(NOW));
    let calls = Arc::new(AtomicUsize::new(0));
    let source = {
        let (now, calls) = (Arc::clone(&now), Arc::clone(&calls));
        JwkSource::new(move || {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            documents.get(call).cloned().ok_or_else(|| "unreachable".into())
        })
        .unwrap()
        .min_interval(Duration::from_secs(60))
        .max_age(Duration::from_secs(600))
        .clock(UnixClock::new(move || now.load(Ordering::Relaxed)))
    };
    let by_old = old.token(&json!({ "alg": "EdDSA", "kid": "old" }), &json!({}));
    let by_new = new.token(&json!({ "alg": "EdDSA", "kid": "new" }), &json!({}));

    check(&by_old, &source, None);
    assert!(!source.wants_refresh());
    check(&by_new, &source, Some(&TokenError::UnknownKey));
    // Verification never calls the function, and the minimum interval applies.
    assert!(!source.wants_refresh());
    assert!(!source.refresh_if_wanted().unwrap());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    now.store(NOW + 60, Ordering::Relaxed);
    assert!(source.refresh_if_wanted().unwrap());
    check(&by_new, &source, None);
    check(&by_old, &source, Some(&TokenError::UnknownKey));

    // Age is sufficient; an invalid document changes nothing.
    source.update(json!({ "keys": [new.named("new")] }).to_string()).unwrap();
    now.store(NOW + 60 + 599, Ordering::Relaxed);
    assert!(!source.wants_refresh());
    now.store(NOW + 60 + 600, Ordering::Relaxed);
    assert!(source.refresh_if_wanted().is_err());
    check(&by_new, &source, None);
    assert!(!source.wants_refresh());
    assert!(source.refresh().is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 4);

    // A document that was fetched elsewhere.
    source.update(json!({ "keys": [old.named("old")] }).to_string()).unwrap();
    check(&by_old, &source, None);
    assert!(source.update("{}").is_err());
    check(&by_old, &source, None);
}

#[test]
fn a_failed_refresh_does_not_renew_the_set() {
    let (source, now) = source_of(&[edwards().named("1")]);
    let wants_at = |seconds: u64| {
        now.store(NOW + seconds, Ordering::Relaxed);
        source.wants_refresh()
    };
    assert!(!wants_at(3_599));
    assert!(wants_at(3_600));
    assert!(source.refresh().is_err());
    // From here only the interval between two attempts counts.
    assert!(!wants_at(3_600));
    assert!(!wants_at(3_659));
    for seconds in [3_660, 3_661, 7_199, 7_200] {
        assert!(wants_at(seconds), "{seconds}");
    }
    // An invalid document counts as an attempt.
    assert!(source.update("<html>").is_err());
    assert!(!wants_at(7_259));
    assert!(wants_at(7_260));
    source.update(json!({ "keys": [edwards().named("2")] }).to_string()).unwrap();
    assert!(!wants_at(7_260 + 3_599));
    assert!(wants_at(7_260 + 3_600));
}

#[test]
fn wants_a_refresh_for_a_missing_key_until_one_succeeds() {
    let new = edwards();
    let (source, now) = source_of(&[edwards().named("old")]);
    let token = new.token(&json!({ "alg": "EdDSA", "kid": "new" }), &json!({}));
    check(&token, &source, Some(&TokenError::UnknownKey));
    now.store(NOW + 60, Ordering::Relaxed);
    assert!(source.refresh_if_wanted().is_err());
    assert!(!source.wants_refresh());
    now.store(NOW + 120, Ordering::Relaxed);
    assert!(source.wants_refresh());
    source.update(json!({ "keys": [new.named("new")] }).to_string()).unwrap();
    check(&token, &source, None);
    now.store(NOW + 180, Ordering::Relaxed);
    assert!(!source.wants_refresh());
}

#[test]
fn a_key_without_kid_does_not_hide_a_missing_key() {
    #[track_caller]
    fn check_missing(keys: &[Value], token: &str, expected: &TokenError, wanted: bool) {
        let (source, now) = source_of(keys);
        check(token, &source, Some(expected));
        now.store(NOW + 60, Ordering::Relaxed);
        assert_eq!(source.wants_refresh(), wanted);
    }
    let (rsa, old, new) = (rsa_pair("RS256", &RSA_PKCS1_SHA256), edwards(), edwards());
    let with = |header: Value| new.token(&header, &json!({}));
    let named = with(json!({ "alg": "EdDSA", "kid": "2" }));
    let unnamed = with(json!({ "alg": "EdDSA" }));

    // A name that is not in the set.
    let mixed = [rsa.jwk.clone(), old.named("1")];
    check_missing(&mixed, &named, &TokenError::UnknownKey, true);
    check_missing(slice::from_ref(&old.jwk), &named, &TokenError::UnknownKey, true);
    check_missing(slice::from_ref(&rsa.jwk), &named, &TokenError::UnknownKey, true);
    // No name, and no key that verifies the token.
    check_missing(slice::from_ref(&old.jwk), &unnamed, &TokenError::Signature, true);
    check_missing(slice::from_ref(&rsa.jwk), &unnamed, &TokenError::Algorithm, true);
    // The key is in the set, but it did not sign the token.
    check_missing(&[old.named("2")], &named, &TokenError::Signature, false);
    check_missing(&[rsa.named("2")], &named, &TokenError::Algorithm, false);
    // No newer set can contain a key for these.
    for alg in ["HS256", "none", "ES512"] {
        let token = with(json!({ "alg": alg, "kid": "2" }));
        check_missing(&mixed, &token, &TokenError::Algorithm, false);
    }
    // A key without a name may still match.
    check(&named, &source_of(&[rsa.jwk, old.named("1"), new.jwk.clone()]).0, None);
}

/// Returns a source of these keys with a clock at [`NOW`]. Later documents
/// cannot be fetched.
fn source_of(keys: &[Value]) -> (JwkSource, Arc<AtomicU64>) {
    let first = Mutex::new(Some(json!({ "keys": keys }).to_string()));
    let fetch = move || first.lock().unwrap().take().ok_or_else(|| "unreachable".into());
    let now = Arc::new(AtomicU64::new(NOW));
    let clock = Arc::clone(&now);
    let clock = UnixClock::new(move || clock.load(Ordering::Relaxed));
    (JwkSource::new(fetch).unwrap().clock(clock), now)
}

#[test]
fn a_source_requires_an_initial_document() {
    assert!(JwkSource::new(|| Err("unreachable".into())).is_err());
    assert!(JwkSource::new(|| Ok("{}".to_owned())).is_err());
}

#[test]
fn secrets_and_key_sets_share_one_trait() {
    let pair = edwards();
    let keys: [Arc<dyn TokenKeys>; 2] =
        [Arc::new(secret()), Arc::new(set(slice::from_ref(&pair.jwk)))];
    let tokens = [forge(HEADER, "{}"), pair.token(&json!({ "alg": "EdDSA" }), &json!({}))];
    for (index, token) in tokens.iter().enumerate() {
        for (other, keys) in keys.iter().enumerate() {
            let outcome = TokenVerifier::new().verify(token, keys);
            assert_eq!(outcome.is_ok(), index == other);
        }
    }
}
