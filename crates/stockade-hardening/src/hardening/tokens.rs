//! Forged tokens.

use std::time::Duration;

use serde_json::{Value, json};
use stockade_auth::{Secret, TokenIssuer, UnixClock};

/// The name of a forged token, and the token.
pub(super) type Forged = (String, String);

/// Returns tokens that an attacker can forge without the secret.
pub(super) fn without_secret(claims: Option<&Value>, public_keys: &[String]) -> Vec<Forged> {
    let usual = json!({ "sub": "1", "id": 1, "role": "admin", "roles": ["admin"] });
    let claims = claims.unwrap_or(&usual);
    let mut forged = Vec::new();
    let Some(other) = signed(OTHER_SECRET, claims, NOW) else { return forged };
    let (head, payload, signature) = parts(&other);
    for (name, header) in UNSIGNED {
        forged.push((format!("a token with alg: {name}"), format!("{header}.{payload}.")));
        let kept = format!("{header}.{payload}.{signature}");
        forged.push((format!("a token with alg: {name} and a signature"), kept));
    }
    forged.push(("a token without a signature".into(), format!("{head}.{payload}.")));
    forged.push(("a token of two parts".into(), format!("{head}.{payload}")));
    for key in public_keys {
        for key in [key.as_str(), key.trim()] {
            if let Some(token) = signed(key, claims, NOW) {
                forged.push(("a token signed with HS256 and the public key".into(), token));
            }
        }
    }
    forged.push(("a token signed with another secret".into(), other));
    forged
}

/// Returns tokens with a valid signature and a single defect. `now` is the time
/// of the application.
pub(super) fn with_secret(secret: &Secret, claims: &Value, now: u64) -> Vec<Forged> {
    let mut forged = Vec::new();
    if let Some(token) = expired(secret, claims, PAST.min(now.saturating_sub(MONTH))) {
        forged.push(("an expired token".into(), token));
    }
    let mut early = claims.clone();
    early["nbf"] = FUTURE.into();
    if let Some(token) = issued(secret, &early, NOW, CENTURY) {
        forged.push(("a token that is not valid yet".into(), token));
    }
    if let Some(token) = issued(secret, claims, NOW, CENTURY) {
        forged.extend(tampered(&token));
    }
    forged
}

/// Returns modifications of a valid token that need no secret.
pub(super) fn tampered(token: &str) -> Vec<Forged> {
    let (head, payload, signature) = parts(token);
    let mut forged: Vec<Forged> = UNSIGNED
        .iter()
        .map(|(name, header)| {
            (format!("a valid token changed to alg: {name}"), format!("{header}.{payload}."))
        })
        .collect();
    let shorter = signature.get(..signature.len().saturating_sub(4)).unwrap_or_default();
    forged
        .push(("a token with a truncated signature".into(), format!("{head}.{payload}.{shorter}")));
    forged.push(("a valid token without its signature".into(), format!("{head}.{payload}.")));
    let first = if signature.starts_with('A') { "B" } else { "A" };
    let rest = signature.get(1..).unwrap_or_default();
    let changed = format!("{head}.{payload}.{first}{rest}");
    forged.push(("a token with a changed signature".into(), changed));
    let claims = json!({ "sub": "1", "id": 1, "role": "admin", "roles": ["admin"] });
    if let Some(other) = signed(OTHER_SECRET, &claims, NOW) {
        let (_, other, _) = parts(&other);
        let changed = format!("{head}.{other}.{signature}");
        forged.push(("a token with changed claims".into(), changed));
    }
    forged
}

/// Splits a header value that contains a token into the prefix and the token.
pub(super) fn find(value: &str) -> Option<(&str, &str)> {
    let (scheme, token) = value.split_once(' ').unwrap_or(("", value));
    let is_token = token.matches('.').count() == 2 && token.starts_with("eyJ");
    is_token.then_some((scheme, token))
}

/// Creates a token that is valid for a century.
fn signed(secret: &str, claims: &Value, now: u64) -> Option<String> {
    issued(&Secret::new(secret).ok()?, claims, now, CENTURY)
}

/// Creates a token with a life of an hour that ended at this time.
pub(super) fn expired(secret: &Secret, claims: &Value, end: u64) -> Option<String> {
    let life = 3_600;
    issued(secret, claims, end.saturating_sub(life), Duration::from_secs(life))
}

fn issued(secret: &Secret, claims: &Value, now: u64, life: Duration) -> Option<String> {
    TokenIssuer::new().clock(UnixClock::at(now)).issue(claims, life, secret).ok()
}

/// Splits a token into header, payload and signature.
fn parts(token: &str) -> (&str, &str, &str) {
    let (head, rest) = token.split_once('.').unwrap_or((token, ""));
    let (payload, signature) = rest.split_once('.').unwrap_or((rest, ""));
    (head, payload, signature)
}

/// The headers `{"alg":"none","typ":"JWT"}` in base64url, with three spellings
/// of `none` and one without `alg`.
const UNSIGNED: [(&str, &str); 4] = [
    ("none", "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"),
    ("None", "eyJhbGciOiJOb25lIiwidHlwIjoiSldUIn0"),
    ("NONE", "eyJhbGciOiJOT05FIiwidHlwIjoiSldUIn0"),
    ("(absent)", "eyJ0eXAiOiJKV1QifQ"),
];

const OTHER_SECRET: &str = "another secret of thirty-two bytes";

/// A month, in seconds.
pub(super) const MONTH: u64 = 2_592_000;

/// 2001-09-09, before any application runs.
const PAST: u64 = 1_000_000_000;

/// 2020-09-13, the issue time of tokens that are valid for a century.
const NOW: u64 = 1_600_000_000;

/// 2100-01-01.
const FUTURE: u64 = 4_102_444_800;

const CENTURY: Duration = Duration::from_secs(3_155_760_000);
