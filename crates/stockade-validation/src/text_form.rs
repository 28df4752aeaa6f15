//! [`TextForm`]: the text form that serde reads a type from.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};
use serde_json::Value;

use crate::rule::Rule;

/// The text form that serde reads a type from.
///
/// A format has one grammar. In contrast, the type itself checks a form, which
/// therefore accepts exactly the texts that the type can be read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextForm {
    /// The format in documents, which describes the text that the type is
    /// written as.
    pub(crate) format: Option<&'static str>,
    pub(crate) message: &'static str,
    /// Returns true if the type can be read from a text.
    pub(crate) fits: fn(&str) -> bool,
}

impl Rule {
    /// Creates a rule for a string that serde reads as a `T` and also writes
    /// for it.
    #[track_caller]
    pub(crate) fn text_of<T: DeserializeOwned + Serialize>(
        format: impl Into<Option<&'static str>>,
        message: &'static str,
    ) -> Self {
        Self::string().form_of::<T>(format, message)
    }

    /// Requires strings that serde reads as a `T`. Their canonical form is the text that
    /// serde writes.
    pub(crate) fn form_of<T: DeserializeOwned + Serialize>(
        self,
        format: impl Into<Option<&'static str>>,
        message: &'static str,
    ) -> Self {
        self.read_as::<T>(format, message).canonical(written::<T>)
    }

    /// Requires strings that serde reads as a `T`.
    pub(crate) fn read_as<T: DeserializeOwned>(
        self,
        format: impl Into<Option<&'static str>>,
        message: &'static str,
    ) -> Self {
        let form = TextForm { format: format.into(), message, fits: reads::<T> };
        Self { form: Some(form), ..self }
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    T::deserialize(StrDeserializer::<Error>::new(text)).ok()
}

fn reads<T: DeserializeOwned>(text: &str) -> bool {
    read::<T>(text).is_some()
}

/// Returns the text that serde writes after reading `text` as a `T`.
fn written<T: DeserializeOwned + Serialize>(text: &str) -> Option<String> {
    match serde_json::to_value(read::<T>(text)?) {
        Ok(Value::String(written)) => Some(written),
        _ => None,
    }
}
