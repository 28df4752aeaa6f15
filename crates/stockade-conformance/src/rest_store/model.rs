//! [`rest_store_operations`]: random operations that must have the same results
//! in a store as in the memory store.

use std::collections::HashMap;

use serde_json::{Value, json};
use stockade_errors::random::Random;
use stockade_rest::{
    Direction, Filter, ListQuery, MemoryStore, NewRow, Op, RowFilter, Sort, Store, StoreError,
    Version, VersionCheck, Versioned,
};

use super::item::TEXTS;
use super::{RestItem, failure_of};
use crate::fail::fail;

/// Runs the same random operations on an empty store and on a [`MemoryStore`],
/// and compares the results.
///
/// [`rest_store`](super::rest_store) uses one seed; more seeds find more
/// errors. The operations of a seed are the same in each run. Names must be
/// unique in the store.
///
/// ```
/// use stockade::rest::MemoryStore;
/// use stockade::testing::conformance;
///
/// # #[tokio::main]
/// # async fn main() {
/// for seed in 1..=3 {
///     let store = MemoryStore::new().unique("name");
///     conformance::rest_store_operations(store, seed, 200).await;
/// }
/// # }
/// ```
///
/// # Panics
/// Panics with the seed and the number of the operation if the results differ
/// or the store fails.
pub async fn rest_store_operations(store: impl Store<RestItem>, seed: u64, count: u64) {
    let model = MemoryStore::<RestItem>::new().unique("name");
    let (mut of_model, mut of_store) = (Versions::default(), Versions::default());
    for number in 1..=count {
        let random = || RandomValues::new(seed, number);
        let step = format!("seed {seed}, operation {number}");
        let expected = operate(&model, &mut of_model, random(), &step).await;
        let found = operate(&store, &mut of_store, random(), &step).await;
        if found != expected {
            fail(format!(
                "a store behaves like the memory store, {step}: expected {expected}, found {found}"
            ));
        }
    }
}

/// Random values of one operation, the same in each run.
struct RandomValues(Random);

impl RandomValues {
    fn new(seed: u64, number: u64) -> Self {
        Self(Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(number)))
    }

    fn text(&mut self) -> Value {
        json!(self.0.pick(TEXTS))
    }

    fn value(&mut self, field: &str) -> Value {
        match field {
            "id" => json!(self.0.index(30)),
            "price" => json!(self.0.index(5)),
            "rating" => json!(self.0.pick(&[0.0, -1.5, 0.1 + 0.2, 1e300, 3.0])),
            "open" => json!(self.0.one_in(2)),
            "owner" => json!(self.0.pick(&["ada", "bob", "Ada"])),
            _ => self.text(),
        }
    }

    fn draft(&mut self, id: Option<i64>) -> NewRow<RestItem> {
        const FIELDS: [&str; 5] = ["name", "price", "rating", "open", "owner"];
        let mut draft = NewRow::new(FIELDS.map(|field| (field, self.value(field))));
        if !self.0.one_in(3) {
            draft.set("category", self.text());
        }
        draft.set("tags", json!([self.text(), self.text()]));
        draft.set("extra", json!({ "at": self.0.index(9), "text": self.text() }));
        if let Some(id) = id {
            draft.set("id", id);
        }
        draft
    }

    fn scope(&mut self) -> RowFilter {
        match self.0.index(4) {
            0 => RowFilter::eq("owner", self.value("owner")),
            1 => RowFilter::eq("owner", self.value("owner")).and_eq("open", self.value("open")),
            _ => RowFilter::all(),
        }
    }

    fn filter(&mut self) -> Filter {
        let field = self.0.pick(&["id", "name", "price", "rating", "category", "open", "owner"]);
        let op = match field {
            "name" | "category" | "owner" => self.0.pick(&Op::ALL),
            _ => self.0.pick(&[Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte, Op::Null]),
        };
        let count = 1 + self.0.index(3);
        let value = |random: &mut Self| match op {
            Op::Null => json!(random.0.one_in(2)),
            _ => random.value(field),
        };
        let values = (0..count).map(|_| value(self)).collect();
        Filter { field: field.to_owned(), op, values }
    }

    fn direction(&mut self) -> Direction {
        if self.0.one_in(2) { Direction::Ascending } else { Direction::Descending }
    }

    fn query(&mut self) -> ListQuery {
        let mut fields = vec!["name", "price", "rating", "open", "owner"];
        let mut sorts = Vec::new();
        for _ in 0..self.0.index(3) {
            let field = fields.remove(self.0.index(fields.len()));
            sorts.push(Sort { field: field.to_owned(), direction: self.direction() });
        }
        sorts.push(Sort { field: "id".to_owned(), direction: self.direction() });
        let after =
            self.0.one_in(2).then(|| sorts.iter().map(|sort| self.value(&sort.field)).collect());
        let filters = (0..self.0.index(3)).map(|_| self.filter()).collect();
        let count = self.0.one_in(3).then(|| self.0.pick(&[0, 1, 3, 10, 19]));
        let limit = 1 + self.0.index(6);
        ListQuery {
            filters,
            sorts,
            after,
            count,
            scope: self.scope(),
            ..ListQuery::new("id", limit)
        }
    }
}

