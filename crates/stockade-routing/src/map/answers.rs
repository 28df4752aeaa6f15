//! The answers of a route: those of its parts, and those of the stages.

use stockade_core::__internal::{EndpointExt as _, EndpointKind, RouteDocExt as _};
use stockade_core::description::{Answer, AnswerBody, HeaderDoc, InputFrom};
use stockade_core::{BodyKind, Endpoint, RouteDoc};

use super::build::{Described, content_of, schema_of};
use super::schemas::Schemas;
use super::{AnswerBodyInfo, AnswerInfo, HeaderInfo, ParamInfo};

/// The stage that checks parameters, query and body.
const VALIDATION: &str = "validation";

/// Returns the answers of a route, those of the stages first.
pub(super) fn of(
    app: Described<'_>,
    endpoint: &Endpoint,
    doc: &RouteDoc,
    params: &[ParamInfo],
) -> Vec<AnswerInfo> {
    let stages = before(app, endpoint, params).into_iter().chain(of_inputs(endpoint, doc));
    let facts = doc.facts();
    let own = facts.answers.iter().enumerate().map(|(index, answer)| {
        let mut answer = answer.clone();
        answer.headers = facts.headers_of(index);
        info_of(app.schemas, &answer)
    });
    let last = by("server", Answer::error(500));
    stages
        .map(|answer| info_of(app.schemas, &answer))
        .chain(own)
        .chain([info_of(app.schemas, &last)])
        .collect()
}

/// Returns the answers that come before the middleware of a route.
fn before(app: Described<'_>, endpoint: &Endpoint, params: &[ParamInfo]) -> Vec<Answer> {
    let mut answers = Vec::new();
    if app.limiter().is_some() && endpoint.is_rate_limited() {
        let retry = HeaderDoc::new("Retry-After", "Seconds until a request is let through again");
        let answer = Answer::error(429).meaning("Too many requests of this client");
        answers.push(by("rate limit", answer.header(retry)));
    }
    if params.iter().any(|param| param.constraint.is_some()) {
        let answer = Answer::error(404).meaning("No route has a path with such a parameter");
        answers.push(by("routing", answer));
    }
    answers
}

/// Returns the answers to parameters, a query or a body that cannot be read or
/// fail their checks.
fn of_inputs(endpoint: &Endpoint, doc: &RouteDoc) -> Vec<Answer> {
    if endpoint.kind() != EndpointKind::Http {
        return Vec::new();
    }
    let status = endpoint.validation_status();
    let has_schema = |from| schema_of(endpoint, doc.facts(), from).is_some();
    let is_judged =
        [InputFrom::Params, InputFrom::Query, InputFrom::Body].into_iter().any(has_schema);
    let reads_body = doc.body().is_some() || has_schema(InputFrom::Body);
    let mut answers = Vec::new();
    if is_judged {
        let mut answer = Answer::error(status).meaning("A value breaks a rule of its schema");
        answer.body = AnswerBody::ValidationError;
        answers.push(by(VALIDATION, answer));
    }
    if reads_body {
        if status != 400 || !is_judged {
            let answer = Answer::error(400).meaning("The body cannot be read");
            answers.push(by("body", answer));
        }
        answers.push(by("body", Answer::error(408).meaning("The body came too slowly")));
        answers.push(by("body", Answer::error(413).meaning("The body is too large")));
        let is_typed = !matches!(doc.body(), Some(BodyKind::Raw)) || has_schema(InputFrom::Body);
        if is_typed || endpoint.accepts().is_some() {
            let answer = Answer::error(415).meaning("A body of this type is not read");
            answers.push(by("body", answer));
        }
    }
    answers
}

fn by(part: &'static str, mut answer: Answer) -> Answer {
    answer.by = part.into();
    answer
}

fn info_of(schemas: &Schemas, answer: &Answer) -> AnswerInfo {
    let body = match &answer.body {
        AnswerBody::None => AnswerBodyInfo::None,
        AnswerBody::Error => AnswerBodyInfo::Error,
        AnswerBody::ValidationError => AnswerBodyInfo::ValidationError,
        AnswerBody::Content(content) => {
            AnswerBodyInfo::Content(content.iter().map(|it| content_of(schemas, it)).collect())
        }
        _ => AnswerBodyInfo::Unknown,
    };
    let headers = answer.headers.iter().map(|header| HeaderInfo {
        name: header.name.to_string(),
        meaning: header.meaning.to_string(),
        always: header.always,
    });
    AnswerInfo {
        status: answer.status.to_string(),
        body,
        headers: headers.collect(),
        meaning: answer.meaning.to_string(),
        by: answer.by.to_string(),
    }
}
