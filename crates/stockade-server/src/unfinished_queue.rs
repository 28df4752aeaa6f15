//! [`UnfinishedQueue`]: the unfinished connections of the clients with the most
//! of them.

use std::time::Duration;

use stockade_stages::rate_limit::RateKey;
use tokio::time::Instant;

/// Connections that wait for the client in the middle of a request or a
/// response. They are grouped by client. Clients below their share are not
/// listed.
///
/// If no connection is idle, one of them ends to make room for a new
/// connection. The client with the most unfinished connections loses its
/// slowest one. The new connection also counts, so a client cannot displace
/// others. A client within its share loses nothing.
///
/// A scan of all connections fills the queue, as in
/// [`IdleQueue`](crate::idle_queue::IdleQueue).
#[derive(Debug, Default)]
pub(crate) struct UnfinishedQueue {
    crowded: Vec<Crowded>,
    share: usize,
    /// The earliest time of the next scan.
    next_look: Option<Instant>,
    /// The time until which the last scan is valid.
    expires: Option<Instant>,
}

/// A client and its unfinished connections.
#[derive(Debug)]
pub(crate) struct Crowded {
    pub(crate) client: RateKey,
    /// The start time of each connection, and its id. The slowest connection is
    /// last.
    pub(crate) waiting: Vec<(u64, u64)>,
    /// The number of new connections since the scan.
    pub(crate) joined: usize,
}

/// The result of a scan of all connections.
#[derive(Debug)]
pub(crate) struct Look {
    /// The clients that have at least their share of unfinished connections,
    /// and possibly some with fewer.
    pub(crate) crowded: Vec<Crowded>,
    /// The share of each client, in connections.
    pub(crate) share: usize,
    /// The number of scanned connections.
    pub(crate) looks: u32,
}

impl UnfinishedQueue {
    /// Removes and returns the slowest connection of the client with the most
    /// connections, if that client exceeds its share.
    ///
    /// `newcomer` is the client of the waiting connection. `since` returns the
    /// start time of an unfinished connection, if it may be ended.
    pub(crate) fn pop(
        &mut self,
        now: Instant,
        newcomer: &RateKey,
        look: impl FnOnce() -> Look,
        since: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        if self.expires.is_some_and(|at| now >= at) {
            self.crowded = Vec::new();
        }
        if let Some(id) = self.next(newcomer, &since) {
            return Some(id);
        }
        if self.next_look.is_some_and(|at| now < at) {
            return None;
        }
        let found = look();
        self.next_look = Some(now + LOOK_COST * found.looks);
        self.expires = Some(now + LOOK_TIME);
        (self.crowded, self.share) = (found.crowded, found.share);
        self.next(newcomer, &since)
    }

    fn next(&mut self, newcomer: &RateKey, since: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        while let Some(at) = most(&self.crowded, newcomer, self.share) {
            let Some((began, id)) = self.crowded[at].waiting.pop() else { break };
            if since(id) == Some(began) {
                let own = self.crowded.iter_mut().find(|crowded| crowded.client == *newcomer);
                if let Some(own) = own {
                    own.joined += 1;
                }
                return Some(id);
            }
        }
        // Frees the memory of thousands of entries.
        self.crowded = Vec::new();
        None
    }
}

/// Returns the index of the client with the most connections, including the new
/// one, if they exceed its share.
fn most(crowded: &[Crowded], newcomer: &RateKey, share: usize) -> Option<usize> {
    let count = |client: &Crowded| {
        let is_newcomer = client.client == *newcomer;
        // On a tie, the newcomer's client loses.
        (client.waiting.len() + client.joined + usize::from(is_newcomer), is_newcomer)
    };
    let counts = crowded.iter().map(count).enumerate();
    let (at, (most, _)) = counts.max_by_key(|(_, count)| *count)?;
    (most > share).then_some(at)
}

/// The pause before the next scan, per connection in the last one: ten times
/// the cost of the scan.
const LOOK_COST: Duration = Duration::from_micros(1);

