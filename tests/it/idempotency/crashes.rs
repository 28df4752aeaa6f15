//! Clients that disconnect, handlers that are dropped and stores that fail.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use stockade::middleware::idempotency::{
    IdempotencyStore, Nonce, OnAbandoned, OnStoreError, Reservation, ReserveOutcome, ScopedKey,
};
use stockade::middleware::with_timeout;
use stockade::{BoxFuture, StoreError};
use tokio::sync::Notify;
use tokio::time::{Instant, advance, sleep};

use super::*;

/// A handler that waits for a signal and counts its runs.
#[derive(Clone, Default)]
struct Waiting {
    runs: Runs,
    go: Arc<Notify>,
}

impl Waiting {
    fn app(&self, options: Idempotency) -> App {
        self.app_with(options, quiet())
    }

    fn app_with(&self, options: Idempotency, router: RouterOptions) -> App {
        let waiting = self.clone();
        let handler = move || {
            let number = waiting.runs.begin();
            let go = Arc::clone(&waiting.go);
            async move {
                go.notified().await;
                number.to_string()
            }
        };
        keyed!(options, handler, router)
    }
}

/// Starts a request and drops it, as a server does when its client disconnects.
async fn begin_and_leave(app: &App) {
    let mut sent = Box::pin(send(app, "k", ""));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(sent.as_mut().poll(&mut cx).is_pending());
    drop(sent);
    settle().await;
}

/// Runs background tasks until they cannot make progress.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_handler_continues_after_a_disconnect() {
    let waiting = Waiting::default();
    let app = waiting.app(in_memory());
    begin_and_leave(&app).await;
    assert_eq!(send(&app, "k", "").await, RUNNING);
    waiting.go.notify_one();
    settle().await;
    assert_eq!(send(&app, "k", "").await, "200 replayed 1");
    assert_eq!(waiting.runs.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_handler_frees_its_key_or_leaves_it_unknown() {
    for (on_abandoned, expected) in [(OnAbandoned::Run, "200 2"), (OnAbandoned::Refuse, UNKNOWN)] {
        let waiting = Waiting::default();
        let options = in_memory().on_abandoned(on_abandoned);
        let app = waiting.app_with(options, quiet().run_to_completion(false));
        begin_and_leave(&app).await;
        waiting.go.notify_one();
        assert_eq!(send(&app, "k", "").await, expected);
        assert_eq!(send(&app, "k", "x").await, OTHER);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_does_not_run_forever() {
    let waiting = Waiting::default();
    let time = Duration::from_secs(90);
    let app = waiting.app_with(in_memory(), quiet().run_to_completion(time));
    begin_and_leave(&app).await;
    sleep(Duration::from_secs(89)).await;
    assert_eq!(send(&app, "k", "").await, RUNNING, "its lease is renewed");
    sleep(Duration::from_secs(1)).await;
    settle().await;
    waiting.go.notify_one();
    assert_eq!(send(&app, "k", "").await, "200 2");
}

/// This also applies to `OnAbandoned::Refuse`, because the handler has not run.
#[tokio::test(start_paused = true)]
async fn a_request_dropped_before_its_handler_frees_the_key() {
    let runs = Runs::default();
    let stuck = Arc::new(AtomicBool::new(true));
    let (counted, gate) = (runs.clone(), Arc::clone(&stuck));
    let waits = async move |req: Request, next: Next| {
        if gate.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        next.run(req).await
    };
    let options = in_memory().on_abandoned(OnAbandoned::Refuse);
    let mut router = Router::with_options(quiet().run_to_completion(false));
    let list = [with_idempotency(options), Middleware::new(waits)];
    router.post("/x", async move || counted.begin().to_string()).middleware(list);
    let app = app(router);
    begin_and_leave(&app).await;
    stuck.store(false, Ordering::SeqCst);
    assert_eq!(send(&app, "k", "").await, "200 1");
    assert_eq!(runs.count(), 1);
}

/// The client gets a 503 at the timeout. A later retry gets the handler's
/// response.
#[tokio::test(start_paused = true)]
async fn a_timeout_before_the_keys_does_not_stop_the_handler() {
    let waiting = Waiting::default();
    let (counted, go) = (waiting.runs.clone(), Arc::clone(&waiting.go));
    let handler = move || {
        let (number, go) = (counted.begin(), Arc::clone(&go));
        async move {
            go.notified().await;
            number.to_string()
        }
    };
    let late = Middleware::new(with_timeout(Duration::from_secs(5)));
    let mut router = Router::with_options(quiet());
    router.post("/x", handler).middleware([late, with_idempotency(in_memory())]);
    let app = app(router);
    assert!(send(&app, "k", "").await.starts_with("503 "));
    assert_eq!(send(&app, "k", "").await, RUNNING);
    waiting.go.notify_one();
    settle().await;
    assert_eq!(send(&app, "k", "").await, "200 replayed 1");
}

/// An in-memory store that uses the test's clock and can fail.
struct Faulty {
    inner: MemoryIdempotencyStore,
    is_down: AtomicBool,
    /// The number of responses that the store will fail to save.
    refused: AtomicUsize,
    is_silent: AtomicBool,
    calls: Mutex<Vec<&'static str>>,
}

impl Faulty {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryIdempotencyStore::new().clock(|| Instant::now().into_std()),
            is_down: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            is_silent: AtomicBool::new(false),
            calls: Mutex::default(),
        })
    }

    fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    async fn ask(&self, call: &'static str) -> Result<(), StoreError> {
        self.calls.lock().unwrap().push(call);
        if self.is_silent.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        match self.is_down.load(Ordering::SeqCst) {
            true => Err(StoreError::unavailable("connection refused")),
            false => Ok(()),
        }
    }
}

