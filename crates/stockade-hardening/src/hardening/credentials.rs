//! Missing and forged credentials.

use std::sync::Arc;

use http::{StatusCode, header};
use stockade_routing::map::{Need, SchemeInfo};

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::runner::{Rule, Runner, Verdict};
use super::tokens::{self, Forged};
use crate::Credentials;
use crate::exchange::Exchange;
use crate::shot::Shot;

const RULE: Rule = Rule {
    family: AttackFamily::Credentials,
    text: "a route that requires a user responds to invalid credentials with 401 and \
           `WWW-Authenticate`, and its handler does not run (RFC 9110, section 15.5.2)",
    mend: "put `with_auth` before everything that responds, and decide only by a verified \
           signature, key or session",
};

const EXPIRY: Rule = Rule {
    family: AttackFamily::Credentials,
    text: "a token is rejected two minutes after it has expired; only the difference of clocks \
           justifies a leeway (RFC 7519, section 4.1.4)",
    mend: "set `TokenVerifier::leeway` to a minute or less",
};

/// Sends requests with missing and with forged credentials.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    for target in targets.iter() {
        match target.route.access.user {
            Need::Required => {}
            Need::Optional => {
                let reason = "no user is required, so the request reaches the handler";
                runner.leave(RULE.family, Some(target), "forged credentials", reason);
                continue;
            }
            _ => continue,
        }
        runner.attack(&RULE, Some(target), "no credentials", target.shot(), is_refused).await;
        for scheme in &target.route.access.schemes {
            for (name, shot) in forged(scheme, target) {
                runner.attack(&RULE, Some(target), name, shot, is_refused).await;
            }
            if let SchemeInfo::Http { scheme, .. } = scheme
                && !scheme.eq_ignore_ascii_case("basic")
            {
                attack_tokens(runner, target, scheme).await;
            }
            if let SchemeInfo::Other { text, .. } = scheme {
                let reason = format!("the scheme is custom: {text}");
                runner.leave(RULE.family, Some(target), "forged credentials", reason);
            }
        }
    }
}

/// Sends forged tokens.
async fn attack_tokens(runner: &mut Runner<'_>, target: &AttackTarget, scheme: &str) {
    let plan = runner.plan();
    let claims = plan.tokens.as_ref().map(|(_, claims)| claims);
    let mut forged = tokens::without_secret(claims, &plan.public_keys);
    if let Some((secret, claims)) = &plan.tokens {
        let now = plan.token_clock.now().unwrap_or_default();
        forged.extend(tokens::with_secret(secret, claims, now));
        attack_expiry(runner, target, scheme).await;
    } else {
        let reason = "the secret is unknown: set it with `Hardening::tokens`";
        runner.leave(RULE.family, Some(target), "tokens with exactly one fault", reason);
    }
    if plan.public_keys.is_empty() {
        let reason = "the public key is unknown: set it with `Hardening::public_key` if one exists";
        runner.leave(
            RULE.family,
            Some(target),
            "a token signed with HS256 and the public key",
            reason,
        );
    }
    for (name, token) in forged {
        let shot = target.shot().add("authorization", format!("{scheme} {token}"));
        runner.attack(&RULE, Some(target), name, shot, is_refused).await;
    }
    let user = runner.user(&target.roles());
    let tampered: Vec<(Forged, String, String)> = user
        .iter()
        .flat_map(tokens_of)
        .flat_map(|(name, scheme, token)| {
            let forged = tokens::tampered(token).into_iter();
            forged.map(move |forged| (forged, name.to_owned(), scheme.to_owned()))
        })
        .collect();
    for ((attack, token), name, scheme) in tampered {
        let value = if scheme.is_empty() { token } else { format!("{scheme} {token}") };
        let shot = target.shot().add(&name, value);
        let attack = format!("{attack}, for a user");
        runner.attack(&RULE, Some(target), attack, shot, is_refused).await;
    }
}

/// Sends a token that expired two minutes ago by the clock of the application.
async fn attack_expiry(runner: &mut Runner<'_>, target: &AttackTarget, scheme: &str) {
    const ATTACK: &str = "a token that expired two minutes ago";
    let plan = runner.plan();
    let Some((secret, claims)) = &plan.tokens else { return };
    let Some(now) = plan.token_clock.now() else { return };
    let shot = |end: u64| {
        let token = tokens::expired(secret, claims, end)?;
        Some(target.shot().add("authorization", format!("{scheme} {token}")))
    };
    let times = (now.saturating_sub(tokens::MONTH), now.saturating_sub(TWO_MINUTES));
    let (Some(old), Some(recent)) = (shot(times.0), shot(times.1)) else { return };
    if runner.is_skipped(EXPIRY.family, Some(target)) {
        return;
    }
    // If the application accepts the older token too, the time is unknown.
    let is_time_known = match runner.send(Some(target), &old).await {
        Ok(exchange) => {
            exchange.status == StatusCode::UNAUTHORIZED
                || exchange.status == StatusCode::TOO_MANY_REQUESTS
        }
        Err(_) => false,
    };
    let validator = |exchange: &Exchange| match is_refused(exchange) {
        Verdict::GotThrough(_) if !is_time_known => Verdict::Unproven(
            "the application accepts a token that expired a month ago: set its clock with \
             `Hardening::token_clock`"
                .into(),
        ),
        verdict => verdict,
    };
    runner.attack(&EXPIRY, Some(target), ATTACK, recent, validator).await;
}

