//! The last part of a comparison: differences that no other rule explains.
//!
//! A difference that no rule foresees must not go unnoticed. So the two entries
//! of a route, the routers and the schemas are compared once more, as data. If
//! the other rules have not reported a change at a part that differs, this
//! module reports it.

use serde_json::{Map, Value};

use super::compare::{Comparison, value_of};
use super::entry::RouteLock;
use super::file::Lock;
use super::methods::METHODS;
use super::rules::{FORM, ROUTE_TEXT, UNEXPLAINED};
use super::schema::{Resolved, resolve};
use crate::schemas::PLACE as SCHEMAS;

/// Members with rules for the differences that matter. All other differences in
/// these members only affect texts.
const OF_TEXT: [&str; 3] = ["docs", "named", "operation_id"];

/// Members that consist of independent parts.
const WITH_PARTS: [&str; 8] =
    ["access", "answers", "idempotency", "limits", "mcp", "signature", "tool", "web_socket"];

/// Reports the differences of a route that no reported change explains. `first`
/// is the number of changes before the route was compared.
pub(super) fn in_route(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock, first: usize) {
    for (at, before, after) in differences(&members(old, new, c.old), &members(new, old, c.new)) {
        let is_text = OF_TEXT.contains(&at.as_str());
        let is_explained = match at.as_str() {
            _ if is_text => c.has_changes(first),
            // A route that does not authenticate users does not have
            // authentication methods.
            "access/schemes" | METHODS if c.has_noted(first, "access/user") => true,
            METHODS if c.has_noted(first, "access/schemes") => true,
            "web_socket/same_origin" if c.has_noted(first, "web_socket/allowed_origins") => true,
            // A required idempotency key is also a required header.
            "idempotency/required" if c.has_noted(first, "headers") => true,
            at => c.has_noted(first, at),
        };
        if !is_explained {
            c.note(if is_text { ROUTE_TEXT } else { UNEXPLAINED }, at, before, after);
        }
    }
}

/// Reports the differences of the routers and the schemas that no reported
/// change explains.
pub(super) fn elsewhere(c: &mut Comparison<'_>) {
    let router = |lock: &Lock| value_of(&lock.router).as_object().map(normal_members);
    let (before, after) = (router(c.old).unwrap_or_default(), router(c.new).unwrap_or_default());
    for (member, before, after) in differences(&before, &after) {
        // CORS changes of the router and of its routes are reported at the same
        // place.
        let is_cors = member == "cors" && c.has_noted(0, "cors");
        let at = format!("router/{member}");
        if !is_cors && !c.has_noted(0, &at) {
            c.note(UNEXPLAINED, at, before, after);
        }
    }
    if let (Some(before), Some(after)) = (&c.old.policy, &c.new.policy)
        && before != after
        && !c.has_noted(0, "policy")
    {
        c.note(UNEXPLAINED, "policy", before, after);
    }
    let (old, new) = (c.old, c.new);
    for (name, before) in &old.schemas {
        let at = format!("{SCHEMAS}{name}");
        let Some(after) = new.schemas.get(name) else { continue };
        let is_same = normal(before) == normal(after)
            || resolved(before, old, DEPTH) == resolved(after, new, DEPTH);
        if !is_same && !c.has_noted(0, &at) {
            c.note(UNEXPLAINED, at, before, after);
        }
    }
    let names = |lock: &Lock| -> Vec<String> { lock.schemas.keys().cloned().collect() };
    if !c.has_changes(0) && names(old) != names(new) {
        // No route uses this schema.
        c.note(UNEXPLAINED, "schemas", names(old), names(new));
    }
    if !c.has_changes(0) && old != new {
        c.note(FORM, "", Value::Null, Value::Null);
    }
}

/// Returns the members of a route, normalized, so equal routes have equal
/// members. The names of parameters are removed. Inherited settings are filled
/// in if the other route has its own.
fn members(route: &RouteLock, other: &RouteLock, lock: &Lock) -> Map<String, Value> {
    let mut route = route.clone();
    if other.cors.is_some() {
        route.cors = route.cors.or_else(|| lock.router.cors.clone());
    }
    if other.limits.max_body.is_some() {
        route.limits.max_body = route.limits.max_body.or(Some(lock.router.max_body));
    }
    for param in &mut route.params {
        param.name.clear();
    }
    if let Some(web_socket) = &mut route.web_socket {
        web_socket.receives.get_or_insert(Value::Bool(true));
        web_socket.sends.get_or_insert(Value::Bool(true));
    }
    value_of(route).as_object().map(normal_members).unwrap_or_default()
}

/// The depth of the comparison of two schemas, which may be recursive.
const DEPTH: usize = 10;

/// Returns a schema with its references resolved, up to a depth.
fn resolved(schema: &Value, lock: &Lock, depth: usize) -> Value {
    let Some(less) = depth.checked_sub(1) else { return Value::Null };
    match schema {
        Value::Object(_) => match resolve(&lock.schemas, schema) {
            Resolved::Known(members) => normal_members(&members)
                .iter()
                .map(|(name, value)| (name.clone(), resolved(value, lock, less)))
                .collect(),
            Resolved::Unknown => schema.clone(),
        },
        Value::Array(items) => items.iter().map(|item| resolved(item, lock, less)).collect(),
        value => value.clone(),
    }
}

/// Returns members with unordered lists sorted.
fn normal_members(members: &Map<String, Value>) -> Map<String, Value> {
    let normal = |(name, value): (&String, &Value)| {
        let mut value = normal(value);
        let is_set =
            matches!(&**name, "accepts" | "enum" | "origins" | "required" | "trust_proxy" | "type");
        if let Value::Array(items) = &mut value
            && is_set
        {
            items.sort_by_cached_key(Value::to_string);
        }
        (name.clone(), value)
    };
    members.iter().map(normal).collect()
}

fn normal(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(normal_members(members)),
        Value::Array(items) => items.iter().map(normal).collect(),
        value => value.clone(),
    }
}

/// Returns the paths of the differences between two objects, with both values.
fn differences(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<(String, Value, Value)> {
    let mut found = Vec::new();
    let gone = old.keys().filter(|member| !new.contains_key(*member));
    for member in new.keys().chain(gone) {
        let (before, after) = (old.get(member), new.get(member));
        if before == after {
            continue;
        }
        let parts = before.and_then(Value::as_object).zip(after.and_then(Value::as_object));
        match parts {
            Some((before, after)) if WITH_PARTS.contains(&member.as_str()) => {
                let parts = differences(before, after).into_iter();
                found.extend(parts.map(|(at, old, new)| (format!("{member}/{at}"), old, new)));
            }
            _ => {
                let value = |value: Option<&Value>| value.cloned().unwrap_or_default();
                found.push((member.clone(), value(before), value(after)));
            }
        }
    }
    found
}
