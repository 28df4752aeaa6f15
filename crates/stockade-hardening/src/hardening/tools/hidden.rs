//! Tools that a caller must not see.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::message::{CallOutcome, UNKNOWN_TOOL};
use super::{Endpoint, FAMILY, Tool};
use crate::Credentials;
use crate::exchange::Exchange;
use crate::hardening::runner::{Rule, Runner, Verdict};

const RULE: Rule = Rule {
    family: FAMILY,
    text: "a caller sees and calls only the tools of routes that it may call (OWASP API5)",
    mend: "offer the tools with `Mcp`; in your own endpoint, compare the access of each route with \
           the user of the request, for the list and for each call",
};

/// A caller, and the roles of its user.
struct Caller<'c> {
    text: String,
    user: Option<&'c Credentials>,
    roles: &'c [&'c str],
}

/// Lists and calls the tools without a user, and as users with other roles.
pub(super) async fn attack(runner: &mut Runner<'_>, endpoint: Endpoint<'_>, tools: &[Tool<'_>]) {
    let anonymous = Caller { text: "an unauthenticated caller".to_owned(), user: None, roles: &[] };
    attack_as(runner, endpoint, tools, &anonymous).await;
    let map = Arc::clone(&runner.map);
    let roles = map.routes.iter().flat_map(|route| route.access.roles.iter().flatten());
    let roles: BTreeSet<&str> = roles.map(String::as_str).collect();
    let single = roles.iter().map(|role| vec![*role]);
    for roles in std::iter::once(Vec::new()).chain(single) {
        if !tools.iter().any(|tool| is_hidden(*tool, true, &roles)) {
            continue;
        }
        let text = match roles.as_slice() {
            [] => "a user without a role".to_owned(),
            roles => format!("a user with the role {}", roles.join(", ")),
        };
        let Some(user) = runner.user(&roles) else {
            let reason = "no user with these roles is known: add one with `Hardening::users`";
            runner.leave(FAMILY, Some(endpoint.target), text, reason);
            continue;
        };
        let caller = Caller { text, user: Some(&user), roles: &roles };
        attack_as(runner, endpoint, tools, &caller).await;
    }
}

/// Returns true if a caller must not see a tool.
fn is_hidden(tool: Tool<'_>, has_user: bool, roles: &[&str]) -> bool {
    let access = &tool.target.route.access;
    let has_one = |list: &Vec<String>| list.iter().any(|role| roles.contains(&role.as_str()));
    let needs_user = tool.target.needs_user() || !access.roles.is_empty();
    (needs_user && !has_user) || !access.roles.iter().all(has_one)
}

async fn attack_as(
    runner: &mut Runner<'_>,
    endpoint: Endpoint<'_>,
    tools: &[Tool<'_>],
    caller: &Caller<'_>,
) {
    let has_user = caller.user.is_some();
    let hidden = tools.iter().filter(|tool| is_hidden(**tool, has_user, caller.roles));
    let hidden: Vec<Tool<'_>> = hidden.copied().collect();
    if hidden.is_empty() {
        return;
    }
    let attack = format!("the list of tools for {}", caller.text);
    let shot = endpoint.message(caller.user, "tools/list");
    let validator = |exchange: &Exchange| lists_none(exchange, &hidden, has_user);
    runner.attack(&RULE, Some(endpoint.target), attack, shot, validator).await;
    for tool in hidden {
        let attack = format!("a call of {}", caller.text);
        let shot = endpoint.call(caller.user, tool, tool.arguments(runner));
        let validator = |exchange: &Exchange| is_unknown(exchange, has_user);
        runner.attack(&RULE, Some(tool.target), attack, shot, validator).await;
    }
}

/// Validates a list: it must not contain hidden tools.
fn lists_none(exchange: &Exchange, hidden: &[Tool<'_>], has_user: bool) -> Verdict {
    match exchange.status {
        StatusCode::UNAUTHORIZED if has_user => rejected_user(),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Verdict::Refused,
        status if !status.is_success() => Verdict::Unproven(format!("the response is {status}")),
        _ => {
            let body = serde_json::from_slice::<Value>(&exchange.body).unwrap_or_default();
            let Some(listed) = body.pointer("/result/tools").and_then(Value::as_array) else {
                return Verdict::Unproven("the response is not a list of tools".to_owned());
            };
            let is_listed = |tool: &&Tool<'_>| {
                listed.iter().any(|it| it.get("name").is_some_and(|name| *name == tool.info.name))
            };
            match hidden.iter().find(is_listed) {
                Some(tool) => Verdict::GotThrough(format!("the list contains {}", tool.info.name)),
                None => Verdict::Refused,
            }
        }
    }
}

/// Validates the response to the call of a hidden tool: an unknown tool, or the
/// request to log in.
fn is_unknown(exchange: &Exchange, has_user: bool) -> Verdict {
    match CallOutcome::of(exchange) {
        CallOutcome::Rejected(StatusCode::UNAUTHORIZED) if has_user => rejected_user(),
        CallOutcome::Rejected(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
        | CallOutcome::Error(UNKNOWN_TOOL) => Verdict::Refused,
        CallOutcome::Rejected(status) => {
            Verdict::Unproven(format!("the response is {status}, which may have another reason"))
        }
        CallOutcome::Error(code) => Verdict::Unproven(format!("the response is the error {code}")),
        CallOutcome::Result { is_error: false, .. } => {
            Verdict::GotThrough("the call succeeded".to_owned())
        }
        CallOutcome::Result { status, .. } => Verdict::GotThrough(match status {
            Some(status) => {
                format!("the call reached the route of the tool, which responds {status}")
            }
            None => "the call reached the tool".to_owned(),
        }),
        CallOutcome::Unknown => Verdict::Unproven("the response is not a result".to_owned()),
    }
}

fn rejected_user() -> Verdict {
    Verdict::Unproven("the credentials of the user were rejected with 401".to_owned())
}
