//! The values to write.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use stockade_errors::StoreError;
use stockade_validation::read_value;

/// The values of an item to write: validated values from the client, and values
/// that hooks have [set](Self::set).
///
/// ```
/// use stockade::prelude::*;
/// use stockade::rest::NewRow;
///
/// # struct Note;
/// let mut draft = NewRow::<Note>::new([("text", json!("be kind"))]);
/// draft.set("owner", "ada");
/// assert_eq!(draft.get("owner"), Some(&json!("ada")));
/// assert_eq!(draft.fields().collect::<Vec<_>>(), ["text", "owner"]);
/// ```
pub struct NewRow<T> {
    raw: RawDraft,
    of: PhantomData<fn() -> T>,
}

/// A draft without the type of the item.
#[derive(Clone)]
pub(crate) struct RawDraft {
    pub(crate) values: Map<String, Value>,
    /// The fields of the resource that a client may write.
    pub(crate) writable: Arc<[String]>,
    /// The fields that the client has sent, or that a patch changes.
    pub(crate) sent: Vec<String>,
}

impl<T> NewRow<T> {
    /// Creates a draft of these values, for a program that writes to a store
    /// without a resource. They are not validated, and all of them count as
    /// [sent](Self::has_sent).
    #[must_use]
    pub fn new<N: Into<String>>(values: impl IntoIterator<Item = (N, Value)>) -> Self {
        let values: Map<_, _> =
            values.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let sent: Vec<String> = values.keys().cloned().collect();
        Self::of(RawDraft { values, writable: sent.clone().into(), sent })
    }

    pub(crate) fn of(raw: RawDraft) -> Self {
        Self { raw, of: PhantomData }
    }

    pub(crate) fn into_raw(self) -> RawDraft {
        self.raw
    }

    /// Returns the value of a field, if the draft has one.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.raw.values.get(field)
    }

    /// Sets the value of a field, even if clients may not write it. The value
    /// is not validated.
    pub fn set(&mut self, field: impl Into<String>, value: impl Into<Value>) {
        self.raw.values.insert(field.into(), value.into());
    }

    /// Removes the value of a field. A field that clients may write then
    /// becomes null or its default.
    pub fn remove(&mut self, field: &str) -> Option<Value> {
        self.raw.values.shift_remove(field)
    }

    /// Returns true if the client has sent the field, or for PATCH if the patch
    /// changes it. A hook can thus distinguish a new password from the old
    /// hash.
    #[must_use]
    pub fn has_sent(&self, field: &str) -> bool {
        self.raw.sent.iter().any(|sent| sent == field)
    }

    /// Returns the values.
    #[must_use]
    pub fn values(&self) -> &Map<String, Value> {
        &self.raw.values
    }

    /// Returns the names of the fields to write: fields that clients may write,
    /// with or without a value, and fields that hooks have set.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let set = self.raw.values.keys().filter(|name| !self.raw.writable.contains(name));
        self.raw.writable.iter().chain(set).map(String::as_str)
    }

    /// Returns the values as a JSON object.
    #[must_use]
    pub fn into_value(self) -> Value {
        Value::Object(self.raw.values)
    }

    /// Deserializes the values into a type, such as one without the server
    /// fields.
    ///
    /// # Errors
    /// Returns [`StoreError::Failed`] if they do not match the type. This is a
    /// bug in the program, because the values are already validated.
    pub fn read<New: DeserializeOwned>(self) -> Result<New, StoreError> {
        // Does not use serde_json, which fails for some numbers in flattened
        // types if another crate enables its `arbitrary_precision` feature.
        read_value(&self.into_value()).map_err(StoreError::failed)
    }
}

impl<T> Clone for NewRow<T> {
    fn clone(&self) -> Self {
        Self::of(self.raw.clone())
    }
}

/// Formats only the field names, because a value may be a secret.
impl<T> fmt::Debug for NewRow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.raw.values.keys().collect();
        f.debug_tuple("NewRow").field(&names).finish()
    }
}
