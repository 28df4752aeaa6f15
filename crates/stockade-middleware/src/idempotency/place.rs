//! [`HeldPlace`]: the place of a key while its handler runs.

use std::future::{Future as _, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use stockade_core::BoxFuture;
use stockade_core::handler_progress::HandlerProgress;
use stockade_errors::StoreError;
use stockade_errors::panic::CatchPanic;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::key::ScopedKey;
use super::options::{Idempotency, OnAbandoned};
use super::record::Record;
use super::store::{Reservation, ReserveOutcome};

/// The place of a key that this request holds, or is about to reserve. If it is
/// dropped before it is completed or freed, it notifies the store.
pub(super) struct HeldPlace {
    pub(super) options: Arc<Idempotency>,
    pub(super) key: ScopedKey,
    pub(super) claim: Reservation,
    /// True once the handler has begun.
    pub(super) progress: HandlerProgress,
    /// True until the place is completed, freed or found to belong to another
    /// request.
    pub(super) is_held: bool,
}

impl HeldPlace {
    /// Reserves the place, within the timeout of a store.
    pub(super) async fn take(&mut self) -> Result<ReserveOutcome, StoreError> {
        // The store may have reserved it without a confirmation.
        self.is_held = true;
        let asked = self.options.store.take(&self.key, &self.claim);
        let taken = within(STORE_TIMEOUT, asked).await;
        self.is_held = !matches!(&taken, Ok(taken) if *taken != ReserveOutcome::New);
        taken
    }

    /// Runs a future and renews the lease while it runs.
    pub(super) async fn renewed_during<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        let mut renewal = pin!(self.renew());
        poll_fn(|cx| {
            let polled = work.as_mut().poll(cx);
            if polled.is_pending() {
                // This future never ends.
                let _: Poll<()> = renewal.as_mut().poll(cx);
            }
            polled
        })
        .await
    }

    async fn renew(&self) {
        loop {
            sleep(self.options.lease / 3).await;
            let renewed = self.options.store.renew(&self.key, &self.claim);
            match within(STORE_TIMEOUT, renewed).await {
                Ok(true) => {}
                Ok(false) => {
                    log::error!(
                        target: "stockade",
                        "the lease of the idempotency key {} was lost: its handler may run twice",
                        self.key
                    );
                    return pending().await;
                }
                Err(error) => {
                    log::warn!(target: "stockade", "cannot renew an idempotency key: {error}");
                }
            }
        }
    }

    /// Stores a response. If the store fails three times in a second, the lease
    /// expires and the handler may run twice.
    pub(super) async fn complete(mut self, record: Record, status: StatusCode) {
        // From here on, the place must not be freed.
        self.is_held = false;
        if !record.has_answer() {
            log::warn!(
                target: "stockade",
                "the response {} is a stream or longer than {} bytes, so it is not stored for its \
                 idempotency key: a retry gets a 409",
                status.as_u16(), self.options.max_body
            );
        }
        let mut bytes = record.to_bytes();
        let deadline = Instant::now() + STORE_TIMEOUT;
        let mut pauses = PAUSES.into_iter();
        let failure = loop {
            let error = match timeout_at(deadline, self.put(bytes.clone())).await {
                Ok(Ok(true)) => return,
                Ok(Ok(false)) => break "another request holds the key".to_owned(),
                Ok(Err(error)) => error,
                Err(_) => break "the store did not respond".to_owned(),
            };
            let short = Record::NotKept(status).to_bytes();
            if matches!(error, StoreError::Full) && bytes.len() > short.len() {
                log::warn!(
                    target: "stockade",
                    "cannot store a response: {error}; a retry gets a 409"
                );
                bytes = short;
                continue;
            }
            match pauses.next() {
                Some(pause) => sleep(pause).await,
                None => break error.to_string(),
            }
        };
        log::error!(
            target: "stockade",
            "the response for the idempotency key {} was not stored, so its handler may run \
             twice: {failure}",
            self.key
        );
    }

    fn put(&self, record: Bytes) -> BoxFuture<'_, Result<bool, StoreError>> {
        let Self { options, key, claim, .. } = self;
        options.store.complete(key, &claim.nonce, record, options.ttl)
    }

    /// Frees the place of a request if its handler did nothing.
    pub(super) async fn free(mut self) {
        self.is_held = false;
        let freed = self.options.store.free(&self.key, &self.claim.nonce);
        if let Err(error) = within(STORE_TIMEOUT, freed).await {
            log::warn!(
                target: "stockade",
                "an idempotency key stays reserved until its lease ends: {error}"
            );
        }
    }
}

impl Drop for HeldPlace {
    /// Releases the place in the background, so that its key is not blocked for
    /// the whole lease.
    fn drop(&mut self) {
        if !self.is_held {
            return;
        }
        let is_unknown =
            self.progress.has_begun() && self.options.on_abandoned == OnAbandoned::Refuse;
        let (options, key, claim) = (Arc::clone(&self.options), self.key, self.claim.clone());
        let give_back = async move {
            let store = &options.store;
            let given = match is_unknown {
                true => {
                    let record = Record::Unknown.to_bytes();
                    store.complete(&key, &claim.nonce, record, options.ttl).await
                }
                false => store.free(&key, &claim.nonce).await,
            };
            if let Err(error) = given {
                log::warn!(target: "stockade", "cannot release an idempotency key: {error}");
            }
        };
        in_background(Box::pin(give_back));
    }
}

/// Runs a future to its end: immediately if it does not wait, otherwise in a
/// separate task. Without a runtime, a waiting future is dropped.
fn in_background(work: BoxFuture<'static, ()>) {
    let mut cx = Context::from_waker(Waker::noop());
    // A remote store may need a runtime, and may panic without one.
    let mut work = CatchPanic::new(work);
    if Pin::new(&mut work).poll(&mut cx).is_pending()
        && let Ok(runtime) = Handle::try_current()
    {
        runtime.spawn(async move { timeout(STORE_TIMEOUT, work).await });
    }
}

/// Limits the time of a store call. External stores also have their own
/// deadline.
async fn within<T>(
    limit: Duration,
    asked: BoxFuture<'_, Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(limit, asked).await.unwrap_or_else(|elapsed| Err(StoreError::unavailable(elapsed)))
}

const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// The pauses between the attempts to store a response.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(500)];
