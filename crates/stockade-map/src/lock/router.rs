//! The comparison of the settings of a router, of CORS, and of WebSockets.

use std::collections::BTreeSet;

use serde_json::Value;

use super::compare::Comparison;
use super::limits::{amount, quota};
use super::rules::{
    BODY_HIGHER, BODY_LOWER, COMPRESSION_CHANGED, CREDENTIALS_OFF, CREDENTIALS_ON, EXPOSE_CHANGED,
    LANGUAGE_ADDED, LANGUAGE_DEFAULT, LANGUAGE_REMOVED, LockRule, MESSAGE_LARGER, MESSAGE_SMALLER,
    ORIGIN_ADDED, ORIGIN_REMOVED, PASSWORDS_STRONGER, PASSWORDS_WEAKER, PROBLEMS_CHANGED,
    PROXY_CHANGED, SECURITY_HEADER_ADDED, SECURITY_HEADER_CHANGED, SECURITY_HEADER_REMOVED,
    SLASH_OPTIONAL, SLASH_REQUIRED, SUBPROTOCOL_ADDED, SUBPROTOCOL_REMOVED, WEB_SOCKETS_OFF,
    WEB_SOCKETS_ON,
};
use super::schema::Direction;
use crate::{CorsInfo, PasswordInfo, WebSocketInfo};

/// Compares the settings of the router.
pub(super) fn compare(c: &mut Comparison<'_>) {
    let (old, new) = (&c.old.router, &c.new.router);
    for (name, before) in &old.security_headers {
        let at = format!("router/security_headers/{name}");
        match new.security_headers.get(name) {
            None => c.note(SECURITY_HEADER_REMOVED, at, before, Value::Null),
            Some(after) if after != before => c.note(SECURITY_HEADER_CHANGED, at, before, after),
            Some(_) => {}
        }
    }
    for (name, after) in &new.security_headers {
        if !old.security_headers.contains_key(name) {
            let at = format!("router/security_headers/{name}");
            c.note(SECURITY_HEADER_ADDED, at, Value::Null, after);
        }
    }
    cors(c, old.cors.as_ref(), new.cors.as_ref());
    quota(c, "router/rate_limit", old.rate_limit.as_ref(), new.rate_limit.as_ref());
    let rules = (BODY_LOWER, BODY_HIGHER);
    amount(c, "router/max_body", Some(old.max_body), Some(new.max_body), rules);
    // The order of networks does not matter.
    let proxies = |trust: &[String]| trust.iter().cloned().collect::<BTreeSet<String>>();
    if proxies(&old.trust_proxy) != proxies(&new.trust_proxy) {
        c.note(PROXY_CHANGED, "router/trust_proxy", &old.trust_proxy, &new.trust_proxy);
    }
    if old.expose_errors != new.expose_errors {
        c.note(EXPOSE_CHANGED, "router/expose_errors", old.expose_errors, new.expose_errors);
    }
    let (before, after) = (old.problem_details, new.problem_details);
    flag(c, "router/problem_details", (before, after), (PROBLEMS_CHANGED, PROBLEMS_CHANGED));
    let (before, after) = (old.trailing_slash, new.trailing_slash);
    if before != after {
        let rule = if after > before { SLASH_OPTIONAL } else { SLASH_REQUIRED };
        c.note(rule, "router/trailing_slash", before, after);
    }
    languages(c, &old.languages, &new.languages);
    passwords(c, old.passwords.as_ref(), new.passwords.as_ref());
    let rules = (WEB_SOCKETS_ON, WEB_SOCKETS_OFF);
    flag(c, "router/web_sockets", (old.web_sockets, new.web_sockets), rules);
}

/// Compares the cost of password hashes.
fn passwords(c: &mut Comparison<'_>, old: Option<&PasswordInfo>, new: Option<&PasswordInfo>) {
    let is_weaker = match (old, new) {
        (before, after) if before == after => return,
        (Some(before), Some(after)) => after.is_weaker_than(before),
        (before, _) => before.is_some(),
    };
    let rule = if is_weaker { PASSWORDS_WEAKER } else { PASSWORDS_STRONGER };
    c.note(rule, "router/passwords", old, new);
}

