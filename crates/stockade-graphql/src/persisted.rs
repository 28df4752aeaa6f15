//! Documents that clients identify by hash.
//!
//! Source: the protocol of Apollo's automatic persisted queries, version 1;
//! GraphQL over HTTP, appendix "Persisted Documents".

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ring::digest::{SHA256, digest};
use serde_json::Value;
use stockade_errors::locks::lock;

use crate::document::Document;
use crate::engine::{Engine, validate};
use crate::graphql_error::GraphQlError;
use crate::limits::Limits;
use crate::message::Params;
use crate::reader::Reader;
use crate::recent::Recent;

/// Documents that clients identify by SHA-256 instead of sending them.
///
/// A client sends the hash as `extensions.persistedQuery.sha256Hash`, or as
/// `documentId` with the prefix `sha256:`.
///
/// ```
/// use stockade::graphql::{GraphQl, PersistedQueries, async_graphql as gql};
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
///
/// struct Query;
///
/// #[gql::Object(crate = "gql")]
/// impl Query {
///     async fn one(&self) -> i32 {
///         1
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let schema = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
/// let graphql = GraphQl::new(schema).persisted(PersistedQueries::only(["{ one }"]));
/// let client = TestClient::new(create_router(graphql.routes(), RouterOptions::new()));
/// let id = "sha256:9a8556d6ea9be7030cbf5a72a34d6fe4957fe15bdddc329925ce62f34741225b";
/// let known = client.post("/").json(&json!({ "documentId": id })).await;
/// known.assert_json(&json!({ "data": { "one": 1 } }));
/// let other = client.post("/").json(&json!({ "query": "{ one __typename }" })).await;
/// other.assert_json_contains(json!({ "errors": [{ "message": "Unknown document" }] }));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PersistedQueries {
    documents: Documents,
}

#[derive(Clone, Debug)]
enum Documents {
    Cache(usize),
    Only(Vec<String>),
}

impl PersistedQueries {
    /// Caches up to this many documents that clients have sent with their hash,
    /// up to 16 MiB in total. The least recently used document is removed
    /// first. Clients may still send any document.
    #[must_use]
    pub fn cache(documents: usize) -> Self {
        Self { documents: Documents::Cache(documents) }
    }

    /// Accepts only these documents, by hash or by text. Use it if all client
    /// documents are known at startup. A document that is malformed, exceeds a
    /// limit or does not match the schema is a configuration error.
    #[must_use]
    pub fn only<D: Into<String>>(documents: impl IntoIterator<Item = D>) -> Self {
        Self { documents: Documents::Only(documents.into_iter().map(Into::into).collect()) }
    }

    /// Creates the store. Also returns the configuration errors of the
    /// documents.
    pub(crate) fn build(self, limits: &Limits, engine: &dyn Engine) -> (Store, Vec<String>) {
        match self.documents {
            Documents::Cache(0) => {
                let mistake = "`PersistedQueries::cache` must store at least one document";
                (Store::Off, vec![mistake.to_owned()])
            }
            Documents::Cache(most) => {
                (Store::Cache(Mutex::new(Texts::new(most, BYTES))), Vec::new())
            }
            Documents::Only(texts) => {
                let mut mistakes = Vec::new();
                let mut known = HashMap::new();
                for text in texts {
                    let hash = Hash::of(&text);
                    let mut name = String::new();
                    let faults = match Document::read(text, limits) {
                        Ok(document) => {
                            name = document.names();
                            let faults = validate(engine, document.clone());
                            known.insert(hash, Arc::new(document));
                            faults
                        }
                        Err(error) => vec![error.message().to_owned()],
                    };
                    mistakes.extend(faults.iter().map(|fault| {
                        let hash = hash.text();
                        format!("the document {hash}{name} of `PersistedQueries::only`: {fault}")
                    }));
                }
                (Store::Only(known), mistakes)
            }
        }
    }
}

/// The known documents.
#[derive(Debug, Default)]
pub(crate) enum Store {
    #[default]
    Off,
    Cache(Mutex<Texts>),
    Only(HashMap<Hash, Arc<Document>>),
}

