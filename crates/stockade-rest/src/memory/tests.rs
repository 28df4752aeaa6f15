//! Tests of the in-memory store: pages, versions, rejections.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_errors::StoreError;
use stockade_validation::Schema;

use super::MemoryStore;
use crate::Entity;
use crate::store::{
    Direction, Filter, ListQuery, NewRow, Op, RowFilter, Sort, Store, Version, VersionCheck,
};

#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
struct Tea {
    id: i64,
    name: String,
    price: u32,
    origin: Option<String>,
    #[serde(default)]
    owner: String,
}

impl Entity for Tea {
    type Id = i64;
}

fn draft(name: &str, price: u32) -> NewRow<Tea> {
    NewRow::new([("name", json!(name)), ("price", json!(price)), ("origin", Value::Null)])
}

async fn filled() -> MemoryStore<Tea> {
    let store = MemoryStore::new().unique("name");
    for (name, price) in [("b", 2), ("a", 2), ("d", 1), ("c", 3)] {
        store.create(draft(name, price)).await.unwrap();
    }
    store
}

async fn names(store: &MemoryStore<Tea>, query: &ListQuery) -> (String, bool) {
    let page = store.list(query).await.unwrap();
    (page.items.into_iter().map(|tea| tea.value.name).collect(), page.more)
}

fn by(sorts: &[(&str, Direction)]) -> Vec<Sort> {
    let sort =
        |(field, direction): &(&str, _)| Sort { field: (*field).to_owned(), direction: *direction };
    sorts.iter().map(sort).collect()
}

#[tokio::test]
async fn pages_continue_after_the_keys() {
    use Direction::{Ascending, Descending};

    let store = filled().await;
    let mut query = ListQuery::new("id", 3);
    assert_eq!(names(&store, &query).await, ("bad".to_owned(), true));
    query.after = Some(vec![json!(3)]);
    assert_eq!(names(&store, &query).await, ("c".to_owned(), false));
    query.sorts = by(&[("id", Descending)]);
    assert_eq!(names(&store, &query).await, ("ab".to_owned(), false));
    query.sorts = by(&[("price", Ascending), ("id", Ascending)]);
    query.after = Some(vec![json!(2), json!(1)]);
    assert_eq!(names(&store, &query).await, ("ac".to_owned(), false));
    query.sorts = by(&[("price", Descending), ("name", Ascending), ("id", Ascending)]);
    query.after = None;
    assert_eq!(names(&store, &query).await, ("cab".to_owned(), true));
    query.count = Some(3);
    query.scope = RowFilter::eq("price", 2);
    let page = store.list(&query).await.unwrap();
    assert_eq!((page.items.len(), page.total), (2, Some(2)));
    query.scope = RowFilter::all();
    assert_eq!(store.list(&query).await.unwrap().total, Some(3));
    let values = vec![json!("a"), json!("c")];
    query.filters = vec![Filter { field: "name".into(), op: Op::Eq, values }];
    assert_eq!(names(&store, &query).await, ("ca".to_owned(), false));
}

#[tokio::test]
async fn writes_are_done_at_one_version() {
    let store = filled().await;
    let Version(first) = store.get(&1, &RowFilter::all()).await.unwrap().unwrap().version;
    let expected = VersionCheck::Version(Version(first));
    let changed = store.replace(&1, draft("e", 9), expected, &RowFilter::all()).await.unwrap();
    assert_eq!((changed.value.price, changed.version > Version(first)), (9, true));
    let again = store.replace(&1, draft("e", 9), expected, &RowFilter::all()).await;
    assert!(matches!(again, Err(StoreError::Changed)));
    let again = store.delete(&1, expected, &RowFilter::all()).await;
    assert!(matches!(again, Err(StoreError::Changed)));
    store.delete(&1, VersionCheck::Version(changed.version), &RowFilter::all()).await.unwrap();
    let gone = store.delete(&1, VersionCheck::Any, &RowFilter::all()).await;
    assert!(matches!(gone, Err(StoreError::Missing)));

    // The item is created again with a version that it never had before.
    let mut back = draft("e", 9);
    back.set("id", 1);
    assert!(store.create(back).await.unwrap().version > changed.version);
}

#[tokio::test]
async fn rejected_writes_change_nothing() {
    let store = filled().await;
    let before = store.list(&ListQuery::new("id", 9)).await.unwrap().items;
    let taken = |outcome: Result<_, _>| matches!(outcome, Err(StoreError::Taken { field }) if field == "name");
    assert!(taken(store.create(draft("a", 1)).await));
    assert!(taken(store.replace(&1, draft("a", 1), VersionCheck::Any, &RowFilter::all()).await));
    let other =
        store.replace(&1, draft("z", 1), VersionCheck::Any, &RowFilter::eq("price", 7)).await;
    assert!(matches!(other, Err(StoreError::Missing)));
    let other = store.delete(&1, VersionCheck::Any, &RowFilter::eq("origin", Value::Null)).await;
    assert!(matches!(other, Err(StoreError::Missing)));
    let broken = store.create(NewRow::new([("name", json!("x"))])).await;
    assert!(matches!(broken, Err(StoreError::Failed(_))));
    let mut twice = draft("x", 1);
    twice.set("id", 2);
    let twice = store.create(twice).await;
    assert!(matches!(twice, Err(StoreError::Taken { field }) if field == "id"));
    assert_eq!(store.list(&ListQuery::new("id", 9)).await.unwrap().items, before);

    let full = store.clone().max_rows(4).create(draft("x", 1)).await;
    assert!(matches!(full, Err(StoreError::Busy { .. })));
}

#[tokio::test]
async fn fields_outside_of_a_draft_are_preserved() {
    let store = MemoryStore::<Tea>::new();
    let mut first = draft("a", 1);
    first.set("owner", "ada");
    first.set("origin", "Assam");
    store.create(first).await.unwrap();
    let changed =
        store.replace(&1, draft("b", 1), VersionCheck::Any, &RowFilter::all()).await.unwrap();
    assert_eq!((&*changed.value.owner, changed.value.origin), ("ada", None));
}

#[test]
fn generates_ids_that_their_type_can_read() {
    assert_eq!(super::usual_id::<Tea>(7), json!(7));
}
