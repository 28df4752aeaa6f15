//! Calls above the rate limit of a route, and batches of calls.

use http::{Method, StatusCode};
use serde_json::{Map, Value};
use stockade_map::ArgumentPlace;
use stockade_routing::map::QuotaInfo;

use super::message::CallOutcome;
use super::{Endpoint, FAMILY, REACHES_HANDLER, Tool};
use crate::exchange::Exchange;
use crate::hardening::runner::{Rule, Runner, Verdict};
use crate::shot::{Shot, ShotBody};

const QUOTA: Rule = Rule {
    family: FAMILY,
    text: "each call of a tool counts against the rate limits of its route (OWASP API4)",
    mend: "let the router run the call as a request to the route, with the address of the caller",
};

const BATCH: Rule = Rule {
    family: FAMILY,
    text: "a request contains one message, so that a limit of requests is a limit of calls",
    mend: "respond with 400 to arrays",
};

/// Sends more calls than the limits of a route allow.
pub(super) async fn attack(runner: &mut Runner<'_>, endpoint: Endpoint<'_>, tool: Tool<'_>) {
    let router = runner.router().rate_limit.clone();
    let is_own = |quota: &&QuotaInfo| router.as_ref().is_none_or(|it| it.name != quota.name);
    for quota in tool.target.route.limits.rate.iter().filter(is_own) {
        let attack = format!("more calls than the rate limit {} allows", quota.name);
        let of_router = router.as_ref().filter(|_| !endpoint.target.route.limits.rate_exempt);
        let of_router = of_router.and_then(|router| router.limit);
        if let Err(reason) = flood(runner, endpoint, tool, quota, of_router, &attack).await {
            runner.leave(FAMILY, Some(tool.target), attack, reason);
        }
    }
}

/// Sends one call more than a quota allows. Returns the reason if this is not
/// possible.
async fn flood(
    runner: &mut Runner<'_>,
    endpoint: Endpoint<'_>,
    tool: Tool<'_>,
    quota: &QuotaInfo,
    of_router: Option<u64>,
    attack: &str,
) -> Result<(), String> {
    if runner.is_skipped(FAMILY, Some(tool.target)) {
        return Ok(());
    }
    if runner.clock.is_none() {
        return Err("its clock cannot be stopped: pass the router to `Hardening::new`".to_owned());
    }
    let Some(limit) = quota.limit.filter(|limit| *limit <= MAX_CALLS) else {
        return Err("the number of calls is unknown or too large to send".to_owned());
    };
    if of_router.is_some_and(|of_router| of_router <= limit) {
        return Err("the limit of the router is lower".to_owned());
    }
    let Some(arguments) = harmless(runner, tool) else { return Err(REACHES_HANDLER.to_owned()) };
    let Some(user) = endpoint.caller(runner, tool, "more calls than its rate limits allow") else {
        return Ok(());
    };
    let peer = runner.new_peer();
    let shot = endpoint.call(user.as_ref(), tool, arguments).peer(peer);
    for _ in 0..limit {
        runner.send(Some(tool.target), &shot).await?;
    }
    let exchange = runner.send(Some(tool.target), &shot).await?;
    let verdict = is_limited(&exchange, limit);
    runner.note(&QUOTA, Some(tool.target), attack.to_owned(), Some(&exchange), verdict);
    Ok(())
}

/// Returns arguments of a call without an effect: a read, or a call that lacks
/// required members of the body.
fn harmless(runner: &Runner<'_>, tool: Tool<'_>) -> Option<Map<String, Value>> {
    let mut arguments = tool.arguments(runner);
    if tool.target.route.method == "GET" && runner.plan().reads {
        return Some(arguments);
    }
    let required = &tool.target.required;
    let is_required = |name: &str| {
        let mut all = tool.info.arguments.iter().filter(|it| it.name == name);
        all.any(|it| it.place == ArgumentPlace::BodyField && required.contains(&it.original))
    };
    let before = arguments.len();
    arguments.retain(|name, _| !is_required(name));
    (arguments.len() < before).then_some(arguments)
}

/// Validates the response to the call above a quota.
fn is_limited(exchange: &Exchange, limit: u64) -> Verdict {
    match CallOutcome::of(exchange) {
        CallOutcome::Rejected(StatusCode::TOO_MANY_REQUESTS)
        | CallOutcome::Result {
            is_error: true, status: Some(StatusCode::TOO_MANY_REQUESTS), ..
        } => Verdict::Refused,
        CallOutcome::Rejected(StatusCode::UNAUTHORIZED) => {
            Verdict::Unproven("the credentials of the user were rejected with 401".to_owned())
        }
        CallOutcome::Unknown => Verdict::Unproven("the response is not a result".to_owned()),
        _ => Verdict::GotThrough(format!("call {} does not get a 429", limit + 1)),
    }
}

/// Sends two messages in one request.
pub(super) async fn attack_batch(runner: &mut Runner<'_>, endpoint: Endpoint<'_>) {
    let user = runner.user(&[]).filter(|_| endpoint.target.needs_user());
    let shot = batch(endpoint.message(user.as_ref(), "tools/list"));
    let validator = |exchange: &Exchange| match exchange.status {
        StatusCode::UNAUTHORIZED => {
            Verdict::Unproven("the credentials are checked first".to_owned())
        }
        status if status.is_client_error() => Verdict::Refused,
        _ if exchange.body.trim_ascii_start().starts_with(b"[") => {
            Verdict::GotThrough("the response is an array".to_owned())
        }
        status => Verdict::GotThrough(format!("the response is {status}")),
    };
    runner.attack(&BATCH, Some(endpoint.target), "a batch of messages", shot, validator).await;
}

/// Repeats the message of a request in an array.
fn batch(shot: Shot) -> Shot {
    let ShotBody::Whole(message) = &shot.body else { return shot };
    let body = [b"[", &message[..], b",", &message[..], b"]"].concat();
    shot.method(Method::POST).body("application/json", body)
}

/// The largest quota that is attacked.
const MAX_CALLS: u64 = 1_000;
