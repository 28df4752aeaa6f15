//! Missing and malformed idempotency keys.

use std::sync::Arc;

use http::StatusCode;

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;
use crate::idempotency_key::IDEMPOTENCY_KEY;
use crate::shot::Shot;

const KEYS: Rule = Rule {
    family: AttackFamily::IdempotencyKeys,
    text: "a request with a malformed or missing required `Idempotency-Key` gets a 400 and does \
           not reach the handler (draft-ietf-httpapi-idempotency-key-header-07, sections 2.1 \
           and 2.7)",
    mend: "put only guards before `with_idempotency`: other middleware must not respond or \
           change the header",
};

/// Sends malformed keys to each route with idempotency keys.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    for target in targets.iter() {
        let Some(keys) = &target.route.idempotency else { continue };
        let shot = runner.shot_let_through(KEYS.family, target, "all keys");
        let Some(shot) = shot.map(|shot| shot.new_key(false)) else { continue };
        if keys.required {
            send(runner, target, "no key", shot.clone()).await;
        }
        let unquoted = if keys.unquoted_keys { &MALFORMED_UNQUOTED[..] } else { &UNQUOTED };
        for &(attack, key) in MALFORMED.iter().chain(unquoted) {
            send(runner, target, attack, shot.clone().add(IDEMPOTENCY_KEY, key)).await;
        }
        let long = [b"\"".as_slice(), &[b'k'; 256], b"\""].concat();
        let long = shot.clone().add(IDEMPOTENCY_KEY, long);
        send(runner, target, "a key of 256 characters", long).await;
        let twice = shot.add(IDEMPOTENCY_KEY, "\"a\"").add(IDEMPOTENCY_KEY, "\"b\"");
        send(runner, target, "two keys", twice).await;
    }
}

async fn send(runner: &mut Runner<'_>, target: &AttackTarget, attack: &'static str, shot: Shot) {
    runner.attack(&KEYS, Some(target), attack, shot, is_refused).await;
}

fn is_refused(exchange: &Exchange) -> Verdict {
    match exchange.status {
        StatusCode::BAD_REQUEST => Verdict::Refused,
        status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => Verdict::Unproven(format!(
            "the response was {} before the key was checked",
            status.as_u16()
        )),
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

/// Keys that only `Idempotency::unquoted_keys` accepts.
const UNQUOTED: [(&str, &[u8]); 2] =
    [("a key without quotes", b"k-1"), ("a key in single quotes", b"'k-1'")];

/// Unquoted keys that are malformed even with `Idempotency::unquoted_keys`.
const MALFORMED_UNQUOTED: [(&str, &[u8]); 3] = [
    ("two keys without quotes in a header", b"k-1, k-2"),
    ("a key with a parameter, without quotes", b"k-1;a=1"),
    ("a key that contains a quote", b"k\"1"),
];

/// Values that are empty, or that are not a single structured field string
/// without parameters.
///
/// Source: RFC 9651, section 4.2.5.
const MALFORMED: [(&str, &[u8]); 8] = [
    ("an empty header", b""),
    ("an empty key", b"\"\""),
    ("a key without the closing quote", b"\"k-1"),
    ("a key with a parameter", b"\"k-1\";a=1"),
    ("two keys in a header", b"\"k-1\", \"k-2\""),
    ("a key that is not ASCII", b"\"k\xE4\""),
    ("a key with a tab", b"\"k\t1\""),
    ("a key with a lone backslash", b"\"k\\1\""),
];
