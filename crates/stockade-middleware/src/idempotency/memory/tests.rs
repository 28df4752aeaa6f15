//! Tests of the in-memory store against a model of its rules.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;

/// A store with a clock that tests advance.
struct Timed {
    store: MemoryIdempotencyStore,
    millis: Arc<AtomicU64>,
}

fn timed(store: MemoryIdempotencyStore) -> Timed {
    let millis = Arc::new(AtomicU64::new(0));
    let (start, passed) = (Instant::now(), Arc::clone(&millis));
    let clock = move || start + Duration::from_millis(passed.load(Ordering::Relaxed));
    Timed { store: store.clock(clock), millis }
}

impl Timed {
    fn advance(&self, millis: u64) {
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }

    fn take(&self, key: u8, claim: &Reservation) -> Result<ReserveOutcome, bool> {
        self.store.take_now(&key_of(key), claim).map_err(|error| matches!(error, StoreError::Full))
    }

    fn complete(&self, key: u8, nonce: u8, bytes: usize, ttl: u64) -> Result<bool, bool> {
        let record = vec![key; bytes].into();
        let ttl = Duration::from_millis(ttl);
        let completed = self.store.complete_now(&key_of(key), &[nonce; 16], record, ttl);
        completed.map_err(|error| matches!(error, StoreError::Full))
    }
}

fn key_of(key: u8) -> ScopedKey {
    // There are two owners, selected by the highest bit.
    ScopedKey::from_hashes([key; 32], [key >> 7; 32])
}

fn claim(fingerprint: u8, nonce: u8) -> Reservation {
    Reservation {
        fingerprint: [fingerprint; 32],
        nonce: [nonce; 16],
        lease: Duration::from_millis(30),
        remember_crash: None,
    }
}

fn remembering(fingerprint: u8, nonce: u8) -> Reservation {
    Reservation { remember_crash: Some(Duration::from_millis(100)), ..claim(fingerprint, nonce) }
}

