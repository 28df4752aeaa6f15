//! The rules about access to routes.

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::{each, words};
use crate::{Need, RouteInfo, RouteKind, SchemeInfo};

pub(super) const ACCESS_DECLARED: BuiltIn = BuiltIn {
    id: "access-declared",
    text: "each route requires authentication or a signature, or declares why it is public",
    owasp: "API2",
    find: |map| {
        each(map, |route| match &route.access.public {
            None if route.is_open() => Some(undeclared(route)),
            // A signed route may be public, which removes the `auth` of its node.
            Some(reason) if route.access.user == Need::Required => {
                let message =
                    format!("it is declared public ({reason:?}), but requires authentication");
                Some(Finding::on(route, message).mend("remove `public` or the authentication"))
            }
            _ => None,
        })
    },
};

fn undeclared(route: &RouteInfo) -> Finding {
    let message = match route.access.user {
        Need::Optional => "it accepts unauthenticated requests, but does not declare a reason",
        _ => "it does not require authentication, and does not declare a reason",
    };
    let mut mend = "add `auth` to it, its node or the router, or a reason to be public: \
                    `public: \"…\"`, `.public(\"…\")`"
        .to_owned();
    let opaque = opaque_names(route);
    if !opaque.is_empty() {
        mend += "; if its guard is ";
        mend += &opaque.join(" or ");
        mend += ", add `.describing(|doc| doc.finds_user(…))` to it";
    }
    Finding::on(route, message).mend(mend)
}

/// Returns the names and places of the middleware that does not describe
/// itself.
fn opaque_names(route: &RouteInfo) -> Vec<String> {
    let opaque = route.middleware.iter().filter(|middleware| middleware.is_opaque);
    let names = opaque.map(|middleware| match &middleware.location {
        Some(place) => format!("`{}` ({place})", middleware.name),
        None => format!("`{}`", middleware.name),
    });
    names.collect()
}

pub(super) const USER_BEFORE_GUARD: BuiltIn = BuiltIn {
    id: "user-before-guard",
    text: "role and permission checks use the user of the handler",
    owasp: "API5",
    find: |map| {
        each(map, |route| {
            let message = "a role, permission or user check runs before the `with_auth` that \
                           sets the user of the handler: it checks another user, or none";
            let finding = || Finding::on(route, message);
            let mend = "move the check after the last `with_auth`";
            route.access.judges_earlier_user.then(|| finding().mend(mend))
        })
    },
};

pub(super) const MUTATING_NEEDS_USER: BuiltIn = BuiltIn {
    id: "mutating-needs-user",
    text: "each route that may change data requires authentication or a signature, or declares why \
           it is public",
    owasp: "API2",
    find: |map| {
        each(map, |route| {
            let is_open = route.is_open() && route.access.public.is_none();
            let message =
                format!("{} may change data, but does not require authentication", route.method);
            (is_open && route.may_change()).then(|| {
                Finding::on(route, message).mend(
                    "add `auth` to it, its node or the router, or `public: \"…\"` with a reason",
                )
            })
        })
    },
};

pub(super) const MIDDLEWARE_OPAQUE_GUARD: BuiltIn = BuiltIn {
    id: "middleware-opaque-guard",
    text: "middleware that may be a guard describes its requirements",
    owasp: "API5",
    find: |map| {
        let mut findings = each(map, opaque_permission);
        findings.extend(each(map, opaque_guard));
        findings
    },
};

fn opaque_permission(route: &RouteInfo) -> Option<Finding> {
    route.access.permissions.contains(&None).then(|| {
        Finding::on(route, "it requires a permission without a name")
            .mend("name it: `with_permission(named(\"own account\", …))`")
    })
}

/// Finds middleware that may guard a route, if no known middleware
/// authenticates the user.
fn opaque_guard(route: &RouteInfo) -> Option<Finding> {
    let is_answered = !route.access.schemes.is_empty()
        || route.access.public.is_some()
        || route.signature.is_some();
    let names = opaque_names(route);
    if is_answered || names.is_empty() {
        return None;
    }
    let message = format!("only {} may guard it, but does not describe itself", names.join(", "));
    Some(Finding::on(route, message).mend(
        "add `.describing(|doc| doc.finds_user(…))` to a guard, or `.describing(|_| {})` to \
         other middleware",
    ))
}

pub(super) const NO_BASIC: BuiltIn = BuiltIn {
    id: "no-basic",
    text: "no route accepts a name and a password with each request",
    owasp: "API2",
    find: |map| {
        each(map, |route| {
            let is_basic = |scheme: &SchemeInfo| matches!(scheme, SchemeInfo::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic"));
            route.access.schemes.iter().any(is_basic).then(|| {
                Finding::on(route, "it accepts a name and a password with each request (Basic)")
                    .mend("add a login that issues tokens or starts a session")
            })
        })
    },
};

pub(super) const GET_WITHOUT_EFFECTS: BuiltIn = BuiltIn {
    id: "get-without-effects",
    text: "no GET or HEAD route has the name of a change",
    owasp: "API5",
    find: |map| {
        each(map, |route| {
            let reads = matches!(route.method.as_str(), "GET" | "HEAD");
            let texts = route.name.iter().map(String::as_str).chain([route.path.as_str()]);
            let verb = texts.flat_map(words).find(|word| CHANGES.contains(&word.as_str()));
            let verb = verb.filter(|_| reads && route.kind == RouteKind::Http)?;
            let message =
                format!("{} must not change data, but its name contains {verb:?}", route.method);
            let mend = "use POST, PUT, PATCH or DELETE for it, or another name";
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

/// Words that suggest a change.
const CHANGES: [&str; 22] = [
    "add", "approve", "cancel", "clear", "create", "delete", "destroy", "disable", "drop",
    "enable", "insert", "logout", "purge", "remove", "reset", "revoke", "save", "send", "set",
    "truncate", "update", "upsert",
];
