//! The sweep: one task that checks all connections of a server, ends stalled
//! ones and parks idle ones.
//!
//! A timer per request would add a fifth to hyper's cost (measured). The sweep
//! costs a request nothing. The rule is the pure function [`verdict`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::ServerOptions;
use crate::connection_record::Command;
use crate::options::bounded;
use crate::registry::Registry;
use crate::time_budget::StallPolicy;
use crate::write_stall::max_stuck;

/// A coarse clock in milliseconds that advances with each sweep.
///
/// If the machine is suspended for a while, every timeout becomes longer and
/// none shorter.
#[derive(Debug)]
pub(crate) struct SweepClock {
    now: AtomicU64,
    interval: u64,
}

impl SweepClock {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { now: AtomicU64::new(0), interval: millis(interval) }
    }

    /// Returns the time for an event that begins now: the time of the next
    /// sweep, so no timeout is too early.
    pub(crate) fn stamp(&self) -> u64 {
        self.now.load(Ordering::Relaxed) + self.interval
    }

    /// Begins a sweep and returns its time.
    pub(crate) fn tick(&self) -> u64 {
        self.now.fetch_add(self.interval, Ordering::Relaxed) + self.interval
    }
}

/// The sweep's view of a connection. All times come from the [`SweepClock`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) phase: Phase,
    pub(crate) http2: bool,
    pub(crate) parked: bool,
    /// The socket accepts no more bytes.
    pub(crate) blocked: bool,
    /// HTTP/1: every request has its response, and the next request has not
    /// begun.
    pub(crate) complete: bool,
    /// The number of bytes that the socket accepted after it was blocked.
    pub(crate) taken: u64,
    /// The server waits for more of a request body.
    pub(crate) awaits_body: bool,
    /// The start of the current head or idle period.
    pub(crate) begun: u64,
}

impl Snapshot {
    /// Returns true for an idle connection that can be parked.
    pub(crate) fn may_park(&self) -> bool {
        let idle = matches!(self.phase, Phase::Idle { .. });
        idle && !self.http2 && !self.blocked && self.complete
    }

    /// Returns true if nothing can happen before the client reads.
    pub(crate) fn awaits_reading(&self) -> bool {
        self.blocked && self.phase != Phase::Upgraded
    }

    /// Returns true while the server only waits for a request head or its rest.
    pub(crate) fn waits_for_head(&self) -> bool {
        matches!(self.phase, Phase::Head { .. }) && !self.blocked
    }

    /// Returns true while no request is running and no bytes wait for the
    /// client.
    pub(crate) fn is_unused(&self) -> bool {
        let runs = matches!(self.phase, Phase::Busy | Phase::Upgraded);
        !runs && !self.blocked
    }

    /// Returns the time at which the connection became idle, if no bytes wait
    /// for the client.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        match self.phase {
            Phase::Idle { since } if self.is_unused() => Some(since),
            _ => None,
        }
    }

    /// Returns the start time of an unfinished request. The server waits for
    /// the rest of its head or its body, or for the client to read the
    /// response.
    pub(crate) fn unfinished_since(&self) -> Option<u64> {
        match self.phase {
            Phase::Head { since } => Some(since),
            Phase::Busy if self.awaits_body || self.blocked => Some(self.begun),
            Phase::Idle { since } if self.blocked => Some(since),
            Phase::Busy | Phase::Idle { .. } | Phase::Upgraded => None,
        }
    }

    fn parks_now(&self) -> bool {
        self.may_park() && !self.parked
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    /// Waiting for a request head or its rest.
    Head { since: u64 },
    /// A request is running.
    Busy,
    /// No request is running or has begun.
    Idle { since: u64 },
    /// The connection now speaks another protocol.
    Upgraded,
}

/// The timeouts of connections, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) header_read: u64,
    pub(crate) idle: u64,
    pub(crate) write: StallPolicy,
    /// The number of connections that may be stuck at the same time.
    pub(crate) stuck: usize,
    pub(crate) park: u64,
    /// False on the plain path.
    pub(crate) may_park: bool,
}

impl Limits {
    pub(crate) fn of(options: &ServerOptions) -> Self {
        Self {
            header_read: millis(bounded(options.header_read_timeout)),
            idle: millis(bounded(options.idle_timeout)),
            write: options.write_terms(),
            stuck: max_stuck(options.max_connections),
            park: millis(bounded(options.park_after)),
            may_park: options.hyper_fast_path,
        }
    }

    /// Returns the time between two sweeps: a second, or less for short
    /// timeouts.
    pub(crate) fn interval(self) -> Duration {
        let shortest = self.header_read.min(self.idle).min(millis(self.write.most));
        // Parking may be less precise, because no client waits for it.
        Duration::from_millis((shortest / 4).min(self.park / 2).clamp(5, 1_000))
    }

    /// Returns true if parking is enabled.
    pub(crate) fn parks(self) -> bool {
        self.may_park && self.park < self.idle
    }
}

/// Returns the command for a connection that is not
/// [blocked](crate::write_stall::WriteStall).
pub(crate) fn verdict(seen: &Snapshot, now: u64, limits: Limits) -> Command {
    let passed = |since: u64| now.saturating_sub(since);
    match seen.phase {
        Phase::Head { since } if passed(since) >= limits.header_read => Command::Close,
        // After GOAWAY, an HTTP/2 client has some time to answer.
        Phase::Idle { since } if passed(since) >= limits.idle + limits.header_read => {
            Command::Close
        }
        Phase::Idle { since } if passed(since) >= limits.idle => Command::Finish,
        Phase::Idle { since }
            if limits.parks() && passed(since) >= limits.park && seen.parks_now() =>
        {
            Command::Park
        }
        Phase::Upgraded | Phase::Head { .. } | Phase::Busy | Phase::Idle { .. } => Command::Stay,
    }
}

