//! Validation of the responses to valid and to invalid input.

use std::fmt;

use serde_json::Value;
use stockade_routing::map::{BodyDoc, Need, ResponseInfo, RouteInfo, StatusDoc};

use super::breaks::Break;
use crate::exchange::Exchange;

/// A response with its request.
pub(super) struct Answered {
    pub(super) exchange: Exchange,
    /// False for an endless body, which is not read.
    pub(super) is_whole: bool,
}

impl Answered {
    pub(super) fn status(&self) -> u16 {
        self.exchange.status.as_u16()
    }

    /// Returns the field errors in the framework's format, as pairs of field
    /// and rule.
    fn field_errors(&self) -> Vec<(String, String)> {
        // A body that is not JSON names no fields.
        let body: Value = serde_json::from_slice(&self.exchange.body).unwrap_or_default();
        let errors = body.pointer("/details/errors").and_then(Value::as_array);
        let text = |error: &Value, name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let pairs = errors.into_iter().flatten();
        pairs.map(|error| (text(error, "field"), text(error, "rule"))).collect()
    }
}

/// The result of checking a response.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Right,
    /// The response proves nothing about the property; contains the reason.
    Beside(String),
    /// The property does not hold.
    Wrong(String),
}

impl Verdict {
    fn wrong(reason: impl fmt::Display) -> Self {
        Self::Wrong(reason.to_string())
    }
}

/// Checks the response to valid input.
pub(super) fn valid(route: &RouteInfo, answered: &Answered) -> Verdict {
    let status = answered.status();
    if let Some(verdict) = ahead(route, answered) {
        return verdict;
    }
    let is_refusal =
        matches!(status, 400 | 408 | 413 | 415 | 422 | 500..) || status == validation_status(route);
    if !is_refusal {
        return Verdict::Right;
    }
    let errors = answered.field_errors();
    if !errors.is_empty() && errors.iter().all(|(_, rule)| rule == "custom") {
        return Verdict::Beside(
            "rejected by a rule in code, which a schema cannot contain".to_owned(),
        );
    }
    let is_within_object = |(field, _): &(String, String)| field.contains('.');
    if !errors.is_empty() && errors.iter().all(is_within_object) && takes_merge_patch(route) {
        return Verdict::Beside(
            "a part of an object was sent, and the resulting object was rejected".to_owned(),
        );
    }
    match errors.first() {
        Some((field, rule)) => Verdict::wrong(format_args!(
            "valid input gets {status}: {field:?} violates {rule:?}, which its schema does not \
             contain"
        )),
        None if is_documented(route, status) => Verdict::Right,
        None => Verdict::wrong(format_args!(
            "valid input gets {status}, which neither the handler nor middleware documents"
        )),
    }
}

/// Returns a verdict if the response did not come from the handler.
fn ahead(route: &RouteInfo, answered: &Answered) -> Option<Verdict> {
    let status = answered.status();
    let is_refused = match status {
        429 => true,
        401 | 403 => route.access.user != Need::None,
        _ => false,
    };
    if is_refused {
        return Some(Verdict::Beside(format!("the response is {status}")));
    }
    // A response that names fields reports a failed validation, regardless of
    // its sender.
    let by = middleware_of(route, status).filter(|_| answered.field_errors().is_empty())?;
    let is_ours = is_documented_by(route, "handler", status);
    (!is_ours).then(|| Verdict::Beside(format!("`{by}` responded with {status}")))
}

/// Returns the name of the middleware that documents an error of this status.
fn middleware_of(route: &RouteInfo, status: u16) -> Option<&str> {
    let is_middleware = |by: &str| by != "handler" && !STAGES.contains(&by);
    let mut answers = route.answers.iter().filter(|it| is_middleware(&it.by));
    let found = answers.find(|it| status >= 400 && it.status == StatusDoc::Exact(status));
    found.filter(|_| status != 500).map(|answer| &*answer.by)
}

fn is_documented_by(route: &RouteInfo, part: &str, status: u16) -> bool {
    route.answers.iter().any(|it| it.by == part && it.status == StatusDoc::Exact(status))
}

/// Returns true if a route accepts a merge patch (RFC 7396). The schema of a
/// patch does not describe the complete resource.
fn takes_merge_patch(route: &RouteInfo) -> bool {
    let mut content = route.body.iter().flat_map(|body| &body.content);
    content.any(|content| content.media_type == "application/merge-patch+json")
}

/// Returns the status of responses to input that fails validation.
fn validation_status(route: &RouteInfo) -> u16 {
    // If the application defines the error format, only the stage identifies
    // the response.
    let is_validated =
        |it: &&ResponseInfo| it.body == BodyDoc::ValidationError || it.by == "validation";
    let validated = route.answers.iter().find(is_validated);
    validated.and_then(|answer| answer.status.exact()).unwrap_or(400)
}

/// Returns true if the handler or middleware documents this status.
fn is_documented(route: &RouteInfo, status: u16) -> bool {
    let is_own = |answer: &&ResponseInfo| !STAGES.contains(&&*answer.by);
    let mut own = route.answers.iter().filter(is_own);
    status != 500
        && (own.any(|answer| answer.status == StatusDoc::Exact(status))
            || route.docs.responses.iter().any(|(known, _)| *known == status))
}

/// The response sources that belong to the framework rather than to the
/// application.
const STAGES: [&str; 5] = ["validation", "body", "server", "rate limit", "routing"];

/// Checks the response to input that violates one rule.
pub(super) fn broken(route: &RouteInfo, found: &Break, answered: &Answered) -> Verdict {
    let Break { field, rules, is_in_variant, .. } = found;
    let status = answered.status();
    if matches!(status, 401 | 403 | 413 | 429) {
        return Verdict::Beside(format!("the response is {status}"));
    }
    let expected = validation_status(route);
    let rule = rules.first().map_or("", String::as_str);
    if status != expected {
        if let Some(by) = middleware_of(route, status) {
            // This middleware runs before validation.
            return Verdict::Beside(format!("`{by}` responded with {status}"));
        }
        return Verdict::wrong(format_args!(
            "{field:?} violates `{rule}`: expected the status {expected}, found {status}"
        ));
    }
    let errors = answered.field_errors();
    if errors.is_empty() {
        // `error_handling` or middleware defines another error format.
        let text = String::from_utf8_lossy(&answered.exchange.body);
        let last = field.rsplit(['.', ']']).next().unwrap_or(field);
        let last = last.split('[').next().unwrap_or(last);
        return if text.contains(last) {
            Verdict::Right
        } else {
            Verdict::wrong(format_args!(
                "{field:?} violates `{rule}`, but the response does not name it"
            ))
        };
    }
    // A list with one text in a URL may count as a single text.
    let is_field = |named: &str| named == field || field.strip_suffix("[0]") == Some(named);
    let is_it = |(named, by): &(String, String)| is_field(named) && rules.contains(by);
    if *is_in_variant || errors.iter().any(is_it) {
        return Verdict::Right;
    }
    let named: Vec<String> =
        errors.iter().map(|(field, rule)| format!("{field:?} by `{rule}`")).collect();
    Verdict::wrong(format_args!(
        "{field:?} violates `{}`, but the response names {}",
        rules.join("` or `"),
        named.join(", ")
    ))
}
