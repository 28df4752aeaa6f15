//! SQL stores for the routes of a resource: the suite for all stores, and
//! responses that only a database causes.

mod integers;
mod schemas;

use stockade::prelude::*;
use stockade::rest::{Access, Entity, Resource};
use stockade::sql::{
    Dialect, Postgres, SqlError, SqlStore, Sqlite, SqliteOptions, create_table_sql,
};
use stockade::testing::TestClient;
use tokio::runtime::Runtime;

use crate::rest::nested::{Doc, begin, check};
use crate::rest::suite::{Item, suite};

const UNIQUE: [&str; 2] = ["name", "secret"];

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A folder of database files, deleted on drop.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("stockade-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

async fn run(db: &Sqlite, sql: String) {
    db.write(move |tx| -> Result<(), SqlError> { Ok(tx.execute_batch(&sql)?) }).await.unwrap();
}

#[test]
fn sqlite_passes_the_suite() {
    let folder = Folder::new("suite");
    let db = Sqlite::open(folder.0.join("items.db")).unwrap();
    runtime().block_on(suite(async || {
        run(&db, "DROP TABLE IF EXISTS items".to_owned()).await;
        run(&db, db.create_table_sql::<Item>("items").unwrap()).await;
        for field in UNIQUE {
            run(&db, format!("CREATE UNIQUE INDEX items_{field} ON items ({field})")).await;
        }
        db.table::<Item>("items").unwrap()
    }));
}

#[test]
fn generated_types_with_marks_pass_in_sqlite() {
    let folder = Folder::new("marks");
    let db = Sqlite::open(folder.0.join("docs.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for seed in 1_000..1_040 {
            begin(seed);
            run(&db, "DROP TABLE IF EXISTS docs".to_owned()).await;
            run(&db, db.create_table_sql::<Doc>("docs").unwrap()).await;
            check(seed, db.table::<Doc>("docs").unwrap()).await;
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
fn postgres_passes_the_suite() {
    // `cargo xtask sql` sets it.
    let address = std::env::var("STOCKADE_POSTGRES").unwrap();
    runtime().block_on(async {
        let db = Postgres::connect(&address).await.unwrap();
        let schema = format!("http_{}", std::process::id());
        let name = format!("{schema}.items");
        suite(async || {
            let client = db.client().await.unwrap();
            let table = create_table_sql::<Item>(Dialect::Postgres, &name).unwrap();
            let begin = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
            client.batch_execute(&format!("{begin}; {table}")).await.unwrap();
            for field in UNIQUE {
                let index = format!("CREATE UNIQUE INDEX items_{field} ON {name} ({field})");
                client.batch_execute(&index).await.unwrap();
            }
            SqlStore::<Item, _>::open(db.clone(), &name).await.unwrap()
        })
        .await;
    });
}

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Note {
    id: i64,
    #[schema(max_length = 100)]
    text: String,
}

impl Entity for Note {
    type Id = i64;
}

#[test]
fn an_unavailable_database_is_503() {
    let folder = Folder::new("down");
    runtime().block_on(async {
        let options = SqliteOptions::new().busy_timeout(std::time::Duration::from_millis(20));
        let path = folder.0.join("notes.db");
        let db = Sqlite::open_with(&path, &options).unwrap();
        run(&db, db.create_table_sql::<Note>("notes").unwrap()).await;
        let open = || Access::public("a test");
        let notes = Resource::new("note", db.table::<Note>("notes").unwrap());
        let notes = notes.server_fields(["id"]).read(open()).write(open());
        let api = routes! { "notes": { ..notes.routes() } };
        let client = TestClient::new(create_router(api, RouterOptions::new())).with_contract();
        let create = || client.post("/notes").json(json!({ "text": "x" }));
        create().await.assert_status(201);

        let other = stockade::sql::rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let refused = create().await;
        refused.assert_status(503).assert_header("retry-after", "1");
        assert!(!refused.text().contains("lock"), "{}", refused.text());
        client.get("/notes/1").await.assert_status(200);
        other.execute_batch("ROLLBACK").unwrap();
        create().await.assert_status(201);
    });
}
