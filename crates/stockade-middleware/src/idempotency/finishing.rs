//! [`Finishing`]: a handler that goes on when its client has left.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use stockade_core::{BoxFuture, Response};
use stockade_errors::ApiError;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The future of a request with a key. Dropped before its end, it goes on in a task
/// of its own, so that the retry of a client that has left finds the answer.
///
/// Until then it runs in the task of the connection, as any other handler does.
pub(super) struct Finishing {
    work: Option<BoxFuture<'static, Result<Response, ApiError>>>,
    within: Duration,
    places: Arc<Semaphore>,
}

impl Finishing {
    /// Bounds the time of the rest after its client has left, and the number of those
    /// that go on at a time.
    pub(super) fn new(
        work: BoxFuture<'static, Result<Response, ApiError>>,
        within: Duration,
        places: Arc<Semaphore>,
    ) -> Self {
        Self { work: Some(work), within, places }
    }
}

impl Future for Finishing {
    type Output = Result<Response, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl Drop for Finishing {
    fn drop(&mut self) {
        let Some(work) = self.work.take().filter(|_| !self.within.is_zero()) else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            log::warn!(
                target: "stockade",
                "a handler with an idempotency key is dropped with its client, because \
                 {MAX_UNATTENDED} others go on without theirs"
            );
            return;
        };
        let within = self.within;
        runtime.spawn(async move {
            let _place = place;
            match timeout(within, work).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    log::debug!(target: "stockade", "the client of a handler has left: {error}");
                }
                Err(_) => log::warn!(
                    target: "stockade",
                    "a handler with an idempotency key is dropped: it went on for {within:?} \
                     after its client had left"
                ),
            }
        });
    }
}

/// The number of handlers that go on at a time after their clients have left.
pub(super) const MAX_UNATTENDED: usize = 1_024;
