//! A store that is opened after the router is built.

use std::sync::OnceLock;

use super::{
    ListQuery, NewRow, Page, RowFilter, Store, StoreDoc, StoreError, VersionCheck, Versioned,
};
use crate::Entity;

/// A store that is set after the router is built, for example by
/// [`Router::state_at_start`](stockade_routing::Router::state_at_start). Share
/// it with an `Arc`. Requests get a 503 until it is set. If it is not set when
/// the router is built, documentation and build checks use only the item type.
///
/// ```
/// use std::sync::{Arc, OnceLock};
///
/// use serde::{Deserialize, Serialize};
/// use stockade::prelude::*;
/// use stockade::rest::{Access, Entity, MemoryStore, Resource};
/// use stockade::testing::TestClient;
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
/// # async fn main() {
/// let notes = Arc::new(OnceLock::new());
/// let resource = Resource::new("note", Arc::clone(&notes))
///     .read(Access::public("everybody reads"))
///     .write(Access::public("everybody writes"));
/// let api = routes! { "notes": { ..resource.routes() } };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// client.get("/notes").await.assert_status(503);
///
/// assert!(notes.set(MemoryStore::<Note>::new()).is_ok());
/// client.get("/notes").await.assert_status(200);
/// # }
/// ```
impl<T: Entity, S: Store<T>> Store<T> for OnceLock<S> {
    async fn list(&self, query: &ListQuery) -> Result<Page<T>, StoreError> {
        opened(self)?.list(query).await
    }

    async fn get(&self, id: &T::Id, scope: &RowFilter) -> Result<Option<Versioned<T>>, StoreError> {
        opened(self)?.get(id, scope).await
    }

    async fn create(&self, draft: NewRow<T>) -> Result<Versioned<T>, StoreError> {
        opened(self)?.create(draft).await
    }

    async fn replace(
        &self,
        id: &T::Id,
        draft: NewRow<T>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<Versioned<T>, StoreError> {
        opened(self)?.replace(id, draft, expected, scope).await
    }

    async fn delete(
        &self,
        id: &T::Id,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<(), StoreError> {
        opened(self)?.delete(id, expected, scope).await
    }

    fn describe(&self, doc: &mut StoreDoc) {
        if let Some(store) = self.get() {
            store.describe(doc);
        }
    }
}

fn opened<S>(store: &OnceLock<S>) -> Result<&S, StoreError> {
    store.get().ok_or_else(|| StoreError::unavailable("the store is not open yet"))
}
