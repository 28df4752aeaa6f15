//! [`Languages`]: the languages of error messages.

mod accept;

use std::fmt;
use std::sync::Arc;

use stockade_errors::{ApiError, FieldError};

pub(crate) use self::accept::AcceptLanguage;

/// Error messages in several languages, for `RouterOptions::languages`.
///
/// The feature `i18n` creates them from `Catalogs`.
#[derive(Clone)]
pub struct Languages {
    texts: Arc<dyn Texts>,
}

/// Error messages in several languages. A language is identified by its index
/// in `tags`.
pub(crate) trait Texts: Send + Sync + 'static {
    /// Returns the language tags (RFC 5646), at least one. The first is the
    /// default.
    fn tags(&self) -> &[String];

    /// Returns the message of a failed rule, or `None` to keep the English
    /// message.
    fn rule(&self, language: usize, error: &FieldError) -> Option<String>;

    /// Returns the message of an error with a problem type, or `None` to keep
    /// its own message.
    fn problem(&self, language: usize, error: &ApiError) -> Option<String>;

    /// Returns the configuration errors of the texts, for these problem types
    /// and their member names.
    fn issues(&self, problems: &[(&str, Vec<&str>)]) -> Vec<String>;
}

impl Languages {
    #[cfg(any(test, feature = "i18n"))]
    pub(crate) fn of(texts: impl Texts) -> Self {
        Self { texts: Arc::new(texts) }
    }

    /// Returns the language tags. The first is the default.
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
    /// Returns the error with messages in a language. The framework's own
    /// messages stay English, because clients compare them.
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
