//! [`Languages`]: the languages of the messages of errors.

mod accept;

use std::fmt;
use std::sync::Arc;

use http::HeaderValue;
use http::header::CONTENT_LANGUAGE;
use stockade_errors::{ApiError, FieldError};

pub(crate) use self::accept::AcceptLanguage;
use crate::endpoint::ErrorContext;
use crate::headers::add_vary;
use crate::{Request, Response};

/// The texts of errors in several languages, for `RouterOptions::languages`.
///
/// The feature `i18n` makes them of `Catalogs`.
#[derive(Clone)]
pub struct Languages {
    texts: Arc<dyn Texts>,
}

/// Texts of errors in several languages. A language is known by its index in `tags`.
pub(crate) trait Texts: Send + Sync + 'static {
    /// Returns the language tags (RFC 5646), the default first. There is at least one.
    fn tags(&self) -> &[String];

    /// Returns the message of a failed rule; `None` keeps the English one.
    fn rule(&self, language: usize, error: &FieldError) -> Option<String>;

    /// Returns the message of an error with a problem type; `None` keeps its own.
    fn problem(&self, language: usize, error: &ApiError) -> Option<String>;

    /// Returns the configuration errors of the texts, for these problem types with the names
    /// of their members.
    fn issues(&self, problems: &[(&str, Vec<&str>)]) -> Vec<String>;
}

impl Languages {
    #[cfg(any(test, feature = "i18n"))]
    pub(crate) fn of(texts: impl Texts) -> Self {
        Self { texts: Arc::new(texts) }
    }

    /// Returns the language tags, the default first.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        self.texts.tags()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn issues(&self, problems: &[(&str, Vec<&str>)]) -> Vec<String> {
        self.texts.issues(problems)
    }
}

impl fmt::Debug for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Languages").field(&self.tags()).finish()
    }
}

impl ErrorContext {
    /// Returns the language of the texts: the best of the router's languages for the
    /// `Accept-Language` of the request. `None` if the router has no languages.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        let (languages, index) = self.chosen()?;
        languages.tags().get(index).map(String::as_str)
    }

    fn chosen(&self) -> Option<(&Languages, usize)> {
        let languages = self.languages.as_ref()?;
        let header = self.accept_language.as_deref();
        Some((languages, header.map_or(0, |header| header.choose(languages.tags()))))
    }

    /// Sets the languages of a request that no route has taken.
    #[must_use]
    #[doc(hidden)]
    pub fn with_languages(mut self, languages: Option<&Languages>, req: &Request) -> Self {
        self.languages = languages.cloned();
        self.accept_language = AcceptLanguage::of(req, languages);
        self
    }

    /// Returns the error with its messages in the language of the client. The messages of the
    /// framework itself stay English, because clients compare them.
    #[must_use]
    #[doc(hidden)]
    pub fn translate(&self, error: ApiError) -> ApiError {
        let Some((languages, index)) = self.chosen() else { return error };
        if error.problem_type().is_some()
            && error.status() < 500
            && let Some(text) = languages.texts.problem(index, &error)
        {
            return error.with_message(text);
        }
        error.with_field_messages(|error| languages.texts.rule(index, error))
    }

    /// Adds the headers about the language to the response to an error.
    pub(crate) fn add_language(&self, response: &mut Response) {
        let tag = self.language().map(HeaderValue::from_str);
        if let Some(Ok(tag)) = tag {
            response.headers_mut().insert(CONTENT_LANGUAGE, tag);
            add_vary(response.headers_mut(), "accept-language");
        }
    }
}