impl IdempotencyStore for Faulty {
    fn take<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>> {
        Box::pin(async move {
            self.ask("take").await?;
            self.inner.take(key, claim).await
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.ask("renew").await?;
            self.inner.renew(key, claim).await
        })
    }

    fn complete<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.ask("complete").await?;
            let less = |left: usize| left.checked_sub(1);
            if self.refused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
                return Err(StoreError::unavailable("timed out"));
            }
            self.inner.complete(key, nonce, record, ttl).await
        })
    }

    fn free<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.ask("free").await?;
            self.inner.free(key, nonce).await
        })
    }
}

fn counting(runs: &Runs, options: Idempotency) -> App {
    let counted = runs.clone();
    keyed!(options, move || {
        let number = counted.begin();
        async move { number.to_string() }
    })
}

#[tokio::test(start_paused = true)]
async fn a_store_outage_is_503_before_the_handler() {
    let (store, runs) = (Faulty::new(), Runs::default());
    let app = counting(&runs, Idempotency::new(Arc::clone(&store)));
    store.is_down.store(true, Ordering::SeqCst);
    let answer = app.handle(request("POST /x\nidempotency-key: \"k\"")).await;
    assert_eq!(answer.headers()["retry-after"], "1");
    assert!(shown(answer).await.starts_with("503 "));
    assert_eq!(send_lines(&app, "POST /x", "").await, "200 1", "without a key");
    // The store does not respond.
    store.is_down.store(false, Ordering::SeqCst);
    store.is_silent.store(true, Ordering::SeqCst);
    let begin = Instant::now();
    assert!(send(&app, "k", "").await.starts_with("503 "));
    assert_eq!(begin.elapsed(), Duration::from_secs(1));
    store.is_silent.store(false, Ordering::SeqCst);
    assert_eq!(send(&app, "k", "").await, "200 2");
    assert_eq!(send(&app, "k", "").await, "200 replayed 2");
}

#[tokio::test(start_paused = true)]
async fn requests_pass_during_an_outage_only_if_configured() {
    let (store, runs) = (Faulty::new(), Runs::default());
    let options = Idempotency::new(Arc::clone(&store)).on_store_error(OnStoreError::Pass);
    let app = counting(&runs, options);
    store.is_down.store(true, Ordering::SeqCst);
    assert_eq!(send(&app, "k", "").await, "200 1");
    assert_eq!(send(&app, "k", "").await, "200 2");
    store.is_down.store(false, Ordering::SeqCst);
    assert_eq!(send(&app, "k", "").await, "200 3");
    assert_eq!(send(&app, "k", "").await, "200 replayed 3");
}

