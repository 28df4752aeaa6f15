//! [`WriteStall`]: a connection with a socket that accepts no more response
//! bytes.
//!
//! For a while, a slow reader looks like a client that does not read. Its
//! system reports progress only once a good part of its buffer is free: every
//! 65 s with 128 KiB (the default on Linux) and 2 kB per second. A single
//! client therefore gets the time from the options, and many stalled clients
//! get less: see [`max_stuck`].

use std::time::Duration;

use crate::time_budget::{StallPolicy, TimeBudget};

/// The sweep's record of a connection while its socket is blocked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct WriteStall {
    budget: TimeBudget,
    /// The time of the last sweep.
    looked: u64,
    /// The time of the last sweep that saw progress.
    moved: u64,
    /// The total number of bytes accepted at the last sweep.
    taken: u64,
}

impl WriteStall {
    /// Creates the record of a socket that was found blocked.
    pub(crate) fn new(now: u64, taken: u64, policy: StallPolicy) -> Self {
        Self { budget: TimeBudget::full(policy), looked: now, moved: now, taken }
    }

    /// Records a sweep; `taken` is the total number of accepted bytes.
    pub(crate) fn pass(&mut self, now: u64, taken: u64) {
        let waited = Duration::from_millis(now.saturating_sub(self.looked));
        self.budget.moved(taken.saturating_sub(self.taken), waited);
        if taken != self.taken {
            self.moved = now;
        }
        (self.looked, self.taken) = (now, taken);
    }

    /// Returns true if the client has exceeded its time.
    pub(crate) fn is_over(&self) -> bool {
        self.budget.left().is_zero()
    }

    /// Returns true if the client has accepted nothing for a while, as far as
    /// the server can tell.
    pub(crate) fn is_stuck(&self) -> bool {
        self.looked.saturating_sub(self.moved) >= STUCK
    }
}

/// Returns the number of a server's connections that may be stuck at the same
/// time: one in 256 of the maximum, and at least 16.
///
/// If there are more, the stuck connections of the clients with the most of
/// them end. For a while, so does every other connection of these clients that
/// gets stuck. A client that reads nothing on forty connections thus does not
/// end the connections of slow readers. All stuck connections end if clients
/// are not distinguished, or if each client has one.
pub(crate) fn max_stuck(max_connections: u32) -> usize {
    (max_connections / 256).max(16) as usize
}

/// A client is stuck after this time without progress, in milliseconds: 12 s.
const STUCK: u64 = 12_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the second at which a client's time ends, and the first at which
    /// it is stuck, within 400. `steps` returns the bytes accepted in each
    /// second.
    #[track_caller]
    fn check(steps: impl Fn(u64) -> u64, over: Option<u64>, stuck: Option<u64>) {
        let policy = StallPolicy { most: Duration::from_secs(75), rate: 500 };
        let mut stall = WriteStall::new(0, 0, policy);
        let (mut taken, mut is_over, mut is_stuck) = (0, None, None);
        for second in 1..=400 {
            taken += steps(second);
            stall.pass(second * 1_000, taken);
            is_over = is_over.or_else(|| stall.is_over().then_some(second));
            is_stuck = is_stuck.or_else(|| stall.is_stuck().then_some(second));
        }
        assert_eq!((is_over, is_stuck), (over, stuck));
    }

    #[test]
    fn bytes_that_a_client_reads_extend_its_time() {
        let each = |every: u64, bytes: u64| {
            move |second: u64| if second.is_multiple_of(every) { bytes } else { 0 }
        };
        check(|_| 0, Some(75), Some(12));
        // 64 bytes every 5 s.
        check(each(5, 64), Some(77), None);
        check(each(16, 64), Some(76), Some(12));
        check(|_| 499, None, None);
        check(|_| 400, Some(375), None);
        // 2 kB per second, as reported by Linux.
        check(each(65, 130_000), None, Some(12));
        check(each(8, 16_000), None, None);
    }

    #[test]
    fn a_larger_server_allows_more_stuck_connections() {
        for (connections, crowd) in [(1, 16), (4_096, 16), (10_000, 39), (100_000, 390)] {
            assert_eq!(max_stuck(connections), crowd);
        }
    }
}
