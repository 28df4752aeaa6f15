//! Options of [`TokenVerifier`](stockade_auth::TokenVerifier) beyond the
//! specification.

use std::time::Duration;

use stockade_auth::{TokenError, TokenVerifier};

use crate::support::{HEADER, NOW, forge, secret, verifier};

#[track_caller]
fn check(verifier: &TokenVerifier, claims: &str, expected: Option<&TokenError>) {
    let outcome = verifier.verify(&forge(HEADER, claims), &secret());
    assert_eq!(outcome.as_ref().err(), expected, "{claims}");
}

#[test]
fn leeway_applies_to_exp_and_nbf() {
    let verifier = verifier().leeway(Duration::from_secs(30));
    check(&verifier, &format!(r#"{{"exp":{}}}"#, NOW - 30), None);
    check(&verifier, &format!(r#"{{"exp":{}}}"#, NOW - 31), Some(&TokenError::Expired));
    check(&verifier, &format!(r#"{{"nbf":{}}}"#, NOW + 30), None);
    check(&verifier, &format!(r#"{{"nbf":{}}}"#, NOW + 31), Some(&TokenError::NotYetValid));
    let for_ever = verifier.leeway(Duration::MAX);
    check(&for_ever, r#"{"exp":0,"nbf":9007199254740991}"#, None);
}

#[test]
fn issuers() {
    let verifier = verifier().issuer("a").issuer("b");
    check(&verifier, r#"{"iss":"a"}"#, None);
    check(&verifier, r#"{"iss":"b"}"#, None);
    for claims in ["{}", r#"{"iss":"A"}"#, r#"{"iss":["a"]}"#, r#"{"iss":""}"#, r#"{"iss":null}"#] {
        check(&verifier, claims, Some(&TokenError::Issuer));
    }
}

#[test]
fn audiences() {
    let verifier = verifier().audience("shop").audience("desk");
    check(&verifier, r#"{"aud":"shop"}"#, None);
    check(&verifier, r#"{"aud":["x","desk"]}"#, None);
    for claims in [
        "{}",
        r#"{"aud":[]}"#,
        r#"{"aud":"x"}"#,
        r#"{"aud":[["shop"]]}"#,
        r#"{"aud":{"shop":1}}"#,
        r#"{"aud":"shop desk"}"#,
    ] {
        check(&verifier, claims, Some(&TokenError::Audience));
    }
}

#[test]
fn required_claims() {
    let verifier = verifier().require("exp").require("sub");
    check(&verifier, &format!(r#"{{"exp":{NOW},"sub":"7"}}"#), None);
    check(&verifier, &format!(r#"{{"exp":{NOW},"sub":false}}"#), None);
    let missing = |claim: &str| TokenError::MissingClaim { claim: claim.to_owned() };
    check(&verifier, r#"{"sub":"7"}"#, Some(&missing("exp")));
    check(&verifier, &format!(r#"{{"exp":{NOW}}}"#), Some(&missing("sub")));
    check(&verifier, &format!(r#"{{"exp":{NOW},"sub":null}}"#), Some(&missing("sub")));
}

#[test]
fn error_messages_do_not_contain_the_token() {
    let token = forge(HEADER, r#"{"exp":1}"#);
    let error = verifier().verify(&token, &secret()).unwrap_err();
    assert_eq!(error.to_string(), "the token has expired");
    let missing = TokenError::MissingClaim { claim: "sub".to_owned() };
    assert_eq!(missing.to_string(), r#"the token does not have the claim "sub""#);
}
