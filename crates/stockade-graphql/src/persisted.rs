//! [`Persisted`]: documents that clients name by their hash.
//!
//! Source: the protocol of Apollo's automatic persisted queries, version 1; GraphQL
//! over HTTP, appendix "Persisted Documents".

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use ring::digest::{SHA256, digest};
use serde_json::Value;

use crate::document::Document;
use crate::engine::{Engine, validate};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::message::Params;

/// Documents that clients name by their SHA-256 instead of sending them.
///
/// A client sends the hash as `extensions.persistedQuery.sha256Hash`, or as
/// `documentId` with `sha256:` in front.
///
/// ```
/// use stockade::graphql::{GraphQl, Persisted, async_graphql as gql};
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
/// let graphql = GraphQl::new(schema).persisted(Persisted::only(["{ one }"]));
/// let client = TestClient::new(create_router(graphql.routes(), RouterOptions::new()));
/// let id = "sha256:9a8556d6ea9be7030cbf5a72a34d6fe4957fe15bdddc329925ce62f34741225b";
/// let known = client.post("/").json(&json!({ "documentId": id })).await;
/// known.assert_json(&json!({ "data": { "one": 1 } }));
/// let other = client.post("/").json(&json!({ "query": "{ one __typename }" })).await;
/// other.assert_json_contains(json!({ "errors": [{ "message": "The document is not known here" }] }));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Persisted {
    documents: Documents,
}

#[derive(Clone, Debug)]
enum Documents {
    Cache(usize),
    Only(Vec<String>),
}

impl Persisted {
    /// Keeps so many documents that clients have sent with their hash, of 16 MiB
    /// together at most; the one that was not asked for longest goes first. Clients
    /// may send any document, as without it.
    #[must_use]
    pub fn cache(documents: usize) -> Self {
        Self { documents: Documents::Cache(documents) }
    }

    /// Takes these documents and no other, by their hash or their text: what clients
    /// ask for is known when the program starts. One that is malformed, exceeds a limit or
    /// does not fit the schema is a mistake, told when the router is built.
    #[must_use]
    pub fn only<D: Into<String>>(documents: impl IntoIterator<Item = D>) -> Self {
        Self { documents: Documents::Only(documents.into_iter().map(Into::into).collect()) }
    }

    /// Makes the store, with the mistakes in the documents.
    pub(crate) fn build(self, limits: &Limits, engine: &dyn Engine) -> (Store, Vec<String>) {
        match self.documents {
            Documents::Cache(0) => {
                let mistake = "`Persisted::cache` keeps one document at least";
                (Store::Off, vec![mistake.to_owned()])
            }
            Documents::Cache(most) => {
                (Store::Cache(Mutex::new(Cache { most, ..Cache::default() })), Vec::new())
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
                        Err(failure) => vec![failure.message().to_owned()],
                    };
                    mistakes.extend(faults.iter().map(|fault| {
                        let hash = hash.text();
                        format!("the document {hash}{name} of `Persisted::only`: {fault}")
                    }));
                }
                (Store::Only(known), mistakes)
            }
        }
    }
}

/// The documents that are known.
#[derive(Debug, Default)]
pub(crate) enum Store {
    #[default]
    Off,
    Cache(Mutex<Cache>),
    Only(HashMap<Hash, Arc<Document>>),
}

impl Store {
    /// Finds or reads the document of a request.
    ///
    /// # Errors
    /// The error for the client; `Err(None)` where the request has neither a document nor
    /// a hash.
    pub(crate) fn document(
        &self,
        params: &mut Params,
        limits: &Limits,
    ) -> Result<Document, Option<Failure>> {
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
                Some(text) => Document::read(text, limits).map_err(Some),
                None if hash.is_some() => Err(Some(not_supported())),
                None => Err(None),
            },
            Self::Cache(cache) => match (text, hash) {
                (Some(text), None) => Document::read(text, limits).map_err(Some),
                (Some(text), Some(hash)) => {
                    if Hash::of(&text) != hash {
                        return Err(Some(Failure::new("The hash is not that of the document")));
                    }
                    let document = Document::read(text, limits).map_err(Some)?;
                    lock(cache).insert(hash, &document.text);
                    Ok(document)
                }
                (None, Some(hash)) => {
                    let text = lock(cache).get(&hash).ok_or_else(|| Some(not_found()))?;
                    Document::read(text.as_ref().to_owned(), limits).map_err(Some)
                }
                (None, None) => Err(None),
            },
        }
    }
}

