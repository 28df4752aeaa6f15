//! [`Redis`]: the link to an engine, which everything else stands on.
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

/// A link to Valkey or Redis, which is kept by a task in the background. A clone is
/// the same link.
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
/// # When the engine is gone
///
/// A command never waits for long: it has a deadline, and fails at once while there is
/// no connection. Three in a row without an answer in time count as an outage too,
/// until a ping is answered. The link connects again by itself, after waits of 50 ms
/// to 5 s that are shortened at random, and at most a second after a command has asked
/// for it. It looks the host up anew each time. An outage is one line in the log at
/// error level, and its end one at info level.
#[derive(Clone)]
pub struct Redis(Arc<Owner>);

/// The handles of a link. The task ends with the last of them.
struct Owner(Arc<Link>);

/// The part of a link that handles and the task share.
pub(crate) struct Link {
    pub(crate) connector: Connector,
    pub(crate) options: RedisOptions,
    /// True while the task runs.
    pub(crate) is_kept: AtomicBool,
    pub(crate) state: watch::Sender<State>,
    outage: Mutex<Option<Outage>>,
    pub(crate) breaker: Mutex<Breaker>,
    in_flight: Semaphore,
    /// Milliseconds from `start` to the last answer.
    answered: AtomicU64,
    start: Instant,
    /// Told when a command found the link down.
    pub(crate) wanted: Notify,
    /// Told when all handles are gone.
    pub(crate) closed: Notify,
    faults: mpsc::Sender<Fault>,
    #[cfg(feature = "metrics")]
    counts: Counts,
    /// The other end, while no task has it.
    pub(crate) noted: Mutex<Option<mpsc::Receiver<Fault>>>,
}

/// The connection of a link.
#[derive(Clone)]
pub(crate) enum State {
    /// There may be one in a moment.
    Connecting,
    /// There is one, with its number.
    Up(MultiplexedConnection, u64),
    /// There is none, or it is not to be used.
    Down(Arc<str>),
}

/// A reason to look at a connection, whose number it has.
pub(crate) struct Fault {
    pub(crate) connection: u64,
    pub(crate) kind: FaultKind,
}

pub(crate) enum FaultKind {
    /// Commands get no answer in time.
    Silent,
    /// The engine is the wrong one, or not ready.
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
    /// The address is `redis://user:password@host:port/database`, or `rediss://` with
    /// the feature `redis-tls`; `valkey://` and `valkeys://` mean the same.
    ///
    /// # Errors
    /// Fails for what is seen without a network: an address that is none, options that
    /// are wrong, certificates that cannot be read. No error has the address, which may
    /// contain a password.
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

    /// Returns the address as it is logged, without secrets.
    #[cfg(feature = "metrics")]
    pub(crate) fn address(&self) -> String {
        self.0.0.connector.to_string()
    }

    /// Returns true while there is a connection that is not asked.
    #[cfg(feature = "metrics")]
    pub(crate) fn is_breaker_open(&self) -> bool {
        let state = self.0.0.state.borrow();
        matches!(&*state, State::Down(reason) if **reason == *SILENT)
    }
}

impl Link {
    /// Returns the connection, waits for it if there may be one in a moment, and fails
    /// at once if the link is down.
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

    /// Draws the consequences of the outcome of a command for its connection.
    fn validate(&self, connection: u64, error: Option<&LinkError>) {
        let kind = match error {
            Some(LinkError::Late(_)) => {
                // Of a connection that was given up, more is not to be learnt.
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
            // It has answered.
            _ => {
                self.note_answer();
                lock(&self.breaker).succeeded();
                return;
            }
        };
        // If it is full, the task knows enough.
        let _ = self.faults.try_send(Fault { connection, kind });
    }

    pub(crate) fn note_answer(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.answered.store(now, Ordering::Relaxed);
    }

    /// Returns the time since the last answer.
    pub(crate) fn silence(&self) -> Duration {
        let answered = Duration::from_millis(self.answered.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(answered)
    }

    /// Notes that there is no usable connection, and logs it once for each outage.
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

    /// Notes that there is a connection.
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

    /// Starts the task if it does not run: the link was opened outside a runtime, or
    /// its runtime has ended.
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

/// The reason of an outage with a connection that gives no answers.
pub(crate) const SILENT: &str = "commands get no answer in time";

/// Returns true if the connection broke, which its task sees too.
fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.is_connection_dropped()
}
