//! Values of parameters that lead to other routes.

use std::sync::Arc;

use http::header;
use serde_json::Value;
use stockade_map::ToolArgument;
use stockade_routing::map::RouteInfo;

use super::message::CallOutcome;
use super::{Endpoint, FAMILY, REACHES_HANDLER, Tool};
use crate::Credentials;
use crate::exchange::Exchange;
use crate::hardening::runner::{Rule, Runner, Verdict};
use crate::sample::Sample;
use crate::shot::Shot;

const RULE: Rule = Rule {
    family: FAMILY,
    text: "a call reaches only the route of its tool, whatever the arguments are (OWASP API5)",
    mend: "encode each value as one segment, reject empty values, `.` and `..`, and compare the \
           route that matches with the route of the tool",
};

/// Values that no segment may have.
const NEVER: [&str; 3] = ["", ".", ".."];

/// Values that may lead to another route if they are not encoded.
const CONFUSING: [&str; 8] = ["me", "%2e%2e", "a/b", "../x", "?x", "#x", "..%2f", "x\\..\\y"];

/// Sends each value in each parameter of the path.
pub(super) async fn attack(runner: &mut Runner<'_>, endpoint: Endpoint<'_>, tool: Tool<'_>) {
    if tool.in_path().next().is_none() {
        return;
    }
    let Some(user) = endpoint.caller(runner, tool, "values that lead to other routes") else {
        return;
    };
    let siblings = siblings(runner, tool);
    for argument in tool.in_path() {
        let values = CONFUSING.iter().map(|value| (*value).to_owned()).chain(siblings.clone());
        for value in NEVER {
            attack_value(runner, endpoint, tool, (argument, value), user.as_ref()).await;
        }
        for value in values {
            let shot = direct(runner, tool, argument, &value);
            let is_own = shot
                .as_ref()
                .is_some_and(|shot| runner.target_of(shot) == Some(&tool.target.route));
            let place = (argument, value.as_str());
            if let Some(shot) = shot.filter(|_| is_own && takes_text(tool, argument)) {
                compare(runner, endpoint, tool, place, user.as_ref(), shot).await;
            } else {
                attack_value(runner, endpoint, tool, place, user.as_ref()).await;
            }
        }
    }
}

/// Returns false if the route rejects a text in this parameter.
fn takes_text(tool: Tool<'_>, argument: &ToolArgument) -> bool {
    let schema = tool.info.input_schema.get("properties").and_then(|it| it.get(&argument.name));
    let of_type = schema.and_then(|schema| schema.get("type"));
    of_type
        .is_none_or(|of_type| !matches!(of_type.as_str(), Some("integer" | "number" | "boolean")))
}

/// Returns the fixed segments of other routes next to a parameter, such as `me`
/// of `/users/me` for `/users/:id`.
fn siblings(runner: &Runner<'_>, tool: Tool<'_>) -> Vec<String> {
    let own: Vec<&str> = tool.target.route.path.split('/').collect();
    let mut found = Vec::new();
    for route in &runner.map.routes {
        let other: Vec<&str> = route.path.split('/').collect();
        let is_same = route.method == tool.target.route.method && own.len() == other.len();
        for (own, other) in own.iter().zip(&other).filter(|_| is_same) {
            let is_fixed = !other.starts_with([':', '*']) && !CONFUSING.contains(other);
            if own.starts_with(':') && is_fixed && !found.contains(&(*other).to_owned()) {
                found.push((*other).to_owned());
            }
        }
    }
    found.truncate(MAX_SIBLINGS);
    found
}

/// Returns a request to the path with an encoded value. Returns `None` if it is
/// not a valid path.
fn direct(
    runner: &Runner<'_>,
    tool: Tool<'_>,
    argument: &ToolArgument,
    value: &str,
) -> Option<Shot> {
    let map = Arc::clone(&runner.map);
    let params = &runner.plan().params;
    let given = |name: &str| match name == argument.original {
        true => Some(value.to_owned()),
        false => params.get(name).cloned(),
    };
    let path = Sample::of(&map).paths(&tool.target.route, given).into_iter().next()?;
    let query = tool.target.shot().target.split_once('?').map(|(_, query)| query.to_owned());
    let target = match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    Some(tool.target.shot().target(target))
}

