//! [`IdleQueue`]: idle connections, longest idle first.

use std::time::Duration;

use stockade_errors::__internal::sort_by;
use tokio::time::Instant;

/// The ids of idle connections, ordered by the start of their idle period.
///
/// A connection does not report when it becomes idle or busy, so a request
/// costs nothing here. A scan of all connections fills the queue. Entries that
/// have changed after the scan are skipped when their turn comes. One scan
/// serves as many calls as it found idle connections.
#[derive(Debug, Default)]
pub(crate) struct IdleQueue {
    /// The time at which each connection became idle, and its id. The longest
    /// idle connection is last.
    waiting: Vec<(u64, u64)>,
    /// The earliest time of the next scan.
    next_look: Option<Instant>,
}

impl IdleQueue {
    /// Removes and returns the connection that has been idle longest, if any.
    ///
    /// `all` yields the ids of the connections. `idle_since` returns the time
    /// at which a connection became idle, or `None` if it must not be ended.
    pub(crate) fn pop(
        &mut self,
        now: Instant,
        all: impl Iterator<Item = u64>,
        idle_since: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        if let Some(id) = self.next(&idle_since) {
            return Some(id);
        }
        if self.next_look.is_some_and(|at| now < at) {
            return None;
        }
        let mut looks = 0;
        let found = all.inspect(|_| looks += 1).filter_map(|id| Some((idle_since(id)?, id)));
        self.waiting = found.collect();
        sort_by(&mut self.waiting, |one, other| other.cmp(one));
        self.next_look = Some(now + LOOK_COST * looks);
        self.next(&idle_since)
    }

    fn next(&mut self, idle_since: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        while let Some((since, id)) = self.waiting.pop() {
            if idle_since(id) == Some(since) {
                return Some(id);
            }
        }
        // Frees the memory of thousands of entries.
        self.waiting = Vec::new();
        None
    }
}

/// The pause before the next scan, per connection in the last scan. It is ten
/// times the cost of the scan: a server full of busy connections spends at most
/// a tenth of one core on scans.
const LOOK_COST: Duration = Duration::from_micros(1);

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use super::*;

    /// Pops from a map of connection ids to idle times; 0 means busy.
    fn pop(queue: &mut IdleQueue, now: Instant, connections: &BTreeMap<u64, u64>) -> Option<u64> {
        let idle_since = |id| connections.get(&id).copied().filter(|since| *since > 0);
        queue.pop(now, connections.keys().copied(), idle_since)
    }

    #[test]
    fn pops_the_longest_idle_connection_first() {
        let now = Instant::now();
        let mut queue = IdleQueue::default();
        let mut connections = BTreeMap::from([(1, 30), (2, 0), (3, 10), (4, 20), (5, 10)]);
        assert_eq!(pop(&mut queue, now, &connections), Some(3));
        // Meanwhile 3 has ended and 5 was closed. 4 is busy. 1 was used and is
        // idle again, and 2 has become idle.
        connections.remove(&3);
        connections.remove(&5);
        connections.insert(4, 0);
        connections.insert(1, 40);
        connections.insert(2, 35);
        assert_eq!(pop(&mut queue, now, &connections), None);
        let later = now + Duration::from_secs(1);
        let order = [2, 1].map(Some).into_iter().chain([None]);
        for expected in order {
            assert_eq!(pop(&mut queue, later, &connections), expected);
            if let Some(id) = expected {
                connections.remove(&id);
            }
        }
    }

    #[test]
    fn one_scan_serves_all_connections_that_it_found() {
        let looks = Cell::new(0);
        let now = Instant::now();
        let mut queue = IdleQueue::default();
        let count = 10_000;
        for expected in 0..count {
            let all = (0..count).inspect(|_| looks.set(looks.get() + 1));
            assert_eq!(queue.pop(now, all, |id| Some(id + 1)), Some(expected));
        }
        assert_eq!(looks.get(), count);
    }

    #[test]
    fn does_not_rescan_for_every_new_connection_if_none_is_idle() {
        let looks = Cell::new(0);
        let mut now = Instant::now();
        let mut queue = IdleQueue::default();
        // A new connection every millisecond for a second.
        for _ in 0..1_000 {
            let all = (0..10_000).inspect(|_| looks.set(looks.get() + 1));
            assert_eq!(queue.pop(now, all, |_| None), None);
            now += Duration::from_millis(1);
        }
        assert_eq!(looks.get(), 100 * 10_000);
    }
}
