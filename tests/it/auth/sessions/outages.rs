//! During a store outage, requests get a 503. None of them continues
//! unauthenticated.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use stockade::middleware::sessions::{
    NewSession, SessionKey, SessionWrite, StoredSession, SubjectKey,
};
use stockade::{BoxFuture, StoreError};

use super::*;

/// An in-memory store with calls that can fail or hang.
struct Flaky {
    store: MemorySessionStore,
    state: Arc<AtomicU8>,
}

const UP: u8 = 0;
const DOWN: u8 = 1;
const SILENT: u8 = 2;
const CONTENDED: u8 = 3;

type Asked<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

impl Flaky {
    fn when_up<'a, T: 'a>(&self, call: Asked<'a, T>) -> Asked<'a, T> {
        match self.state.load(Ordering::Relaxed) {
            DOWN => Box::pin(async { Err(StoreError::unavailable("connection reset")) }),
            SILENT => Box::pin(pending()),
            _ => call,
        }
    }
}

impl SessionStore for Flaky {
    fn create<'a>(&'a self, key: &'a SessionKey, new: NewSession<'a>) -> Asked<'a, SessionWrite> {
        self.when_up(self.store.create(key, new))
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> Asked<'a, Option<StoredSession>> {
        self.when_up(self.store.load(key))
    }

    fn update<'a>(
        &'a self,
        key: &'a SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> Asked<'a, SessionWrite> {
        if self.state.load(Ordering::Relaxed) == CONTENDED {
            return Box::pin(async { Ok(SessionWrite::Changed) });
        }
        self.when_up(self.store.update(key, version, data, idle))
    }

    fn touch<'a>(&'a self, key: &'a SessionKey, idle: Duration) -> Asked<'a, bool> {
        self.when_up(self.store.touch(key, idle))
    }

    fn destroy<'a>(&'a self, key: &'a SessionKey) -> Asked<'a, bool> {
        self.when_up(self.store.destroy(key))
    }

    fn destroy_all<'a>(&'a self, subject: &'a SubjectKey) -> Asked<'a, u64> {
        self.when_up(self.store.destroy_all(subject))
    }
}

fn flaky() -> (Sessions<Basket>, Arc<AtomicU8>) {
    let state = Arc::new(AtomicU8::new(UP));
    let flaky = Flaky { store: MemorySessionStore::new(), state: Arc::clone(&state) };
    (Sessions::new(flaky, cookie()), state)
}

#[tokio::test(start_paused = true)]
async fn a_store_outage_logs_nobody_out() {
    let (sessions, state) = flaky();
    let own = logged_in(&sessions, "ada").await;
    let client = client(&sessions);
    for outage in [DOWN, SILENT] {
        state.store(outage, Ordering::Relaxed);
        let with_session = |request: stockade::testing::TestRequest| request.cookie(NAME, &own);
        let responses = [
            with_session(client.get("/me")).await,
            // This route does not require a user.
            with_session(client.get("/guest")).await,
            with_session(client.get("/basket")).await,
            with_session(client.post("/basket").json("chair")).await,
            with_session(client.post("/me/logout")).await,
            client.post("/login").json("ada").await,
        ];
        for response in responses {
            response.assert_status(503).assert_header("retry-after", "1");
            response.assert_no_header("set-cookie");
        }
        // A client without a cookie is still a visitor.
        client.get("/guest").await.assert_text("guest");
    }
    state.store(UP, Ordering::Relaxed);
    client.get("/me").cookie(NAME, &own).await.assert_status(200);
}

#[tokio::test(start_paused = true)]
async fn a_change_is_tried_four_times() {
    let (sessions, state) = flaky();
    let id = sessions.begin(None, &Basket::default()).await.unwrap().id().unwrap();
    state.store(CONTENDED, Ordering::Relaxed);
    let mut calls = 0;
    let changed = sessions.change(&id, |basket| {
        calls += 1;
        basket.items.push("x".to_owned());
    });
    let error = changed.await.unwrap_err();
    assert_eq!((error.status(), calls), (409, 4));
    assert_eq!(error.headers().collect::<Vec<_>>(), [("Retry-After", "1")]);
}
