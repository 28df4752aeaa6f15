//! Transactions, queues, migrations.

use std::sync::mpsc;

use stockade::prelude::*;
use stockade::sql::rusqlite::Connection;
use stockade::sql::{SqlError, Sqlite, SqliteOptions};
use tokio::sync::oneshot;

use super::{Conduit, ConduitErrors, registration};
use crate::db::{self, MAX_PAGES, MIGRATIONS, migrate};
use crate::errors::{ConduitError, Result};

const INSERT: &str = "INSERT INTO users (username, email, password_hash) VALUES ('ada', 'a', '')";

/// Counts the users, on a connection of the server.
async fn users(conduit: &Conduit) -> i64 {
    conduit.db.read(count).await.unwrap()
}

fn count(tx: &Connection) -> Result<i64> {
    Ok(tx.query_row("SELECT count(*) FROM users", [], |row| row.get(0))?)
}

#[tokio::test]
async fn a_failed_transaction_is_rolled_back() {
    let conduit = Conduit::new().await;
    let failed = conduit.db.write(|tx| {
        tx.execute(INSERT, [])?;
        Err::<(), _>(ConduitError::NotFound("article"))
    });
    assert!(matches!(failed.await, Err(ConduitError::NotFound("article"))));
    assert_eq!(users(&conduit).await, 0);
    conduit.db.write(|tx| Ok::<_, ConduitError>(tx.execute(INSERT, [])?)).await.unwrap();
    assert_eq!(users(&conduit).await, 1);
}

#[tokio::test]
async fn a_transaction_that_panics_is_rolled_back() {
    let conduit = Conduit::new().await;
    let db = conduit.db.clone();
    let panicking = async move {
        let work = |tx: &Connection| -> Result<()> {
            tx.execute(INSERT, [])?;
            panic!("in the middle of a transaction");
        };
        db.write(work).await
    };
    assert!(tokio::spawn(panicking).await.unwrap_err().is_panic());
    assert_eq!(users(&conduit).await, 0);
}

#[tokio::test]
async fn an_article_with_failing_tags_is_rolled_back() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let slug = conduit.publish(&ada, "Kept", &["old"]).await;
    let trigger = "CREATE TRIGGER refuse BEFORE INSERT ON article_tags WHEN new.tag = 'bad'
                   BEGIN SELECT raise(ABORT, 'no such tag'); END";
    conduit.connection().execute_batch(trigger).unwrap();

    let article =
        json!({ "title": "New", "description": "d", "body": "b", "tagList": ["a", "bad"] });
    let failed = conduit.post("/articles", &ada, json!({ "article": article })).await;
    failed.assert_errors(500, json!({ "body": ["Internal Server Error"] }));
    let list: Value = conduit.get("/articles", "").await.json();
    assert_eq!(list["articlesCount"], json!(1));

    let change = json!({ "article": { "title": "Changed", "tagList": ["new", "bad"] } });
    conduit.put(&format!("/articles/{slug}"), &ada, change).await.assert_status(500);
    let shown = conduit.get(&format!("/articles/{slug}"), "").await;
    shown.assert_json_contains(json!({ "article": { "title": "Kept", "tagList": ["old"] } }));
}

#[tokio::test]
async fn a_request_beyond_the_queue_is_503() {
    let conduit = Conduit::with_options(SqliteOptions::new().readers(1).queue(1)).await;
    let (taken, is_taken) = oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let db = conduit.db.clone();
    let holder = tokio::spawn(async move {
        let hold = move |_: &Connection| -> Result<()> {
            taken.send(()).unwrap();
            released.recv().unwrap();
            Ok(())
        };
        db.read(hold).await
    });
    is_taken.await.unwrap();
    let waits = conduit.db.read(count);
    tokio::pin!(waits);
    let refused = tokio::select! {
        biased;
        _ = &mut waits => panic!("there is no free reader"),
        response = conduit.get("/tags", "") => response,
    };
    refused.assert_header("retry-after", "1");
    refused.assert_errors(503, json!({ "body": ["Service Unavailable"] }));
    // Requests that need no database succeed or fail as usual.
    conduit.get("/user", "").await.assert_status(401);

    release.send(()).unwrap();
    holder.await.unwrap().unwrap();
    assert_eq!(waits.await.unwrap(), 0);
    conduit.get("/tags", "").await.assert_status(200);
}

#[tokio::test]
async fn requests_wait_for_a_reader() {
    let conduit = Conduit::with_options(SqliteOptions::new().readers(1)).await;
    let ada = conduit.register("ada").await;
    let slug = conduit.publish(&ada, "Busy", &[]).await;
    let path = format!("/articles/{slug}/comments");
    let posts = (0..20).map(|number| {
        let body = json!({ "comment": { "body": number.to_string() } });
        tokio::spawn(conduit.request(Method::POST, &path, &ada).json(body).send())
    });
    for post in posts.collect::<Vec<_>>() {
        post.await.unwrap().assert_status(201);
    }
}

