//! Requests with generated bodies and unique texts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stockade_routing::map::{ContentInfo, RouteKind, RouteMap};
use stockade_validation::pattern;

use super::Who;
use super::names::{is_page_size, is_reference};
use super::operation::{Call, Member, Operation, members, variants};
use super::world::World;
use crate::MultipartForm;
use crate::any_version::{ANY_VERSION, IF_MATCH, needs_version};
use crate::hardening::attack_target::with_handshake;
use crate::hardening::tools::message::{self, with_call_headers};
use crate::idempotency_key::needs_key;
use crate::sample::{BOUNDARY, Sample, content_type, named_kind};
use crate::shot::Shot;

/// The media type and the bytes of a body.
pub(super) type Content = (String, Vec<u8>);

/// A text that only one user sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    pub(super) who: Who,
    pub(super) number: u32,
}

impl Marker {
    pub(super) fn text(self) -> String {
        format!("{}{:04}", self.who.marker(), self.number)
    }
}

/// The content of a body.
pub(super) struct Filling<'w> {
    pub(super) world: &'w World,
    pub(super) marker: Marker,
    /// The values of members that replace generated values.
    pub(super) given: BTreeMap<String, Value>,
    /// True if the body contains optional references to known objects.
    pub(super) has_optional: bool,
    /// The names of members that are not ids.
    pub(super) plain: &'w BTreeMap<String, String>,
}

/// Returns a request without credentials.
pub(super) fn shot(
    map: &RouteMap,
    operation: &Operation,
    values: &[String],
    query: &[(String, String)],
    body: Option<Content>,
) -> Shot {
    let sampled = Sample::of(map).query(&operation.route).unwrap_or_default();
    let name_of = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    let is_given = |pair: &str| query.iter().any(|(name, _)| *name == name_of(pair));
    let pairs = sampled.split('&').filter(|pair| !pair.is_empty() && !is_given(pair));
    let mut pairs: Vec<String> = pairs.map(str::to_owned).collect();
    pairs.extend(serde_html_form::to_string(query).into_iter().filter(|it| !it.is_empty()));
    let path = operation.path(values);
    let target = match pairs.is_empty() {
        true => path,
        false => format!("{path}?{}", pairs.join("&")),
    };
    let shot = match operation.route.kind {
        RouteKind::WebSocket => {
            with_handshake(Shot::new(operation.method.clone(), target), &operation.route)
        }
        _ => Shot::new(operation.method.clone(), target),
    };
    let shot = match operation.host() {
        Some(host) => shot.set("host", host.example()),
        None => shot,
    };
    let shot = shot.new_key(needs_key(&operation.route));
    let shot = match needs_version(&operation.route) {
        true => shot.add(IF_MATCH, ANY_VERSION),
        false => shot,
    };
    let shot = match &operation.call {
        Some(Call::Tool(tool)) => with_call_headers(shot, &tool.name),
        _ => shot,
    };
    match body {
        Some((content_type, body)) => shot.body(&content_type, body),
        None => shot,
    }
}

/// Returns a body of an operation; `None` if it does not read one.
pub(super) fn body(
    map: &RouteMap,
    operation: &Operation,
    filling: &Filling<'_>,
) -> Option<Content> {
    if let Some(call) = &operation.call {
        let body = called(map, operation, call, filling);
        return Some(("application/json".to_owned(), body.to_string().into()));
    }
    let contents = &operation.route.body.as_ref()?.content;
    contents.iter().find_map(|content| {
        let bytes = match &*content.media_type {
            "application/x-www-form-urlencoded" => {
                let members = value(map, operation, content, filling)?;
                let pairs = members.as_object()?.iter();
                let pairs: Vec<_> = pairs
                    .filter_map(|(name, it)| Some((name, super::world::text_of(it)?)))
                    .collect();
                serde_html_form::to_string(pairs).ok()?.into_bytes()
            }
            "multipart/form-data" => form(map, operation, content, filling),
            media_type if media_type.ends_with("json") => {
                serde_json::to_vec(&value(map, operation, content, filling)?).ok()?
            }
            _ => filling.marker.text().into_bytes(),
        };
        Some((content_type(&content.media_type), bytes))
    })
}

