//! Tests the writer and the readers of a file: order, failures, panics and
//! shutdown.

//! The queue, the groups and the errors of one database.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use rusqlite::Connection;
use stockade_errors::random::Random;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{Sqlite, SqliteOptions};
use crate::{Driver as _, Row, SqlError, Statement};

type Done = Result<(), SqlError>;

const TABLE: &str = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("test.db")
    }
}

async fn open(options: &SqliteOptions) -> (Folder, Sqlite) {
    let folder = Folder::new();
    let db = Sqlite::open_with(folder.path(), options).unwrap();
    db.write(|tx| -> Done { Ok(tx.execute_batch(TABLE)?) }).await.unwrap();
    (folder, db)
}

async fn add(db: &Sqlite, text: impl Into<String>) -> Done {
    let text = text.into();
    let insert = "INSERT INTO notes (text) VALUES (?1)";
    db.write(move |tx| -> Done { Ok(tx.execute(insert, [text]).map(|_| ())?) }).await
}

async fn count(db: &Sqlite) -> i64 {
    let select = "SELECT count(*) FROM notes";
    db.read(move |tx| -> Result<i64, SqlError> { Ok(tx.query_row(select, (), |row| row.get(0))?) })
        .await
        .unwrap()
}

/// Blocks the writer until the sender is dropped.
async fn hold(db: &Sqlite) -> Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (started, starts) = tokio::sync::oneshot::channel();
    let db = db.clone();
    tokio::spawn(async move {
        db.write(move |_| -> Done {
            started.send(()).unwrap();
            released.recv().unwrap_err();
            Ok(())
        })
        .await
    });
    starts.await.unwrap();
    release
}

/// Queues a write for each text.
async fn spawn_adds(db: &Sqlite, texts: &[&'static str]) -> JoinSet<(&'static str, Done)> {
    let mut adds = JoinSet::new();
    for &text in texts {
        let db = db.clone();
        adds.spawn(async move { (text, add(&db, text).await) });
    }
    // Each task queues its write when it is polled once.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    adds
}

#[tokio::test]
async fn a_failed_write_of_a_group_reverts_only_its_changes() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let release = hold(&db).await;
    let mut adds = spawn_adds(&db, &["a", "b", "b ", "c"]).await;
    let failing = tokio::spawn({
        let db = db.clone();
        async move {
            let insert = "INSERT INTO notes (text) VALUES ('half')";
            db.write(move |tx| -> Done {
                tx.execute(insert, ())?;
                Err(SqlError::failed("a reason of the program"))
            })
            .await
        }
    });
    tokio::task::yield_now().await;
    drop(release);
    while let Some(done) = adds.join_next().await {
        done.unwrap().1.unwrap();
    }
    let error = failing.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the database failed: a reason of the program");
    assert_eq!(count(&db).await, 4);

    let error = add(&db, "a").await.unwrap_err();
    let SqlError::Taken { constraint, .. } = error else { panic!("{error}") };
    assert_eq!(constraint, "notes.text");
}

#[tokio::test]
async fn a_panic_reaches_only_its_caller() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    for is_write in [true, false] {
        let db = db.clone();
        let work = |tx: &Connection| -> Done {
            // A reader rejects the statement.
            let _ = tx.execute("INSERT INTO notes (text) VALUES ('half')", ());
            panic!("in the middle")
        };
        let task = tokio::spawn(AssertUnwindSafe(async move {
            if is_write { db.write(work).await } else { db.read(work).await }
        }));
        let panic = task.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"in the middle"));
    }
    add(&db, "after").await.unwrap();
    assert_eq!(count(&db).await, 1);
}

#[tokio::test]
async fn a_full_queue_rejects_immediately() {
    let (_folder, db) = open(&SqliteOptions::new().queue(2)).await;
    let release = hold(&db).await;
    let mut adds = spawn_adds(&db, &["a", "b", "c"]).await;
    let (text, refused) = adds.join_next().await.unwrap().unwrap();
    assert_eq!(text, "c");
    assert!(matches!(refused, Err(SqlError::Unavailable { .. })), "{refused:?}");
    drop(release);
    while let Some(done) = adds.join_next().await {
        done.unwrap().1.unwrap();
    }
    assert_eq!(count(&db).await, 2);
}

