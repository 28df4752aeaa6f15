//! The section of an operation.

use std::collections::BTreeSet;

use serde_json::Value;
use stockade_routing::map::{Limits, Need, RouteInfo, RouteKind, SchemeInfo, StatusDoc};

use super::html::Html;
use super::{Contents, Detail, Operation, curl, markdown, schema};
use crate::document::{demand, is_of_stage};

/// The sources of responses that are not middleware of the application.
const STAGES: [&str; 7] =
    ["handler", "validation", "rate limit", "routing", "body", "error_handling", "server"];

/// Adds the section of an operation.
pub(super) fn add(html: &mut Html, contents: &Contents<'_>, operation: &Operation<'_>) {
    let Operation { id, value, route, .. } = operation;
    html.markup("<section id=").anchor(id).markup("><h3><a href=#").anchor(id).markup(">");
    title(html, operation);
    html.markup("</a></h3>");
    if let Some(summary) = &route.docs.summary {
        html.markup("<p>").text(summary).markup("\n");
    }
    if route.docs.deprecated {
        deprecated(html, route);
    }
    if let Some(description) = &route.docs.description {
        markdown::add(html, description);
    }
    access(html, route);
    parameters(html, value);
    body(html, value);
    answers(html, contents, operation);
    if contents.detail.internals {
        limits(html, &route.limits);
        let names: Vec<&str> = route.middleware.iter().map(|it| it.name.as_str()).collect();
        if !names.is_empty() {
            html.markup("<b>Middleware</b><p>").text(&names.join(", ")).markup("</p>");
        }
    }
    messages(html, &value["x-websocket"]);
    if route.kind != RouteKind::WebSocket {
        let Operation { method, path, .. } = operation;
        let line = curl::line(method, path, value, route, contents.schemas(), contents.server());
        html.markup("<details><summary>curl</summary>").listing(&line).markup("</details>");
    }
    html.markup("</section>\n");
}

/// Adds the method and the path.
pub(super) fn title(html: &mut Html, operation: &Operation<'_>) {
    let is_web_socket = operation.route.kind == RouteKind::WebSocket;
    let method = if is_web_socket { "WebSocket" } else { operation.method };
    html.markup("<i class=").anchor(operation.method).markup(">");
    html.text(&if is_web_socket { method.to_owned() } else { method.to_ascii_uppercase() });
    html.markup("</i> ").code(operation.path);
}

fn deprecated(html: &mut Html, route: &RouteInfo) {
    html.markup("<p class=old>Deprecated");
    if let Some(since) = &route.docs.deprecated_since {
        html.markup(" since ").text(since);
    }
    if let Some(sunset) = &route.docs.sunset {
        html.markup(", removed after ").text(sunset);
    }
    html.markup("</p>");
}

/// Adds a sentence about access.
fn access(html: &mut Html, route: &RouteInfo) {
    let access = &route.access;
    let (before, between) = match access.user {
        Need::Required if access.schemes.is_empty() => ("Users", ""),
        Need::Required => ("Users", " with "),
        Need::Optional => ("Everybody; users authenticate with ", ""),
        _ => ("Everybody", ""),
    };
    html.markup("<p><i>Who may call:</i> ").markup(before).markup(between);
    for (index, scheme) in access.schemes.iter().enumerate() {
        html.markup(if index == 0 { "" } else { " or " });
        match scheme {
            SchemeInfo::Http { scheme, .. } => html.code(&format!("Authorization: {scheme} …")),
            SchemeInfo::Header { header, .. } => html.markup("the header ").code(header),
            SchemeInfo::Cookie { cookie, .. } => html.markup("the cookie ").code(cookie),
            SchemeInfo::Other { text, .. } => html.text(text),
            other => html.text(other.name()),
        };
    }
    html.markup(". ");
    if let Some(demand) = demand(access) {
        html.text(&demand).markup(".");
    }
    html.markup("</p>");
}

fn parameters(html: &mut Html, operation: &Value) {
    let Some(parameters) = operation["parameters"].as_array() else { return };
    html.markup("<b>Parameters</b><ul class=r>");
    for parameter in parameters {
        html.markup("<li>").code(parameter["name"].as_str().unwrap_or("?")).markup(" <i>");
        html.text(parameter["in"].as_str().unwrap_or("?"));
        // Path parameters are always required.
        let is_required = parameter["required"] == true && parameter["in"] != "path";
        html.markup(if is_required { ", required</i> " } else { "</i> " });
        schema::kind(html, &parameter["schema"]);
        if let Some(text) = parameter["description"].as_str() {
            html.markup(" – ").text(text);
        }
    }
    html.markup("</ul>");
}

/// Adds the body of a request.
pub(super) fn body(html: &mut Html, operation: &Value) {
    let Some(content) = operation["requestBody"]["content"].as_object() else { return };
    let is_required = operation["requestBody"]["required"] == true;
    html.markup("<b>Body").markup(if is_required { "" } else { " (optional)" });
    html.markup("</b><ul class=r>");
    // Forms and JSON usually share a schema.
    let mut forms: Vec<(&Value, Vec<&str>)> = Vec::new();
    for (media_type, content) in content {
        match forms.iter_mut().find(|(schema, _)| **schema == content["schema"]) {
            Some((_, media_types)) => media_types.push(media_type),
            None => forms.push((&content["schema"], vec![media_type])),
        }
    }
    for (schema, media_types) in forms {
        html.markup("<li>").code(&media_types.join(", ")).markup(" ");
        inline(html, schema);
    }
    html.markup("</ul>");
}

