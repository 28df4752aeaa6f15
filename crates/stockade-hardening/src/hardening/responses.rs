//! The responses to all attacks, and line breaks in values.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;
use stockade_routing::map::{BodyDoc, StatusDoc};

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::detours::reaches_fallback;
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;

const SECURITY_HEADERS: Rule = Rule {
    family: AttackFamily::Responses,
    text: "each response has the security headers of the router (OWASP API8)",
    mend: "remove the code that deletes them from a response, and set another value instead",
};

const SILENCE: Rule = Rule {
    family: AttackFamily::Responses,
    text: "no response names the program or its version",
    mend: "remove the code that writes the header",
};

const GENERIC: Rule = Rule {
    family: AttackFamily::Responses,
    text: "the body of a 5xx does not reveal its cause",
    mend: "return an error that becomes an `ApiError`, and do not set `expose_errors`",
};

const LINES: Rule = Rule {
    family: AttackFamily::Responses,
    text: "line breaks in a value do not start a new line in the head of a response, and do not \
           cause a 5xx",
    mend: "check values and create headers with `HeaderValue`, and do not split text",
};

/// Sends line breaks in values, and safe requests if they are allowed.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    if runner.router().exposes_errors {
        let found = "`expose_errors` is on".to_owned();
        let verdict = Verdict::GotThrough(found);
        runner.note(&GENERIC, None, "the messages of 5xx errors", None, verdict);
    }
    if runner.router().security_headers.is_empty() {
        let reason = "they are disabled (`enable_security_headers`)";
        runner.leave(SECURITY_HEADERS.family, None, "security headers", reason);
    }
    let targets = Arc::clone(&runner.targets);
    for target in targets.iter() {
        attack_path(runner, target).await;
        attack_query(runner, target).await;
    }
}

async fn attack_query(runner: &mut Runner<'_>, target: &AttackTarget) {
    let reads = runner.plan().reads;
    let Some(shot) = target.refused().or_else(|| target.read().filter(|_| reads)) else {
        let reason =
            "each request reaches the handler: use `Hardening::allow_reads` to send GET requests";
        return runner.leave(LINES.family, Some(target), "line breaks in the query", reason);
    };
    let separator = if shot.target.contains('?') { '&' } else { '?' };
    let names = target.route.query.as_ref().and_then(|query| query.get("properties"));
    let names = names.and_then(Value::as_object).into_iter().flat_map(|all| all.keys());
    let names = names.map(String::as_str).chain(["url", "next"]);
    let pairs: Vec<String> = names.map(|name| format!("{name}={INJECTED}")).collect();
    let query = format!("{}{separator}{}", shot.target, pairs.join("&"));
    let shot = shot.target(query).add("referer", "http://localhost/%0d%0aX-Injected:1");
    runner.attack(&LINES, Some(target), "line breaks in the query", shot, is_one_head).await;
}

async fn attack_path(runner: &mut Runner<'_>, target: &AttackTarget) {
    let shot = target.shot();
    let shot = shot.target(format!("{}{INJECTED}", target.path));
    let is_taken = runner.target_of(&shot).is_some() && !target.needs_user();
    if is_taken || reaches_fallback(runner, &shot) {
        let reason = "the request reaches a handler";
        return runner.leave(LINES.family, Some(target), "line breaks in the path", reason);
    }
    runner.attack(&LINES, Some(target), "line breaks in the path", shot, is_one_head).await;
}

/// Validates a response to a value with line breaks. All responses are searched
/// for the injected header.
fn is_one_head(exchange: &Exchange) -> Verdict {
    match exchange.status {
        status if status.is_server_error() => {
            Verdict::GotThrough(format!("the response is {status}"))
        }
        _ => Verdict::Refused,
    }
}

/// Validates a response against the rules for all responses.
pub(super) fn validate(
    runner: &mut Runner<'_>,
    target: Option<&AttackTarget>,
    exchange: &Exchange,
) {
    if !runner.plan().attacks(AttackFamily::Responses)
        || runner.is_skipped(AttackFamily::Responses, target)
    {
        return;
    }
    let map = Arc::clone(&runner.map);
    let mut is_right = true;
    let mut fail = |rule: &Rule, attack: String, found: String| {
        is_right = false;
        let verdict = Verdict::GotThrough(found);
        runner.note(rule, target, attack, Some(exchange), verdict);
    };
    let is_http = exchange.status != StatusCode::SWITCHING_PROTOCOLS;
    for (name, _) in map.router.security_headers.iter().filter(|_| is_http) {
        if !exchange.headers.contains_key(name.as_str()) {
            let found = format!("a response without `{name}`");
            fail(&SECURITY_HEADERS, "security headers".to_owned(), found);
        }
    }
    for name in TELLING.iter().filter(|name| exchange.headers.contains_key(**name)) {
        let found = format!("a response with `{name}`");
        fail(&SILENCE, "program names".to_owned(), found);
    }
    if exchange.headers.contains_key("x-injected") {
        let found = "a header from a value".to_owned();
        fail(&LINES, "line breaks in values".to_owned(), found);
    }
    if exchange.status.is_server_error()
        && let Some(found) = telling_body(target, exchange)
    {
        fail(&GENERIC, "the body of a 5xx".to_owned(), found);
    }
    if is_right {
        runner.note(&SECURITY_HEADERS, target, "a response", None, Verdict::Refused);
    }
}

/// Returns the part of a 5xx body that reveals its cause.
fn telling_body(target: Option<&AttackTarget>, exchange: &Exchange) -> Option<String> {
    let text = String::from_utf8_lossy(&exchange.body);
    let standard = exchange.status.canonical_reason().unwrap_or_default();
    if text.is_empty() || text == standard {
        return None;
    }
    let Ok(body) = serde_json::from_str::<Value>(&text) else {
        return Some("a text of the application".to_owned());
    };
    if let Some(word) = TELLING_TEXTS.iter().find(|word| text.contains(**word)) {
        return Some(format!("`{word}` in the body"));
    }
    if has_own_form(target) {
        return None;
    }
    let told = body.get("error").or_else(|| body.get("title")).and_then(Value::as_str);
    match told {
        Some(told) if told == standard => {
            body.get("details").map(|_| "details in the body".to_owned())
        }
        _ => Some("a message of the application".to_owned()),
    }
}

/// Returns true if the application defines the error format of a route.
fn has_own_form(target: Option<&AttackTarget>) -> bool {
    let answers = || target.into_iter().flat_map(|target| &target.route.answers);
    // `default` does not cover errors if the same part also lists `5XX`.
    let says_failures =
        |by: &str| answers().any(|it| it.status == StatusDoc::Class(5) && it.by == by);
    let mut of_failure = answers().filter(|answer| match answer.status {
        StatusDoc::Exact(500) | StatusDoc::Class(5) => true,
        StatusDoc::Default => !says_failures(&answer.by),
        _ => false,
    });
    of_failure.any(|answer| answer.body != BodyDoc::Error)
}

/// A value with a line break and an injected header.
const INJECTED: &str = "%0d%0aX-Injected:1";

/// The headers that reveal the server software.
const TELLING: [&str; 5] =
    ["server", "x-powered-by", "x-aspnet-version", "x-generator", "x-runtime"];

/// Texts that appear only in messages for developers.
const TELLING_TEXTS: [&str; 8] = [
    "panicked at",
    "stack backtrace",
    ".rs:",
    "RUST_BACKTRACE",
    "SELECT ",
    "INSERT INTO",
    "Traceback",
    "thread '",
];
