//! Twenty defenses, removed from the shop one at a time, and the checks that
//! detect each removal.

mod copy;

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::SystemTime;

use stockade::openapi::lock::{Changes, Lock};
use stockade::testing::{Contract, Credentials, Hardening, check_schemas};

use self::copy::copy;
use crate::shop::example::policy;
use crate::shop::{self, ANN, CLEO, DAN, token};
use crate::support::{block_on, request};

/// A removed defense, and the checks that detect the removal.
struct Row {
    defence: &'static str,
    /// The names of the copy's changes: before and after.
    change: (&'static str, &'static str),
    /// The checks, with the rules of the policy and of the lock.
    caught_by: &'static str,
}

const fn row(defence: &'static str, change: &'static str, caught_by: &'static str) -> Row {
    Row { defence, change: ("", change), caught_by }
}

const ROWS: [Row; 20] = [
    row(
        "a route no longer requires a user",
        "user",
        "policy: `access-declared`; lock: `check-removed`, `middleware-removed`, `role-not-required`, `user-not-required`",
    ),
    row(
        "a route no longer requires a role",
        "role",
        "lock: `middleware-removed`, `role-not-required`",
    ),
    row(
        "a route no longer requires a permission",
        "permission",
        "lock: `check-removed`, `middleware-removed`, `permission-not-required`",
    ),
    row(
        "the maximum body size is 1 GiB",
        "body limit",
        "policy: `body-bounded`; lock: `max-body-raised`",
    ),
    row(
        "the login has no rate limit",
        "rate limit",
        "lock: `middleware-removed`, `rate-limit-raised`",
    ),
    row(
        "`cors_origin` is `*` instead of a list",
        "CORS list",
        "policy: `cors-open-with-user`; lock: `origin-added`, `request-check-removed`",
    ),
    Row {
        defence: "a route that every origin may read allows credentials",
        change: ("CORS without credentials", ""),
        caught_by: "lock: `credentials-allowed`",
    },
    row(
        "a WebSocket accepts every origin",
        "WebSocket origin",
        "policy: `ws-origin-open`; lock: `origin-added`",
    ),
    row("a security header is missing", "header", "lock: `security-header-removed`"),
    row(
        "unknown members of a body are accepted",
        "unknown members",
        "lock: `request-unknown-fields-allowed`",
    ),
    row("an email address may be any text", "pattern", "lock: `request-pattern-removed`"),
    row("a number no longer has a maximum", "bound", "lock: `request-bound-loosened`"),
    row(
        "a public route is added without a reason",
        "an open route",
        "policy: `access-declared`; lock: `route-added-open`",
    ),
    row(
        "`expose_errors(true)` is set",
        "expose_errors",
        "policy: `errors-hidden`; lock: `expose-errors-changed`; hardening: responses",
    ),
    row(
        "`trust_proxy` counts a proxy that does not exist",
        "trust_proxy",
        "lock: `trust-proxy-changed`",
    ),
    row("the login has no timeout", "timeout", "lock: `middleware-removed`, `timeout-raised`"),
    Row {
        defence: "a guard runs after middleware that responds itself",
        change: ("answers behind the guard", "answers before the guard"),
        caught_by: "lock: `middleware-order-changed`; hardening: credentials, detours",
    },
    row(
        "a handler has a second path without its guard",
        "a second path",
        "policy: `access-declared`; lock: `route-added-open`",
    ),
    Row {
        defence: "an error handler sends the message of a 5xx",
        change: ("text of a 5xx, hidden", "text of a 5xx"),
        caught_by: "hardening: responses",
    },
    row("a response contains a password hash", "secret", "lock: `reply-secret-added`"),
];

/// Returns the credentials of a shop user with these roles.
fn user(roles: &[&str]) -> Option<Credentials> {
    let id = match roles {
        [] => ANN,
        ["clerk"] => CLEO,
        ["admin"] => DAN,
        _ => return None,
    };
    Some(Credentials::bearer(token(id)))
}

fn lock_of(change: &'static str) -> Lock {
    Lock::of(&copy(change).build().unwrap().route_map()).unwrap()
}

fn changes((before, after): (&'static str, &'static str)) -> Changes {
    lock_of(before).changes_to(&lock_of(after), SystemTime::UNIX_EPOCH)
}

