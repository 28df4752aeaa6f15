//! The comparison of authentication methods and of the protection against
//! requests of other origins.
//!
//! `access` compares the schemes, which clients see. This module compares the
//! strictness of the methods behind them.

use std::cmp::Ordering;

use serde_json::Value;

use super::access::without;
use super::compare::Comparison;
use super::entry::RouteLock;
use super::limits::amount;
use super::rules::{
    AUTH_HEADER, AUTH_KIND, AUTH_KNOWN, COOKIE_CHANGED, COOKIE_STRICTER, COOKIE_WEAKER,
    CROSS_ALLOWED, CROSS_REFUSED, LockRule, RECHECK_LONGER, RECHECK_SHORTER, REVOCATIONS_ADDED,
    REVOCATIONS_REMOVED, SCHEME_ORDER, SESSION_LONGER, SESSION_SHORTER, TOKEN_LONGER, TOKEN_LOOSER,
    TOKEN_SHORTER, TOKEN_STRICTER, UNEXPLAINED,
};
use crate::{
    CookieInfo, CrossOriginInfo, MethodInfo, RouteAccess, SchemeInfo, SessionInfo, TokenInfo,
};

/// The member of a route with its methods.
pub(super) const METHODS: &str = "access/methods";

/// The member of a route with the sessions that its handler reads.
const SESSIONS: &str = "access/sessions";

/// The member of a route with the protection that middleware adds.
pub(super) const CROSS_ORIGIN: &str = "access/cross_origin";

/// The middleware with the protection.
const PROTECTION: &str = "with_cross_origin_protection";

/// Compares the methods of a route, and its protection.
pub(super) fn compare(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock) {
    if is_older(&old.access) && !is_older(&new.access) && !new.access.methods.is_empty() {
        c.note(AUTH_KNOWN, METHODS, Value::Null, Value::Null);
    } else {
        methods(c, &old.access, &new.access);
    }
    sessions(c, &old.access.sessions, &new.access.sessions);
    let (before, after) = (old.access.cross_origin.as_ref(), new.access.cross_origin.as_ref());
    let is_guarded = old.middleware.iter().any(|name| name == PROTECTION);
    if before.is_none() && after.is_some() && is_guarded {
        c.note(AUTH_KNOWN, CROSS_ORIGIN, Value::Null, Value::Null);
    } else {
        cross_origin(c, CROSS_ORIGIN, before, after);
    }
}

/// Compares the sessions that handlers read. If both routes read one session, it
/// is the same session, even if the name of its cookie differs.
fn sessions(c: &mut Comparison<'_>, old: &[MethodInfo], new: &[MethodInfo]) {
    if let ([before], [after]) = (old, new) {
        if before != after {
            method(c, SESSIONS, before, after);
        }
        return;
    }
    let find = |list: &[MethodInfo], name: &str| -> Option<MethodInfo> {
        list.iter().find(|session| session.name == name).cloned()
    };
    for before in old {
        match find(new, &before.name) {
            Some(after) if after != *before => method(c, SESSIONS, before, &after),
            Some(_) => {}
            // If the handler does not read the session, the route ignores the cookie.
            None => c.note(SESSION_LONGER, place(SESSIONS, before, ""), before, Value::Null),
        }
    }
    for after in new.iter().filter(|after| find(old, &after.name).is_none()) {
        c.note(AUTH_KNOWN, place(SESSIONS, after, ""), Value::Null, after);
    }
}

/// Returns true for a lock of an earlier version, which does not contain
/// methods.
fn is_older(access: &RouteAccess) -> bool {
    access.methods.is_empty() && !access.schemes.is_empty()
}

/// A method with its scheme.
type Method<'a> = (&'a SchemeInfo, &'a MethodInfo);

/// Compares the methods with the same name and scheme. A change of the scheme is
/// reported by `access`.
fn methods(c: &mut Comparison<'_>, old: &RouteAccess, new: &RouteAccess) {
    let gone = without(&all_of(old), &all_of(new));
    let mut added = without(&all_of(new), &all_of(old));
    let mut left = Vec::new();
    for before in gone {
        let is_same = |after: &Method<'_>| after.0 == before.0 && after.1.kind == before.1.kind;
        match added.iter().position(is_same) {
            Some(index) => method(c, METHODS, before.1, added.remove(index).1),
            None => left.push(before),
        }
    }
    for (scheme, before) in left {
        if let Some(index) = added.iter().position(|after| after.0 == scheme) {
            let (_, after) = added.remove(index);
            c.note(AUTH_KIND, place(METHODS, before, "kind"), before.kind, after.kind);
        }
    }
    let is_moved = old.methods != new.methods && without(&old.methods, &new.methods).is_empty();
    if is_moved && old.methods.len() == new.methods.len() && old.schemes == new.schemes {
        c.note(SCHEME_ORDER, METHODS, &old.methods, &new.methods);
    }
}

