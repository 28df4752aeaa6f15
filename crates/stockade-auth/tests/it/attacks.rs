//! Attacks on tokens. Most of the tokens have a valid signature: a careless
//! issuer could be tricked into signing them.
//!
//! RFC 8725; RFC 7515, sections 4 and 10.

use ring::hmac;
use stockade_auth::{Secret, TokenError, verify_token};

use crate::support::{HEADER, KEY, NOW, accept, encode, forge, refuse, secret, signed};

#[test]
fn alg_none_in_every_spelling() {
    for bits in 0..16_u8 {
        let alg: String = "none"
            .chars()
            .enumerate()
            .map(
                |(index, letter)| {
                    if bits & (1 << index) == 0 { letter } else { letter.to_ascii_uppercase() }
                },
            )
            .collect();
        let header = format!(r#"{{"alg":"{alg}","typ":"JWT"}}"#);
        let message = format!("{}.{}", encode(&header), encode("{}"));
        refuse(&format!("{message}."), &TokenError::Malformed);
        refuse(&message, &TokenError::Malformed);
        refuse(&format!("{message}.{}", encode([0; 32])), &TokenError::Signature);
        refuse(&forge(&header, "{}"), &TokenError::Algorithm);
    }
}

#[test]
fn other_hmacs_of_the_same_secret() {
    for (alg, hash) in [("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)] {
        let header = format!(r#"{{"alg":"{alg}"}}"#);
        let message = format!("{}.{}", encode(&header), encode("{}"));
        let tag = hmac::sign(&hmac::Key::new(hash, KEY), message.as_bytes());
        refuse(&format!("{message}.{}", encode(tag)), &TokenError::Malformed);
        // The same header with a correct tag of the wrong hash.
        refuse(&forge(&header, "{}"), &TokenError::Algorithm);
        // A truncated tag under the correct header.
        let message = format!("{}.{}", encode(HEADER), encode("{}"));
        let tag = hmac::sign(&hmac::Key::new(hash, KEY), message.as_bytes());
        let tag = encode(&tag.as_ref()[..32]);
        refuse(&format!("{message}.{tag}"), &TokenError::Signature);
    }
}

#[test]
fn rejects_asymmetric_algorithms_for_secrets() {
    for alg in ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"] {
        refuse(&forge(format!(r#"{{"alg":"{alg}"}}"#), "{}"), &TokenError::Algorithm);
    }
}

#[test]
fn headers_of_the_wrong_shape() {
    for header in [
        r#"["HS256"]"#,
        r#"[{"alg":"HS256"}]"#,
        r#""HS256""#,
        "null",
        "",
        "{}",
        r#"{"typ":"JWT"}"#,
        r#"{"alg":null}"#,
        r#"{"alg":256}"#,
        r#"{"alg":["HS256"]}"#,
        r#"{"alg":{"HS256":1}}"#,
        r#"{"Alg":"HS256"}"#,
        r#"{"alg":"HS256","alg":"none"}"#,
        r#"{"alg":"none","alg":"HS256"}"#,
        r#"{"alg":"HS256","\u0061lg":"none"}"#,
        r#"{"alg":"HS256"}{"alg":"HS256"}"#,
        r#"{"alg":"HS256",}"#,
        r#"{"alg":"HS256"} x"#,
        r#"{'alg':'HS256'}"#,
        r#"{"alg":"HS256","typ":null}"#,
    ] {
        refuse(&forge(header, "{}"), &TokenError::Malformed);
    }
    refuse(&forge(b"{\"alg\":\"HS256\",\"x\":\"\xff\"}", "{}"), &TokenError::Malformed);
    refuse(&forge(b"\xef\xbb\xbf{\"alg\":\"HS256\"}", "{}"), &TokenError::Malformed);
    for alg in ["hs256", "HS256 ", " HS256", "HS-256", "HS256\\u0000", "HMAC", ""] {
        refuse(&forge(format!(r#"{{"alg":"{alg}"}}"#), "{}"), &TokenError::Algorithm);
    }
}

#[test]
fn extensions_that_must_be_understood() {
    for header in [
        r#"{"alg":"HS256","crit":["b64"],"b64":false}"#,
        r#"{"alg":"HS256","crit":["exp"],"exp":1}"#,
        r#"{"alg":"HS256","crit":[]}"#,
        r#"{"alg":"HS256","crit":null}"#,
        r#"{"alg":"HS256","b64":false}"#,
        r#"{"alg":"HS256","b64":"false"}"#,
        r#"{"alg":"HS256","b64":0}"#,
    ] {
        refuse(&forge(header, "{}"), &TokenError::Malformed);
    }
    // An unencoded payload as in RFC 7797.
    let header = encode(r#"{"alg":"HS256","b64":false,"crit":["b64"]}"#);
    refuse(&signed(&format!("{header}.{{}}")), &TokenError::Malformed);
}

#[test]
fn kid_is_only_a_name() {
    for kid in [
        "../../../../dev/null",
        "' UNION SELECT 'x' --",
        "| id",
        "http://evil.example/key",
        "",
        "\\u0000",
        "%00",
        "key\\n",
    ] {
        let header = format!(r#"{{"alg":"HS256","kid":"{kid}"}}"#);
        // The secret decides, whatever the header contains.
        accept(&forge(&header, "{}"));
        for key in ["", "x", "\0"] {
            let message = format!("{}.{}", encode(&header), encode("{}"));
            let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
            let tag = encode(hmac::sign(&key, message.as_bytes()));
            refuse(&format!("{message}.{tag}"), &TokenError::Signature);
        }
    }
    for kid in ["null", "7", "[]", "{}", "true"] {
        let header = format!(r#"{{"alg":"HS256","kid":{kid}}}"#);
        refuse(&forge(header, "{}"), &TokenError::Malformed);
    }
}

#[test]
fn keys_within_the_token() {
    let key = [7; 32];
    for header in [
        format!(r#"{{"alg":"HS256","jwk":{{"kty":"oct","k":"{}"}}}}"#, encode(key)),
        r#"{"alg":"HS256","jku":"https://evil.example/jwks.json"}"#.to_owned(),
        r#"{"alg":"HS256","x5u":"https://evil.example/x.pem","x5c":["MII="]}"#.to_owned(),
    ] {
        let message = format!("{}.{}", encode(header), encode("{}"));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), message.as_bytes());
        refuse(&format!("{message}.{}", encode(tag)), &TokenError::Signature);
    }
}

#[test]
fn malformed_times() {
    for name in ["exp", "iat", "nbf"] {
        for value in [
            "null",
            "true",
            "false",
            "\"1\"",
            "\"9999999999\"",
            "[]",
            "[9999999999]",
            "{}",
            "-1",
            "-0.1",
            "1e400",
            "-1e400",
            "1e300",
            "9007199254740992",
            "18446744073709551616",
            "NaN",
            "Infinity",
            "0x7fffffff",
            "01",
            "1.",
            "+1",
            "99999999999999999999999999999",
        ] {
            let payload = format!(r#"{{"{name}":{value}}}"#);
            refuse(&forge(HEADER, payload), &TokenError::Malformed);
        }
    }
    for exp in ["0", "-0", "0.0", "1", "1.5", "1e3"] {
        refuse(&forge(HEADER, format!(r#"{{"exp":{exp}}}"#)), &TokenError::Expired);
    }
    for exp in ["2e9", "2000000000.5", "9007199254740991", "20.0E+8"] {
        accept(&forge(HEADER, format!(r#"{{"exp":{exp}}}"#)));
    }
}

#[test]
fn duplicate_claims() {
    for payload in [
        r#"{"exp":1,"exp":9999999999}"#,
        r#"{"exp":9999999999,"exp":9999999999}"#,
        r#"{"exp":1,"\u0065xp":9999999999}"#,
        r#"{"role":"user","role":"admin"}"#,
        r#"{"a":{},"b":1,"a":{}}"#,
    ] {
        refuse(&forge(HEADER, payload), &TokenError::Malformed);
    }
}

#[test]
fn payloads_of_the_wrong_shape() {
    for payload in [
        "[]",
        "[{}]",
        r#"[["exp",1]]"#,
        r#""{}""#,
        "null",
        "1",
        "true",
        "",
        " ",
        "{",
        "}",
        "{}{}",
        "{} x",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1,}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\n\"}",
        "{}\0",
        "// x\n{}",
    ] {
        refuse(&forge(HEADER, payload), &TokenError::Malformed);
    }
    for payload in [
        &b"{\"a\":\"\xff\"}"[..],
        b"{\"\xff\":1}",
        b"\xff\xfe{\0}\0",
        b"{\"a\":\"\xed\xa0\x80\"}",
        b"{\"a\":\"\xc0\x80\"}",
        b"\xef\xbb\xbf{}",
    ] {
        refuse(&forge(HEADER, payload), &TokenError::Malformed);
    }
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let nested = format!("{{\"a\":{}1{}}}", open.repeat(127), close.repeat(127));
        refuse(&forge(HEADER, nested), &TokenError::Malformed);
    }
    // Deeply nested text without closing brackets.
    refuse(&forge(HEADER, "[".repeat(10_000)), &TokenError::Malformed);
    accept(&forge(HEADER, "{ \"a\" : \"\\u00e9\\ud83d\\ude00\" }\n"));
}

#[test]
fn other_encodings_of_the_same_token() {
    let token = forge(HEADER, format!(r#"{{"exp":{NOW}}}"#));
    accept(&token);
    for suffix in ["=", "==", "\n", "\r\n", " ", "\0", ".", "..", ".e30", "A", "AA", "%", "\u{a0}"]
    {
        refuse(&format!("{token}{suffix}"), &TokenError::Malformed);
    }
    for prefix in ["\n", " ", ".", "\0", "\u{feff}"] {
        assert!(verify_token(&format!("{prefix}{token}"), &secret()).is_none(), "{prefix:?}");
    }
    let standard = token.replace('-', "+").replace('_', "/");
    if standard != token {
        assert!(verify_token(&standard, &secret()).is_none());
    }
}

#[test]
fn the_last_character_has_one_encoding() {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let token = forge(HEADER, "{}");
    let (rest, last) = token.split_at(token.len() - 1);
    for other in ALPHABET.chars().filter(|other| !last.starts_with(*other)) {
        assert!(verify_token(&format!("{rest}{other}"), &secret()).is_none(), "{other}");
    }
    // The payload `{}` is `e30`; `e31`, `e32`, `e33` differ only in unused
    // bits.
    for payload in ["e31", "e32", "e33", "e30=", "e30 ", "e3", "e"] {
        refuse(&signed(&format!("{}.{payload}", encode(HEADER))), &TokenError::Malformed);
    }
    let header = encode(r#"{"alg":"HS256" }"#);
    accept(&signed(&format!("{header}.e30")));
    for header in [format!("{header}="), format!("{header}=="), format!("{header}\n")] {
        refuse(&signed(&format!("{header}.e30")), &TokenError::Malformed);
    }
}

#[test]
fn fewer_and_more_parts() {
    let token = forge(HEADER, "{}");
    let parts: Vec<&str> = token.split('.').collect();
    let (header, payload, tag) = (parts[0], parts[1], parts[2]);
    for text in [
        String::new(),
        "Bearer ".to_owned(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        header.to_owned(),
        format!("{header}.{payload}"),
        format!("{header}.{payload}."),
        format!("{header}..{tag}.{payload}"),
        format!(".{token}"),
        format!("{token}."),
        format!("{token}.{tag}"),
        format!("{token}.{tag}.{tag}"),
        format!("{header}.{tag}"),
    ] {
        refuse(&text, &TokenError::Malformed);
    }
    refuse(&format!("{header}..{tag}"), &TokenError::Signature);
    refuse(&format!(".{payload}.{tag}"), &TokenError::Signature);
    // A valid signature over an empty part.
    refuse(&signed(&format!("{header}.")), &TokenError::Malformed);
    refuse(&signed(&format!(".{payload}")), &TokenError::Malformed);
    refuse(&signed("."), &TokenError::Malformed);
    // The JSON serialization.
    let json = format!(r#"{{"protected":"{header}","payload":"{payload}","signature":"{tag}"}}"#);
    refuse(&json, &TokenError::Malformed);
}

#[test]
fn every_single_changed_byte() {
    let token = forge(HEADER, r#"{"sub":"7","role":"user"}"#);
    for index in 0..token.len() {
        for bit in [1, 2, 32] {
            let mut bytes = token.clone().into_bytes();
            bytes[index] ^= bit;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            assert!(verify_token(&changed, &secret()).is_none(), "{changed}");
        }
        assert!(verify_token(&token[..index], &secret()).is_none());
    }
}

#[test]
fn a_megabyte() {
    let megabyte = "a".repeat(1_000_000);
    for token in [
        megabyte.clone(),
        format!("Bearer {megabyte}"),
        format!("{megabyte}.{megabyte}.{megabyte}"),
        ".".repeat(1_000_000),
        forge(HEADER, format!(r#"{{"a":"{megabyte}"}}"#)),
        "é".repeat(500_000),
    ] {
        refuse(&token, &TokenError::TooLong);
    }
}

#[test]
fn another_secret() {
    let token = forge(HEADER, "{}");
    for other in [&KEY[1..], &KEY[..KEY.len() - 1], b"x"] {
        assert!(verify_token(&token, &Secret::new(other).unwrap()).is_none());
    }
    // A property of HMAC (RFC 2104): keys are padded with zero bytes to 64.
    let zero = Secret::new([KEY, b"\0"].concat()).unwrap();
    assert!(verify_token(&token, &zero).is_some());
}
