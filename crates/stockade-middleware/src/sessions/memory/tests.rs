//! Tests of the limits of the in-memory store. `stockade::testing::conformance`
//! tests the contract of each call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use stockade_auth::SessionId;

use super::*;
use crate::sessions::{ReplacedSession, Subject};

/// A store with a clock that tests advance.
struct Timed {
    store: MemorySessionStore,
    millis: Arc<AtomicU64>,
    keys: Vec<SessionKey>,
}

fn timed(store: MemorySessionStore) -> Timed {
    let millis = Arc::new(AtomicU64::new(0));
    let (start, passed) = (Instant::now(), Arc::clone(&millis));
    let clock = move || start + Duration::from_millis(passed.load(Ordering::Relaxed));
    let keys = (0..8).map(|_| SessionKey::of("session", &SessionId::generate().unwrap())).collect();
    Timed { store: store.clock(clock), millis, keys }
}

fn new(subject: Option<&str>, bytes: usize) -> NewSession<'_> {
    NewSession {
        subject: subject.map(|name| Subject::of("session", name)),
        data: vec![0; bytes].into(),
        idle: Duration::from_millis(30),
        lifetime: Duration::from_millis(100),
        replaces: None,
    }
}

impl Timed {
    fn advance(&self, millis: u64) {
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }

    fn create(&self, key: usize, new: NewSession<'_>) -> Result<SessionWrite, bool> {
        self.store
            .create_now(&self.keys[key], new)
            .map_err(|error| matches!(error, StoreError::Full))
    }

    fn is_there(&self, key: usize) -> bool {
        self.store.load_now(&self.keys[key]).is_some()
    }
}

#[test]
fn a_full_store_rejects_new_sessions_and_ends_none() {
    let timed = timed(MemorySessionStore::new().max_sessions(2).max_bytes(100));
    assert_eq!(timed.create(0, new(None, 40)), Ok(SessionWrite::Written));
    assert_eq!(timed.create(1, new(None, 61)), Err(true));
    assert_eq!(timed.create(1, new(None, 60)), Ok(SessionWrite::Written));
    assert_eq!(timed.create(2, new(None, 0)), Err(true));
    let update = |bytes: usize, version| {
        let data = vec![1; bytes].into();
        let idle = Duration::from_millis(30);
        timed
            .store
            .update_now(&timed.keys[0], version, data, idle)
            .map_err(|error| matches!(error, StoreError::Full))
    };
    assert_eq!(update(41, 1), Err(true));
    assert_eq!(update(40, 1), Ok(SessionWrite::Written));
    // A session that replaces another needs no additional room.
    let replaces = Some(ReplacedSession { key: timed.keys[0], version: 2 });
    let in_its_place = NewSession { replaces, ..new(None, 40) };
    assert_eq!(timed.create(3, in_its_place), Ok(SessionWrite::Written));
    timed.advance(30);
    assert_eq!(timed.create(2, new(None, 100)), Ok(SessionWrite::Written));
    assert_eq!(timed.store.len(), 1);
}

#[test]
fn another_session_of_a_subject_ends_the_oldest() {
    let timed = timed(MemorySessionStore::new().max_per_subject(2));
    for key in 0..4 {
        timed.advance(1);
        let subject = if key == 1 { "bob" } else { "ada" };
        assert_eq!(timed.create(key, new(Some(subject), 1)), Ok(SessionWrite::Written));
    }
    assert_eq!([0, 1, 2, 3].map(|key| timed.is_there(key)), [false, true, true, true]);
    // An expired session is removed before a session in use.
    timed.advance(20);
    assert!(timed.store.touch_now(&timed.keys[2], Duration::from_millis(30)));
    timed.advance(20);
    assert_eq!(timed.create(4, new(Some("ada"), 1)), Ok(SessionWrite::Written));
    assert_eq!([2, 3, 4].map(|key| timed.is_there(key)), [true, false, true]);
}

#[test]
fn times_beyond_the_clock_become_a_year() {
    let timed = timed(MemorySessionStore::new());
    let forever = NewSession { idle: Duration::MAX, lifetime: Duration::MAX, ..new(None, 1) };
    assert_eq!(timed.create(0, forever), Ok(SessionWrite::Written));
    timed.advance(31_000_000_000);
    assert!(timed.is_there(0));
}

proptest! {
    #[test]
    fn the_maps_agree_after_any_calls(
        calls in proptest::collection::vec((0..6_u8, 0..8_usize, 0..8_usize, 0..40_u64), 1..80)
    ) {
        let bounded = MemorySessionStore::new().max_sessions(5).max_bytes(100).max_per_subject(2);
        let timed = timed(bounded);
        for (call, key, other, number) in calls {
            let (id, store) = (timed.keys[key], &timed.store);
            let bytes = usize::try_from(number).unwrap();
            let idle = Duration::from_millis(number);
            match call {
                0 => {
                    let replaces = (number > 20)
                        .then(|| ReplacedSession { key: timed.keys[other], version: 1 });
                    let subject = ["ada", "bob"].get(other).copied();
                    let new = NewSession { replaces, ..new(subject, bytes) };
                    let _ = store.create_now(&id, new);
                }
                1 => {
                    let version = 1 + u64::from(number > 30);
                    let _ = store.update_now(&id, version, vec![0; bytes].into(), idle);
                }
                2 => { let _ = store.touch_now(&id, idle); }
                3 => { let _ = store.destroy_now(&id); }
                4 => { let _ = store.destroy_all_now(&SubjectKey::of("session", "ada")); }
                _ => timed.advance(number),
            }
            let table = store.lock();
            prop_assert!(table.agrees_with_subjects());
            prop_assert!(table.len() <= 5 && table.bytes() <= 100);
        }
    }
}
