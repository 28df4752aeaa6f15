//! The storage of a resource's items ([`Store`]), and the types that a resource
//! and its store exchange.

mod doc;
mod late;
mod list_query;
mod new_row;
mod row_filter;
mod versioned;

use std::future::Future;
use std::sync::Arc;

pub use doc::StoreDoc;
pub use list_query::{Direction, Filter, ListQuery, Op, Page, Sort};
pub use new_row::NewRow;
pub(crate) use new_row::RawDraft;
pub use row_filter::RowFilter;
pub use versioned::{Version, VersionCheck, Versioned};

use stockade_errors::StoreError;

use crate::Entity;

/// The storage of a resource's items.
///
/// A store does not validate its input, which has passed the schema, the access
/// rules and the hooks of its resource. It guarantees the following:
///
/// - Each write is atomic, and is visible to every later call once it has
///   returned.
/// - Each write of an item creates a new [`Version`] that the item never had
///   before. A write at a [`VersionCheck::Version`] applies only to that
///   version: of two writes at one version, one fails with
///   [`StoreError::Changed`].
/// - An item outside a [`RowFilter`] is missing, in every call.
/// - Client values are data and never part of a statement.
///
/// The future of a store may be dropped at any time, because clients
/// disconnect.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stockade::prelude::*;
/// use stockade::rest::{Entity, MemoryStore, NewRow, RowFilter, Store, VersionCheck};
///
/// #[derive(Clone, Serialize, Deserialize, Schema)]
/// struct Note {
///     id: i64,
///     text: String,
/// }
///
/// impl Entity for Note {
///     type Id = i64;
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), stockade::rest::StoreError> {
/// let store = MemoryStore::<Note>::new();
/// let draft = NewRow::new([("text", json!("be kind"))]);
/// let made = store.create(draft).await?;
/// assert_eq!((made.value.id, &*made.value.text), (1, "be kind"));
///
/// store.delete(&1, VersionCheck::Version(made.version), &RowFilter::all()).await?;
/// assert!(store.get(&1, &RowFilter::all()).await?.is_none());
/// # Ok(())
/// # }
/// ```
pub trait Store<T: Entity>: Send + Sync + 'static {
    /// Returns a page of items.
    ///
    /// # Errors
    /// Returns [`StoreError::Invalid`] if a value cannot be compared with the
    /// field, or a backend error.
    fn list(&self, query: &ListQuery) -> impl Future<Output = Result<Page<T>, StoreError>> + Send;

    /// Returns the item with an id, if it exists and is in the scope.
    ///
    /// # Errors
    /// Returns a backend error.
    fn get(
        &self,
        id: &T::Id,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<Option<Versioned<T>>, StoreError>> + Send;

    /// Creates an item. The store chooses its id unless the draft has one.
    ///
    /// # Errors
    /// Returns [`StoreError::Taken`] if an item has the same id or the same
    /// value of a unique field, [`StoreError::Invalid`] if the backend rejects
    /// a value, or a backend error.
    fn create(
        &self,
        draft: NewRow<T>,
    ) -> impl Future<Output = Result<Versioned<T>, StoreError>> + Send;

    /// Replaces the item with an id. All [fields](NewRow::fields) of the draft
    /// are written; fields without a value become null or their default. All
    /// other fields are unchanged.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`] if the item does not exist in the scope,
    /// [`StoreError::Changed`] if it has another version than expected, or an
    /// error of [`create`](Self::create).
    fn replace(
        &self,
        id: &T::Id,
        draft: NewRow<T>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<Versioned<T>, StoreError>> + Send;

    /// Deletes the item with an id.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`] or [`StoreError::Changed`] like
    /// [`replace`](Self::replace), [`StoreError::Referenced`] if the backend
    /// rejects the deletion because other items refer to this one, or a backend
    /// error.
    fn delete(
        &self,
        id: &T::Id,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reports the configuration errors of a resource in this store, such as a
    /// filter on an unknown field, and the integer ranges of its fields. It is
    /// called once, while the router is built.
    fn describe(&self, doc: &mut StoreDoc);
}

impl<T: Entity, S: Store<T>> Store<T> for Arc<S> {
    fn list(&self, query: &ListQuery) -> impl Future<Output = Result<Page<T>, StoreError>> + Send {
        S::list(self, query)
    }

    fn get(
        &self,
        id: &T::Id,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<Option<Versioned<T>>, StoreError>> + Send {
        S::get(self, id, scope)
    }

    fn create(
        &self,
        draft: NewRow<T>,
    ) -> impl Future<Output = Result<Versioned<T>, StoreError>> + Send {
        S::create(self, draft)
    }

    fn replace(
        &self,
        id: &T::Id,
        draft: NewRow<T>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<Versioned<T>, StoreError>> + Send {
        S::replace(self, id, draft, expected, scope)
    }

    fn delete(
        &self,
        id: &T::Id,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        S::delete(self, id, expected, scope)
    }

    fn describe(&self, doc: &mut StoreDoc) {
        S::describe(self, doc);
    }
}