/// Locks the cache, whose parts agree at any time.
fn lock(cache: &Mutex<Cache>) -> std::sync::MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the hash that a request names.
fn named(params: &Params) -> Result<Option<Hash>, Option<Failure>> {
    let malformed = || Some(Failure::new("The hash of the document is malformed"));
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
fn unknown() -> Failure {
    Failure::new("The document is not known here").with_code("PERSISTED_QUERY_NOT_IN_LIST")
}

// Clients know these two messages.
#[cold]
fn not_found() -> Failure {
    Failure::new("PersistedQueryNotFound").with_code("PERSISTED_QUERY_NOT_FOUND")
}

#[cold]
fn not_supported() -> Failure {
    Failure::new("PersistedQueryNotSupported").with_code("PERSISTED_QUERY_NOT_SUPPORTED")
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

/// The texts of documents that clients have sent. They are kept as text, because a
/// parsed document takes up to a hundred times as much.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    most: usize,
    known: HashMap<Hash, Known>,
    /// The hashes in the order of their coming; one that was asked for since is
    /// passed over once.
    order: VecDeque<Hash>,
    /// In bytes.
    size: usize,
}

#[derive(Debug)]
struct Known {
    text: Arc<str>,
    was_asked: bool,
}

impl Cache {
    fn get(&mut self, hash: &Hash) -> Option<Arc<str>> {
        let known = self.known.get_mut(hash)?;
        known.was_asked = true;
        Some(Arc::clone(&known.text))
    }

    fn insert(&mut self, hash: Hash, text: &str) {
        if self.known.contains_key(&hash) || text.len() > BYTES {
            return;
        }
        while self.known.len() >= self.most || self.size + text.len() > BYTES {
            let Some(oldest) = self.order.pop_front() else { return };
            match self.known.get_mut(&oldest) {
                Some(known) if known.was_asked => {
                    known.was_asked = false;
                    self.order.push_back(oldest);
                }
                _ => {
                    let removed = self.known.remove(&oldest);
                    self.size -= removed.map_or(0, |known| known.text.len());
                }
            }
        }
        self.size += text.len();
        self.order.push_back(hash);
        self.known.insert(hash, Known { text: text.into(), was_asked: false });
    }
}

/// The size of all texts together.
const BYTES: usize = 16 * 1_048_576;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_that_was_not_asked_for_goes_first() {
        let mut cache = Cache { most: 2, ..Cache::default() };
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| (Hash::of(text), text));
        cache.insert(a.0, a.1);
        cache.insert(b.0, b.1);
        assert_eq!(cache.get(&a.0).as_deref(), Some("a"));
        cache.insert(c.0, c.1);
        assert_eq!(cache.get(&b.0), None);
        assert_eq!((cache.known.len(), cache.order.len(), cache.size), (2, 2, 2));
        // Both were asked for: the older one goes.
        assert!(cache.get(&a.0).is_some() && cache.get(&c.0).is_some());
        cache.insert(d.0, d.1);
        assert_eq!((cache.known.len(), cache.order.len(), cache.size), (2, 2, 2));
        assert!(cache.get(&d.0).is_some());
    }

    #[test]
    fn all_texts_together_have_a_size() {
        let mut cache = Cache { most: 1_000, ..Cache::default() };
        let half = "a".repeat(BYTES / 2);
        cache.insert(Hash::of("1"), &half);
        cache.insert(Hash::of("2"), &half);
        cache.insert(Hash::of("3"), "a");
        assert_eq!((cache.known.len(), cache.size), (2, BYTES / 2 + 1));
        cache.insert(Hash::of("4"), &"a".repeat(BYTES + 1));
        assert!(cache.get(&Hash::of("4")).is_none());
    }

    #[test]
    fn a_hash_has_sixty_four_digits() {
        assert_eq!(Hash::read(&Hash::of("a").text()), Some(Hash::of("a")));
        assert_eq!(Hash::read("ab"), None);
        assert_eq!(Hash::read(&"x".repeat(64)), None);
    }
}