/// The versions of a store, which differ between stores.
#[derive(Default)]
struct Versions(HashMap<i64, Vec<Version>>);

impl Versions {
    /// Returns a current or earlier version of the row.
    fn expected(&self, id: i64, choice: usize) -> VersionCheck {
        let versions = self.0.get(&id).map_or(&[][..], Vec::as_slice);
        match choice {
            0 => VersionCheck::Any,
            1 => versions.last().map_or(VersionCheck::Any, |it| VersionCheck::Version(*it)),
            _ => versions.first().map_or(VersionCheck::Any, |it| VersionCheck::Version(*it)),
        }
    }

    /// Records the version of a write, which must be new.
    fn record(&mut self, outcome: Result<Versioned<RestItem>, StoreError>, step: &str) -> String {
        if let Ok(stored) = &outcome {
            let versions = self.0.entry(stored.value.id).or_default();
            if versions.contains(&stored.version) {
                let (id, version) = (stored.value.id, stored.version);
                fail(format!(
                    "each write creates a new version, {step}: duplicate {version} of {id}"
                ));
            }
            versions.push(stored.version);
        }
        formatted(outcome.map(|stored| stored.value), step)
    }
}

/// Formats an outcome without values that differ between stores.
fn formatted<T: std::fmt::Debug>(outcome: Result<T, StoreError>, step: &str) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error @ (StoreError::Failed(_) | StoreError::Busy { .. })) => {
            fail(format!("{step}: the store failed: {}", failure_of(&error)))
        }
        Err(error) => error.to_string(),
    }
}

/// Runs one operation and formats its outcome.
async fn operate(
    store: &impl Store<RestItem>,
    versions: &mut Versions,
    mut random: RandomValues,
    step: &str,
) -> String {
    let id = random.0.pick(&IDS);
    match random.0.index(10) {
        0..3 => {
            let draft = random.draft(Some(id));
            format!("create {}", versions.record(store.create(draft).await, step))
        }
        3..5 => {
            let (draft, scope) = (random.draft(None), random.scope());
            let expected = versions.expected(id, random.0.index(3));
            let outcome = store.replace(&id, draft, expected, &scope).await;
            format!("replace {id} {}", versions.record(outcome, step))
        }
        5 => {
            let expected = versions.expected(id, random.0.index(3));
            let outcome = store.delete(&id, expected, &random.scope()).await;
            format!("delete {id} {}", formatted(outcome, step))
        }
        6 => {
            let outcome = store.get(&id, &random.scope()).await;
            format!("get {id} {}", formatted(outcome.map(|found| found.map(|it| it.value)), step))
        }
        _ => {
            let list_query = random.query();
            let page = store.list(&list_query).await.map(|page| {
                let items: Vec<_> = page.items.into_iter().map(|item| item.value).collect();
                (items, page.more, page.total)
            });
            format!("list {list_query:?} {}", formatted(page, step))
        }
    }
}

/// The ids of all items, few enough for operations to conflict.
const IDS: [i64; 30] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29,
];
