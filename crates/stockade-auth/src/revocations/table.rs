//! [`Table`]: all revocations, in memory.
//!
//! Hot: [`Table::is_revoked`] computes a quick hash and checks a bit for each
//! kind of revocation in use. It costs nothing while there are no revocations.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{OnceLock, RwLock};
use std::time::Instant;

use stockade_errors::locks::{read, write};

use super::beyond::Beyond;
use super::entry::{Kind, Name, Named, Revocation};
use super::watch::Watchers;
use crate::{Claims, UnixClock};

/// All revocations, with the time of the last contact to the log.
pub(super) struct Table {
    tokens: Shards<Until>,
    subjects: Shards<Before<MILLIS>>,
    /// Entries of earlier versions.
    subjects_in_seconds: Shards<Before<SECONDS>>,
    max_entries: AtomicUsize,
    clock: OnceLock<UnixClock>,
    start: Instant,
    /// [`Table::steady_millis`] at the last contact, plus 1; 0 for none yet.
    heard: AtomicU64,
    /// True if a log removes expired entries, both here and in its shared
    /// storage.
    is_shared: bool,
    /// The time of the last sweep, in seconds since 1970.
    swept: AtomicU64,
    pub(super) has_warned: AtomicBool,
    pub(super) beyond: Beyond,
    pub(super) watchers: Watchers,
}

impl Table {
    pub(super) fn new(is_shared: bool) -> Self {
        Self {
            tokens: Shards::new(),
            subjects: Shards::new(),
            subjects_in_seconds: Shards::new(),
            max_entries: AtomicUsize::new(MAX_ENTRIES),
            clock: OnceLock::new(),
            start: Instant::now(),
            heard: AtomicU64::new(0),
            is_shared,
            swept: AtomicU64::new(0),
            has_warned: AtomicBool::new(false),
            beyond: Beyond::new(),
            watchers: Watchers::default(),
        }
    }

    pub(super) fn set_clock(&self, clock: UnixClock) {
        // Only the first clock is used, because times of two clocks cannot be
        // compared.
        let _ = self.clock.set(clock);
    }

    pub(super) fn set_max_entries(&self, max: usize) {
        self.max_entries.store(max, Ordering::Relaxed);
    }

