//! The responses of an operation, by status.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use serde_json::{Map, Value, json};
use stockade_map::schemas::PLACE as SCHEMAS;
use stockade_routing::map::{BodyDoc, ContentInfo, HeaderDoc, ResponseInfo, RouteInfo, RouteMap};

use super::security;
use super::shared::Shared;

/// The parts of a router that send the same response on all routes. Their
/// responses are shared components.
const STAGES: [(&str, &str); 8] = [
    ("validation", "ValidationFailed"),
    ("rate limit", "TooManyRequests"),
    ("routing", "NotFound"),
    ("body 400", "UnreadableBody"),
    ("body 408", "RequestTimeout"),
    ("body 413", "ContentTooLarge"),
    ("body 415", "UnsupportedMediaType"),
    ("server", "InternalServerError"),
];

/// A header that only browsers read, for cross-origin scripts. Documents omit
/// it, because it would make up a tenth of a document.
const FOR_BROWSERS: &str = "Access-Control-Expose-Headers";

/// Returns the responses of a route. Adds shared responses to `shared`.
pub(super) fn of(route: &RouteInfo, map: &RouteMap, shared: &Shared) -> Value {
    let mut responses = Map::new();
    for (status, answers) in route.answers_by_status() {
        let meaning = documented(route, &status);
        let demand = security::demand(&route.access).filter(|_| status == "403");
        let write = |demand: Option<&str>| {
            let description = match meaning {
                Some(meaning) => meaning.clone(),
                None => meanings(&status, &answers, demand),
            };
            response(&description, &answers, map, shared)
        };
        let contents = contents_of(route, &status);
        let has_example = route.docs.reply_examples.iter().any(|(it, _)| it.to_string() == status);
        let name = match meaning {
            None => shared_name(&status, &answers),
            Some(_) => is_error(&status).then(|| name_of(&status).into()),
        };
        let mut response = match name.filter(|_| !has_example && contents.is_empty()) {
            Some(name) => shared.response(&name, &answers, meaning.cloned().or(demand), write),
            None => write(demand.as_deref()),
        };
        if !contents.is_empty() {
            response["content"] = contents.into();
        }
        responses.insert(status, response);
    }
    responses.sort_keys();
    Value::Object(responses)
}

/// Returns the documented meaning of a status.
fn documented<'r>(route: &'r RouteInfo, status: &str) -> Option<&'r String> {
    let mut told = route.docs.responses.iter();
    told.find(|(known, _)| known.to_string() == status).map(|(_, meaning)| meaning)
}

/// Returns the documented media types of a status.
fn contents_of(route: &RouteInfo, status: &str) -> Map<String, Value> {
    let told = route.docs.contents.iter().filter(|(known, _)| known.to_string() == status);
    let schema = |media_type: &str| match media_type {
        "application/json" => json!({}),
        text if text.starts_with("text/") => json!({ "type": "string" }),
        _ => json!({ "type": "string", "format": "binary" }),
    };
    told.map(|(_, it)| (it.clone(), json!({ "schema": schema(it) }))).collect()
}