#[tokio::test]
async fn an_abandoned_write_does_not_start() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let release = hold(&db).await;
    let mut adds = spawn_adds(&db, &["a", "b"]).await;
    adds.shutdown().await;
    drop(release);
    add(&db, "c").await.unwrap();
    assert_eq!(count(&db).await, 1);
}

#[tokio::test]
async fn statements_end_at_their_timeout() {
    const FOREVER: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
        SELECT count(*) FROM n";
    let (_folder, db) =
        open(&SqliteOptions::new().statement_timeout(Duration::from_millis(50))).await;
    let count_forever = |tx: &Connection| -> Result<i64, SqlError> {
        Ok(tx.query_row(FOREVER, (), |row| row.get(0))?)
    };
    for error in [db.read(count_forever).await, db.write(count_forever).await] {
        assert!(matches!(error, Err(SqlError::Unavailable { .. })), "{error:?}");
    }
    add(&db, "after").await.unwrap();
    assert_eq!(count(&db).await, 1);
}

/// SQLite rolls back the whole transaction when it interrupts a write.
#[tokio::test]
async fn writes_grouped_with_a_slow_one_can_be_retried() {
    const FOREVER: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
        INSERT INTO notes (text) SELECT 'row ' || i FROM n";
    let options = SqliteOptions::new().statement_timeout(Duration::from_millis(50));
    let (_folder, db) = open(&options).await;
    let release = hold(&db).await;
    let mut adds = spawn_adds(&db, &["a", "b"]).await;
    let slow = db.write(|tx| -> Done { Ok(tx.execute(FOREVER, ()).map(|_| ())?) });
    let free = async {
        tokio::task::yield_now().await;
        drop(release);
    };
    let (slow, ()) = tokio::join!(slow, free);
    assert!(matches!(slow, Err(SqlError::Unavailable { .. })), "{slow:?}");
    let mut kept = 0;
    while let Some(done) = adds.join_next().await {
        match done.unwrap().1 {
            Ok(()) => kept += 1,
            Err(error) => assert!(matches!(error, SqlError::Unavailable { .. }), "{error}"),
        }
    }
    assert_eq!(count(&db).await, kept);
    add(&db, "c").await.unwrap();
}

#[tokio::test]
async fn all_reads_of_a_call_see_one_state() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let select = "SELECT count(*) FROM notes";
    let count_of = move |tx: &Connection| tx.query_row(select, (), |row| row.get::<_, i64>(0));
    let (seen, sees) = mpsc::channel::<()>();
    let (begun, begins) = tokio::sync::oneshot::channel();
    let reader = tokio::spawn({
        let db = db.clone();
        async move {
            db.read(move |tx| -> Result<_, SqlError> {
                let before = count_of(tx)?;
                begun.send(()).unwrap();
                sees.recv().unwrap();
                Ok((before, count_of(tx)?))
            })
            .await
        }
    });
    begins.await.unwrap();
    add(&db, "while it reads").await.unwrap();
    seen.send(()).unwrap();
    assert_eq!(reader.await.unwrap().unwrap(), (0, 0));
    assert_eq!(count(&db).await, 1);

    let error = db.read(|tx| -> Done { Ok(tx.execute_batch("DELETE FROM notes")?) }).await;
    assert!(error.unwrap_err().to_string().contains("readonly"));
}

#[tokio::test]
async fn work_that_ends_the_transaction_fails() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let error = db.write(|tx| -> Done { Ok(tx.execute_batch("COMMIT")?) }).await.unwrap_err();
    assert!(error.to_string().contains("the transaction ended"), "{error}");
    add(&db, "after").await.unwrap();
}

