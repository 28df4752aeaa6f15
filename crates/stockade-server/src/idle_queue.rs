//! [`IdleQueue`]: connections in the order in which they became idle.

use std::time::Duration;

use tokio::time::Instant;

/// The idle ones of some connections, by number, the one that has been idle
/// longest first.
///
/// Nobody tells the queue when a connection becomes idle or busy, so that a
/// request costs nothing here. It is filled by a look at all connections, and
/// what has changed since is left out when its turn comes. One look serves as
/// many calls as it found idle connections.
#[derive(Debug, Default)]
pub(crate) struct IdleQueue {
    /// Since when it is idle, and its number; the longest is the last.
    waiting: Vec<(u64, u64)>,
    /// Not before this is it worth to look at all of them again.
    next_look: Option<Instant>,
}

impl IdleQueue {
    /// Takes out the connection that has been idle longest, if there is one.
    ///
    /// `all` are the numbers of the connections, and `idle_since` tells since
    /// when one is idle and may be ended.
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
        self.waiting.sort_unstable_by(|one, other| other.cmp(one));
        self.next_look = Some(now + LOOK_COST * looks);
        self.next(&idle_since)
    }

    fn next(&mut self, idle_since: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        while let Some((since, id)) = self.waiting.pop() {
            if idle_since(id) == Some(since) {
                return Some(id);
            }
        }
        // The room for thousands is not kept.
        self.waiting = Vec::new();
        None
    }
}

/// The rest for each connection that was looked at, before all are looked at
/// again: ten times of what it costs, so that a server that is full of busy
/// connections spends a tenth of one core on it at most.
const LOOK_COST: Duration = Duration::from_micros(1);

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use super::*;

    /// Idle since when, by number; 0 is busy.
    fn pop(queue: &mut IdleQueue, now: Instant, connections: &BTreeMap<u64, u64>) -> Option<u64> {
        let idle_since = |id| connections.get(&id).copied().filter(|since| *since > 0);
        queue.pop(now, connections.keys().copied(), idle_since)
    }

    #[test]
    fn the_longest_idle_one_is_the_first() {
        let now = Instant::now();
        let mut queue = IdleQueue::default();
        let mut connections = BTreeMap::from([(1, 30), (2, 0), (3, 10), (4, 20), (5, 10)]);
        assert_eq!(pop(&mut queue, now, &connections), Some(3));
        // It has ended, one was closed, one is busy, one was used and is idle
        // again, and one has become idle.
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
    fn one_look_at_all_serves_all_that_it_found() {
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
    fn where_nothing_is_idle_not_everybody_is_looked_at_for_every_newcomer() {
        let looks = Cell::new(0);
        let mut now = Instant::now();
        let mut queue = IdleQueue::default();
        // A newcomer each millisecond for a second.
        for _ in 0..1_000 {
            let all = (0..10_000).inspect(|_| looks.set(looks.get() + 1));
            assert_eq!(queue.pop(now, all, |_| None), None);
            now += Duration::from_millis(1);
        }
        assert_eq!(looks.get(), 100 * 10_000);
    }
}
