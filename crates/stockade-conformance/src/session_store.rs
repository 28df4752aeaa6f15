//! [`session_store`]: checks the guarantees of a session store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stockade_auth::SessionId;
use stockade_middleware::sessions::{
    NewSession, ReplacedSession, SessionKey, SessionStore, SessionWrite, StoredSession, Subject,
    SubjectKey,
};
use tokio::task::JoinSet;

use super::{LONG, SHORT, equal, succeeds};
use crate::fail::{fail, or_fail};

/// Checks the guarantees of a [`SessionStore`]:
///
/// - Only one of several writes to a version succeeds.
/// - An ended session stays ended.
/// - A new session replaces an old one atomically.
/// - All sessions of a subject end together.
/// - Session kinds are separate.
/// - Times are stored.
///
/// `pass` lets at least the given time elapse for the store.
///
/// # Panics
/// Panics if the store violates a guarantee or fails. Requires a tokio runtime.
pub async fn session_store(store: impl SessionStore + 'static, pass: impl AsyncFn(Duration)) {
    let store = Arc::new(store);
    one_concurrent_write_succeeds(&store).await;
    one_concurrent_replacement_succeeds(&store).await;
    let check = Check { store: &*store, pass: &pass };
    check.a_session_is_created_and_loaded().await;
    check.a_write_compares_the_version().await;
    check.ended_sessions_stay_ended().await;
    check.a_new_session_replaces_the_old_one().await;
    check.all_sessions_of_a_subject_end_together().await;
    check.kinds_are_separate().await;
    check.unused_sessions_expire().await;
    check.a_use_restarts_the_idle_time().await;
    check.a_use_does_not_extend_the_lifetime().await;
    check.data_is_stored_unchanged().await;
}

/// A store under test.
struct Check<'a, S: ?Sized, P> {
    store: &'a S,
    pass: &'a P,
}

/// The kind of most sessions in the check.
const KIND: &str = "session";

fn unique_key() -> SessionKey {
    SessionKey::of(KIND, &or_fail(SessionId::generate()))
}

fn unique_subject() -> String {
    format!("user:{}", or_fail(SessionId::generate()))
}

fn new<'a>(subject: Option<&'a str>, data: &'static str) -> NewSession<'a> {
    let subject = subject.map(|name| Subject::of(KIND, name));
    let data = Bytes::from_static(data.as_bytes());
    NewSession { subject, data, idle: LONG, lifetime: LONG * 2, replaces: None }
}

fn data(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

async fn one_concurrent_write_succeeds(store: &Arc<impl SessionStore + 'static>) {
    let key = unique_key();
    succeeds("a new session", store.create(&key, new(None, "0")).await);
    let mut writes = JoinSet::new();
    for _ in 0..50 {
        let store = Arc::clone(store);
        writes.spawn(async move { store.update(&key, 1, data("1"), LONG).await });
    }
    exactly_one_is_written("successful writes, out of 50 concurrent writes to one version", writes)
        .await;
}

async fn one_concurrent_replacement_succeeds(store: &Arc<impl SessionStore + 'static>) {
    let old = unique_key();
    succeeds("a new session", store.create(&old, new(None, "0")).await);
    let mut writes = JoinSet::new();
    for _ in 0..50 {
        let store = Arc::clone(store);
        writes.spawn(async move {
            let replaces = Some(ReplacedSession { key: old, version: 1 });
            store.create(&unique_key(), NewSession { replaces, ..new(None, "1") }).await
        });
    }
    exactly_one_is_written(
        "successful replacements, out of 50 concurrent replacements of one session",
        writes,
    )
    .await;
}

async fn exactly_one_is_written<E: std::fmt::Display + 'static>(
    promise: &str,
    mut writes: JoinSet<Result<SessionWrite, E>>,
) {
    let mut written = 0;
    while let Some(write) = writes.join_next().await {
        if succeeds(promise, or_fail(write)) == SessionWrite::Written {
            written += 1;
        }
    }
    equal(promise, &written, &1);
}

