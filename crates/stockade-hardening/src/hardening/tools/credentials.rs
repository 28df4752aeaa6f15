//! Cookies, which a call must not forward.

use http::header;
use stockade_routing::map::SchemeInfo;

use super::message::CallOutcome;
use super::{Endpoint, FAMILY, REACHES_HANDLER, Tool};
use crate::Credentials;
use crate::exchange::Exchange;
use crate::hardening::runner::{Rule, Runner, Verdict};

const RULE: Rule = Rule {
    family: FAMILY,
    text: "a call of a tool never forwards cookies, so the login of a browser cannot call tools",
    mend: "forward only `Authorization` and the headers of the route's security schemes",
};

/// Calls a tool with the cookie of a user, and with a cookie that its route
/// reads.
pub(super) async fn attack(runner: &mut Runner<'_>, endpoint: Endpoint<'_>, tool: Tool<'_>) {
    let schemes = &tool.target.route.access.schemes;
    let has_cookie = schemes.iter().any(|scheme| matches!(scheme, SchemeInfo::Cookie { .. }));
    if has_cookie && tool.target.needs_user() {
        attack_login(runner, endpoint, tool).await;
    }
    if !has_cookie && !tool.target.route.cookies.is_empty() {
        attack_value(runner, endpoint, tool).await;
    }
}

async fn attack_login(runner: &mut Runner<'_>, endpoint: Endpoint<'_>, tool: Tool<'_>) {
    const ATTACK: &str = "the cookie of a user";
    let user = runner.user(&tool.target.roles());
    let cookie = user.as_ref().and_then(|user| user.headers().get(header::COOKIE));
    let Some(cookie) = cookie.cloned() else {
        let reason = "no user with a cookie is known: add one with `Hardening::users`";
        return runner.leave(FAMILY, Some(tool.target), ATTACK, reason);
    };
    let shot = endpoint.call(None, tool, tool.arguments(runner)).set("cookie", cookie);
    runner.attack(&RULE, Some(tool.target), ATTACK, shot, is_failure).await;
}

/// Validates a call that the route must reject, because it has no credentials.
fn is_failure(exchange: &Exchange) -> Verdict {
    let outcome = CallOutcome::of(exchange);
    match &outcome {
        CallOutcome::Unknown => Verdict::Unproven("the response is not a result".to_owned()),
        CallOutcome::Result { is_error: true, status: Some(status), .. }
            if !matches!(status.as_u16(), 401 | 403) =>
        {
            Verdict::GotThrough(format!("the cookie reached the route, which responds {status}"))
        }
        outcome if outcome.is_failure() => Verdict::Refused,
        _ => Verdict::GotThrough("the call succeeded".to_owned()),
    }
}

/// Calls a tool with and without a cookie that its route reads. The results must
/// be equal.
async fn attack_value(runner: &mut Runner<'_>, endpoint: Endpoint<'_>, tool: Tool<'_>) {
    const ATTACK: &str = "a cookie that the route reads";
    if tool.target.route.method != "GET" || !runner.plan().reads {
        return runner.leave(FAMILY, Some(tool.target), ATTACK, REACHES_HANDLER);
    }
    let Some(user) = endpoint.caller(runner, tool, ATTACK) else { return };
    // The login itself may be a cookie, which the attack would replace.
    let has_cookie = |user: &Credentials| user.headers().contains_key(header::COOKIE);
    if user.as_ref().is_some_and(has_cookie) || runner.is_skipped(FAMILY, Some(tool.target)) {
        return;
    }
    let names = tool.target.route.cookies.iter().map(|cookie| cookie.name.as_str());
    let cookies: Vec<String> = names.map(|name| format!("{name}={CANARY}")).collect();
    let plain = endpoint.call(user.as_ref(), tool, tool.arguments(runner));
    let with_cookie = plain.clone().set("cookie", cookies.join("; "));
    let sent = (
        runner.send(Some(tool.target), &plain).await,
        runner.send(Some(tool.target), &plain).await,
        runner.send(Some(tool.target), &with_cookie).await,
    );
    let (Ok(first), Ok(second), Ok(third)) = sent else {
        return runner.leave(FAMILY, Some(tool.target), ATTACK, "a call gets no response");
    };
    let outcome = CallOutcome::of;
    let has_canary = String::from_utf8_lossy(&third.body).contains(CANARY);
    let verdict = match (outcome(&first) == outcome(&second), outcome(&first) == outcome(&third)) {
        _ if has_canary => Verdict::GotThrough("the result contains the cookie".to_owned()),
        (_, true) => Verdict::Refused,
        (true, false) => Verdict::GotThrough("the result depends on the cookie".to_owned()),
        (false, false) => Verdict::Unproven("each result is different".to_owned()),
    };
    runner.note(&RULE, Some(tool.target), ATTACK, Some(&third), verdict);
}

/// The value of the cookie.
const CANARY: &str = "canarycookie";
