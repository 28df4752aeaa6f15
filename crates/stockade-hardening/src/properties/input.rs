//! [`Input`]: the parameters, the query and the body of a request.

use std::collections::BTreeMap;

use http::Method;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_routing::map::{BodyInfo, ParamInfo, RouteInfo};
use url::form_urlencoded;

use super::breaks::Break;
use super::fit::names_of;
use super::form::{self, FORM_DATA, FileField};
use super::text;
use super::values::{Focus, Maker, Source, parts_of};
use crate::shot::Shot;

/// The parts of a request that schemas describe.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Input {
    /// The path, with parameters in braces.
    pub(super) template: String,
    pub(super) params: BTreeMap<String, Value>,
    pub(super) query: Map<String, Value>,
    pub(super) body: Option<Body>,
}

/// A body.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Body {
    pub(super) media_type: String,
    pub(super) value: Value,
    /// The fields of a form with files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<FileField>,
}

/// The part of a request that violates a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum InputPart {
    /// The index of a parameter.
    Param(usize),
    Query,
    Body,
}

pub(super) const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const TEXT: &str = "text/plain";
const ANY: &str = "*/*";

impl Input {
    /// Returns the path and the query.
    pub(super) fn target(&self) -> String {
        let mut path = self.template.clone();
        for (name, value) in &self.params {
            path = path.replace(&format!("{{{name}}}"), &encoded(&text_of(value)));
        }
        let query = pairs(&self.query);
        if query.is_empty() { path } else { format!("{path}?{query}") }
    }

    /// Returns the request for a route.
    pub(super) fn request(&self, route: &RouteInfo) -> Shot {
        let mut shot = Shot::new(method_of(route), self.target());
        if let Some(host) = &route.host {
            shot = shot.add("host", host.example());
        }
        let Some(body) = &self.body else { return shot };
        if let (FORM_DATA, Some(members)) = (&*body.media_type, body.value.as_object()) {
            let (content_type, bytes) = form::encoded(members, &body.files);
            return shot.body(&content_type, bytes);
        }
        let bytes = match &*body.media_type {
            JSON => body.value.to_string(),
            FORM => body.value.as_object().map(pairs).unwrap_or_default(),
            _ => text_of(&body.value),
        };
        let media_type = if body.media_type == ANY { TEXT } else { &body.media_type };
        shot.body(media_type, bytes)
    }
}

/// Returns the method of requests to a route.
pub(super) fn method_of(route: &RouteInfo) -> Method {
    match Method::from_bytes(route.method.as_bytes()) {
        Ok(method) if route.method != "ANY" => method,
        // A route for any method may read a body.
        _ if route.body.is_some() => Method::POST,
        _ => Method::GET,
    }
}

