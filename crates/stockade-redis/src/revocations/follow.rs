//! The task that reads and repairs the revocation log.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use stockade_auth::{Revocation, RevocationFeed};
use tokio::time::sleep;

use super::cursor::{Cursor, Place};
use super::{CHUNK, Followed, PAGE, Room, Shared};
use crate::error::LinkError;

/// Follows the log until the revocations are dropped.
pub(super) async fn run(followed: Followed) {
    let log = &*followed.0;
    let mut follower = Follower::default();
    while let Some(feed) = log.feed().filter(|feed| feed.now().is_some()) {
        // The link logs its own failures. The next round tries again.
        let _ = follower.round(log, feed).await;
        sleep(BETWEEN_READINGS).await;
    }
}

/// The state of the task.
#[derive(Default)]
struct Follower {
    cursor: Cursor,
    /// The ID of the server process, once known.
    engine: Option<String>,
    /// The time of the last comparison of the server ID.
    compared: Option<Instant>,
    /// The time of the last repair.
    repaired: Option<Instant>,
    /// The time of the last sweep of expired entries, in Unix seconds.
    swept: u64,
}

impl Follower {
    /// Reads new entries and repairs the log if it has lost some.
    async fn round(&mut self, log: &Shared, feed: &RevocationFeed) -> Result<(), LinkError> {
        let is_due = |last: Option<Instant>, pause| last.is_none_or(|last| last.elapsed() >= pause);
        let compares = is_due(self.compared, BETWEEN_COMPARISONS);
        let mut needs_repair = false;
        let mut wants_engine = compares;
        loop {
            let (engine, page) = log.read(self.cursor.next(), wants_engine).await?;
            if wants_engine {
                needs_repair |= self.engine.as_ref().is_some_and(|known| *known != engine);
                self.engine = Some(engine);
                self.compared = Some(Instant::now());
                wants_engine = false;
            }
            let mut entries = Vec::new();
            let place = self.cursor.take(&page, PAGE, &mut entries);
            feed.apply(entries);
            match place {
                Place::Inside => {}
                Place::End => break,
                Place::Lost => {
                    needs_repair = true;
                    break;
                }
            }
        }
        // An empty log lacks our entries, for example after an unnoticed data
        // loss.
        let has_unsent = log.has_unsent.load(Ordering::Acquire);
        let is_empty =
            !self.cursor.has_begun() && feed.entries().is_some_and(|all| !all.is_empty());
        if needs_repair || (has_unsent || is_empty) && is_due(self.repaired, BETWEEN_REPAIRS) {
            // Reset before the repair, so a publish that fails during the
            // repair is not missed.
            log.has_unsent.store(false, Ordering::Release);
            let outcome = self.repair(log, feed).await;
            if outcome.is_err() {
                log.has_unsent.store(true, Ordering::Release);
            }
            self.repaired = Some(Instant::now());
            outcome?;
        }
        feed.note_contact();
        self.sweep(log, feed).await
    }

    /// Reads the whole log and adds the missing entries.
    async fn repair(&mut self, log: &Shared, feed: &RevocationFeed) -> Result<(), LinkError> {
        self.cursor = Cursor::default();
        let mut known = HashSet::new();
        loop {
            let (_, page) = log.read(self.cursor.next(), false).await?;
            let mut entries = Vec::new();
            let place = self.cursor.take(&page, PAGE, &mut entries);
            feed.apply(entries.iter().copied());
            known.extend(entries);
            match place {
                Place::Inside => {}
                Place::End => break,
                Place::Lost => {
                    self.cursor = Cursor::default();
                    known.clear();
                }
            }
        }
        let Some(now) = feed.now() else { return Ok(()) };
        let expired: Vec<Revocation> =
            known.iter().copied().filter(|entry| entry.until() <= now).collect();
        log.remove(&expired).await?;
        let ours = feed.entries().unwrap_or_default().into_iter();
        let missing: Vec<Revocation> =
            ours.filter(|entry| entry.until() > now && !known.contains(entry)).collect();
        if !missing.is_empty() {
            let count = missing.len();
            log::warn!(
                target: "stockade",
                "Redis lost {count} revocations of this process, which are being restored",
            );
        }
        if missing.iter().any(Revocation::is_beyond) {
            log::error!(
                target: "stockade",
                "Redis lost the revocations above Revocations::max_entries, which no process has \
                 stored: their tokens are valid again",
            );
        }
        for entries in missing.chunks(CHUNK) {
            log.add(entries, Room::OfLog).await?;
        }
        Ok(())
    }

    /// Removes expired entries from this process and from Redis.
    async fn sweep(&mut self, log: &Shared, feed: &RevocationFeed) -> Result<(), LinkError> {
        let Some(now) = feed.now() else { return Ok(()) };
        if now < self.swept.saturating_add(BETWEEN_SWEEPS_SECONDS) {
            return Ok(());
        }
        self.swept = now;
        log.remove(&feed.sweep().unwrap_or_default()).await
    }
}

/// The interval between reads of the log.
const BETWEEN_READINGS: Duration = Duration::from_millis(50);
/// The interval between checks for a different server process.
const BETWEEN_COMPARISONS: Duration = Duration::from_secs(5);
/// The minimum interval between repairs, unless the log is known to have lost
/// entries.
const BETWEEN_REPAIRS: Duration = Duration::from_secs(1);
const BETWEEN_SWEEPS_SECONDS: u64 = 60;
