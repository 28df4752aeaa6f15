//! The answers and headers that stand once in a document.

use std::cell::RefCell;

use serde_json::{Map, Value, json};

/// The answers and headers to which operations point.
///
/// The routes of a router need not all have the same answer of a stage: one may
/// be without the rate limit, and so without its headers.
#[derive(Default)]
pub(super) struct Shared {
    responses: RefCell<Map<String, Value>>,
    headers: RefCell<Map<String, Value>>,
}

impl Shared {
    /// Returns a reference to this answer. Others of the same name have a number
    /// behind it.
    pub(super) fn response(&self, name: &str, response: Value) -> Value {
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
        json!({ "$ref": format!("#/components/responses/{key}") })
    }

    /// Returns a reference to this header, or the header itself, if another one
    /// has its name.
    pub(super) fn header(&self, name: &str, header: Value) -> Value {
        let mut headers = self.headers.borrow_mut();
        if *headers.entry(name).or_insert_with(|| header.clone()) != header {
            return header;
        }
        json!({ "$ref": format!("#/components/headers/{name}") })
    }

    /// Returns the answers and the headers, by their names.
    pub(super) fn into_parts(self) -> [(&'static str, Map<String, Value>); 2] {
        let (mut responses, mut headers) = (self.responses.into_inner(), self.headers.into_inner());
        responses.sort_keys();
        headers.sort_keys();
        [("responses", responses), ("headers", headers)]
    }
}

/// Returns a name with a number behind it, apart from a status at its end.
fn numbered(name: &str, number: u32) -> String {
    let separator = if name.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
    format!("{name}{separator}{number}")
}
