//! Tests revocations in tables.

use std::time::Duration;

use serde_json::json;
use stockade_auth::{
    Claims, RevocationStatus, Revocations, RevokeError, Secret, TokenIssuer, TokenVerifier,
};
use stockade_conformance as conformance;
use stockade_sql::{Driver, open_revocations};
use tokio::task::block_in_place;

use super::{File, count, own};

/// Opens the revocations of another process from a synchronous function.
fn open_here(db: &(impl Driver + Clone)) -> Revocations {
    let runtime = tokio::runtime::Handle::current();
    block_in_place(|| runtime.block_on(open_revocations(db))).unwrap()
}

fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

fn token(id: &str) -> Claims {
    let token = TokenIssuer::new().issue(json!({ "jti": id, "sub": "ada" }), "1h", &secret());
    TokenVerifier::new().verify(&token.unwrap(), &secret()).unwrap()
}

/// Waits for the task of a process.
async fn until(holds: impl AsyncFn() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
}

/// Restores all revocations that a table has lost, even if new ones arrived
/// meanwhile.
async fn repairs_the_table(db: impl Driver + Clone, clear: impl AsyncFn()) {
    let revocations = open_revocations(&db).await.unwrap();
    let (one, two) = (token("one"), token("two"));
    revocations.revoke(&one).await.unwrap();
    revocations.revoke(&two).await.unwrap();
    until(async || count(&db, "stockade_revocations").await == 2).await;
    clear().await;
    until(async || count(&db, "stockade_revocations").await == 2).await;
    let other = open_revocations(&db).await.unwrap();
    assert_eq!(other.check(&one), RevocationStatus::Revoked);
    assert_eq!(other.check(&two), RevocationStatus::Revoked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_passes_the_revocation_log_suite() {
    let file = File::new().await;
    conformance::revocation_log(|| open_here(&file.db)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_custom_driver_passes_the_revocation_log_suite() {
    let db = own();
    conformance::revocation_log(|| open_here(&db)).await;
}

#[tokio::test]
async fn checks_tokens_immediately_after_opening() {
    let file = File::new().await;
    let token = token("a");
    let first = file.db.revocations().await.unwrap();
    assert_eq!(first.check(&token), RevocationStatus::NotRevoked);
    first.revoke(&token).await.unwrap();
    let second = file.reopen().revocations().await.unwrap();
    assert_eq!(second.check(&token), RevocationStatus::Revoked);
}

#[tokio::test]
async fn reads_more_revocations_than_one_page() {
    let file = File::new().await;
    let insert = "WITH RECURSIVE numbers (number) AS (
            SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 2500
        )
        INSERT INTO stockade_revocations
        SELECT number, '01' || printf('%032x', number) || '00000fffffffffff', 17592186044415
        FROM numbers";
    file.db.execute(insert).await.unwrap();
    let second = file.db.revocations().await.unwrap();
    assert_eq!(second.count(), 2_500);
    second.revoke(&token("a")).await.unwrap();
    assert_eq!(count(&file.db, "stockade_revocations WHERE number = 2501").await, 1);
}

#[tokio::test]
async fn skips_entries_of_another_version() {
    let file = File::new().await;
    let first = file.db.revocations().await.unwrap();
    first.revoke(&token("a")).await.unwrap();
    let insert = "INSERT INTO stockade_revocations VALUES (2, 'ff00', 17592186044415)";
    file.db.execute(insert).await.unwrap();
    first.revoke(&token("b")).await.unwrap();
    let second = file.db.revocations().await.unwrap();
    assert_eq!(second.check(&token("a")), RevocationStatus::Revoked);
    assert_eq!(second.check(&token("b")), RevocationStatus::Revoked);
}

#[tokio::test]
async fn rewrites_revocations_that_sqlite_has_lost() {
    let file = File::new().await;
    let clear = async || file.db.execute("DELETE FROM stockade_revocations").await.unwrap();
    repairs_the_table(file.db.clone(), clear).await;
}

#[tokio::test]
async fn writes_a_revocation_later_if_the_database_fails() {
    let file = File::new().await;
    let revocations = file.db.revocations().await.unwrap();
    let token = token("a");
    let rename =
        |from: &str, to: &str| file.db.execute(format!("ALTER TABLE {from} RENAME TO {to}"));
    rename("stockade_revocations", "away").await.unwrap();
    let outcome = revocations.revoke(&token).await;
    assert!(matches!(outcome, Err(RevokeError::Log(_))), "{outcome:?}");
    assert_eq!(revocations.check(&token), RevocationStatus::Revoked);
    rename("away", "stockade_revocations").await.unwrap();
    until(async || count(&file.db, "stockade_revocations").await == 1).await;
}

#[tokio::test]
async fn removes_all_expired_revocations_except_the_last() {
    let file = File::new().await;
    let past = "INSERT INTO stockade_revocations VALUES (1, '01', 5), (2, '02', 5), (3, '03', 5)";
    // Valid entries of tokens that expired long ago.
    let entry = |number: u8| format!("01{}{:016x}", format!("{number:02x}").repeat(16), 5);
    let mut past = past.to_owned();
    for number in 1..=3 {
        past = past.replace(&format!("'0{number}'"), &format!("'{}'", entry(number)));
    }
    file.db.execute(past).await.unwrap();
    let revocations = file.db.revocations().await.unwrap();
    until(async || count(&file.db, "stockade_revocations WHERE number = 3").await == 1).await;
    until(async || count(&file.db, "stockade_revocations").await == 1).await;
    revocations.revoke(&token("a")).await.unwrap();
    assert_eq!(count(&file.db, "stockade_revocations WHERE number = 4").await, 1);
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::stores::postgres::pools;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn passes_the_revocation_log_suite() {
        let [here, there] = pools().await;
        let turn = std::sync::atomic::AtomicUsize::new(0);
        conformance::revocation_log(|| {
            let turn = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            open_here(if turn.is_multiple_of(2) { &here } else { &there })
        })
        .await;
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn rewrites_lost_revocations() {
        let [db] = pools().await;
        let clear = async || {
            let clear = "DELETE FROM stockade_revocations; \
                UPDATE stockade_revocation_counter SET last = 0";
            db.execute(clear).await.unwrap();
        };
        repairs_the_table(db.clone(), clear).await;
    }

    /// A reader would skip a lower number that becomes visible after a higher
    /// one.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn makes_rows_visible_in_the_order_of_their_numbers() {
        let [here, there] = pools().await;
        let revocations = here.revocations().await.unwrap();
        let entry = format!("01{}00000fffffffffff", "ab".repeat(16));
        let mut client = there.client().await.unwrap();
        let slow = client.transaction().await.unwrap();
        let first = format!(
            "WITH next AS (
                UPDATE stockade_revocation_counter SET last = last + 1 RETURNING last
            )
            INSERT INTO stockade_revocations SELECT last, '{entry}', 17592186044415 FROM next"
        );
        slow.batch_execute(&first).await.unwrap();
        let second = tokio::spawn({
            let revocations = revocations.clone();
            async move { revocations.revoke(&token("a")).await }
        });
        let watcher = there.client().await.unwrap();
        let waiting = "SELECT count(*) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND query LIKE '%stockade_revocation_counter%'";
        until(async || watcher.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) > 0).await;
        slow.commit().await.unwrap();
        second.await.unwrap().unwrap();
        until(async || revocations.count() == 2).await;
        let other = there.revocations().await.unwrap();
        assert_eq!(other.count(), 2);
    }
}