#[test]
fn only_one_request_reserves_the_key() {
    let timed = timed(MemoryIdempotencyStore::new());
    assert_eq!(timed.take(1, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(1, &claim(1, 1)), Ok(ReserveOutcome::New), "the same nonce, again");
    assert_eq!(timed.take(1, &claim(1, 2)), Ok(ReserveOutcome::Running));
    assert_eq!(timed.take(1, &claim(9, 2)), Ok(ReserveOutcome::OtherFingerprint));
    assert_eq!(timed.complete(1, 2, 3, 100), Ok(false), "another nonce");
    assert_eq!(timed.complete(1, 1, 3, 100), Ok(true));
    assert_eq!(timed.complete(1, 1, 3, 100), Ok(true), "again");
    assert_eq!(timed.take(1, &claim(1, 2)), Ok(ReserveOutcome::Done(vec![1; 3].into())));
    assert_eq!(timed.take(1, &claim(9, 2)), Ok(ReserveOutcome::OtherFingerprint));
    assert!(!timed.store.free_now(&key_of(1), &[1; 16]), "an answer is not freed");
    timed.advance(100);
    assert_eq!(timed.take(1, &claim(9, 2)), Ok(ReserveOutcome::New));
}

#[test]
fn an_expired_lease_frees_the_key_or_is_recorded() {
    let timed = timed(MemoryIdempotencyStore::new());
    assert_eq!(timed.take(1, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(2, &remembering(1, 1)), Ok(ReserveOutcome::New));
    timed.advance(29);
    assert!(timed.store.renew_now(&key_of(1), &claim(1, 1)));
    assert!(timed.store.renew_now(&key_of(2), &remembering(1, 1)));
    assert!(!timed.store.renew_now(&key_of(1), &claim(1, 2)));
    timed.advance(29);
    assert_eq!(timed.take(1, &claim(1, 2)), Ok(ReserveOutcome::Running));
    timed.advance(1);
    assert_eq!(timed.take(1, &claim(1, 2)), Ok(ReserveOutcome::New));
    assert_eq!(timed.complete(1, 1, 3, 100), Ok(false), "it was taken over");
    assert_eq!(timed.take(2, &remembering(1, 2)), Ok(ReserveOutcome::Crashed));
    assert_eq!(timed.take(2, &remembering(9, 2)), Ok(ReserveOutcome::OtherFingerprint));
    // The handler ran anyway, and finishes late.
    assert_eq!(timed.complete(2, 1, 3, 100), Ok(true));
}

#[test]
fn a_store_full_of_running_keys_rejects_new_ones() {
    let timed = timed(MemoryIdempotencyStore::new().max_keys(2));
    assert_eq!(timed.take(1, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(2, &remembering(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(3, &claim(1, 1)), Err(true));
    assert_eq!(timed.take(200, &claim(1, 1)), Err(true), "another owner");
    // The result of the second key is unknown, so it remains.
    timed.advance(40);
    assert_eq!(timed.take(3, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(2, &remembering(1, 2)), Ok(ReserveOutcome::Crashed));
    assert_eq!(timed.take(4, &claim(1, 1)), Err(true));
    assert_eq!(timed.take(3, &claim(1, 2)), Ok(ReserveOutcome::Running));
}

#[test]
fn a_new_key_replaces_the_oldest_finished_one() {
    let timed = timed(MemoryIdempotencyStore::new().max_keys(3));
    for key in [1, 2, 3] {
        assert_eq!(timed.take(key, &claim(1, 1)), Ok(ReserveOutcome::New));
    }
    assert_eq!(timed.complete(2, 1, 3, 1_000), Ok(true));
    assert_eq!(timed.complete(1, 1, 3, 1_000), Ok(true));
    assert_eq!(timed.take(4, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(1, &claim(1, 2)), Ok(ReserveOutcome::Done(vec![1; 3].into())));
    assert_eq!(timed.take(3, &claim(1, 2)), Ok(ReserveOutcome::Running));
    assert_eq!(timed.take(2, &claim(1, 2)), Ok(ReserveOutcome::New), "forgotten, and 1 with it");
    assert_eq!(timed.take(1, &claim(1, 2)), Err(true), "all others run");
    assert_eq!(timed.store.len(), 3);
}

#[test]
fn a_response_replaces_the_oldest_response() {
    let timed = timed(MemoryIdempotencyStore::new().max_bytes(100));
    for key in [1, 2, 3, 4] {
        assert_eq!(timed.take(key, &claim(1, 1)), Ok(ReserveOutcome::New));
    }
    assert_eq!(timed.complete(1, 1, SHORT_RECORD_BYTES, 1_000), Ok(true));
    assert_eq!(timed.complete(2, 1, 90, 1_000), Ok(true));
    assert_eq!(timed.complete(3, 1, 101, 1_000), Err(true), "larger than the bound");
    assert_eq!(timed.complete(3, 1, 20, 1_000), Ok(true));
    assert_eq!((timed.store.len(), timed.store.bytes()), (3, 20));
    assert!(matches!(timed.take(1, &claim(1, 2)), Ok(ReserveOutcome::Done(_))), "it has no bytes");
    assert_eq!(timed.complete(4, 1, 80, 1_000), Ok(true));
    assert_eq!((timed.store.len(), timed.store.bytes()), (3, 100));
}

#[test]
fn an_owner_replaces_its_own_keys_first() {
    let store = MemoryIdempotencyStore::new().max_keys(10).max_keys_per_owner(2);
    let timed = timed(store.max_bytes(100).max_bytes_per_owner(60));
    assert_eq!(timed.take(200, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.complete(200, 1, 40, 1_000), Ok(true));
    assert_eq!(timed.take(1, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(2, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(3, &claim(1, 1)), Err(true), "both run");
    assert_eq!(timed.complete(1, 1, 50, 1_000), Ok(true));
    assert_eq!(timed.complete(2, 1, 61, 1_000), Err(true), "larger than its share");
    assert_eq!(timed.complete(2, 1, 20, 1_000), Ok(true));
    assert_eq!(timed.store.bytes(), 60, "the first of this owner is gone");
    assert_eq!(timed.take(3, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(4, &claim(1, 1)), Ok(ReserveOutcome::New));
    assert_eq!(timed.take(2, &claim(1, 2)), Err(true), "it was replaced, and the others run");
    assert!(matches!(timed.take(200, &claim(1, 2)), Ok(ReserveOutcome::Done(_))));
}

/// Ten addresses send as many keys and as large responses as they can. An
/// honest client sends a key occasionally, and each of its retries finds the
/// stored response.
#[test]
fn ten_owners_cannot_evict_an_eleventh() {
    let store = MemoryIdempotencyStore::new().max_keys(1_000).max_bytes(100_000);
    let timed = timed(store.max_bytes_per_owner(20_000));
    let key_of = |owner: u8, number: u32| {
        let mut hash = [owner; 32];
        hash[..4].copy_from_slice(&number.to_be_bytes());
        ScopedKey::from_hashes(hash, [owner; 32])
    };
    let run = |key: &ScopedKey, bytes: usize| {
        let taken = timed.store.take_now(key, &claim(1, 1)).unwrap();
        assert_eq!(taken, ReserveOutcome::New);
        let record = vec![7; bytes].into();
        let ttl = Duration::from_secs(86_400);
        assert!(timed.store.complete_now(key, &[1; 16], record, ttl).unwrap());
    };
    let honest = |number: u32| key_of(0, number);
    for round in 0..90 {
        for number in 0..30 {
            for attacker in 1..=10 {
                run(&key_of(attacker, round * 30 + number), 40 + 97 * (number as usize % 3));
            }
        }
        run(&honest(round), 100);
        for earlier in 0..=round {
            let retry = timed.store.take_now(&honest(earlier), &claim(1, 2)).unwrap();
            assert_eq!(retry, ReserveOutcome::Done(vec![7; 100].into()), "{earlier} of {round}");
        }
        assert!(timed.store.len() <= 1_000 && timed.store.bytes() <= 100_000);
    }
    assert!(timed.store.len() > 500, "{}", timed.store.len());
}

/// Reserved and released keys leave no data behind.
#[test]
fn a_freed_key_leaves_no_data() {
    let timed = timed(MemoryIdempotencyStore::new());
    for round in 0..200_u8 {
        assert_eq!(timed.take(round, &claim(1, 1)), Ok(ReserveOutcome::New));
        assert!(!timed.store.free_now(&key_of(round), &[2; 16]));
        assert!(timed.store.free_now(&key_of(round), &[1; 16]));
    }
    let places = timed.store.lock();
    assert!(places.len() == 0 && places.is_consistent() && places.index().is_empty());
}

#[test]
fn times_beyond_the_clock_become_a_year() {
    let timed = timed(MemoryIdempotencyStore::new());
    let forever = Reservation { lease: Duration::MAX, ..claim(1, 1) };
    assert_eq!(timed.take(1, &forever), Ok(ReserveOutcome::New));
    assert_eq!(timed.complete(1, 1, 3, u64::MAX), Ok(true));
    timed.advance(31_000_000_000);
    assert!(matches!(timed.take(1, &claim(1, 2)), Ok(ReserveOutcome::Done(_))));
}

/// A minimal model of the store's rules.
#[derive(Default)]
struct Model {
    places: Vec<ModelPlace>,
    finished: u64,
}

struct ModelPlace {
    key: u8,
    fingerprint: u8,
    nonce: u8,
    /// The length of the record, and its position in the order of all records.
    record: Option<(usize, u64)>,
    leased_until: u64,
    ends: u64,
}

impl ModelPlace {
    fn owner(&self) -> u8 {
        self.key >> 7
    }

    fn bytes(&self) -> usize {
        self.record.map_or(0, |(length, _)| counted_length(length))
    }
}

fn counted_length(length: usize) -> usize {
    if length <= SHORT_RECORD_BYTES { 0 } else { length }
}

const MAX_KEYS: usize = 4;
const MAX_OWNER_KEYS: usize = 3;
const MAX_BYTES: usize = 100;
const MAX_OWNER_BYTES: usize = 70;

impl Model {
    fn place(&mut self, key: u8) -> Option<&mut ModelPlace> {
        self.places.iter_mut().find(|place| place.key == key)
    }

    /// Returns the keys or the bytes of one owner, or of all owners.
    fn weight(&self, owner: Option<u8>, by_bytes: bool) -> usize {
        let of_owner = |place: &&ModelPlace| owner.is_none_or(|owner| place.owner() == owner);
        let places = self.places.iter().filter(of_owner);
        if by_bytes { places.map(ModelPlace::bytes).sum() } else { places.count() }
    }

    /// Removes finished places until there is enough room. Returns false if no
    /// place can be removed.
    fn makes_room(&mut self, owner: u8, more: usize, by_bytes: bool) -> bool {
        let (of_owner, of_all) = match by_bytes {
            true => (MAX_OWNER_BYTES, MAX_BYTES),
            false => (MAX_OWNER_KEYS, MAX_KEYS),
        };
        if more > of_owner {
            return false;
        }
        loop {
            let is_over_share = self.weight(Some(owner), by_bytes) + more > of_owner;
            if more == 0 || !is_over_share && self.weight(None, by_bytes) + more <= of_all {
                return true;
            }
            let candidates = self.places.iter().enumerate().filter(|(_, place)| {
                place.record.is_some()
                    && (!by_bytes || place.bytes() > 0)
                    && (!is_over_share || place.owner() == owner)
            });
            // The owner with the most comes first, then the oldest place.
            let victim = candidates.min_by_key(|(_, place)| {
                let weight = self.weight(Some(place.owner()), by_bytes);
                (usize::MAX - weight, place.record.map(|(_, number)| number))
            });
            let Some(index) = victim.map(|(index, _)| index) else { return false };
            self.places.remove(index);
        }
    }

    fn step(&mut self, step: &Step, now: u64) -> String {
        self.places.retain(|place| place.ends > now);
        let ends = |remembers: bool| now + if remembers { 100 } else { 30 };
        match *step {
            Step::Advance(_) => String::new(),
            Step::Take { key, fingerprint, nonce, remembers } => match self.place(key) {
                Some(place) if place.fingerprint != fingerprint => "OtherFingerprint".to_owned(),
                Some(ModelPlace { record: Some((length, _)), .. }) => format!("Done {length}"),
                Some(place) if place.nonce == nonce => {
                    (place.leased_until, place.ends) = (now + 30, ends(remembers));
                    "New".to_owned()
                }
                Some(place) if place.leased_until > now => "Running".to_owned(),
                Some(_) => "Crashed".to_owned(),
                None => {
                    if !self.makes_room(key >> 7, 1, false) {
                        return "full".to_owned();
                    }
                    let (leased_until, ends) = (now + 30, ends(remembers));
                    let record = None;
                    let place = ModelPlace { key, fingerprint, nonce, record, leased_until, ends };
                    self.places.push(place);
                    "New".to_owned()
                }
            },
            Step::Renew { key, nonce, remembers } => {
                let place = self.place(key).filter(|it| it.nonce == nonce && it.record.is_none());
                let is_held = place.is_some();
                if let Some(place) = place {
                    (place.leased_until, place.ends) = (now + 30, ends(remembers));
                }
                is_held.to_string()
            }
            Step::Complete { key, nonce, length } => match self.place(key) {
                Some(place) if place.nonce == nonce && place.record.is_some() => "true".to_owned(),
                Some(place) if place.nonce == nonce => {
                    if !self.makes_room(key >> 7, counted_length(length), true) {
                        return "full".to_owned();
                    }
                    self.finished += 1;
                    let record = Some((length, self.finished));
                    if let Some(place) = self.place(key) {
                        (place.record, place.ends) = (record, now + 200);
                    }
                    "true".to_owned()
                }
                _ => "false".to_owned(),
            },
            Step::Free { key, nonce } => {
                let before = self.places.len();
                let is_held =
                    |it: &ModelPlace| it.key == key && it.nonce == nonce && it.record.is_none();
                self.places.retain(|place| !is_held(place));
                (self.places.len() < before).to_string()
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Advance(u64),
    Take { key: u8, fingerprint: u8, nonce: u8, remembers: bool },
    Renew { key: u8, nonce: u8, remembers: bool },
    Complete { key: u8, nonce: u8, length: usize },
    Free { key: u8, nonce: u8 },
}

fn steps() -> impl Strategy<Value = Step> {
    // Two owners.
    let key = || prop::sample::select(vec![0_u8, 1, 2, 3, 128, 129, 130]);
    let nonce = || 0..3_u8;
    prop_oneof![
        2 => (0..60_u64).prop_map(Step::Advance),
        5 => (key(), 0..2_u8, nonce(), any::<bool>()).prop_map(
            |(key, fingerprint, nonce, remembers)| Step::Take { key, fingerprint, nonce, remembers }
        ),
        2 => (key(), nonce(), any::<bool>())
            .prop_map(|(key, nonce, remembers)| Step::Renew { key, nonce, remembers }),
        3 => (key(), nonce(), 0..80_usize)
            .prop_map(|(key, nonce, length)| Step::Complete { key, nonce, length }),
        1 => (key(), nonce()).prop_map(|(key, nonce)| Step::Free { key, nonce }),
    ]
}

fn run(timed: &Timed, step: &Step) -> String {
    let told = |outcome: Result<bool, bool>| match outcome {
        Ok(held) => held.to_string(),
        Err(_) => "full".to_owned(),
    };
    let claim = |fingerprint, nonce, remembers| match remembers {
        true => remembering(fingerprint, nonce),
        false => claim(fingerprint, nonce),
    };
    match *step {
        Step::Advance(millis) => {
            timed.advance(millis);
            String::new()
        }
        Step::Take { key, fingerprint, nonce, remembers } => {
            match timed.take(key, &claim(fingerprint, nonce, remembers)) {
                Ok(ReserveOutcome::Done(record)) => format!("Done {}", record.len()),
                Ok(taken) => format!("{taken:?}"),
                Err(_) => "full".to_owned(),
            }
        }
        Step::Renew { key, nonce, remembers } => {
            timed.store.renew_now(&key_of(key), &claim(0, nonce, remembers)).to_string()
        }
        Step::Complete { key, nonce, length } => told(timed.complete(key, nonce, length, 200)),
        Step::Free { key, nonce } => timed.store.free_now(&key_of(key), &[nonce; 16]).to_string(),
    }
}

proptest! {
    #[test]
    fn any_order_of_calls_matches_the_model(
        steps in proptest::collection::vec(steps(), 1..120)
    ) {
        let store = MemoryIdempotencyStore::new().max_keys(MAX_KEYS).max_bytes(MAX_BYTES);
        let store = store.max_keys_per_owner(MAX_OWNER_KEYS).max_bytes_per_owner(MAX_OWNER_BYTES);
        let timed = timed(store);
        let mut model = Model::default();
        for step in &steps {
            let actual = run(&timed, step);
            let now = timed.millis.load(Ordering::Relaxed);
            let expected = model.step(step, now);
            prop_assert_eq!(&actual, &expected, "{:?} of {:?}", step, &steps);
            let places = timed.store.lock();
            prop_assert!(places.is_consistent());
            prop_assert!(places.len() <= MAX_KEYS && places.bytes() <= MAX_BYTES);
            prop_assert_eq!(places.index().keys(), places.len());
            prop_assert_eq!(places.index().bytes(), places.bytes());
        }
    }
}
