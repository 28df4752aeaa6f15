//! Tests sessions in tables.

use std::time::Duration;

use bytes::Bytes;
use stockade_auth::SessionId;
use stockade_conformance as conformance;
use stockade_errors::{ApiError, StoreError};
use stockade_middleware::sessions::{
    NewSession, SessionKey, SessionStore, SessionWrite, Subject, SubjectKey,
};
use stockade_sql::{Driver, SqlSessionStore};

use super::{File, TestClock, count, own};

const HOUR: Duration = Duration::from_secs(3_600);

async fn open<D: Driver + Clone>(db: &D, clock: &TestClock) -> SqlSessionStore<D> {
    SqlSessionStore::open(db).await.unwrap().clock(clock.source())
}

fn key() -> SessionKey {
    SessionKey::of("session", &SessionId::generate().unwrap())
}

fn session(subject: Option<&str>, idle: Duration) -> NewSession<'_> {
    let subject = subject.map(|name| Subject::of("session", name));
    let data = Bytes::from_static(b"{}");
    NewSession { subject, data, idle, lifetime: idle * 2, replaces: None }
}

async fn keeps_its_promises(db: impl Driver + Clone) {
    let clock = TestClock::new();
    let store = open(&db, &clock).await;
    conformance::session_store(store, async |time| clock.advance(time)).await;
}

async fn ends_the_oldest_sessions(db: impl Driver + Clone) {
    let clock = TestClock::new();
    let store = open(&db, &clock).await.max_per_subject(3);
    let mut keys = Vec::new();
    for _ in 0..5 {
        clock.advance(Duration::from_secs(1));
        let key = key();
        store.create(&key, session(Some("user:7"), HOUR)).await.unwrap();
        keys.push(key);
    }
    let other = key();
    store.create(&other, session(Some("user:8"), HOUR)).await.unwrap();
    for (number, key) in keys.iter().enumerate() {
        let is_live = store.load(key).await.unwrap().is_some();
        assert_eq!(is_live, number >= 2, "session {number}");
    }
    assert!(store.load(&other).await.unwrap().is_some());
    let ended = store.destroy_all(&SubjectKey::of("session", "user:7")).await.unwrap();
    assert_eq!(ended, 3);
}

async fn removes_a_bounded_number_of_expired_rows(db: impl Driver + Clone) {
    let clock = TestClock::new();
    let store = open(&db, &clock).await;
    for _ in 0..600 {
        store.create(&key(), session(None, Duration::from_secs(1))).await.unwrap();
    }
    assert_eq!(count(&db, "stockade_sessions").await, 600);
    for expected in [600 - 512 + 1, 2] {
        clock.advance(Duration::from_secs(10));
        store.create(&key(), session(None, HOUR)).await.unwrap();
        assert_eq!(count(&db, "stockade_sessions").await, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_passes_the_session_suite() {
    let file = File::new().await;
    keeps_its_promises(file.db.clone()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_custom_driver_passes_the_session_suite() {
    keeps_its_promises(own()).await;
}

#[tokio::test]
async fn sqlite_ends_the_oldest_sessions_of_a_subject() {
    let file = File::new().await;
    ends_the_oldest_sessions(file.db.clone()).await;
}

#[tokio::test]
async fn sqlite_removes_a_bounded_number_of_expired_sessions() {
    let file = File::new().await;
    removes_a_bounded_number_of_expired_rows(file.db.clone()).await;
}

#[tokio::test]
async fn two_processes_share_sessions() {
    let file = File::new().await;
    let clock = TestClock::new();
    let (here, there) = (open(&file.db, &clock).await, open(&file.reopen(), &clock).await);
    let key = key();
    here.create(&key, session(Some("user:7"), HOUR)).await.unwrap();
    let stored = there.load(&key).await.unwrap().unwrap();
    assert_eq!((stored.subject.as_deref(), stored.version), (Some("user:7"), 1));
    assert!(there.destroy(&key).await.unwrap());
    assert_eq!(here.load(&key).await.unwrap(), None);
    let written = here.update(&key, 1, Bytes::new(), HOUR).await.unwrap();
    assert_eq!(written, SessionWrite::Missing);
}

#[tokio::test]
async fn reports_errors_of_the_database_as_store_errors() {
    let file = File::new().await;
    let store = open(&file.db, &TestClock::new()).await;
    file.db.execute("DROP TABLE stockade_sessions").await.unwrap();
    let error = store.load(&key()).await.unwrap_err();
    assert!(matches!(error, StoreError::Failed(_)), "{error}");
    let error = ApiError::from(error);
    assert_eq!(error.status(), 500);
    assert!(!error.public_message(false).contains("stockade_sessions"), "{error}");
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::stores::postgres::pools;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn passes_the_session_suite() {
        let [db] = pools().await;
        keeps_its_promises(db).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn passes_the_suite_with_the_server_clock() {
        let [db] = pools().await;
        let store = SqlSessionStore::open(&db).await.unwrap();
        conformance::session_store(store, tokio::time::sleep).await;
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn ends_the_oldest_sessions_of_a_subject() {
        let [db] = pools().await;
        ends_the_oldest_sessions(db).await;
    }

    #[tokio::test]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn removes_a_bounded_number_of_expired_sessions() {
        let [db] = pools().await;
        removes_a_bounded_number_of_expired_rows(db).await;
    }

    /// Two logins and a concurrent removal of all sessions neither fail nor
    /// deadlock.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: cargo xtask sql"]
    async fn many_logins_of_one_subject_do_not_fail() {
        let [here, there] = pools().await;
        let clock = TestClock::new();
        let stores = [open(&here, &clock).await, open(&there, &clock).await];
        let stores = stores.map(|store| std::sync::Arc::new(store.max_per_subject(2)));
        let mut logins = tokio::task::JoinSet::new();
        for number in 0..40 {
            let store = stores[number % 2].clone();
            logins.spawn(async move {
                for _ in 0..5 {
                    let new = session(Some("user:7"), HOUR);
                    store.create(&key(), new).await.unwrap();
                }
            });
        }
        logins.join_all().await;
        stores[0].create(&key(), session(Some("user:7"), HOUR)).await.unwrap();
        let ended = stores[1].destroy_all(&SubjectKey::of("session", "user:7")).await.unwrap();
        assert_eq!(ended, 2);
    }
}
