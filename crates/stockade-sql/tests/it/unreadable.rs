//! Tests unreadable rows: the log names them, and a list can skip them.

use http::Method;
use log::Level;
use serde_json::json;
use stockade_errors::ApiError;
use stockade_rest::{
    Access, Direction, ListQuery, Op, Resource, RowFilter, Sort, Store, StoreError, VersionCheck,
};
use stockade_routing::{App, RouteTree, RouterOptions, create_router};
use stockade_sql::rusqlite::Connection;
use stockade_sql::{SqlStore, Sqlite};

use crate::engines::{self, Engine};
use crate::item::{Item, draft};
use crate::refused::{LINES, listen};
use crate::requests::send;

type Items = SqlStore<Item, Sqlite>;

/// Creates five items and changes them with another program's statements.
async fn changed(sql: &str) -> Engine<Items> {
    let engine = engines::sqlite().await;
    for index in 1..=5 {
        engine.store.create(draft(&format!("n{index}"), index, "ada")).await.unwrap();
    }
    Connection::open(engine.path()).unwrap().execute_batch(sql).unwrap();
    engine
}

/// Returns the full text of an error, as in the log.
fn text_of(error: StoreError) -> String {
    assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
    let error = ApiError::from(error);
    assert_eq!(error.status(), 500);
    let mut text = String::new();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        text.push_str(&error.to_string());
        text.push('\n');
        source = error.source();
    }
    text
}

#[tokio::test]
async fn an_error_names_the_row_and_the_column() {
    for (value, column) in [
        ("price = -7", "price"),
        ("price = 5000000000", "price"),
        ("rating = 9e999", "rating"),
        ("open = 2", "open"),
        ("tags = '{}'", "tags"),
        ("tags = '[1]'", "tags"),
        // SQLite itself cannot write this as JSON.
        ("tags = 'a,b'", "tags"),
        ("extra = '{'", "extra"),
    ] {
        let engine = changed(&format!("UPDATE items SET {value} WHERE id = 3")).await;
        let expected = format!("\"items\": the row 3 cannot be read, column \"{column}\": ");
        let listed = engine.store.list(&ListQuery::new("id", 9)).await;
        let text = text_of(listed.map(|page| page.items.len()).unwrap_err());
        assert!(text.contains(&expected), "{value}: {text}");
        let got = engine.store.get(&3, &RowFilter::all()).await;
        let text = text_of(got.unwrap_err());
        assert!(text.contains(&expected), "{value}: {text}");
        // Other rows are available, and a write repairs the row.
        assert!(engine.store.get(&2, &RowFilter::all()).await.unwrap().is_some());
        let repaired = engine
            .store
            .replace(&3, draft("n3", 3, "ada"), VersionCheck::Any, &RowFilter::all())
            .await;
        assert_eq!(repaired.unwrap().value.price, 3, "{value}");
        assert_eq!(engine.store.list(&ListQuery::new("id", 9)).await.unwrap().items.len(), 5);
    }
}

#[tokio::test]
async fn a_blob_in_an_old_table_is_named() {
    let table = "DROP TABLE items; CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
        price INTEGER NOT NULL, rating REAL NOT NULL, category TEXT, open INTEGER NOT NULL,
        owner TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '[]', extra TEXT,
        version INTEGER NOT NULL DEFAULT 1);
        INSERT INTO items (id, name, price, rating, open, owner)
        VALUES (1, 'a', 1, 1, 1, ''), (2, x'ff', 1, 1, 1, '')";
    let engine = changed(table).await;
    let text = text_of(engine.store.list(&ListQuery::new("id", 9)).await.map(drop).unwrap_err());
    assert!(text.contains("the row 2 cannot be read, column \"name\": "), "{text}");
}

async fn ids(store: &Items, mut list_query: ListQuery) -> (Vec<i64>, u64) {
    let (mut ids, mut skipped) = (Vec::new(), 0);
    loop {
        let page = store.list(&list_query).await.unwrap();
        ids.extend(page.items.iter().map(|item| item.value.id));
        skipped += page.skipped;
        assert!(!page.more || !page.items.is_empty());
        match page.items.last() {
            Some(last) if page.more => {
                let last = serde_json::to_value(&last.value).unwrap();
                list_query.after =
                    Some(list_query.sorts.iter().map(|sort| last[&sort.field].clone()).collect());
            }
            _ => return (ids, skipped),
        }
    }
}

