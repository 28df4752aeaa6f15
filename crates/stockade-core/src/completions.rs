//! `Completions`: the number of handlers that continue without their clients.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stockade_validation::__internal::LogRate;
use tokio::sync::Notify;

/// The maximum number of handlers of an application that run without clients at
/// the same time.
pub(crate) const MAX_UNATTENDED: usize = 1_024;

/// The handlers of an application that continue without their clients. Clones
/// share the same count.
#[derive(Clone, Default)]
pub struct Completions(Arc<Counted>);

#[derive(Default)]
struct Counted {
    running: AtomicUsize,
    /// Notified when a handler ends.
    ended: Notify,
    /// Limits the warnings about excess handlers.
    refusals: LogRate,
}

impl Completions {
    /// Waits until no handler runs without its client.
    pub async fn finished(&self) {
        loop {
            let mut ended = pin!(self.0.ended.notified());
            // Register before the check, to avoid missing an end between check
            // and wait.
            ended.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }

    /// Returns the number of handlers that run without their clients.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.running.load(Ordering::Acquire)
    }

    /// Logs that a handler is dropped because too many handlers already run
    /// without their clients. Logs at most one line per second, because clients
    /// can trigger it.
    #[cold]
    pub(crate) fn warn_of_refusal(&self, name: &dyn fmt::Display) {
        if let Some(unlogged) = self.0.refusals.next() {
            log::warn!(
                target: "stockade",
                "{name} was dropped when its client disconnected, because {MAX_UNATTENDED} \
                 handlers already run without a client; so were {unlogged} others"
            );
        }
    }

    /// Counts one more handler until the returned [`Place`] is dropped. Returns
    /// `None` if there are too many.
    pub(crate) fn enter(&self) -> Option<Place> {
        let more = |running: usize| (running < MAX_UNATTENDED).then_some(running + 1);
        self.0.running.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Place(self.clone()))
    }
}

/// The place of a handler that continues without its client.
pub(crate) struct Place(Completions);

impl Drop for Place {
    fn drop(&mut self) {
        let Self(Completions(counted)) = self;
        counted.running.fetch_sub(1, Ordering::AcqRel);
        counted.ended.notify_waiters();
    }
}

impl fmt::Debug for Completions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Completions({})", self.count())
    }
}
