//! The rule about routes that read a password: each of them can be used to guess
//! one, and makes a hash that is dear on purpose.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::{each, referred};
use crate::map::{QuotaInfo, RouteInfo, RouteMap};

/// The most passwords that a client may send in a minute without a reason. It is
/// the rate limit that a router has by default.
const MOST: u64 = 100;

pub(super) const PASSWORDS_LIMITED: BuiltIn = BuiltIn {
    id: "passwords-limited",
    text: "a client sends at most 100 passwords a minute to a route",
    owasp: "API2",
    find: |map| {
        each(map, |route| {
            let is_limited = map.router.is_hosted || route.limits.rate.iter().any(is_low);
            let place = password_of(map, route).filter(|_| !is_limited)?;
            let message = format!(
                "it reads a password ({place}), and a client may try more than 100 a minute"
            );
            Some(Finding::on(route, message).mend("give it a limit: `rate_limit: 10 / MINUTE`"))
        })
    },
};

/// Returns true for a quota of at most [`MOST`] requests a minute. One that
/// depends on the request is somebody's decision, and counts as low.
fn is_low(quota: &QuotaInfo) -> bool {
    match (quota.limit, quota.window_ms) {
        (Some(limit), Some(window)) => limit.saturating_mul(60_000) <= MOST.saturating_mul(window),
        _ => true,
    }
}

/// Returns the place of a password in the body of a route.
fn password_of(map: &RouteMap, route: &RouteInfo) -> Option<String> {
    let mut contents = route.body.iter().flat_map(|body| &body.content);
    contents.find_map(|content| {
        let mut seen = BTreeSet::new();
        find(map, &content.schema, &content.schema, "body", &mut seen)
    })
}

/// Finds a field in a schema whose name says that it is a password.
/// `seen` has the references that were followed.
fn find(
    map: &RouteMap,
    root: &Value,
    schema: &Value,
    place: &str,
    seen: &mut BTreeSet<String>,
) -> Option<String> {
    let object = schema.as_object()?;
    let properties = object.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let place = format!("{place}.{name}");
        let last = name.to_lowercase();
        if last.ends_with("password") || last.ends_with("passphrase") {
            return Some(place);
        }
        if let Some(found) = find(map, root, schema, &place, seen) {
            return Some(found);
        }
    }
    if let Some(reference) = object.get("$ref").and_then(Value::as_str)
        && seen.insert(reference.to_owned())
    {
        let target = referred(map, root, reference);
        if let Some(found) = target.and_then(|it| find(map, root, it, place, seen)) {
            return Some(found);
        }
    }
    let branches = ["allOf", "anyOf", "oneOf"].iter().filter_map(|it| object.get(*it)?.as_array());
    branches.flatten().find_map(|branch| find(map, root, branch, place, seen))
}
