//! Parses the parameters of a request.
//!
//! Source: GraphQL over HTTP, "Request Parameters".

use std::fmt;

use async_graphql::Variables;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::DeserializeSeed};
use serde_json::{Map, Value};
use stockade_core::Request;
use stockade_errors::ApiError;
use stockade_json::has_more_values;
use stockade_validation::ReadError;
use stockade_validation::read_internals::too_many_values;

/// The parameters of a request for one operation.
#[derive(Debug, Default)]
pub(crate) struct Params {
    /// The document.
    pub(crate) query: Option<String>,
    pub(crate) operation_name: Option<String>,
    pub(crate) variables: Variables,
    /// The id of a persisted document.
    pub(crate) document_id: Option<String>,
    pub(crate) extensions: Map<String, Value>,
}

/// The operations of a request.
#[derive(Debug)]
pub(crate) enum Message {
    One(Params),
    Batch(Vec<Params>),
}

/// An invalid request, with the message for the client.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) status: u16,
    pub(crate) message: String,
}

impl Unreadable {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { status: 400, message: message.into() }
    }
}

impl Message {
    /// Parses a JSON body with at most this many operations and values.
    ///
    /// # Errors
    /// Returns a 400 for an invalid request, and a 413 for too many values.
    pub(crate) fn read(json: &[u8], batch: usize, values: usize) -> Result<Self, Unreadable> {
        let start = json.iter().find(|byte| !byte.is_ascii_whitespace());
        if start == Some(&b'[') && batch == 0 {
            return Err(Unreadable::new("Batches are not supported"));
        }
        if has_more_values(json, values) {
            // The count is meaningless for a text that is not JSON.
            if let ReadError::Syntax(error) = too_many_values(json, values) {
                return Err(not_json(&error));
            }
            let message = format!("The request has more than {values} values");
            return Err(Unreadable { status: 413, message });
        }
        let mut reader = serde_json::Deserializer::from_slice(json);
        let message = if start != Some(&b'[') {
            Params::deserialize(&mut reader).map(Self::One)
        } else {
            Batch { most: batch }.deserialize(&mut reader).map(Self::Batch)
        };
        let message = message.and_then(|message| reader.end().map(|()| message));
        message.map_err(|error| unreadable(json, &error))
    }
}

/// Returns the 400 for a body that is not JSON, or not a request. A type error
/// may precede a syntax error, so the whole body is parsed again.
#[cold]
fn unreadable(json: &[u8], error: &serde_json::Error) -> Unreadable {
    if !error.is_data() {
        return not_json(error);
    }
    match serde_json::from_slice::<IgnoredAny>(json) {
        Ok(IgnoredAny) => Unreadable::new(format!("The body is not a GraphQL request: {error}")),
        Err(error) => not_json(&error),
    }
}

#[cold]
fn not_json(error: &serde_json::Error) -> Unreadable {
    Unreadable::new(format!("The body is not valid JSON: {error}"))
}

impl Params {
    /// Parses the query string of a GET request.
    ///
    /// # Errors
    /// Returns a 400 for a duplicate or malformed parameter.
    pub(crate) fn of_query(req: &Request) -> Result<Self, ApiError> {
        let mut params = Self::default();
        let query = req.query()?;
        let names_none = !query.contains_key("query") && !query.contains_key("documentId");
        for (name, value) in query {
            // Malformed extensions do not contain a document hash either.
            let also = if names_none { ", and `query` is missing" } else { "" };
            let malformed =
                || ApiError::new(400, format!("The parameter `{name}` is malformed{also}"));
            let Value::String(text) = value else { return Err(malformed()) };
            match name.as_str() {
                "query" => params.query = Some(text),
                "operationName" => {
                    params.operation_name = Some(text).filter(|name| !name.is_empty());
                }
                "documentId" => params.document_id = Some(text),
                "variables" | "extensions" if text.is_empty() => {}
                "variables" => {
                    let variables: Option<Variables> =
                        serde_json::from_str(&text).map_err(|_| malformed())?;
                    params.variables = variables.unwrap_or_default();
                }
                "extensions" => {
                    let extensions: Option<Map<String, Value>> =
                        serde_json::from_str(&text).map_err(|_| malformed())?;
                    params.extensions = extensions.unwrap_or_default();
                }
                // Other parameters are for other parts of the program.
                _ => {}
            }
        }
        Ok(params)
    }
}

/// Accepts only objects, because the parameters are unordered.
impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ParamsVisitor)
    }
}

struct ParamsVisitor;