/// Sweeps forever.
pub(crate) async fn run(registry: Arc<Registry>, clock: Arc<SweepClock>) {
    let mut ticks = interval(Duration::from_millis(clock.interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick completes immediately.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        registry.sweep(clock.tick());
    }
}

fn millis(duration: Duration) -> u64 {
    // Durations are at most a year, which fits.
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Header 10 s, idle 60 s, parking 2 s, two stuck connections.
    pub(crate) fn limits() -> Limits {
        let write = StallPolicy { most: Duration::from_secs(75), rate: 500 };
        Limits { header_read: 10_000, idle: 60_000, write, stuck: 2, park: 2_000, may_park: true }
    }

    /// Creates the snapshot of an HTTP/1 connection.
    fn snapshot(phase: Phase) -> Snapshot {
        Snapshot {
            phase,
            http2: false,
            parked: false,
            blocked: false,
            complete: true,
            taken: 0,
            awaits_body: false,
            begun: 7,
        }
    }

    #[test]
    fn request_is_unfinished_while_the_server_waits_for_the_client() {
        let cases = [
            (Phase::Head { since: 7 }, [Some(7); 4]),
            (Phase::Busy, [None, Some(7), Some(7), Some(7)]),
            (Phase::Idle { since: 7 }, [None, None, Some(7), Some(7)]),
            (Phase::Upgraded, [None; 4]),
        ];
        let flags = [(false, false), (true, false), (false, true), (true, true)];
        for (phase, expected) in cases {
            let found = flags.map(|(awaits_body, blocked)| {
                Snapshot { awaits_body, blocked, ..snapshot(phase) }.unfinished_since()
            });
            assert_eq!(found, expected, "{phase:?}");
        }
    }

    /// Checks HTTP/2 with header 10 s, idle 60 s and parking 2 s.
    #[track_caller]
    fn check(phase: Phase, now: u64, expected: Command) {
        let limits = limits();
        let seen = Snapshot { http2: true, ..snapshot(phase) };
        assert_eq!(verdict(&seen, now, limits), expected, "{seen:?} at {now}");
    }

    #[test]
    fn parks_only_idle_http1_connections_and_only_once() {
        let limits = limits();
        let idle = snapshot(Phase::Idle { since: 1_000 });
        let cases = [
            (idle, 2_999, Command::Stay),
            (idle, 3_000, Command::Park),
            (idle, 61_000, Command::Finish),
            (Snapshot { parked: true, ..idle }, 3_000, Command::Stay),
            (Snapshot { parked: true, ..idle }, 61_000, Command::Finish),
            (Snapshot { http2: true, ..idle }, 3_000, Command::Stay),
            (Snapshot { blocked: true, ..idle }, 3_000, Command::Stay),
            (Snapshot { complete: false, ..idle }, 3_000, Command::Stay),
            (Snapshot { complete: false, ..idle }, 61_000, Command::Finish),
            (Snapshot { phase: Phase::Busy, ..idle }, 3_000, Command::Stay),
            (Snapshot { phase: Phase::Head { since: 1_000 }, ..idle }, 3_000, Command::Stay),
            (Snapshot { phase: Phase::Upgraded, ..idle }, 3_000, Command::Stay),
        ];
        for (seen, now, expected) in cases {
            assert_eq!(verdict(&seen, now, limits), expected, "{seen:?} at {now}");
        }
    }

    #[test]
    fn a_head_has_a_timeout() {
        check(Phase::Head { since: 5_000 }, 0, Command::Stay);
        check(Phase::Head { since: 5_000 }, 14_999, Command::Stay);
        check(Phase::Head { since: 5_000 }, 15_000, Command::Close);
    }

    #[test]
    fn an_idle_connection_is_shut_down_and_then_closed() {
        check(Phase::Idle { since: 1_000 }, 60_999, Command::Stay);
        check(Phase::Idle { since: 1_000 }, 61_000, Command::Finish);
        check(Phase::Idle { since: 1_000 }, 70_999, Command::Finish);
        check(Phase::Idle { since: 1_000 }, 71_000, Command::Close);
    }

    #[test]
    fn a_running_request_has_no_timeout() {
        check(Phase::Busy, 1 << 40, Command::Stay);
        check(Phase::Upgraded, 1 << 40, Command::Stay);
    }

    #[test]
    fn short_timeouts_are_checked_more_often() {
        let interval =
            |header_read, park| Limits { header_read, park, ..limits() }.interval().as_millis();
        let intervals = [interval(10_000, 2_000), interval(200, 2_000), interval(1, 2_000)];
        assert_eq!(intervals, [1_000, 50, 5]);
        assert_eq!((interval(10_000, 500), interval(10_000, 1)), (250, 5));
    }

    #[test]
    fn nothing_ends_before_its_timeout() {
        let clock = SweepClock::new(Duration::from_secs(1));
        let began = clock.stamp();
        // The sweep may follow right after the stamp.
        let ages: Vec<u64> = (0..3).map(|_| clock.tick() - began).collect();
        assert_eq!(ages, [0, 1_000, 2_000]);
    }
}
