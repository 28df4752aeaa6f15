//! [`MemoryRateStore`]: counts in the memory of the process.
//!
//! Hot: one keyed hash, one lock of one shard, one probe. A charge allocates
//! only if a table grows.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Duration;

use foldhash::SharedSeed;
use foldhash::quality::SeedableRandomState;
use stockade_errors::locks::lock;

use super::Decision;
use super::algorithm::Algorithm;
use super::key::{Kind, RateKey};
use super::overflow::{OVERFLOW_WINDOWS, Overflow};
use super::quota::{RateLimitPolicy, nanos};
use super::store::{ChargeOutcome, RateStore};
use super::table::{Digest, Table};

/// A store in the memory of the process, with a cap.
///
/// The keys are spread over shards by a hash with random keys. Requests rarely
/// wait for each other, and clients cannot choose keys that collide. Expired
/// windows make room for new keys. At the cap, new keys are counted in 16,384
/// windows by keyed hash, which use 256 KiB while they are in use. The store
/// therefore neither grows nor lets a request pass uncounted. A client with a
/// window keeps it, and a client that fills the store locks out only clients
/// that share a window with it.
///
/// The cap is divided evenly among the shards. A small store has one shard. A
/// large store may reach its cap a few percent early, because keys are not
/// spread perfectly evenly.
pub struct MemoryRateStore {
    algorithm: Algorithm,
    /// The shards. Invariant: their number is a power of two.
    shards: Box<[Shard]>,
    /// Hashes addresses, which are compared in full.
    places: SeedableRandomState,
    /// The hashes for the two halves of a text's digest, which represents the
    /// text.
    texts: [RandomState; 2],
}

/// A shard in a separate cache line: the locks of two shards never share one.
#[repr(align(64))]
struct Shard(Mutex<Counts>);

/// The counts of one shard.
#[derive(Debug)]
struct Counts {
    table: Table,
    /// The counts of new keys at the cap.
    overflow: Overflow,
}

impl Counts {
    #[inline]
    fn charge(
        &mut self,
        digest: Digest,
        algorithm: Algorithm,
        policy: &RateLimitPolicy,
        cost: NonZeroU32,
        now: u64,
    ) -> Decision {
        match self.table.state(digest, now) {
            Some(state) => {
                // The table accepts new keys again.
                if state.dead_at == 0 {
                    self.overflow.release(now);
                }
                algorithm.charge(state, policy, cost, now)
            }
            None => self.overflow.charge(digest.hash, algorithm, policy, cost, now),
        }
    }
}

impl MemoryRateStore {
    /// Creates a store for at most this many keys. 0 counts every client in the
    /// windows for new keys at the cap.
    #[must_use]
    pub fn new(algorithm: Algorithm, max_keys: usize) -> Self {
        let count = (max_keys / KEYS_OF_A_SHARD).clamp(1, MAX_SHARDS);
        let count = 1_usize << count.ilog2();
        let share = |index: usize| max_keys / count + usize::from(index < max_keys % count);
        let shards = (0..count).map(|index| {
            let overflow = Overflow::new(OVERFLOW_WINDOWS / count);
            Shard(Mutex::new(Counts { table: Table::new(share(index)), overflow }))
        });
        Self {
            algorithm,
            shards: shards.collect(),
            places: SeedableRandomState::with_seed(
                RandomState::new().hash_one(max_keys),
                SharedSeed::global_random(),
            ),
            texts: [RandomState::new(), RandomState::new()],
        }
    }

    /// Returns the number of keys, including expired keys that are not yet
    /// swept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(&shard.0).table.len()).sum()
    }

    /// Returns true if the store is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Charges one request to `key` and decides immediately.
    #[must_use]
    pub fn decide(&self, key: &RateKey, policy: &RateLimitPolicy, now: Duration) -> Decision {
        self.decide_cost(key, policy, NonZeroU32::MIN, now)
    }

    /// Charges a request that counts as `cost` requests, and decides
    /// immediately.
    #[inline]
    pub(super) fn decide_cost(
        &self,
        key: &RateKey,
        policy: &RateLimitPolicy,
        cost: NonZeroU32,
        now: Duration,
    ) -> Decision {
        let (digest, now) = (self.digest(key), nanos(now));
        lock(self.shard(digest.hash)).charge(digest, self.algorithm, policy, cost, now)
    }

    /// Returns the digest of a key. An address is stored together with its
    /// hash. A text becomes two keyed hashes, so its length costs no memory.
    fn digest(&self, key: &RateKey) -> Digest {
        let (hash, rest) = match &key.0 {
            Kind::Version4(bits) => {
                let rest = u64::from(*bits);
                (self.places.hash_one(rest), rest)
            }
            // The bits are rotated, so that no network equals an address with
            // the same bits.
            Kind::Version6(network) => (self.places.hash_one(network).rotate_left(32), *network),
            Kind::Text(text) => (self.texts[0].hash_one(text), self.texts[1].hash_one(text)),
            Kind::Shared => (0, 0),
        };
        Digest { hash: hash | 1, rest }
    }

    /// Returns the shard for a hash, from its lower bits; a table uses the
    /// upper bits.
    fn shard(&self, hash: u64) -> &Mutex<Counts> {
        // 16 bits always fit.
        let bits = usize::try_from((hash >> 1) & 0xffff).unwrap_or_default();
        &self.shards[bits & (self.shards.len() - 1)].0
    }
}

impl RateStore for MemoryRateStore {
    fn algorithm(&self) -> Option<Algorithm> {
        Some(self.algorithm)
    }

    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        now: Duration,
    ) -> ChargeOutcome<'a> {
        ChargeOutcome::Ready(self.decide(key, policy, now))
    }

    fn charge_cost<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        cost: NonZeroU32,
        now: Duration,
    ) -> ChargeOutcome<'a> {
        ChargeOutcome::Ready(self.decide_cost(key, policy, cost, now))
    }
}

impl fmt::Debug for MemoryRateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRateStore")
            .field("algorithm", &self.algorithm)
            .field("keys", &self.len())
            .finish_non_exhaustive()
    }
}

const KEYS_OF_A_SHARD: usize = 2_048;
const MAX_SHARDS: usize = 64;

#[cfg(test)]
mod tests;
