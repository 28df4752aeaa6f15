//! The section of an operation.

use serde_json::Value;
use stockade_routing::map::{
    Limits, MethodInfo, Need, RouteAccess, RouteInfo, RouteKind, SchemeInfo,
};

use super::html::Html;
use super::schema::View;
use super::{Contents, Operation, life, markdown, methods, responses, samples, schema};
use crate::document::demand;
use crate::example::{Direction, followed, referred};

/// Adds the section of an operation.
pub(super) fn add(html: &mut Html, contents: &Contents<'_>, operation: &Operation<'_>) {
    let Operation { id, value, route, .. } = operation;
    html.markup("<section class=op id=").anchor(id).markup("><div class=doc><h3><a href=#");
    html.anchor(id).markup(">").text(&title(operation)).markup("</a></h3><p class=path>");
    path(html, operation);
    html.markup("</p>");
    if route.docs.deprecated {
        deprecated(html, route);
    }
    if let Some(description) = &route.docs.description {
        markdown::add(html, description);
    }
    access(html, route);
    parameters(html, value);
    body(html, contents.schemas(), value);
    let (own, shared) = responses::split(contents, operation);
    responses::add(html, contents, route, &own, &shared);
    methods::add(html, contents, route);
    messages(html, contents.schemas(), &value["x-websocket"]);
    rules(html, contents, route);
    life::add(html, contents, route);
    html.markup("</div><div class=ex>");
    samples::add(html, contents, operation, &own);
    html.markup("</div></section>\n");
}

/// Returns the title of an operation: its summary as plain text, or its path.
pub(super) fn title(operation: &Operation<'_>) -> String {
    let summary = operation.route.docs.summary.as_deref();
    summary.map_or_else(|| operation.path.to_owned(), |summary| summary.replace('`', ""))
}

/// Returns the method for display.
pub(super) fn method(operation: &Operation<'_>) -> String {
    match operation.route.kind {
        RouteKind::WebSocket => "WS".to_owned(),
        _ => operation.method.to_ascii_uppercase(),
    }
}

/// Adds the method as a badge.
pub(super) fn badge(html: &mut Html, operation: &Operation<'_>) {
    let class = match operation.route.kind {
        RouteKind::WebSocket => "ws",
        _ => operation.method,
    };
    html.markup("<b class=\"m ").anchor(class).markup("\">").text(&method(operation));
    html.markup("</b>");
}

/// Adds the method and the path.
fn path(html: &mut Html, operation: &Operation<'_>) {
    badge(html, operation);
    html.markup(" <code>").text(operation.path).markup("</code>");
    if let Some(host) = &operation.route.host {
        html.markup(" on <code>").text(&host.template).markup("</code>");
    }
}

fn deprecated(html: &mut Html, route: &RouteInfo) {
    html.markup("<p class=old>Deprecated");
    if let Some(since) = &route.docs.deprecated_since {
        html.markup(" since ").text(since);
    }
    if let Some(sunset) = &route.docs.sunset {
        html.markup(", may be removed after ").text(sunset);
    }
    html.markup("</p>");
}

/// Adds a sentence about access.
fn access(html: &mut Html, route: &RouteInfo) {
    let access = &route.access;
    html.markup("<p class=who><b>");
    html.markup(match access.user {
        Need::Required => "Authenticated",
        Need::Optional => "Authentication is optional",
        _ => "Public",
    });
    html.markup("</b>");
    for (index, scheme) in access.schemes.iter().enumerate() {
        html.markup(if index == 0 { " with " } else { " or " });
        match scheme {
            SchemeInfo::Http { scheme, .. } => html.code(&format!("Authorization: {scheme} …")),
            SchemeInfo::Header { header, .. } => html.markup("the header ").code(header),
            SchemeInfo::Cookie { cookie, .. } => html.markup("the cookie ").code(cookie),
            SchemeInfo::Other { text, .. } => html.text(text),
            other => html.text(other.name()),
        };
    }
    if let Some(reason) = &access.public {
        html.markup(": ").text(reason);
    }
    if let Some(demand) = demand(access) {
        html.markup(". ").text(&demand).markup(".");
    }
    html.markup("</p>");
    strictness(html, access);
}

/// Adds the rules of the methods that have any beyond their place in the
/// request, and of the protection against requests of other origins.
fn strictness(html: &mut Html, access: &RouteAccess) {
    let has_rules = |method: &&MethodInfo| method.token.is_some() || method.cookie.is_some();
    let methods = access.methods.iter().filter(has_rules).map(ToString::to_string);
    for text in methods.chain(access.cross_origin.iter().map(ToString::to_string)) {
        html.markup("<p class=who>").text(&text).markup("</p>");
    }
}

