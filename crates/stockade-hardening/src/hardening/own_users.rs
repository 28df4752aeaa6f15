//! Middleware of the program that takes the user of a request from a header.
//!
//! Each such middleware runs by itself, without the handler. A header that changes
//! the user is a finding, whatever the response of the route would be. The name of
//! the middleware and of the header do not matter: names come from the description
//! of the route and from the sources of the package.

use std::sync::Arc;

use serde_json::{Value, json};
use stockade_core::endpoint_internals::UserAfter;
use stockade_routing::map::own_middleware::{OwnMiddleware, found_user, own_middleware};

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::claims::{Claim, claims_of};
use super::runner::{Rule, Runner, Verdict};
use crate::header_names::{header_names, is_standard};
use crate::lock::package;
use crate::shot::Shot;

const RULE: Rule = Rule {
    family: AttackFamily::Detours,
    text: "no middleware takes the user of a request from a header that clients can send \
           (OWASP API2)",
    mend: "remove the middleware, and authenticate the user with `auth`; if it verifies a \
           credential in the header, use `Auth::verify`, or declare it with \
           `.describing(|doc| doc.finds_user(…))`",
};

const ATTACK: &str = "headers that set the user";

/// Sends headers to each middleware of the program.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    let mut known: Vec<Vec<Claim>> = Vec::new();
    let mut seen = Vec::new();
    for target in targets.iter() {
        for own in own_middleware(runner.app(), target.index) {
            let key = (own.name.clone(), own.location.clone());
            if seen.contains(&key) || runner.is_skipped(RULE.family, Some(target)) {
                continue;
            }
            seen.push(key);
            if known.is_empty() {
                known = headers_of(runner);
            }
            attack_one(runner, target, &own, &known).await;
        }
    }
}

/// Returns the headers in sets: known names, names in descriptions of routes, and
/// names in the sources of the package.
fn headers_of(runner: &Runner<'_>) -> Vec<Vec<Claim>> {
    let mut sets = claims_of(runner);
    let declared = runner.map.routes.iter().flat_map(|route| &route.headers);
    let mut names: Vec<String> = declared.map(|it| it.name.to_ascii_lowercase()).collect();
    names.retain(|name| !is_standard(name));
    names.extend(package().iter().flat_map(|folder| header_names(folder)));
    names.sort_unstable();
    names.dedup();
    for value in ["admin", "1"] {
        let claim = |name: &String| (name.clone(), value.to_owned());
        sets.extend(names.chunks(SET).map(|names| names.iter().map(claim).collect::<Vec<_>>()));
    }
    sets
}

/// Sends the headers to one middleware: without a user, and with one.
async fn attack_one(
    runner: &mut Runner<'_>,
    target: &AttackTarget,
    own: &OwnMiddleware,
    sets: &[Vec<Claim>],
) {
    let shot = target.shot();
    for user in [None, Some(json!({ "sub": "somebody" }))] {
        let (before, again) = (
            user_after(runner, own, &user, &shot).await,
            user_after(runner, own, &user, &shot).await,
        );
        if before != again {
            let reason = format!("{} sets another user for each request", shown(own));
            return runner.leave(RULE.family, Some(target), ATTACK, reason);
        }
        for set in sets {
            let all = set.iter().fold(shot.clone(), |shot, (name, value)| shot.set(name, value));
            if !is_set(&before, &user_after(runner, own, &user, &all).await) {
                continue;
            }
            let header = header_in(runner, own, &user, &shot, &before, set).await;
            let attack = header.map_or_else(
                || "several headers together".to_owned(),
                |(name, value)| format!("the header `{name}: {value}`"),
            );
            let verdict = Verdict::GotThrough(format!("{} sets the user", shown(own)));
            return runner.note(&RULE, Some(target), attack, None, verdict);
        }
    }
    runner.note(&RULE, Some(target), ATTACK, None, Verdict::Refused);
}

/// Returns the header of a set that changes the user by itself.
async fn header_in(
    runner: &mut Runner<'_>,
    own: &OwnMiddleware,
    user: &Option<Value>,
    shot: &Shot,
    before: &Option<UserAfter>,
    set: &[Claim],
) -> Option<Claim> {
    for (name, value) in set {
        let shot = shot.clone().set(name, value);
        if is_set(before, &user_after(runner, own, user, &shot).await) {
            return Some((name.clone(), value.clone()));
        }
    }
    None
}

/// Returns true if the request continues with a user that it does not have
/// without the header.
fn is_set(before: &Option<UserAfter>, after: &Option<UserAfter>) -> bool {
    matches!(after, Some(UserAfter::User(Some(_)))) && before != after
}

/// Runs a middleware by itself. Returns `None` if no client can send the request.
async fn user_after(
    runner: &mut Runner<'_>,
    own: &OwnMiddleware,
    user: &Option<Value>,
    shot: &Shot,
) -> Option<UserAfter> {
    let request = shot.request(runner.new_peer())?;
    found_user(runner.app(), own.index, user.clone(), request).await
}

/// Returns the name of a middleware, with the place that adds it.
fn shown(own: &OwnMiddleware) -> String {
    match &own.location {
        Some(place) => format!("the middleware `{}` ({place})", own.name),
        None => format!("the middleware `{}`", own.name),
    }
}

/// The number of headers in one request.
const SET: usize = 200;
