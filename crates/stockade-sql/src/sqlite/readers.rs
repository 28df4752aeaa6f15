//! The reader threads. Each has a connection; all share one queue.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam_channel::{Receiver, bounded};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::worker::{Busy, Deadline, Workers};
use crate::SqlError;

type Job = Box<dyn FnOnce(&Connection) + Send>;

pub(super) struct Readers {
    workers: Workers<Job>,
}

impl Readers {
    pub(super) fn start(
        connections: Vec<(Connection, Deadline)>,
        queue: usize,
    ) -> Result<Self, SqlError> {
        let (sender, jobs) = bounded(queue.max(1));
        let mut workers = Workers::new(sender);
        for (connection, deadline) in connections {
            let (jobs, busy) = (jobs.clone(), workers.busy());
            workers.start("sqlite-reader", move || serve(&connection, &deadline, &jobs, &busy))?;
        }
        Ok(Self { workers })
    }

    /// Returns the use of the readers.
    #[cfg(feature = "metrics")]
    pub(super) fn pool_use(&self) -> crate::metrics::PoolUse {
        self.workers.pool_use()
    }

    /// Runs work that consists of one statement.
    pub(super) async fn statement<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqlError> + Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Skip the work if the caller has gone away.
            if !answer.is_closed() {
                let outcome = catch_unwind(AssertUnwindSafe(|| work(connection)));
                let _ = answer.send(outcome);
            }
        });
        self.workers.run(job, result).await
    }

    /// Runs work on a consistent snapshot of the database.
    pub(super) async fn transaction<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqlError> + Send + 'static,
    {
        self.statement(move |connection| {
            execute(connection, "BEGIN").map_err(SqlError::from)?;
            work(connection)
            // `serve` ends the transaction, even after a panic.
        })
        .await
    }
}

fn serve(connection: &Connection, deadline: &Deadline, jobs: &Receiver<Job>, busy: &Busy) {
    for job in jobs {
        deadline.begin();
        busy.during(|| job(connection));
        if !connection.is_autocommit() {
            deadline.lift();
            if let Err(error) = execute(connection, "ROLLBACK") {
                log::error!("a read transaction cannot be ended: {error}");
            }
        }
    }
}

/// Runs a statement without parameters and rows.
pub(super) fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute(()).map(|_| ())
}
