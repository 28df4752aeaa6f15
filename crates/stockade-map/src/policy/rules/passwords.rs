//! The rules about passwords: clients can use a route to guess them, and hashing is
//! expensive on purpose.

use super::super::fields::fields_of;
use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::each;
use crate::{PasswordInfo, QuotaInfo, RouteInfo, RouteMap};

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

pub(super) const PASSWORDS_COSTLY: BuiltIn = BuiltIn {
    id: "passwords-costly",
    text: "new password hashes cost at least as much as OWASP recommends",
    owasp: "API2",
    find: |map| {
        let weak = map.router.passwords.iter().filter(|passwords| !passwords.is_recommended);
        let finding = |info: &PasswordInfo| {
            let numbers = info.parameters.iter().map(|(name, number)| format!(", {name} {number}"));
            let cost = format!("{}{}", info.algorithm, numbers.collect::<String>());
            Finding::on_router(format!("password hashes are easy to guess: {cost}")).mend(
                "provide `PasswordHasher::argon2id()` or `PasswordHasher::recommended()` as state",
            )
        };
        weak.map(finding).collect()
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