/// Compares the languages of error messages. The default language is the first;
/// without languages, messages are English.
fn languages(c: &mut Comparison<'_>, old: &[String], new: &[String]) {
    const AT: &str = "router/languages";
    let english = ["en".to_owned()];
    let before = if old.is_empty() { &english } else { old };
    let after = if new.is_empty() { &english } else { new };
    for language in before.iter().filter(|language| !after.contains(language)) {
        c.note(LANGUAGE_REMOVED, AT, language, Value::Null);
    }
    for language in after.iter().filter(|language| !before.contains(language)) {
        c.note(LANGUAGE_ADDED, AT, Value::Null, language);
    }
    if before.first() != after.first() {
        c.note(LANGUAGE_DEFAULT, AT, before.first(), after.first());
    }
}

/// Compares a boolean setting. The rules are for on and for off.
fn flag(
    c: &mut Comparison<'_>,
    at: &str,
    (old, new): (bool, bool),
    (is_on, is_off): (LockRule, LockRule),
) {
    if old != new {
        c.note(if new { is_on } else { is_off }, at, old, new);
    }
}

/// Compares the rules of CORS.
pub(super) fn cors(c: &mut Comparison<'_>, old: Option<&CorsInfo>, new: Option<&CorsInfo>) {
    let list = |cors: Option<&CorsInfo>| -> Vec<String> {
        // Without rules, no other origin can read a response.
        cors.map(|cors| cors.origins.clone()).unwrap_or_default()
    };
    origins(c, "cors/origins", &list(old), &list(new));
    let sends = |cors: Option<&CorsInfo>| cors.is_some_and(|cors| cors.credentials);
    let (before, after) = (sends(old), sends(new));
    // If the rules are new or removed, the change of the origins is enough.
    if before != after && old.is_some() && new.is_some() {
        let rule = if after { CREDENTIALS_ON } else { CREDENTIALS_OFF };
        c.note(rule, "cors/credentials", before, after);
    }
}

/// Compares lists of allowed origins.
pub(super) fn origins(c: &mut Comparison<'_>, at: &str, old: &[String], new: &[String]) {
    let holds =
        |list: &[String], origin: &String| list.contains(origin) || list.iter().any(|it| it == "*");
    if new.iter().any(|origin| !holds(old, origin)) {
        c.note(ORIGIN_ADDED, at, old, new);
    }
    if old.iter().any(|origin| !holds(new, origin)) {
        c.note(ORIGIN_REMOVED, at, old, new);
    }
}

/// Compares the connections of a WebSocket.
pub(super) fn web_socket(c: &mut Comparison<'_>, old: &WebSocketInfo, new: &WebSocketInfo) {
    let list = |info: &WebSocketInfo| {
        let mut list = info.allowed_origins.clone();
        if info.same_origin {
            list.push("the same origin".to_owned());
        }
        list
    };
    origins(c, "web_socket/allowed_origins", &list(old), &list(new));
    let rules = (MESSAGE_SMALLER, MESSAGE_LARGER);
    let (before, after) = (Some(old.max_payload), Some(new.max_payload));
    amount(c, "web_socket/max_payload", before, after, rules);
    amount(c, "web_socket/max_rate", old.max_rate, new.max_rate, rules);
    for name in old.subprotocols.iter().filter(|name| !new.subprotocols.contains(name)) {
        c.note(SUBPROTOCOL_REMOVED, "web_socket/subprotocols", name, Value::Null);
    }
    for name in new.subprotocols.iter().filter(|name| !old.subprotocols.contains(name)) {
        c.note(SUBPROTOCOL_ADDED, "web_socket/subprotocols", Value::Null, name);
    }
    let rules = (COMPRESSION_CHANGED, COMPRESSION_CHANGED);
    flag(c, "web_socket/compression", (old.compression, new.compression), rules);
    // If nothing is known, any message may be sent or received.
    let any = Value::Bool(true);
    let (before, after) = (old.receives.as_ref(), new.receives.as_ref());
    let (before, after) = (before.unwrap_or(&any), after.unwrap_or(&any));
    c.schema("web_socket/receives", before, after, Direction::Request);
    let (before, after) = (old.sends.as_ref(), new.sends.as_ref());
    let (before, after) = (before.unwrap_or(&any), after.unwrap_or(&any));
    c.schema("web_socket/sends", before, after, Direction::Reply);
}
