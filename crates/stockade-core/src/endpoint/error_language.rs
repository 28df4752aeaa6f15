//! The language of an [`ErrorContext`].

use http::HeaderValue;
use http::header::CONTENT_LANGUAGE;
use stockade_errors::ApiError;

use super::ErrorContext;
use crate::headers::add_vary;
use crate::languages::{AcceptLanguage, Languages};
use crate::{Request, Response};

impl ErrorContext {
    /// Returns the language of the messages: the router's best match for the
    /// request's `Accept-Language`. Returns `None` if the router does not have
    /// languages.
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

    /// Sets the languages for a request without a route.
    #[must_use]
    #[doc(hidden)]
    pub fn with_languages(mut self, languages: Option<&Languages>, req: &Request) -> Self {
        self.languages = languages.cloned();
        self.accept_language = AcceptLanguage::of(req.headers(), languages);
        self
    }

    /// Returns the error with messages in the client's language. The
    /// framework's own messages stay English, because clients compare them.
    #[must_use]
    #[doc(hidden)]
    pub fn translate(&self, error: ApiError) -> ApiError {
        match self.chosen() {
            Some((languages, index)) => languages.translate(index, error),
            None => error,
        }
    }

    /// Adds the language headers to an error response.
    pub(crate) fn add_language(&self, response: &mut Response) {
        let tag = self.language().map(HeaderValue::from_str);
        if let Some(Ok(tag)) = tag {
            response.headers_mut().insert(CONTENT_LANGUAGE, tag);
            add_vary(response.headers_mut(), "accept-language");
        }
    }
}
