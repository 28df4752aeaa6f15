//! [`Clients`]: the connections of each client, and the choice of a connection
//! to close for a new one.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stockade_core::client::shrink_map;
use stockade_errors::__internal::sort_by;
use stockade_stages::rate_limit::RateKey;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::idle_queue::IdleQueue;
use crate::unfinished_queue::Crowded;

/// The clients with open connections, by rate limit key: an IPv4 address or a
/// 64-bit IPv6 network.
#[derive(Debug)]
pub(crate) struct Clients {
    /// The maximum number of connections per client.
    most: usize,
    clients: HashMap<RateKey, Client>,
}

#[derive(Debug, Default)]
struct Client {
    open: Arc<AtomicUsize>,
    /// The ids of its connections, including some that have closed.
    ids: Vec<u64>,
    idle: IdleQueue,
}

/// The decision about an additional connection of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Admission {
    /// Accepted: the client is below its limit.
    Free,
    /// Accepted: this idle connection of the same client must finish first.
    After(u64),
    /// Rejected: all connections that the client may have are in use.
    Refused,
}

impl Clients {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, clients: HashMap::new() }
    }

    /// Decides whether to admit an additional connection of a client.
    /// Connections without an address, which mostly come from a proxy, are not
    /// limited. See [`IdleQueue::pop`] for the result of `idle_since`.
    pub(crate) fn admit(
        &mut self,
        key: &RateKey,
        now: Instant,
        idle_since: impl Fn(u64) -> Option<u64>,
    ) -> Admission {
        if *key == RateKey::shared() {
            return Admission::Free;
        }
        let Some(client) = self.clients.get_mut(key) else { return Admission::Free };
        let open = client.open.load(Ordering::Relaxed);
        if open < self.most {
            return Admission::Free;
        }
        // A few finishing connections may not have closed yet.
        if open >= self.most + (self.most / 10).max(MIN_LEAVING) {
            return Admission::Refused;
        }
        let longest = client.idle.pop(now, client.ids.iter().copied(), idle_since);
        longest.map_or(Admission::Refused, Admission::After)
    }

    /// Counts a connection and returns the client's quota, if any. `is_open`
    /// returns false for ids that have closed.
    pub(crate) fn enter(
        &mut self,
        key: &RateKey,
        id: u64,
        is_open: impl Fn(u64) -> bool,
    ) -> Option<ClientQuota> {
        let client = self.clients.entry(key.clone()).or_default();
        let open = client.open.fetch_add(1, Ordering::Relaxed) + 1;
        // Cleaned up rarely, because `leave` should not have to search for an
        // id.
        if client.ids.len() >= 2 * open + MIN_LEAVING {
            client.ids.retain(|id| is_open(*id));
        }
        client.ids.push(id);
        let is_counted = *key != RateKey::shared();
        is_counted.then(|| ClientQuota { open: Arc::clone(&client.open), most: self.most })
    }

    /// Returns the ids of a client's connections, including some that have
    /// closed.
    pub(crate) fn ids(&self, key: &RateKey) -> &[u64] {
        self.clients.get(key).map_or(&[], |client| &client.ids)
    }

    /// Returns the clients above their share of `room`, counting only
    /// connections for which `is_one` returns true. Returns `None` if there are
    /// more clients than room, which makes the share zero.
    ///
    /// Clients below their share leave the remainder to the others.
    pub(crate) fn above_share(
        &self,
        mut room: usize,
        is_one: impl Fn(u64) -> bool,
    ) -> Option<HashSet<RateKey>> {
        let count = |client: &Client| client.ids.iter().filter(|id| is_one(**id)).count();
        let counts = self.clients.iter().map(|(key, client)| (count(client), key));
        let mut counts: Vec<_> = counts.filter(|(count, _)| *count > 0).collect();
        sort_by(&mut counts, |(one, _), (other, _)| one.cmp(other));
        for (at, (count, _)) in counts.iter().enumerate() {
            let share = room / (counts.len() - at);
            if *count > share {
                let above = counts[at..].iter().map(|(_, key)| (*key).clone());
                return (share > 0).then(|| above.collect());
            }
            room -= count;
        }
        Some(HashSet::new())
    }

    /// Returns the clients that have at least `share` connections for which
    /// `since` returns a time. One more connection would exceed the share. The
    /// earliest time of each client is last. Connections without an address are
    /// skipped, because they belong to many clients.
    pub(crate) fn crowded(&self, share: usize, since: impl Fn(u64) -> Option<u64>) -> Vec<Crowded> {
        let known = self.clients.iter().filter(|(key, _)| **key != RateKey::shared());
        let large = known.filter(|(_, client)| client.open.load(Ordering::Relaxed) >= share);
        let crowded = large.filter_map(|(key, client)| {
            let found = client.ids.iter().filter_map(|id| Some((since(*id)?, *id)));
            let mut waiting: Vec<_> = found.collect();
            sort_by(&mut waiting, |one, other| other.cmp(one));
            let is_crowded = waiting.len() >= share;
            is_crowded.then(|| Crowded { client: key.clone(), waiting, joined: 0 })
        });
        crowded.collect()
    }

    /// Returns the number of clients, including the newcomer.
    pub(crate) fn count_with(&self, newcomer: &RateKey) -> usize {
        self.clients.len() + usize::from(!self.clients.contains_key(newcomer))
    }

    /// Counts a connection of a client as closed.
    pub(crate) fn leave(&mut self, key: &RateKey) {
        let Some(client) = self.clients.get_mut(key) else { return };
        if client.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.clients.remove(key);
            shrink_map(&mut self.clients);
        }
    }
}

