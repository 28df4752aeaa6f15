//! The responses of a route: from its parts and from the stages.

use stockade_core::description::{
    BodyDoc, DescribedRoute, ErrorForm, HeaderDoc, InputFrom, ProblemDoc, ResponseDoc, StatusDoc,
};
use stockade_core::endpoint_internals::EndpointKind;
use stockade_core::{BodyKind, Endpoint, ErrorHandler, RouteDescription};
use stockade_errors::problem_internals::VALIDATION_FAILED;
use stockade_path::{Pattern, Segment, SegmentPart};

use crate::app::Resolved;
use crate::route::Route;

/// The stage that validates parameters, query and body.
const VALIDATION: &str = "validation";

/// The stages that add headers to responses.
const STAGES: [&str; 3] = ["CORS", "request id", "rate limit"];

/// Describes the stages and the parts of a route, in the order of their
/// execution. The routes of another host do not have stages.
///
/// The responses have their headers and the format of errors. The responses of
/// the stages come first.
pub(super) fn describe(app: &Resolved, route: &Route, is_hosted: bool) -> RouteDescription {
    let endpoint = &*route.endpoint;
    let pattern = Pattern::parse(endpoint.pattern()).ok();
    let params = pattern.iter().flat_map(Pattern::params);
    let params = params.map(|(name, optional)| (name.to_owned(), optional));
    let mut doc = RouteDescription::new(endpoint.method().clone(), params.collect());
    doc.common_mut().insert(app.stages.clock().clone());
    doc.set_validation_status(Some(endpoint.validation_status()));
    if !is_hosted {
        app.stages.describe(route.cors.as_ref(), endpoint.is_rate_limited(), &mut doc);
    }
    if pattern.as_ref().is_some_and(is_constrained) {
        let answer = ResponseDoc::error(404).meaning("No route matches this parameter value");
        doc.stage("routing", |doc| doc.responds(answer));
    }
    let before = doc.facts().answers.len();
    if let Some(handler) = endpoint.inherited_error_handler() {
        doc.stage("error_handling", |doc| handler.describe(doc));
    }
    endpoint.describe(&mut doc);
    let behind = doc.facts().answers.len();
    let has_types = app.settings.problem_base.is_some();
    for (part, answer) in of_inputs(endpoint, &doc, has_types) {
        doc.stage(part, |doc| doc.responds(answer));
    }
    doc.stage("server", |doc| doc.responds(ResponseDoc::error(500)));
    let all = doc.facts().answers.len();
    let forms = Forms { app, endpoint, facts: doc.facts(), before, behind };
    let order = (0..before).chain(behind..all - 1).chain(before..behind).chain([all - 1]);
    let answers = order.map(|index| forms.answer(index)).collect();
    doc.facts_mut().answers = answers;
    doc
}

fn is_constrained(pattern: &Pattern) -> bool {
    let parts = pattern.segments().iter().flat_map(|segment| match segment {
        Segment::Parts(parts) => parts.as_slice(),
        _ => &[],
    });
    parts
        .into_iter()
        .any(|part| matches!(part, SegmentPart::Param(param) if param.constraint.is_some()))
}

/// The described responses, with the facts that determine their form.
struct Forms<'a> {
    app: &'a Resolved,
    endpoint: &'a Endpoint,
    facts: &'a DescribedRoute,
    /// The number of responses before the middleware.
    before: usize,
    /// The index of the first response of the framework after the middleware.
    behind: usize,
}

