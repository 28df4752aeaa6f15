//! [`unknown`]: finds keys with an unknown type, curve or algorithm, and warns
//! about them.

use std::collections::HashSet;

use ring::digest;
use serde_json::Value;

use crate::LOG_TARGET;
use crate::token::TokenAlgorithm;

/// The member of a key that has an unknown value.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Unknown<'k> {
    kid: Option<&'k str>,
    member: &'static str,
    value: &'k str,
}

/// Returns the first member of a key that has an unknown value. Returns `None`
/// for keys that are not for signatures, and for values that are not text.
pub(super) fn unknown(jwk: &Value) -> Option<Unknown<'_>> {
    let text = |member: &str| jwk.get(member).and_then(Value::as_str);
    if text("use").is_some_and(|usage| usage != "sig") {
        return None;
    }
    let found = |member| {
        let value = text(member)?;
        Some(Unknown { kid: text("kid"), member, value })
    };
    let curves = match text("kty")? {
        "RSA" | "oct" => None,
        "EC" => Some(["P-256", "P-384"].as_slice()),
        "OKP" => Some(["Ed25519"].as_slice()),
        _ => return found("kty"),
    };
    if curves.is_some_and(|known| text("crv").is_some_and(|curve| !known.contains(&curve))) {
        return found("crv");
    }
    let alg = text("alg")?;
    let is_known = TokenAlgorithm::asymmetric(alg).is_some() || SYMMETRIC.contains(&alg);
    if is_known { None } else { found("alg") }
}

/// The keys that were already logged.
#[derive(Debug, Default)]
pub(super) struct Warned(HashSet<[u8; 32]>);

impl Warned {
    /// Logs a warning, once for each `kid` and value.
    pub(super) fn warn(&mut self, index: usize, unknown: &Unknown<'_>) {
        let Unknown { kid, member, value } = *unknown;
        // The documents choose the names, so only hashes are stored.
        let name = format!("{kid:?} {member} {value:?}");
        let name = digest::digest(&digest::SHA256, name.as_bytes());
        let Ok(name) = name.as_ref().try_into() else { return };
        if self.0.len() >= MAX_WARNED {
            self.0.clear();
        }
        if !self.0.insert(name) {
            return;
        }
        let kid = kid.map_or_else(|| format!("number {index}"), |kid| format!("{:?}", start(kid)));
        log::warn!(
            target: LOG_TARGET,
            "key {kid} of a JWK set is skipped: `{member}` is {:?}, which is not supported; \
             tokens of this key are rejected",
            start(value),
        );
    }
}

/// Returns the first characters of a text from another server.
fn start(text: &str) -> &str {
    text.char_indices().nth(MAX_LOGGED).map_or(text, |(end, _)| &text[..end])
}

/// Symmetric algorithms, which do not belong in a set of public keys. Their
/// keys are skipped like other secrets.
const SYMMETRIC: [&str; 3] = ["HS256", "HS384", "HS512"];
/// The maximum number of keys in memory. Beyond it, warnings may repeat.
const MAX_WARNED: usize = 1_024;
/// The maximum number of logged characters of a name.
const MAX_LOGGED: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_unknown_values_by_member() {
        #[track_caller]
        fn check(jwk: &Value, expected: Option<(&str, &str)>) {
            let found = unknown(jwk).map(|found| (found.member, found.value));
            assert_eq!(found, expected, "{jwk}");
        }
        check(&json!({ "kty": "AKP", "alg": "ML-DSA-44" }), Some(("kty", "AKP")));
        check(&json!({ "kty": "EC", "crv": "P-521" }), Some(("crv", "P-521")));
        check(
            &json!({ "kty": "EC", "crv": "secp256k1", "alg": "ES256K" }),
            Some(("crv", "secp256k1")),
        );
        check(&json!({ "kty": "OKP", "crv": "Ed448", "use": "sig" }), Some(("crv", "Ed448")));
        check(&json!({ "kty": "RSA", "alg": "RS1" }), Some(("alg", "RS1")));
        check(&json!({ "kty": "OKP", "crv": "Ed25519", "alg": "Ed25519" }), None);
        check(&json!({ "kty": "RSA", "alg": "RSA-OAEP", "use": "enc" }), None);
        check(&json!({ "kty": "oct", "alg": "HS256" }), None);
        check(&json!({ "kty": "EC", "crv": 7 }), None);
        check(&json!({ "kty": 7 }), None);
        check(&json!(["kty"]), None);
        check(&json!("kty"), None);
    }

    #[test]
    fn remembered_keys_are_bounded() {
        let mut warned = Warned::default();
        for number in 0..3_000 {
            let kid = number.to_string();
            warned.warn(0, &Unknown { kid: Some(&kid), member: "alg", value: "x" });
            assert!(warned.0.len() <= MAX_WARNED);
        }
        assert_eq!(start(&"ä".repeat(100)).chars().count(), MAX_LOGGED);
    }
}
