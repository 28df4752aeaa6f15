//! Threads that run work on a connection, with a time limit.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, TrySendError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::SqlError;
#[cfg(feature = "metrics")]
use crate::metrics::PoolUse;

/// The result of work that may have panicked.
pub(super) type Outcome<T, E> = Result<Result<T, E>, Box<dyn Any + Send>>;

/// Threads that end when their queue is dropped and empty.
pub(super) struct Workers<J> {
    // `None` during drop.
    queue: Option<Sender<J>>,
    threads: Vec<JoinHandle<()>>,
    busy: Busy,
}

/// The number of threads that run a job. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy(Arc<AtomicUsize>);

impl Busy {
    /// Counts the thread as busy while it runs `work`, which must not panic.
    pub(super) fn during(&self, work: impl FnOnce()) {
        self.0.fetch_add(1, Ordering::Relaxed);
        work();
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<J: Send + 'static> Workers<J> {
    /// Creates an empty set of workers for the receivers of `queue`.
    pub(super) fn new(queue: Sender<J>) -> Self {
        Self { queue: Some(queue), threads: Vec::new(), busy: Busy::default() }
    }

    /// Returns the counter of busy threads, for the threads.
    pub(super) fn busy(&self) -> Busy {
        self.busy.clone()
    }

    /// Returns the use of the threads.
    #[cfg(feature = "metrics")]
    pub(super) fn pool_use(&self) -> PoolUse {
        PoolUse {
            in_use: self.busy.0.load(Ordering::Relaxed),
            limit: self.threads.len(),
            waiting: self.queue.as_ref().map_or(0, Sender::len),
        }
    }

    /// Starts a thread.
    pub(super) fn start(
        &mut self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), SqlError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        self.threads.push(thread.map_err(SqlError::failed)?);
        Ok(())
    }

    /// Queues a job and waits for its result.
    pub(super) async fn run<T, E: From<SqlError>>(
        &self,
        job: J,
        result: oneshot::Receiver<Outcome<T, E>>,
    ) -> Result<T, E> {
        let sent = self.queue.as_ref().map(|queue| queue.try_send(job));
        match sent {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(_))) => {
                return Err(SqlError::unavailable("the queue of the database is full").into());
            }
            Some(Err(TrySendError::Disconnected(_))) | None => return Err(ended().into()),
        }
        match result.await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(ended().into()),
        }
    }
}

impl<J> Drop for Workers<J> {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // If the work owns the last clone, the clone is dropped on this
            // thread, which cannot join itself.
            if thread.thread().id() != thread::current().id() {
                // A panicked thread has ended too.
                let _ = thread.join();
            }
        }
    }
}

fn ended() -> SqlError {
    SqlError::failed("the thread of the database has ended: this is a bug in stockade")
}

/// The deadline for the statements of a connection.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    base: Instant,
    allowed: Duration,
    /// In microseconds after `base`.
    at: Arc<AtomicU64>,
}

/// The number of SQLite VM steps between checks of the clock, about 50 µs.
const STEPS: i32 = 4_000;

impl Deadline {
    pub(super) fn new(allowed: Duration) -> Self {
        Self { base: Instant::now(), allowed, at: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Starts the time limit for new work.
    pub(super) fn begin(&self) {
        let at = self.base.elapsed().saturating_add(self.allowed);
        self.at.store(micros(at), Ordering::Relaxed);
    }

    /// Removes the limit, for the statements that finish the work.
    pub(super) fn lift(&self) {
        self.at.store(u64::MAX, Ordering::Relaxed);
    }

    /// Interrupts the statements of this connection after the deadline.
    pub(super) fn watch(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let Self { base, at, .. } = self.clone();
        let is_over = move || micros(base.elapsed()) > at.load(Ordering::Relaxed);
        connection.progress_handler(STEPS, Some(is_over))
    }
}

/// Converts a duration to microseconds. Half a million years fit.
fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
