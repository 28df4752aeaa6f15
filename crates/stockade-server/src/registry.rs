//! [`Registry`]: the open connections of a server. The sweep checks them, and
//! idle or unfinished ones make room for new ones.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use stockade_core::client::shrink_map;
use stockade_errors::locks::lock;
use stockade_stages::rate_limit::RateKey;
use tokio::time::Instant;

use crate::clients::{Admission, Capacity, ClientQuota, Clients, Slot};
use crate::connection_record::{Command, ConnectionRecord};
use crate::idle_queue::IdleQueue;
use crate::sweep::{Limits, Phase, verdict};
use crate::unfinished_queue::{Look, UnfinishedQueue};
use crate::write_stall::WriteStall;

/// All open connections of a server.
#[derive(Debug)]
pub(crate) struct Registry {
    limits: Limits,
    max_connections: usize,
    // Locked when a connection opens or closes, and by the sweep; never by a
    // request.
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    records: HashMap<u64, Arc<ConnectionRecord>>,
    next: u64,
    /// Connections that may not be parked yet, in a ring. The first one was
    /// checked longest ago.
    unparked: VecDeque<u64>,
    /// Idle connections, which may close to make room for new ones.
    idle: IdleQueue,
    /// Unfinished connections of clients that have many of them. They are
    /// closed to make room if no connection is idle.
    unfinished: UnfinishedQueue,
    /// The connections by client; `None` without a limit per client.
    clients: Option<Clients>,
    /// The connections that the last sweep found blocked.
    blocked: HashMap<u64, WriteStall>,
    /// The end of the period during which stuck connections end immediately,
    /// because too many were stuck.
    strict_until: u64,
    /// The clients that `strict_until` applies to, which are [above their
    /// share](Clients::above_share); `None` for all clients.
    strict_for: Option<HashSet<RateKey>>,
}

/// Returns the time at which a connection became idle, or `None` if it must not
/// be closed.
fn idle_since(records: &HashMap<u64, Arc<ConnectionRecord>>, id: u64) -> Option<u64> {
    let record = records.get(&id).filter(|record| !record.is_told_to_end())?;
    record.snapshot().idle_since()
}

/// Returns the start time of an unfinished connection, if it may be ended.
fn unfinished_since(records: &HashMap<u64, Arc<ConnectionRecord>>, id: u64) -> Option<u64> {
    let record = records.get(&id).filter(|record| !record.is_told_to_end())?;
    record.snapshot().unfinished_since()
}

fn tell_to_finish(records: &HashMap<u64, Arc<ConnectionRecord>>, id: u64) {
    if let Some(record) = records.get(&id) {
        log::debug!(target: "stockade::server", "an idle connection is closed for a new one");
        record.tell(Command::Finish);
    }
}

impl OpenConnections {
    /// Decides whether to admit a client's connection; see [`Registry::admit`].
    fn admit(&mut self, client: &RateKey, now: Instant) -> Admission {
        let Self { records, clients, .. } = self;
        let Some(clients) = clients else { return Admission::Free };
        let admission = clients.admit(client, now, |id| idle_since(records, id));
        if let Admission::After(id) = admission {
            tell_to_finish(records, id);
        }
        admission
    }

    /// Counts a connection for its client.
    fn enter(&mut self, client: &RateKey, id: u64) -> Option<ClientQuota> {
        let Self { records, clients, .. } = self;
        clients.as_mut()?.enter(client, id, |id| records.contains_key(&id))
    }

    /// Frees memory after many connections have closed.
    fn shrink(&mut self) {
        let Self { records, unparked, .. } = self;
        if shrink_map(records) {
            unparked.retain(|id| records.contains_key(id));
            unparked.shrink_to(unparked.len() * 2);
        }
    }

