//! [`Redis`]: the link to a server, the base of all stores.
//!
//! - `commands`: the commands that it sends.

mod commands;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use redis::RedisError;
use redis::aio::MultiplexedConnection;
use stockade_errors::ConfigError;
use stockade_errors::locks::lock;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, mpsc, watch};

use crate::address::Address;
use crate::breaker::Breaker;
use crate::cluster::Cluster;
use crate::connector::Connector;
#[cfg(feature = "metrics")]
use crate::counts::Counts;
use crate::error::{LinkError, wants_another_connection};
use crate::health::Health;
use crate::keeper::{self, LinkHold};
use crate::options::RedisOptions;

/// A link to Redis or Valkey, maintained by a background task. Clones share the
/// link.
///
/// ```
/// use std::sync::Arc;
///
/// use stockade::middleware::rate_limit::StoreFailure;
/// use stockade::middleware::RateLimit;
/// use stockade::prelude::*;
/// use stockade::redis::{Redis, RedisOptions};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), stockade::ConfigError> {
/// let redis = Redis::open("redis://127.0.0.1:6379", RedisOptions::new().prefix("shop"))?;
/// let limit = RateLimit::from(100 / MINUTE)
///     .store(Arc::new(redis.rate_limits()))
///     .on_store_failure(StoreFailure::Local { nodes: 3 });
/// let options = RouterOptions::new().rate_limit(limit);
/// # drop(options);
/// # Ok(())
/// # }
/// ```
///
/// # Outages
///
/// Commands never wait for long: each has a deadline, and commands fail at once
/// while the link is disconnected. Three consecutive timeouts also count as an
/// outage, until a ping succeeds. The link reconnects automatically. It waits
/// 50 ms to 5 s with random jitter between attempts, or at most one second
/// after a command needed the link. Each attempt resolves the host name again.
/// An outage logs one line at error level, and its end one line at info level.
#[derive(Clone)]
pub struct Redis(Arc<Owner>);

/// The shared handle of a link. The task ends when the last handle is dropped.
struct Owner(Arc<Link>);

/// The state that the handles and the task share.
pub(crate) struct Link {
    pub(crate) connector: Connector,
    pub(crate) options: RedisOptions,
    /// True while the task runs.
    pub(crate) is_kept: AtomicBool,
    pub(crate) state: watch::Sender<State>,
    outage: Mutex<Option<Outage>>,
    pub(crate) breaker: Mutex<Breaker>,
    in_flight: Semaphore,
    /// Milliseconds from `start` to the last response.
    answered: AtomicU64,
    start: Instant,
    /// Notified when a command finds the link down.
    pub(crate) wanted: Notify,
    /// Notified when all handles are dropped.
    pub(crate) closed: Notify,
    faults: mpsc::Sender<Fault>,
    #[cfg(feature = "metrics")]
    counts: Counts,
    /// The receiver, while no task owns it.
    pub(crate) noted: Mutex<Option<mpsc::Receiver<Fault>>>,
}

/// The connection state of a link.
#[derive(Clone)]
pub(crate) enum State {
    /// A connection may be available in a moment.
    Connecting,
    /// Connected, with the number of the connection.
    Up(MultiplexedConnection, u64),
    /// Not connected, or the connection must not be used.
    Down(Arc<str>),
}

/// A reason to check a connection, with its number.
pub(crate) struct Fault {
    pub(crate) connection: u64,
    pub(crate) kind: FaultKind,
}

pub(crate) enum FaultKind {
    /// Commands time out.
    Silent,
    /// The server has the wrong role or is not ready.
    Wrong(String),
}

struct Outage {
    since: SystemTime,
    error: String,
    is_logged: bool,
}

impl Redis {
    /// Opens a link, which connects in the background.
    ///
    /// The address is `redis://user:password@host:port/database`, or
    /// `rediss://` with the `redis-tls` feature. `valkey://` and `valkeys://`
    /// are aliases.
    ///
    /// # Errors
    /// Returns an error if the address or an option is invalid, or if the
    /// certificates cannot be read. Network failures are not errors here. Error
    /// messages omit the address because it may contain a password.
    ///
    /// ```
    /// use stockade::redis::{Redis, RedisOptions};
    ///
    /// let options = RedisOptions::new().prefix("shop");
    /// assert!(Redis::open("redis://127.0.0.1:1", options.clone()).is_ok());
    /// assert!(Redis::open("http://127.0.0.1", options).is_err());
    /// assert!(Redis::open("redis://127.0.0.1", RedisOptions::new()).is_err());
    /// ```
    pub fn open(url: &str, options: RedisOptions) -> Result<Self, ConfigError> {
        ConfigError::check(options.issues())?;
        let connector = Connector::engine(Address::read(url)?, &options)?;
        Ok(Self::start(connector, options))
    }

    pub(crate) fn start(connector: Connector, options: RedisOptions) -> Self {
        let (faults, noted) = mpsc::channel(16);
        let link = Arc::new(Link {
            in_flight: Semaphore::new(options.max_in_flight.min(Semaphore::MAX_PERMITS)),
            connector,
            options,
            is_kept: AtomicBool::new(false),
            state: watch::Sender::new(State::Connecting),
            outage: Mutex::new(Some(Outage {
                since: SystemTime::now(),
                error: "not connected yet".to_owned(),
                is_logged: false,
            })),
            breaker: Mutex::new(Breaker::new()),
            answered: AtomicU64::new(0),
            start: Instant::now(),
            wanted: Notify::new(),
            closed: Notify::new(),
            faults,
            #[cfg(feature = "metrics")]
            counts: Counts::default(),
            noted: Mutex::new(Some(noted)),
        });
        link.keep();
        Self(Arc::new(Owner(link)))
    }

