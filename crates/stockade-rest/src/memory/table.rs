//! The rows of an in-memory store, ordered by id.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use serde_json::Value;

use stockade_errors::StoreError;

use super::order::{Key, compare, compare_keys, field, is_in, keys, passes};
use super::{MemoryStore, next};
use crate::Entity;
use crate::store::{Direction, ListQuery, Page, RowFilter, Version, VersionCheck, Versioned};

/// The rows of an in-memory store.
pub(super) struct Table<T> {
    rows: BTreeMap<Key, Row<T>>,
    /// The number of the last generated id.
    last_id: u64,
    /// The highest version of any row, including deleted ones. So a row that is
    /// created again with an old id never has an old version.
    last_version: Version,
}

/// An item with its canonical JSON for comparisons.
struct Row<T> {
    stored: Versioned<T>,
    json: Value,
}

impl<T: Entity + Clone> Table<T> {
    pub(super) fn new() -> Self {
        Self { rows: BTreeMap::new(), last_id: 0, last_version: Version(0) }
    }

    /// Generates an unused id.
    pub(super) fn next_id(&mut self, make: &dyn Fn(u64) -> Value) -> Value {
        loop {
            self.last_id += 1;
            let id = Key(make(self.last_id));
            // Null is rejected later; otherwise this loop would not end.
            if id.0.is_null() || !self.rows.contains_key(&id) {
                return id.0;
            }
        }
    }

    pub(super) fn get(&self, id: &Value, scope: &RowFilter) -> Option<Versioned<T>> {
        let row = self.rows.get(&Key(id.clone())).filter(|row| is_in(&row.json, scope))?;
        Some(row.stored.clone())
    }

    /// Returns an item that may be written.
    pub(super) fn find(
        &self,
        id: &Value,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<&Versioned<T>, StoreError> {
        let row = self.rows.get(&Key(id.clone())).filter(|row| is_in(&row.json, scope));
        let row = row.ok_or(StoreError::Missing)?;
        if expected.allows(row.stored.version) { Ok(&row.stored) } else { Err(StoreError::Changed) }
    }

    pub(super) fn create(
        &mut self,
        json: Value,
        item: T,
        store: &MemoryStore<T>,
    ) -> Result<Versioned<T>, StoreError> {
        let id = Key(field(&json, T::ID).clone());
        if id.0.is_null() {
            return Err(StoreError::failed("the item does not have an id: set `MemoryStore::ids`"));
        }
        if self.rows.contains_key(&id) {
            return Err(StoreError::taken(T::ID));
        }
        self.check_unique(&id, &json, &store.unique)?;
        if self.rows.len() >= store.max_rows {
            let full = format!("the memory store is full: {} rows", store.max_rows);
            return Err(StoreError::busy(Duration::from_secs(60), full));
        }
        Ok(self.put(id, json, item))
    }

    pub(super) fn replace(
        &mut self,
        id: Value,
        json: Value,
        item: T,
        unique: &[String],
    ) -> Result<Versioned<T>, StoreError> {
        let id = Key(id);
        self.check_unique(&id, &json, unique)?;
        Ok(self.put(id, json, item))
    }

    pub(super) fn delete(&mut self, id: Value) {
        self.rows.remove(&Key(id));
    }

    fn put(&mut self, id: Key, json: Value, value: T) -> Versioned<T> {
        // A new row gets a version higher than any before.
        let earlier = self.rows.get(&id).map(|row| row.stored.version);
        let version = next(earlier.unwrap_or(self.last_version));
        self.last_version = self.last_version.max(version);
        let stored = Versioned::new(value, version);
        self.rows.insert(id, Row { stored: stored.clone(), json });
        stored
    }

    fn check_unique(&self, id: &Key, json: &Value, unique: &[String]) -> Result<(), StoreError> {
        for name in unique {
            let value = field(json, name);
            let is_same = |row: &Row<T>| compare(field(&row.json, name), value).is_eq();
            let mut others = self.rows.iter().filter(|(known, _)| *known != id);
            if !value.is_null() && others.any(|(_, row)| is_same(row)) {
                return Err(StoreError::taken(name));
            }
        }
        Ok(())
    }

    pub(super) fn list(&self, query: &ListQuery) -> Page<T> {
        let total = query.count.map(|most| self.count(query, most));
        let (items, more) = match query.sorts.as_slice() {
            [only] if only.field == T::ID => self.in_order_of_id(query, only.direction),
            _ => self.sorted(query),
        };
        Page { total, ..Page::new(items, more) }
    }

    fn count(&self, query: &ListQuery, most: u64) -> u64 {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.rows.values().filter(|row| row.is_asked_for(query)).take(most).count() as u64
    }

    fn in_order_of_id(&self, query: &ListQuery, direction: Direction) -> (Vec<Versioned<T>>, bool) {
        let after = query.after.as_ref().and_then(|keys| keys.first());
        let bound = after.map_or(Bound::Unbounded, |key| Bound::Excluded(Key(key.clone())));
        match direction {
            Direction::Ascending => page(self.rows.range((bound, Bound::Unbounded)), query),
            Direction::Descending => page(self.rows.range((Bound::Unbounded, bound)).rev(), query),
        }
    }

    fn sorted(&self, query: &ListQuery) -> (Vec<Versioned<T>>, bool) {
        let is_behind = |row: &Row<T>| {
            let keys = keys(&row.json, &query.sorts);
            let after = query.after.as_ref();
            after.is_none_or(|after| compare_keys(keys, after.iter(), &query.sorts).is_gt())
        };
        let asked_for = |row: &&Row<T>| row.is_asked_for(query) && is_behind(row);
        let mut rows: Vec<&Row<T>> = self.rows.values().filter(asked_for).collect();
        rows.sort_by(|left, right| -> Ordering {
            compare_keys(
                keys(&left.json, &query.sorts),
                keys(&right.json, &query.sorts),
                &query.sorts,
            )
        });
        let more = rows.len() > query.limit;
        (rows.into_iter().take(query.limit).map(|row| row.stored.clone()).collect(), more)
    }
}

impl<T> Row<T> {
    /// Returns true if the row is in the scope and passes the filters.
    fn is_asked_for(&self, query: &ListQuery) -> bool {
        is_in(&self.json, &query.scope)
            && query.filters.iter().all(|filter| passes(&self.json, filter))
    }
}

/// Returns the first items of ordered rows, and whether there are more.
fn page<'r, T: Clone + 'r>(
    rows: impl Iterator<Item = (&'r Key, &'r Row<T>)>,
    query: &ListQuery,
) -> (Vec<Versioned<T>>, bool) {
    let mut rows = rows.map(|(_, row)| row).filter(|row| row.is_asked_for(query));
    let mut items = Vec::with_capacity(query.limit.min(100));
    items.extend(rows.by_ref().take(query.limit).map(|row| row.stored.clone()));
    (items, rows.next().is_some())
}
