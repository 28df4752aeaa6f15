//! A store without its types, which avoids compiling the resource code for each
//! type.

use std::any::Any;

use serde::Deserialize as _;
use serde::de::Error as _;
use serde_json::Value;
use stockade_core::BoxFuture;
use stockade_errors::{ApiError, FieldError, StoreError};
use stockade_json::{ListWriter, to_json};

use crate::Entity;
use crate::keys::keys_of;
use crate::store::{
    ListQuery, NewRow, Page, RawDraft, RowFilter, Store, StoreDoc, Version, VersionCheck, Versioned,
};

/// A [`Store`] with JSON ids. The schema of the id type has validated them.
pub(crate) trait ErasedStore: Send + Sync {
    fn list<'s>(&'s self, query: &'s ListQuery) -> BoxFuture<'s, Result<ErasedPage, StoreError>>;

    fn get<'s>(
        &'s self,
        id: &'s Value,
        scope: &'s RowFilter,
    ) -> BoxFuture<'s, Result<Option<BoxItem>, StoreError>>;

    fn create(&self, draft: RawDraft) -> BoxFuture<'_, Result<BoxItem, StoreError>>;

    fn replace<'s>(
        &'s self,
        id: &'s Value,
        draft: RawDraft,
        expected: VersionCheck,
        scope: &'s RowFilter,
    ) -> BoxFuture<'s, Result<BoxItem, StoreError>>;

    fn delete<'s>(
        &'s self,
        id: &'s Value,
        expected: VersionCheck,
        scope: &'s RowFilter,
    ) -> BoxFuture<'s, Result<(), StoreError>>;

    fn describe(&self, doc: &mut StoreDoc);
}

/// A page of items without their type.
pub(crate) struct ErasedPage {
    pub(crate) items: Box<dyn Items>,
    pub(crate) more: bool,
    pub(crate) total: Option<u64>,
    pub(crate) skipped: u64,
}

/// The items of a page.
pub(crate) trait Items: Send {
    /// Removes and returns all items.
    fn take(&mut self) -> Vec<BoxItem>;

    /// Returns the values of some fields of an item, or `None` if the index is
    /// out of range.
    fn keys(&self, index: usize, names: &[&str]) -> Result<Option<Vec<Value>>, ApiError>;

    fn len(&self) -> usize;

    /// Returns an item as JSON, or `None` if the index is out of range.
    fn value(&self, index: usize) -> Result<Option<Value>, ApiError>;

    /// Writes the items as JSON. Stops after the item that reaches `most`
    /// bytes.
    fn write(&self, list: &mut ListWriter, most: usize) -> Result<(), ApiError>;
}

pub(crate) type BoxItem = Box<dyn Item>;

/// An item without its type.
pub(crate) trait Item: Send {
    fn version(&self) -> Version;

    /// Writes the item as JSON.
    fn write(&self) -> Result<Vec<u8>, ApiError>;

    /// Returns the item as JSON.
    fn value(&self) -> Result<Value, ApiError>;

    /// Returns the values of some fields.
    fn keys(&self, names: &[&str]) -> Result<Vec<Value>, ApiError>;

    /// Returns the value of the entity's type.
    fn entity(&self) -> &dyn Any;

    /// Returns the [`Versioned`] of the entity's type.
    fn into_any(self: Box<Self>) -> Box<dyn Any + Send>;
}

impl<T: Entity> Item for Versioned<T> {
    fn version(&self) -> Version {
        self.version
    }

    fn write(&self) -> Result<Vec<u8>, ApiError> {
        Ok(to_json(&self.value)?)
    }

    fn value(&self) -> Result<Value, ApiError> {
        serde_json::to_value(&self.value).map_err(ApiError::internal)
    }

    fn keys(&self, names: &[&str]) -> Result<Vec<Value>, ApiError> {
        keys_of(&self.value, names).map_err(ApiError::internal)
    }

    fn entity(&self) -> &dyn Any {
        &self.value
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any + Send> {
        self
    }
}

impl<T: Entity> Items for Vec<Versioned<T>> {
    fn take(&mut self) -> Vec<BoxItem> {
        self.drain(..).map(|item| -> BoxItem { Box::new(item) }).collect()
    }

    fn keys(&self, index: usize, names: &[&str]) -> Result<Option<Vec<Value>>, ApiError> {
        self.get(index).map(|item| item.keys(names)).transpose()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn value(&self, index: usize) -> Result<Option<Value>, ApiError> {
        self.get(index).map(Item::value).transpose()
    }

    fn write(&self, list: &mut ListWriter, most: usize) -> Result<(), ApiError> {
        for item in self {
            list.push(&item.value)?;
            if list.size() >= most {
                break;
            }
        }
        Ok(())
    }
}

/// A store with the type of its items.
pub(crate) struct Typed<T, S> {
    store: S,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Entity, S: Store<T>> Typed<T, S> {
    pub(crate) fn new(store: S) -> Self {
        Self { store, of: std::marker::PhantomData }
    }
}

impl<T: Entity, S: Store<T>> ErasedStore for Typed<T, S> {
    fn list<'s>(&'s self, query: &'s ListQuery) -> BoxFuture<'s, Result<ErasedPage, StoreError>> {
        Box::pin(async move {
            let page = self.store.list(query).await?;
            let Page { items, more, total, skipped } = page;
            Ok(ErasedPage { items: Box::new(items), more, total, skipped })
        })
    }

    fn get<'s>(
        &'s self,
        id: &'s Value,
        scope: &'s RowFilter,
    ) -> BoxFuture<'s, Result<Option<BoxItem>, StoreError>> {
        Box::pin(async move {
            let item = self.store.get(&id_of::<T>(id)?, scope).await?;
            Ok(item.map(|item| -> BoxItem { Box::new(item) }))
        })
    }

    fn create(&self, draft: RawDraft) -> BoxFuture<'_, Result<BoxItem, StoreError>> {
        Box::pin(async move {
            let item = self.store.create(NewRow::of(draft)).await?;
            Ok(Box::new(item) as BoxItem)
        })
    }

    fn replace<'s>(
        &'s self,
        id: &'s Value,
        draft: RawDraft,
        expected: VersionCheck,
        scope: &'s RowFilter,
    ) -> BoxFuture<'s, Result<BoxItem, StoreError>> {
        Box::pin(async move {
            let id = id_of::<T>(id)?;
            let item = self.store.replace(&id, NewRow::of(draft), expected, scope).await?;
            Ok(Box::new(item) as BoxItem)
        })
    }

    fn delete<'s>(
        &'s self,
        id: &'s Value,
        expected: VersionCheck,
        scope: &'s RowFilter,
    ) -> BoxFuture<'s, Result<(), StoreError>> {
        Box::pin(async move { self.store.delete(&id_of::<T>(id)?, expected, scope).await })
    }

    fn describe(&self, doc: &mut StoreDoc) {
        self.store.describe(doc);
    }
}

/// Deserializes a validated id. If its type still rejects it, such as an
/// integer out of range, it is a client error.
fn id_of<T: Entity>(id: &Value) -> Result<T::Id, StoreError> {
    T::Id::deserialize(id).map_err(|error| {
        log::debug!(target: "stockade", "an id does not match its schema: {}", serde_json::Error::custom(error));
        let error = FieldError::new(T::ID, "Invalid value", "type").with_text_id("invalid-id");
        StoreError::Invalid(vec![error])
    })
}
