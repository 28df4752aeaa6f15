//! Parses documents and caches recent ones.

use std::sync::{Arc, Mutex};

use stockade_errors::locks::lock;

use crate::document::Document;
use crate::graphql_error::GraphQlError;
use crate::limits::Limits;
use crate::recent::Recent;

/// Parses documents within their limits.
///
/// Clients send the same few documents repeatedly, and parsing one takes longer
/// than running it. A document with a string literal is not cached: it may
/// contain a password, and the response time would reveal that somebody else
/// has sent it.
#[derive(Debug)]
pub(crate) struct Reader {
    limits: Limits,
    recent: Mutex<Recent<Arc<str>, Arc<Document>>>,
}

impl Reader {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, recent: Mutex::new(Recent::new(DOCUMENTS, BYTES)) }
    }

    /// Parses a document or returns it from the cache.
    ///
    /// # Errors
    /// Returns the errors of [`Document::read`].
    pub(crate) fn read(&self, text: String) -> Result<Document, GraphQlError> {
        if text.len() > LONGEST || text.contains('"') {
            return Document::read(text, &self.limits);
        }
        let known = lock(&self.recent).get(&*text);
        if let Some(known) = known {
            return Ok(Document::clone(&known));
        }
        let document = Document::read(text, &self.limits)?;
        let (key, kept) = (Arc::from(&*document.text), Arc::new(document.clone()));
        let mut recent = lock(&self.recent);
        recent.insert(key, kept, document.text.len());
        Ok(document)
    }
}

/// The maximum number of cached documents.
const DOCUMENTS: usize = 256;

/// The maximum total size of their texts, in bytes. Parsed documents take up to
/// 100 times as much memory.
const BYTES: usize = 65_536;

/// The maximum size of a cached document, in bytes.
const LONGEST: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    impl Reader {
        fn keeps(&self, text: &str) -> bool {
            self.recent.lock().unwrap().get(text).is_some()
        }
    }

    #[test]
    fn a_cached_document_equals_the_parsed_one() {
        let reader = Reader::new(Limits::default());
        let text = "query A($id: ID!) { one(id: $id) { ...F } __schema { types { name } } } \
                    fragment F on One { id }";
        let first = reader.read(text.to_owned()).unwrap();
        assert!(reader.keeps(text));
        let second = reader.read(text.to_owned()).unwrap();
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
    }

    #[test]
    fn does_not_cache_literals_errors_or_long_documents() {
        let reader = Reader::new(Limits::default());
        let long = format!("{{ one }} #{}", "a".repeat(LONGEST));
        for text in [r#"{ login(password: "tea") }"#, r#"query A($a: T = "tea") { one }"#, &long] {
            assert!(reader.read(text.to_owned()).is_ok(), "{text}");
            assert!(!reader.keeps(text), "{text}");
        }
        for text in ["{ one", "{ a: one b: one"] {
            assert!(reader.read(text.to_owned()).is_err(), "{text}");
            assert!(!reader.keeps(text), "{text}");
        }
    }
}
