//! Tests that stores report missing tables when they are opened.

use stockade_errors::ConfigError;
use stockade_sql::{MIGRATIONS, SqlIdempotencyStore, SqlSessionStore, Sqlite};

use super::{File, own};

fn check<T>(outcome: Result<T, ConfigError>, table: &str) {
    let error = outcome.err().map(|error| error.to_string()).unwrap_or_default();
    let expected = [table, "run stockade::sql::MIGRATIONS"];
    assert!(expected.iter().all(|text| error.contains(text)), "{table}: {error}");
}

#[tokio::test]
async fn reports_missing_tables() {
    let folder = tempfile::tempdir().unwrap();
    let db = Sqlite::open(folder.path().join("empty.db")).unwrap();
    check(SqlSessionStore::open(&db).await, "stockade_sessions");
    check(SqlIdempotencyStore::open(&db).await, "stockade_idempotency_keys");
    check(db.revocations().await, "stockade_revocations");

    db.execute("CREATE TABLE stockade_sessions (id text)").await.unwrap();
    check(SqlSessionStore::open(&db).await, "subject_id");
}

#[tokio::test]
async fn runs_migrations_again_without_a_change() {
    let file = File::new().await;
    file.db.execute("INSERT INTO stockade_revocations VALUES (1, 'ff', 1)").await.unwrap();
    file.db.execute("UPDATE stockade_revocation_counter SET last = 7").await.unwrap();
    file.db.execute(MIGRATIONS).await.unwrap();
    assert_eq!(super::count(&file.db, "stockade_revocations").await, 1);
    assert_eq!(super::count(&file.db, "stockade_revocation_counter WHERE last = 7").await, 1);
}

#[tokio::test]
async fn reverts_all_statements_if_one_fails() {
    let file = File::new().await;
    let statements = "INSERT INTO stockade_revocations VALUES (1, 'ff', 1); SELECT nothing";
    assert!(file.db.execute(statements).await.is_err());
    assert_eq!(super::count(&file.db, "stockade_revocations").await, 0);
}

#[tokio::test]
async fn opens_stores_with_a_custom_driver() {
    let db = own();
    SqlSessionStore::open(&db).await.unwrap();
    SqlIdempotencyStore::open(&db).await.unwrap();
    assert_eq!(stockade_sql::open_revocations(&db).await.unwrap().count(), 0);
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn postgres_reports_missing_tables_and_the_missing_counter() {
    use super::postgres::pools;

    let [db] = pools().await;
    db.execute(MIGRATIONS).await.unwrap();
    db.execute("DELETE FROM stockade_revocation_counter").await.unwrap();
    check(db.revocations().await, "stockade_revocation_counter");
    db.execute("DROP TABLE stockade_sessions").await.unwrap();
    check(SqlSessionStore::open(&db).await, "stockade_sessions");
}