fn all_of(access: &RouteAccess) -> Vec<Method<'_>> {
    access.schemes.iter().zip(&access.methods).collect()
}

/// Returns the place of a member; of the whole method if its name is empty.
fn place(list: &str, method: &MethodInfo, member: &str) -> String {
    format!("{list}/{}/{member}", method.name).trim_end_matches('/').to_owned()
}

/// Compares two methods of the same kind, at a place of the route.
fn method(c: &mut Comparison<'_>, list: &str, old: &MethodInfo, new: &MethodInfo) {
    let first = c.count();
    let place = |method: &MethodInfo, member: &str| place(list, method, member);
    if old.header != new.header {
        c.note(AUTH_HEADER, place(new, "header"), &old.header, &new.header);
    }
    if let (Some(before), Some(after)) = (&old.token, &new.token) {
        token(c, &place(new, "token"), before, after);
    }
    match (&old.cookie, &new.cookie) {
        (Some(before), Some(after)) => cookie(c, &place(new, "cookie"), before, after),
        (None, Some(after)) => c.note(AUTH_KNOWN, place(new, "cookie"), Value::Null, after),
        _ => {}
    }
    session(c, &place(new, "session"), old.session.as_ref(), new.session.as_ref());
    recheck(c, &place(new, "recheck_ms"), old.recheck_ms, new.recheck_ms);
    let (before, after) = (old.cross_origin.as_ref(), new.cross_origin.as_ref());
    cross_origin(c, &place(new, "cross_origin"), before, after);
    if !c.has_changes(first) {
        c.note(UNEXPLAINED, list, old, new);
    }
}

fn token(c: &mut Comparison<'_>, at: &str, old: &TokenInfo, new: &TokenInfo) {
    for (name, before, after) in [
        ("algorithms", &old.algorithms, &new.algorithms),
        ("issuers", &old.issuers, &new.issuers),
        ("audiences", &old.audiences, &new.audiences),
    ] {
        // An empty list accepts any value.
        if accepts_more(before, after) {
            c.note(TOKEN_LOOSER, format!("{at}/{name}"), before, after);
        }
        if accepts_more(after, before) {
            c.note(TOKEN_STRICTER, format!("{at}/{name}"), before, after);
        }
    }
    let claims = (&*old.required_claims, &*new.required_claims);
    listed(c, &format!("{at}/required_claims"), claims, (TOKEN_LOOSER, TOKEN_STRICTER));
    let rules = (TOKEN_SHORTER, TOKEN_LONGER);
    let (before, after) = (Some(old.leeway_seconds), Some(new.leeway_seconds));
    amount(c, &format!("{at}/leeway_seconds"), before, after, rules);
    let (before, after) = (old.max_life_seconds, new.max_life_seconds);
    amount(c, &format!("{at}/max_life_seconds"), before, after, rules);
    let rules = (REVOCATIONS_REMOVED, REVOCATIONS_ADDED);
    let at = format!("{at}/revocations");
    either(
        c,
        &at,
        new.revocations.cmp(&old.revocations),
        rules,
        (&old.revocations, &new.revocations),
    );
}

/// Notes the first rule if a list has lost a value, and the second if it has a
/// new one.
fn listed(
    c: &mut Comparison<'_>,
    at: &str,
    (before, after): (&[String], &[String]),
    (lost, new): (LockRule, LockRule),
) {
    if before.iter().any(|value| !after.contains(value)) {
        c.note(lost, at, before, after);
    }
    if after.iter().any(|value| !before.contains(value)) {
        c.note(new, at, before, after);
    }
}

/// Returns true if the second list accepts a value that the first list does not
/// accept.
fn accepts_more(old: &[String], new: &[String]) -> bool {
    !old.is_empty() && (new.is_empty() || new.iter().any(|value| !old.contains(value)))
}

/// Notes the first rule if a value is now less, and the second if it is greater.
fn either<T: serde::Serialize>(
    c: &mut Comparison<'_>,
    at: &str,
    order: Ordering,
    (less, greater): (LockRule, LockRule),
    (before, after): (&T, &T),
) {
    match order {
        Ordering::Less => c.note(less, at, before, after),
        Ordering::Greater => c.note(greater, at, before, after),
        Ordering::Equal => {}
    }
}