/// Adds the parameters, grouped by their place.
fn parameters(html: &mut Html, operation: &Value) {
    let Some(parameters) = operation["parameters"].as_array() else { return };
    for (place, heading) in [
        ("path", "Path parameters"),
        ("query", "Query parameters"),
        ("header", "Headers"),
        ("cookie", "Cookies"),
    ] {
        let mut own = parameters.iter().filter(|it| it["in"] == place).peekable();
        if own.peek().is_none() {
            continue;
        }
        html.markup("<h4>").markup(heading).markup("</h4><ul class=f>");
        for parameter in own {
            html.markup("<li>").code(parameter["name"].as_str().unwrap_or("?")).markup(" ");
            schema::kind(html, &parameter["schema"]);
            if parameter["required"] == true {
                html.markup(" <em>required</em>");
            }
            if let Some(text) = parameter["description"].as_str() {
                markdown::add(html, text);
            }
        }
        html.markup("</ul>");
    }
}

/// Adds the body of a request.
pub(super) fn body(html: &mut Html, schemas: &Value, operation: &Value) {
    let Some(content) = operation["requestBody"]["content"].as_object() else { return };
    let is_required = operation["requestBody"]["required"] == true;
    html.markup("<h4>Request body");
    html.markup(if is_required { " <em>required</em>" } else { "" }).markup("</h4>");
    // Forms and JSON usually share a schema.
    let mut forms: Vec<(&Value, Vec<&str>)> = Vec::new();
    for (media_type, content) in content {
        match forms.iter_mut().find(|(schema, _)| **schema == content["schema"]) {
            Some((_, media_types)) => media_types.push(media_type),
            None => forms.push((&content["schema"], vec![media_type])),
        }
    }
    let view = View { schemas, direction: Some(Direction::Request) };
    for (schema, media_types) in forms {
        html.markup("<p>").code(&media_types.join(", ")).markup(" ");
        value(html, view, schema);
    }
}

/// Adds a schema with its fields, after the start of a paragraph.
pub(super) fn value(html: &mut Html, view: View<'_>, value: &Value) {
    if *value != true {
        schema::kind(html, value);
    }
    html.markup("</p>");
    let target = followed(view.schemas, value);
    if let Some(text) = target["description"].as_str().filter(|_| referred(value).is_some()) {
        markdown::add(html, text);
    }
    view.fields(html, value);
}

/// Adds the messages of a WebSocket.
fn messages(html: &mut Html, schemas: &Value, messages: &Value) {
    let Some(largest) = messages["maxPayload"].as_u64() else { return };
    for (key, heading, direction) in [
        ("receives", "Messages from the client", Direction::Request),
        ("sends", "Messages to the client", Direction::Response),
    ] {
        if let Some(schema) = messages.get(key) {
            html.markup("<h4>").markup(heading).markup("</h4><p>");
            value(html, View { schemas, direction: Some(direction) }, schema);
        }
    }
    html.markup("<h4>Connection</h4><ul class=r><li>Messages from the client of at most ");
    html.text(&largest.to_string()).markup(" bytes");
    if let Some(rate) = messages["maxRate"].as_u64() {
        html.markup("<li>At most ").text(&rate.to_string()).markup(" messages per second");
    }
    let names = messages["subprotocols"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        html.markup("<li>Subprotocols ").code(&names.join(", "));
    }
    html.markup("</ul>");
}

/// Adds the limits, the idempotency keys and the middleware of a route. Limits
/// and middleware are shown only with `internals`.
fn rules(html: &mut Html, contents: &Contents<'_>, route: &RouteInfo) {
    let mut lines = Vec::new();
    if let Some(keys) = &route.idempotency {
        let need = if keys.required { "requires" } else { "accepts" };
        lines.push(format!("{need} an idempotency key: a repeated request runs once"));
    }
    if contents.detail.internals {
        lines.extend(limits(&route.limits));
        let names: Vec<&str> = route.middleware.iter().map(|it| it.name.as_str()).collect();
        if !names.is_empty() {
            lines.push(format!("middleware: {}", names.join(", ")));
        }
    }
    if lines.is_empty() {
        return;
    }
    html.markup("<h4>Limits and rules</h4><ul class=r>");
    for line in lines {
        html.markup("<li>").text(&line);
    }
    html.markup("</ul>");
}

fn limits(limits: &Limits) -> Vec<String> {
    let mut lines = vec![format!("bodies of at most {} bytes", limits.max_body)];
    lines.extend(limits.rate.iter().map(|rate| match (rate.limit, rate.window_ms) {
        (Some(limit), Some(window)) => {
            format!("{limit} requests in {} s ({})", window.div_ceil(1000), rate.name)
        }
        _ => format!("a rate limit that depends on the request ({})", rate.name),
    }));
    if limits.rate_exempt {
        lines.push("exempt from the rate limit of the router".to_owned());
    }
    if let Some((milliseconds, status)) = limits.timeout {
        lines.push(format!("{status} after {milliseconds} ms"));
    }
    if let Some(accepted) = &limits.accepts {
        lines.push(format!("bodies of type {}", accepted.join(", ")));
    }
    lines
}