/// Returns a strategy for requests to a route. Either all of them are valid, or
/// all violate one rule. `given` contains the configured parameter values.
pub(super) fn inputs(
    maker: &Maker,
    route: &RouteInfo,
    given: &BTreeMap<String, Value>,
    broken: Option<(InputPart, &Break)>,
) -> Result<BoxedStrategy<Input>, String> {
    let focus_on = |part: InputPart| {
        broken.filter(|(it, _)| *it == part).map(|(_, it)| (it.place.as_slice(), &it.edit))
    };
    let params = route.params.iter().enumerate().map(|(index, param)| {
        let focus = focus_on(InputPart::Param(index));
        let made = match given.get(&param.name).filter(|_| focus.is_none()) {
            Some(value) => Ok(Just(value.clone()).boxed()),
            None => values_of(maker, param, focus),
        };
        Ok((param.name.clone(), made.map_err(|why| format!("{}: {why}", param.name))?))
    });
    let params: Vec<(String, BoxedStrategy<Value>)> = params.collect::<Result<_, String>>()?;
    let query = match &route.query {
        Some(schema) => {
            let maker = Maker { source: Source::Query, ..maker.clone() };
            let made = maker.values(schema, focus_on(InputPart::Query));
            let made = made.map_err(|why| format!("query: {why}"))?;
            let made = made.prop_map(with_pairs_of_objects);
            made.prop_filter("found no query that fits in an address", can_be_pairs).boxed()
        }
        None => Just(Value::Object(Map::new())).boxed(),
    };
    let body = match &route.body {
        Some(info) => body_of(maker, info, focus_on(InputPart::Body))?,
        None => Just(None).boxed(),
    };
    let needed = match broken {
        Some((InputPart::Param(index), _)) => Some(format!("{{{}}}", route.params[index].name)),
        _ => None,
    };
    let has_it = |template: &&String| needed.as_ref().is_none_or(|it| template.contains(it));
    let templates: Vec<String> = route.templates.iter().filter(has_it).cloned().collect();
    let (names, values): (Vec<String>, Vec<_>) = params.into_iter().unzip();
    let input = (prop::sample::select(templates), values, query, body);
    let input = input.prop_map(move |(template, values, query, body)| {
        let is_in = |name: &str| template.contains(&format!("{{{name}}}"));
        let named = names.iter().cloned().zip(values).filter(|(name, _)| is_in(name));
        let params = named.collect();
        // The strategy for a query generates objects.
        let query = if let Value::Object(query) = query { query } else { Map::new() };
        Input { template, params, query, body }
    });
    Ok(input.boxed())
}

/// Replaces each object in a query by its pairs: `filter[state]`, the style `deepObject`.
fn with_pairs_of_objects(query: Value) -> Value {
    let Value::Object(members) = query else { return query };
    let pairs = members.into_iter().flat_map(|(name, value)| match value {
        Value::Object(inner) => {
            inner.into_iter().map(|(key, value)| (format!("{name}[{key}]"), value)).collect()
        }
        value => vec![(name, value)],
    });
    Value::Object(pairs.collect())
}

/// Returns the values of a parameter.
fn values_of(
    maker: &Maker,
    param: &ParamInfo,
    focus: Focus<'_>,
) -> Result<BoxedStrategy<Value>, String> {
    let maker = Maker { source: Source::Path, alphabet: text::Alphabet::Plain, ..maker.clone() };
    let is_bare = |schema: &Value| {
        let rules = schema.as_object();
        rules.is_some_and(|rules| {
            rules.get("type").is_some_and(|it| it == "string")
                && !rules
                    .keys()
                    .any(|name| matches!(name.as_str(), "enum" | "const" | "pattern" | "format"))
        })
    };
    let schema = maker.schemas.followed(&param.schema);
    match &param.constraint {
        Some(constraint) if focus.is_none() && is_bare(schema) => {
            let (schemas, schema) = (maker.schemas.clone(), schema.clone());
            let values = text::of_pattern(constraint)?.prop_map(Value::from);
            let fits = move |value: &Value| schemas.fits(&schema, value);
            Ok(values
                .prop_filter("no parameter matches both its constraint and its schema", fits)
                .boxed())
        }
        _ => maker.values(&param.schema, focus),
    }
}

