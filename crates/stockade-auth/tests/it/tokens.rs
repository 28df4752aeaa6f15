//! Issuing and verifying tokens.
// Spec: Authentication › Token functions.

use std::time::Duration;

use serde_json::{Value, json};
use stockade_auth::{
    ExpiresIn, IssueError, KeyRing, MAX_TOKEN_LENGTH, Secret, TokenError, TokenIssuer,
    TokenVerifier, UnixClock, generate_jwt, verify_token, verify_token_as,
};

use crate::support::{HEADER, NOW, accept, decode, forge, refuse, secret, verifier};

fn issue(payload: &Value, expires_in: &str) -> String {
    TokenIssuer::new().clock(UnixClock::at(NOW)).issue(payload, expires_in, &secret()).unwrap()
}

#[test]
fn a_token_is_header_payload_signature() {
    let token = issue(&json!({ "sub": "7", "b": 1, "a": 2 }), "2h");
    let parts: Vec<&str> = token.split('.').collect();
    assert_eq!(parts.len(), 3);
    assert_eq!(decode(parts[0]), br#"{"alg":"HS256","typ":"JWT"}"#);
    let payload = String::from_utf8(decode(parts[1])).unwrap();
    assert_eq!(
        payload,
        r#"{"sub":"7","b":1,"a":2,"iat":1700000000,"exp":1700007200,"iat_ms":1700000000000}"#
    );
    assert_eq!(decode(parts[2]).len(), 32);
    assert!(!token.contains('='));
}

#[test]
fn iat_and_exp_always_overwrite() {
    let token = issue(&json!({ "exp": "never", "sub": "7", "iat": null }), "1h");
    let claims = verifier().verify(&token, &secret()).unwrap();
    assert_eq!(claims.issued_at(), Some(NOW));
    assert_eq!(claims.expires_at(), Some(NOW + 3_600));
    assert_eq!(claims.as_map().keys().collect::<Vec<_>>(), ["exp", "sub", "iat", "iat_ms"]);
}

#[test]
fn only_an_issuer_adds_milliseconds() {
    let token = generate_jwt(json!({ "sub": "7" }), "1h", &secret()).unwrap();
    let claims = verify_token(&token, &secret()).unwrap();
    assert_eq!(claims.as_map().keys().collect::<Vec<_>>(), ["sub", "iat", "exp"]);
    assert_eq!(claims.issued_at_millis(), None);

    let issuer = TokenIssuer::new().clock(UnixClock::at_millis(NOW * 1_000 + 999));
    let token = issuer.issue(json!({ "iat_ms": "mine" }), "1h", &secret()).unwrap();
    let claims = verifier().verify(&token, &secret()).unwrap();
    assert_eq!(claims.issued_at(), Some(NOW));
    assert_eq!(claims.issued_at_millis(), Some(NOW * 1_000 + 999));
    assert_eq!(claims.expires_at(), Some(NOW + 3_600));
    assert_eq!(claims["iat_ms"], NOW * 1_000 + 999);

    // A time that JSON numbers cannot represent exactly in milliseconds.
    let issuer = TokenIssuer::new().clock(UnixClock::at(u64::MAX));
    let token = issuer.issue(json!({}), "1h", &secret()).unwrap();
    let claims = verifier().verify(&token, &secret()).unwrap();
    assert_eq!(claims.as_map().keys().collect::<Vec<_>>(), ["iat", "exp"]);
}

#[test]
fn milliseconds_of_another_second_do_not_count() {
    let millis = |payload: String| {
        verifier().verify(&forge(HEADER, payload), &secret()).unwrap().issued_at_millis()
    };
    let first = NOW * 1_000;
    for (iat_ms, expected) in [
        (first - 1, None),
        (first, Some(first)),
        (first + 999, Some(first + 999)),
        (first + 1_000, None),
    ] {
        assert_eq!(millis(format!(r#"{{"iat":{NOW},"iat_ms":{iat_ms}}}"#)), expected, "{iat_ms}");
    }
    for value in ["null", "\"x\"", "1700000000000.5", "[]", "-1", "18446744073709551616"] {
        assert_eq!(millis(format!(r#"{{"iat":{NOW},"iat_ms":{value}}}"#)), None, "{value}");
    }
    assert_eq!(millis(format!(r#"{{"iat_ms":{first}}}"#)), None);
}

#[test]
fn lifetime_is_a_text_or_a_duration_and_defaults_to_an_hour() {
    #[track_caller]
    fn check(expires_in: impl Into<ExpiresIn>, expected: u64) {
        let issuer = TokenIssuer::new().clock(UnixClock::at(NOW));
        let token = issuer.issue(json!({}), expires_in, &secret()).unwrap();
        let claims = verifier().verify(&token, &secret()).unwrap();
        assert_eq!(claims.expires_at(), Some(expected));
    }
    check("30m", NOW + 1_800);
    check("1 day", NOW + 3_600);
    check(ExpiresIn::default(), NOW + 3_600);
    check(Duration::from_secs(5), NOW + 5);
    check(Duration::MAX, 9_007_199_254_740_991);
    check("100000000000000d", 9_007_199_254_740_991);
}

#[test]
fn the_system_clock_is_the_default() {
    let token = generate_jwt(json!({ "role": "admin" }), "1h", &secret()).unwrap();
    let claims = verify_token(&token, &secret()).unwrap();
    assert_eq!(claims["role"], "admin");
    assert_eq!(claims["absent"], Value::Null);
    let expired = generate_jwt(json!({}), "0m", &secret()).unwrap();
    let later = verify_token(&expired, &secret()).map_or(0, |claims| claims.issued_at().unwrap());
    let verifier = TokenVerifier::new().clock(UnixClock::new(move || later.max(NOW * 2)));
    assert_eq!(verifier.verify(&expired, &secret()), Err(TokenError::Expired));
}

#[test]
fn the_word_bearer_is_optional() {
    let token = issue(&json!({}), "1h");
    for prefix in ["", "Bearer ", "bearer ", "BEARER ", "Bearer  "] {
        accept(&format!("{prefix}{token}"));
    }
    for prefix in [" ", "Bearer", "Bearer\t", "Basic ", "Bearer Bearer ", "Bearer  bearer ", "\n"] {
        assert!(verify_token(&format!("{prefix}{token}"), &secret()).is_none(), "{prefix:?}");
    }
}

#[test]
fn expiry_is_in_whole_seconds_and_its_second_is_valid() {
    let check = |claims: String, expected: Option<TokenError>| {
        let outcome = verifier().verify(&forge(HEADER, &claims), &secret());
        assert_eq!(outcome.err(), expected, "{claims}");
    };
    check(format!(r#"{{"exp":{NOW}}}"#), None);
    check(format!(r#"{{"exp":{}}}"#, NOW - 1), Some(TokenError::Expired));
    check(format!(r#"{{"exp":{NOW}.0}}"#), None);
    check(format!(r#"{{"exp":{}.9}}"#, NOW - 1), Some(TokenError::Expired));
    check(format!(r#"{{"nbf":{NOW}}}"#), None);
    check(format!(r#"{{"nbf":{}}}"#, NOW + 1), Some(TokenError::NotYetValid));
    check(format!(r#"{{"nbf":{NOW}.9}}"#), None);
    // The clock of the issuer may be ahead.
    check(format!(r#"{{"iat":{}}}"#, NOW + 1), None);
    check("{}".to_owned(), None);
}

#[test]
fn does_not_check_issuer_and_audience() {
    accept(&forge(HEADER, r#"{"iss":"somebody","aud":["x","y"]}"#));
    accept(&forge(HEADER, r#"{"iss":7,"aud":{},"sub":[]}"#));
}

#[test]
fn issues_only_tokens_that_can_be_read() {
    let issue = |payload: &Value| generate_jwt(payload, "1h", &secret());
    for payload in [json!([]), json!("a"), json!(1), json!(null), json!(true)] {
        assert!(matches!(issue(&payload), Err(IssueError::NotAnObject)), "{payload}");
    }
    for nbf in [json!("soon"), json!(-1), json!(1e300), json!(null)] {
        assert!(matches!(issue(&json!({ "nbf": nbf })), Err(IssueError::NotBefore)), "{nbf}");
    }
    let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
    assert!(matches!(issue(&json!({ "a": nested(127) })), Err(IssueError::TooDeep)));
    let token = issue(&json!({ "a": nested(126) })).unwrap();
    assert!(verify_token(&token, &secret()).is_some());

    struct Broken;
    impl serde::Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    let broken = generate_jwt(Broken, "1h", &secret());
    assert!(matches!(broken, Err(IssueError::Unserializable(_))));
}

#[test]
fn neither_issues_nor_reads_tokens_above_the_limit() {
    let make = |length: usize| {
        let payload = json!({ "a": "x".repeat(length) });
        TokenIssuer::new().clock(UnixClock::at(NOW)).issue(payload, "1h", &secret())
    };
    // The longest issued token is at most one base64 group below the limit.
    let longest = (12_000..13_000).filter_map(|length| make(length).ok()).next_back().unwrap();
    assert!((MAX_TOKEN_LENGTH - 3..=MAX_TOKEN_LENGTH).contains(&longest.len()));
    accept(&longest);
    accept(&format!("Bearer {longest}"));
    let Err(IssueError::TooLong { bytes, limit }) = make(13_000) else { panic!("too long") };
    assert!(bytes > limit && limit == MAX_TOKEN_LENGTH);

    // The limits are inclusive and configurable.
    let bytes = longest.len();
    let limited = |limit| TokenVerifier::new().clock(UnixClock::at(NOW)).max_length(limit);
    assert!(limited(bytes).verify(&longest, &secret()).is_ok());
    assert_eq!(limited(bytes - 1).verify(&longest, &secret()), Err(TokenError::TooLong));
    let issuer = TokenIssuer::new().clock(UnixClock::at(NOW)).max_length(20_000);
    let large = issuer.issue(json!({ "a": "x".repeat(14_000) }), "1h", &secret()).unwrap();
    refuse(&large, &TokenError::TooLong);
    assert!(limited(20_000).verify(&large, &secret()).is_ok());
}

#[test]
fn a_ring_verifies_with_every_secret_and_signs_with_the_first() {
    let old = Secret::new("the secret of last year, 32 bytes long").unwrap();
    let new = Secret::new("the secret of this year, 32 bytes long").unwrap().with_kid("new");
    let ring = KeyRing::new(new.clone()).or(old.clone());

    let by_old = generate_jwt(json!({}), "1h", &old).unwrap();
    let by_ring = generate_jwt(json!({}), "1h", &ring).unwrap();
    assert!(verify_token(&by_old, &ring).is_some());
    assert!(verify_token(&by_ring, &ring).is_some());
    assert!(verify_token(&by_ring, &new).is_some());
    assert!(verify_token(&by_ring, &old).is_none());
    assert!(verify_token(&generate_jwt(json!({}), "1h", &secret()).unwrap(), &ring).is_none());

    let header = decode(by_ring.split('.').next().unwrap());
    assert_eq!(header, br#"{"alg":"HS256","typ":"JWT","kid":"new"}"#);
    assert_eq!(new.kid(), Some("new"));
}

#[test]
fn secrets_are_text_or_bytes_and_never_empty() {
    assert!(Secret::new("").is_err());
    assert!(Secret::new([]).is_err());
    assert!(Secret::new(Vec::<u8>::new()).is_err());
    for secret in [Secret::new("x").unwrap(), Secret::new([0xff, 0]).unwrap()] {
        let token = generate_jwt(json!({}), "1h", &secret).unwrap();
        assert!(verify_token(&token, &secret).is_some());
    }
    // White space is part of the secret.
    let token = generate_jwt(json!({}), "1h", &Secret::new("x").unwrap()).unwrap();
    assert!(verify_token(&token, &Secret::new("x\n").unwrap()).is_none());
}

#[test]
fn claims_deserialize_into_types() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct User {
        sub: String,
        role: String,
    }
    let token = generate_jwt(json!({ "sub": "7", "role": "admin" }), "1h", &secret()).unwrap();
    let expected = User { sub: "7".to_owned(), role: "admin".to_owned() };
    assert_eq!(verify_token_as::<User>(&token, &secret()), Some(expected));
    let token = generate_jwt(json!({ "sub": "7" }), "1h", &secret()).unwrap();
    assert_eq!(verify_token_as::<User>(&token, &secret()), None);
}
