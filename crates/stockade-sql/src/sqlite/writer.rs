//! The writer thread, which commits writes in groups.
//!
//! A commit waits for the disk, and writes queue up meanwhile. They form one
//! transaction with a savepoint for each write, so a failing write rolls back
//! only its own changes. All calls return after the commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::SqliteOptions;
use super::file::OpenFile;
use super::readers::execute;
use super::worker::{Busy, Deadline, Outcome, Workers};
use crate::SqlError;

/// The maximum number of writes per transaction.
const GROUP: usize = 64;

/// A transaction does not accept further writes after this time.
const GROUP_TIME: Duration = Duration::from_millis(2);

pub(super) struct Writer {
    workers: Workers<Box<dyn Job>>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        deadline: Deadline,
        options: &SqliteOptions,
        file: OpenFile,
    ) -> Result<Self, SqlError> {
        let (sender, jobs) = bounded(options.queue.max(1));
        let mut workers = Workers::new(sender);
        let busy_timeout = options.busy_timeout;
        let free_since = Instant::now();
        let group =
            Group { connection, deadline, jobs, file, busy_timeout, free_since, most: GROUP };
        let busy = workers.busy();
        workers.start("sqlite-writer", move || group.serve(&busy))?;
        Ok(Self { workers })
    }

    /// Returns the use of the writer.
    #[cfg(feature = "metrics")]
    pub(super) fn pool_use(&self) -> crate::metrics::PoolUse {
        self.workers.pool_use()
    }

    pub(super) async fn run<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqlError> + Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        let job = Write { queued: Instant::now(), work: Some(work), outcome: None, answer };
        self.workers.run(Box::new(job), result).await
    }
}

/// A queued write.
trait Job: Send {
    /// Returns the time when the write was queued.
    fn queued(&self) -> Instant;

    /// Returns true if the caller has gone away.
    fn is_abandoned(&self) -> bool;

    /// Runs the work. Returns true on success.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Sends the result, or `failure` if the changes were not committed.
    fn answer(self: Box<Self>, failure: Option<SqlError>);
}

struct Write<F, T, E> {
    queued: Instant,
    work: Option<F>,
    outcome: Option<Outcome<T, E>>,
    answer: oneshot::Sender<Outcome<T, E>>,
}

impl<F, T, E> Job for Write<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E> + Send,
    T: Send,
    E: From<SqlError> + Send,
{
    fn queued(&self) -> Instant {
        self.queued
    }

    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn run(&mut self, connection: &Connection) -> bool {
        let work = self.work.take();
        self.outcome = work.map(|work| catch_unwind(AssertUnwindSafe(|| work(connection))));
        matches!(self.outcome, Some(Ok(Ok(_))))
    }

    fn answer(self: Box<Self>, failure: Option<SqlError>) {
        let outcome = match (self.outcome, failure) {
            // An error or panic of the work itself takes precedence.
            (Some(outcome @ (Ok(Err(_)) | Err(_))), _) | (Some(outcome), None) => outcome,
            (_, Some(failure)) => Ok(Err(failure.into())),
            // The receiver reports the missing result.
            (None, None) => return,
        };
        // The caller may have gone away.
        let _ = self.answer.send(outcome);
    }
}

/// The state of the thread.
struct Group {
    connection: Connection,
    deadline: Deadline,
    jobs: Receiver<Box<dyn Job>>,
    file: OpenFile,
    /// The time that a write waits for other processes.
    busy_timeout: Duration,
    /// The end of the last transaction. Only the time after it counts as
    /// waiting for other processes; before it, writes waited for that
    /// transaction.
    free_since: Instant,
    /// The maximum number of writes per transaction; 1 if each must be
    /// committed separately.
    most: usize,
}

impl Group {
    fn serve(mut self, busy: &Busy) {
        while let Ok(job) = self.jobs.recv() {
            if !job.is_abandoned() {
                busy.during(|| self.commit_with(job));
            }
        }
    }

    /// Commits this write together with the waiting ones.
    fn commit_with(&mut self, first: Box<dyn Job>) {
        if let Err(error) = self.begin(&*first) {
            return first.answer(Some(error));
        }
        let begun = Instant::now();
        let mut done = Vec::new();
        let mut next = Some(first);
        let mut outcome = Ok(());
        while let Some(mut job) = next {
            outcome = self.run(&mut *job);
            done.push(job);
            let is_full = done.len() >= self.most || begun.elapsed() >= GROUP_TIME;
            if outcome.is_err() || is_full {
                break;
            }
            next = self.jobs.try_iter().find(|job| !job.is_abandoned());
        }
        self.deadline.lift();
        let outcome = outcome.and_then(|()| execute(&self.connection, "COMMIT"));
        if let Err(error) = &outcome {
            self.give_up(error, done.len());
        }
        self.free_since = Instant::now();
        let error = outcome.err().map(Arc::new);
        for job in done {
            job.answer(error.as_ref().map(SqlError::from_shared));
        }
    }

    /// Begins a transaction and waits for other processes.
    ///
    /// All queued writes wait at the same time, each up to its own limit. When
    /// one has failed, the next fails soon after.
    fn begin(&self, first: &dyn Job) -> Result<(), SqlError> {
        self.deadline.lift();
        self.file.check()?;
        let waited = first.queued().max(self.free_since).elapsed();
        self.connection.busy_timeout(self.busy_timeout.saturating_sub(waited))?;
        execute(&self.connection, "BEGIN IMMEDIATE")?;
        // Statements of the program may wait this long for other files.
        Ok(self.connection.busy_timeout(self.busy_timeout)?)
    }

    /// Runs one write in a savepoint. Returns an error if the transaction
    /// cannot continue.
    fn run(&self, job: &mut dyn Job) -> rusqlite::Result<()> {
        execute(&self.connection, "SAVEPOINT one_write")?;
        self.deadline.begin();
        let is_kept = job.run(&self.connection);
        self.deadline.lift();
        if self.connection.is_autocommit() {
            // The work ended the transaction, or SQLite did because the disk is
            // full.
            return Err(super::failure::transaction_ended());
        }
        if !is_kept {
            execute(&self.connection, "ROLLBACK TO one_write")?;
        }
        execute(&self.connection, "RELEASE one_write")
    }

    /// Rolls back a transaction that cannot be committed.
    fn give_up(&mut self, error: &rusqlite::Error, writes: usize) {
        if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) && writes > 1 {
            // A reference that is checked at the commit is broken, and the
            // error does not identify the write.
            log::warn!("each write is now committed separately: {error}");
            self.most = 1;
        }
        if !self.connection.is_autocommit()
            && let Err(error) = execute(&self.connection, "ROLLBACK")
        {
            log::error!("a transaction cannot be rolled back: {error}");
        }
    }
}