impl Store {
    /// Finds or parses the document of a request.
    ///
    /// # Errors
    /// Returns the error for the client, or `Err(None)` if the request contains
    /// neither a document nor a hash.
    pub(crate) fn document(
        &self,
        params: &mut Params,
        reader: &Reader,
    ) -> Result<Document, Option<GraphQlError>> {
        let hash = named(params)?;
        let text = params.query.take();
        match self {
            Self::Only(known) => {
                let hash = hash.or_else(|| Some(Hash::of(text.as_deref()?)));
                let document = hash.map(|hash| {
                    known
                        .get(&hash)
                        .filter(|known| text.as_deref().is_none_or(|text| text == known.text))
                });
                match document {
                    Some(Some(document)) => Ok(Document::clone(document)),
                    Some(None) => Err(Some(unknown())),
                    None => Err(None),
                }
            }
            Self::Off => match text {
                Some(text) => reader.read(text).map_err(Some),
                None if hash.is_some() => Err(Some(not_supported())),
                None => Err(None),
            },
            Self::Cache(cache) => match (text, hash) {
                (Some(text), None) => reader.read(text).map_err(Some),
                (Some(text), Some(hash)) => {
                    if Hash::of(&text) != hash {
                        return Err(Some(GraphQlError::new(
                            "The hash does not match the document",
                        )));
                    }
                    let document = reader.read(text).map_err(Some)?;
                    lock(cache).insert(hash, (*document.text).into(), document.text.len());
                    Ok(document)
                }
                (None, Some(hash)) => {
                    let text = lock(cache).get(&hash).ok_or_else(|| Some(not_found()))?;
                    reader.read(text.as_ref().to_owned()).map_err(Some)
                }
                (None, None) => Err(None),
            },
        }
    }
}

/// Returns the document hash in a request.
fn named(params: &Params) -> Result<Option<Hash>, Option<GraphQlError>> {
    let malformed = || Some(GraphQlError::new("The hash of the document is malformed"));
    if let Some(id) = &params.document_id {
        let hash = id.strip_prefix("sha256:").unwrap_or(id);
        return Hash::read(hash).map(Some).ok_or_else(malformed);
    }
    let Some(persisted) = params.extensions.get("persistedQuery") else { return Ok(None) };
    if persisted.get("version") != Some(&Value::from(1)) {
        return Err(Some(not_supported()));
    }
    let hash = persisted.get("sha256Hash").and_then(Value::as_str).and_then(Hash::read);
    hash.map(Some).ok_or_else(malformed)
}

#[cold]
fn unknown() -> GraphQlError {
    GraphQlError::new("Unknown document").with_code("PERSISTED_QUERY_NOT_IN_LIST")
}

// Clients recognize these two messages.
#[cold]
fn not_found() -> GraphQlError {
    GraphQlError::new("PersistedQueryNotFound").with_code("PERSISTED_QUERY_NOT_FOUND")
}

#[cold]
fn not_supported() -> GraphQlError {
    GraphQlError::new("PersistedQueryNotSupported").with_code("PERSISTED_QUERY_NOT_SUPPORTED")
}

/// The SHA-256 of a document.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    fn of(text: &str) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Self(hash)
    }

    fn read(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        hex::decode_to_slice(text, &mut hash).ok()?;
        Some(Self(hash))
    }

    fn text(self) -> String {
        hex::encode(self.0)
    }
}

/// The documents that clients have sent. They are stored as text, because a
/// parsed document needs up to 100 times as much memory.
pub(crate) type Texts = Recent<Hash, Arc<str>>;

/// The maximum total size of all texts.
const BYTES: usize = 16 * 1_048_576;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_64_digits() {
        assert_eq!(Hash::read(&Hash::of("a").text()), Some(Hash::of("a")));
        assert_eq!(Hash::read("ab"), None);
        assert_eq!(Hash::read(&"x".repeat(64)), None);
    }
}
