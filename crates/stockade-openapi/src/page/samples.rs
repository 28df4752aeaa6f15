//! The column of examples: the request as a curl command, and the responses.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use stockade_routing::map::{Need, RouteKind, SchemeInfo};

use super::html::Html;
use super::parameters::encoded;
use super::responses::StatusResponse;
use super::{Contents, Operation, parameters, schema};
use crate::document::is_json;
use crate::example::{Direction, Examples, followed, referred};

/// Adds the examples of an operation.
pub(super) fn add(
    html: &mut Html,
    contents: &Contents<'_>,
    operation: &Operation<'_>,
    responses: &[StatusResponse<'_>],
) {
    if operation.route.kind != RouteKind::WebSocket {
        html.markup("<div class=card><h4>Request</h4>");
        html.listing(&line(contents, operation)).markup("</div>");
    }
    let examples: Vec<(String, String)> = responses
        .iter()
        .filter_map(|answer| {
            let example = response_example(contents, answer.value)?;
            Some((answer.status.to_owned(), pretty(&example)))
        })
        .collect();
    if examples.is_empty() {
        return;
    }
    html.markup("<div class=card><h4>Response</h4>");
    let names: Vec<String> = examples.iter().map(|(status, _)| status.clone()).collect();
    schema::tabs(html, "Examples by status", &names, |html, index| {
        if let Some((_, example)) = examples.get(index) {
            html.listing(example);
        }
    });
    html.markup("</div>");
}

/// Returns the example of a JSON response.
fn response_example(contents: &Contents<'_>, response: &Value) -> Option<Value> {
    let content = response["content"].as_object()?;
    let (_, content) = content.iter().find(|(name, _)| is_json(name))?;
    let schema = &content["schema"];
    // The page describes the usual error once.
    if referred(schema) == Some(&*contents.detail.usual_error) {
        return None;
    }
    given(content).or_else(|| {
        let is_known = schema.as_object().is_some_and(|schema| !schema.is_empty());
        let examples = Examples::new(contents.schemas(), Direction::Response);
        is_known.then(|| examples.value("", schema))
    })
}

/// Returns the example that the documentation of a route contains.
fn given(content: &Value) -> Option<Value> {
    let first = || content["examples"].as_object()?.values().next()?.get("value");
    content.get("example").or_else(first).cloned()
}

/// Returns JSON with indentation.
pub(super) fn pretty(value: &Value) -> String {
    // A value is always valid JSON.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Returns the data of an operation for the form that sends requests: its
/// parameters and bodies, with examples.
pub(super) fn call(contents: &Contents<'_>, operation: &Operation<'_>) -> Value {
    let Operation { value, route, .. } = operation;
    let examples = Examples::new(contents.schemas(), Direction::Request);
    let declared = value["parameters"].as_array().into_iter().flatten();
    let fields: Vec<Value> = declared
        .filter_map(|parameter| {
            let name = parameter["name"].as_str()?;
            let schema = &parameter["schema"];
            let target = followed(contents.schemas(), schema);
            let mut data = json!({
                "n": name,
                "i": parameter["in"],
                "r": parameter["required"] == true,
                "e": parameters::example(examples, parameter),
                "v": target.get("enum").cloned().unwrap_or_default(),
            });
            if let Some(style) = parameters::style(parameter) {
                data["s"] = json!(style);
            }
            Some(data)
        })
        .collect();
    let mut call = Map::new();
    call.insert("m".to_owned(), json!(super::operation::method(operation)));
    call.insert("p".to_owned(), json!(operation.path));
    if !fields.is_empty() {
        call.insert("q".to_owned(), fields.into());
    }
    let bodies = bodies(contents, operation);
    if !bodies.is_empty() {
        call.insert("b".to_owned(), bodies.into());
    }
    if route.access.user != Need::None && !route.access.schemes.is_empty() {
        let names: Vec<&str> = route.access.schemes.iter().map(SchemeInfo::name).collect();
        call.insert("a".to_owned(), json!(names));
    }
    Value::Object(call)
}

/// Returns the media types of a body, with their examples. The members of a
/// form with files have a kind.
fn bodies(contents: &Contents<'_>, operation: &Operation<'_>) -> Vec<Value> {
    let content = operation.value["requestBody"]["content"].as_object().into_iter().flatten();
    let body = |(media_type, content): (&String, &Value)| {
        let example = match media_type.as_str() {
            JSON_PATCH => json_patch(contents, operation),
            _ => None,
        };
        let example = example.unwrap_or_else(|| body_example(contents, operation, content));
        let mut body = json!({ "t": media_type });
        if media_type == "multipart/form-data" {
            let schema = &content["schema"];
            let fields = followed(contents.schemas(), schema)["properties"]
                .as_object()
                .into_iter()
                .flatten();
            let fields = fields.map(|(name, field)| {
                let is_list = is_file(&field["items"]);
                let mut data =
                    json!({ "n": name, "f": is_list || is_file(field), "e": example[name] });
                if is_list {
                    data["l"] = json!(true);
                }
                data
            });
            body["f"] = fields.collect();
        } else if example != "any value" {
            body["e"] = example;
        }
        body
    };
    content.map(body).collect()
}

/// The media type of a JSON Patch (RFC 6902).
const JSON_PATCH: &str = "application/json-patch+json";

/// Returns a JSON Patch that replaces the first member of the other bodies. Its
/// own schema does not have the members.
fn json_patch(contents: &Contents<'_>, operation: &Operation<'_>) -> Option<Value> {
    let all = operation.value["requestBody"]["content"].as_object()?;
    let (_, other) = all.iter().find(|(name, _)| is_json(name) && *name != JSON_PATCH)?;
    let example = body_example(contents, operation, other);
    let (name, value) = example.as_object()?.iter().next()?;
    let name = name.replace('~', "~0").replace('/', "~1");
    Some(json!([{ "op": "replace", "path": format!("/{name}"), "value": value }]))
}

/// Returns true for the schema of a file in a form.
fn is_file(schema: &Value) -> bool {
    schema["format"] == "binary" || schema.get("x-media-types").is_some()
}

fn body_example(contents: &Contents<'_>, operation: &Operation<'_>, content: &Value) -> Value {
    let examples = Examples::new(contents.schemas(), Direction::Request);
    given(content)
        .or_else(|| operation.route.docs.example.clone())
        .unwrap_or_else(|| examples.value("", &content["schema"]))
}

/// Creates a shell command.
fn line(contents: &Contents<'_>, operation: &Operation<'_>) -> String {
    let Operation { method, route, .. } = operation;
    let mut line = String::from("curl ");
    if *method != "get" {
        // Writing to a string cannot fail.
        let _ = write!(line, "-X {} ", method.to_ascii_uppercase());
    }
    let target = target(contents, operation);
    if let Some(server) = contents.server() {
        line.push_str(&quoted(&format!("{}{target}", server.trim_end_matches('/'))));
    } else {
        line.push_str("$API");
        line.push_str(&quoted(&target));
    }
    if route.access.user == Need::Required {
        line.push_str(route.access.schemes.first().map_or(String::new(), credentials).as_str());
    }
    body(&mut line, contents, operation);
    line
}

/// Returns the path with example parameters and the required query.
fn target(contents: &Contents<'_>, operation: &Operation<'_>) -> String {
    let examples = Examples::new(contents.schemas(), Direction::Request);
    let mut target = operation.path.to_owned();
    let mut query = String::new();
    for parameter in operation.value["parameters"].as_array().into_iter().flatten() {
        let Some(name) = parameter["name"].as_str() else { continue };
        match parameter["in"].as_str() {
            Some("path") => {
                let example = encoded(&parameters::example(examples, parameter));
                target = target.replace(&format!("{{{name}}}"), &example);
            }
            Some("query") if parameter["required"] == true => {
                for pair in parameters::pairs(examples, parameter) {
                    query.push(if query.is_empty() { '?' } else { '&' });
                    query.push_str(&pair);
                }
            }
            _ => {}
        }
    }
    target + &query
}

fn credentials(scheme: &SchemeInfo) -> String {
    match scheme {
        SchemeInfo::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => {
            " -u \"$USER_AND_PASSWORD\"".to_owned()
        }
        SchemeInfo::Http { scheme, .. } => {
            format!(" -H {}\"$TOKEN\"", quoted(&format!("Authorization: {scheme} ")))
        }
        SchemeInfo::Header { header, .. } => {
            format!(" -H {}\"$KEY\"", quoted(&format!("{header}: ")))
        }
        SchemeInfo::Cookie { cookie, .. } => {
            format!(" -b {}\"$SESSION\"", quoted(&format!("{cookie}=")))
        }
        _ => String::new(),
    }
}

fn body(line: &mut String, contents: &Contents<'_>, operation: &Operation<'_>) {
    let content = operation.value["requestBody"]["content"].as_object();
    let Some(content) = content else { return };
    if let Some(json) = content.get("application/json") {
        let example = body_example(contents, operation, json);
        let _ = write!(line, " \\\n  --json {}", quoted(&pretty(&example)));
    } else if let Some((media_type, content)) = content.iter().next() {
        match media_type.as_str() {
            "multipart/form-data" => {
                for field in bodies(contents, operation).iter().flat_map(|it| it["f"].as_array()) {
                    form_fields(line, field);
                }
            }
            "*/*" => line.push_str(" --data-binary @file"),
            media_type if media_type.ends_with("json") => {
                let example = body_example(contents, operation, content);
                let media_type = quoted(&format!("Content-Type: {media_type}"));
                let _ = write!(line, " \\\n  -H {media_type} -d {}", quoted(&pretty(&example)));
            }
            media_type => {
                let media_type = quoted(&format!("Content-Type: {media_type}"));
                let _ = write!(line, " -H {media_type} --data-binary @file");
            }
        }
    }
}

/// Adds the fields of a multipart form.
fn form_fields(line: &mut String, fields: &[Value]) {
    for field in fields {
        let name = field["n"].as_str().unwrap_or_default();
        let value = match field["f"] == true {
            true => "@file".to_owned(),
            false => super::words::plain(&field["e"]),
        };
        let _ = write!(line, " -F {}", quoted(&format!("{name}={value}")));
    }
    if fields.is_empty() {
        line.push_str(" -F file=@file");
    }
}

/// Quotes a text as one word of a POSIX shell, without expansion.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.-:,@%+=".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_expanded_by_the_shell() {
        assert_eq!(quoted("/users/1"), "/users/1");
        assert_eq!(quoted("/a?b=$(id)`id`"), "'/a?b=$(id)`id`'");
        assert_eq!(quoted("it's; id"), "'it'\\''s; id'");
        assert_eq!(quoted(""), "''");
    }
}