#[tokio::test]
async fn writers_wait_for_each_other() {
    let conduit = Conduit::new().await;
    let posts = (0..8).map(|number| {
        let body = registration(&format!("user{number}"));
        tokio::spawn(conduit.request(Method::POST, "/users", "").json(body).send())
    });
    for post in posts.collect::<Vec<_>>() {
        post.await.unwrap().assert_status(201);
    }
    assert_eq!(users(&conduit).await, 8);
}

#[tokio::test]
async fn migrations_continue_where_they_ended() {
    let folder = tempfile::tempdir().unwrap();
    let db = Sqlite::open(folder.path().join("test.db")).unwrap();
    let version = async || -> usize {
        let version = |tx: &Connection| -> Result<u32> {
            Ok(tx.pragma_query_value(None, "user_version", |row| row.get(0))?)
        };
        db.read(version).await.unwrap() as usize
    };
    db.write(|tx| migrate(tx, &MIGRATIONS[..1])).await.unwrap();
    db.execute(INSERT).await.unwrap();
    db.write(|tx| migrate(tx, MIGRATIONS)).await.unwrap();
    db.write(|tx| migrate(tx, MIGRATIONS)).await.unwrap();
    assert_eq!(version().await, MIGRATIONS.len());
    assert_eq!(db.read(count).await.unwrap(), 1);

    // A failing step leaves no changes behind, not even from the steps before
    // it.
    let steps = [MIGRATIONS, &["CREATE TABLE further (id)", "not SQL"]].concat();
    assert!(db.write(move |tx| migrate(tx, &steps)).await.is_err());
    assert_eq!(version().await, MIGRATIONS.len());
    let has_table = |tx: &Connection| Ok::<_, SqlError>(tx.table_exists(None, "further")?);
    assert!(!db.read(has_table).await.unwrap());
    let error = db.write(|tx| migrate(tx, &MIGRATIONS[..1])).await.unwrap_err();
    assert!(error.to_string().ends_with("the database is newer than this program"), "{error}");
}

#[tokio::test]
async fn a_restarted_server_has_the_written_rows() {
    let conduit = Conduit::new().await;
    conduit.register("ada").await;
    let again = db::open(&conduit.path(), SqliteOptions::new()).await.unwrap();
    assert_eq!(again.read(count).await.unwrap(), 1);
    let mode: String =
        conduit.connection().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn slow_work_is_interrupted() {
    let conduit = Conduit::new().await;
    let endless = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)
                   SELECT count(*) FROM n";
    let work = move |tx: &Connection| -> Result<i64> {
        tx.execute(INSERT, [])?;
        Ok(tx.query_row(endless, [], |row| row.get(0))?)
    };
    let error = conduit.db.write(work).await.unwrap_err();
    assert!(matches!(error, ConduitError::Database(SqlError::Unavailable { .. })), "{error}");
    // The connection still works, and nothing was written.
    assert_eq!(users(&conduit).await, 0);
}

#[tokio::test]
async fn the_file_has_a_maximum_size() {
    let conduit = Conduit::new().await;
    let grow = |tx: &Connection| -> Result<()> {
        let limit: u32 = tx.pragma_query_value(None, "max_page_count", |row| row.get(0))?;
        assert_eq!(limit, MAX_PAGES);
        // The current number of pages is the minimum.
        tx.pragma_update(None, "max_page_count", 1)?;
        tx.execute_batch("CREATE TABLE large (x); INSERT INTO large VALUES (zeroblob(1000000))")?;
        Ok(())
    };
    let error = conduit.db.write(grow).await.unwrap_err();
    assert!(matches!(error, ConduitError::Database(SqlError::Unavailable { .. })), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;

    let conduit = Conduit::new().await;
    conduit.register("ada").await;
    let files = std::fs::read_dir(conduit.folder.path()).unwrap();
    let modes: Vec<u32> =
        files.map(|file| file.unwrap().metadata().unwrap().permissions().mode() & 0o777).collect();
    assert!(modes.len() >= 2 && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");
}

#[tokio::test]
async fn commands_create_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let file = path.clone();
    let router = crate::router(Secret::new("a secret of tests only, 32 bytes").unwrap());
    let open = async move |_| db::open(&file, SqliteOptions::new()).await;
    let app = router.state_at_start(open).build().unwrap();
    assert!(app.run_command(["conduit", "routes"].map(str::to_owned)).await.unwrap());
    assert!(!path.exists());
}
