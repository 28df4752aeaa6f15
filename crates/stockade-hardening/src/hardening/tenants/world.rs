//! [`World`]: the objects that one user has seen and created.

use std::collections::{BTreeMap, BTreeSet};

use http::header;
use serde_json::{Map, Value};

use super::names::{is_next, is_reference, noun_of};
use super::operation::Operation;
use crate::exchange::Exchange;
use crate::shot::Shot;

/// The objects that one user has seen and created.
#[derive(Debug, Default)]
pub(super) struct World {
    /// The known values of the parameters up to each anchor, oldest first.
    pub(super) chains: BTreeMap<String, Vec<Vec<String>>>,
    /// The values that responses to creating requests contained.
    pub(super) created: BTreeSet<(String, Vec<String>)>,
    /// The known ids of each kind of object.
    pub(super) nouns: BTreeMap<String, Vec<String>>,
    /// The ids of created objects, by kind.
    pub(super) created_ids: BTreeSet<(String, String)>,
    /// The created objects as JSON.
    pub(super) objects: BTreeSet<String>,
    /// The links with a query.
    pub(super) links: Vec<String>,
    /// The positions of next pages, with the operation that returned them.
    pub(super) cursors: Vec<(usize, String)>,
    /// The successful reads.
    pub(super) reads: Vec<Read>,
    /// The operations that respond with server-sent events.
    pub(super) streams: BTreeSet<usize>,
    /// Candidates for ids of an object, which must be tried.
    pub(super) candidates: Vec<Candidates>,
}

/// A successful read.
#[derive(Clone, Debug)]
pub(super) struct Read {
    /// The index of the operation.
    pub(super) operation: usize,
    pub(super) values: Vec<String>,
    pub(super) shot: Shot,
    pub(super) exchange: Exchange,
}

/// The possible values of one object, best first.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) anchor: String,
    pub(super) choices: Vec<Vec<String>>,
    pub(super) is_created: bool,
}

impl World {
    /// Returns the amount of knowledge, which only grows.
    pub(super) fn size(&self) -> usize {
        let chains: usize = self.chains.values().map(Vec::len).sum();
        let nouns: usize = self.nouns.values().map(Vec::len).sum();
        chains + nouns + self.reads.len()
    }

    pub(super) fn add_chain(&mut self, anchor: &str, values: &[String], is_created: bool) {
        let known = self.chains.entry(anchor.to_owned()).or_default();
        if !known.iter().any(|chain| chain == values) && (is_created || known.len() < MAX_SEEN) {
            known.push(values.to_vec());
        }
        if is_created {
            self.created.insert((anchor.to_owned(), values.to_vec()));
        }
    }

    pub(super) fn knows(&self, anchor: &str, values: &[String]) -> bool {
        let mut known = self.chains.get(anchor).into_iter().flatten();
        known.any(|chain| chain == values)
    }

    fn add_noun(&mut self, noun: &str, id: String, is_created: bool) {
        if is_created {
            self.created_ids.insert((noun.to_owned(), id.clone()));
        }
        let known = self.nouns.entry(noun.to_owned()).or_default();
        if !known.contains(&id) && (is_created || known.len() < MAX_SEEN) {
            known.push(id);
        }
    }

    /// Returns true if any known id has this value.
    pub(super) fn has_value(&self, value: &str) -> bool {
        let mut ids = self.nouns.values().flatten();
        let mut chains = self.chains.values().flatten().flatten();
        ids.any(|id| id == value) || chains.any(|id| id == value)
    }

    /// Learns the ids in a successful response.
    pub(super) fn learn(
        &mut self,
        operations: &[Operation],
        index: usize,
        values: &[String],
        exchange: &Exchange,
        is_created: bool,
    ) {
        let Some(operation) = operations.get(index) else { return };
        let location = exchange.header(header::LOCATION.as_str());
        if let Some(location) = location {
            self.learn_link(operations, &location, is_created);
        }
        let links = exchange.header(header::LINK.as_str()).unwrap_or_default();
        for link in links.split('<').skip(1).filter_map(|link| link.split('>').next()) {
            self.learn_link(operations, link, false);
        }
        let Ok(body) = serde_json::from_slice::<Value>(&exchange.body) else { return };
        let body = match &operation.call {
            Some(call) => call.result(&body),
            None => body,
        };
        self.learn_texts(operations, index, &body, 0);
        self.learn_members(&body, is_created, 0);
        let anchor = operation.items();
        let mut params = operations.iter().flat_map(|it| &it.params);
        let name = params.find(|param| param.anchor == anchor).map(|it| it.name.clone());
        let noun = operation.noun();
        for item in items(&body) {
            let choices = choices(item, name.as_deref(), &noun);
            if let Some(first) = choices.first() {
                self.add_noun(&noun, first.clone(), is_created);
            }
            if is_created && !choices.is_empty() && item.is_object() {
                self.objects.insert(item.to_string());
            }
            if name.is_some() && !choices.is_empty() {
                let chain = |value: String| values.iter().cloned().chain([value]).collect();
                self.candidates.push(Candidates {
                    anchor: anchor.clone(),
                    choices: choices.into_iter().map(chain).collect(),
                    is_created,
                });
            }
        }
    }