/// Returns the body of a call.
fn called(map: &RouteMap, operation: &Operation, call: &Call, filling: &Filling<'_>) -> Value {
    match call {
        Call::Rpc(name) => {
            let mut body = json!({ "jsonrpc": "2.0", "method": name, "id": 1 });
            let mut contents = operation.route.body.iter().flat_map(|body| &body.content);
            if let Some(params) = contents.find_map(|it| value(map, operation, it, filling)) {
                body["params"] = params;
            }
            body
        }
        Call::GraphQl(field) => {
            let mut variables = field.variables.clone();
            for member in &operation.body {
                fill(&mut variables, member, filling);
            }
            json!({ "query": field.document, "variables": variables })
        }
        Call::Tool(tool) => {
            let mut arguments = tool.arguments.clone();
            for member in &operation.body {
                fill(&mut arguments, member, filling);
            }
            message::call(&tool.name, arguments)
        }
    }
}

/// Returns one message for each schema of the messages of a WebSocket.
pub(super) fn messages(
    map: &RouteMap,
    operation: &Operation,
    filling: &Filling<'_>,
) -> Vec<String> {
    let Some(kinds) = message_kinds(map, operation) else { return vec![filling.marker.text()] };
    let message = |(schema, message): (&Value, Value)| match message {
        Value::Object(mut message) => {
            let all = members(Sample::of(map), schema);
            all.iter().for_each(|member| fill(&mut message, member, filling));
            Value::Object(message).to_string()
        }
        Value::String(_) => Value::from(filling.marker.text()).to_string(),
        other => other.to_string(),
    };
    kinds.into_iter().map(message).collect()
}

/// Returns the schemas of the messages of a WebSocket, each with a sample.
/// Returns `None` if they are unknown.
fn message_kinds<'m>(
    map: &'m RouteMap,
    operation: &'m Operation,
) -> Option<Vec<(&'m Value, Value)>> {
    let sample = Sample::of(map);
    let schema = operation.route.web_socket.as_ref()?.receives.as_ref()?;
    let kinds = variants(sample, schema).into_iter();
    Some(kinds.filter_map(|schema| Some((schema, sample.value(schema)?))).collect())
}

/// Returns the members of each schema of messages, with its number.
pub(super) fn messages_with(map: &RouteMap, operation: &Operation) -> Vec<(usize, Member)> {
    let kinds = message_kinds(map, operation).unwrap_or_default().into_iter();
    let numbered = kinds.map(|(schema, _)| members(Sample::of(map), schema)).enumerate();
    numbered.flat_map(|(number, all)| all.into_iter().map(move |it| (number, it))).collect()
}

fn value(
    map: &RouteMap,
    operation: &Operation,
    content: &ContentInfo,
    filling: &Filling<'_>,
) -> Option<Value> {
    let example = operation.route.docs.example.clone().filter(Value::is_object);
    let base = example.or_else(|| Sample::of(map).value(&content.schema))?;
    let Value::Object(mut members) = base else { return Some(base) };
    for member in &operation.body {
        fill(&mut members, member, filling);
    }
    Some(Value::Object(members))
}

/// Sets a member of a body.
fn fill(members: &mut Map<String, Value>, member: &Member, filling: &Filling<'_>) {
    let given = filling.given.get(&member.path());
    let Some(members) = around(members, &member.parents, given.is_some()) else { return };
    if let Some(given) = given {
        members.insert(member.name.clone(), given.clone());
        return;
    }
    let is_wanted = members.contains_key(&member.name)
        || member.is_required
        || (filling.has_optional && is_reference(&member.name));
    if !is_wanted || filling.plain.contains_key(&member.name) {
        return;
    }
    let known = filling.world.nouns.get(&member.noun).and_then(|ids| ids.last());
    if let Some(id) = known.and_then(|id| typed(member, id)) {
        members.insert(member.name.clone(), id);
    } else if let Some(text) = varied(&member.schema, filling.marker)
        && !member.is_list
    {
        members.insert(member.name.clone(), text);
    }
}

