//! The responses of an operation.

use std::collections::BTreeSet;

use serde_json::Value;
use stockade_routing::map::{RouteInfo, StatusDoc};

use super::html::Html;
use super::schema::View;
use super::{Contents, Detail, Operation, operation};
use crate::document::is_of_stage;
use crate::example::{Direction, referred};

/// The sources of responses that are not middleware of the application.
const STAGES: [&str; 7] =
    ["handler", "validation", "rate limit", "routing", "body", "error_handling", "server"];

/// The advice for a status that is known only at run time.
const UNKNOWN: &str = "The status is known only at run time. Return Created, Accepted or \
                       Status<201, T>, or name the status with RouteDocs::response.";

/// A response of an operation.
#[derive(Clone, Copy)]
pub(super) struct StatusResponse<'d> {
    pub(super) status: &'d str,
    /// The response, after its reference is resolved.
    pub(super) value: &'d Value,
}

/// Returns the responses that are described at the operation, and the statuses
/// of the shared ones with the names of their sections.
pub(super) fn split<'c, 'd>(
    contents: &'c Contents<'d>,
    operation: &Operation<'d>,
) -> (Vec<StatusResponse<'d>>, Vec<(&'d str, &'c str)>)
where
    'd: 'c,
{
    let (mut own, mut shared) = (Vec::new(), Vec::new());
    for (status, response) in operation.value["responses"].as_object().into_iter().flatten() {
        match place(contents, operation, status, response).0 {
            Some(name) => shared.push((status.as_str(), name)),
            None => own.push(StatusResponse { status, value: contents.response(response) }),
        }
    }
    (own, shared)
}

/// Adds the responses that [`split`] has separated.
pub(super) fn add(
    html: &mut Html,
    contents: &Contents<'_>,
    route: &RouteInfo,
    own: &[StatusResponse<'_>],
    shared: &[(&str, &str)],
) {
    html.markup("<h4>Responses</h4>");
    let view = View { schemas: contents.schemas(), direction: Some(Direction::Response) };
    for answer in own {
        html.markup("<div class=a><p>");
        html.add(&head(route, *answer, &contents.detail));
        html.markup("</p>");
        if answer.status == "2XX" {
            html.markup("<p class=old>").text(UNKNOWN).markup("</p>");
        }
        let start = html.len();
        headers(html, answer.value);
        for (media_type, content) in answer.value["content"].as_object().into_iter().flatten() {
            let schema = &content["schema"];
            if referred(schema) != Some(&*contents.detail.usual_error) {
                html.markup("<p>").code(media_type).markup(" ");
                operation::value(html, view, schema);
            }
        }
        if !answer.status.starts_with('2') {
            html.fold(start, "Details");
        }
        html.markup("</div>");
    }
    if shared.is_empty() {
        return;
    }
    html.markup("<p class=chips>Shared: ");
    for (status, name) in shared {
        html.markup("<a class=\"s s").anchor(&status[..1]).markup("\" href=#a-");
        html.anchor(&place_id(status, name)).markup(">").text(status).markup("</a> ");
    }
    html.markup("</p>");
}

/// Returns the name of the shared section for a response, if any, and its line.
pub(super) fn place<'c, 'd>(
    contents: &'c Contents<'d>,
    operation: &Operation<'d>,
    status: &'d str,
    response: &'d Value,
) -> (Option<&'c str>, Html)
where
    'd: 'c,
{
    let route = operation.route;
    let answer = StatusResponse { status, value: contents.response(response) };
    if let Some(name) = component(response).filter(|_| is_of_stage(route, status)) {
        let detail = Detail { internals: true, ..contents.detail.clone() };
        return (Some(name), line(route, answer, &detail));
    }
    let line = line(route, answer, &contents.detail);
    (contents.refusals.name(&line), line)
}

/// Returns the id of a response's section. It is short, because each operation
/// has several: `TooManyRequests_2` of the document becomes `429_2`.
pub(super) fn place_id(status: &str, name: &str) -> String {
    // The name of a 401 or 403 section starts with the status.
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return name.to_owned();
    }
    let number = &name[name.trim_end_matches(|last: char| last.is_ascii_digit()).len()..];
    if number.is_empty() { status.to_owned() } else { format!("{status}_{number}") }
}

/// Creates the line of a response: its head and the names of its schemas.
pub(super) fn line(route: &RouteInfo, answer: StatusResponse<'_>, detail: &Detail) -> Html {
    let mut html = head(route, answer, detail);
    for (_, content) in answer.value["content"].as_object().into_iter().flatten() {
        let name = referred(&content["schema"]).filter(|name| *name != detail.usual_error);
        if let Some(name) = name {
            html.markup(" <a href=#s-").anchor(name).markup(">").text(name).markup("</a>");
        }
    }
    html
}

/// Creates the head of a response: its status, meaning and source.
fn head(route: &RouteInfo, answer: StatusResponse<'_>, detail: &Detail) -> Html {
    let mut html = Html::default();
    let StatusResponse { status, value } = answer;
    html.markup("<b class=\"s s").anchor(&status[..1]).markup("\">").text(status).markup("</b> ");
    html.text(value["description"].as_str().unwrap_or_default());
    let senders = senders(route, status, detail.internals);
    // A response comes from the handler unless the line names a source.
    if !senders.is_empty() && senders != ["handler"] {
        html.markup(" <i>by ").text(&senders.join(", ")).markup("</i>");
    }
    html
}

/// Returns a response, or the response of a document that it refers to.
pub(super) fn resolved<'d>(document: &'d Value, response: &'d Value) -> &'d Value {
    component(response).map_or(response, |name| &document["components"]["responses"][name])
}

fn component(response: &Value) -> Option<&str> {
    response.get("$ref")?.as_str()?.strip_prefix("#/components/responses/")
}

/// Headers that clients and caches process automatically, and stage headers
/// that nearly every response has.
const OMITTED: [&str; 12] = [
    "Content-Encoding",
    "Vary",
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Credentials",
    "Access-Control-Expose-Headers",
    "RateLimit",
    "RateLimit-Policy",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Request-Id",
    "traceparent",
];

/// Adds the headers of a response.
fn headers(html: &mut Html, response: &Value) {
    let headers = response["headers"].as_object().into_iter().flatten();
    let own: Vec<&str> =
        headers.map(|(name, _)| name.as_str()).filter(|name| !OMITTED.contains(name)).collect();
    for (index, name) in own.iter().enumerate() {
        html.markup(if index == 0 { "<p>Headers: " } else { ", " }).code(name);
    }
    html.markup(if own.is_empty() { "" } else { "</p>" });
}

/// Returns the parts of a route that send a status. Names of middleware are
/// included only with `internals`.
fn senders(route: &RouteInfo, status: &str, internals: bool) -> Vec<String> {
    let includes = |listed: StatusDoc| {
        listed == *status || (listed == StatusDoc::Class(2) && status.starts_with('2'))
    };
    let mut seen = BTreeSet::new();
    let senders = route.answers.iter().filter(|answer| includes(answer.status));
    let names = senders.map(|answer| match &*answer.by {
        name if internals || STAGES.contains(&name) => name.to_owned(),
        _ => "middleware".to_owned(),
    });
    names.filter(|name| !name.is_empty() && seen.insert(name.clone())).collect()
}
