//! The rule about routes that read a password: clients can use them to guess
//! passwords, and hashing is expensive on purpose.

use super::super::fields::fields_of;
use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::each;
use crate::{QuotaInfo, RouteInfo, RouteMap};

/// The largest number of passwords that a client may send per minute without a
/// reason. It equals the default rate limit of a router.
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
                "it reads a password ({place}), but a client can try more than 100 a minute"
            );
            Some(Finding::on(route, message).mend("add a limit: `rate_limit: 10 / MINUTE`"))
        })
    },
};

/// Returns true for a quota of at most [`MOST`] requests per minute. A quota
/// that depends on the request is a deliberate decision, and counts as low.
fn is_low(quota: &QuotaInfo) -> bool {
    match (quota.limit, quota.window_ms) {
        (Some(limit), Some(window)) => limit.saturating_mul(60_000) <= MOST.saturating_mul(window),
        _ => true,
    }
}

/// Returns the place of a password in the body of a route.
fn password_of(map: &RouteMap, route: &RouteInfo) -> Option<String> {
    let contents = route.body.iter().flat_map(|body| &body.content);
    let fields = contents.flat_map(|content| fields_of(&map.schemas, &content.schema, "body"));
    let is_password = |name: &str| {
        let name = name.to_lowercase();
        name.ends_with("password") || name.ends_with("passphrase")
    };
    fields.into_iter().find(|field| is_password(field.name)).map(|field| field.place)
}