/// The number of open connections of one client, and its limit.
#[derive(Clone, Debug)]
pub(crate) struct ClientQuota {
    open: Arc<AtomicUsize>,
    most: usize,
}

/// A permit for one connection of a server.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) permit: OwnedSemaphorePermit,
    /// The client of the connection; the shared key without an address. `None`
    /// if the client is not known yet; the connection is then not counted for a
    /// client.
    pub(crate) client: Option<RateKey>,
}

impl Slot {
    pub(crate) fn new(permit: OwnedSemaphorePermit, client: impl Into<Option<IpAddr>>) -> Self {
        Self { permit, client: Some(RateKey::from(client.into())) }
    }

    /// Creates the permit for a connection that begins with the address of its
    /// client.
    pub(crate) fn of_unknown_client(permit: OwnedSemaphorePermit) -> Self {
        Self { permit, client: None }
    }
}

/// The remaining capacity for connections: in total and for one client.
///
/// Rejected requests read it without a lock.
#[derive(Clone, Debug)]
pub(crate) struct Capacity {
    slots: Arc<Semaphore>,
    max_slots: usize,
    quota: Option<ClientQuota>,
}

impl Capacity {
    pub(crate) fn new(slots: Arc<Semaphore>, max_slots: usize, quota: Option<ClientQuota>) -> Self {
        Self { slots, max_slots, quota }
    }

    /// Returns true if at most a tenth of either capacity remains.
    pub(crate) fn is_scarce(&self) -> bool {
        let few = |left: usize, most: usize| left <= most / 10;
        few(self.slots.available_permits(), self.max_slots)
            || self.quota.as_ref().is_some_and(|quota| {
                let open = quota.open.load(Ordering::Relaxed);
                few(quota.most.saturating_sub(open), quota.most)
            })
    }
}

