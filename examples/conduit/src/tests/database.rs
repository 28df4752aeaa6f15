//! Transactions, the pool, migrations.

use std::sync::mpsc;
use std::time::Duration;

use rusqlite::{Connection, Transaction};
use stockade::prelude::*;
use tokio::sync::oneshot;

use super::{Conduit, ConduitErrors, registration};
use crate::db::{Db, MAX_PAGES, MIGRATIONS, migrate};
use crate::errors::ConduitError;

const INSERT: &str = "INSERT INTO users (username, email, password_hash) VALUES ('ada', 'a', '')";

/// Counts the users, on a connection of the pool.
async fn users(conduit: &Conduit) -> i64 {
    let count = |tx: &Transaction<'_>| {
        Ok(tx.query_row("SELECT count(*) FROM users", [], |row| row.get(0))?)
    };
    conduit.db.read(count).await.unwrap()
}

#[tokio::test]
async fn a_transaction_that_fails_is_rolled_back() {
    let conduit = Conduit::with_pool(1, Duration::ZERO);
    let failed = conduit.db.write(|tx| {
        tx.execute(INSERT, [])?;
        Err::<(), _>(ConduitError::NotFound("article"))
    });
    assert!(matches!(failed.await, Err(ConduitError::NotFound("article"))));
    assert_eq!(users(&conduit).await, 0);
    conduit.db.write(|tx| Ok(tx.execute(INSERT, [])?)).await.unwrap();
    assert_eq!(users(&conduit).await, 1);
}

#[tokio::test]
async fn a_transaction_that_panics_is_rolled_back() {
    let conduit = Conduit::with_pool(1, Duration::ZERO);
    let panicked = conduit.db.write(|tx| {
        tx.execute(INSERT, [])?;
        panic!("in the middle of a transaction");
        #[expect(unreachable_code, reason = "the type of the closure")]
        Ok(())
    });
    assert!(matches!(panicked.await, Err(ConduitError::Ended(_))));
    assert_eq!(users(&conduit).await, 0);
}

#[tokio::test]
async fn an_article_with_failing_tags_is_rolled_back() {
    let conduit = Conduit::new();
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
async fn a_request_without_a_connection_is_503() {
    let conduit = Conduit::with_pool(1, Duration::ZERO);
    let (taken, is_taken) = oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let db = conduit.db.clone();
    let holder = tokio::spawn(async move {
        let hold = move |_: &Transaction<'_>| {
            taken.send(()).unwrap();
            released.recv().unwrap();
            Ok(())
        };
        db.read(hold).await
    });
    is_taken.await.unwrap();
    let refused = conduit.get("/tags", "").await;
    refused.assert_header("retry-after", "1");
    refused.assert_errors(503, json!({ "body": ["Service Unavailable"] }));
    // Nothing that needs no database fails.
    conduit.get("/user", "").await.assert_status(401);

    release.send(()).unwrap();
    holder.await.unwrap().unwrap();
    conduit.get("/tags", "").await.assert_status(200);
}

#[tokio::test]
async fn requests_wait_for_a_connection() {
    let conduit = Conduit::with_pool(1, Duration::from_secs(60));
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
async fn writers_of_several_connections_wait_for_each_other() {
    let conduit = Conduit::with_pool(8, Duration::from_secs(60));
    let posts = (0..8).map(|number| {
        let body = registration(&format!("user{number}"));
        tokio::spawn(conduit.request(Method::POST, "/users", "").json(body).send())
    });
    for post in posts.collect::<Vec<_>>() {
        post.await.unwrap().assert_status(201);
    }
    assert_eq!(users(&conduit).await, 8);
}

#[test]
fn migrations_go_on_where_they_ended() {
    let mut connection = Connection::open_in_memory().unwrap();
    let version = |it: &Connection| -> usize {
        it.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    migrate(&mut connection, &MIGRATIONS[..1]).unwrap();
    connection.execute(INSERT, []).unwrap();
    migrate(&mut connection, MIGRATIONS).unwrap();
    migrate(&mut connection, MIGRATIONS).unwrap();
    assert_eq!(version(&connection), MIGRATIONS.len());
    let name: String =
        connection.query_row("SELECT username FROM users", [], |row| row.get(0)).unwrap();
    assert_eq!(name, "ada");

    // A step that fails leaves nothing behind, also of the steps before it.
    let steps = [MIGRATIONS, &["CREATE TABLE further (id)", "not SQL"]].concat();
    assert!(migrate(&mut connection, &steps).is_err());
    assert_eq!(version(&connection), MIGRATIONS.len());
    assert!(!connection.table_exists(None, "further").unwrap());
    let error = migrate(&mut connection, &MIGRATIONS[..1]).unwrap_err();
    assert_eq!(error.to_string(), "the database is newer than this program");
}

#[tokio::test]
async fn a_server_that_starts_again_has_what_was_written() {
    let conduit = Conduit::new();
    conduit.register("ada").await;
    let again = Db::open(&conduit.path(), 1, Duration::ZERO).unwrap();
    let count = |tx: &Transaction<'_>| {
        Ok(tx.query_row("SELECT count(*) FROM users", [], |row| row.get(0))?)
    };
    assert_eq!(again.read::<i64>(count).await.unwrap(), 1);
    let mode: String =
        conduit.connection().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn work_that_takes_too_long_ends() {
    let conduit = Conduit::with_pool(1, Duration::ZERO);
    let endless = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)
                   SELECT count(*) FROM n";
    let work = move |tx: &Transaction<'_>| {
        tx.execute(INSERT, [])?;
        Ok(tx.query_row(endless, [], |row| row.get::<_, i64>(0))?)
    };
    assert!(matches!(conduit.db.write(work).await, Err(ConduitError::Busy)));
    // The connection is as good as new, and nothing was written.
    assert_eq!(users(&conduit).await, 0);
}

#[tokio::test]
async fn the_file_does_not_grow_without_end() {
    let conduit = Conduit::new();
    let grow = |tx: &Transaction<'_>| {
        let limit: u32 = tx.pragma_query_value(None, "max_page_count", |row| row.get(0))?;
        assert_eq!(limit, MAX_PAGES);
        // As many as there are.
        tx.pragma_update(None, "max_page_count", 1)?;
        tx.execute_batch("CREATE TABLE large (x); INSERT INTO large VALUES (zeroblob(1000000))")?;
        Ok(())
    };
    assert!(matches!(conduit.db.write(grow).await, Err(ConduitError::Full)));
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_those_of_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;

    let conduit = Conduit::new();
    conduit.register("ada").await;
    let files = std::fs::read_dir(conduit.folder.path()).unwrap();
    let modes: Vec<u32> =
        files.map(|file| file.unwrap().metadata().unwrap().permissions().mode() & 0o777).collect();
    assert!(modes.len() >= 2 && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");

    // A command makes no file.
    let path = conduit.folder.path().join("none.db");
    Db::unopened(&path, 1, Duration::ZERO).unwrap();
    assert!(!path.exists());
}
