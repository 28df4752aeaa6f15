//! The read-only and write-only positions inside the fields of an item.
//!
//! A resource treats them like its server fields and hidden fields, at every
//! depth. Clients cannot set read-only values and do not receive write-only
//! values. A write preserves the stored values.

use serde_json::{Map, Value};
use stockade_errors::ApiError;
#[cfg(feature = "json-patch")]
use stockade_validation::marks::add_origins;
use stockade_validation::marks::{Mark, Marks, remove_origins};

use crate::store::RawDraft;

/// The read-only and write-only positions inside the fields of an item.
pub(crate) struct Marked {
    /// The positions in values from clients.
    pub(crate) read: Marks,
    /// The positions in values that serde serializes.
    pub(crate) written: Marks,
    /// True if a read-only position is inside a field.
    pub(crate) keeps_inside: bool,
    /// True if a write-only position is inside a field.
    pub(crate) hides_inside: bool,
}

impl Marked {
    /// Returns true if any position inside a field is marked.
    pub(crate) fn is_inside(&self) -> bool {
        self.keeps_inside || self.hides_inside
    }

    /// Returns true if the path of an error leads to a hidden position.
    pub(crate) fn hides(&self, path: &str) -> bool {
        self.hides_inside && self.written.may_be_marked(Mark::WriteOnly, path)
    }

    /// Removes the hidden positions of an item.
    pub(crate) fn hide_inside(&self, item: &mut Value) {
        if self.hides_inside {
            self.written.strip(Mark::WriteOnly, item);
        }
    }

    /// Removes the read-only positions of a value from a client.
    pub(crate) fn drop_read_only(&self, sent: &mut Value) {
        if self.keeps_inside {
            self.read.strip(Mark::ReadOnly, sent);
        }
    }

    /// Copies the stored read-only values into a draft. `aligned` has the
    /// structure of the value that the client sent.
    pub(crate) fn keep_read_only(&self, aligned: &Value, draft: &mut Map<String, Value>) {
        if let Value::Object(aligned) = aligned
            && self.keeps_inside
        {
            self.read.restore_inside(Mark::ReadOnly, aligned, draft);
        }
    }

    /// Checks that a draft has each required read-only value inside its fields.
    ///
    /// # Errors
    /// Returns a 500 otherwise, because the store would contain an item that no
    /// request can read.
    pub(crate) fn check(&self, draft: &RawDraft) -> Result<(), ApiError> {
        let missing = self.keeps_inside.then(|| self.read.missing(Mark::ReadOnly, &draft.values));
        match missing.flatten() {
            None => Ok(()),
            Some(path) => Err(ApiError::internal(format!(
                "no hook has set `{path}`, which is read-only and required: set it in `before`, \
                 or add a default to the field"
            ))),
        }
    }

    /// Returns the positions for items with [origins](Self::add_origins).
    #[cfg(feature = "json-patch")]
    pub(crate) fn with_origins(&self) -> Self {
        Self { read: self.read.with_origins(), written: self.written.with_origins(), ..*self }
    }

    /// Numbers the list elements, if their marked values must follow them.
    #[cfg(feature = "json-patch")]
    pub(crate) fn add_origins(&self, item: &mut Value) {
        if self.is_inside() {
            add_origins(item);
        }
    }

    /// Removes the numbers that `add_origins` adds, and map keys of the same
    /// name from a client.
    pub(crate) fn remove_origins(&self, item: &mut Value) {
        if self.is_inside() {
            remove_origins(item);
        }
    }
}
