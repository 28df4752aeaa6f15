//! The language of an [`ErrorContext`].

use http::HeaderValue;
use http::header::CONTENT_LANGUAGE;
use stockade_errors::ApiError;

use super::ErrorContext;
use crate::headers::add_vary;
use crate::languages::{AcceptLanguage, Languages};
use crate::{Request, Response};

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
        self.accept_language = AcceptLanguage::of(req.headers(), languages);
        self
    }

    /// Returns the error with its messages in the language of the client. The messages of the
    /// framework itself stay English, because clients compare them.
    #[must_use]
    #[doc(hidden)]
    pub fn translate(&self, error: ApiError) -> ApiError {
        match self.chosen() {
            Some((languages, index)) => languages.translate(index, error),
            None => error,
        }
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