    fn learn_link(&mut self, operations: &[Operation], link: &str, is_created: bool) {
        let Some(target) = target_of(link) else { return };
        let path = target.split(['?', '#']).next().unwrap_or_default();
        if target.contains('?') && !self.links.contains(&target) && self.links.len() < MAX_LINKS {
            self.links.push(target.clone());
        }
        for operation in operations.iter().filter(|it| !it.params.is_empty()) {
            let Some(values) = operation.values_of(path) else { continue };
            let Some(last) = operation.params.last() else { continue };
            if let Some(id) = values.last() {
                self.add_noun(&last.noun, id.clone(), is_created);
            }
            self.add_chain(&last.anchor, &values, is_created);
        }
    }

    /// Learns links and positions of pages.
    fn learn_texts(&mut self, operations: &[Operation], index: usize, body: &Value, depth: usize) {
        match body {
            Value::Object(members) if depth < MAX_DEPTH => {
                for (name, member) in members {
                    let text = text_of(member);
                    if let Some(text) = text.filter(|_| is_next(name))
                        && !self.cursors.contains(&(index, text.clone()))
                    {
                        self.cursors.push((index, text));
                    }
                    self.learn_texts(operations, index, member, depth + 1);
                }
            }
            Value::Array(items) if depth < MAX_DEPTH => {
                for item in items.iter().take(MAX_ITEMS) {
                    self.learn_texts(operations, index, item, depth + 1);
                }
            }
            Value::String(text) => self.learn_link(operations, text, false),
            _ => {}
        }
    }

    /// Learns the members that are ids of other objects.
    fn learn_members(&mut self, body: &Value, is_created: bool, depth: usize) {
        match body {
            Value::Object(members) if depth < MAX_DEPTH => {
                for (name, member) in members {
                    match (text_of(member), member.get("id").and_then(text_of)) {
                        (Some(id), _) if is_reference(name) => {
                            self.add_noun(&noun_of(name), id, false);
                        }
                        (None, Some(id)) => self.add_noun(&noun_of(name), id, is_created),
                        _ => {}
                    }
                    self.learn_members(member, is_created, depth + 1);
                }
            }
            Value::Array(items) if depth < MAX_DEPTH => {
                for item in items.iter().take(MAX_ITEMS) {
                    self.learn_members(item, is_created, depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// Returns the objects of a response: the object itself, or the objects of its
/// lists.
pub(super) fn items(body: &Value) -> Vec<&Value> {
    items_at(body, 0)
}

fn items_at(body: &Value, depth: usize) -> Vec<&Value> {
    match body {
        Value::Object(members) => {
            let has_id = ["id", "_id", "uuid", "slug", "key", "token"]
                .iter()
                .any(|name| members.get(*name).and_then(text_of).is_some());
            let nested = || members.values().filter(|it| it.is_object() || it.is_array());
            if has_id || depth >= MAX_DEPTH || nested().next().is_none() {
                return vec![body];
            }
            nested().flat_map(|member| items_at(member, depth + 1)).collect()
        }
        Value::Array(items) => items
            .iter()
            .take(MAX_ITEMS)
            .flat_map(|item| match item {
                Value::Object(_) => vec![item],
                item if depth == 0 && text_of(item).is_some() => vec![item],
                _ => Vec::new(),
            })
            .collect(),
        scalar if depth == 0 && text_of(scalar).is_some() => vec![scalar],
        _ => Vec::new(),
    }
}

/// Returns the possible ids of an object, best first.
fn choices(item: &Value, param: Option<&str>, noun: &str) -> Vec<String> {
    let Value::Object(members) = item else { return text_of(item).into_iter().collect() };
    let own_id = |members: &Map<String, Value>| {
        let found = members.iter().find(|(name, _)| is_reference(name) && noun_of(name) == noun);
        found.and_then(|(_, value)| text_of(value))
    };
    let param = param.and_then(|name| members.get(name)).and_then(text_of);
    let common = ["id", "_id", "uuid", "slug", "key", "number", "code", "token", "name"];
    let common = common.iter().filter_map(|name| members.get(*name).and_then(text_of));
    let mut choices: Vec<String> = Vec::new();
    for choice in param.into_iter().chain(own_id(members)).chain(common) {
        if !choice.is_empty() && !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    choices
}

/// Returns the path and the query of a link; `None` if the text is not a link.
pub(in crate::hardening) fn target_of(text: &str) -> Option<String> {
    let rest = match text.split_once("://") {
        Some(("http" | "https", rest)) => rest.get(rest.find('/')?..)?,
        _ => text,
    };
    let is_path = rest.starts_with('/') && !rest.starts_with("//") && rest.len() > 1;
    (is_path && !rest.contains(char::is_whitespace)).then(|| rest.to_owned())
}

/// Returns a number or a text as text.
pub(in crate::hardening) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The maximum number of objects of one kind that the user did not create.
const MAX_SEEN: usize = 4;

/// The maximum number of links.
const MAX_LINKS: usize = 100;

/// The maximum depth of a response.
const MAX_DEPTH: usize = 6;

/// The maximum number of items of a list.
const MAX_ITEMS: usize = 20;