    pub(super) fn max_entries(&self) -> usize {
        self.max_entries.load(Ordering::Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len() + self.subjects.len() + self.subjects_in_seconds.len()
    }

    /// Returns the seconds since 1970. Returns the maximum if the clock is
    /// before 1970, because no token is valid then.
    pub(super) fn now(&self) -> u64 {
        self.clock
            .get()
            .map_or_else(|| UnixClock::default().now(), UnixClock::now)
            .unwrap_or(u64::MAX)
    }

    /// Returns a monotonic time in milliseconds, unless a test has set the
    /// clock.
    pub(super) fn steady_millis(&self) -> u64 {
        match self.clock.get().filter(|clock| clock.is_custom()) {
            Some(clock) => clock.now().unwrap_or(u64::MAX).saturating_mul(1_000),
            None => u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Records that the table has all entries of the log now.
    pub(super) fn note_contact(&self) {
        self.heard.store(self.steady_millis().saturating_add(1), Ordering::Release);
    }

    /// Returns the milliseconds since the last contact; `None` before the first.
    pub(super) fn age_millis(&self) -> Option<u64> {
        let heard = self.heard.load(Ordering::Acquire).checked_sub(1)?;
        Some(self.steady_millis().saturating_sub(heard))
    }

    /// Returns true if a token is revoked, directly or by its subject.
    pub(super) fn is_revoked(&self, claims: &Claims) -> bool {
        if let Some(Until(until)) = self.tokens.get(|| Some(Named::token(claims)))
            && self.now() < until
        {
            return true;
        }
        let subject = || Named::subject_of(claims);
        let is_meant = |found: Before<MILLIS>| {
            claims.is_older_millis(found.before) && self.now() < found.until
        };
        let is_meant_in_seconds =
            |found: Before<SECONDS>| claims.is_older(found.before) && self.now() < found.until;
        self.subjects.get(subject).is_some_and(is_meant)
            || self.subjects_in_seconds.get(subject).is_some_and(is_meant_in_seconds)
    }

    /// Adds an entry. Returns false if the table is full.
    pub(super) fn add(&self, entry: Revocation) -> bool {
        let now = self.now();
        if entry.until() <= now {
            return true;
        }
        if entry.is_beyond() {
            self.beyond.note(entry.until());
            return true;
        }
        let max = self.max_entries();
        let pause = match self.len() >= max {
            true => Some(FULL_SWEEP_SECONDS),
            false => (!self.is_shared).then_some(SWEEP_SECONDS),
        };
        let swept = self.swept.load(Ordering::Relaxed);
        if pause.is_some_and(|pause| now >= swept.saturating_add(pause)) {
            self.swept.store(now, Ordering::Relaxed);
            self.sweep();
        }
        let has_room = self.len() < max;
        let is_added = match entry.kind() {
            Kind::Beyond => true,
            Kind::Token => self.tokens.join(entry.name(), Until(entry.until()), has_room),
            Kind::Subject { before } => {
                let value = Before { before, until: entry.until() };
                self.subjects_in_seconds.join(entry.name(), value, has_room)
            }
            Kind::SubjectMillis { before } => {
                self.subjects.join(entry.name(), Before { before, until: entry.until() }, has_room)
            }
        };
        if is_added {
            self.watchers.wake(&entry.key());
        }
        is_added
    }

    /// Removes expired entries and returns them.
    pub(super) fn sweep(&self) -> Vec<Revocation> {
        let now = self.now();
        let mut expired = Vec::new();
        self.tokens.sweep(now, &mut expired);
        self.subjects.sweep(now, &mut expired);
        self.subjects_in_seconds.sweep(now, &mut expired);
        self.beyond.sweep(now, &mut expired);
        expired
    }

    /// Returns all entries, in arbitrary order.
    pub(super) fn entries(&self) -> Vec<Revocation> {
        let mut entries = Vec::with_capacity(self.len());
        self.tokens.list(&mut entries);
        self.subjects.list(&mut entries);
        self.subjects_in_seconds.list(&mut entries);
        self.beyond.list(&mut entries);
        entries
    }
}

/// A value of the table. Two values with the same name are merged, in any
/// order.
trait Value: Copy {
    fn join(self, other: Self) -> Self;
    fn until(self) -> u64;
    fn entry(self, name: Name) -> Revocation;
}

/// The time until which a token is revoked.
#[derive(Clone, Copy)]
struct Until(u64);

/// The time before which the tokens of a subject are revoked, in milliseconds
/// or seconds.
#[derive(Clone, Copy)]
struct Before<const UNIT: bool> {
    before: u64,
    until: u64,
}

impl Value for Until {
    fn join(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    fn until(self) -> u64 {
        self.0
    }

    fn entry(self, name: Name) -> Revocation {
        Revocation::token(name, self.0)
    }
}

const MILLIS: bool = true;
const SECONDS: bool = false;

impl<const UNIT: bool> Value for Before<UNIT> {
    fn join(self, other: Self) -> Self {
        Self { before: self.before.max(other.before), until: self.until.max(other.until) }
    }

    fn until(self) -> u64 {
        self.until
    }

    fn entry(self, name: Name) -> Revocation {
        if UNIT == MILLIS {
            Revocation::subject_millis(name, self.before, self.until)
        } else {
            Revocation::subject(name, self.before, self.until)
        }
    }
}

/// A sharded map, so a write blocks few readers.
struct Shards<V> {
    shards: [RwLock<Shard<V>>; SHARDS],
    len: AtomicUsize,
}

/// A shard of the names, selected by the lower bits of the quick hash.
struct Shard<V> {
    map: HashMap<Name, V>,
    /// A filter with one bit for each value of the next bits of the quick hash.
    /// If a bit is unset, no name in the shard has this value. Empty until the
    /// first name is added.
    filter: Vec<u64>,
}

impl<V: Value> Shards<V> {
    fn new() -> Self {
        let shards =
            std::array::from_fn(|_| RwLock::new(Shard { map: HashMap::new(), filter: Vec::new() }));
        Self { shards, len: AtomicUsize::new(0) }
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    fn shard(&self, quick: u32) -> &RwLock<Shard<V>> {
        &self.shards[quick as usize % SHARDS]
    }

    /// Returns the value for a text. Computes the text only if there are
    /// values.
    fn get<'t>(&self, text: impl FnOnce() -> Option<Named<'t>>) -> Option<V> {
        if self.len() == 0 {
            return None;
        }
        let text = text()?;
        let quick = text.quick();
        let shard = read(self.shard(quick));
        if !shard.may_have(quick) {
            return None;
        }
        let bound = shard.map.get(&text.name()).copied();
        match shard.map.get(&text.unbound_name()).copied() {
            Some(unbound) => Some(bound.map_or(unbound, |bound| bound.join(unbound))),
            None => bound,
        }
    }

    /// Adds a value. Returns false if the name is new and the table is full.
    fn join(&self, name: Name, value: V, has_room: bool) -> bool {
        let mut shard = write(self.shard(name.quick()));
        if let Some(known) = shard.map.get_mut(&name) {
            *known = known.join(value);
            return true;
        }
        if has_room {
            shard.note(name);
            shard.map.insert(name, value);
            self.len.fetch_add(1, Ordering::Release);
        }
        has_room
    }

    fn sweep(&self, now: u64, expired: &mut Vec<Revocation>) {
        for shard in &self.shards {
            let before = expired.len();
            let mut shard = write(shard);
            shard.map.retain(|name, value| {
                let holds = now < value.until();
                if !holds {
                    expired.push(value.entry(*name));
                }
                holds
            });
            let gone = expired.len() - before;
            if gone > 0 {
                shard.renew_filter();
                self.len.fetch_sub(gone, Ordering::Release);
            }
        }
    }

    fn list(&self, entries: &mut Vec<Revocation>) {
        for shard in &self.shards {
            entries.extend(read(shard).map.iter().map(|(name, value)| value.entry(*name)));
        }
    }
}

impl<V> Shard<V> {
    fn may_have(&self, quick: u32) -> bool {
        let (word, bit) = place(quick);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }

    fn note(&mut self, name: Name) {
        if self.filter.is_empty() {
            self.filter = vec![0; FILTER_WORDS];
        }
        let (word, bit) = place(name.quick());
        self.filter[word] |= bit;
    }

    fn renew_filter(&mut self) {
        self.filter.fill(0);
        let Self { map, filter } = self;
        for name in map.keys() {
            let (word, bit) = place(name.quick());
            filter[word] |= bit;
        }
    }
}

/// Returns the word and the bit of a filter for a quick hash.
fn place(quick: u32) -> (usize, u64) {
    let place = quick as usize / SHARDS;
    (place / 64 % FILTER_WORDS, 1 << (place % 64))
}

const SHARDS: usize = 16;
/// The number of 64-bit words of a filter: 32 KB. A million names set a fifth
/// of the bits.
const FILTER_WORDS: usize = 4_096;
/// The default of `Revocations::max_entries`.
const MAX_ENTRIES: usize = 1_000_000;
/// The time between two sweeps.
const SWEEP_SECONDS: u64 = 60;
/// The time between two sweeps while the table is full.
const FULL_SWEEP_SECONDS: u64 = 1;
