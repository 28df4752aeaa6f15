//! Promises of each store, without a resource in front of it: concurrent writes, and
//! random operations against the memory store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stockade::prelude::*;
use stockade::rest::{
    Ask, Direction, Draft, Expected, Filter, MemoryStore, Op, Scope, Sort, Store, StoreError,
    Stored, Version,
};
use stockade::testing::TestClient;

use super::suite::{Item, item, router};

/// Changes `rows` items by `writes` concurrent PATCHes, each of which adds one to a price
/// at the version that it has read, and finds each of them in the end.
pub(crate) async fn no_update_is_lost<S: Store<Item> + Clone>(
    store: S,
    rows: usize,
    writes: usize,
) {
    let client = Arc::new(TestClient::new(router(store)).with_bearer("ada"));
    let mut places = Vec::new();
    for row in 0..rows {
        let made = client.post("/items").json(item(&format!("item {row}"), 0)).await;
        places.push(made.header("location").unwrap());
    }
    let places = Arc::new(places);
    let (next, refused) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut tasks = Vec::new();
    for _ in 0..16 {
        let (client, places) = (Arc::clone(&client), Arc::clone(&places));
        let (next, refused) = (Arc::clone(&next), Arc::clone(&refused));
        tasks.push(tokio::spawn(async move {
            loop {
                let write = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap();
                if write >= writes {
                    return;
                }
                let place = &places[write % places.len()];
                loop {
                    let read = client.get(place).await;
                    let price = read.json::<Value>()["price"].as_u64().unwrap();
                    // A change that another task may make meanwhile.
                    tokio::task::yield_now().await;
                    let change = client.patch(place).json(json!({ "price": price + 1 }));
                    let change = change.header("if-match", read.header("etag").unwrap());
                    match change.await.status().as_u16() {
                        200 => break,
                        412 => drop(refused.fetch_add(1, Ordering::Relaxed)),
                        status => panic!("{status}"),
                    }
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let mut sum = 0;
    for place in places.iter() {
        sum += client.get(place).await.json::<Value>()["price"].as_u64().unwrap();
    }
    assert_eq!(sum, writes as u64);
    assert!(refused.load(Ordering::Relaxed) > 0 || rows > 1, "no two writes met");
}

#[test]
fn no_update_of_the_memory_store_is_lost() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(4).enable_time();
    let runtime = runtime.build().unwrap();
    let store = || MemoryStore::new().unique("name");
    runtime.block_on(no_update_is_lost(store(), 1, 500));
    runtime.block_on(no_update_is_lost(store(), 100, 5_000));
}

/// Numbers that look random, and are the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Source: Vigna, "An experimental exploration of Marsaglia's xorshift generators".
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

const TEXTS: [&str; 12] = [
    "a",
    "b",
    "ab",
    "B",
    "é",
    "'; DROP TABLE items; --",
    "%",
    "_a",
    "a b",
    "\u{1f375}",
    "0",
    "null",
];

fn draft(random: &mut Random) -> Draft<Item> {
    let text = |random: &mut Random| json!(*random.pick(&TEXTS));
    let category = if random.below(3) == 0 { Value::Null } else { text(random) };
    Draft::new([
        ("name", json!(format!("{} {}", random.pick(&TEXTS), random.below(40)))),
        ("price", json!(random.below(5))),
        ("weight", json!(*random.pick(&[-1.5, 0.0, 0.25, 1e6]))),
        ("category", category),
        ("sold_out", json!(random.below(2) == 0)),
        ("size", json!(*random.pick(&["small", "large"]))),
        ("tags", json!(vec![text(random); usize::try_from(random.below(3)).unwrap()])),
        ("owner", json!(*random.pick(&["ada", "bob"]))),
        ("secret", Value::Null),
    ])
}

fn question(random: &mut Random, known: &[Item]) -> Ask {
    let mut ask = Ask::new("id", usize::try_from(1 + random.below(7)).unwrap());
    ask.sorts.clear();
    let direction = |random: &mut Random| {
        if random.below(2) == 0 { Direction::Ascending } else { Direction::Descending }
    };
    for field in ["price", "name", "weight", "sold_out", "size"] {
        if ask.sorts.len() < 3 && random.below(4) == 0 {
            ask.sorts.push(Sort { field: field.to_owned(), direction: direction(random) });
        }
    }
    ask.sorts.push(Sort { field: "id".to_owned(), direction: direction(random) });
    if !known.is_empty() && random.below(2) == 0 {
        let item = serde_json::to_value(random.pick(known)).unwrap();
        ask.after = Some(ask.sorts.iter().map(|sort| item[&sort.field].clone()).collect());
    }
    for _ in 0..random.below(3) {
        let (field, ops): (&str, &[Op]) = *random.pick(&[
            ("price", &[Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte][..]),
            ("weight", &[Op::Lt, Op::Gte]),
            ("name", &[Op::Prefix, Op::Lt, Op::Gte]),
            ("category", &[Op::Eq, Op::Prefix]),
        ]);
        let value = match field {
            "price" => json!(random.below(5)),
            "weight" => json!(0.25),
            _ => json!(*random.pick(&TEXTS)),
        };
        let op = *random.pick(ops);
        let mut values = vec![value];
        if op == Op::Eq && random.below(2) == 0 {
            values.push(if field == "price" { json!(1) } else { json!("a") });
        }
        ask.filters.push(Filter { field: field.to_owned(), op, values });
    }
    if random.below(4) == 0 {
        let values = vec![json!(random.below(2) == 0)];
        ask.filters.push(Filter { field: "category".to_owned(), op: Op::Null, values });
    }
    ask.count = (random.below(3) == 0).then_some(3);
    ask.scope = scope(random);
    ask
}

fn scope(random: &mut Random) -> Scope {
    match random.below(3) {
        0 => Scope::eq("owner", "ada"),
        1 => Scope::eq("owner", "ada").and_eq("sold_out", false),
        _ => Scope::all(),
    }
}

fn outcome<T>(outcome: Result<T, StoreError>) -> Result<T, String> {
    outcome.map_err(|error| match error {
        StoreError::Taken { .. } => "taken".to_owned(),
        StoreError::Busy { .. } | StoreError::Failed(_) => panic!("{error}: {error:?}"),
        error => error.to_string(),
    })
}

/// Does the same random operations on a store and on the memory store, with the same
/// outcomes. Both are empty, and names are unique in both.
pub(crate) async fn random_operations<S: Store<Item>>(store: S, seed: u64, count: usize) {
    let model = MemoryStore::<Item>::new().unique("name");
    let mut random = Random(seed);
    // The ids of the store by those of the model, with their versions.
    let mut known: Vec<(Stored<Item>, Stored<Item>)> = Vec::new();
    for step in 0..count {
        let place = format!("seed {seed}, step {step}");
        let at = usize::try_from(random.below(known.len().max(1) as u64)).unwrap();
        match random.below(8) {
            0..=2 => {
                let draft = draft(&mut random);
                let made = outcome(store.create(draft.clone()).await);
                match (made, outcome(model.create(draft).await)) {
                    (Ok(made), Ok(expected)) => {
                        same(&made.value, &expected.value, &place);
                        known.push((made, expected));
                    }
                    (made, expected) => {
                        assert_eq!(made.map(drop), expected.map(drop), "{place}");
                    }
                }
            }
            3 | 4 if !known.is_empty() => {
                let (draft, scope) = (draft(&mut random), scope(&mut random));
                let is_bound = random.below(2) == 0;
                let is_stale = random.below(4) == 0;
                let expected = |stored: &Stored<Item>| match (is_bound, is_stale) {
                    (false, _) => Expected::Any,
                    (true, false) => Expected::Version(stored.version),
                    (true, true) => Expected::Version(Version(stored.version.0 + 1_000)),
                };
                let (ours, theirs) = &known[at];
                let (id, model_id) = (ours.value.id, theirs.value.id);
                let (first, second) = (expected(ours), expected(theirs));
                let done = outcome(store.replace(&id, draft.clone(), first, &scope).await);
                let model = outcome(model.replace(&model_id, draft, second, &scope).await);
                match (done, model) {
                    (Ok(done), Ok(expected)) => {
                        same(&done.value, &expected.value, &place);
                        assert_ne!(done.version, known[at].0.version, "{place}");
                        known[at] = (done, expected);
                    }
                    (done, expected) => {
                        assert_eq!(done.map(drop), expected.map(drop), "{place}");
                    }
                }
            }
            5 if !known.is_empty() => {
                let scope = scope(&mut random);
                let (ours, theirs) = &known[at];
                let expected = Expected::Version(ours.version);
                let done = outcome(store.delete(&ours.value.id, expected, &scope).await);
                let expected = Expected::Version(theirs.version);
                let model = outcome(model.delete(&theirs.value.id, expected, &scope).await);
                assert_eq!(done, model, "{place}");
                if done.is_ok() {
                    known.remove(at);
                }
            }
            6 if !known.is_empty() => {
                let scope = scope(&mut random);
                let (ours, theirs) = &known[at];
                let got = store.get(&ours.value.id, &scope).await.unwrap();
                let expected = model.get(&theirs.value.id, &scope).await.unwrap();
                assert_eq!(got.is_some(), expected.is_some(), "{place}");
                if let (Some(got), Some(expected)) = (got, expected) {
                    assert_eq!(&got, ours, "{place}");
                    same(&got.value, &expected.value, &place);
                }
            }
            _ => {
                // Ids may be others, but come in the same order.
                let of = |index: usize| {
                    move |pair: &(Stored<Item>, Stored<Item>)| {
                        if index == 0 { pair.0.value.clone() } else { pair.1.value.clone() }
                    }
                };
                let state = random.0;
                let ours: Vec<Item> = known.iter().map(of(0)).collect();
                let page = store.list(&question(&mut random, &ours)).await.unwrap();
                random.0 = state;
                let theirs: Vec<Item> = known.iter().map(of(1)).collect();
                let ask = question(&mut random, &theirs);
                let expected = model.list(&ask).await.unwrap();
                let names = |items: &[Stored<Item>]| -> Vec<String> {
                    items.iter().map(|item| item.value.name.clone()).collect()
                };
                let place = format!("{place}: {ask:?}");
                assert_eq!(names(&page.items), names(&expected.items), "{place}");
                assert_eq!((page.more, page.total), (expected.more, expected.total), "{place}");
            }
        }
    }
}

#[track_caller]
fn same(ours: &Item, theirs: &Item, place: &str) {
    assert_eq!(Item { id: 0, ..ours.clone() }, Item { id: 0, ..theirs.clone() }, "{place}");
}

#[test]
fn the_memory_store_is_its_own_model() {
    for seed in 1..20 {
        crate::support::block_on(random_operations(MemoryStore::new().unique("name"), seed, 200));
    }
}