#[tokio::test]
async fn a_reference_violated_at_commit_fails_at_most_one_group() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let table = "CREATE TABLE lines (
        note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)";
    db.write(move |tx| -> Done { Ok(tx.execute_batch(table)?) }).await.unwrap();
    // The groups depend on the speed of the machine: a group may contain any of the
    // three writes.
    let (mut accepted, mut spoiled) = (0, 0);
    for titles in [["a", "b"], ["c", "d"], ["e", "f"]] {
        let release = hold(&db).await;
        let mut adds = spawn_adds(&db, &titles).await;
        let broken = tokio::spawn({
            let db = db.clone();
            async move {
                let insert = "INSERT INTO lines VALUES (42)";
                db.write(move |tx| -> Done { Ok(tx.execute_batch(insert)?) }).await
            }
        });
        tokio::task::yield_now().await;
        drop(release);
        let mut rejected = 0;
        while let Some(done) = adds.join_next().await {
            if done.unwrap().1.is_err() {
                rejected += 1;
            } else {
                accepted += 1;
            }
        }
        spoiled += usize::from(rejected > 0);
        let error = broken.await.unwrap().unwrap_err();
        assert!(matches!(error, SqlError::Invalid { column: None, .. }), "{error}");
        assert_eq!(count(&db).await, accepted);
    }
    assert!(spoiled <= 1, "{spoiled} groups lost writes");
}

#[tokio::test]
async fn the_last_clone_waits_for_the_writes_of_the_queue() {
    let (folder, db) = open(&SqliteOptions::new()).await;
    let release = hold(&db).await;
    let adds = spawn_adds(&db, &["a", "b"]).await;
    drop(db);
    drop(release);
    assert!(adds.join_all().await.into_iter().all(|(_, done)| done.is_ok()));
    let db = Sqlite::open(folder.path()).unwrap();
    assert_eq!(count(&db).await, 2);

    // The work owns the last clone, so the writer thread drops it.
    let (started, starts) = tokio::sync::oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let (ended, ends) = tokio::sync::oneshot::channel();
    let task = tokio::spawn(async move {
        let last = db.clone();
        let work = move |_: &Connection| -> Done {
            started.send(()).unwrap();
            released.recv().unwrap_err();
            drop(last);
            ended.send(()).unwrap();
            Ok(())
        };
        db.write(work).await
    });
    starts.await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    drop(release);
    ends.await.unwrap();
}