#[tokio::test]
async fn a_list_can_skip_unreadable_rows() {
    listen();
    let sql = "UPDATE items SET price = -1 WHERE id = 2; UPDATE items SET tags = 'x' WHERE id = 4";
    let engine = changed(sql).await;
    let store = engine.store.clone().skip_unreadable(true);
    let page = store.list(&ListQuery { count: Some(9), ..ListQuery::new("id", 9) }).await.unwrap();
    let found: Vec<i64> = page.items.iter().map(|item| item.value.id).collect();
    assert_eq!((found, page.skipped, page.more, page.total), (vec![1, 3, 5], 2, false, Some(5)));
    let is_named = |(level, line): &(Level, String)| {
        *level == Level::Error
            && line.starts_with("\"items\": the row 4 cannot be read, column \"tags\": ")
    };
    assert!(LINES.get().iter().any(is_named));
    let got = store.get(&2, &RowFilter::all()).await;
    assert!(matches!(got, Err(StoreError::Failed(_))), "{got:?}");

    for limit in 1..=5 {
        for direction in [Direction::Ascending, Direction::Descending] {
            let mut expected = vec![1, 3, 5];
            if direction == Direction::Descending {
                expected.reverse();
            }
            let sorts = vec![Sort { field: "id".to_owned(), direction }];
            let (found, _) = ids(&store, ListQuery { sorts, ..ListQuery::new("id", limit) }).await;
            assert_eq!(found, expected, "{limit} {direction:?}");
        }
    }
}

#[tokio::test]
async fn a_page_continues_after_many_unreadable_rows() {
    let many = "WITH RECURSIVE n(n) AS (SELECT 6 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
        INSERT INTO items (id, name, price, rating, open, owner)
        SELECT n, 'm' || n, -1, 1, 1, '' FROM n;
        INSERT INTO items (id, name, price, rating, open, owner) VALUES (301, 'z', 1, 1, 1, '')";
    let engine = changed(many).await;
    let store = engine.store.clone().skip_unreadable(true);
    for limit in [1, 4, 5, 6, 100] {
        assert_eq!(
            ids(&store, ListQuery::new("id", limit)).await.0,
            [1, 2, 3, 4, 5, 301],
            "{limit}"
        );
    }
    let all = changed("UPDATE items SET price = -1").await;
    let store = all.store.clone().skip_unreadable(true);
    let page = store.list(&ListQuery::new("id", 2)).await.unwrap();
    assert_eq!((page.items.len(), page.more, page.skipped), (0, false, 5));
}

fn app(store: impl Store<Item>) -> App {
    let open = || Access::public("a test");
    let items = Resource::new("item", store)
        .filter("name")
        .filter("id")
        .filter_by("price", [Op::Lt])
        .read(open())
        .write(open());
    let tree = RouteTree::new().segment("items", items.routes());
    create_router(tree, RouterOptions::new()).build().unwrap()
}

#[tokio::test]
async fn a_response_contains_the_number_of_skipped_rows() {
    let engine = changed("UPDATE items SET price = -1 WHERE id > 1").await;
    let failed = send(&app(engine.store.clone()), Method::GET, "/items").await;
    assert_eq!(failed.status, 500);
    let skipping = app(engine.store.clone().skip_unreadable(true));
    let found = send(&skipping, Method::GET, "/items").await;
    assert_eq!(found.status, 200);
    let page = found.body;
    assert_eq!((page["items"].as_array().unwrap().len(), &page["skipped"]), (1, &json!(4)));
    let page = send(&skipping, Method::GET, "/items?limit=1").await.body;
    assert_eq!(page.get("skipped"), None, "{page}");
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn postgres_names_the_row_and_the_column() {
    use crate::engines::postgres::{few, schema, table};

    let (db, schema) = schema(&few()).await;
    let name = format!("{schema}.items");
    let store = table::<Item>(&db, &name, |sql| sql).await;
    for index in 1..=3 {
        store.create(draft(&format!("n{index}"), index, "ada")).await.unwrap();
    }
    for (value, column) in [("rating = 'NaN'", "rating"), ("tags = '[1]'", "tags")] {
        let change = format!(
            "UPDATE {name} SET rating = 1, tags = '[]'; UPDATE {name} SET {value} WHERE id = 2"
        );
        db.client().await.unwrap().batch_execute(&change).await.unwrap();
        let text = text_of(store.list(&ListQuery::new("id", 9)).await.map(drop).unwrap_err());
        let expected = format!("the row 2 cannot be read, column \"{column}\": ");
        assert!(text.contains(&expected), "{text}");
        let page =
            store.clone().skip_unreadable(true).list(&ListQuery::new("id", 9)).await.unwrap();
        assert_eq!((page.items.len(), page.skipped), (2, 1));
    }
}

/// Values that the schema accepts but a server limit rejects.
#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn postgres_rejects_values_that_the_schema_accepts_with_400() {
    use crate::engines::postgres::{few, items};

    let store = items(&few()).await;
    // Too long for the index, even compressed.
    let long: String = (0..20_000_u32)
        .map(|n| char::from_u32(0x4e00 + n.wrapping_mul(2_654_435_761) % 20_000).unwrap())
        .collect();
    let made = store.create(draft(&long, 1, "ada")).await;
    assert!(matches!(made, Err(StoreError::Invalid(_))), "{made:?}");
    let app = app(store);
    for query in ["name=a%00b", "price[lt]=99999999999999999999", "id=9223372036854775808"] {
        let status = send(&app, Method::GET, &format!("/items?{query}")).await.status;
        assert!(status.is_client_error(), "{query} {status}");
    }
}