    /// Parks idle connections early while many new ones arrive.
    ///
    /// Allocators return little of the freed memory to the system. It is
    /// therefore not enough for the sweep to park ten thousand connections
    /// later: their memory must not be in use at the same time.
    fn park_early(&mut self) {
        for _ in 0..LOOKS_PER_NEWCOMER {
            if self.unparked.len() <= MAX_UNPARKED {
                return;
            }
            let Some(id) = self.unparked.pop_front() else { return };
            let Some(record) = self.records.get(&id) else { continue };
            let seen = record.snapshot();
            if seen.http2 || seen.parked || seen.phase == Phase::Upgraded {
                continue;
            }
            // A connection is never parked on its first check, because the
            // client may be about to send a request.
            if record.has_rested() && seen.may_park() {
                record.tell(Command::Park);
            } else {
                self.unparked.push_back(id);
            }
        }
    }

    /// Returns the connections that end as soon as they are stuck; `None` means
    /// all.
    fn strict_ids(&self) -> Option<HashSet<u64>> {
        let (clients, strict_for) = (self.clients.as_ref()?, self.strict_for.as_ref()?);
        Some(strict_for.iter().flat_map(|key| clients.ids(key)).copied().collect())
    }
}

impl Registry {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, max_connections: 0, open: Mutex::default() }
    }

    /// Sets the maximum number of connections, in total and per client.
    pub(crate) fn with_room(mut self, max_connections: usize, per_client: Option<usize>) -> Self {
        self.max_connections = max_connections;
        self.lock().clients = per_client.map(Clients::new);
        self
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        lock(&self.open)
    }

    /// Decides whether to admit a new connection of `client`. If an idle
    /// connection of the same client must make room, that connection gets the
    /// command to finish.
    pub(crate) fn admit(&self, client: Option<IpAddr>, now: Instant) -> Admission {
        self.lock().admit(&RateKey::from(client), now)
    }

    /// Ends a connection to make room for a waiting connection of `newcomer`.
    /// This is the connection that has been idle longest. If none is idle, it
    /// is the slowest unfinished connection of the client with the most, if
    /// that client is above its share. Returns false if there is no such
    /// connection.
    pub(crate) fn make_room(&self, newcomer: Option<IpAddr>, now: Instant) -> bool {
        let OpenConnections { records, idle, unfinished, clients, .. } = &mut *self.lock();
        if let Some(id) = idle.pop(now, records.keys().copied(), |id| idle_since(records, id)) {
            tell_to_finish(records, id);
            return true;
        }
        let Some(clients) = clients else { return false };
        let newcomer = RateKey::from(newcomer);
        let since = |id| unfinished_since(records, id);
        let look = || {
            let share = (records.len() / clients.count_with(&newcomer)).max(1);
            let crowded = clients.crowded(share, since);
            Look { crowded, share, looks: u32::try_from(records.len()).unwrap_or(u32::MAX) }
        };
        let slowest = unfinished.pop(now, &newcomer, look, since);
        let Some(record) = slowest.and_then(|id| records.get(&id)) else { return false };
        log::debug!(target: "stockade::server", "an unfinished connection is closed for a new one");
        if record.is_blocked() {
            record.give_up();
        } else {
            record.tell(Command::Close);
        }
        true
    }

    /// Adds a connection. Dropping the registration removes it and frees its
    /// slot.
    pub(crate) fn register(
        self: &Arc<Self>,
        record: Arc<ConnectionRecord>,
        slot: Slot,
    ) -> Registration {
        let mut guard = self.lock();
        let open = &mut *guard;
        let id = open.next;
        open.next += 1;
        let quota = slot.client.as_ref().and_then(|client| open.enter(client, id));
        open.records.insert(id, record);
        if self.limits.parks() {
            open.unparked.push_back(id);
            open.park_early();
        }
        drop(guard);
        Registration { registry: Arc::clone(self), id, slot, quota }
    }

    /// Returns the number of open connections.
    pub(crate) fn count(&self) -> usize {
        self.lock().records.len()
    }

    /// Sends the same command to all connections; returns their number.
    pub(crate) fn tell_all(&self, command: Command) -> usize {
        let open = self.lock();
        open.records.values().for_each(|record| record.tell(command));
        open.records.len()
    }

    pub(crate) fn sweep(&self, now: u64) {
        let mut open = self.lock();
        // A new map, sized for the connections that are blocked now.
        let mut before = std::mem::take(&mut open.blocked);
        let mut blocked = HashMap::new();
        for (id, record) in &open.records {
            let seen = record.snapshot();
            if seen.awaits_reading() {
                let mut found = before.remove(id);
                if let Some(known) = &mut found {
                    known.pass(now, seen.taken);
                }
                let found =
                    found.unwrap_or_else(|| WriteStall::new(now, seen.taken, self.limits.write));
                blocked.insert(*id, found);
                record.ask();
                continue;
            }
            let command = verdict(&seen, now, self.limits);
            if command >= Command::Finish {
                log::debug!(target: "stockade::server", "a stalled connection is closed: {seen:?}");
            }
            if command != Command::Stay {
                record.tell(command);
            }
        }
        let is_stuck = |id: u64| blocked.get(&id).is_some_and(WriteStall::is_stuck);
        let stuck = blocked.values().filter(|blocked| blocked.is_stuck()).count();
        if stuck > self.limits.stuck {
            let clients = open.clients.as_ref();
            open.strict_for = clients.and_then(|it| it.above_share(self.limits.stuck, is_stuck));
            open.strict_until = now + STRICT_TIME;
        }
        give_up(&open.records, &blocked, |_, seen| seen.is_over());
        if now < open.strict_until {
            let strict = open.strict_ids();
            give_up(&open.records, &blocked, |id, seen| {
                seen.is_stuck() && strict.as_ref().is_none_or(|strict| strict.contains(&id))
            });
        }
        open.blocked = blocked;
    }
}