/// Calls a tool with a value that must not succeed.
async fn attack_value(
    runner: &mut Runner<'_>,
    endpoint: Endpoint<'_>,
    tool: Tool<'_>,
    (argument, value): (&ToolArgument, &str),
    user: Option<&Credentials>,
) {
    let shot = call(runner, endpoint, tool, (argument, value), user);
    let validator = |exchange: &Exchange| match CallOutcome::of(exchange) {
        CallOutcome::Unknown => Verdict::Unproven("the response is not a result".to_owned()),
        outcome if outcome.is_failure() => Verdict::Refused,
        _ => Verdict::GotThrough("the call succeeded".to_owned()),
    };
    runner.attack(&RULE, Some(tool.target), attack_of(argument, value), shot, validator).await;
}

fn call(
    runner: &Runner<'_>,
    endpoint: Endpoint<'_>,
    tool: Tool<'_>,
    (argument, value): (&ToolArgument, &str),
    user: Option<&Credentials>,
) -> Shot {
    let mut arguments = tool.arguments(runner);
    arguments.insert(argument.name.clone(), Value::from(value));
    endpoint.call(user, tool, arguments)
}

/// Calls a tool with a value that its route accepts, and compares the result
/// with the response of the route.
async fn compare(
    runner: &mut Runner<'_>,
    endpoint: Endpoint<'_>,
    tool: Tool<'_>,
    (argument, value): (&ToolArgument, &str),
    user: Option<&Credentials>,
    direct: Shot,
) {
    let attack = attack_of(argument, value);
    // A cookie is a login for the route, and not for the tool.
    let has_cookie = user.is_some_and(|user| user.headers().contains_key(header::COOKIE));
    if tool.target.route.method != "GET" || !runner.plan().reads || has_cookie {
        return runner.leave(FAMILY, Some(tool.target), attack, REACHES_HANDLER);
    }
    if runner.is_skipped(FAMILY, Some(tool.target)) {
        return;
    }
    let direct = super::of(direct, user);
    let shot = call(runner, endpoint, tool, (argument, value), user);
    let sent = (
        runner.send_whole(&direct).await,
        runner.send_whole(&direct).await,
        runner.send_whole(&shot).await,
    );
    let (Ok(expected), Ok(again), Ok(exchange)) = sent else {
        return runner.leave(FAMILY, Some(tool.target), attack, "a request gets no response");
    };
    let is_stable = expected.body == again.body;
    let verdict = is_same(&tool.target.route, (&expected, is_stable), &exchange);
    runner.note(&RULE, Some(tool.target), attack, Some(&exchange), verdict);
}

/// Compares the result of a call with the response of its route, which may be
/// different each time.
fn is_same(
    route: &RouteInfo,
    (expected, is_stable): (&Exchange, bool),
    exchange: &Exchange,
) -> Verdict {
    let differs = || {
        let path = expected.asked.target.as_str();
        let status = expected.status;
        Verdict::GotThrough(format!(
            "the result is not the response of `{} {path}`, which is {status}",
            route.method
        ))
    };
    match CallOutcome::of(exchange) {
        CallOutcome::Result { is_error: false, text, .. } if expected.status.is_success() => {
            let body = String::from_utf8_lossy(&expected.body);
            // A result without text is an image. The text for an empty body is not
            // the body.
            match text.is_empty() || body.is_empty() || text == body || !is_stable {
                true => Verdict::Refused,
                false => differs(),
            }
        }
        CallOutcome::Result { is_error: false, .. } if !expected.status.is_redirection() => {
            differs()
        }
        CallOutcome::Result { status: Some(status), .. } if status != expected.status => differs(),
        CallOutcome::Unknown => Verdict::Unproven("the response is not a result".to_owned()),
        _ => Verdict::Refused,
    }
}

fn attack_of(argument: &ToolArgument, value: &str) -> String {
    format!("the value {value:?} of the argument `{}`", argument.name)
}

/// The maximum number of segments of other routes.
const MAX_SIBLINGS: usize = 8;
