//! The background task that connects, watches the connection and reconnects.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use stockade_errors::locks::lock;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::backoff::Backoff;
use crate::connect::{ConnectError, Connected, Driver};
use crate::link::{Fault, FaultKind, Link, SILENT, State};

/// The task's ownership of the link. Dropping it allows another task to start.
pub(crate) struct LinkHold {
    pub(crate) link: Arc<Link>,
    pub(crate) faults: Option<mpsc::Receiver<Fault>>,
}

impl Drop for LinkHold {
    fn drop(&mut self) {
        self.link.state.send_replace(State::Connecting);
        *lock(&self.link.noted) = self.faults.take();
        self.link.is_kept.store(false, Ordering::Release);
    }
}

/// Maintains a link until all its handles are dropped.
pub(crate) async fn run(mut kept: LinkHold) {
    let link = Arc::clone(&kept.link);
    let Some(faults) = &mut kept.faults else { return };
    tokio::select! {
        () = link.closed.notified() => {}
        () = keep(&link, faults) => {}
    }
}

async fn keep(link: &Link, faults: &mut mpsc::Receiver<Fault>) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut backoff = Backoff::new();
    let mut is_warned = false;
    // True if the previous connection was lost quickly.
    let mut was_short = false;
    loop {
        let begin = Instant::now();
        match connect(link).await {
            Ok(Connected { connection, driver, engine }) => {
                if !std::mem::replace(&mut is_warned, true) {
                    let address = &link.connector;
                    for warning in engine.warnings() {
                        log::warn!(target: "stockade", "redis {address}: {warning}");
                    }
                }
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                link.note_answer();
                lock(&link.breaker).succeeded();
                link.up(connection.clone(), number);
                let lost = tokio::select! {
                    lost = watch(link, faults, connection.clone(), number, driver) => lost,
                    never = follow(link, &connection) => match never {},
                };
                let is_short = begin.elapsed() < SETTLED;
                let is_again = std::mem::replace(&mut was_short, is_short) && is_short;
                if !is_short {
                    backoff = Backoff::new();
                }
                if lost.is_prompt && !is_again {
                    // Commands can wait: a running server is reachable again in
                    // a moment.
                    link.state.send_replace(State::Connecting);
                    continue;
                }
                link.down(&lost.reason);
                if !is_again {
                    continue;
                }
            }
            Err(reason) => link.down(&reason),
        }
        rest(link, backoff.wait()).await;
    }
}

/// Keeps the slot map of a cluster up to date.
async fn follow(link: &Link, connection: &MultiplexedConnection) -> Infallible {
    match link.connector.nodes() {
        Some(cluster) => cluster.follow(connection).await,
        None => pending().await,
    }
}

/// Connects within the timeout. Commands wait only briefly for the connection.
async fn connect(link: &Link) -> Result<Connected, String> {
    let attempt = link.connector.connect();
    tokio::pin!(attempt);
    let outcome = if let Ok(outcome) = timeout(MOMENT, &mut attempt).await {
        outcome
    } else {
        if matches!(*link.state.borrow(), State::Connecting) {
            link.down("not connected yet");
        }
        attempt.await
    };
    outcome.map_err(|error: ConnectError| error.to_string())
}

/// Waits before the next attempt. After one second, a command that finds the
/// link down ends the wait.
async fn rest(link: &Link, wait: Duration) {
    sleep(wait.min(WANTED)).await;
    if wait > WANTED {
        tokio::select! {
            () = sleep(wait - WANTED) => {}
            () = link.wanted.notified() => {}
        }
    }
}

/// The end of a connection.
struct Lost {
    reason: String,
    /// True if the server may still be running.
    is_prompt: bool,
}

/// Watches a connection until it is lost.
async fn watch(
    link: &Link,
    faults: &mut mpsc::Receiver<Fault>,
    mut connection: MultiplexedConnection,
    number: u64,
    mut driver: Driver,
) -> Lost {
    let lost = |reason: &str, is_prompt| Lost { reason: reason.to_owned(), is_prompt };
    loop {
        let fault = tokio::select! {
            _ = &mut driver.0 => return lost("the connection was closed", true),
            Some(fault) = faults.recv() => Some(fault),
            () = sleep(SILENCE.saturating_sub(link.silence())) => None,
        };
        match fault {
            Some(fault) if fault.connection != number => continue,
            Some(Fault { kind: FaultKind::Wrong(reason), .. }) => return lost(&reason, true),
            Some(Fault { kind: FaultKind::Silent, .. }) => {
                let open = lock(&link.breaker).open();
                link.down(SILENT);
                tokio::select! {
                    _ = &mut driver.0 => return lost("the connection was closed", true),
                    () = sleep(open) => {}
                }
            }
            None if link.silence() < SILENCE => continue,
            None => {}
        }
        if !ping(&mut connection).await {
            return lost("it does not respond to a ping", false);
        }
        link.note_answer();
        if matches!(*link.state.borrow(), State::Down(_)) {
            lock(&link.breaker).close();
            link.up(connection.clone(), number);
        }
    }
}

async fn ping(connection: &mut MultiplexedConnection) -> bool {
    let ping = redis::cmd("PING");
    let answer = timeout(PING_DEADLINE, ping.query_async::<String>(connection)).await;
    answer.is_ok_and(|answer| answer.is_ok())
}

/// The idle time before a ping.
const SILENCE: Duration = Duration::from_secs(1);
const PING_DEADLINE: Duration = Duration::from_secs(1);
/// The time for which commands wait for a new connection.
const MOMENT: Duration = Duration::from_millis(100);
/// The minimum wait, which commands cannot shorten.
const WANTED: Duration = Duration::from_secs(1);
/// Two consecutive connections that are shorter than this count as a failed
/// attempt.
const SETTLED: Duration = Duration::from_secs(1);