/// Ends blocked connections for which `is_over` returns true.
fn give_up(
    records: &HashMap<u64, Arc<ConnectionRecord>>,
    blocked: &HashMap<u64, WriteStall>,
    is_over: impl Fn(u64, &WriteStall) -> bool,
) {
    for (id, seen) in blocked {
        if is_over(*id, seen)
            && let Some(record) = records.get(id)
        {
            log::debug!(
                target: "stockade::server",
                "the client does not read the response: {seen:?}"
            );
            record.give_up();
        }
    }
}

/// A connection in the [`Registry`], with its slot.
#[derive(Debug)]
pub(crate) struct Registration {
    registry: Arc<Registry>,
    id: u64,
    slot: Slot,
    quota: Option<ClientQuota>,
}

impl Registration {
    /// Returns the remaining capacity.
    pub(crate) fn capacity(&self) -> Capacity {
        let slots = Arc::clone(self.slot.permit.semaphore());
        Capacity::new(slots, self.registry.max_connections, self.quota.clone())
    }

    /// Decides whether to admit a connection once its client is known, like
    /// [`Registry::admit`]. Counts it for the client unless it is rejected.
    pub(crate) fn identify(&mut self, client: Option<IpAddr>, now: Instant) -> Admission {
        let mut open = self.registry.lock();
        let client = RateKey::from(client);
        let admission = open.admit(&client, now);
        // A rejected connection is not counted for a client while it closes.
        if admission != Admission::Refused {
            self.quota = open.enter(&client, self.id);
            self.slot.client = Some(client);
        }
        admission
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut open = self.registry.lock();
        open.records.remove(&self.id);
        if let (Some(clients), Some(client)) = (&mut open.clients, &self.slot.client) {
            clients.leave(client);
        }
        open.shrink();
    }
}

/// The number of unparked connections above which some are parked early.
const MAX_UNPARKED: usize = 256;

/// The number of unparked connections to check for each new connection.
const LOOKS_PER_NEWCOMER: usize = 4;

