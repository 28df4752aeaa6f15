//! Stores of resources that break a promise.

use stockade_rest::{
    Ask, Draft, Expected, MemoryStore, Op, Page, Scope, Store, StoreDoc, StoreError, Stored,
    Version,
};

use super::refused;
use crate::{RestItem, rest_store, rest_store_operations};

/// A store with one fault.
#[derive(Clone)]
struct Faulty {
    store: MemoryStore<RestItem>,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// A version that is expected is not compared.
    WritesAnyVersion,
    /// An item of others is found by its id.
    FindsThatOfOthers,
    /// A page begins with the last item of the one before.
    RepeatsItems,
    /// The last of many filters is forgotten.
    ForgetsAFilter,
    /// Texts are kept without spaces around them.
    Trims,
    /// Each version is the same.
    HasOneVersion,
    /// A resource is refused that filters by a prefix.
    HasNoPrefix,
}

impl Faulty {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn given(&self, stored: Stored<RestItem>) -> Stored<RestItem> {
        if self.is(Fault::HasOneVersion) { Stored::new(stored.value, Version(1)) } else { stored }
    }

    fn expected(&self, expected: Expected) -> Expected {
        if self.is(Fault::WritesAnyVersion) { Expected::Any } else { expected }
    }
}

impl Store<RestItem> for Faulty {
    async fn list(&self, ask: &Ask) -> Result<Page<RestItem>, StoreError> {
        let mut ask = ask.clone();
        if self.is(Fault::RepeatsItems)
            && let Some(last) = ask.after.as_mut().and_then(|after| after.last_mut())
            && let Some(id) = last.as_i64()
        {
            *last = (id - 1).into();
        }
        if self.is(Fault::ForgetsAFilter) && ask.filters.len() > 1 {
            ask.filters.pop();
        }
        self.store.list(&ask).await
    }

    async fn get(&self, id: &i64, scope: &Scope) -> Result<Option<Stored<RestItem>>, StoreError> {
        let all = Scope::all();
        let scope = if self.is(Fault::FindsThatOfOthers) { &all } else { scope };
        let found = self.store.get(id, scope).await?;
        Ok(found.map(|found| self.given(found)))
    }

    async fn create(&self, mut draft: Draft<RestItem>) -> Result<Stored<RestItem>, StoreError> {
        if self.is(Fault::Trims)
            && let Some(name) = draft.get("name").and_then(|name| name.as_str())
        {
            let name = name.trim().to_owned();
            draft.set("name", name);
        }
        self.store.create(draft).await.map(|made| self.given(made))
    }

    async fn replace(
        &self,
        id: &i64,
        draft: Draft<RestItem>,
        expected: Expected,
        scope: &Scope,
    ) -> Result<Stored<RestItem>, StoreError> {
        let changed = self.store.replace(id, draft, self.expected(expected), scope).await;
        changed.map(|changed| self.given(changed))
    }

    async fn delete(&self, id: &i64, expected: Expected, scope: &Scope) -> Result<(), StoreError> {
        self.store.delete(id, self.expected(expected), scope).await
    }

    fn describe(&self, doc: &mut StoreDoc) {
        if self.is(Fault::HasNoPrefix)
            && doc.filters().iter().any(|(_, ops)| ops.contains(&Op::Prefix))
        {
            doc.mistake("there is no prefix");
        }
    }
}

fn faulty(fault: Fault) -> Faulty {
    Faulty { store: MemoryStore::new().unique("name"), fault }
}

#[tokio::test]
async fn faulty_ones_are_refused() {
    for (fault, words) in [
        (Fault::WritesAnyVersion, "a write at another version: it was done, and not refused"),
        (Fault::FindsThatOfOthers, "rows outside of a scope are missing"),
        (Fault::RepeatsItems, "pages cover all rows once: "),
        (Fault::ForgetsAFilter, "a store does what the memory store does, seed 1, operation "),
        (Fault::Trims, "texts are data in every place"),
        (Fault::HasOneVersion, "a write gives a new version"),
        (Fault::HasNoPrefix, "a resource of items on the store has no mistakes"),
    ] {
        refused(rest_store(async || faulty(fault)), words).await;
    }
}

#[tokio::test]
async fn random_operations_find_faults_too() {
    let words = "a store does what the memory store does, seed 7, operation ";
    for fault in [
        Fault::WritesAnyVersion,
        Fault::FindsThatOfOthers,
        Fault::ForgetsAFilter,
        Fault::Trims,
        Fault::HasOneVersion,
    ] {
        refused(rest_store_operations(faulty(fault), 7, 2_000), words).await;
    }
}