/// Returns the name of a shared response: the response of a stage, or an error
/// that many operations describe with the same text. `in_org.404` is a 404 from
/// one middleware, and `NotFound` is any other 404.
fn shared_name(status: &str, answers: &[Cow<'_, ResponseInfo>]) -> Option<Cow<'static, str>> {
    if let Some(name) = stage_name(answers) {
        return Some(name.into());
    }
    if !is_error(status) {
        return None;
    }
    let mut parts = answers.iter().map(|answer| &*answer.by);
    let part = parts.next().filter(|first| parts.all(|part| part == *first));
    let part = part.filter(|part| *part != "handler").map(short).filter(|part| !part.is_empty());
    Some(match part {
        Some(part) => format!("{part}.{status}").into(),
        None => name_of(status).into(),
    })
}

/// Returns the name of the response of a stage, if a stage sends it.
fn stage_name(answers: &[Cow<'_, ResponseInfo>]) -> Option<&'static str> {
    let [answer] = answers else { return None };
    let key = match &*answer.by {
        "body" => format!("body {}", answer.status),
        part => part.to_owned(),
    };
    STAGES.iter().find(|(known, _)| *known == key).map(|(_, name)| *name)
}

/// Returns true if a stage sends the only response with this status. Such a
/// response is the same on most routes.
pub(crate) fn is_of_stage(route: &RouteInfo, status: &str) -> bool {
    let answers = route.answers_by_status();
    documented(route, status).is_none()
        && answers.get(status).is_some_and(|answers| stage_name(answers).is_some())
}

fn is_error(status: &str) -> bool {
    status.starts_with(['4', '5'])
}

/// Returns the last segment of a path such as `shop::in_org<Db>`, without its
/// parameters. It contains only characters that are valid in a component name.
fn short(path: &str) -> String {
    let path = path.split_once('<').map_or(path, |(path, _)| path);
    let last = path.rsplit("::").find(|segment| !segment.starts_with('{')).unwrap_or_default();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    last.chars().map(|c| if is_allowed(c) { c } else { '-' }).collect()
}

/// Returns the name of an error by its status, such as `NotFound`.
fn name_of(status: &str) -> String {
    let text = match status {
        "4XX" => "ClientError".to_owned(),
        "5XX" => "ServerError".to_owned(),
        status => {
            let reason = status.parse().ok().and_then(|code| StatusCode::from_u16(code).ok());
            let reason = reason.and_then(|code| code.canonical_reason());
            reason.map_or_else(|| format!("Error{status}"), str::to_owned)
        }
    };
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

fn response(
    description: &str,
    answers: &[Cow<'_, ResponseInfo>],
    map: &RouteMap,
    shared: &Shared,
) -> Value {
    let mut response = json!({ "description": description });
    let headers = headers_of(answers, shared);
    if !headers.is_empty() {
        response["headers"] = Value::Object(headers);
    }
    let content = content(answers, map, shared);
    if !content.is_empty() {
        response["content"] = Value::Object(content);
    }
    response
}

/// Returns the meanings of a status and the requirements for access. If there
/// are none, returns the standard text of the status.
fn meanings(status: &str, answers: &[Cow<'_, ResponseInfo>], demand: Option<&str>) -> String {
    let mut seen = BTreeSet::new();
    let texts = answers.iter().map(|answer| &*answer.meaning);
    let mut texts: Vec<String> = texts
        .filter(|text| !text.is_empty() && seen.insert(text.to_owned()))
        .map(str::to_owned)
        .collect();
    texts.extend(demand.map(str::to_owned));
    if texts.is_empty() { standard_text(status) } else { texts.join(". ") }
}

fn standard_text(status: &str) -> String {
    let reason = status.parse().ok().and_then(|code| StatusCode::from_u16(code).ok());
    let reason = reason.and_then(|code| code.canonical_reason());
    let class = match status {
        "2XX" => "Success",
        "3XX" => "A redirect",
        "4XX" => "A client error",
        "5XX" => "A server error",
        "default" => "An error",
        _ => "Another response",
    };
    reason.unwrap_or(class).to_owned()
}

fn content(
    answers: &[Cow<'_, ResponseInfo>],
    map: &RouteMap,
    shared: &Shared,
) -> Map<String, Value> {
    let mut by_type: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut add = |media_type: &str, schema: Value| {
        let schemas = by_type.entry(media_type.to_owned()).or_default();
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    };
    let mut problems = BTreeSet::new();
    for answer in answers {
        let problem = answer.problem.as_ref().filter(|_| answer.has_error_body());
        if let Some(name) = problem.and_then(|problem| shared.problem_name(&problem.type_uri)) {
            let schema = reference(name);
            problems.insert(schema.to_string());
            add(map.error_media_type(), schema);
            continue;
        }
        match &answer.body {
            BodyDoc::Content(content) => {
                for ContentInfo { media_type, schema, .. } in content {
                    add(media_type, schema.clone());
                }
            }
            BodyDoc::Error => add(map.error_media_type(), error(map, false)),
            BodyDoc::ValidationError => {
                add(map.error_media_type(), error(map, true));
            }
            _ => {}
        }
    }
    // A part that validates fields may send errors with fields, and this schema
    // covers errors without them.
    let (error, with_fields) = (error(map, false), error(map, true));
    let checks = |by: &str| {
        let mut checked = answers.iter().filter(|it| it.body == BodyDoc::ValidationError);
        by == "body" || checked.any(|answer| answer.by == by)
    };
    let mut plain = answers.iter().filter(|answer| answer.body == BodyDoc::Error);
    let is_covered = plain.all(|answer| checks(&answer.by));
    for schemas in by_type.values_mut() {
        if error != with_fields && schemas.contains(&with_fields) && is_covered {
            schemas.retain(|schema| *schema != error);
        }
    }
    let contents = by_type.into_iter().map(|(media_type, mut schemas)| {
        let schema = match schemas.len() {
            1 => schemas.remove(0),
            // Each problem type has its own constant `type`, so only one of
            // these schemas can match. Other schemas may match at the same
            // time, which `oneOf` would reject.
            _ if map.router.problem_details
                && schemas.iter().all(|schema| problems.contains(&schema.to_string())) =>
            {
                json!({ "oneOf": schemas })
            }
            _ => json!({ "anyOf": schemas }),
        };
        (media_type, json!({ "schema": schema }))
    });
    contents.collect()
}

fn error(map: &RouteMap, of_validation: bool) -> Value {
    reference(&map.error_schema_name(of_validation))
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{SCHEMAS}{name}") })
}

fn headers_of(answers: &[Cow<'_, ResponseInfo>], shared: &Shared) -> Map<String, Value> {
    let mut headers = Map::new();
    for answer in answers {
        for header in &answer.headers {
            if headers.contains_key(&*header.name) || header.name == FOR_BROWSERS {
                continue;
            }
            let on_all = answers.iter().all(|answer| has(answer, &header.name));
            let object = shared.header(header, on_all, || header_object(header, on_all));
            headers.insert(header.name.to_string(), object);
        }
    }
    headers
}

fn has(answer: &ResponseInfo, name: &str) -> bool {
    answer.headers.iter().any(|header| header.name == name && header.always)
}

fn header_object(header: &HeaderDoc, always: bool) -> Value {
    let schema = match &*header.name {
        // RFC 9110, section 10.2.3: seconds.
        "Retry-After" => {
            json!({ "type": "integer", "minimum": 0, "maximum": i32::MAX, "format": "int32" })
        }
        _ => json!({ "type": "string" }),
    };
    let mut object = json!({ "description": header.meaning });
    if always {
        object["required"] = json!(true);
    }
    object["schema"] = schema;
    object
}
