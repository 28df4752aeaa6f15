//! Errors with a known message and a known source, in each error format.

use std::io;
use std::sync::Arc;

use http::StatusCode;
use serde_json::json;
use stockade_errors::ApiError;
use stockade_routing::map::failed_route::failed_route;

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::runner::{Rule, Runner, Verdict, read_whole};
use crate::exchange::Exchange;
use crate::shot::Shot;

const RULE: Rule = Rule {
    family: AttackFamily::Responses,
    text: "no error response contains the source of the error, and the body of a 5xx does not \
           contain its message or details (OWASP API8)",
    mend: "in `error_handling`, send only `ErrorReply::message` and `details`, do not set \
           `expose_errors`, and log `error` and `source`",
};

/// Sends errors through the format of each route.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    // The attacks on responses report exposed errors once, for all routes.
    if runner.router().exposes_errors {
        return;
    }
    let targets = Arc::clone(&runner.targets);
    for target in targets.iter() {
        attack_format(runner, target).await;
        attack_body(runner, target).await;
    }
}

/// Formats errors that occur before the middleware of a route.
async fn attack_format(runner: &mut Runner<'_>, target: &AttackTarget) {
    for status in [500, 409] {
        for accepted in ACCEPTED {
            if runner.is_skipped(RULE.family, Some(target)) {
                return;
            }
            let shot = target.shot().set("accept", accepted);
            let Some(exchange) = formatted(runner, &shot, error(status)).await else { return };
            let attack = format!("an error {status} with a known source, for `{accepted}`");
            let verdict = hides_cause(&exchange, status);
            let is_found = matches!(verdict, Verdict::GotThrough(_));
            runner.note(&RULE, Some(target), attack, Some(&exchange), verdict);
            if is_found {
                break;
            }
        }
    }
}

/// Returns the response of a route to an error.
async fn formatted(runner: &mut Runner<'_>, shot: &Shot, error: ApiError) -> Option<Exchange> {
    let request = shot.request(runner.new_peer())?;
    let response = failed_route(runner.app(), request, error)?;
    let asked = Arc::new(shot.sent(runner.plan().location));
    Some(read_whole(asked, response).await)
}

/// Sends a body that panics with an error when it is read, so the error passes
/// the middleware of the route too.
async fn attack_body(runner: &mut Runner<'_>, target: &AttackTarget) {
    const ATTACK: &str = "the cause of a 5xx";
    let Some(shot) = target.refused().filter(|_| target.body.is_some()) else { return };
    if target.takes_bytes() {
        let reason = "the handler reads the body itself";
        return runner.leave(RULE.family, Some(target), ATTACK, reason);
    }
    let shot = shot.panicking(error(500));
    let user = runner.user(&target.roles()).filter(|_| target.needs_user());
    let shot = match user {
        Some(user) => shot.of(&user),
        None => shot,
    };
    let validator = |exchange: &Exchange| match hides_cause(exchange, 500) {
        Verdict::Refused if !exchange.status.is_server_error() => {
            Verdict::Unproven(format!("the response was {}", exchange.status))
        }
        verdict => verdict,
    };
    runner.attack(&RULE, Some(target), ATTACK, shot, validator).await;
}

/// Creates an error with a known source. The message and the details of a 5xx
/// are known too.
fn error(status: u16) -> ApiError {
    let source = io::Error::other(SOURCE);
    match StatusCode::from_u16(status) {
        Ok(status) if status.is_server_error() => ApiError::new(status.as_u16(), MESSAGE)
            .with_details(json!({ "cause": DETAILS }))
            .with_source(source),
        _ => ApiError::new(status, "a message for clients").with_source(source),
    }
}

/// Validates the response to an error.
fn hides_cause(exchange: &Exchange, status: u16) -> Verdict {
    let body = String::from_utf8_lossy(&exchange.body);
    let in_header = |text: &str| {
        let mut values = exchange.headers.iter();
        values.find(|(_, value)| String::from_utf8_lossy(value.as_bytes()).contains(text))
    };
    for (part, text) in [("source", SOURCE), ("message", MESSAGE), ("details", DETAILS)] {
        let verb = if part == "details" { "are" } else { "is" };
        if body.contains(text) {
            return Verdict::GotThrough(format!(
                "the {part} of an error {status} {verb} in the body"
            ));
        }
        if let Some((name, _)) = in_header(text) {
            let found = format!("the {part} of an error {status} {verb} in the header `{name}`");
            return Verdict::GotThrough(found);
        }
    }
    Verdict::Refused
}

/// Texts that no response contains by chance.
const MESSAGE: &str = "the message, number 4f1d9c";
const DETAILS: &str = "the details, number 4f1d9c";
const SOURCE: &str = "the source, number 4f1d9c";

/// The media types that an error format may distinguish.
const ACCEPTED: [&str; 5] =
    ["*/*", "application/json", "application/problem+json", "text/html", "text/plain"];
