//! [`Catalogs`]: error messages in several languages, as Fluent texts.
//!
//! Source: <https://projectfluent.org/fluent/guide/>.

mod catalog;
mod texts;

use std::fmt;

use stockade_errors::{ApiError, FieldError};

use self::catalog::Catalog;
pub use self::texts::ENGLISH;
use self::texts::{GERMAN, RULES, problem_id};
use crate::Languages;
use crate::languages::Texts;

/// Error messages in several languages, for `RouterOptions::languages`.
///
/// English and German are built in. A catalog is a text in Fluent syntax with a
/// message for each rule. [`ENGLISH`] contains all of these messages and is a
/// template for translators. The parameters of a rule are variables, such as
/// `{ $limit }`; `{ $field }` is the name of the field.
///
/// ```
/// use stockade::i18n::{Catalogs, ENGLISH};
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
/// use stockade::validation::schema;
///
/// // A real program uses `include_str!("fr.ftl")`.
/// let french = ENGLISH.replace(
///     "minimum = Number must be at least { $limit }",
///     "minimum = Le nombre doit être au moins { $limit }",
/// );
/// let texts = Catalogs::builtin().add("fr", &french)?;
/// let api = routes! {
///     "seats": {
///         POST: {
///             async || "ok",
///             validation: schema!({ "count": { "type": "integer", "minimum": 1 } }),
///         },
///     },
/// };
/// let client = TestClient::new(create_router(api, RouterOptions::new().languages(texts)));
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let response = client
///     .post("/seats")
///     .header("accept-language", "fr-CA, de;q=0.5")
///     .json(json!({ "count": 0 }))
///     .await;
/// response.assert_status(400).assert_header("content-language", "fr").assert_json(json!({
///     "error": "Validation failed",
///     "details": { "errors": [{
///         "field": "count",
///         "message": "Le nombre doit être au moins 1",
///         "rule": "minimum",
///     }] },
/// }));
/// # });
/// # Ok::<(), BoxError>(())
/// ```
#[derive(Debug)]
pub struct Catalogs {
    catalogs: Vec<Catalog>,
    tags: Vec<String>,
}

impl Catalogs {
    /// Returns the framework's catalogs: English, the default, and German.
    #[must_use]
    pub fn builtin() -> Self {
        let mut catalogs = Self { catalogs: Vec::new(), tags: Vec::new() };
        for (tag, source) in [("en", ENGLISH), ("de", GERMAN)] {
            // An error leaves texts out, and missing texts fail the build of
            // the router.
            drop(catalogs.put(tag, source, false));
        }
        catalogs
    }

    /// Adds texts for a language. The tag is a language tag (RFC 5646), such as
    /// `fr` or `pt-BR`. Texts for an existing language replace texts with the
    /// same ids, so `add("en", …)` changes English messages. Several texts for
    /// one language are combined.
    ///
    /// An id can be:
    ///
    /// - an id in [`ENGLISH`];
    /// - the id of your own text: `ErrorText::new("even", …)`, or a schema
    ///   `message` that is an id;
    /// - an id such as `problem-sold-out` for errors with the problem type
    ///   `sold-out`. The members of such an error are the variables.
    ///
    /// Values are inserted without Unicode isolation marks, because clients
    /// would have to remove the marks.
    ///
    /// # Errors
    /// Fails if the tag or the syntax is malformed, or if the source has a
    /// duplicate id or an id without a message. Missing texts are configuration
    /// errors of the router.
    pub fn add(mut self, tag: &str, source: impl Into<String>) -> Result<Self, CatalogError> {
        self.put(tag, source, true)?;
        Ok(self)
    }

    /// Sets the language for requests that do not accept any of the languages.
    /// Default: `en`.
    ///
    /// # Errors
    /// Fails if no catalog has this tag.
    pub fn default_language(mut self, tag: &str) -> Result<Self, CatalogError> {
        let place = self.place(tag).ok_or_else(|| CatalogError::new(tag, "it has no texts"))?;
        self.catalogs[..=place].rotate_right(1);
        self.tags[..=place].rotate_right(1);
        Ok(self)
    }

    fn place(&self, tag: &str) -> Option<usize> {
        self.tags.iter().position(|known| known.eq_ignore_ascii_case(tag))
    }

    fn put(
        &mut self,
        tag: &str,
        source: impl Into<String>,
        is_own: bool,
    ) -> Result<(), CatalogError> {
        let place = if let Some(place) = self.place(tag) {
            place
        } else {
            self.catalogs.push(Catalog::new(tag)?);
            self.tags.push(tag.to_owned());
            self.tags.len() - 1
        };
        self.catalogs[place].add(source.into(), is_own)
    }
}

impl From<Catalogs> for Languages {
    fn from(catalogs: Catalogs) -> Self {
        Self::of(catalogs)
    }
}

impl Texts for Catalogs {
    fn tags(&self) -> &[String] {
        &self.tags
    }

    fn rule(&self, language: usize, error: &FieldError) -> Option<String> {
        self.catalogs.get(language)?.rule(error)
    }

    fn problem(&self, language: usize, error: &ApiError) -> Option<String> {
        self.catalogs.get(language)?.problem(error)
    }

    fn issues(&self, problems: &[(&str, Vec<&str>)]) -> Vec<String> {
        let mut issues: Vec<String> = self.catalogs.iter().flat_map(Catalog::rule_issues).collect();
        // If one language has an application text, each language except English
        // must have it.
        let own = self.catalogs.iter().flat_map(Catalog::own_ids);
        let rules: Vec<&str> = RULES.iter().map(|(id, _)| *id).collect();
        let mut own: Vec<&str> = own.filter(|id| !rules.contains(id)).collect();
        own.sort_unstable();
        own.dedup();
        let translated = || self.catalogs.iter().filter(|catalog| !catalog.is_english());
        for id in own {
            let lacking = translated().filter(|catalog| !catalog.has(id));
            issues.extend(lacking.map(|it| it.missing(&[id])));
        }
        for (uri, members) in problems {
            let id = problem_id(uri);
            for catalog in &self.catalogs {
                if catalog.has(&id) {
                    let known = members.iter().copied();
                    issues.extend(catalog.fault(&id, known));
                } else if !catalog.is_english() {
                    issues.push(catalog.missing(&[&id]));
                }
            }
        }
        let mut seen = Vec::new();
        issues.retain(|issue| {
            let is_new = !seen.contains(issue);
            seen.push(issue.clone());
            is_new
        });
        issues
    }
}

/// An invalid catalog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CatalogError {
    tag: String,
    reason: String,
}

impl CatalogError {
    fn new(tag: &str, reason: impl Into<String>) -> Self {
        Self { tag: tag.to_owned(), reason: reason.into() }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the texts of the language {:?}: {}", self.tag, self.reason)
    }
}

impl std::error::Error for CatalogError {}

#[cfg(test)]
mod tests;