#[tokio::test(start_paused = true)]
async fn storing_a_response_is_tried_three_times() {
    let (store, runs) = (Faulty::new(), Runs::default());
    let app = counting(&runs, Idempotency::new(Arc::clone(&store)));
    store.refused.store(2, Ordering::SeqCst);
    assert_eq!(send(&app, "k", "").await, "200 1");
    assert_eq!(store.calls(), ["take", "complete", "complete", "complete"]);
    assert_eq!(send(&app, "k", "").await, "200 replayed 1");
    store.calls();

    store.refused.store(3, Ordering::SeqCst);
    let begin = Instant::now();
    assert_eq!(send(&app, "l", "").await, "200 2", "the response is sent anyway");
    assert!(begin.elapsed() <= Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(store.calls(), ["take", "complete", "complete", "complete"]);
    assert_eq!(send(&app, "l", "").await, RUNNING, "until the lease expires");
    advance(Duration::from_secs(30)).await;
    assert_eq!(send(&app, "l", "").await, "200 3");
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_while_the_handler_runs() {
    let store = Faulty::new();
    let app = keyed!(Idempotency::new(Arc::clone(&store)), async || {
        sleep(Duration::from_secs(95)).await;
        "done"
    });
    let first = tokio::spawn({
        let app = app.clone();
        async move { send(&app, "k", "").await }
    });
    for _ in 0..9 {
        sleep(Duration::from_secs(10)).await;
        assert_eq!(send(&app, "k", "").await, RUNNING);
    }
    assert_eq!(first.await.unwrap(), "200 done");
    let calls = store.calls();
    assert_eq!(calls.iter().filter(|call| **call == "renew").count(), 9, "{calls:?}");
    assert_eq!(send(&app, "k", "").await, "200 replayed done");
}

/// A dead process does not renew its lease. In this test, its call does not
/// reach the store.
#[tokio::test(start_paused = true)]
async fn the_key_of_a_dead_process_is_free_after_its_lease() {
    for (on_abandoned, expected) in [(OnAbandoned::Run, "200 2"), (OnAbandoned::Refuse, UNKNOWN)] {
        let (store, waiting) = (Faulty::new(), Waiting::default());
        let options = Idempotency::new(Arc::clone(&store)).on_abandoned(on_abandoned);
        let app = waiting.app_with(options, quiet().run_to_completion(false));
        let mut sent = Box::pin(send(&app, "k", ""));
        let polled = sent.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Pending);
        store.is_down.store(true, Ordering::SeqCst);
        drop(sent);
        settle().await;
        store.is_down.store(false, Ordering::SeqCst);
        advance(Duration::from_secs(29)).await;
        assert_eq!(send(&app, "k", "").await, RUNNING);
        advance(Duration::from_secs(1)).await;
        waiting.go.notify_one();
        assert_eq!(send(&app, "k", "").await, expected);
    }
}

/// A handler that lost its lease does not replace another handler's response.
#[tokio::test(start_paused = true)]
async fn a_late_response_is_not_stored() {
    let (runs, go) = (Runs::default(), Arc::new(Notify::new()));
    let (counted, gate) = (runs.clone(), Arc::clone(&go));
    let app = keyed!(Idempotency::new(Faulty::new()), move || {
        let (number, gate) = (counted.begin(), Arc::clone(&gate));
        async move {
            if number == 1 {
                gate.notified().await;
            }
            number.to_string()
        }
    });
    let mut first = Box::pin(send(&app, "k", ""));
    assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    // The handler computes for a minute, so nothing renews its lease.
    advance(Duration::from_secs(60)).await;
    assert_eq!(send(&app, "k", "").await, "200 2");
    go.notify_one();
    assert_eq!(first.await, "200 1");
    assert_eq!(send(&app, "k", "").await, "200 replayed 2");
}
