//! The shared responses and headers of a document.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use stockade_routing::map::{HeaderDoc, ResponseInfo, RouteMap};

/// The responses and headers that operations refer to.
///
/// A stage may respond differently on some routes. For example, a route without
/// a rate limit lacks its headers.
///
/// Most routes share the same responses and headers. They are identified by
/// their input, so each is written once.
#[derive(Default)]
pub(super) struct Shared {
    /// The different responses of each name, in the order of the routes.
    responses: RefCell<BTreeMap<String, Vec<Value>>>,
    headers: RefCell<Map<String, Value>>,
    known_responses: RefCell<HashMap<String, Vec<KnownResponse>>>,
    known_headers: RefCell<HashMap<String, Vec<KnownHeader>>>,
    /// The schema names of problem types, by URI.
    problem_names: BTreeMap<String, String>,
}

/// A response that was written, with its preliminary key.
struct KnownResponse {
    answers: Vec<ResponseInfo>,
    /// The text from the route: its documentation, or its requirements for
    /// access.
    words: Option<String>,
    key: String,
}

/// A header that was written: its meaning, whether each response has it, and
/// the reference to it or the header itself.
struct KnownHeader {
    meaning: String,
    always: bool,
    written: Value,
}

impl Shared {
    pub(super) fn of(map: &RouteMap) -> Self {
        let names = map.problem_schema_names().into_iter();
        let problem_names = names.map(|(uri, name)| (uri.to_owned(), name)).collect();
        Self { problem_names, ..Self::default() }
    }

    /// Returns the schema name of a problem type.
    pub(super) fn problem_name(&self, uri: &str) -> Option<&str> {
        self.problem_names.get(uri).map(String::as_str)
    }

    /// Returns a reference to the response for `answers` and `words`, which
    /// `write` creates. The reference has a preliminary key, which [`rename`]
    /// replaces.
    pub(super) fn response(
        &self,
        name: &str,
        answers: &[Cow<'_, ResponseInfo>],
        words: Option<String>,
        write: impl FnOnce(Option<&str>) -> Value,
    ) -> Value {
        let mut known = self.known_responses.borrow_mut();
        let of_name = known.entry(name.to_owned()).or_default();
        let found = of_name.iter().find(|it| {
            it.words == words && it.answers.iter().eq(answers.iter().map(AsRef::as_ref))
        });
        if let Some(found) = found {
            return reference("responses", &found.key);
        }
        let key = self.add_response(name, write(words.as_deref()));
        let written = reference("responses", &key);
        let answers = answers.iter().map(|answer| answer.as_ref().clone()).collect();
        of_name.push(KnownResponse { answers, words, key });
        written
    }

    /// Adds a response unless it exists, and returns its preliminary key.
    fn add_response(&self, name: &str, response: Value) -> String {
        let mut responses = self.responses.borrow_mut();
        let of_name = responses.entry(name.to_owned()).or_default();
        let index = of_name.iter().position(|known| *known == response).unwrap_or_else(|| {
            of_name.push(response);
            of_name.len() - 1
        });
        preliminary(name, index)
    }

    /// Returns a reference to the header that `write` creates, or the header
    /// itself if its name is already used. `always` means that each response
    /// has it.
    pub(super) fn header(
        &self,
        header: &HeaderDoc,
        always: bool,
        write: impl FnOnce() -> Value,
    ) -> Value {
        let HeaderDoc { name, meaning, .. } = header;
        let mut known = self.known_headers.borrow_mut();
        let of_name = known.entry(name.to_string()).or_default();
        let found = of_name.iter().find(|it| it.meaning == **meaning && it.always == always);
        if let Some(found) = found {
            return found.written.clone();
        }
        let written = self.add_header(name, write());
        let meaning = meaning.to_string();
        of_name.push(KnownHeader { meaning, always, written: written.clone() });
        written
    }

    /// Adds a header. Returns a reference to it, or the header itself if its
    /// name is already used.
    fn add_header(&self, name: &str, header: Value) -> Value {
        let mut headers = self.headers.borrow_mut();
        if *headers.entry(name).or_insert_with(|| header.clone()) != header {
            return header;
        }
        reference("headers", name)
    }

    /// Returns the responses and headers by name, and the names by preliminary
    /// reference.
    ///
    /// Different responses with the same name are numbered in the order of
    /// their text, so the order of routes does not matter.
    pub(super) fn into_parts(self) -> (Components, Names) {
        let (mut responses, mut names) = (Map::new(), Names::new());
        for (name, of_name) in self.responses.into_inner() {
            let mut sorted: Vec<_> = of_name.into_iter().enumerate().collect();
            sorted.sort_by_cached_key(|(_, response)| response.to_string());
            for (place, (index, response)) in sorted.into_iter().enumerate() {
                let key = if place == 0 { name.clone() } else { format!("{name}_{}", place + 1) };
                names
                    .insert(path("responses", &preliminary(&name, index)), path("responses", &key));
                responses.insert(key, response);
            }
        }
        responses.sort_keys();
        let mut headers = self.headers.into_inner();
        headers.sort_keys();
        ([("responses", responses), ("headers", headers)], names)
    }
}

/// The final references to responses, by preliminary reference.
pub(super) type Names = HashMap<String, String>;

/// The shared responses and headers of a document, with their section names.
pub(super) type Components = [(&'static str, Map<String, Value>); 2];

/// Replaces the preliminary references in a part of a document.
pub(super) fn rename(value: &mut Value, names: &Names) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match value {
                    Value::String(text) if key == "$ref" => {
                        if let Some(name) = names.get(text) {
                            text.clone_from(name);
                        }
                    }
                    value => rename(value, names),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        _ => {}
    }
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": path(kind, name) })
}

fn path(kind: &str, name: &str) -> String {
    format!("#/components/{kind}/{name}")
}

/// Returns the key of a response before its name is known. Names never contain
/// `#`.
fn preliminary(name: &str, index: usize) -> String {
    format!("{name}#{index}")
}