/// Returns the object that contains a member. If it is absent, creates it or
/// returns `None`.
fn around<'m>(
    members: &'m mut Map<String, Value>,
    parents: &[String],
    creates: bool,
) -> Option<&'m mut Map<String, Value>> {
    let mut members = members;
    for parent in parents {
        let inner = match creates {
            true => members.entry(parent.clone()).or_insert_with(|| json!({})),
            false => members.get_mut(parent)?,
        };
        members = match inner {
            Value::Array(items) => items.first_mut()?.as_object_mut()?,
            inner => inner.as_object_mut()?,
        };
    }
    Some(members)
}

/// Returns an id as the value of a member; `None` if its type does not fit.
pub(super) fn typed(member: &Member, id: &str) -> Option<Value> {
    let schema = &member.schema;
    if ["enum", "const"].iter().any(|word| schema.contains_key(*word)) {
        return None;
    }
    let value = match named_kind(schema)? {
        "string" => Value::from(id),
        "integer" | "number" => Value::from(id.parse::<i64>().ok()?),
        _ => return None,
    };
    Some(if member.is_list { Value::Array(vec![value]) } else { value })
}

/// Returns a unique text that fits the schema.
pub(super) fn varied(schema: &Map<String, Value>, marker: Marker) -> Option<Value> {
    let is_string = named_kind(schema) == Some("string");
    if !is_string || ["enum", "const"].iter().any(|it| schema.contains_key(*it)) {
        return None;
    }
    let marker_text = marker.text();
    let text = match schema.get("format").and_then(Value::as_str) {
        None => marker_text,
        Some("email" | "idn-email") => format!("{marker_text}@example.org"),
        Some("uri" | "url" | "uri-reference") => format!("https://example.org/{marker_text}"),
        Some("uuid") => {
            let user = marker.who.letter().to_ascii_lowercase();
            format!("00000000-0000-4000-8000-{user}{:011}", marker.number)
        }
        Some(_) => return None,
    };
    let count = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    let missing = count("minLength").unwrap_or(0).saturating_sub(length);
    let text = text + &"a".repeat(usize::try_from(missing.min(10_000)).unwrap_or(0));
    let is_short = count("maxLength").is_none_or(|most| length + missing <= most);
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let fits = is_short && pattern.is_none_or(|pattern| pattern::is_match(pattern, &text));
    fits.then(|| Value::from(text))
}

/// Returns a multipart form. Files contain the marker.
fn form(
    map: &RouteMap,
    operation: &Operation,
    content: &ContentInfo,
    filling: &Filling<'_>,
) -> Vec<u8> {
    let value = value(map, operation, content, filling).unwrap_or_default();
    let mut form = MultipartForm::new();
    let text = filling.marker.text();
    for member in operation.body.iter().filter(|member| member.parents.is_empty()) {
        let is_file = member.schema.get("format").is_some_and(|format| format == "binary");
        if is_file {
            let listed = member.schema.get("x-media-types").and_then(|types| types.get(0));
            let media_type = listed.and_then(Value::as_str).unwrap_or("text/plain");
            let media_type = media_type.replace("/*", "/plain");
            form = form.file(&member.name, &format!("{text}.txt"), &media_type, &text);
        } else if let Some(it) = value.get(&member.name).and_then(super::world::text_of) {
            form = form.text(&member.name, it);
        }
    }
    if operation.body.is_empty() {
        form = form.file("file", &format!("{text}.txt"), "text/plain", &text);
    }
    form.encode_with(BOUNDARY)
}

/// Returns the parameter for the size of a page, if an operation has one.
pub(super) fn page_size(operation: &Operation) -> Option<&Member> {
    operation.query.iter().find(|member| is_page_size(&member.name))
}