/// Adds the messages of a WebSocket.
fn messages(html: &mut Html, messages: &Value) {
    let Some(largest) = messages["maxPayload"].as_u64() else { return };
    html.markup("<b>Messages</b><ul class=r>");
    for (key, title) in [("receives", "From the client "), ("sends", "To the client ")] {
        if let Some(schema) = messages.get(key) {
            html.markup("<li>").markup(title);
            inline(html, schema);
        }
    }
    html.markup("<li>Messages from the client: at most ")
        .text(&largest.to_string())
        .markup(" bytes");
    if let Some(rate) = messages["maxRate"].as_u64() {
        html.markup(", and ").text(&rate.to_string()).markup(" per second");
    }
    let names = messages["subprotocols"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        html.markup("<li>Subprotocols ").code(&names.join(", "));
    }
    html.markup("</ul>");
}

/// Adds an inline schema.
fn inline(html: &mut Html, schema: &Value) {
    schema::kind(html, schema);
    if schema::name_of(schema).is_none() && schema::has_fields(schema) {
        html.markup("<details><summary>Fields</summary>");
        schema::fields(html, schema);
        html.markup("</details>");
    }
}

fn answers(html: &mut Html, contents: &Contents<'_>, operation: &Operation<'_>) {
    let Some(responses) = operation.value["responses"].as_object() else { return };
    html.markup("<b>Responses</b><ul class=r>");
    let mut shared = Vec::new();
    for (status, response) in responses {
        match place(contents, operation, status, response) {
            (Some(name), _) => shared.push((status, name)),
            (None, line) => drop(html.markup("<li>").add(&line)),
        }
    }
    for (index, (status, name)) in shared.into_iter().enumerate() {
        html.markup(if index == 0 { "<li>" } else { " · " });
        html.markup("<a href=#a-")
            .anchor(&place_id(status, name))
            .markup(">")
            .text(status)
            .markup("</a>");
    }
    html.markup("</ul>");
}

/// Returns the name of the shared section for a response, if any, and its line.
pub(super) fn place<'c>(
    contents: &'c Contents<'_>,
    operation: &Operation<'c>,
    status: &str,
    response: &'c Value,
) -> (Option<&'c str>, Html) {
    let route = operation.route;
    if let Some(name) = shared_name(route, status, response) {
        let detail = Detail { internals: true, ..contents.detail.clone() };
        return (Some(name), answer(route, status, contents.response(response), &detail));
    }
    let line = answer(route, status, contents.response(response), &contents.detail);
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

/// Creates the line of a response.
pub(super) fn answer(route: &RouteInfo, status: &str, response: &Value, detail: &Detail) -> Html {
    let mut html = Html::default();
    html.markup("<span>").text(status).markup("</span> ");
    html.text(response["description"].as_str().unwrap_or_default());
    let givers = givers(route, status, detail.internals);
    // A response comes from the handler unless the line names a source.
    if !givers.is_empty() && givers != ["handler"] {
        html.markup(" <i>by ").text(&givers.join(", ")).markup("</i>");
    }
    content(&mut html, response, detail);
    html
}

/// Returns the name of the shared response that a response refers to. Errors of
/// handlers and middleware are shown at the operation.
fn shared_name<'d>(route: &RouteInfo, status: &str, response: &'d Value) -> Option<&'d str> {
    component(response).filter(|_| is_of_stage(route, status))
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
const UNTOLD: [&str; 12] = [
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

/// Adds the bodies and headers of a response. Omits the usual error, because
/// the page describes it once.
fn content(html: &mut Html, response: &Value, detail: &Detail) {
    let headers = response["headers"].as_object().into_iter().flatten();
    let own = headers.map(|(name, _)| name.as_str()).filter(|name| !UNTOLD.contains(name));
    let own: Vec<&str> = own.collect();
    if !own.is_empty() {
        html.markup(" <i>with ").text(&own.join(", ")).markup("</i>");
    }
    for (media_type, content) in response["content"].as_object().into_iter().flatten() {
        let schema = &content["schema"];
        if schema::name_of(schema) == Some(&*detail.usual_error) {
            continue;
        }
        html.markup(" ");
        if media_type != "application/json" {
            html.code(media_type).markup(" ");
        }
        if *schema != true {
            inline(html, schema);
        }
    }
}

/// Returns the parts of a route that send a status. Names of middleware are
/// included only with `internals`.
fn givers(route: &RouteInfo, status: &str, internals: bool) -> Vec<String> {
    let is_given = |given: StatusDoc| {
        given == *status || (given == StatusDoc::Class(2) && status.starts_with('2'))
    };
    let mut seen = BTreeSet::new();
    let givers = route.answers.iter().filter(|answer| is_given(answer.status));
    let names = givers.map(|answer| match &*answer.by {
        name if internals || STAGES.contains(&name) => name.to_owned(),
        _ => "middleware".to_owned(),
    });
    names.filter(|name| !name.is_empty() && seen.insert(name.clone())).collect()
}

fn limits(html: &mut Html, limits: &Limits) {
    html.markup("<b>Limits</b><ul class=r><li>");
    html.text(&format!("bodies of at most {} bytes", limits.max_body));
    for rate in &limits.rate {
        html.markup("<li>").text(&match (rate.limit, rate.window_ms) {
            (Some(limit), Some(window)) => {
                format!("{limit} requests in {} s ({})", window.div_ceil(1000), rate.name)
            }
            _ => format!("a rate that depends on the request ({})", rate.name),
        });
    }
    if limits.rate_exempt {
        html.markup("<li>exempt from the router's rate limit");
    }
    if let Some((milliseconds, status)) = limits.timeout {
        html.markup("<li>").text(&format!("{status} after {milliseconds} ms"));
    }
    if let Some(accepted) = &limits.accepts {
        html.markup("<li>bodies of type ").text(&accepted.join(", "));
    }
    html.markup("</ul>");
}
