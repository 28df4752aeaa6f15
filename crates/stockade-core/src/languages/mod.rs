//! [`Languages`]: the languages of the messages of errors.

mod accept;

use std::fmt;
use std::sync::Arc;

use stockade_errors::{ApiError, FieldError};

pub(crate) use self::accept::AcceptLanguage;

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

impl Languages {
    /// Returns the error with its messages in a language. The messages of the framework itself
    /// stay English, because clients compare them.
    pub(crate) fn translate(&self, language: usize, error: ApiError) -> ApiError {
        if error.problem_type().is_some()
            && error.status() < 500
            && let Some(text) = self.texts.problem(language, &error)
        {
            return error.with_message(text);
        }
        error.with_field_messages(|error| self.texts.rule(language, error))
    }
}

impl fmt::Debug for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Languages").field(&self.tags()).finish()
    }
}