impl<S: SessionStore + ?Sized, P: AsyncFn(Duration)> Check<'_, S, P> {
    async fn created(&self, new: NewSession<'_>) -> SessionKey {
        let key = unique_key();
        let written = succeeds("a new session", self.store.create(&key, new).await);
        equal("a new session", &written, &SessionWrite::Written);
        key
    }

    async fn loaded(&self, promise: &str, key: &SessionKey) -> Option<StoredSession> {
        succeeds(promise, self.store.load(key).await)
    }

    async fn is_there(&self, promise: &str, key: &SessionKey, expected: bool) {
        equal(promise, &self.loaded(promise, key).await.is_some(), &expected);
    }

    async fn updates(&self, promise: &str, key: &SessionKey, version: u64, write: SessionWrite) {
        let updated = self.store.update(key, version, data("new"), LONG).await;
        equal(promise, &succeeds(promise, updated), &write);
    }

    async fn a_session_is_created_and_loaded(&self) {
        self.is_there("an unknown session", &unique_key(), false).await;
        let subject = unique_subject();
        for subject in [Some(&*subject), None] {
            let key = self.created(new(subject, "data")).await;
            let Some(stored) = self.loaded("a session", &key).await else {
                fail("a created session is missing");
            };
            equal("the subject of a new session", &stored.subject.as_deref(), &subject);
            equal("the data of a new session", &stored.data, &data("data"));
            equal("the version of a new session", &stored.version, &1);
            let half = LONG / 2..=LONG;
            equal(
                "the idle time of a new session is correct",
                &half.contains(&stored.idle_left),
                &true,
            );
            equal(
                "the lifetime of a new session is correct",
                &(LONG..=LONG * 2).contains(&stored.lifetime_left),
                &true,
            );
        }
    }

    async fn a_write_compares_the_version(&self) {
        let key = self.created(new(None, "old")).await;
        self.updates("a write to an unknown version", &key, 7, SessionWrite::Changed).await;
        self.updates("a write to the current version", &key, 1, SessionWrite::Written).await;
        self.updates("a write to the previous version", &key, 1, SessionWrite::Changed).await;
        let stored = self.loaded("a session", &key).await;
        let found = stored.map(|stored| (stored.data, stored.version));
        equal("the written data", &found, &Some((data("new"), 2)));
        self.updates("a write to the next version", &key, 2, SessionWrite::Written).await;
    }

    async fn ended_sessions_stay_ended(&self) {
        let subject = unique_subject();
        let key = self.created(new(Some(&subject), "data")).await;
        let destroy = async || succeeds("the end of a session", self.store.destroy(&key).await);
        equal("the end of a session", &destroy().await, &true);
        equal("a repeated end of a session", &destroy().await, &false);
        self.updates("a write to an ended session", &key, 1, SessionWrite::Missing).await;
        let touched = succeeds("a use of an ended session", self.store.touch(&key, LONG).await);
        equal("a use of an ended session", &touched, &false);
        let replaces = Some(ReplacedSession { key, version: 1 });
        let successor = unique_key();
        let replacing = NewSession { replaces, ..new(Some(&subject), "data") };
        let created = succeeds("a replacement", self.store.create(&successor, replacing).await);
        equal("a replacement of an ended session", &created, &SessionWrite::Missing);
        self.is_there("an ended session", &key, false).await;
        self.is_there("the replacement of an ended session", &successor, false).await;
        let ended = self.store.destroy_all(&SubjectKey::of(KIND, &subject)).await;
        equal(
            "remaining sessions of the subject",
            &succeeds("the end of all sessions of a subject", ended),
            &0,
        );
    }

    async fn a_new_session_replaces_the_old_one(&self) {
        let (visitor, user) = (unique_subject(), unique_subject());
        let old = self.created(new(Some(&visitor), "data")).await;
        let replace = async |version| {
            let (key, replaces) = (unique_key(), Some(ReplacedSession { key: old, version }));
            let replacing = NewSession { replaces, ..new(Some(&user), "more") };
            let created = self.store.create(&key, replacing).await;
            (key, succeeds("a replacement", created))
        };
        let (rejected, created) = replace(2).await;
        equal("the replacement of another version", &created, &SessionWrite::Changed);
        self.is_there("the rejected replacement", &rejected, false).await;
        self.is_there("the replaced session", &old, true).await;
        let (key, created) = replace(1).await;
        equal("the replacement of the current version", &created, &SessionWrite::Written);
        self.is_there("the replaced session", &old, false).await;
        self.is_there("the replacement", &key, true).await;
        let ended = self.store.destroy_all(&SubjectKey::of(KIND, &visitor)).await;
        equal("sessions of the old subject", &succeeds("the end of all sessions", ended), &0);
        self.is_there("the replacement", &key, true).await;
    }

    async fn all_sessions_of_a_subject_end_together(&self) {
        let (subject, other) = (unique_subject(), unique_subject());
        let mut own = Vec::new();
        for _ in 0..3 {
            own.push(self.created(new(Some(&subject), "data")).await);
        }
        let others = self.created(new(Some(&other), "data")).await;
        let nobodys = self.created(new(None, "data")).await;
        let end_all = async || {
            succeeds(
                "the end of all sessions of a subject",
                self.store.destroy_all(&SubjectKey::of(KIND, &subject)).await,
            )
        };
        equal("sessions of a subject", &end_all().await, &3);
        for key in &own {
            self.is_there("a session of the subject", key, false).await;
            self.updates("a write to an ended session", key, 1, SessionWrite::Missing).await;
        }
        self.is_there("a session of another subject", &others, true).await;
        self.is_there("a session without a subject", &nobodys, true).await;
        equal("sessions of a subject after their end", &end_all().await, &0);
        let later = self.created(new(Some(&subject), "data")).await;
        self.is_there("a session that is created after the end of all sessions", &later, true)
            .await;
    }

    async fn kinds_are_separate(&self) {
        let (id, name) = (or_fail(SessionId::generate()), unique_subject());
        let [one, two] = ["one", "two"].map(|kind| {
            let subject = Some(Subject::of(kind, &name));
            (SessionKey::of(kind, &id), NewSession { subject, ..new(None, kind) })
        });
        let (one_subject, two_subject) = (one.1.subject, two.1.subject);
        succeeds("a session of one kind", self.store.create(&one.0, one.1).await);
        self.is_there("the id of the session in another kind", &two.0, false).await;
        succeeds("a session of another kind", self.store.create(&two.0, two.1).await);
        let end_all = async |subject: Option<Subject<'_>>| match subject {
            Some(subject) => succeeds(
                "the end of all sessions of a subject",
                self.store.destroy_all(&subject.key).await,
            ),
            None => 0,
        };
        equal("the sessions of a subject of one kind", &end_all(one_subject).await, &1);
        self.is_there("the session of this kind", &one.0, false).await;
        self.is_there("the session of the other kind", &two.0, true).await;
        let stored = self.loaded("the session of the other kind", &two.0).await;
        let stored = stored.and_then(|stored| stored.subject);
        equal("the subject of the other kind", &stored.as_deref(), &Some(&*name));
        equal("the sessions of the other kind", &end_all(two_subject).await, &1);
    }

    async fn unused_sessions_expire(&self) {
        let subject = unique_subject();
        let short = NewSession { idle: SHORT, ..new(Some(&subject), "data") };
        let key = self.created(short).await;
        (self.pass)(SHORT * 2).await;
        self.is_there("a session after its idle time", &key, false).await;
        self.updates("a write to an expired session", &key, 1, SessionWrite::Missing).await;
        let touched = succeeds("a use of an expired session", self.store.touch(&key, LONG).await);
        equal("a use of an expired session", &touched, &false);
        let ended = succeeds("the end of an expired session", self.store.destroy(&key).await);
        equal("the end of an expired session", &ended, &false);
    }

    async fn a_use_restarts_the_idle_time(&self) {
        let short = || NewSession { idle: Duration::from_secs(5), ..new(None, "data") };
        let (touched, written) = (self.created(short()).await, self.created(short()).await);
        let is_there = succeeds("a use", self.store.touch(&touched, LONG).await);
        equal("a use", &is_there, &true);
        self.updates("a write", &written, 1, SessionWrite::Written).await;
        (self.pass)(Duration::from_secs(6)).await;
        self.is_there("a session that was used", &touched, true).await;
        self.is_there("a session that was written", &written, true).await;
        self.updates("a write to a session that was used", &touched, 1, SessionWrite::Written)
            .await;
    }

    async fn a_use_does_not_extend_the_lifetime(&self) {
        let lifetime = SHORT * 20;
        let short = || NewSession { idle: LONG, lifetime, ..new(None, "data") };
        let (touched, written) = (self.created(short()).await, self.created(short()).await);
        succeeds("a use", self.store.touch(&touched, LONG).await);
        succeeds("a write", self.store.update(&written, 1, data("new"), LONG).await);
        (self.pass)(lifetime + SHORT).await;
        self.is_there("a session that was used, after its lifetime", &touched, false).await;
        self.is_there("a session that was written, after its lifetime", &written, false).await;
    }

    async fn data_is_stored_unchanged(&self) {
        let every_byte: Vec<u8> = (0..=u8::MAX).collect();
        for bytes in [Vec::new(), every_byte.clone(), every_byte.repeat(64)] {
            let bytes = Bytes::from(bytes);
            let key = self.created(NewSession { data: bytes.clone(), ..new(None, "") }).await;
            let stored = self.loaded("a session", &key).await;
            let same = stored.is_some_and(|stored| stored.data == bytes);
            equal("unchanged data", &same, &true);
        }
    }
}