/// The minimum number of connections that a client may have above its limit
/// while they are closing.
const MIN_LEAVING: usize = 16;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn key(address: &str) -> RateKey {
        RateKey::from(address.parse::<IpAddr>().unwrap())
    }

    /// Clients with connections. Maps ids to the time at which each connection
    /// became idle; 0 means busy.
    struct Book {
        clients: Clients,
        open: BTreeMap<u64, u64>,
        next: u64,
    }

    impl Book {
        fn new(most: usize) -> Self {
            Self { clients: Clients::new(most), open: BTreeMap::new(), next: 0 }
        }

        fn admit(&mut self, client: &str) -> Admission {
            let idle_since = |id| self.open.get(&id).copied().filter(|since| *since > 0);
            self.clients.admit(&key(client), Instant::now(), idle_since)
        }

        fn enter(&mut self, client: &str, since: u64) -> u64 {
            let id = self.next;
            self.next += 1;
            self.clients.enter(&key(client), id, |id| self.open.contains_key(&id));
            self.open.insert(id, since);
            id
        }

        fn leave(&mut self, client: &str, id: u64) {
            self.open.remove(&id);
            self.clients.leave(&key(client));
        }
    }

    #[test]
    fn closes_the_longest_idle_connection_of_the_same_client() {
        let mut book = Book::new(2);
        let other = book.enter("192.0.2.2", 1);
        book.enter("192.0.2.1", 7);
        assert_eq!(book.admit("192.0.2.1"), Admission::Free);
        let longest = book.enter("192.0.2.1", 5);
        assert_eq!(book.admit("192.0.2.1"), Admission::After(longest));
        assert_eq!(book.admit("192.0.2.2"), Admission::Free);
        book.leave("192.0.2.2", other);
        book.leave("192.0.2.1", longest);
        assert_eq!(book.admit("192.0.2.1"), Admission::Free);
        assert_eq!(book.clients.clients.len(), 1, "who has none is forgotten");
    }

    #[test]
    fn rejects_a_new_connection_if_all_are_in_use() {
        let mut book = Book::new(2);
        book.enter("192.0.2.1", 0);
        let busy = book.enter("192.0.2.1", 0);
        assert_eq!(book.admit("192.0.2.1"), Admission::Refused);
        assert_eq!(book.admit("192.0.2.2"), Admission::Free);
        book.leave("192.0.2.1", busy);
        assert_eq!(book.admit("192.0.2.1"), Admission::Free);
    }

    #[test]
    fn connections_without_an_address_have_no_client_limit() {
        let mut clients = Clients::new(1);
        let key = RateKey::from(None);
        for id in 0..100 {
            assert_eq!(clients.admit(&key, Instant::now(), |_| None), Admission::Free);
            assert!(clients.enter(&key, id, |_| true).is_none());
        }
        // They still count as one client when stuck connections are shared out.
        assert_eq!(clients.above_share(10, |_| true), Some([key].into()));
    }

    #[test]
    fn a_network_of_ipv6_is_one_client_and_a_mapped_address_is_ipv4() {
        for (one, same, other) in [
            ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"),
            ("::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.2"),
        ] {
            let mut book = Book::new(1);
            book.enter(one, 0);
            assert_eq!(book.admit(same), Admission::Refused, "{one} {same}");
            assert_eq!(book.admit(other), Admission::Free, "{one} {other}");
        }
    }

    #[test]
    fn unfinished_connections_are_bounded() {
        let mut book = Book::new(10);
        for since in 1..=100 {
            match book.admit("192.0.2.1") {
                Admission::Refused => break,
                Admission::Free | Admission::After(_) => drop(book.enter("192.0.2.1", since)),
            }
        }
        assert_eq!(book.open.len(), 10 + MIN_LEAVING);
    }

    /// Checks which clients are above their share, given their connection
    /// counts; `None` if there are too many clients.
    #[track_caller]
    fn check_share(room: usize, counts: &[usize], expected: Option<&[usize]>) {
        let mut book = Book::new(100);
        let address = |at: usize| format!("192.0.2.{at}");
        for (at, count) in counts.iter().enumerate() {
            book.enter(&address(at), 0);
            for _ in 0..*count {
                book.enter(&address(at), 1);
            }
        }
        let found = book.clients.above_share(room, |id| book.open.get(&id) == Some(&1));
        let wanted = expected.map(|it| it.iter().map(|at| key(&address(*at))).collect());
        assert_eq!(found, wanted, "{counts:?} in {room}");
    }

    #[test]
    fn clients_with_the_most_connections_are_above_their_share() {
        check_share(4, &[], Some(&[]));
        check_share(4, &[1, 2, 1, 0], Some(&[]));
        check_share(4, &[5], Some(&[0]));
        check_share(4, &[1, 1, 3, 0], Some(&[2]));
        check_share(4, &[1, 3, 2], Some(&[1, 2]));
        check_share(4, &[2, 2, 2], Some(&[0, 1, 2]));
        check_share(4, &[9, 1, 1, 1], Some(&[0]));
        check_share(4, &[9, 1, 1, 1, 1], None);
    }

    #[test]
    fn ids_of_closed_connections_do_not_accumulate() {
        let mut book = Book::new(10);
        book.enter("192.0.2.1", 0);
        for _ in 0..1_000 {
            let id = book.enter("192.0.2.1", 0);
            book.leave("192.0.2.1", id);
        }
        let ids = book.clients.clients[&key("192.0.2.1")].ids.len();
        assert!(ids <= 2 * 2 + MIN_LEAVING, "{ids}");
    }

    #[test]
    fn room_is_scarce_when_a_tenth_is_left() {
        let quota = |open, most| Some(ClientQuota { open: Arc::new(AtomicUsize::new(open)), most });
        let cases = [
            (100, 11, None, false),
            (100, 10, None, true),
            (2, 1, None, false),
            (2, 0, None, true),
            (100, 100, quota(89, 100), false),
            (100, 100, quota(90, 100), true),
            // The same while some are closing.
            (100, 100, quota(101, 100), true),
            (100, 100, quota(1, 1), true),
        ];
        for (max, free, quota, expected) in cases {
            let capacity = Capacity::new(Arc::new(Semaphore::new(free)), max, quota);
            assert_eq!(capacity.is_scarce(), expected, "{capacity:?}");
        }
    }

    #[test]
    fn releases_the_memory_of_many_clients() {
        let mut book = Book::new(5);
        let client = |number: u32| std::net::Ipv4Addr::from_bits(number).to_string();
        let ids: Vec<u64> = (0..10_000).map(|number| book.enter(&client(number), 0)).collect();
        assert!(book.clients.clients.capacity() >= 10_000);
        for (number, id) in (0..10_000).zip(ids) {
            book.leave(&client(number), id);
        }
        assert!(book.clients.clients.capacity() < 1_000);
    }
}
