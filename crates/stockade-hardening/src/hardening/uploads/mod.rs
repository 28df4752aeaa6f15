//! Uploaded files that a browser would run as a page: uploads them, and reads them
//! back.
//!
//! `hostile_file` has the files and creates the uploads; `read_back` finds the
//! paths of stored files and validates their responses.

mod hostile_file;
mod read_back;

use std::sync::Arc;

use http::Method;
use stockade_routing::map::{Need, RouteKind};

use self::hostile_file::{FILES, HostileFile, upload};
use self::read_back::{fault_of, paths_of};
use super::AttackFamily;
use super::attack_target::{AttackTarget, label_of};
use super::runner::{Rule, Runner, Verdict};
use crate::Credentials;
use crate::exchange::Exchange;
use crate::shot::Shot;

const RULE: Rule = Rule {
    family: AttackFamily::Uploads,
    text: "a browser never runs an uploaded file as a page of the origin (OWASP API8)",
    mend: "return `Download`, or `FileReply::uploaded`: they use a safe media type, `nosniff` and \
           `Content-Disposition: attachment`",
};

/// Uploads files, and reads them back.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    let mut count = 0;
    for target in targets.iter().filter(|target| takes_files(target)) {
        if runner.is_skipped(RULE.family, Some(target)) {
            continue;
        }
        let user = match user_of(runner, target) {
            Err(reason) => {
                runner.leave(RULE.family, Some(target), "uploaded files", reason);
                continue;
            }
            Ok(user) => user,
        };
        for file in &FILES {
            count += 1;
            attack_file(runner, target, file, count, user.as_ref()).await;
        }
    }
}

fn takes_files(target: &AttackTarget) -> bool {
    let is_write = [Method::POST, Method::PUT, Method::PATCH].contains(&target.shot().method);
    let route = &target.route;
    is_write && route.kind == RouteKind::Http && route.signature.is_none() && target.takes_bytes()
}

/// Returns the user that uploads, if the route needs one.
fn user_of(runner: &Runner<'_>, target: &AttackTarget) -> Result<Option<Credentials>, String> {
    if target.route.access.user == Need::None {
        return Ok(None);
    }
    let first = || runner.plan().tenants.first().cloned();
    match runner.user(&target.roles()).or_else(first) {
        None if target.needs_user() => {
            Err("no user with access to the route is known: add one with `Hardening::users`"
                .to_owned())
        }
        user => Ok(user),
    }
}

/// Uploads one file. Says nothing if it is rejected, or if no path leads to it.
async fn attack_file(
    runner: &mut Runner<'_>,
    target: &AttackTarget,
    file: &HostileFile,
    number: usize,
    user: Option<&Credentials>,
) {
    let Some(exchange) = uploaded(runner, target, file, number, user).await else { return };
    let targets = Arc::clone(&runner.targets);
    let mut seen: Vec<&str> = Vec::new();
    for path in paths_of(runner, target, file, &exchange) {
        let shot = of(Shot::new(Method::GET, path), user);
        let label = runner.target_of(&shot).map(label_of);
        let served = targets.iter().find(|it| label.as_ref() == Some(&it.label));
        let Some(served) = served.filter(|it| !seen.contains(&it.label.as_str())) else { continue };
        if runner.is_skipped(RULE.family, Some(served)) {
            continue;
        }
        let Ok(answer) = runner.send_whole(&shot).await else { continue };
        if !answer.status.is_success() || !file.is_in(&answer.body, number) {
            continue;
        }
        seen.push(&served.label);
        let attack = format!("{} uploaded by {}", file.shown(), target.label);
        let verdict = fault_of(&answer).map_or(Verdict::Refused, Verdict::GotThrough);
        runner.note(&RULE, Some(served), attack, Some(&answer), verdict);
    }
}

/// Sends the upload with the name in the path, if the route has a parameter for
/// it, and otherwise with a generated value. Returns the response of a success.
async fn uploaded(
    runner: &mut Runner<'_>,
    target: &AttackTarget,
    file: &HostileFile,
    number: usize,
    user: Option<&Credentials>,
) -> Option<Exchange> {
    let last = target.route.params.last().map(|param| param.name.clone());
    let given = runner.plan().params.clone();
    let named = |name: &str| {
        let is_last = last.as_deref() == Some(name);
        given.get(name).cloned().or_else(|| is_last.then(|| file.safe_name.to_owned()))
    };
    let map = Arc::clone(&runner.map);
    let named = AttackTarget::new(runner.app(), &map, target.index, named);
    let named = named.filter(|named| named.path != target.path);
    for target in named.iter().chain([target]) {
        let shot = of(upload(&map, target, file, number), user);
        if let Ok(exchange) = runner.send_whole(&shot).await
            && (exchange.status.is_success() || exchange.status.is_redirection())
        {
            return Some(exchange);
        }
    }
    None
}

fn of(shot: Shot, user: Option<&Credentials>) -> Shot {
    match user {
        Some(user) => shot.of(user),
        None => shot,
    }
}
