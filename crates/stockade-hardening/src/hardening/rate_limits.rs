//! Requests above a rate limit, and headers that forge the client address.

use std::sync::Arc;

use http::{Method, StatusCode, header};
use stockade_routing::map::QuotaInfo;

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::detours::{NOWHERE, reaches_fallback};
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;
use crate::shot::Shot;

const QUOTA: Rule = Rule {
    family: AttackFamily::RateLimits,
    text: "the first request above a quota gets a 429 with `Retry-After` (RFC 6585, section 4)",
    mend: "put the limit before the code that it protects, and use the address or the user as \
           its key",
};

const KEY: Rule = Rule {
    family: AttackFamily::RateLimits,
    text: "no header gives a client a new budget, unless a trusted proxy wrote it",
    mend: "use `Request::client_ip` as the key, and set the number of proxies with `trust_proxy`",
};

/// Sends more requests than the limits allow.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    let router = runner.router().rate_limit.clone();
    if let Some(quota) = &router {
        let nowhere = Shot::new(Method::GET, NOWHERE);
        let open = targets.iter().filter(|target| !target.route.limits.rate_exempt);
        match reaches_fallback(runner, &nowhere) {
            false => flood(runner, None, quota, nowhere).await,
            true => match open.filter_map(AttackTarget::refused).next() {
                Some(shot) => flood(runner, None, quota, shot).await,
                None => runner.leave(QUOTA.family, None, attack_of(quota), REACHES_HANDLER),
            },
        }
    }
    let mut names: Vec<&str> = router.iter().map(|quota| quota.name.as_str()).collect();
    for target in targets.iter() {
        for quota in &target.route.limits.rate {
            if names.contains(&quota.name.as_str()) {
                continue;
            }
            names.push(&quota.name);
            attack_route(runner, target, quota).await;
        }
    }
}

/// Floods a route that has its own limit.
async fn attack_route(runner: &mut Runner<'_>, target: &AttackTarget, quota: &QuotaInfo) {
    let place =
        |name: &str| target.route.middleware.iter().position(|middleware| middleware.name == name);
    let is_behind = place("with_auth").zip(place("with_rate_limit"));
    if target.needs_user() && is_behind.is_some_and(|(user, limit)| user < limit) {
        let reason =
            "authentication runs before it, so it counts only requests that reach the handler";
        return runner.leave(QUOTA.family, Some(target), attack_of(quota), reason);
    }
    let shot = target.refused().or_else(|| target.read().filter(|_| runner.plan().reads));
    match shot {
        Some(shot) => flood(runner, Some(target), quota, shot).await,
        None => runner.leave(QUOTA.family, Some(target), attack_of(quota), REACHES_HANDLER),
    }
}

/// Sends one request more than the quota allows, then more with headers that
/// claim another address.
async fn flood(
    runner: &mut Runner<'_>,
    target: Option<&AttackTarget>,
    quota: &QuotaInfo,
    shot: Shot,
) {
    if runner.is_skipped(QUOTA.family, target) {
        return;
    }
    let attack = attack_of(quota);
    if runner.clock.is_none() {
        let reason =
            "its clock cannot be stopped: pass the router to `Hardening::new` instead of an app";
        return runner.leave(QUOTA.family, target, attack, reason);
    }
    let Some(limit) = quota.limit.filter(|limit| *limit <= MAX_REQUESTS) else {
        let reason = match quota.limit {
            Some(limit) => format!("{limit} requests are too many to send"),
            None => "the number of requests depends on the request".to_owned(),
        };
        return runner.leave(QUOTA.family, target, attack, reason);
    };
    let shot = shot.peer(runner.new_peer());
    for _ in 0..limit {
        if let Err(reason) = runner.send(target, &shot).await {
            return runner.leave(QUOTA.family, target, attack, reason);
        }
    }
    let exchange = match runner.send(target, &shot).await {
        Ok(exchange) => exchange,
        Err(reason) => return runner.leave(QUOTA.family, target, attack, reason),
    };
    let verdict = is_limited(&exchange, limit);
    let holds = matches!(verdict, Verdict::Refused);
    runner.note(&QUOTA, target, attack, Some(&exchange), verdict);
    if holds {
        claim_addresses(runner, target, quota, &shot).await;
    }
}

/// Claims other addresses after the quota is spent.
async fn claim_addresses(
    runner: &mut Runner<'_>,
    target: Option<&AttackTarget>,
    quota: &QuotaInfo,
    shot: &Shot,
) {
    let trusted = &runner.router().trust_proxy;
    if trusted.iter().any(|proxy| proxy.parse::<u64>().is_ok()) {
        let reason = "the router trusts proxies, so each client can claim an address";
        let attack = format!("forged addresses against the rate limit {}", quota.name);
        return runner.leave(KEY.family, target, attack, reason);
    }
    for (name, value) in CLAIMED_ADDRESSES {
        let attack = format!("the header `{name}: {value}` above the quota {}", quota.name);
        let shot = shot.clone().set(name, value);
        let exchange = match runner.send(target, &shot).await {
            Ok(exchange) => exchange,
            Err(reason) => {
                runner.leave(KEY.family, target, attack, reason);
                continue;
            }
        };
        let verdict = match exchange.status {
            StatusCode::TOO_MANY_REQUESTS => Verdict::Refused,
            status => Verdict::GotThrough(format!("the response is {status}")),
        };
        runner.note(&KEY, target, attack, Some(&exchange), verdict);
    }
}

fn is_limited(exchange: &Exchange, limit: u64) -> Verdict {
    let wait = exchange.headers.get(header::RETRY_AFTER);
    let wait = wait.and_then(|wait| wait.to_str().ok()?.parse::<u64>().ok());
    match (exchange.status, wait) {
        (StatusCode::TOO_MANY_REQUESTS, Some(_)) => Verdict::Refused,
        (StatusCode::TOO_MANY_REQUESTS, None) => {
            Verdict::GotThrough("a 429 without `Retry-After` in seconds".into())
        }
        (status, _) => {
            Verdict::GotThrough(format!("the response to request {} is {status}", limit + 1))
        }
    }
}

fn attack_of(quota: &QuotaInfo) -> String {
    format!("more requests than the rate limit {} allows", quota.name)
}

const CLAIMED_ADDRESSES: [(&str, &str); 7] = [
    ("x-forwarded-for", "203.0.113.77"),
    ("forwarded", "for=203.0.113.78"),
    ("x-real-ip", "203.0.113.79"),
    ("x-client-ip", "203.0.113.80"),
    ("true-client-ip", "203.0.113.81"),
    ("cf-connecting-ip", "203.0.113.82"),
    ("x-request-id", "another-client"),
];

const REACHES_HANDLER: &str =
    "each request reaches the handler: use `Hardening::allow_reads` to send GET requests";

/// The largest quota that is attacked.
const MAX_REQUESTS: u64 = 10_000;
