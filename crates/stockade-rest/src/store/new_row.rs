//! [`NewRow`]: the values that are to be written.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use stockade_errors::StoreError;
use stockade_validation::read_value;

/// The values of an item that are to be written: what a client may write and has
/// sent, judged by the schema, and what hooks have [set](Self::set).
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
    /// The fields that a client may write, of the resource.
    pub(crate) writable: Arc<[String]>,
    /// The fields that the client has sent, or changes by a patch.
    pub(crate) sent: Vec<String>,
}

impl<T> NewRow<T> {
    /// Makes a draft of these values, for a program that writes to a store without a
    /// resource. No schema judges them, and all of them count as
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

    /// Sets the value of a field, also of one that clients may not write. No schema
    /// judges it.
    pub fn set(&mut self, field: impl Into<String>, value: impl Into<Value>) {
        self.raw.values.insert(field.into(), value.into());
    }

    /// Takes the value of a field away; a field that clients may write becomes null
    /// or its default.
    pub fn remove(&mut self, field: &str) -> Option<Value> {
        self.raw.values.shift_remove(field)
    }

    /// Returns true if the client has sent the field, and with PATCH if the patch
    /// changes it. So a hook tells a new password from the hash of the old one.
    #[must_use]
    pub fn has_sent(&self, field: &str) -> bool {
        self.raw.sent.iter().any(|sent| sent == field)
    }

    /// Returns the values.
    #[must_use]
    pub fn values(&self) -> &Map<String, Value> {
        &self.raw.values
    }

    /// Returns the names of the fields that are to be written: those that clients may
    /// write, with a value or without, and those that hooks have set.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let set = self.raw.values.keys().filter(|name| !self.raw.writable.contains(name));
        self.raw.writable.iter().chain(set).map(String::as_str)
    }

    /// Returns the values as a JSON object.
    #[must_use]
    pub fn into_value(self) -> Value {
        Value::Object(self.raw.values)
    }

    /// Reads the values into a type, such as one without the fields of the server.
    ///
    /// # Errors
    /// Fails with [`StoreError::Failed`] if they do not fit, which is a mistake of the
    /// program: the schema has judged them.
    pub fn read<New: DeserializeOwned>(self) -> Result<New, StoreError> {
        // Not by serde_json, which fails for some numbers of flattened types if another
        // crate switches on its feature `arbitrary_precision`.
        read_value(&self.into_value()).map_err(StoreError::failed)
    }
}

impl<T> Clone for NewRow<T> {
    fn clone(&self) -> Self {
        Self::of(self.raw.clone())
    }
}

/// Shows the names of its fields, because a value may be a secret.
impl<T> fmt::Debug for NewRow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.raw.values.keys().collect();
        f.debug_tuple("NewRow").field(&names).finish()
    }
}
