//! The comparison of a route's inputs: query, headers, cookies, body.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::compare::Comparison;
use super::entry::{BodyLock, RouteLock};
use super::rules::{
    BODY_ADDED, BODY_OPTIONAL, BODY_REMOVED, BODY_REQUIRED, BODY_TYPE_ADDED, BODY_TYPE_KNOWN,
    BODY_TYPE_REMOVED, CHECK_IGNORED, FIELD_DEMANDED, FIELD_IGNORED, FIELD_OPTIONAL, FIELD_READ,
    GUARD_IGNORED, IDENTITY_READ, LockRule,
};
use super::schema::Direction;

/// The media type of an arbitrary body.
pub(super) const ANY_TYPE: &str = "*/*";

/// Compares the inputs of a route.
pub(super) fn compare(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock) {
    // A query that nothing reads may contain anything.
    let open = json!({ "type": "object" });
    let query = |route: &RouteLock| route.query.clone().unwrap_or_else(|| open.clone());
    c.schema("query", &query(old), &query(new), Direction::Request);
    fields(c, "headers", &old.headers, &new.headers);
    fields(c, "cookies", &old.cookies, &new.cookies);
    match (&old.body, &new.body) {
        (None, None) => {}
        (None, Some(after)) if after.required => c.note(BODY_REQUIRED, "body", Value::Null, after),
        (None, Some(after)) => c.note(BODY_ADDED, "body", Value::Null, after),
        (Some(before), None) => c.note(BODY_REMOVED, "body", before, Value::Null),
        (Some(before), Some(after)) => body(c, before, after),
    }
}

/// Reports the headers of a new route that may claim to be a user.
pub(super) fn added(c: &mut Comparison<'_>, new: &RouteLock) {
    for name in new.headers.keys().filter(|name| claims_user(name)) {
        c.note(IDENTITY_READ, format!("headers/{name}"), Value::Null, "read");
    }
}

fn fields(
    c: &mut Comparison<'_>,
    place: &str,
    old: &BTreeMap<String, bool>,
    new: &BTreeMap<String, bool>,
) {
    let words = |required: Option<&bool>| match required {
        None => Value::Null,
        Some(true) => json!("required"),
        Some(false) => json!("optional"),
    };
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    for name in new.keys().chain(gone) {
        let (before, after) = (old.get(name), new.get(name));
        let rule = match (before, after) {
            (None, Some(_)) if place == "headers" && claims_user(name) => IDENTITY_READ,
            (None | Some(false), Some(true)) => FIELD_DEMANDED,
            (None, Some(false)) => FIELD_READ,
            (Some(true), Some(false)) => FIELD_OPTIONAL,
            (Some(_), None) => ignored(place, name),
            _ => continue,
        };
        c.note(rule, format!("{place}/{name}"), words(before), words(after));
    }
}

/// Returns true if a header may claim to be a user. Only a proxy should send
/// such a header, but every client can.
fn claims_user(name: &str) -> bool {
    let words = ["account", "email", "group", "identity", "role", "subject", "tenant", "user"];
    let mut parts = name.split(['-', '_']);
    (name.starts_with("x-") || name.starts_with("remote"))
        && parts.any(|part| words.iter().any(|word| part.starts_with(word)))
}

/// Returns the rule for a header or a cookie that is no longer read. If a check
/// reads the header, its loss is not visible to clients that pass the check.
fn ignored(place: &str, name: &str) -> LockRule {
    match name {
        _ if place == "cookies" => GUARD_IGNORED,
        "cookie" | "idempotency-key" | "if-match" | "if-unmodified-since" => GUARD_IGNORED,
        "authorization"
        | "graphql-require-preflight"
        | "origin"
        | "proxy-authorization"
        | "referer" => CHECK_IGNORED,
        _ if name.starts_with("sec-fetch-") => CHECK_IGNORED,
        _ => FIELD_IGNORED,
    }
}

fn body(c: &mut Comparison<'_>, old: &BodyLock, new: &BodyLock) {
    match (old.required, new.required) {
        (false, true) => c.note(BODY_REQUIRED, "body", "optional", "required"),
        (true, false) => c.note(BODY_OPTIONAL, "body", "required", "optional"),
        _ => {}
    }
    for (media_type, before) in &old.content {
        let at = format!("body/{media_type}");
        match new.content.get(media_type).or_else(|| new.content.get(ANY_TYPE)) {
            Some(after) => c.schema(&at, before, after, Direction::Request),
            None if media_type == ANY_TYPE && !new.content.is_empty() => {
                let types: Vec<&String> = new.content.keys().collect();
                c.note(BODY_TYPE_KNOWN, "body", media_type, types);
            }
            None => c.note(BODY_TYPE_REMOVED, "body", media_type, Value::Null),
        }
    }
    let is_known = |media_type: &&String| {
        old.content.contains_key(*media_type) || old.content.contains_key(ANY_TYPE)
    };
    for media_type in new.content.keys().filter(|it| !is_known(it)) {
        c.note(BODY_TYPE_ADDED, "body", Value::Null, media_type);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_headers_that_claim_a_user() {
        for name in ["x-user", "x-user-id", "x-forwarded-user", "remote-user", "x-tenant-id"] {
            assert!(claims_user(name), "{name}");
        }
        for name in ["x-request-id", "user-agent", "x-api-key", "traceparent", "x-superuser"] {
            assert!(!claims_user(name), "{name}");
        }
    }
}