fn cookie(c: &mut Comparison<'_>, at: &str, old: &CookieInfo, new: &CookieInfo) {
    let rules = (COOKIE_WEAKER, COOKIE_STRICTER);
    for (name, before, after) in
        [("secure", old.secure, new.secure), ("http_only", old.http_only, new.http_only)]
    {
        either(c, &format!("{at}/{name}"), after.cmp(&before), rules, (&before, &after));
    }
    let (before, after) = (&old.same_site, &new.same_site);
    let order = strictness(after).cmp(&strictness(before));
    either(c, &format!("{at}/same_site"), order, rules, (before, after));
    if let Some(rule) = reach(&old.path, &new.path) {
        c.note(rule, format!("{at}/path"), &old.path, &new.path);
    }
    if old.domain != new.domain {
        let rule = match (&old.domain, &new.domain) {
            (None, Some(_)) => COOKIE_WEAKER,
            (Some(_), None) => COOKIE_STRICTER,
            _ => COOKIE_CHANGED,
        };
        c.note(rule, format!("{at}/domain"), &old.domain, &new.domain);
    }
    if old.name != new.name {
        c.note(COOKIE_CHANGED, format!("{at}/name"), &old.name, &new.name);
    }
    // Browsers delete a cookie that does not have an age when they are closed.
    let age = |cookie: &CookieInfo| Some(cookie.max_age_seconds.unwrap_or(0));
    let rules = (SESSION_SHORTER, SESSION_LONGER);
    amount(c, &format!("{at}/max_age_seconds"), age(old), age(new), rules);
}

/// Returns the rule for two paths.
fn reach(old: &str, new: &str) -> Option<LockRule> {
    match (is_below(old, new), is_below(new, old)) {
        (true, true) => None,
        (true, false) => Some(COOKIE_WEAKER),
        (false, true) => Some(COOKIE_STRICTER),
        (false, false) => Some(COOKIE_CHANGED),
    }
}

/// Returns true if a path is another path or below it.
fn is_below(path: &str, other: &str) -> bool {
    let rest = path.strip_prefix(other);
    rest.is_some_and(|rest| rest.is_empty() || other.ends_with('/') || rest.starts_with('/'))
}

/// Returns the strictness of a `SameSite`. Browsers treat an unknown value as
/// `Lax`.
fn strictness(same_site: &str) -> u8 {
    match same_site {
        "None" => 0,
        "Strict" => 2,
        _ => 1,
    }
}

fn session(c: &mut Comparison<'_>, at: &str, old: Option<&SessionInfo>, new: Option<&SessionInfo>) {
    let (before, after) = match (old, new) {
        (Some(before), Some(after)) => (before, after),
        (None, Some(after)) => return c.note(AUTH_KNOWN, at, Value::Null, after),
        (Some(before), None) => return c.note(SESSION_LONGER, at, before, Value::Null),
        (None, None) => return,
    };
    for (name, before, after) in [
        ("idle_seconds", before.idle_seconds, after.idle_seconds),
        ("lifetime_seconds", before.lifetime_seconds, after.lifetime_seconds),
    ] {
        let rules = (SESSION_SHORTER, SESSION_LONGER);
        amount(c, &format!("{at}/{name}"), Some(before), Some(after), rules);
    }
}

/// Compares the time until a connection ends after its login. It is unknown in
/// the lock of an earlier version, and for a route without connections.
fn recheck(c: &mut Comparison<'_>, at: &str, old: Option<u64>, new: Option<u64>) {
    match (old, new) {
        (None, Some(after)) => c.note(AUTH_KNOWN, at, Value::Null, after),
        (Some(before), None) => c.note(RECHECK_SHORTER, at, before, Value::Null),
        _ => amount(c, at, old, new, (RECHECK_SHORTER, RECHECK_LONGER)),
    }
}

fn cross_origin(
    c: &mut Comparison<'_>,
    at: &str,
    old: Option<&CrossOriginInfo>,
    new: Option<&CrossOriginInfo>,
) {
    let (before, after) = match (old, new) {
        (None, None) => return,
        (None, Some(after)) => return c.note(CROSS_REFUSED, at, Value::Null, after),
        (Some(before), None) => return c.note(CROSS_ALLOWED, at, before, Value::Null),
        (Some(before), Some(after)) => (&*before.trusted_origins, &*after.trusted_origins),
    };
    let rules = (CROSS_REFUSED, CROSS_ALLOWED);
    listed(c, &format!("{at}/trusted_origins"), (before, after), rules);
}
