//! Resource stores that violate a guarantee.

use stockade_rest::{
    ListQuery, MemoryStore, NewRow, Op, Page, RowFilter, Store, StoreDoc, StoreError, Version,
    VersionCheck, Versioned,
};

use super::fails_with;
use crate::{RestItem, rest_store, rest_store_operations};

/// A store with one fault.
#[derive(Clone)]
struct Faulty {
    store: MemoryStore<RestItem>,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Expected versions are not compared.
    IgnoresVersions,
    /// Items outside the scope are found by id.
    FindsItemsOutsideTheScope,
    /// A page starts with the last item of the previous one.
    RepeatsItems,
    /// The last of many filters is ignored.
    IgnoresTheLastFilter,
    /// Texts are trimmed.
    TrimsTexts,
    /// All versions are equal.
    HasOneVersion,
    /// A resource with a prefix filter is rejected.
    RejectsPrefixFilters,
}

impl Faulty {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn returned(&self, stored: Versioned<RestItem>) -> Versioned<RestItem> {
        if self.is(Fault::HasOneVersion) {
            Versioned::new(stored.value, Version(1))
        } else {
            stored
        }
    }

    fn expected(&self, expected: VersionCheck) -> VersionCheck {
        if self.is(Fault::IgnoresVersions) { VersionCheck::Any } else { expected }
    }
}

impl Store<RestItem> for Faulty {
    async fn list(&self, query: &ListQuery) -> Result<Page<RestItem>, StoreError> {
        let mut query = query.clone();
        if self.is(Fault::RepeatsItems)
            && let Some(last) = query.after.as_mut().and_then(|after| after.last_mut())
            && let Some(id) = last.as_i64()
        {
            *last = (id - 1).into();
        }
        if self.is(Fault::IgnoresTheLastFilter) && query.filters.len() > 1 {
            query.filters.pop();
        }
        self.store.list(&query).await
    }

    async fn get(
        &self,
        id: &i64,
        scope: &RowFilter,
    ) -> Result<Option<Versioned<RestItem>>, StoreError> {
        let all = RowFilter::all();
        let scope = if self.is(Fault::FindsItemsOutsideTheScope) { &all } else { scope };
        let found = self.store.get(id, scope).await?;
        Ok(found.map(|found| self.returned(found)))
    }

    async fn create(&self, mut draft: NewRow<RestItem>) -> Result<Versioned<RestItem>, StoreError> {
        if self.is(Fault::TrimsTexts)
            && let Some(name) = draft.get("name").and_then(|name| name.as_str())
        {
            let name = name.trim().to_owned();
            draft.set("name", name);
        }
        self.store.create(draft).await.map(|made| self.returned(made))
    }

    async fn replace(
        &self,
        id: &i64,
        draft: NewRow<RestItem>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<Versioned<RestItem>, StoreError> {
        let changed = self.store.replace(id, draft, self.expected(expected), scope).await;
        changed.map(|changed| self.returned(changed))
    }

    async fn delete(
        &self,
        id: &i64,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<(), StoreError> {
        self.store.delete(id, self.expected(expected), scope).await
    }

    fn describe(&self, doc: &mut StoreDoc) {
        if self.is(Fault::RejectsPrefixFilters)
            && doc.filters().iter().any(|(_, ops)| ops.contains(&Op::Prefix))
        {
            doc.issue("prefix filters are not supported");
        }
    }
}

fn faulty(fault: Fault) -> Faulty {
    Faulty { store: MemoryStore::new().unique("name"), fault }
}

#[tokio::test]
async fn rejects_faulty_implementations() {
    for (fault, words) in [
        (Fault::IgnoresVersions, "a write at another version: found success, expected the error"),
        (Fault::FindsItemsOutsideTheScope, "rows outside a scope are missing"),
        (Fault::RepeatsItems, "pages cover all rows once: "),
        (Fault::IgnoresTheLastFilter, "a store behaves like the memory store, seed 1, operation "),
        (Fault::TrimsTexts, "strings are data in every position"),
        (Fault::HasOneVersion, "a write creates a new version"),
        (Fault::RejectsPrefixFilters, "a resource of items on the store has configuration errors"),
    ] {
        fails_with(rest_store(async || faulty(fault)), words).await;
    }
}

#[tokio::test]
async fn random_operations_detect_faults() {
    let words = "a store behaves like the memory store, seed 7, operation ";
    for fault in [
        Fault::IgnoresVersions,
        Fault::FindsItemsOutsideTheScope,
        Fault::IgnoresTheLastFilter,
        Fault::TrimsTexts,
        Fault::HasOneVersion,
    ] {
        fails_with(rest_store_operations(faulty(fault), 7, 2_000), words).await;
    }
}