/// Returns the headers that contain a token: the name, the prefix of the token,
/// and the token.
fn tokens_of(user: &Credentials) -> impl Iterator<Item = (&str, &str, &str)> {
    user.headers().iter().filter_map(|(name, value)| {
        let (scheme, token) = tokens::find(value.to_str().ok()?)?;
        Some((name.as_str(), scheme, token))
    })
}

/// Returns requests with malformed credentials for any user.
fn forged(scheme: &SchemeInfo, target: &AttackTarget) -> Vec<(String, Shot)> {
    match scheme {
        SchemeInfo::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => {
            let values = [
                ("a wrong password", format!("{scheme} YWRtaW46eA==")),
                ("credentials without a colon", format!("{scheme} YWRtaW4=")),
                ("an empty name and password", format!("{scheme} Og==")),
                ("credentials that are not UTF-8", format!("{scheme} /zr/")),
                ("credentials that are not base64", format!("{scheme} !!!!")),
            ];
            in_header("authorization", scheme, target).chain(with(target, values)).collect()
        }
        SchemeInfo::Http { scheme, .. } => {
            let values = [
                ("a text that is not a token", format!("{scheme} x")),
                ("a token of empty parts", format!("{scheme} ..")),
                ("the token `null`", format!("{scheme} null")),
                ("the token `undefined`", format!("{scheme} undefined")),
            ];
            in_header("authorization", scheme, target).chain(with(target, values)).collect()
        }
        SchemeInfo::Header { header, .. } => in_header(header, "", target).collect(),
        SchemeInfo::Cookie { cookie, .. } => {
            let values = [
                ("an empty cookie", format!("{cookie}=")),
                ("an unknown cookie", format!("{cookie}=x")),
                ("the cookie `null`", format!("{cookie}=null")),
                ("a cookie of 3 KiB", format!("{cookie}={}", "a".repeat(3 * 1024))),
                ("a duplicate cookie", format!("{cookie}=x; {cookie}=y")),
                ("a cookie with a path in it", format!("{cookie}=../../etc/passwd")),
                ("a cookie with a quote in it", format!("{cookie}=' OR '1'='1")),
            ];
            let shots = values.into_iter();
            shots
                .map(|(name, value)| (name.to_owned(), target.shot().add("cookie", value)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a request for each of these `Authorization` values.
fn with<const N: usize>(
    target: &AttackTarget,
    values: [(&'static str, String); N],
) -> impl Iterator<Item = (String, Shot)> {
    values.into_iter().map(|(name, value)| {
        (name.to_owned(), target.shot().add(header::AUTHORIZATION.as_str(), value))
    })
}

/// Returns requests with a malformed credentials header.
fn in_header(
    name: &str,
    scheme: &str,
    target: &AttackTarget,
) -> impl Iterator<Item = (String, Shot)> + use<> {
    let value = |value: &str| format!("{scheme} {value}").trim_start().to_owned();
    let one = |shot: Shot, text: &str| shot.add(name, value(text));
    [
        ("an empty header", target.shot().add(name, scheme)),
        ("malformed credentials", one(target.shot(), "\"!\" \\")),
        ("credentials of 17 KiB", one(target.shot(), &"a".repeat(17 * 1024))),
        ("duplicate credentials", one(one(target.shot(), "x"), "y")),
        ("credentials with a quote in them", one(target.shot(), "' OR '1'='1")),
        ("credentials of another scheme", target.shot().add(name, "Negotiate x")),
    ]
    .map(|(name, shot)| (name.to_owned(), shot))
    .into_iter()
}

/// Validates the response to an unauthenticated request.
pub(super) fn is_refused(exchange: &Exchange) -> Verdict {
    let has_challenge = exchange.headers.contains_key(header::WWW_AUTHENTICATE);
    match exchange.status {
        StatusCode::UNAUTHORIZED if has_challenge => Verdict::Refused,
        StatusCode::UNAUTHORIZED => Verdict::GotThrough("a 401 without `WWW-Authenticate`".into()),
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

/// Two minutes, in seconds.
const TWO_MINUTES: u64 = 120;
