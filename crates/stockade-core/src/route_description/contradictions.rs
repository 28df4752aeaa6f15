//! The contradictions between what a route says and what is documented of it.

use serde_json::Value;
use stockade_errors::FieldError;
use stockade_validation::ValidationOptions;

use crate::description::{BodyDoc, Content, ContentSchema, DescribedRoute, ResponseDoc, StatusDoc};
use crate::{RouteDescription, RouteDocs};

/// Statuses that the framework answers itself, whatever a route says: to heads
/// and bodies that it refuses, and to limits.
const OF_FRAMEWORK: [u16; 9] = [400, 404, 408, 413, 414, 415, 421, 429, 431];

/// Returns the contradictions in the answers of a route, and between them and its
/// documentation: lower case, no full stop. `writes_errors` is true if an error
/// handler may give errors another status.
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
            format!("`{}` answers {} with a body and without one", answer.by, answer.status)
        })
    }));
    let may_answer = |status: u16| {
        writes_errors
            // That it is no status is told elsewhere.
            || !(100..500).contains(&status)
            || OF_FRAMEWORK.contains(&status)
            || status == doc.validation_status()
            || answers(facts, status)
    };
    let statuses = docs.responses.iter().map(|(status, _)| *status);
    for status in statuses.filter(|status| !may_answer(*status)) {
        mistakes.push(format!("docs: the response {status} cannot come: nothing answers it"));
    }
    for (status, example) in &docs.reply_examples {
        if !may_answer(*status) {
            mistakes.push(format!(
                "docs: the reply example is of {status}, which the route does not answer"
            ));
        }
        mistakes.extend(wrong_example(facts, *status, example));
    }
    mistakes
}

/// Returns true if a part of the route may answer this status.
fn answers(facts: &DescribedRoute, status: u16) -> bool {
    facts.route.middleware.iter().any(|middleware| middleware.is_opaque)
        || facts.answers.iter().any(|answer| answer.status.covers(status))
}

/// Returns the mistake of a body where the status allows none.
///
/// Source: RFC 9110, sections 15.2, 15.3.5, 15.3.6 and 15.4.5.
fn impossible_body(answer: &ResponseDoc) -> Option<String> {
    let StatusDoc::Exact(status @ (100..=199 | 204 | 205 | 304)) = answer.status else {
        return None;
    };
    let has_body = !matches!(answer.body, BodyDoc::None | BodyDoc::Unknown);
    has_body.then(|| format!("`{}` answers {status} with a body, which has none", answer.by))
}

/// Returns true for two answers of one part and one status, of which one has a
/// body and the other has none.
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

/// Returns the mistakes of an example that breaks each schema of its answer.
fn wrong_example(facts: &DescribedRoute, status: u16, example: &Value) -> Vec<String> {
    let exact = |answer: &&ResponseDoc| answer.status == StatusDoc::Exact(status);
    let mut first = None;
    for answer in facts.answers.iter().filter(exact) {
        // The example may be of a form of which nothing is known.
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
    let told = |fault: String| format!("docs: the reply example of {status} is wrong: {fault}");
    first.into_iter().flatten().map(told).collect()
}

/// Returns the rules that an example breaks; `None` where nothing can be said.
fn faults(content: &Content, example: &Value) -> Option<Vec<String>> {
    let ContentSchema::Of(schema) = content.schema else { return None };
    // Its own mistakes are told where the schema is named.
    let schema = schema.schema().ok()?;
    let errors = schema.check(example, &ValidationOptions::default()).ok()?;
    let fault = |error: &FieldError| {
        let field = if error.field.is_empty() { "body" } else { error.field.as_str() };
        format!("{field}: {}", error.message)
    };
    Some(errors.iter().map(fault).collect())
}
