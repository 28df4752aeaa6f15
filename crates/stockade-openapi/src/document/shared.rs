//! The answers and headers that stand once in a document.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value, json};
use stockade_routing::map::{HeaderDoc, ResponseInfo};

/// The answers and headers to which operations point.
///
/// The routes of a router need not all have the same answer of a stage: one may
/// be without the rate limit, and so without its headers.
///
/// Most routes have the same ones, which are written once: they are known by what
/// they are made of.
#[derive(Default)]
pub(super) struct Shared {
    responses: RefCell<Map<String, Value>>,
    headers: RefCell<Map<String, Value>>,
    known_responses: RefCell<HashMap<String, Vec<KnownResponse>>>,
    known_headers: RefCell<HashMap<String, Vec<KnownHeader>>>,
}

/// An answer that was written, and its name.
struct KnownResponse {
    answers: Vec<ResponseInfo>,
    demand: Option<String>,
    key: String,
}

/// A header that was written: its meaning, true if each answer has it, and the
/// reference to it or the header itself.
struct KnownHeader {
    meaning: String,
    always: bool,
    written: Value,
}

impl Shared {
    /// Returns a reference to the answer of this name that `answers` and `demand`
    /// make: `write` writes it. Others of the same name have a number behind it.
    pub(super) fn response(
        &self,
        name: &str,
        answers: &[Cow<'_, ResponseInfo>],
        demand: Option<String>,
        write: impl FnOnce(Option<&str>) -> Value,
    ) -> Value {
        let mut known = self.known_responses.borrow_mut();
        let of_name = known.entry(name.to_owned()).or_default();
        let found = of_name.iter().find(|it| {
            it.demand == demand && it.answers.iter().eq(answers.iter().map(AsRef::as_ref))
        });
        if let Some(found) = found {
            return reference("responses", &found.key);
        }
        let key = self.add_response(name, write(demand.as_deref()));
        let written = reference("responses", &key);
        let answers = answers.iter().map(|answer| answer.as_ref().clone()).collect();
        of_name.push(KnownResponse { answers, demand, key });
        written
    }

    /// Adds an answer, if it is not there, and returns its name.
    fn add_response(&self, name: &str, response: Value) -> String {
        let mut responses = self.responses.borrow_mut();
        let mut key = name.to_owned();
        for number in 2.. {
            match responses.get(&key) {
                Some(known) if *known != response => key = numbered(name, number),
                Some(_) => break,
                None => {
                    responses.insert(key.clone(), response);
                    break;
                }
            }
        }
        key
    }

    /// Returns a reference to the header that `write` writes, or the header
    /// itself, if another one has its name. Each answer has it if it is `always`
    /// there.
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

    /// Adds a header, and returns a reference to it, or the header itself, if
    /// another one has its name.
    fn add_header(&self, name: &str, header: Value) -> Value {
        let mut headers = self.headers.borrow_mut();
        if *headers.entry(name).or_insert_with(|| header.clone()) != header {
            return header;
        }
        reference("headers", name)
    }

    /// Returns the answers and the headers, by their names.
    pub(super) fn into_parts(self) -> [(&'static str, Map<String, Value>); 2] {
        let (mut responses, mut headers) = (self.responses.into_inner(), self.headers.into_inner());
        responses.sort_keys();
        headers.sort_keys();
        [("responses", responses), ("headers", headers)]
    }
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// Returns a name with a number behind it, apart from a status at its end.
fn numbered(name: &str, number: u32) -> String {
    let separator = if name.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
    format!("{name}{separator}{number}")
}
