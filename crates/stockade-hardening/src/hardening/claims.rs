//! Headers that pretend to be a user or to have a role.

use std::sync::Arc;

use http::{Method, StatusCode};
use stockade_routing::map::RouteKind;

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::credentials::is_refused;
use super::roles::is_forbidden;
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;
use crate::shot::Shot;

const RULE: Rule = Rule {
    family: AttackFamily::Detours,
    text: "no header sets the user or the role of a request, unless a trusted proxy sets it \
           (OWASP API2)",
    mend: "remove the middleware that reads the header, and use `auth`; if a proxy authenticates \
           users, verify its signature or its token",
};

/// Sends the headers in which proxies and programs pass a user.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    let claims = claims_of(runner);
    for target in targets.iter().filter(|it| it.route.kind == RouteKind::Http) {
        if target.needs_user() {
            attack_user(runner, target, &claims).await;
            attack_role(runner, target, &claims).await;
        } else if runner.plan().reads {
            attack_open(runner, target, &claims).await;
        }
    }
}

/// A header that pretends to be a user.
pub(super) type Claim = (String, String);

/// Returns the headers in sets, because a program may accept only known users.
pub(super) fn claims_of(runner: &Runner<'_>) -> Vec<Vec<Claim>> {
    let known = runner.plan().tokens.as_ref().map(|(_, claims)| claims);
    let name = |names: &[&str]| {
        let value = names.iter().find_map(|name| known?.get(*name));
        value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let mut own: Vec<&str> = Vec::new();
    for route in &runner.map.routes {
        let read = route.headers.iter().map(|header| header.name.as_str());
        own.extend(read.filter(|name| is_identity(name)));
    }
    let users = [
        ("admin".to_owned(), "admin".to_owned()),
        ("1".to_owned(), name(&["role", "roles"]).unwrap_or_else(|| "admin".to_owned())),
    ];
    let subject = name(&["sub", "id"]).map(|subject| (subject, "admin".to_owned()));
    let email = name(&["email"]).unwrap_or_else(|| "admin@example.org".to_owned());
    users
        .into_iter()
        .chain(subject)
        .map(|(user, role)| {
            let claim = |names: &[&str], value: &str| -> Vec<Claim> {
                names.iter().map(|name| ((*name).to_owned(), value.to_owned())).collect()
            };
            let mut all = claim(USERS, &user);
            all.extend(claim(EMAILS, &email));
            all.extend(claim(ROLES, &role));
            all.extend(claim(FLAGS, "true"));
            all.extend(claim(&own, &user));
            all
        })
        .collect()
}

/// Returns true if a header of the program may contain a user.
fn is_identity(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["user", "account", "member", "tenant", "role", "email", "subject", "admin"];
    words.iter().any(|word| name.contains(word))
}

/// Pretends to be a user on a route that requires one.
async fn attack_user(runner: &mut Runner<'_>, target: &AttackTarget, claims: &[Vec<Claim>]) {
    let shot = target.shot();
    for set in claims {
        if attack_set(runner, target, &shot, set, is_refused).await {
            return;
        }
    }
}

/// Claims a role as a user without one.
async fn attack_role(runner: &mut Runner<'_>, target: &AttackTarget, claims: &[Vec<Claim>]) {
    if target.route.access.roles.is_empty() {
        return;
    }
    // The attacks on roles report a missing user.
    let Some(user) = runner.user(&[]) else { return };
    let shot = target.shot().of(&user);
    for set in claims {
        if attack_set(runner, target, &shot, set, is_forbidden).await {
            return;
        }
    }
}

/// Sends all headers of a set in one request. If it is not rejected, finds the
/// header and returns true.
async fn attack_set(
    runner: &mut Runner<'_>,
    target: &AttackTarget,
    shot: &Shot,
    set: &[Claim],
    expected: impl Fn(&Exchange) -> Verdict,
) -> bool {
    if runner.is_skipped(RULE.family, Some(target)) {
        return false;
    }
    let all = set.iter().fold(shot.clone(), |shot, (name, value)| shot.set(name, value));
    let exchange = match runner.send(Some(target), &all).await {
        Ok(exchange) if exchange.status == StatusCode::TOO_MANY_REQUESTS => {
            Err("the response was 429".to_owned())
        }
        exchange => exchange,
    };
    let exchange = match exchange {
        Ok(exchange) => exchange,
        Err(reason) => {
            runner.leave(RULE.family, Some(target), ALL, reason);
            return false;
        }
    };
    let verdict = expected(&exchange);
    let got_through = matches!(verdict, Verdict::GotThrough(_));
    if got_through {
        let failed = |runner: &mut Runner<'_>| runner.report_mut().count(RULE.family).failed;
        let before = failed(runner);
        for (name, value) in set {
            let shot = shot.clone().set(name, value);
            let attack = format!("the header `{name}: {value}`");
            runner.attack(&RULE, Some(target), attack, shot, &expected).await;
        }
        if failed(runner) > before {
            return true;
        }
    }
    runner.note(&RULE, Some(target), ALL, Some(&exchange), verdict);
    got_through
}

/// Compares the responses of a route for anybody with and without the headers.
async fn attack_open(runner: &mut Runner<'_>, target: &AttackTarget, claims: &[Vec<Claim>]) {
    let is_read = target.shot().method == Method::GET && target.route.body.is_none();
    if !is_read || runner.is_skipped(RULE.family, Some(target)) {
        return;
    }
    let shot = target.shot();
    let (Ok(first), Ok(second)) =
        (runner.send(Some(target), &shot).await, runner.send(Some(target), &shot).await)
    else {
        return;
    };
    if !is_same(&first, &second) {
        let reason = "each response is different";
        return runner.leave(RULE.family, Some(target), ALL, reason);
    }
    for set in claims {
        let expected = |exchange: &Exchange| match is_same(&first, exchange) {
            true => Verdict::Refused,
            false => Verdict::GotThrough(format!(
                "the response is {} with another body than without the header",
                exchange.status
            )),
        };
        if attack_set(runner, target, &shot, set, expected).await {
            return;
        }
    }
}

fn is_same(first: &Exchange, second: &Exchange) -> bool {
    first.status == second.status && first.body == second.body
}

const ALL: &str = "headers that pretend to be a user";

/// Headers with the name or the id of a user: of OAuth proxies, gateways and
/// service meshes, and common names.
const USERS: &[&str] = &[
    "remote-user",
    "x-remote-user",
    "x-user",
    "x-user-id",
    "x-userid",
    "x-user-name",
    "x-username",
    "x-uid",
    "x-login",
    "x-subject",
    "x-account",
    "x-account-id",
    "x-member-id",
    "x-customer-id",
    "x-tenant",
    "x-tenant-id",
    "x-org-id",
    "x-authenticated-user",
    "x-authenticated-userid",
    "x-auth-user",
    "x-auth-user-id",
    "x-auth-username",
    "x-auth-request-user",
    "x-auth-request-preferred-username",
    "x-forwarded-user",
    "x-forwarded-preferred-username",
    "x-webauth-user",
    "x-consumer-username",
    "x-consumer-custom-id",
    "x-credential-identifier",
    "x-ms-client-principal-name",
    "x-ms-client-principal-id",
    "x-goog-authenticated-user-id",
    "x-amzn-oidc-identity",
    "x-vouch-user",
    "x-authentik-username",
    "x-authentik-uid",
    "x-impersonate-user",
    "impersonate-user",
    "x-act-as",
    "x-on-behalf-of",
    "x-sudo",
    "tailscale-user-login",
];

const EMAILS: &[&str] = &[
    "x-email",
    "x-user-email",
    "x-auth-email",
    "x-auth-request-email",
    "x-forwarded-email",
    "x-webauth-email",
    "x-goog-authenticated-user-email",
    "cf-access-authenticated-user-email",
];

const ROLES: &[&str] = &[
    "x-role",
    "x-roles",
    "x-user-role",
    "x-user-roles",
    "x-auth-roles",
    "x-groups",
    "x-user-groups",
    "x-forwarded-groups",
    "x-auth-request-groups",
    "x-permissions",
    "x-scope",
    "x-scopes",
];

const FLAGS: &[&str] = &["x-admin", "x-is-admin", "x-internal", "x-internal-request", "x-debug"];
