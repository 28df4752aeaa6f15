//! Contradictions between a route's description and its documentation.

use serde_json::Value;
use stockade_errors::FieldError;
use stockade_validation::ValidationOptions;

use crate::description::{BodyDoc, Content, ContentSchema, DescribedRoute, ResponseDoc, StatusDoc};
use crate::{RouteDescription, RouteDocs};

/// Statuses of the framework's own responses on any route: for invalid heads
/// and bodies, and for limits.
const OF_FRAMEWORK: [u16; 9] = [400, 404, 408, 413, 414, 415, 421, 429, 431];

/// Returns the contradictions among the responses of a route, and between them
/// and its documentation: lower case, no full stop. `writes_errors` is true if
/// an error handler may change the status of errors.
#[must_use]
pub fn contradictions(
    doc: &RouteDescription,
    docs: &RouteDocs,
    writes_errors: bool,
) -> Vec<String> {
    let facts = doc.facts();
    let mut mistakes: Vec<String> = facts.answers.iter().filter_map(impossible_body).collect();
    mistakes.extend(facts.answers.iter().enumerate().filter_map(|(index, answer)| {
        let mut earlier = facts.answers[..index].iter();
        earlier.any(|earlier| contradicts(earlier, answer)).then(|| {
            format!("`{}` returns {} with a body and without one", answer.by, answer.status)
        })
    }));
    let may_answer = |status: u16| {
        writes_errors
            // Another check reports invalid statuses.
            || !(100..500).contains(&status)
            || OF_FRAMEWORK.contains(&status)
            || status == doc.validation_status()
            || answers(facts, status)
    };
    let statuses = docs.responses.iter().map(|(status, _)| *status);
    for status in statuses.filter(|status| !may_answer(*status)) {
        mistakes.push(format!("docs: the response {status} cannot occur: nothing returns it"));
    }
    for (status, example) in &docs.reply_examples {
        if !may_answer(*status) {
            mistakes.push(format!(
                "docs: the reply example has the status {status}, which the route does not return"
            ));
        }
        mistakes.extend(wrong_example(facts, *status, example));
    }
    mistakes
}

/// Returns true if a part of the route may respond with this status.
fn answers(facts: &DescribedRoute, status: u16) -> bool {
    facts.route.middleware.iter().any(|middleware| middleware.is_opaque)
        || facts.answers.iter().any(|answer| answer.status.covers(status))
}

/// Returns the configuration error if a response has a body but its status does
/// not allow one.
///
/// Source: RFC 9110, sections 15.2, 15.3.5, 15.3.6 and 15.4.5.
fn impossible_body(answer: &ResponseDoc) -> Option<String> {
    let StatusDoc::Exact(status @ (100..=199 | 204 | 205 | 304)) = answer.status else {
        return None;
    };
    let has_body = !matches!(answer.body, BodyDoc::None | BodyDoc::Unknown);
    has_body.then(|| {
        format!("`{}` returns {status} with a body, but this status does not allow one", answer.by)
    })
}

/// Returns true for two responses of one part with the same status, if only one
/// of them has a body.
fn contradicts(one: &ResponseDoc, other: &ResponseDoc) -> bool {
    let bodies = [&one.body, &other.body];
    let is_empty = |body: &&BodyDoc<ContentSchema>| matches!(body, BodyDoc::None);
    let has_content = |body: &&BodyDoc<ContentSchema>| matches!(body, BodyDoc::Content(_));
    one.by == other.by
        && one.status == other.status
        && matches!(one.status, StatusDoc::Exact(_))
        && bodies.iter().any(is_empty)
        && bodies.iter().any(has_content)
}

/// Returns the errors of an example that does not match any schema of its
/// response.
fn wrong_example(facts: &DescribedRoute, status: u16, example: &Value) -> Vec<String> {
    let exact = |answer: &&ResponseDoc| answer.status == StatusDoc::Exact(status);
    let mut first = None;
    for answer in facts.answers.iter().filter(exact) {
        // The body is not described, so the example may have any form.
        let BodyDoc::Content(contents) = &answer.body else { return Vec::new() };
        for content in contents {
            match faults(content, example) {
                Some(faults) if !faults.is_empty() => {
                    first.get_or_insert(faults);
                }
                _ => return Vec::new(),
            }
        }
    }
    let told = |fault: String| format!("docs: the reply example of {status} is invalid: {fault}");
    first.into_iter().flatten().map(told).collect()
}

/// Returns the rules that an example violates, or `None` if it cannot be
/// validated.
fn faults(content: &Content, example: &Value) -> Option<Vec<String>> {
    let ContentSchema::Of(schema) = content.schema else { return None };
    // Errors in the schema itself are reported elsewhere.
    let schema = schema.schema().ok()?;
    let errors = schema.check(example, &ValidationOptions::default()).ok()?;
    let fault = |error: &FieldError| {
        let field = if error.field.is_empty() { "body" } else { error.field.as_str() };
        format!("{field}: {}", error.message)
    };
    Some(errors.iter().map(fault).collect())
}
