//! Random operations, which every store answers as the memory store does.

use std::collections::HashMap;

use serde_json::{Value, json};
use stockade_rest::{
    Ask, Direction, Draft, Expected, Filter, Op, Scope, Sort, StoreError, Stored, Version,
};

use crate::engines::{self, Items};
use crate::item::{Item, TEXTS};

/// A generator of numbers, the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    fn of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    fn is_one_of(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn text(&mut self) -> Value {
        json!(self.of(TEXTS))
    }

    fn value(&mut self, field: &str) -> Value {
        match field {
            "id" => json!(self.below(30)),
            "price" => json!(self.below(5)),
            "rating" => json!(self.of(&[0.0, -1.5, 0.1 + 0.2, 1e300, 3.0])),
            "open" => json!(self.is_one_of(2)),
            "owner" => json!(self.of(&["ada", "bob", "Ada"])),
            _ => self.text(),
        }
    }

    fn draft(&mut self, id: Option<usize>) -> Draft<Item> {
        const FIELDS: [&str; 5] = ["name", "price", "rating", "open", "owner"];
        let mut draft = Draft::new(FIELDS.map(|field| (field, self.value(field))));
        if !self.is_one_of(3) {
            draft.set("category", self.text());
        }
        draft.set("tags", json!([self.text(), self.text()]));
        draft.set("extra", json!({ "at": self.below(9), "text": self.text() }));
        if let Some(id) = id {
            draft.set("id", id);
        }
        draft
    }

    fn scope(&mut self) -> Scope {
        match self.below(4) {
            0 => Scope::eq("owner", self.value("owner")),
            1 => Scope::eq("owner", self.value("owner")).and_eq("open", self.value("open")),
            _ => Scope::all(),
        }
    }

    fn filter(&mut self) -> Filter {
        let field = *self.of(&["id", "name", "price", "rating", "category", "open", "owner"]);
        let op = match field {
            "name" | "category" | "owner" => *self.of(&Op::ALL),
            _ => *self.of(&[Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte, Op::Null]),
        };
        let count = 1 + self.below(3);
        let value = |random: &mut Self| match op {
            Op::Null => json!(random.is_one_of(2)),
            _ => random.value(field),
        };
        let values = (0..count).map(|_| value(self)).collect();
        Filter { field: field.to_owned(), op, values }
    }

    fn ask(&mut self) -> Ask {
        let direction = |random: &mut Self| {
            if random.is_one_of(2) { Direction::Ascending } else { Direction::Descending }
        };
        let mut fields: Vec<&str> = vec!["name", "price", "rating", "open", "owner"];
        let mut sorts = Vec::new();
        for _ in 0..self.below(3) {
            let field = fields.remove(self.below(fields.len()));
            sorts.push(Sort { field: field.to_owned(), direction: direction(self) });
        }
        sorts.push(Sort { field: "id".to_owned(), direction: direction(self) });
        let after =
            self.is_one_of(2).then(|| sorts.iter().map(|sort| self.value(&sort.field)).collect());
        let filters = (0..self.below(3)).map(|_| self.filter()).collect();
        let count = self.is_one_of(3).then(|| u64::try_from(self.below(20)).unwrap());
        let limit = 1 + self.below(6);
        Ask { filters, sorts, after, count, scope: self.scope(), ..Ask::new("id", limit) }
    }
}

/// The versions of a store, which differ from those of another one.
#[derive(Default)]
struct Versions(HashMap<i64, Vec<Version>>);

impl Versions {
    /// Returns a version that the row has or had.
    fn expected(&self, id: i64, choice: usize) -> Expected {
        let versions = self.0.get(&id).map_or(&[][..], Vec::as_slice);
        match choice {
            0 => Expected::Any,
            1 => versions.last().map_or(Expected::Any, |it| Expected::Version(*it)),
            _ => versions.first().map_or(Expected::Any, |it| Expected::Version(*it)),
        }
    }

    fn shown(&mut self, outcome: Result<Stored<Item>, StoreError>) -> String {
        if let Ok(stored) = &outcome {
            self.0.entry(stored.value.id).or_default().push(stored.version);
        }
        shown(outcome.map(|stored| stored.value))
    }
}

fn shown<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(StoreError::Failed(source)) => panic!("{source}"),
        Err(error) => error.to_string(),
    }
}

/// Runs one operation, and shows its outcome.
async fn step(store: &impl Items, versions: &mut Versions, mut random: Random) -> String {
    let id = i64::try_from(random.below(30)).unwrap();
    match random.below(10) {
        0..3 => {
            let draft = random.draft(Some(usize::try_from(id).unwrap()));
            format!("create {}", versions.shown(store.create(draft).await))
        }
        3..5 => {
            let (draft, scope) = (random.draft(None), random.scope());
            let expected = versions.expected(id, random.below(3));
            let outcome = store.replace(&id, draft, expected, &scope).await;
            format!("replace {id} {}", versions.shown(outcome))
        }
        5 => {
            let expected = versions.expected(id, random.below(3));
            format!("delete {id} {}", shown(store.delete(&id, expected, &random.scope()).await))
        }
        6 => {
            let outcome = store.get(&id, &random.scope()).await;
            format!("get {id} {}", shown(outcome.map(|found| found.map(|it| it.value))))
        }
        _ => {
            let ask = random.ask();
            let page = store.list(&ask).await.map(|page| {
                let items: Vec<_> = page.items.into_iter().map(|item| item.value).collect();
                (items, page.more, page.total)
            });
            format!("list {ask:?} {}", shown(page))
        }
    }
}

async fn compare(store: impl Items, steps: u64) {
    let model = engines::memory().store;
    let (mut of_model, mut of_store) = (Versions::default(), Versions::default());
    for seed in 1..=steps {
        let random = || Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let expected = step(&model, &mut of_model, random()).await;
        let found = step(&store, &mut of_store, random()).await;
        assert_eq!(found, expected, "step {seed}");
    }
}

#[tokio::test]
async fn sqlite_does_what_the_memory_store_does() {
    let engine = engines::sqlite().await;
    compare(engine.store, 2_000).await;
}

#[tokio::test]
async fn a_driver_of_its_own_does_what_the_memory_store_does() {
    let engine = engines::own().await;
    compare(engine.store, 10_000).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn postgres_does_what_the_memory_store_does() {
    if let Some(store) = engines::postgres::items(&engines::postgres::few()).await {
        compare(store, 3_000).await;
    }
}
