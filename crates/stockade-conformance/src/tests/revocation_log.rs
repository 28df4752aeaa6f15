//! Revocation logs that violate a guarantee.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stockade_auth::{
    PublishFuture, Revocation, RevocationFeed, RevocationLog, Revocations, StalePolicy, UnixClock,
};
use tokio::time::Instant;

use super::fails_with;
use crate::revocation_log;

/// A log for several handles of one process, with at most one fault.
struct Log {
    feeds: Mutex<Vec<RevocationFeed>>,
    fault: Fault,
    entries: AtomicUsize,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Every tenth entry is forgotten.
    ForgetsEntries,
    /// A new process does not receive earlier entries.
    HidesEarlierEntries,
    /// It never reports that all entries are known.
    NeverReportsContact,
    /// All tokens of a subject are revoked, including future ones.
    RevokesFutureTokens,
    /// An entry never expires.
    NeverExpires,
}

impl RevocationLog for Log {
    fn attach(&self, feed: RevocationFeed) {
        let mut feeds = self.feeds.lock().unwrap();
        if self.fault != Fault::HidesEarlierEntries {
            feed.apply(feeds.iter().filter_map(RevocationFeed::entries).flatten());
        }
        if self.fault != Fault::NeverReportsContact {
            feed.note_contact();
        }
        feeds.push(feed);
    }

    fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
        let mut bytes = entry.to_bytes();
        match self.fault {
            Fault::ForgetsEntries if self.entries.fetch_add(1, Ordering::Relaxed) % 10 == 7 => {
                return Box::pin(async { Ok(()) });
            }
            // The last 8 of 33 bytes are the time before which tokens are
            // revoked; the 8 bytes before them are the expiry of the entry.
            Fault::RevokesFutureTokens if bytes.len() == 33 => bytes[25..].fill(0x7f),
            Fault::NeverExpires => bytes[17..25].fill(0x7f),
            _ => {}
        }
        let entry = Revocation::from_bytes(&bytes).unwrap();
        self.feeds.lock().unwrap().retain(|feed| feed.apply([entry]));
        Box::pin(async { Ok(()) })
    }
}

/// Checks a log with the paused clock of tokio, which advances when all tasks
/// wait.
async fn check(fault: Fault) {
    let (feeds, entries) = (Mutex::default(), AtomicUsize::new(0));
    let log = Arc::new(Log { feeds, fault, entries });
    let begin = Instant::now();
    let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let clock = UnixClock::new(move || real + begin.elapsed().as_secs());
    revocation_log(|| {
        // The only contact is the initial one.
        let stale = StalePolicy::Refuse { after: Duration::MAX };
        Revocations::shared(log.clone()).clock(clock.clone()).stale(stale)
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn accepts_a_correct_implementation() {
    check(Fault::None).await;
}

#[tokio::test(start_paused = true)]
async fn rejects_faulty_implementations() {
    for (fault, words) in [
        (
            Fault::ForgetsEntries,
            "all processes reject a token that one process revokes: found NotRevoked",
        ),
        (
            Fault::HidesEarlierEntries,
            "a process that starts later reads all entries before it responds",
        ),
        (Fault::NeverReportsContact, "a process is connected to the log: found Unknown"),
        (
            Fault::RevokesFutureTokens,
            "the next token of a revoked subject is accepted: found Revoked",
        ),
        (Fault::NeverExpires, "an entry expires in all processes: found Revoked"),
    ] {
        fails_with(check(fault), words).await;
    }
}
