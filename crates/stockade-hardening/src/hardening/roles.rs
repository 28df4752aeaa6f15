//! Authenticated users with the wrong role or permission.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::StatusCode;

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;

const RULE: Rule = Rule {
    family: AttackFamily::Roles,
    text: "a user without the role or the permission of a route gets a 403, and the handler \
           does not run (OWASP API1, API5)",
    mend: "put `with_role` or `with_permission` after `with_auth` and before the handler",
};

const UNKNOWN: &str = "no user with these roles is known: add one with `Hardening::users`";

/// Sends requests from users with insufficient rights.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    let map = Arc::clone(&runner.map);
    let roles = map.routes.iter().flat_map(|route| route.access.roles.iter().flatten());
    let roles: BTreeSet<&str> = roles.map(String::as_str).collect();
    for target in targets.iter() {
        let access = &target.route.access;
        if !access.roles.is_empty() {
            attack_as(runner, target, &[]).await;
            let suffices = |role: &str| {
                access.roles.iter().all(|list| list.iter().any(|listed| listed == role))
            };
            for role in roles.iter().filter(|role| !suffices(role)) {
                attack_as(runner, target, &[role]).await;
            }
        }
        match (access.permissions.is_empty(), access.roles.is_empty()) {
            (true, _) => {}
            (false, true) => attack_as(runner, target, &[]).await,
            (false, false) => {
                let reason = "users with the role may also have the permission";
                runner.leave(
                    RULE.family,
                    Some(target),
                    "the permission in addition to a role",
                    reason,
                );
            }
        }
    }
}

/// Sends a request from a user with these roles.
async fn attack_as(runner: &mut Runner<'_>, target: &AttackTarget, roles: &[&str]) {
    let attack = match roles {
        [] => "a user without a role".to_owned(),
        roles => format!("a user with the role {}", roles.join(", ")),
    };
    match runner.user(roles) {
        Some(user) => {
            let shot = target.shot().of(&user);
            runner.attack(&RULE, Some(target), attack, shot, is_forbidden).await;
        }
        None => runner.leave(RULE.family, Some(target), attack, UNKNOWN),
    }
}

/// Validates the response to a user without the rights of a route.
pub(super) fn is_forbidden(exchange: &Exchange) -> Verdict {
    match exchange.status {
        StatusCode::FORBIDDEN => Verdict::Refused,
        StatusCode::UNAUTHORIZED => {
            Verdict::Unproven("the credentials of the user were rejected with 401".into())
        }
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}