/// After too many connections were stuck, further stuck connections end
/// immediately for this time, in milliseconds: 30 s. Connections do not all get
/// stuck at the same time.
const STRICT_TIME: u64 = 30_000;

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};
    use std::time::Duration;

    use tokio::sync::Semaphore;

    use super::*;
    use crate::ServerOptions;
    use crate::connection_record::InFlight;
    use crate::sweep::SweepClock;
    use crate::sweep::tests::limits;

    /// Returns the command of a connection.
    fn command(record: &ConnectionRecord) -> Command {
        record.command(&Context::from_waker(Waker::noop()))
    }

    /// Creates `count` connections, each after one request.
    fn crowd(registry: &Arc<Registry>, count: usize) -> Vec<(Arc<ConnectionRecord>, Registration)> {
        crowd_of(registry, count, |_| 1)
    }

    /// Creates connections like [`crowd`]; `client` returns the last byte of
    /// each address.
    fn crowd_of(
        registry: &Arc<Registry>,
        count: usize,
        client: impl Fn(usize) -> u8,
    ) -> Vec<(Arc<ConnectionRecord>, Registration)> {
        let clock = Arc::new(SweepClock::new(limits().interval()));
        let slots = Arc::new(Semaphore::new(count));
        let enter = |at| {
            let record = Arc::new(ConnectionRecord::new(Arc::clone(&clock), true));
            let permit = Arc::clone(&slots).try_acquire_owned().unwrap();
            let slot = Slot::new(permit, IpAddr::from([192, 0, 2, client(at)]));
            let registration = registry.register(Arc::clone(&record), slot);
            drop(InFlight::begin(&record));
            record.http1.exchanges.set_flushed(true);
            (record, registration)
        };
        (0..count).map(enter).collect()
    }

    #[test]
    fn counts_a_connection_for_its_client_when_the_client_is_known() {
        let registry = Arc::new(Registry::new(limits()).with_room(10, Some(1)));
        let clock = Arc::new(SweepClock::new(limits().interval()));
        let slots = Arc::new(Semaphore::new(10));
        let client = Some(IpAddr::from([192, 0, 2, 7]));
        let now = Instant::now();
        let open = || {
            let permit = Arc::clone(&slots).try_acquire_owned().unwrap();
            let record = Arc::new(ConnectionRecord::new(Arc::clone(&clock), true));
            registry.register(record, Slot::of_unknown_client(permit))
        };
        let (mut first, mut second, unknown) = (open(), open(), open());
        assert_eq!(registry.admit(client, now), Admission::Free);
        assert!(first.quota.is_none());
        assert_eq!(first.identify(client, now), Admission::Free);
        assert!(first.quota.is_some());
        assert_eq!(registry.admit(client, now), Admission::Refused);
        assert_eq!(second.identify(client, now), Admission::Refused);
        drop((second, unknown));
        assert_eq!(registry.admit(client, now), Admission::Refused, "the first one counts");
        drop(first);
        assert_eq!(registry.admit(client, now), Admission::Free);
        assert_eq!(slots.available_permits(), 10);
    }

    #[test]
    fn releases_memory_after_a_traffic_spike() {
        let registry = Arc::new(Registry::new(limits()));
        let mut wave = crowd(&registry, 5_000);
        let of_wave = registry.lock().records.capacity();
        drop(wave.split_off(10));
        let open = registry.lock();
        let (records, unparked) = (open.records.capacity(), open.unparked.capacity());
        assert!(of_wave >= 5_000 && records <= 128 && unparked <= 128, "{records}, {unparked}");
        assert_eq!(open.records.len(), 10);
        drop(open);
        assert_eq!(registry.tell_all(Command::Finish), 10);
    }

    #[test]
    fn parks_resting_connections_early_if_many_arrive() {
        let parked = |all: &[(Arc<ConnectionRecord>, Registration)]| {
            all.iter().filter(|(record, _)| command(record) == Command::Park).count()
        };
        let registry = Arc::new(Registry::new(limits()));
        let few = crowd(&registry, MAX_UNPARKED);
        assert_eq!(parked(&few), 0);
        drop(few);
        let many = crowd(&registry, 10 * MAX_UNPARKED);
        let awake = many.len() - parked(&many);
        assert!((1..=2 * MAX_UNPARKED).contains(&awake), "{awake} are awake");

        let never = Limits::of(&ServerOptions::new().park_after(Duration::MAX));
        assert_eq!(parked(&crowd(&Arc::new(Registry::new(never)), 10 * MAX_UNPARKED)), 0);
    }

    #[test]
    fn does_not_park_used_connections_if_many_arrive() {
        let registry = Arc::new(Registry::new(limits()));
        let (used, _registration) = crowd(&registry, 1).remove(0);
        for _ in 0..20 {
            let _come_and_gone = crowd(&registry, MAX_UNPARKED / 2);
            drop(InFlight::begin(&used));
        }
        assert_eq!(command(&used), Command::Stay);
    }

    /// Sweeps `count` blocked connections every second. `goes` returns true if
    /// a connection accepts a kilobyte in a second. Returns the lifetime of
    /// each connection in seconds, at most `most`.
    fn lifetimes(count: usize, most: u64, goes: impl Fn(usize, u64) -> bool) -> Vec<Option<u64>> {
        lifetimes_of(None, |_| 1, count, most, goes)
    }

    /// Sweeps like [`lifetimes`], with a limit per client.
    fn lifetimes_of(
        per_client: Option<usize>,
        client: impl Fn(usize) -> u8,
        count: usize,
        most: u64,
        goes: impl Fn(usize, u64) -> bool,
    ) -> Vec<Option<u64>> {
        let registry = Arc::new(Registry::new(limits()).with_room(1_000, per_client));
        let all = crowd_of(&registry, count, client);
        let running: Vec<_> = all.iter().map(|(record, _)| InFlight::begin(record)).collect();
        let mut ended = vec![None; count];
        for second in 0..=most {
            for (at, (record, _)) in all.iter().enumerate() {
                if goes(at, second) {
                    record.bytes_went(1_000);
                }
                record.bytes_wait();
                assert_eq!(record.resets(), ended[at].is_some());
            }
            registry.sweep((second + 1) * 1_000);
            for (at, (record, _)) in all.iter().enumerate() {
                let is_over = command(record) == Command::Close;
                ended[at] = ended[at].or_else(|| is_over.then_some(second));
            }
        }
        drop(running);
        ended
    }

    #[test]
    fn only_unread_responses_end() {
        assert_eq!(lifetimes(2, 300, |at, _| at == 0), [None, Some(75)]);
        // Each kilobyte that the client reads adds 2 s.
        assert_eq!(lifetimes(1, 300, |_, second| second.is_multiple_of(2)), [None]);
        assert_eq!(lifetimes(1, 300, |_, second| second.is_multiple_of(4)), [Some(147)]);
    }

    #[test]
    fn many_stalled_connections_end_soon() {
        let goes = |at: usize, second: u64| match at {
            // The last of these is stuck after the others have ended.
            0..3 => false,
            3 => second == 8,
            _ => second.is_multiple_of(10),
        };
        assert_eq!(lifetimes(5, 60, goes), [Some(12), Some(12), Some(12), Some(20), None]);
        assert_eq!(lifetimes(2, 60, |_, _| false), [None, None]);
    }

    #[test]
    fn only_the_client_with_many_stalled_connections_loses_them() {
        let first = |count: usize| move |at: usize| if at < count { 1 } else { 2 };
        // The last one of the first client is stuck after the others have
        // ended.
        let goes = |at: usize, second: u64| at == 3 && second == 8;
        let alone = [Some(12), Some(12), Some(12), Some(20), Some(75)];
        assert_eq!(lifetimes_of(Some(100), first(4), 5, 80, goes), alone);
        // The same if clients are not distinguished, or if each has one
        // connection.
        let all = [Some(12), Some(12), Some(12), Some(20), Some(12)];
        assert_eq!(lifetimes_of(None, first(4), 5, 80, goes), all);
        let each = |at: usize| u8::try_from(at).unwrap();
        assert_eq!(lifetimes_of(Some(100), each, 5, 80, goes), all);
    }

    #[test]
    fn a_blocked_connection_is_neither_idle_nor_late() {
        for begun in [false, true] {
            let registry = Arc::new(Registry::new(limits()));
            let (record, _registration) = crowd(&registry, 1).remove(0);
            if begun {
                record.bytes_came();
            }
            for second in 1..=200 {
                record.bytes_went(1_000);
                record.bytes_wait();
                registry.sweep(second * 1_000);
                assert_eq!(command(&record), Command::Stay, "after {second} s");
            }
        }
    }
}