impl<'de> Visitor<'de> for ParamsVisitor {
    type Value = Params;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `query`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
        let mut params = Params::default();
        let mut seen = [false; 5];
        while let Some(key) = map.next_key::<Key>()? {
            let seen = seen.get_mut(key as usize);
            if seen.is_some_and(|seen| std::mem::replace(seen, true)) {
                return Err(de::Error::custom(format!("duplicate member `{}`", key.name())));
            }
            match key {
                Key::Query => params.query = member(&mut map, key)?,
                Key::OperationName => params.operation_name = member(&mut map, key)?,
                Key::Variables => {
                    params.variables = member::<Option<_>, _>(&mut map, key)?.unwrap_or_default();
                }
                Key::Extensions => {
                    params.extensions = member::<Option<_>, _>(&mut map, key)?.unwrap_or_default();
                }
                Key::DocumentId => params.document_id = member(&mut map, key)?,
                Key::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(params)
    }
}

/// Reads the value of a parameter. An error includes the parameter's name.
fn member<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    key: Key,
) -> Result<T, A::Error> {
    let named = |error| de::Error::custom(format_args!("`{}`: {error}", key.name()));
    map.next_value().map_err(named)
}

/// The name of a parameter.
#[derive(Clone, Copy, Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Query,
    OperationName,
    Variables,
    Extensions,
    DocumentId,
    #[serde(other)]
    Other,
}

impl Key {
    const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::OperationName => "operationName",
            Self::Variables => "variables",
            Self::Extensions => "extensions",
            Self::DocumentId => "documentId",
            Self::Other => "",
        }
    }
}

/// Deserializes a batch.
struct Batch {
    most: usize,
}

impl<'de> DeserializeSeed<'de> for Batch {
    type Value = Vec<Params>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Batch {
    type Value = Vec<Params>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of requests")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Params>, A::Error> {
        let mut batch = Vec::new();
        while let Some(params) = items.next_element()? {
            if batch.len() == self.most {
                let message = format!("a batch must have at most {} operations", self.most);
                return Err(de::Error::custom(message));
            }
            batch.push(params);
        }
        if batch.is_empty() {
            return Err(de::Error::custom("a batch must have at least one operation"));
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Message, String> {
        Message::read(json.as_bytes(), 2, 100).map_err(|error| error.message)
    }

    #[track_caller]
    fn one(json: &str) -> Params {
        match read(json) {
            Ok(Message::One(params)) => params,
            other => panic!("{json}: {other:?}"),
        }
    }

    #[track_caller]
    fn refused(json: &str, reason: &str) {
        let error = read(json).expect_err(json);
        assert!(error.contains(reason), "{json}: {error}");
    }

    #[test]
    fn reports_text_that_is_not_json() {
        let commas = "a,".repeat(1_000);
        for text in ["query { a }", "{ a }", "hello", "12 apples", "", &commas] {
            refused(text, "The body is not valid JSON: ");
        }
        for json in ["1", "\"{ a }\"", "{\"query\": 1}", "null"] {
            refused(json, "The body is not a GraphQL request: ");
        }
        let large = format!("{{\"extensions\": {{\"a\": [{}0]}}}}", "0,".repeat(1_000));
        refused(&large, "The request has more than 100 values");
    }

    #[test]
    fn an_object_is_a_request() {
        let params = one(r#" {"query": "{ a }", "variables": {"a": [1]}, "other": [{}]}"#);
        assert_eq!(params.query.as_deref(), Some("{ a }"));
        assert_eq!(params.variables.len(), 1);
        let params =
            one(r#"{"query": null, "operationName": null, "variables": null, "extensions": null}"#);
        assert!(params.query.is_none() && params.operation_name.is_none());
        assert!(params.variables.is_empty() && params.extensions.is_empty());
        assert_eq!(one("{}").document_id, None);
    }

    #[test]
    fn parameters_have_their_types() {
        for value in ["{}", "0", "false", "[\"{ a }\"]"] {
            refused(&format!(r#"{{"query": {value}}}"#), "expected a string");
            refused(&format!(r#"{{"operationName": {value}}}"#), "expected a string");
        }
        for value in ["\"a\"", "0", "false", "[]"] {
            refused(&format!(r#"{{"variables": {value}}}"#), "invalid type");
            refused(&format!(r#"{{"extensions": {value}}}"#), "invalid type");
        }
        refused(r#"{"query": "a", "query": "b"}"#, "duplicate member `query`");
        refused("\"{ a }\"", "invalid type");
        refused("", "EOF");
        refused("{} {}", "trailing");
    }

    #[test]
    fn a_list_is_a_batch_if_batches_are_enabled() {
        assert!(matches!(read("[{}, {}]"), Ok(Message::Batch(batch)) if batch.len() == 2));
        refused("[]", "at least one operation");
        refused("[{}, {}, {}]", "at most 2 operations");
        refused(r#"[["{ a }"]]"#, "invalid type");
        let off = Message::read(b" [{}]", 0, 100).unwrap_err();
        assert_eq!(off.message, "Batches are not supported");
    }

    #[test]
    fn values_are_counted_and_nesting_is_bounded() {
        let large = format!(r#"{{"variables": {{"a": [{}]}}}}"#, "1,".repeat(200) + "1");
        assert_eq!(Message::read(large.as_bytes(), 0, 100).unwrap_err().status, 413);
        let lists = "[".repeat(10_000) + &"]".repeat(10_000);
        let deep = format!(r#"{{"variables": {{"a": {lists}}}}}"#);
        let error = Message::read(deep.as_bytes(), 0, 100_000).unwrap_err();
        assert!(error.message.contains("recursion limit"), "{}", error.message);
    }
}