/// The time for which a scan is valid. When many clients reconnect, one scan
/// serves thousands of connections, and the numbers are never older than this.
const LOOK_TIME: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use std::net::IpAddr;

    use super::*;

    fn key(last: u8) -> RateKey {
        RateKey::from(IpAddr::from([192, 0, 2, last]))
    }

    /// Connections by id: the last byte of the client's address, and the start
    /// time.
    type Connections = BTreeMap<u64, (u8, u64)>;

    /// Scans all connections like the registry.
    fn look(connections: &Connections, newcomer: u8) -> Look {
        let mut clients: BTreeMap<u8, Vec<(u64, u64)>> = BTreeMap::from([(newcomer, Vec::new())]);
        for (id, (client, since)) in connections {
            clients.entry(*client).or_default().push((*since, *id));
        }
        let share = (connections.len() / clients.len()).max(1);
        let crowded = clients.into_iter().map(|(client, mut waiting)| {
            waiting.sort_by(|one, other| other.cmp(one));
            Crowded { client: key(client), waiting, joined: 0 }
        });
        let looks = u32::try_from(connections.len()).unwrap();
        Look { crowded: crowded.collect(), share, looks }
    }

    fn pop(
        queue: &mut UnfinishedQueue,
        now: Instant,
        connections: &Connections,
        newcomer: u8,
    ) -> Option<u64> {
        let since = |id| connections.get(&id).map(|(_, since)| *since);
        queue.pop(now, &key(newcomer), || look(connections, newcomer), since)
    }

    /// Checks which client loses a connection, given their connection counts.
    #[track_caller]
    fn check(counts: &[usize], newcomer: u8, expected: Option<u8>) {
        let mut connections = Connections::new();
        for (client, count) in counts.iter().enumerate() {
            for _ in 0..*count {
                let id = connections.len() as u64;
                connections.insert(id, (u8::try_from(client).unwrap(), 1_000 - id));
            }
        }
        let mut queue = UnfinishedQueue::default();
        let id = pop(&mut queue, Instant::now(), &connections, newcomer);
        let client = id.map(|id| connections[&id].0);
        assert_eq!(client, expected, "{counts:?}, newcomer {newcomer}");
        let Some((client, id)) = client.zip(id) else { return };
        let slowest = connections.values().filter(|it| it.0 == client).map(|it| it.1).min();
        assert_eq!(Some(connections[&id].1), slowest, "{counts:?}, newcomer {newcomer}");
    }

    #[test]
    fn client_with_the_most_loses_its_slowest_connection() {
        check(&[], 9, None);
        check(&[10], 9, Some(0));
        check(&[4, 9, 3], 9, Some(1));
        check(&[1, 1, 1, 9], 0, Some(3));
        // Each client has one connection.
        check(&[1, 1, 1], 9, None);
        check(&[1, 1, 2], 9, Some(2));
        check(&[3, 5, 3], 0, Some(1));
        check(&[3, 3, 3], 0, Some(0));
        check(&[3, 3, 3], 1, Some(1));
        check(&[3, 4, 3], 0, Some(0));
        check(&[3, 4, 3], 1, Some(1));
        check(&[4, 5], 0, Some(0));
    }

    #[test]
    fn client_within_its_share_loses_nothing() {
        let connections = |count: u64| (0..count).map(|id| (id, (1, id))).collect::<Connections>();
        for (count, share, expected) in [(3, 3, false), (3, 4, false), (4, 3, true)] {
            let connections = connections(count);
            let mut queue = UnfinishedQueue::default();
            let crowded = || Look { share, ..look(&connections, 9) };
            let id = queue.pop(Instant::now(), &key(9), crowded, Some);
            assert_eq!(id.is_some(), expected, "{count} of {share}");
        }
    }

    #[test]
    fn one_scan_serves_all_connections_above_the_share() {
        let looks = Cell::new(0);
        let mut connections: Connections = (0..1_000).map(|id| (id, (1, id))).collect();
        connections.extend((1_000..1_100).map(|id| (id, (2, id))));
        let now = Instant::now();
        let mut queue = UnfinishedQueue::default();
        let mut ended = 0;
        loop {
            let counted = || {
                looks.set(looks.get() + 1);
                look(&connections, 9)
            };
            let since = |id| connections.get(&id).map(|it| it.1);
            let Some(id) = queue.pop(now, &key(9), counted, since) else { break };
            assert_eq!(connections.remove(&id), Some((1, ended)));
            ended += 1;
        }
        // Both clients then have 500. The newcomer loses its own connection,
        // which the next scan finds.
        assert_eq!((ended, looks.get()), (500, 1));
    }

    #[test]
    fn one_scan_serves_a_returning_crowd() {
        let looks = Cell::new(0);
        // Each of the eleven clients has its share.
        let connections: Connections =
            (0..1_100).map(|id| (id, (u8::try_from(id % 11).unwrap(), id))).collect();
        let now = Instant::now();
        let mut queue = UnfinishedQueue::default();
        for newcomer in (0..11).cycle().take(500) {
            let counted = || {
                looks.set(looks.get() + 1);
                look(&connections, newcomer)
            };
            let since = |id| connections.get(&id).map(|it| it.1);
            let ended = queue.pop(now, &key(newcomer), counted, since);
            // The newcomer's client loses its own slowest connection.
            let client = ended.map(|id| connections[&id].0);
            assert_eq!(client, Some(newcomer));
        }
        assert_eq!(looks.get(), 1);
    }

    #[test]
    fn a_scan_expires() {
        let connections: Connections = (0..10).map(|id| (id, (1, id))).collect();
        let mut queue = UnfinishedQueue::default();
        let now = Instant::now();
        assert_eq!(pop(&mut queue, now, &connections, 9), Some(0));
        // The client has closed all but one.
        let left = Connections::from([(9, (1, 9))]);
        assert_eq!(pop(&mut queue, now + LOOK_TIME, &left, 9), None);
    }

    #[test]
    fn skips_a_connection_that_made_progress() {
        let mut connections: Connections = (0..10).map(|id| (id, (1, id))).collect();
        let now = Instant::now();
        let mut queue = UnfinishedQueue::default();
        assert_eq!(pop(&mut queue, now, &connections, 9), Some(0));
        connections.remove(&1);
        connections.insert(2, (1, 20));
        assert_eq!(pop(&mut queue, now, &connections, 9), Some(3));
    }
}
