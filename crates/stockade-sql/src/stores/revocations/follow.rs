//! The task that reads and repairs the revocation table.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use stockade_auth::{Revocation, RevocationFeed};
use tokio::time::sleep;

use super::{Followed, PAGE, Shared, entry_of};
use crate::{Driver, Row, SqlError};

/// Follows the table until the revocations are dropped.
pub(super) async fn run<D: Driver>(followed: Followed<D>, mut follower: Follower) {
    let log = &*followed.0;
    while let Some(feed) = log.feed.get().filter(|feed| feed.now().is_some()) {
        let outcome = follower.round(log, feed).await;
        follower.note(outcome);
        sleep(BETWEEN_READINGS).await;
    }
}

/// The state of the task.
#[derive(Default)]
pub(super) struct Follower {
    /// The last row read.
    last: Option<Row>,
    /// True if the last read found no rows although this process has
    /// revocations.
    was_empty: bool,
    /// The time of the last repair.
    repaired: Option<Instant>,
    /// The time of the last removal of expired rows, in seconds since 1970.
    swept: u64,
    /// True while the database fails.
    is_failing: bool,
}

impl Follower {
    /// Reads new rows and repairs the table if it has lost some.
    pub(super) async fn round<D: Driver>(
        &mut self,
        log: &Shared<D>,
        feed: &RevocationFeed,
    ) -> Result<(), SqlError> {
        let is_lost = self.read(log, feed, |_| ()).await?.is_lost();
        let has_unsent = log.has_unsent.load(Ordering::Acquire);
        let is_due = self.repaired.is_none_or(|time| time.elapsed() >= BETWEEN_REPAIRS);
        // An empty table is a loss too. A single read could miss a row that is
        // being written.
        let is_empty =
            self.last.is_none() && feed.entries().is_some_and(|entries| !entries.is_empty());
        let stays_empty = std::mem::replace(&mut self.was_empty, is_empty) && is_empty;
        if is_lost || (is_due && (has_unsent || stays_empty)) {
            // Cleared first, because another revocation may fail meanwhile.
            log.has_unsent.store(false, Ordering::Release);
            self.repaired = Some(Instant::now());
            if let Err(error) = self.repair(log, feed).await {
                log.has_unsent.store(true, Ordering::Release);
                return Err(error);
            }
        }
        feed.note_contact();
        self.sweep(log, feed).await
    }

    /// Reads from the last row on.
    async fn read<D: Driver>(
        &mut self,
        log: &Shared<D>,
        feed: &RevocationFeed,
        mut each: impl FnMut(Revocation),
    ) -> Result<ReadOutcome, SqlError> {
        loop {
            let page = log.read(self.last.as_ref().map_or(0, |row| row.number)).await?;
            if let Some(last) = &self.last {
                // The row with the highest number is never removed, so at least
                // one row exists. An expired row may be missing, but no other
                // row has its number.
                let is_same = page
                    .first()
                    .is_some_and(|row| row.number != last.number || row.json == last.json);
                if !is_same {
                    return Ok(ReadOutcome::Lost);
                }
            }
            let is_full = page.len() >= PAGE;
            feed.apply(page.iter().filter_map(entry_of).inspect(|entry| each(*entry)));
            self.last = page.into_iter().next_back().or_else(|| self.last.take());
            if !is_full {
                return Ok(ReadOutcome::All);
            }
        }
    }

    /// Reads the whole table and writes the missing revocations.
    async fn repair<D: Driver>(
        &mut self,
        log: &Shared<D>,
        feed: &RevocationFeed,
    ) -> Result<(), SqlError> {
        let mut known = HashSet::new();
        self.last = None;
        while self.read(log, feed, |entry| _ = known.insert(entry)).await?.is_lost() {
            self.last = None;
            known.clear();
        }
        let Some(now) = feed.now() else { return Ok(()) };
        let ours = feed.entries().unwrap_or_default().into_iter();
        let missing: Vec<Revocation> =
            ours.filter(|entry| entry.until() > now && !known.contains(entry)).collect();
        if !missing.is_empty() {
            let count = missing.len();
            log::warn!(
                target: "stockade",
                "stockade_revocations lost {count} revocations of this process, which are being \
                 restored"
            );
        }
        for entry in &missing {
            log.add(entry).await?;
        }
        Ok(())
    }

    /// Removes expired revocations from this process and from the table.
    async fn sweep<D: Driver>(
        &mut self,
        log: &Shared<D>,
        feed: &RevocationFeed,
    ) -> Result<(), SqlError> {
        let Some(now) = feed.now() else { return Ok(()) };
        if now < self.swept.saturating_add(BETWEEN_SWEEPS_SECONDS) {
            return Ok(());
        }
        self.swept = now;
        drop(feed.sweep());
        log.sweep(now).await
    }

    /// Logs the first of several consecutive failures.
    fn note(&mut self, outcome: Result<(), SqlError>) {
        match outcome {
            Ok(()) => self.is_failing = false,
            Err(error) if !self.is_failing => {
                self.is_failing = true;
                log::warn!(target: "stockade", "revocations of tokens cannot be read: {error}");
            }
            Err(_) => {}
        }
    }
}

/// The outcome of a read.
#[derive(Clone, Copy, Eq, PartialEq)]
enum ReadOutcome {
    /// Everything was read.
    All,
    /// The last known row is missing.
    Lost,
}

impl ReadOutcome {
    fn is_lost(self) -> bool {
        self == Self::Lost
    }
}

/// The interval between reads of the table.
const BETWEEN_READINGS: Duration = Duration::from_millis(250);
/// The minimum interval between repairs of a table that has not lost anything.
const BETWEEN_REPAIRS: Duration = Duration::from_secs(1);
const BETWEEN_SWEEPS_SECONDS: u64 = 5;