fn body_of(
    maker: &Maker,
    info: &BodyInfo,
    focus: Focus<'_>,
) -> Result<BoxedStrategy<Option<Body>>, String> {
    let mut forms: Vec<(u32, BoxedStrategy<Option<Body>>)> = Vec::new();
    let mut error = "cannot generate a form for its body".to_owned();
    for content in &info.content {
        let media_type = &*content.media_type;
        if focus.is_some() && Some(media_type) != broken_form(info) {
            continue;
        }
        // A form cannot hold nested members.
        if matches!(media_type, FORM | FORM_DATA) && !is_flat_schema(maker, &content.schema) {
            continue;
        }
        let flat = Maker { source: Source::Query, ..maker.clone() };
        let mut files = Vec::new();
        let (weight, made) = match media_type {
            JSON => (4, maker.values(&content.schema, focus)),
            FORM_DATA => {
                files = form::file_fields(&maker.schemas, &content.schema);
                let schema = form::with_texts(&maker.schemas, &content.schema);
                let schema = form::with_limits(&maker.schemas, &schema);
                (1, flat.values(&schema, focus))
            }
            FORM | TEXT => (1, flat.values(&content.schema, None)),
            ANY => (1, Ok(Just(Value::from("text")).boxed())),
            other => (1, Err(format!("cannot generate bodies of type {other}"))),
        };
        let kind = media_type.to_owned();
        let is_writable = move |value: &Value| can_be_body(&kind, value);
        let media_type = media_type.to_owned();
        match made {
            Ok(made) => {
                let values =
                    made.prop_filter("no body was found that its form can hold", is_writable);
                let body = move |value| {
                    let (media_type, files) = (media_type.clone(), files.clone());
                    Some(Body { media_type, value, files })
                };
                forms.push((weight, values.prop_map(body).boxed()));
            }
            Err(why) => error = format!("body: {why}"),
        }
    }
    if !info.required && focus.is_none() {
        forms.push((1, Just(None).boxed()));
    }
    if forms.is_empty() {
        return Err(error);
    }
    Ok(prop::strategy::Union::new_weighted(forms).boxed())
}

/// Returns the media type of bodies that violate a rule: JSON, or a form with
/// files if the route does not accept JSON.
pub(super) fn broken_form(info: &BodyInfo) -> Option<&str> {
    let accepts = |wanted: &str| info.content.iter().any(|content| content.media_type == wanted);
    [JSON, FORM_DATA].into_iter().find(|wanted| accepts(wanted))
}

/// Returns true if all listed members are scalars or lists of scalars.
fn is_flat_schema(maker: &Maker, schema: &Value) -> bool {
    let rules = maker.schemas.followed(schema);
    let members = rules.get("properties").and_then(Value::as_object);
    members.is_some_and(|members| {
        members.values().all(|member| {
            let member = maker.schemas.followed(member);
            let items = member.get("items").filter(|_| member.get("prefixItems").is_none());
            is_scalar(maker, member)
                || items.is_some_and(|item| is_scalar(maker, maker.schemas.followed(item)))
        })
    })
}

fn is_scalar(maker: &Maker, rules: &Value) -> bool {
    if let Some(parts) = rules.as_object().and_then(parts_of) {
        return parts.iter().all(|part| is_scalar(maker, maker.schemas.followed(part)));
    }
    let mut names = rules.get("type").into_iter().flat_map(names_of).peekable();
    let is_listed = ["enum", "const"].iter().any(|rule| rules.get(*rule).is_some());
    (names.peek().is_some() && names.all(|name| !matches!(name, "object" | "array"))) || is_listed
}

/// Returns true if a body of this media type can contain the value.
pub(super) fn can_be_body(media_type: &str, value: &Value) -> bool {
    match media_type {
        FORM | FORM_DATA => {
            can_be_pairs(value) && value.as_object().is_some_and(|it| !it.is_empty())
        }
        TEXT => value.as_str().is_some_and(|text| !text.is_empty()),
        _ => true,
    }
}

/// Returns true if key-value pairs can represent the value: an object of texts,
/// numbers, booleans, and lists of these. An empty list produces no pair, so
/// the server would not receive it.
pub(super) fn can_be_pairs(value: &Value) -> bool {
    let is_scalar = |value: &Value| !value.is_null() && !value.is_array() && !value.is_object();
    value.as_object().is_some_and(|members| {
        members.values().all(|member| match member {
            Value::Array(items) => !items.is_empty() && items.iter().all(is_scalar),
            member => is_scalar(member),
        })
    })
}

fn pairs(members: &Map<String, Value>) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    for (name, value) in members {
        match value {
            Value::Array(items) => items.iter().for_each(|item| {
                pairs.append_pair(name, &text_of(item));
            }),
            value => {
                pairs.append_pair(name, &text_of(value));
            }
        }
    }
    pairs.finish()
}

/// Returns a value as text, as written in a URL and a form.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Percent-encodes everything except letters, digits and `-._~`.
fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}
