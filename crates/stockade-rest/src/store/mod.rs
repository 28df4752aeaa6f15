//! [`Store`]: the place where the items of a resource are kept, and the words
//! that a resource and its store speak.

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

/// The place where the items of a resource are kept.
///
/// A store judges nothing: what it gets has passed the schema, the rules of
/// access and the hooks of its resource. It keeps these promises:
///
/// - Each write is done as a whole or not at all, and is there for every later
///   call once it has returned.
/// - Each write of an item gives it a [`Version`] that it never had before, and a
///   write at a [`VersionCheck::Version`] is done at that version alone: of two
///   writes at one version, one fails with [`StoreError::Changed`].
/// - An item outside of a [`RowFilter`] is missing, in every call.
/// - Values that clients sent are data, and never a part of a statement.
///
/// A future of a store may be dropped at any time, because clients leave.
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
    /// Fails with [`StoreError::Invalid`] for a value that cannot be compared with
    /// the field, and with those of an engine.
    fn list(&self, query: &ListQuery) -> impl Future<Output = Result<Page<T>, StoreError>> + Send;

    /// Returns the item of an id, if it is there and in the scope.
    ///
    /// # Errors
    /// Fails with those of an engine.
    fn get(
        &self,
        id: &T::Id,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<Option<Versioned<T>>, StoreError>> + Send;

    /// Makes an item. The store chooses its id, unless the draft has one.
    ///
    /// # Errors
    /// Fails with [`StoreError::Taken`] if an item has the same id or the same value
    /// of a unique field, with [`StoreError::Invalid`] for values that the engine
    /// refuses, and with those of an engine.
    fn create(
        &self,
        draft: NewRow<T>,
    ) -> impl Future<Output = Result<Versioned<T>, StoreError>> + Send;

    /// Replaces the item of an id. All [fields](NewRow::fields) of the draft are
    /// written, those that it has no value for as null or their default. All others
    /// stay as they are.
    ///
    /// # Errors
    /// Fails with [`StoreError::Missing`] if there is no such item in the scope, with
    /// [`StoreError::Changed`] if it has another version than is expected, and with
    /// those of [`create`](Self::create).
    fn replace(
        &self,
        id: &T::Id,
        draft: NewRow<T>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<Versioned<T>, StoreError>> + Send;

    /// Deletes the item of an id.
    ///
    /// # Errors
    /// Fails with [`StoreError::Missing`] and [`StoreError::Changed`] as
    /// [`replace`](Self::replace), with [`StoreError::Referenced`] if the engine refuses
    /// because others refer to the item, and with those of an engine.
    fn delete(
        &self,
        id: &T::Id,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notes the mistakes of a resource on this store, such as a filter by a field
    /// that it does not have, and the integers that a field can keep. It is called once,
    /// while the router is built.
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
