//! An in-memory store for tests and examples.

mod decimal;
mod order;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::{Value, json};
use stockade_errors::locks::{read, write};

use self::table::Table;
use stockade_errors::StoreError;

use crate::canonical::Canonical;
use crate::store::{
    ListQuery, NewRow, Op, Page, RowFilter, Store, StoreDoc, VersionCheck, Versioned,
};
use crate::{Entity, Version};

/// An in-memory store for tests and examples, and the reference for other
/// stores. Clones share the rows.
///
/// An unfiltered list in id order costs only its page. Any other list scans all
/// rows, because only the ids are indexed.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use stockade::prelude::*;
/// use stockade::rest::{Entity, ListQuery, MemoryStore, NewRow, Store, StoreError};
///
/// #[derive(Clone, Serialize, Deserialize, Schema)]
/// struct User {
///     id: i64,
///     email: String,
/// }
///
/// impl Entity for User {
///     type Id = i64;
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::<User>::new().unique("email");
/// let ada = NewRow::new([("email", json!("ada@example.org"))]);
/// store.create(ada.clone()).await?;
/// let taken = store.create(ada).await;
/// assert!(matches!(taken, Err(StoreError::Taken { field }) if field == "email"));
/// assert_eq!(store.list(&ListQuery::new("id", 20)).await?.items.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct MemoryStore<T: Entity> {
    table: Arc<RwLock<Table<T>>>,
    unique: Arc<[String]>,
    max_rows: usize,
    make_id: MakeId,
    canonical: Arc<Canonical>,
}

/// A function that converts a number to the JSON of an id.
type MakeId = Arc<dyn Fn(u64) -> Value + Send + Sync>;

impl<T: Entity + Clone> MemoryStore<T> {
    /// Creates an empty store for at most 10,000 rows.
    ///
    /// It generates ids from 1. They are integers, texts or UUIDs, depending on
    /// the id type.
    #[must_use]
    pub fn new() -> Self {
        Self {
            table: Arc::new(RwLock::new(Table::new())),
            unique: Arc::new([]),
            max_rows: 10_000,
            make_id: Arc::new(usual_id::<T>),
            canonical: Arc::new(Canonical::of::<T>()),
        }
    }

    /// Sets the function that generates ids. It receives each number once: 1,
    /// 2, and so on.
    #[must_use]
    pub fn ids(mut self, make: impl Fn(u64) -> T::Id + Send + Sync + 'static) -> Self {
        // An id that serde cannot serialize becomes null, which is rejected
        // when a row is created.
        self.make_id =
            Arc::new(move |number| serde_json::to_value(make(number)).unwrap_or(Value::Null));
        self
    }

    /// Rejects two rows with the same value in a field, unless it is null.
    #[must_use]
    pub fn unique(mut self, field: impl Into<String>) -> Self {
        self.unique = self.unique.iter().cloned().chain([field.into()]).collect();
        self
    }

    /// Sets the maximum number of rows. One more returns [`StoreError::Busy`].
    /// Default: 10,000.
    #[must_use]
    pub fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = rows;
        self
    }

    /// Adds items with their ids.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Store::create). Items before the
    /// failing one stay in the store.
    pub fn insert(&self, items: impl IntoIterator<Item = T>) -> Result<(), StoreError> {
        let mut table = self.write();
        items.into_iter().try_for_each(|item| {
            let json = json_of(&item)?;
            if self.canonical.is_empty() {
                return table.create(json, item, self).map(drop);
            }
            let (item, keys) = self.item_of(json)?;
            table.create(keys, item, self).map(drop)
        })
    }

    /// Deserializes an item, and returns it with the JSON for comparisons. A
    /// missing field is a bug in the program: a server field that no hook sets.
    fn item_of(&self, mut json: Value) -> Result<(T, Value), StoreError> {
        if let Value::Object(values) = &mut json {
            self.canonical.change(values);
            let misfits = self.canonical.misfits(values);
            if !misfits.is_empty() {
                return Err(StoreError::Invalid(misfits));
            }
        }
        let item = T::deserialize(&json).map_err(StoreError::failed)?;
        let mut keys = json_of(&item)?;
        if let Value::Object(keys) = &mut keys {
            self.canonical.change(keys);
            order::change_decimals(&self.canonical, keys);
        }
        Ok((item, keys))
    }

    /// Returns the canonical JSON of an id, for comparisons.
    fn id_of(&self, id: &T::Id) -> Result<Value, StoreError> {
        let id = self.canonical.value(T::ID, json_of(id)?);
        Ok(order::key_of(&self.canonical, T::ID, id))
    }

    fn scope_of<'s>(&self, scope: &'s RowFilter) -> Cow<'s, RowFilter> {
        order::scope_keys(&self.canonical, self.canonical.scope(scope))
    }

    fn read(&self) -> RwLockReadGuard<'_, Table<T>> {
        // Ignore poisoning: the last step of an update changes the table in one
        // call, so a panic leaves it intact.
        read(&self.table)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table<T>> {
        // Ignore poisoning, like `read`.
        write(&self.table)
    }
}