#[tokio::test]
async fn waits_for_another_writing_process() {
    let (folder, db) = open(&SqliteOptions::new().busy_timeout(Duration::from_millis(50))).await;
    let other = Connection::open(folder.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = add(&db, "a").await.unwrap_err();
    assert!(matches!(error, SqlError::Unavailable { .. }), "{error}");
    other.execute_batch("COMMIT").unwrap();
    add(&db, "a").await.unwrap();
}

/// They wait at the same time rather than one after the other.
#[tokio::test]
async fn writes_of_a_queue_wait_for_another_process_together() {
    let (folder, db) = open(&SqliteOptions::new().busy_timeout(Duration::from_millis(200))).await;
    let other = Connection::open(folder.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    let adds = spawn_adds(&db, &["a"; 50]).await;
    for (_, done) in adds.join_all().await {
        let Err(error) = done else { panic!("the file is locked") };
        assert!(matches!(error, SqlError::Unavailable { .. }), "{error}");
    }
    // One after the other, they would need ten seconds.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    other.execute_batch("COMMIT").unwrap();
    add(&db, "a").await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn rejects_writes_to_a_moved_file() {
    let (folder, db) = open(&SqliteOptions::new()).await;
    add(&db, "a").await.unwrap();
    let moved = folder.0.path().join("moved.db");
    std::fs::rename(folder.path(), &moved).unwrap();
    for reason in ["No such file", "another file"] {
        let error = add(&db, "b").await.unwrap_err();
        assert!(matches!(error, SqlError::Unavailable { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("test.db: the file was moved or removed"), "{text}");
        assert!(text.contains(reason), "{text}");
        std::fs::write(folder.path(), "").unwrap();
    }
    assert_eq!(count(&db).await, 1);
    std::fs::rename(&moved, folder.path()).unwrap();
    add(&db, "b").await.unwrap();
}

#[test]
fn startup_errors_name_the_file() {
    let folder = Folder::new();
    std::fs::write(folder.path(), "this is a text, and no database".repeat(99)).unwrap();
    let error = Sqlite::open(folder.path()).unwrap_err();
    let text = format!("the database failed: {}: file is not a database", folder.path().display());
    assert_eq!(error.to_string(), text);
    // `main` prints it in this form.
    let printed = format!("{error:?}");
    assert!(printed.starts_with(&text) && !printed.contains('{'), "{printed}");

    let error = Sqlite::open(":memory:").unwrap_err().to_string();
    assert!(error.contains(":memory:: this is not a file"), "{error}");
    assert!(!std::path::Path::new(":memory:").exists());
    Sqlite::open("").unwrap_err();
}

/// The position of a page can be a float that was parsed from a text and
/// written as one.
#[test]
fn floats_round_trip() {
    let connection = Connection::open_in_memory().unwrap();
    let table = "CREATE TABLE floats (x REAL NOT NULL) STRICT";
    connection.execute_batch(table).unwrap();
    let insert = "INSERT INTO floats VALUES (json_extract(?1, '$.x')) \
        RETURNING json_object('x', x)";
    let mut insert = connection.prepare(insert).unwrap();
    let mut random = Random::new(1);
    for round in 0..20_000 {
        let state = random.bits();
        let float = match round {
            0 => 52.074_930_194_446_77,
            // Values like prices and coordinates.
            _ if round % 2 == 0 => (state >> 11) as f64 / 1e14,
            _ => f64::from_bits(state),
        };
        if !float.is_finite() {
            continue;
        }
        let text = serde_json::json!({ "x": float }).to_string();
        let text: String = insert.query_row([text], |row| row.get(0)).unwrap();
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["x"].as_f64().map(f64::to_bits), Some(float.to_bits()), "{float:e}");
    }
}

#[tokio::test]
async fn violated_table_constraints_are_invalid_values() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let table = "CREATE TABLE strict (n INTEGER NOT NULL CHECK (n > 0),
        note INTEGER REFERENCES notes (id)) STRICT";
    db.write(move |tx| -> Done { Ok(tx.execute_batch(table)?) }).await.unwrap();
    for (values, expected) in
        [("NULL, NULL", Some("n")), ("0, NULL", None), ("'x', NULL", None), ("1, 7", None)]
    {
        let insert = format!("INSERT INTO strict VALUES ({values})");
        let done = db.write(move |tx| -> Done { Ok(tx.execute_batch(&insert)?) }).await;
        let Err(SqlError::Invalid { column, .. }) = done else { panic!("{values}: {done:?}") };
        assert_eq!(column.as_deref(), expected, "{values}");
    }
}

#[tokio::test]
async fn the_file_is_private_to_its_owner() {
    let (folder, db) = open(&SqliteOptions::new()).await;
    #[cfg(unix)]
    for file in std::fs::read_dir(folder.0.path()).unwrap() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
    let text = format!("{db:?}");
    assert!(text.starts_with("Sqlite { path: "), "{text}");
    let missing = folder.0.path().join("missing/test.db");
    let error = Sqlite::open(missing).unwrap_err().to_string();
    assert!(error.contains("missing/test.db: "), "{error}");
}

#[tokio::test]
async fn a_store_statement_returns_text_and_number() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let insert = "INSERT INTO notes (text) SELECT json_extract(?1, '$.text') \
        RETURNING json_object('id', id, 'text', text), 7";
    let rows = db.run(Statement::writing(insert, r#"{"text":"tea"}"#)).await.unwrap();
    assert_eq!(rows, [Row::new(r#"{"id":1,"text":"tea"}"#, 7)]);
    let select = "SELECT json_object('n', count(*)), count(*) FROM notes WHERE ?1 = '{}'";
    let rows = db.run(Statement::reading(select, "{}")).await.unwrap();
    assert_eq!(rows, [Row::new(r#"{"n":1}"#, 1)]);
    let error = db.run(Statement::reading("SELECT nothing", "{}")).await.unwrap_err();
    assert!(matches!(error, SqlError::Failed(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_clients_lose_nothing() {
    let (_folder, db) = open(&SqliteOptions::new()).await;
    let kept = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for client in 0..64 {
        let (db, kept) = (db.clone(), Arc::clone(&kept));
        clients.spawn(async move {
            for number in 0..20 {
                // Every fifth text is a duplicate.
                let text =
                    if number % 5 == 4 { "same".into() } else { format!("{client} {number}") };
                kept.fetch_add(usize::from(add(&db, text).await.is_ok()), Ordering::Relaxed);
            }
        });
    }
    clients.join_all().await;
    let kept = kept.load(Ordering::Relaxed);
    assert_eq!(kept, 64 * 16 + 1);
    assert_eq!(count(&db).await, i64::try_from(kept).unwrap());
}
