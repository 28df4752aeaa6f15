//! The answers of an operation, each status once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use serde_json::{Map, Value, json};
use stockade_map::schemas::PLACE as SCHEMAS;
use stockade_routing::map::{BodyDoc, ContentInfo, HeaderDoc, ResponseInfo, RouteInfo, RouteMap};

use super::security;
use super::shared::Shared;

/// The parts of a router that give the same answer on all routes, whose answers
/// stand once in a document.
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

/// A header that browsers read for the pages of other origins, and that no program
/// sees. It would be a tenth of a document.
const FOR_BROWSERS: &str = "Access-Control-Expose-Headers";

/// The names of the errors that handlers and middleware give begin with this.
pub(crate) const ERROR: &str = "Error";

/// Returns the answers of a route; those that stand once are put into `shared`.
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
        let has_example = route.docs.reply_examples.iter().any(|(it, _)| it.to_string() == status);
        let is_own = meaning.is_some() || has_example;
        let response = match shared_name(&status, &answers).filter(|_| !is_own) {
            Some(name) => shared.response(&name, &answers, demand, write),
            None => write(demand.as_deref()),
        };
        responses.insert(status, response);
    }
    responses.sort_keys();
    Value::Object(responses)
}

/// Returns the meaning of a status in the documentation of a route.
fn documented<'r>(route: &'r RouteInfo, status: &str) -> Option<&'r String> {
    let mut told = route.docs.responses.iter();
    told.find(|(known, _)| known.to_string() == status).map(|(_, meaning)| meaning)
}

/// Returns the name of an answer that stands once in a document: that of a stage,
/// or an error, which many operations give in the same words.
fn shared_name(status: &str, answers: &[Cow<'_, ResponseInfo>]) -> Option<Cow<'static, str>> {
    if let [answer] = answers {
        let key = match &*answer.by {
            "body" => format!("body {}", answer.status),
            part => part.to_owned(),
        };
        if let Some((_, name)) = STAGES.iter().find(|(known, _)| *known == key) {
            return Some(Cow::Borrowed(*name));
        }
    }
    let is_error = status.starts_with(['4', '5']);
    is_error.then(|| Cow::Owned(format!("{ERROR}{status}")))
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
    let content = content(answers, map);
    if !content.is_empty() {
        response["content"] = Value::Object(content);
    }
    response
}

/// Returns the meanings of a status, with the words for those who are let through,
/// or its standard text.
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
        "4XX" => "An error of the request",
        "5XX" => "An error of the server",
        "default" => "An error",
        _ => "Another answer",
    };
    reason.unwrap_or(class).to_owned()
}

fn content(answers: &[Cow<'_, ResponseInfo>], map: &RouteMap) -> Map<String, Value> {
    let mut by_type: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut add = |media_type: &str, schema: Value| {
        let schemas = by_type.entry(media_type.to_owned()).or_default();
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    };
    for answer in answers {
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
    // An error of who checks fields may come in the form with the fields, which
    // holds the other too.
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
            _ => json!({ "anyOf": schemas }),
        };
        (media_type, json!({ "schema": schema }))
    });
    contents.collect()
}

fn error(map: &RouteMap, of_validation: bool) -> Value {
    json!({ "$ref": format!("{SCHEMAS}{}", map.error_schema_name(of_validation)) })
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
