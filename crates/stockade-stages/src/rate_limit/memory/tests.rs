//! Tests of the store's cap and memory. `stockade::testing::conformance` tests
//! the contract of its trait.

use std::net::IpAddr;

use super::super::algorithm::ALL;
use super::super::quota::{MINUTE, Quota};
use super::*;

fn policy(quota: Quota) -> RateLimitPolicy {
    RateLimitPolicy::new("default", quota).unwrap()
}

fn address(number: u32) -> RateKey {
    IpAddr::from(number.to_be_bytes()).into()
}

#[test]
fn a_new_client_at_the_cap_is_counted() {
    let (store, policy) = (MemoryRateStore::new(Algorithm::FixedWindow, 10), policy(2 / MINUTE));
    let at = |number: u32, seconds: u64| {
        store.decide(&address(number), &policy, Duration::from_secs(seconds)).allowed
    };
    assert!((0..10).all(|number| at(number, 0)));
    assert!(at(100, 1) && at(100, 1) && !at(100, 1));
    // A client with a window keeps it.
    assert!((0..10).all(|number| at(number, 2)));
    assert!((0..10).all(|number| !at(number, 3)));
    // Expired windows make room.
    assert!(at(102, 60) && at(102, 60) && !at(102, 60));
    assert_eq!(MemoryRateStore::new(Algorithm::SlidingWindow, 0).shards.len(), 1);
}

#[test]
fn a_store_without_keys_counts_in_the_windows_for_newcomers() {
    let (store, policy) = (MemoryRateStore::new(Algorithm::FixedWindow, 0), policy(2 / MINUTE));
    let passed = (0..5).filter(|_| store.decide(&address(7), &policy, Duration::ZERO).allowed);
    assert_eq!((passed.count(), store.len()), (2, 0));
    let passed = (0..500_000)
        .filter(|number| store.decide(&address(*number), &policy, Duration::ZERO).allowed);
    assert_eq!((passed.count(), store.len()), (2 * OVERFLOW_WINDOWS - 2, 0));
}

#[test]
fn a_flood_of_addresses_blocks_few_clients() {
    for &algorithm in ALL {
        let policy = policy(100 / MINUTE);
        let mut passed = 0;
        let counted = allocation_counter::measure(|| {
            let store = MemoryRateStore::new(algorithm, 100_000);
            for number in 0..131_072 {
                let now = Duration::from_micros(u64::from(number) * 9);
                let _ = store.decide(&address(number), &policy, now);
            }
            let newcomers = 1 << 31..(1 << 31) + 1_000_u32;
            let now = Duration::from_millis(1_200);
            let allowed = |number| store.decide(&address(number), &policy, now).allowed;
            passed = newcomers.filter(|number| allowed(*number)).count();
        });
        assert!(passed >= 990, "{algorithm:?}: {passed} of 1,000 passed");
        assert!(counted.bytes_max < 100 * 100_000, "{} bytes", counted.bytes_max);
    }
}

/// Returns how many requests of a flood from this many addresses pass, and the
/// memory it uses.
fn flood(max_keys: usize, addresses: u32) -> (u32, u64, usize) {
    let policy = policy(1 / MINUTE);
    let mut passed = 0;
    let mut kept = None;
    let counted = allocation_counter::measure(|| {
        let store = MemoryRateStore::new(Algorithm::FixedWindow, max_keys);
        for number in 0..addresses {
            let key = address(number.wrapping_mul(0x9e37_79b1));
            passed +=
                u32::from(store.decide(&key, &policy, Duration::from_nanos(number.into())).allowed);
        }
        kept = Some(store);
    });
    let keys = kept.map_or(0, |store| store.len());
    (passed, counted.bytes_max, keys)
}

#[test]
fn a_million_addresses_stay_under_the_default_cap() {
    let (passed, bytes, keys) = flood(100_000, 1_000_000);
    assert_eq!(keys, 100_000);
    // One for each key, and one for each window that the rest shares.
    assert_eq!(passed as usize, 100_000 + OVERFLOW_WINDOWS);
    assert!(bytes < 100 * 100_000, "{bytes} bytes");
}

#[test]
fn a_million_keys_take_less_than_a_hundred_bytes_each() {
    let (passed, bytes, keys) = flood(1_000_000, 1_000_000);
    assert!(keys > 980_000 && passed as usize >= keys, "{keys} keys, {passed} passed");
    assert!(bytes < 100 * 1_000_000, "{bytes} bytes");
}

#[test]
fn memory_does_not_grow_with_time() {
    let policy = policy(1 / MINUTE);
    let store = MemoryRateStore::new(Algorithm::FixedWindow, 100_000);
    // A thousand new addresses a second for ten minutes; only the last minute
    // is live.
    for second in 0..600_u32 {
        for number in 0..1_000 {
            let key = address(second * 1_000 + number);
            assert!(store.decide(&key, &policy, Duration::from_secs(second.into())).allowed);
        }
    }
    assert!(store.len() < 100_000, "{}", store.len());
}
