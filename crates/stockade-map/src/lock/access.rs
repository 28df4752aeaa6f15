//! The comparison of a route's access requirements and middleware.

use serde_json::{Value, json};

use super::compare::Comparison;
use super::entry::{OPAQUE, RouteLock};
use super::rules::{
    EARLIER_USER, EARLIER_USER_GONE, GUARD_ADDED, GUARD_OPAQUE, GUARD_ORDER, GUARD_OWN,
    GUARD_REMOVED, PERMISSION_DEMANDED, PERMISSION_GONE, PERMISSION_UNNAMED, ROLE_DEMANDED,
    ROLE_WEAKER, SCHEME_ADDED, SCHEME_CHANGED, SCHEME_ORDER, SCHEME_REMOVED, USER_FOUND,
    USER_REQUIRED, USER_WEAKER,
};
use crate::{Need, RouteAccess};

/// Compares the access requirements of a route.
pub(super) fn compare(c: &mut Comparison<'_>, old: &RouteAccess, new: &RouteAccess) {
    user(c, old.user, new.user);
    schemes(c, old, new);
    if implied(&old.roles, &new.roles) {
        if !implied(&new.roles, &old.roles) {
            c.note(ROLE_DEMANDED, "access/roles", &old.roles, &new.roles);
        }
    } else {
        c.note(ROLE_WEAKER, "access/roles", &old.roles, &new.roles);
        if !implied(&new.roles, &old.roles) {
            c.note(ROLE_DEMANDED, "access/roles", &old.roles, &new.roles);
        }
    }
    permissions(c, &old.permissions, &new.permissions);
    if old.judges_earlier_user != new.judges_earlier_user {
        let rule = if new.judges_earlier_user { EARLIER_USER } else { EARLIER_USER_GONE };
        let (before, after) = (old.judges_earlier_user, new.judges_earlier_user);
        c.note(rule, "access/judges_earlier_user", before, after);
    }
}

fn user(c: &mut Comparison<'_>, old: Need, new: Need) {
    let rule = match (rank(old), rank(new)) {
        (before, after) if before == after => return,
        (before, after) if before > after => USER_WEAKER,
        (_, 2) => USER_REQUIRED,
        _ => USER_FOUND,
    };
    c.note(rule, "access/user", old, new);
}

fn rank(need: Need) -> u8 {
    match need {
        Need::None => 0,
        Need::Optional => 1,
        _ => 2,
    }
}

/// Compares the authentication methods, if both locks have some.
fn schemes(c: &mut Comparison<'_>, old: &RouteAccess, new: &RouteAccess) {
    if old.user == Need::None || new.user == Need::None {
        return;
    }
    // Two methods may have the same name, or even be equal, so this pairs them
    // one by one.
    let gone = without(&old.schemes, &new.schemes);
    let mut added = without(&new.schemes, &old.schemes);
    for before in &gone {
        match added.iter().position(|after| after.name() == before.name()) {
            Some(index) => {
                c.note(SCHEME_CHANGED, "access/schemes", before, added.remove(index));
            }
            None => c.note(SCHEME_REMOVED, "access/schemes", before, Value::Null),
        }
    }
    for after in &added {
        c.note(SCHEME_ADDED, "access/schemes", Value::Null, after);
    }
    if gone.is_empty() && added.is_empty() && old.schemes != new.schemes {
        c.note(SCHEME_ORDER, "access/schemes", &old.schemes, &new.schemes);
    }
}

/// Returns true if every user that satisfies `given` also satisfies `demands`.
/// Each is a list of lists; a user needs one role of each inner list.
fn implied(demands: &[Vec<String>], given: &[Vec<String>]) -> bool {
    let is_within =
        |inner: &Vec<String>, outer: &Vec<String>| inner.iter().all(|role| outer.contains(role));
    demands.iter().all(|demand| given.iter().any(|list| is_within(list, demand)))
}

fn permissions(c: &mut Comparison<'_>, old: &[Option<String>], new: &[Option<String>]) {
    let named =
        |list: &[Option<String>]| -> Vec<String> { list.iter().flatten().cloned().collect() };
    let (before, after) = (named(old), named(new));
    for name in before.iter().filter(|name| !after.contains(name)) {
        c.note(PERMISSION_GONE, "access/permissions", name, Value::Null);
    }
    for name in after.iter().filter(|name| !before.contains(name)) {
        c.note(PERMISSION_DEMANDED, "access/permissions", Value::Null, name);
    }
    let unnamed = |list: &[Option<String>]| list.iter().filter(|name| name.is_none()).count();
    if unnamed(old) != unnamed(new) {
        c.note(PERMISSION_UNNAMED, "access/permissions", unnamed(old), unnamed(new));
    }
}

/// Compares the middleware of a route.
pub(super) fn middleware(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock) {
    let has_user = new.access.user != Need::None;
    let (old, new) = (&old.middleware, &new.middleware);
    let gone = without(old, new);
    let added = without(new, old);
    let is_opaque = |name: &&String| name.ends_with(OPAQUE);
    for name in gone.iter().filter(is_opaque) {
        c.note(GUARD_OPAQUE, "middleware", name, Value::Null);
    }
    for name in added.iter().filter(is_opaque) {
        c.note(GUARD_OPAQUE, "middleware", Value::Null, name);
    }
    for name in gone.iter().filter(|name| !is_opaque(name)) {
        c.note(GUARD_REMOVED, "middleware", name, Value::Null);
    }
    for name in added.iter().filter(|name| !is_opaque(name)) {
        let label = c.routes.first().map_or("", String::as_str);
        let is_own = has_user && c.new.places.may_set_user(label, name);
        c.note(if is_own { GUARD_OWN } else { GUARD_ADDED }, "middleware", Value::Null, name);
    }
    let (before, after) = (without(old, &gone), without(new, &added));
    if before != after {
        c.note(GUARD_ORDER, "middleware", json!(before), json!(after));
    }
}

/// Returns the items of a list that are not in another list. Removes each item
/// as often as it occurs there.
pub(super) fn without<T: Clone + PartialEq>(list: &[T], others: &[T]) -> Vec<T> {
    let mut left = others.to_vec();
    let is_left = |item: &&T| match left.iter().position(|other| other == *item) {
        Some(index) => {
            left.remove(index);
            false
        }
        None => true,
    };
    list.iter().filter(is_left).cloned().collect()
}