/// Returns the checks that fail between two states of the shop, in the format
/// of a row.
fn caught_by(change: (&'static str, &'static str)) -> String {
    let (_, after) = change;
    let mut found = Vec::new();
    let map = copy(after).build().unwrap().route_map();
    let broken: BTreeSet<String> =
        policy().check(&map).into_iter().map(|it| format!("`{}`", it.rule)).collect();
    if !broken.is_empty() {
        found.push(format!("policy: {}", list(broken)));
    }
    found.extend(caught_by_lock(change));
    let hardening = Hardening::new(copy(after)).anew(move || copy(after)).users(user);
    let report = block_on(hardening.allow_reads().run());
    let families: BTreeSet<String> =
        report.failures.iter().map(|it| it.family.to_string()).collect();
    if !families.is_empty() {
        found.push(format!("hardening: {}", list(families)));
    }
    let report = block_on(
        check_schemas(copy(after))
            .rebuild(move || copy(after))
            .users(|_| Some(Credentials::bearer(token(DAN))))
            .cases(2)
            .skip("POST /login", "a hash takes its time")
            .skip("POST /users", "a hash takes its time")
            .kept_in(None)
            .try_run(),
    );
    if !report.unwrap().is_passed() {
        found.push("properties".to_owned());
    }
    if breaks_contract(after) {
        found.push("contract".to_owned());
    }
    found.join("; ")
}

/// Returns the weakened lock rules. If there are none, returns all rules except
/// texts, with their classes.
fn caught_by_lock(change: (&'static str, &'static str)) -> Option<String> {
    let changes = changes(change);
    let weaker = changes.iter().filter(|it| it.rule.weakening);
    let mut found: BTreeSet<String> = weaker.map(|it| format!("`{}`", it.rule.id)).collect();
    if found.is_empty() {
        let others = changes.iter().filter(|it| !it.rule.text);
        found = others.map(|it| format!("`{}` ({})", it.rule.id, it.rule.class())).collect();
    }
    (!found.is_empty()).then(|| format!("lock: {}", list(found)))
}

fn list(words: BTreeSet<String>) -> String {
    Vec::from_iter(words).join(", ")
}

/// Returns true if the response to a usual request contradicts the map.
fn breaks_contract(change: &'static str) -> bool {
    let contract = Contract::of(&copy(change).build().unwrap());
    let admin = format!("authorization: Bearer {}", token(DAN));
    let asked = [
        "GET /products?category=tea&sort=-name".to_owned(),
        "GET /products/search?q=tea".to_owned(),
        "GET /products/1".to_owned(),
        format!("GET /users\n{admin}"),
        format!("GET /users/{ANN}\n{admin}"),
        format!("GET /orders/1\n{admin}"),
        format!("POST /products\n{admin}\ncontent-type: application/json\n\n{{}}"),
    ];
    asked.iter().any(|text| {
        let (asked, answer) = (request(text).into_parts().0, request(text));
        let (head, body) = block_on(contract.app().handle(answer)).into_parts();
        contract.check(&asked, &head, body.as_bytes().unwrap_or_default()).is_err()
    })
}

#[test]
fn the_copy_has_the_routes_of_the_shop() {
    let shop = Lock::of(&shop::router().build().unwrap().route_map()).unwrap();
    let others: BTreeMap<&str, Vec<String>> = shop
        .changes_to(&lock_of(""), SystemTime::UNIX_EPOCH)
        .iter()
        // The copy does not have a policy and an endpoint for agents.
        .filter(|it| !it.rule.text && !it.rule.id.starts_with("policy-"))
        .filter(|it| it.rule.id != "tool-removed")
        .filter(|it| it.rule.id != "route-removed")
        .map(|it| (it.rule.id, it.routes.clone()))
        .collect();
    assert_eq!(others, BTreeMap::new());
}

#[test]
fn finds_nothing_if_no_defense_is_removed() {
    for before in BTreeSet::from(ROWS.map(|row| row.change.0)) {
        assert_eq!(caught_by((before, before)), "", "{before}");
    }
}

#[test]
fn detects_each_removed_defense() {
    let check = |rows: &[Row]| {
        let wrong = rows.iter().filter_map(|Row { defence, change, caught_by: expected }| {
            let found = caught_by(*change);
            (found != *expected).then(|| format!("{defence}\n  {expected}\n  {found}"))
        });
        wrong.collect::<Vec<_>>()
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let parts: Vec<_> = ROWS.chunks(5).map(|rows| scope.spawn(move || check(rows))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
}

#[test]
fn the_guide_has_the_table() {
    let chapter = include_str!("../../../../book/src/appendix/which-check.md");
    let table: Vec<String> = ROWS
        .iter()
        .map(|Row { defence, caught_by, .. }| format!("| {defence} | {caught_by} |"))
        .collect();
    let found = chapter.contains(&format!("|---|---|\n{}\n\n", table.join("\n")));
    assert!(found, "the table of the chapter must be\n{}", table.join("\n"));
}