impl<T: Entity + Clone> Store<T> for MemoryStore<T> {
    async fn list(&self, query: &ListQuery) -> Result<Page<T>, StoreError> {
        let misfits = self.canonical.misfits_of(query);
        if !misfits.is_empty() {
            return Err(StoreError::Invalid(misfits));
        }
        let query = order::page_keys(&self.canonical, self.canonical.query(query));
        Ok(self.read().list(&query))
    }

    async fn get(&self, id: &T::Id, scope: &RowFilter) -> Result<Option<Versioned<T>>, StoreError> {
        Ok(self.read().get(&self.id_of(id)?, &self.scope_of(scope)))
    }

    async fn create(&self, draft: NewRow<T>) -> Result<Versioned<T>, StoreError> {
        let mut table = self.write();
        let mut json = draft.into_value();
        if json.get(T::ID).is_none() {
            json[T::ID] = table.next_id(&*self.make_id);
        }
        let (item, keys) = self.item_of(json)?;
        table.create(keys, item, self)
    }

    async fn replace(
        &self,
        id: &T::Id,
        draft: NewRow<T>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<Versioned<T>, StoreError> {
        let id = self.id_of(id)?;
        let mut table = self.write();
        let present = table.find(&id, expected, &self.scope_of(scope))?;
        let mut json = json_of(&present.value)?;
        if let Value::Object(json) = &mut json {
            for field in draft.fields().filter(|field| *field != T::ID) {
                match draft.get(field) {
                    Some(value) => drop(json.insert(field.to_owned(), value.clone())),
                    // Serde reads a missing field as null or its default.
                    None => drop(json.shift_remove(field)),
                }
            }
        }
        let (item, keys) = self.item_of(json)?;
        table.replace(id, keys, item, &self.unique)
    }

    async fn delete(
        &self,
        id: &T::Id,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<(), StoreError> {
        let id = self.id_of(id)?;
        let mut table = self.write();
        table.find(&id, expected, &self.scope_of(scope))?;
        table.delete(id);
        Ok(())
    }

    fn describe(&self, doc: &mut StoreDoc) {
        let decimals = doc
            .filters()
            .iter()
            .filter(|(field, ops)| ops.contains(&Op::Prefix) && self.canonical.is_decimal(field));
        let mistakes =
            decimals.map(|(field, _)| format!("{field} is a number, so it does not have prefixes"));
        let mistakes: Vec<String> = mistakes.collect();
        mistakes.into_iter().for_each(|mistake| doc.issue(mistake));
    }
}

impl<T: Entity + Clone> Default for MemoryStore<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Entity> Clone for MemoryStore<T> {
    fn clone(&self) -> Self {
        Self {
            table: Arc::clone(&self.table),
            unique: Arc::clone(&self.unique),
            max_rows: self.max_rows,
            make_id: Arc::clone(&self.make_id),
            canonical: Arc::clone(&self.canonical),
        }
    }
}

impl<T: Entity> fmt::Debug for MemoryStore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("unique", &self.unique).finish_non_exhaustive()
    }
}

/// Converts a number to an id that the id type can deserialize.
fn usual_id<T: Entity>(number: u64) -> Value {
    let uuid = format!("00000000-0000-4000-8000-{number:012x}");
    let forms = [json!(number), json!(number.to_string()), json!(uuid)];
    let mut readable =
        forms.into_iter().filter(|id| serde_json::from_value::<T::Id>(id.clone()).is_ok());
    // Other id types need `MemoryStore::ids`; null causes an error that names
    // it.
    readable.next().unwrap_or(Value::Null)
}

fn json_of(value: &impl serde::Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(StoreError::failed)
}

/// Returns the next version.
fn next(version: Version) -> Version {
    Version(version.0 + 1)
}
