//! Policies: rules for all routes of a router.

mod access;
mod authentication;
mod build;
mod data;
mod documents;
mod exceptions;
mod exposure;
mod facts;
mod pages;
mod passwords;
mod secrets;
mod texts;
mod webhooks;

use stockade::auth::{KeyRing, SessionId};
use stockade::middleware::{Auth, SessionCookie, with_auth};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::routing::map::RouteMap;

fn secret() -> Secret {
    Secret::new("0123456789abcdef0123456789abcdef").unwrap()
}

fn signed_in() -> Middleware {
    with_auth(Auth::secret(secret()))
}

fn session() -> Middleware {
    with_auth(Auth::session(SessionCookie::new(KeyRing::new(secret())), |_: SessionId| {
        None::<String>
    }))
}

/// Middleware that does not describe itself.
fn opaque(_: &mut Request) -> Result<(), ApiError> {
    Ok(())
}

fn map_of(router: Router) -> RouteMap {
    let router = router.map_options(|options| options.enable_web_sockets(true));
    router.build().unwrap().route_map()
}

fn map_of_tree(tree: RouteTree) -> RouteMap {
    map_of(create_router(tree, RouterOptions::new()))
}

/// Checks the subjects of the findings of a rule.
#[track_caller]
fn check_map(rule: &str, map: &RouteMap, expected: &[&str]) {
    let findings = Policy::strict().check(map);
    let found = findings.iter().filter(|finding| finding.rule == rule);
    let found: Vec<&str> = found.map(|finding| finding.subject.as_str()).collect();
    assert_eq!(found, expected, "{findings:#?}");
}

#[track_caller]
fn check(rule: &str, tree: RouteTree, expected: &[&str]) {
    check_map(rule, &map_of_tree(tree), expected);
}

/// Returns the messages of a rule's findings in their displayed form.
fn texts(rule: &str, map: &RouteMap) -> Vec<String> {
    let findings = Policy::strict().check(map).into_iter();
    findings.filter(|finding| finding.rule == rule).map(|finding| finding.to_string()).collect()
}
