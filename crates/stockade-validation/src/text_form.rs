//! [`TextForm`]: the form of text that serde reads a type from.

use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};

use crate::rule::Rule;

/// The form of text that serde reads a type from.
///
/// A format has one grammar. A form is judged by the type itself, so that it
/// takes each text that the type is read from, and no other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextForm {
    /// The format in documents: the form in which the type is written.
    pub(crate) format: Option<&'static str>,
    pub(crate) message: &'static str,
    /// Returns true if the type is read from a text.
    pub(crate) fits: fn(&str) -> bool,
}

impl Rule {
    /// A string from which serde reads a `T`.
    #[track_caller]
    pub(crate) fn text_of<T: DeserializeOwned>(
        format: impl Into<Option<&'static str>>,
        message: &'static str,
    ) -> Self {
        Self::string().form_of::<T>(format, message)
    }

    /// Asks of strings that serde reads a `T` from them.
    pub(crate) fn form_of<T: DeserializeOwned>(
        self,
        format: impl Into<Option<&'static str>>,
        message: &'static str,
    ) -> Self {
        let form = TextForm { format: format.into(), message, fits: reads::<T> };
        Self { form: Some(form), ..self }
    }
}

fn reads<T: DeserializeOwned>(text: &str) -> bool {
    T::deserialize(StrDeserializer::<Error>::new(text)).is_ok()
}