impl Forms<'_> {
    /// Returns a response with its headers and its form.
    fn answer(&self, index: usize) -> ResponseDoc {
        let mut answer = self.facts.answers[index].clone();
        // A protocol switch only has the headers of the handshake.
        if answer.status != StatusDoc::Exact(101) {
            answer.headers = self.facts.headers_of(index);
        }
        if index >= self.behind {
            self.keep_headers_of_stages(&mut answer);
        }
        if self.app.languages.is_some() && answer.has_error_body() {
            add_language_headers(&mut answer.headers);
        }
        answer.problem = self.problem(&answer);
        if let Some(form) = self.form(index) {
            answer.body = form.body(self.app.settings.problem_details);
            answer.problem = None;
        }
        answer
    }

    /// Returns the problem type that an error is sent with: its own, or the
    /// framework's. Without problem details, only its members are sent.
    fn problem(&self, answer: &ResponseDoc) -> Option<Box<ProblemDoc>> {
        if !answer.has_error_body() {
            return None;
        }
        let settings = &self.app.settings;
        let own = answer.problem.as_deref();
        let own = own.filter(|it| settings.problem_base.is_some() || !it.is_of_framework());
        if !settings.problem_details {
            let own = own.filter(|problem| !problem.members.is_empty());
            return own.cloned().map(Box::new);
        }
        let Some(base) = settings.problem_base else {
            return own.cloned().map(Box::new);
        };
        let of_framework = || match answer.body {
            BodyDoc::ValidationError => Some(ProblemDoc::of_framework(VALIDATION_FAILED)),
            _ => answer.status.exact().and_then(ProblemDoc::of_status),
        };
        let mut problem = own.cloned().or_else(of_framework)?;
        problem.type_uri = base.resolve(&problem.type_uri).into_owned().into();
        Some(Box::new(problem))
    }

    /// Removes the headers of middleware from a response that may precede it,
    /// such as the response to a body with a declared length above the limit.
    fn keep_headers_of_stages(&self, answer: &mut ResponseDoc) {
        let is_of_stage = |name: &str| {
            let mut added = self.facts.added_headers.iter();
            added.any(|it| it.header.name == name && STAGES.contains(&&*it.by))
        };
        answer.headers.retain(|header| is_of_stage(&header.name));
    }

    fn form(&self, index: usize) -> Option<ErrorForm> {
        let answer = &self.facts.answers[index];
        if index >= self.before {
            return self.facts.error_form_of(index).copied();
        }
        let handler = match &*answer.by {
            "routing" => self.app.error_handler.as_ref(),
            _ => self.endpoint.first_error_handler(),
        };
        handler.filter(|_| answer.has_error_body()).and_then(ErrorHandler::form)
    }
}

/// Adds the headers of an error with localized messages.
fn add_language_headers(headers: &mut Vec<HeaderDoc>) {
    for (name, meaning) in [
        ("Content-Language", "The language of the messages"),
        ("Vary", "The request headers that select the response"),
    ] {
        match headers.iter_mut().find(|header| header.name.eq_ignore_ascii_case(name)) {
            Some(known) => known.always = true,
            None => headers.push(HeaderDoc::new(name, meaning)),
        }
    }
}

/// Returns the responses to unreadable or invalid parameters, queries and
/// bodies. A validation error with status 400 covers both cases, unless errors
/// have types.
fn of_inputs(
    endpoint: &Endpoint,
    doc: &RouteDescription,
    has_types: bool,
) -> Vec<(&'static str, ResponseDoc)> {
    let is_method = endpoint.kind() == EndpointKind::RpcMethod;
    if endpoint.kind() != EndpointKind::Http && !is_method {
        return Vec::new();
    }
    let status = endpoint.validation_status();
    // Middleware that validates with a schema describes its own responses.
    let has_schema = |from| endpoint.schema(from).is_some();
    let is_validated =
        [InputFrom::Params, InputFrom::Query, InputFrom::Body].into_iter().any(has_schema);
    let reads_body = doc.body().is_some() || has_schema(InputFrom::Body);
    let mut answers = Vec::new();
    if is_validated {
        let mut answer = ResponseDoc::error(status).meaning("A value does not match its schema");
        answer.body = BodyDoc::ValidationError;
        answers.push((VALIDATION, answer));
    }
    if is_method {
        // The body of a method is a part of an already parsed body.
        return answers;
    }
    if is_validated && has_types && !reads_body {
        let answer = ResponseDoc::error(400).meaning("The path or the query cannot be read");
        answers.push(("routing", answer));
    }
    let mut of_body = |status, meaning| {
        answers.push(("body", ResponseDoc::error(status).meaning(meaning)));
    };
    if reads_body || doc.reads_any_body() {
        of_body(408, "The body arrived too slowly");
    }
    if reads_body {
        if status != 400 || !is_validated || has_types {
            of_body(400, "The body cannot be read");
        }
        of_body(413, "The body is too large");
        let is_typed = !matches!(doc.body(), Some(BodyKind::Raw)) || has_schema(InputFrom::Body);
        if is_typed || endpoint.accepts().is_some() {
            of_body(415, "The body type is not supported");
        }
    }
    answers
}
