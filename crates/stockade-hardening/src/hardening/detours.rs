//! Bypass attempts: other methods, other spellings of a path, and headers that
//! override the method or the path.

use std::sync::Arc;

use http::{Method, StatusCode, header};
use stockade_routing::map::{Need, RouteKind};

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::credentials::is_refused;
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;
use crate::shot::Shot;

const METHODS: Rule = Rule {
    family: AttackFamily::Detours,
    text: "an unsupported method gets a 405 with `Allow`, or the response for an unknown path \
           (RFC 9110, section 15.5.6)",
    mend: "let the router respond to other methods, and remove the layer that responds before it",
};

const PATHS: Rule = Rule {
    family: AttackFamily::Detours,
    text: "no other notation of a path reaches a route that rejects the plain notation (OWASP \
           API8)",
    mend: "do not change paths before the router, and do not decide by the text of a path: put \
           `with_auth` on the route",
};

const CLAIMS: Rule = Rule {
    family: AttackFamily::Detours,
    text: "no header or member of the query changes the method, the path or the user of a request",
    mend: "remove the layer that trusts the header, or let only a trusted proxy set it",
};

/// Tries to bypass the access rules of each route.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    let mut paths: Vec<&str> = Vec::new();
    for target in targets.iter() {
        // Routes with the same path lack the same methods.
        if !paths.contains(&target.path.as_str()) {
            paths.push(&target.path);
            attack_methods(runner, target).await;
        }
        if target.needs_user() {
            attack_paths(runner, target).await;
            attack_claims(runner, target).await;
        }
    }
}

async fn attack_methods(runner: &mut Runner<'_>, target: &AttackTarget) {
    for name in METHOD_NAMES {
        let Ok(method) = Method::from_bytes(name.as_bytes()) else { continue };
        let shot = Shot::new(method, target.path.as_str());
        let attack = format!("the method {name}");
        if let Some(route) = runner.target_of(&shot) {
            // A WebSocket request is not a handshake here, which the server
            // rejects first.
            let is_http = route.kind == RouteKind::Http;
            if is_http && route.access.user == Need::Required && name == "HEAD" {
                runner.attack(&PATHS, Some(target), attack, shot, is_refused).await;
            }
            continue;
        }
        if reaches_fallback(runner, &shot) {
            runner.leave(METHODS.family, Some(target), attack, FALLBACK);
            continue;
        }
        runner.attack(&METHODS, Some(target), attack, shot, is_no_method).await;
    }
}

async fn attack_paths(runner: &mut Runner<'_>, target: &AttackTarget) {
    for (attack, path) in notations(&target.path) {
        let mut shot = target.shot().target(path);
        if let Some((_, query)) = target.shot().target.split_once('?') {
            shot.target = format!("{}?{query}", shot.target);
        }
        // A request that reaches another, open route is not an attack.
        match runner.target_of(&shot).map(|route| route.access.user) {
            Some(Need::Required) => {
                runner.attack(&PATHS, Some(target), attack, shot, is_refused).await;
            }
            Some(_) => {}
            None if reaches_fallback(runner, &shot) => {
                runner.leave(PATHS.family, Some(target), attack, FALLBACK);
            }
            None => runner.attack(&PATHS, Some(target), attack, shot, is_nothing).await,
        }
    }
}

/// Returns other spellings of a path.
fn notations(path: &str) -> Vec<(&'static str, String)> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let joined = |separator: &str| format!("/{}", segments.join(separator));
    let swapped = |c: char| match c {
        c if c.is_ascii_lowercase() => c.to_ascii_uppercase(),
        c => c.to_ascii_lowercase(),
    };
    // The letters of a percent-encoded byte must not change.
    let case: String = match path.contains('%') {
        true => path.to_owned(),
        false => path.chars().map(swapped).collect(),
    };
    let rest = path.strip_prefix('/').unwrap_or(path);
    let first = rest.bytes().next().filter(u8::is_ascii_alphanumeric);
    let escaped = |prefix: &str| {
        first.map(|first| format!("/{prefix}{first:02x}{}", rest.get(1..).unwrap_or_default()))
    };
    let escapes = [
        ("an escaped letter (`%61`)", escaped("%")),
        ("a letter escaped twice (`%2561`)", escaped("%25")),
    ];
    let all = [
        ("two slashes at the start (`//x`)", format!("/{path}")),
        ("two slashes within (`/x//y`)", joined("//")),
        ("a slash at the end", format!("{path}/")),
        ("a dot segment (`/./x`)", format!("/.{path}")),
        ("a dot segment at the end (`/x/.`)", format!("{path}/.")),
        ("a parent segment (`/x/../y`)", format!("/x/..{path}")),
        ("an escaped dot (`/%2e/x`)", format!("/%2e{path}")),
        ("an escaped parent segment (`/x/%2e%2e/y`)", format!("/x/%2e%2e{path}")),
        ("escaped slashes (`/x%2fy`)", joined("%2f")),
        ("an escaped slash at the end (`/x%2f`)", format!("{path}%2f")),
        ("a parameter of a segment (`/x;y`)", format!("{path};x")),
        ("a parameter of the first segment (`/;y/x`)", format!("/;x{path}")),
        ("a backslash (`/\\x`)", format!("/\\{rest}")),
        ("different letter case", case),
        ("an escaped space at the end (`/x%20`)", format!("{path}%20")),
        ("an escaped NUL at the end (`/x%00`)", format!("{path}%00")),
        ("an extension (`/x.json`)", format!("{path}.json")),
        ("an absolute target", format!("http://localhost{path}")),
        ("an absolute target with another host", format!("http://evil.test{path}")),
    ];
    let escapes = escapes.into_iter().filter_map(|(name, path)| Some((name, path?)));
    all.into_iter().filter(|(_, other)| other != path).chain(escapes).collect()
}