    /// Returns the state of the link.
    #[must_use]
    pub fn health(&self) -> Health {
        match &*lock(&self.0.0.outage) {
            None => self.0.0.connector.nodes().map_or(Health::Up, Cluster::health),
            Some(outage) => Health::Down { since: outage.since, error: outage.error.clone() },
        }
    }

    /// Returns the prefix of all keys.
    pub(crate) fn prefix(&self) -> &str {
        &self.0.0.options.prefix
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn counts(&self) -> &Counts {
        &self.0.0.counts
    }

    /// Returns the address for logs, without secrets.
    #[cfg(feature = "metrics")]
    pub(crate) fn address(&self) -> String {
        self.0.0.connector.to_string()
    }

    /// Returns true while a connection exists but the breaker blocks its use.
    #[cfg(feature = "metrics")]
    pub(crate) fn is_breaker_open(&self) -> bool {
        let state = self.0.0.state.borrow();
        matches!(&*state, State::Down(reason) if **reason == *SILENT)
    }
}

impl Link {
    /// Returns the connection. Waits while the link is connecting, and fails at
    /// once if the link is down.
    async fn connection(&self) -> Result<(MultiplexedConnection, u64), LinkError> {
        let found = |state: &State| match state {
            State::Connecting => None,
            State::Up(connection, number) => Some(Ok((connection.clone(), *number))),
            State::Down(reason) => Some(Err(LinkError::Down((**reason).to_owned()))),
        };
        let at_once = found(&self.state.borrow());
        let outcome = if let Some(outcome) = at_once {
            outcome
        } else {
            let mut changes = self.state.subscribe();
            let settled = changes.wait_for(|state| !matches!(state, State::Connecting)).await;
            let settled = settled.ok().and_then(|state| found(&state));
            settled.unwrap_or_else(|| Err(LinkError::Down("the link has ended".to_owned())))
        };
        if outcome.is_err() {
            self.wanted.notify_one();
        }
        outcome
    }

    /// Updates the link's state after a command.
    fn validate(&self, connection: u64, error: Option<&LinkError>) {
        let kind = match error {
            Some(LinkError::Late(_)) => {
                // Timeouts on an abandoned connection are not relevant.
                let is_current =
                    matches!(*self.state.borrow(), State::Up(_, number) if number == connection);
                if !is_current || !lock(&self.breaker).failed() {
                    return;
                }
                FaultKind::Silent
            }
            Some(LinkError::Failed(error)) if is_lost(error) => return,
            Some(LinkError::Failed(error)) if wants_another_connection(error) => {
                FaultKind::Wrong(error.to_string())
            }
            // The server responded.
            _ => {
                self.note_answer();
                lock(&self.breaker).succeeded();
                return;
            }
        };
        // If the channel is full, the task already has enough faults to act on.
        let _ = self.faults.try_send(Fault { connection, kind });
    }

    pub(crate) fn note_answer(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.answered.store(now, Ordering::Relaxed);
    }

    /// Returns the time since the last response.
    pub(crate) fn silence(&self) -> Duration {
        let answered = Duration::from_millis(self.answered.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(answered)
    }

    /// Records that no connection is usable. Logs each outage once.
    pub(crate) fn down(&self, reason: &str) {
        let mut outage = lock(&self.outage);
        let now = SystemTime::now();
        let outage = outage.get_or_insert_with(|| Outage {
            since: now,
            error: String::new(),
            is_logged: false,
        });
        reason.clone_into(&mut outage.error);
        if !std::mem::replace(&mut outage.is_logged, true) {
            let address = &self.connector;
            log::error!(target: "stockade", "redis {address} is down: {reason}");
        }
        self.state.send_replace(State::Down(reason.into()));
    }

    /// Records a usable connection.
    pub(crate) fn up(&self, connection: MultiplexedConnection, number: u64) {
        let outage = lock(&self.outage).take();
        if let Some(outage) = outage.filter(|outage| outage.is_logged) {
            let address = &self.connector;
            let time = outage.since.elapsed().unwrap_or_default();
            log::info!(target: "stockade", "redis {address} is up again after {time:.1?}");
        }
        #[cfg(feature = "metrics")]
        self.counts.note_connection(number);
        self.state.send_replace(State::Up(connection, number));
    }

    /// Starts the task if it is not running: the link was opened outside a
    /// runtime, or its runtime has ended.
    fn keep(self: &Arc<Self>) {
        if self.is_kept.load(Ordering::Relaxed) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.is_kept.swap(true, Ordering::AcqRel) {
            let faults = lock(&self.noted).take();
            runtime.spawn(keeper::run(LinkHold { link: Arc::clone(self), faults }));
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.closed.notify_one();
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("address", &format_args!("{}", self.0.0.connector))
            .field("prefix", &self.0.0.options.prefix)
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

/// The reason for an outage while a connection exists but does not respond.
pub(crate) const SILENT: &str = "commands time out";

/// Returns true if the connection broke. The connection's task notices this
/// too.
fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.is_connection_dropped()
}
