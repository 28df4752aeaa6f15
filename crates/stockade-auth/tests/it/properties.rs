//! No input causes a panic, and everything that is written can be parsed.

use proptest::prelude::*;
use serde_json::{Map, Value};
use stockade_auth::{
    ApiKeyHash, BasicCredentials, ExpiresIn, SessionId, SessionKeys, TokenVerifier, generate_jwt,
    needs_rehash, verify_token,
};

use crate::support::{forge, secret, verifier};

/// JSON of a few levels.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 16.0)),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).{0,200}") {
        let _ = verify_token(&text, &secret());
        let _ = SessionId::verify(&text, &SessionKeys::new("session", &secret()));
        let _ = BasicCredentials::parse(&text);
        let _ = BasicCredentials::parse(&format!("Basic {text}"));
        let _ = text.parse::<ApiKeyHash>();
        let _ = needs_rehash(&text, stockade_auth::PasswordCost::default());
        let _ = needs_rehash(&format!("${text}"), stockade_auth::PasswordCost::default());
        let _ = ExpiresIn::from(text.as_str());
    }

    #[test]
    fn no_text_of_token_characters_panics(text in "(Bearer )?[A-Za-z0-9_-]{0,20}\\.[A-Za-z0-9_.-]{0,60}") {
        prop_assert!(verify_token(&text, &secret()).is_none());
        prop_assert!(SessionId::verify(&text, &SessionKeys::new("session", &secret())).is_none());
    }

    #[test]
    fn no_signed_bytes_panic(
        header in prop::collection::vec(any::<u8>(), 0..60),
        payload in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let _ = verify_token(&forge(&header, &payload), &secret());
        let _ = verify_token(&forge(r#"{"alg":"HS256"}"#, &payload), &secret());
    }

    #[test]
    fn a_signed_payload_is_valid_only_if_it_is_a_suitable_object(value in json()) {
        let token = forge(r#"{"alg":"HS256"}"#, value.to_string());
        let outcome = TokenVerifier::verify(&verifier(), &token, &secret());
        if !value.is_object() {
            prop_assert!(outcome.is_err());
        } else if ["exp", "iat", "nbf"].iter().all(|name| value.get(name).is_none()) {
            prop_assert_eq!(outcome.map(Value::from), Ok(value));
        }
    }

    #[test]
    fn issued_tokens_can_be_read(value in json(), seconds in 0..u64::MAX) {
        let lifetime = std::time::Duration::from_secs(seconds);
        match generate_jwt(&value, lifetime, &secret()) {
            Ok(token) => {
                let claims = verify_token(&token, &secret()).expect("what is issued is valid");
                for (name, expected) in value.as_object().into_iter().flatten() {
                    if !["exp", "iat"].contains(&name.as_str()) {
                        prop_assert_eq!(&claims[name.as_str()], expected);
                    }
                }
            }
            Err(_) => prop_assert!(!value.is_object() || value.get("nbf").is_some()),
        }
    }
}
