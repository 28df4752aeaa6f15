//! [`RevocationLog`]: distributes revocations between processes.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use super::entry::RevocationKey;
use super::table::Table;
use super::{Revocation, RevokeError};

/// A log that several processes share, for [`Revocations`](super::Revocations).
///
/// The entries of a log are a set: their order does not matter, and duplicates
/// have no effect. A log that lost entries can be refilled from any process
/// with [`RevocationFeed::entries`].
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use stockade_auth::{
///     PublishFuture, Revocation, RevocationFeed, RevocationLog, Revocations,
/// };
///
/// /// A log for the handles of one process.
/// #[derive(Default)]
/// struct Shared(Mutex<Vec<RevocationFeed>>);
///
/// impl RevocationLog for Shared {
///     fn attach(&self, feed: RevocationFeed) {
///         let mut feeds = self.0.lock().unwrap();
///         // A later feed receives the entries of the others.
///         feed.apply(feeds.iter().filter_map(RevocationFeed::entries).flatten());
///         feed.note_contact();
///         feeds.push(feed);
///     }
///
///     fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
///         self.0.lock().unwrap().retain(|feed| feed.apply([entry]));
///         Box::pin(async { Ok(()) })
///     }
/// }
///
/// let log = Arc::new(Shared::default());
/// let (here, there) = (Revocations::shared(log.clone()), Revocations::shared(log));
/// # let _ = (here, there);
/// ```
pub trait RevocationLog: Send + Sync {
    /// Receives the feed that adds entries of other processes to the table of
    /// this process. Called once, before all other methods.
    fn attach(&self, feed: RevocationFeed);

    /// Publishes an entry, which this process already has, to the other
    /// processes. An error must not lose the entry: the log publishes it later.
    fn publish(&self, entry: Revocation) -> PublishFuture<'_>;

    /// Returns true if the log stores revocations that do not fit into the
    /// processes and can be queried for them. Default: false; revoking fails
    /// above [`max_entries`](super::Revocations::max_entries).
    fn can_query(&self) -> bool {
        false
    }

    /// Stores an entry that does not fit into this process, and notifies all
    /// processes, including this one, with [`Revocation::beyond`] in their
    /// feeds. Default: [`RevokeError::Full`].
    fn publish_beyond(&self, _entry: Revocation) -> PublishFuture<'_> {
        Box::pin(async { Err(RevokeError::Full) })
    }

    /// Returns the entries above the limit with these keys. Default: nothing.
    fn query<'a>(&'a self, keys: &'a [RevocationKey]) -> QueryFuture<'a> {
        Box::pin(async { Ok(vec![None; keys.len()]) })
    }

    /// Called when a token was rejected because the log is unavailable. A log
    /// can check its task here. Default: nothing.
    fn wake(&self) {}
}

/// The future of [`RevocationLog::publish`].
pub type PublishFuture<'a> = Pin<Box<dyn Future<Output = Result<(), RevokeError>> + Send + 'a>>;

/// The future of [`RevocationLog::query`].
pub type QueryFuture<'a> = Pin<Box<dyn Future<Output = Answers> + Send + 'a>>;

type Answers = Result<Vec<Option<Revocation>>, Box<dyn Error + Send + Sync>>;

/// The connection from a log to the table of a process. It does not keep the
/// table alive: the table is dropped with the last
/// [`Revocations`](super::Revocations).
#[derive(Clone)]
pub struct RevocationFeed(Weak<Table>);

impl RevocationFeed {
    pub(super) fn new(table: &Arc<Table>) -> Self {
        Self(Arc::downgrade(table))
    }

    /// Adds entries to the table. Returns false if the table was dropped.
    ///
    /// An entry that does not fit is logged at error level: its token is
    /// accepted in this process.
    pub fn apply(&self, entries: impl IntoIterator<Item = Revocation>) -> bool {
        let Some(table) = self.0.upgrade() else { return false };
        let lost = entries.into_iter().filter(|entry| !table.add(*entry)).count();
        if lost > 0 {
            log::error!(
                target: crate::LOG_TARGET,
                "{lost} revocations of other processes do not fit in this process; raise \
                 Revocations::max_entries to the same value in all processes",
            );
        }
        true
    }

    /// Records that the table has all entries of the log.
    pub fn note_contact(&self) {
        if let Some(table) = self.0.upgrade() {
            table.note_contact();
        }
    }

    /// Returns all entries of the table, in arbitrary order; `None` if the
    /// table was dropped.
    #[must_use]
    pub fn entries(&self) -> Option<Vec<Revocation>> {
        Some(self.0.upgrade()?.entries())
    }

    /// Removes expired entries from the table and returns them; `None` if the
    /// table was dropped.
    #[must_use]
    pub fn sweep(&self) -> Option<Vec<Revocation>> {
        Some(self.0.upgrade()?.sweep())
    }

    /// Returns the maximum number of entries, for a log that is also bounded;
    /// `None` if the table was dropped.
    #[must_use]
    pub fn max_entries(&self) -> Option<usize> {
        Some(self.0.upgrade()?.max_entries())
    }

    /// Returns the time in seconds since 1970; `None` if the table was dropped.
    #[must_use]
    pub fn now(&self) -> Option<u64> {
        Some(self.0.upgrade()?.now())
    }
}

impl fmt::Debug for RevocationFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.0.upgrade().map(|table| table.len());
        f.debug_struct("RevocationFeed").field("entries", &entries).finish()
    }
}