async fn attack_claims(runner: &mut Runner<'_>, target: &AttackTarget) {
    for (name, value) in CLAIMED_ORIGINS {
        let attack = format!("the header `{name}: {value}`");
        let shot = target.shot().add(name, value);
        runner.attack(&CLAIMS, Some(target), attack, shot, is_refused).await;
    }
    for name in ["x-original-url", "x-rewrite-url"] {
        let shot = Shot::new(target.shot().method, NOWHERE).add(name, &target.path);
        if runner.target_of(&shot).is_none() && !reaches_fallback(runner, &shot) {
            let attack = format!("the header `{name}` with the path of the route");
            runner.attack(&CLAIMS, Some(target), attack, shot, is_nothing).await;
        }
    }
    for method in [Method::GET, Method::POST, Method::HEAD] {
        attack_overrides(runner, target, method).await;
    }
}

/// Sends requests that claim the route's method. Their actual method does not
/// exist on the path or also requires a user.
async fn attack_overrides(runner: &mut Runner<'_>, target: &AttackTarget, method: Method) {
    let plain = Shot::new(method.clone(), target.path.as_str());
    let needs_user = runner.target_of(&plain).map(|route| route.access.user == Need::Required);
    if needs_user == Some(false) || reaches_fallback(runner, &plain) {
        return;
    }
    let own = target.shot().method;
    let claimed = if own == method { Method::DELETE } else { own };
    let Ok(expected) = runner.send(Some(target), &plain).await else { return };
    let headers = ["x-http-method-override", "x-http-method", "x-method-override"];
    let by_header = headers.iter().map(|name| {
        let shot = plain.clone().add(name, claimed.as_str());
        (format!("{method} with `{name}: {claimed}`"), shot)
    });
    let target_of_query = format!("{}?_method={claimed}", target.path);
    let by_query = plain.clone().target(target_of_query);
    let by_query = (format!("{method} with `_method={claimed}` in the query"), by_query);
    for (attack, shot) in by_header.chain([by_query]).collect::<Vec<_>>() {
        let validator = |exchange: &Exchange| match exchange.status {
            status if status == expected.status => Verdict::Refused,
            status => Verdict::GotThrough(format!(
                "the response is {status}, but {} without the claim",
                expected.status
            )),
        };
        runner.attack(&CLAIMS, Some(target), attack, shot, validator).await;
    }
}

/// Returns true if a request reaches the fallback.
pub(super) fn reaches_fallback(runner: &Runner<'_>, shot: &Shot) -> bool {
    // The router itself responds to methods that a path lacks, if it responds
    // to them at all.
    runner.router().has_fallback && runner.fallback_takes(shot)
}

/// Validates the response to a method that the path lacks.
fn is_no_method(exchange: &Exchange) -> Verdict {
    let has_allow = exchange.headers.contains_key(header::ALLOW);
    let is_options = exchange.asked.method == Method::OPTIONS;
    match exchange.status {
        StatusCode::METHOD_NOT_ALLOWED if has_allow => Verdict::Refused,
        StatusCode::METHOD_NOT_ALLOWED => Verdict::GotThrough("a 405 without `Allow`".into()),
        status if status.is_client_error() => Verdict::Refused,
        status if is_options && status.is_success() && exchange.body.is_empty() => Verdict::Refused,
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

/// Validates the response to a path without a route.
fn is_nothing(exchange: &Exchange) -> Verdict {
    match exchange.status {
        status if status.is_client_error() || status.is_redirection() => Verdict::Refused,
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

const METHOD_NAMES: [&str; 11] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "XYZZY",
];

const CLAIMED_ORIGINS: [(&str, &str); 3] = [
    ("x-forwarded-for", "127.0.0.1"),
    ("x-real-ip", "127.0.0.1"),
    ("x-forwarded-host", "localhost"),
];

/// A path that no application uses.
pub(super) const NOWHERE: &str = "/-/stockade-hardening/nowhere";

const FALLBACK: &str = "the fallback of the router handles it";
