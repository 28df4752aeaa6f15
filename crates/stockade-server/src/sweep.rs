//! The sweep: one task that looks at all connections of a server and ends
//! those that have stalled.
//!
//! A timer for each request would cost a fifth of what hyper costs for it
//! (measured); this costs nothing between two sweeps. The rule is
//! [`verdict`], a pure function.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval};

use crate::ServerOptions;
use crate::options::bounded;
use crate::record::{Order, Record};

/// A coarse clock: milliseconds, counted in sweeps.
///
/// It counts sweeps and not seconds, so that a machine that stands still for a
/// while makes every timeout longer and none shorter.
#[derive(Debug)]
pub(crate) struct Clock {
    now: AtomicU64,
    interval: u64,
}

impl Clock {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { now: AtomicU64::new(0), interval: millis(interval) }
    }

    /// When something began that begins now: the next sweep, so that nothing
    /// is ended too early.
    pub(crate) fn stamp(&self) -> u64 {
        self.now.load(Ordering::Relaxed) + self.interval
    }

    /// Begins a sweep; gives its time.
    pub(crate) fn tick(&self) -> u64 {
        self.now.fetch_add(self.interval, Ordering::Relaxed) + self.interval
    }
}

/// What the sweep sees of a connection. All times are those of the [`Clock`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) phase: Phase,
    /// Since when the socket takes no more bytes.
    pub(crate) write_blocked: Option<u64>,
    /// When answers on HTTP/2 moved for the last time, if one waits for room.
    pub(crate) owed: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// The client owes the head of a request.
    Head { since: u64 },
    /// A request is running.
    Busy,
    /// No request is there, nor has one begun.
    Idle { since: u64 },
    /// The connection left HTTP.
    Upgraded,
}

/// The timeouts of connections, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) header_read: u64,
    pub(crate) idle: u64,
    pub(crate) write_stall: u64,
}

impl Limits {
    pub(crate) fn of(options: &ServerOptions) -> Self {
        Self {
            header_read: millis(bounded(options.header_read_timeout)),
            idle: millis(bounded(options.idle_timeout)),
            write_stall: millis(bounded(options.write_stall_timeout)),
        }
    }

    /// How often to look: each second, more often for short timeouts.
    pub(crate) fn interval(self) -> Duration {
        let shortest = self.header_read.min(self.idle).min(self.write_stall);
        Duration::from_millis((shortest / 4).clamp(5, 1_000))
    }
}

/// What to do with a connection.
fn verdict(seen: &Snapshot, now: u64, limits: Limits) -> Order {
    let passed = |since: u64| now.saturating_sub(since);
    let stalled = |since: Option<u64>| since.is_some_and(|at| passed(at) >= limits.write_stall);
    match seen.phase {
        Phase::Upgraded => Order::Stay,
        _ if stalled(seen.write_blocked) || stalled(seen.owed) => Order::Close,
        Phase::Head { since } if passed(since) >= limits.header_read => Order::Close,
        // A client that is asked to go has a while to agree (HTTP/2).
        Phase::Idle { since } if passed(since) >= limits.idle + limits.header_read => Order::Close,
        Phase::Idle { since } if passed(since) >= limits.idle => Order::Finish,
        Phase::Head { .. } | Phase::Busy | Phase::Idle { .. } => Order::Stay,
    }
}

/// All open connections of a server.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    // Locked when a connection opens or closes and by the sweep, never by a
    // request.
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    records: HashMap<u64, Arc<Record>>,
    next: u64,
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a connection, which gives its permit back when it is dropped.
    pub(crate) fn enter(
        self: &Arc<Self>,
        record: Arc<Record>,
        permit: OwnedSemaphorePermit,
    ) -> Membership {
        let mut open = self.lock();
        let id = open.next;
        open.next += 1;
        open.records.insert(id, record);
        Membership { registry: Arc::clone(self), id, _permit: permit }
    }

    /// Tells all connections the same; gives their number.
    pub(crate) fn tell_all(&self, order: Order) -> usize {
        let open = self.lock();
        open.records.values().for_each(|record| record.tell(order));
        open.records.len()
    }

    fn sweep(&self, now: u64, limits: Limits) {
        for record in self.lock().records.values() {
            let seen = record.snapshot();
            let order = verdict(&seen, now, limits);
            if order != Order::Stay {
                log::debug!(target: "stockade::server", "a stalled connection ends: {seen:?}");
                record.tell(order);
            }
        }
    }
}

/// A connection's place in the [`Registry`] and among the allowed ones.
#[derive(Debug)]
pub(crate) struct Membership {
    registry: Arc<Registry>,
    id: u64,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.registry.lock().records.remove(&self.id);
    }
}

/// Sweeps for ever.
pub(crate) async fn run(registry: Arc<Registry>, clock: Arc<Clock>, limits: Limits) {
    let mut ticks = interval(Duration::from_millis(clock.interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick comes at once.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        registry.sweep(clock.tick(), limits);
    }
}

fn millis(duration: Duration) -> u64 {
    // Durations are bounded, so this always fits.
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Header 10 s, idle 60 s, write 30 s.
    #[track_caller]
    fn check(phase: Phase, blocked: Option<u64>, owed: Option<u64>, now: u64, expected: Order) {
        let limits = Limits { header_read: 10_000, idle: 60_000, write_stall: 30_000 };
        let seen = Snapshot { phase, write_blocked: blocked, owed };
        assert_eq!(verdict(&seen, now, limits), expected, "{seen:?} at {now}");
    }

    #[test]
    fn a_head_has_its_time() {
        check(Phase::Head { since: 5_000 }, None, None, 0, Order::Stay);
        check(Phase::Head { since: 5_000 }, None, None, 14_999, Order::Stay);
        check(Phase::Head { since: 5_000 }, None, None, 15_000, Order::Close);
    }

    #[test]
    fn an_idle_connection_is_asked_to_go_and_then_closed() {
        check(Phase::Idle { since: 1_000 }, None, None, 60_999, Order::Stay);
        check(Phase::Idle { since: 1_000 }, None, None, 61_000, Order::Finish);
        check(Phase::Idle { since: 1_000 }, None, None, 70_999, Order::Finish);
        check(Phase::Idle { since: 1_000 }, None, None, 71_000, Order::Close);
    }

    #[test]
    fn a_running_request_has_all_the_time_but_must_be_read() {
        check(Phase::Busy, None, None, 1 << 40, Order::Stay);
        check(Phase::Busy, Some(1_000), None, 30_999, Order::Stay);
        check(Phase::Busy, Some(1_000), None, 31_000, Order::Close);
        check(Phase::Busy, None, Some(1_000), 30_999, Order::Stay);
        check(Phase::Busy, None, Some(1_000), 31_000, Order::Close);
        check(Phase::Idle { since: 1_000 }, Some(1_000), None, 31_000, Order::Close);
        check(Phase::Upgraded, Some(1_000), None, 1 << 40, Order::Stay);
    }

    #[test]
    fn short_timeouts_are_looked_at_more_often() {
        let interval = |header_read| {
            Limits { header_read, idle: 60_000, write_stall: 30_000 }.interval().as_millis()
        };
        assert_eq!((interval(10_000), interval(200), interval(1)), (1_000, 50, 5));
    }

    #[test]
    fn nothing_is_ended_before_its_time() {
        let clock = Clock::new(Duration::from_secs(1));
        let began = clock.stamp();
        // The sweep may come right after the stamp.
        let ages: Vec<u64> = (0..3).map(|_| clock.tick() - began).collect();
        assert_eq!(ages, [0, 1_000, 2_000]);
    }
}
