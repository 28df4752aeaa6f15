//! [`RevocationLog`]: the way by which processes tell each other what is revoked.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use super::entry::RevocationKey;
use super::table::Table;
use super::{Revocation, RevokeError};

/// A log that several processes share, of a [`Revocations`](super::Revocations).
///
/// The entries of a log are a set: an order means nothing, and an entry that comes twice
/// changes nothing. So a log that lost something may be filled again from any process,
/// by [`RevocationFeed::entries`].
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
///         // One that comes later learns what the others know.
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
    /// Takes the way to put entries of others into the table of this process. Called
    /// once, before everything else.
    fn attach(&self, feed: RevocationFeed);

    /// Tells the other processes of an entry, which this one knows already. An error
    /// must not lose it: the log tells it later.
    fn publish(&self, entry: Revocation) -> PublishFuture<'_>;

    /// Returns true if the log keeps revocations that the processes have no room for,
    /// and can be asked for them. Default: false; then revoking fails beyond
    /// [`max_entries`](super::Revocations::max_entries).
    fn can_query(&self) -> bool {
        false
    }

    /// Keeps an entry that this process has no room for, and tells the others that there
    /// is one, by [`Revocation::beyond`] in their feeds and in its own. Default:
    /// [`RevokeError::Full`].
    fn publish_beyond(&self, _entry: Revocation) -> PublishFuture<'_> {
        Box::pin(async { Err(RevokeError::Full) })
    }

    /// Returns what was published beyond the bound under each of these keys. Default:
    /// nothing.
    fn query<'a>(&'a self, keys: &'a [RevocationKey]) -> QueryFuture<'a> {
        Box::pin(async { Ok(vec![None; keys.len()]) })
    }

    /// Called when a token was refused because there is no contact, so that a log can
    /// look after its task. Default: nothing.
    fn wake(&self) {}
}

/// The future of [`RevocationLog::publish`].
pub type PublishFuture<'a> = Pin<Box<dyn Future<Output = Result<(), RevokeError>> + Send + 'a>>;

/// The future of [`RevocationLog::query`].
pub type QueryFuture<'a> = Pin<Box<dyn Future<Output = Answers> + Send + 'a>>;

type Answers = Result<Vec<Option<Revocation>>, Box<dyn Error + Send + Sync>>;

/// The way from a log to the table of a process. It does not keep the table: once all
/// its [`Revocations`](super::Revocations) are gone, nothing is kept any more.
#[derive(Clone)]
pub struct RevocationFeed(Weak<Table>);

impl RevocationFeed {
    pub(super) fn new(table: &Arc<Table>) -> Self {
        Self(Arc::downgrade(table))
    }

    /// Puts entries into the table. Returns false if it is gone.
    ///
    /// An entry for which there is no room is logged at error level: its token passes
    /// in this process.
    pub fn apply(&self, entries: impl IntoIterator<Item = Revocation>) -> bool {
        let Some(table) = self.0.upgrade() else { return false };
        let lost = entries.into_iter().filter(|entry| !table.add(*entry)).count();
        if lost > 0 {
            log::error!(
                target: crate::LOG_TARGET,
                "{lost} revocations of other processes do not fit into this one; \
                 raise Revocations::max_entries, which is to be the same in all of them",
            );
        }
        true
    }

    /// Notes that the table has everything that the log has.
    pub fn note_contact(&self) {
        if let Some(table) = self.0.upgrade() {
            table.note_contact();
        }
    }

    /// Returns all entries of the table, in no order; `None` if it is gone.
    #[must_use]
    pub fn entries(&self) -> Option<Vec<Revocation>> {
        Some(self.0.upgrade()?.entries())
    }

    /// Removes expired entries from the table, and returns them; `None` if it is gone.
    #[must_use]
    pub fn sweep(&self) -> Option<Vec<Revocation>> {
        Some(self.0.upgrade()?.sweep())
    }

    /// Returns the largest number of entries, for a log that has a bound too; `None` if
    /// the table is gone.
    #[must_use]
    pub fn max_entries(&self) -> Option<usize> {
        Some(self.0.upgrade()?.max_entries())
    }

    /// Returns the time in seconds since 1970; `None` if the table is gone.
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
