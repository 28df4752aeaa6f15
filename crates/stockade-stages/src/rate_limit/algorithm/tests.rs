//! Tests of the algorithms at chosen times and against slow reference models.

use proptest::prelude::*;

use super::super::quota::Quota;
use super::*;

const SECOND_NANOS: u64 = 1_000_000_000;
const ONE: NonZeroU32 = NonZeroU32::MIN;

fn policy(limit: u32, window: Duration) -> RateLimitPolicy {
    RateLimitPolicy::new("default", Quota::new(limit, window)).unwrap()
}

/// Returns how many of these requests pass at this time.
fn passed(
    algorithm: Algorithm,
    state: &mut State,
    policy: &RateLimitPolicy,
    now: u64,
    tries: u32,
) -> u32 {
    (0..tries).map(|_| u32::from(algorithm.charge(state, policy, ONE, now).allowed)).sum()
}

#[test]
fn all_algorithms_pass_exactly_the_limit_in_a_burst() {
    for &algorithm in ALL {
        let (mut state, policy) = (State::default(), policy(100, Duration::from_secs(60)));
        assert_eq!(passed(algorithm, &mut state, &policy, 7, 1_000), 100, "{algorithm:?}");
    }
}

#[test]
fn the_remaining_requests_decrease() {
    for &algorithm in ALL {
        let (mut state, policy) = (State::default(), policy(3, Duration::from_secs(60)));
        let left = |decision: Decision| (decision.allowed, decision.remaining);
        let seen: Vec<_> =
            (0..4).map(|_| left(algorithm.charge(&mut state, &policy, ONE, 0))).collect();
        assert_eq!(seen, [(true, 2), (true, 1), (true, 0), (false, 0)], "{algorithm:?}");
    }
}

#[test]
fn a_fixed_window_begins_with_the_first_request() {
    let (mut state, policy) = (State::default(), policy(2, Duration::from_secs(60)));
    let mut at = |seconds: u64| fixed_window(&mut state, &policy, 1, seconds * SECOND_NANOS);
    assert_eq!(at(7).reset, Duration::from_secs(60));
    assert_eq!(at(30).reset, Duration::from_secs(37));
    let refused = at(66);
    assert_eq!((refused.allowed, refused.retry_after), (false, Duration::from_secs(1)));
    // A rejected request does not prolong the wait.
    assert!(at(67).allowed);
    assert_eq!(at(67).reset, Duration::from_secs(60));
}

#[test]
fn a_sliding_window_counts_the_previous_one() {
    let (mut state, policy) = (State::default(), policy(10, Duration::from_secs(10)));
    let mut at = |seconds: u64, tries| {
        passed(Algorithm::SlidingWindow, &mut state, &policy, seconds * SECOND_NANOS, tries)
    };
    assert_eq!(at(0, 20), 10);
    assert_eq!(at(10, 20), 0);
    assert_eq!(at(11, 20), 1);
    assert_eq!(at(15, 20), 4);
    assert_eq!(at(30, 20), 10);
}

#[cfg(feature = "gcra")]
#[test]
fn gcra_restores_requests_one_by_one() {
    let (mut state, policy) = (State::default(), policy(10, Duration::from_secs(10)));
    let mut at =
        |seconds: u64| passed(Algorithm::Gcra, &mut state, &policy, seconds * SECOND_NANOS, 20);
    assert_eq!((at(0), at(1), at(4), at(100)), (10, 1, 3, 10));
}

#[test]
fn extreme_quotas_do_not_overflow() {
    for &algorithm in ALL {
        for quota in [
            Quota::new(u32::MAX, Duration::MAX),
            Quota::new(u32::MAX, Duration::from_nanos(1)),
            Quota::new(1, Duration::MAX),
            Quota::new(1, Duration::from_nanos(1)),
        ] {
            let policy = RateLimitPolicy::new("default", quota).unwrap();
            let mut state = State::default();
            for now in [0, 0, 1, u64::MAX / 2, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
                let is_new = state.dead_at <= now;
                let decision = algorithm.charge(&mut state, &policy, ONE, now);
                assert!(decision.allowed || !is_new, "{algorithm:?} {quota:?} {now}");
            }
        }
    }
}

#[test]
fn tolerates_a_clock_that_is_read_late() {
    for &algorithm in ALL {
        let (mut state, policy) = (State::default(), policy(3, Duration::from_secs(1)));
        algorithm.charge(&mut state, &policy, ONE, 500);
        assert!(algorithm.charge(&mut state, &policy, ONE, 400).allowed, "{algorithm:?}");
    }
}

/// Generates the pauses before requests, in nanoseconds. The window is 1,000
/// ns.
fn requests() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(prop_oneof![Just(0_u64), 1_u64..200, 500_u64..3_000], 1..200)
}

proptest! {
    #[test]
    fn a_client_that_waits_retry_after_passes(pauses in requests(), limit in 1_u32..8, algorithm in 0..ALL.len()) {
        let (algorithm, policy) = (ALL[algorithm], policy(limit, Duration::from_nanos(1_000)));
        let (mut state, mut now) = (State::default(), 0);
        for pause in pauses {
            now += pause;
            let decision = algorithm.charge(&mut state, &policy, ONE, now);
            prop_assert_eq!(decision.allowed, decision.retry_after.is_zero());
            if !decision.allowed {
                let wait = u64::try_from(decision.retry_after.as_nanos()).unwrap();
                let mut copy = state;
                prop_assert!(algorithm.charge(&mut copy, &policy, ONE, now + wait).allowed);
                // One nanosecond earlier it does not pass.
                let mut copy = state;
                prop_assert!(!algorithm.charge(&mut copy, &policy, ONE, now + wait - 1).allowed);
            }
        }
    }

    #[test]
    fn after_reset_nothing_counts(pauses in requests(), limit in 1_u32..8, algorithm in 0..ALL.len()) {
        let (algorithm, policy) = (ALL[algorithm], policy(limit, Duration::from_nanos(1_000)));
        let (mut state, mut now) = (State::default(), 0);
        for pause in pauses {
            now += pause;
            let reset = algorithm.charge(&mut state, &policy, ONE, now).reset;
            let then = now + u64::try_from(reset.as_nanos()).unwrap();
            let mut copy = state;
            prop_assert_eq!(passed(algorithm, &mut copy, &policy, then, limit + 1), limit);
        }
    }

    #[test]
    fn the_fixed_window_matches_its_model(pauses in requests(), limit in 1_u32..8) {
        let policy = policy(limit, Duration::from_nanos(1_000));
        let (mut state, mut now) = (State::default(), 0);
        let mut window: Option<(u64, u32)> = None;
        for pause in pauses {
            now += pause;
            let (start, count) = window.filter(|(start, _)| now - start < 1_000).unwrap_or((now, 0));
            let expected = count < limit;
            window = Some((start, count + u32::from(expected)));
            prop_assert_eq!(fixed_window(&mut state, &policy, 1, now).allowed, expected);
        }
    }

    #[test]
    fn the_sliding_window_never_passes_twice_the_limit(pauses in requests(), limit in 1_u32..8) {
        let policy = policy(limit, Duration::from_nanos(1_000));
        let (mut state, mut now) = (State::default(), 0_u64);
        let mut times = Vec::new();
        for pause in pauses {
            now += pause;
            if sliding_window(&mut state, &policy, 1, now).allowed {
                times.push(now);
            }
            let recent = times.iter().filter(|time| now - **time < 1_000).count();
            prop_assert!(recent < 2 * limit as usize || limit == 1 && recent == 1);
        }
    }
}

fn cost(requests: u32) -> NonZeroU32 {
    NonZeroU32::new(requests).unwrap()
}

#[test]
fn a_cost_passes_as_a_whole_or_counts_nothing() {
    for &algorithm in ALL {
        let (mut state, policy) = (State::default(), policy(10, Duration::from_secs(60)));
        let mut charge = |requests| {
            let decision = algorithm.charge(&mut state, &policy, cost(requests), 7);
            (decision.allowed, decision.remaining)
        };
        assert_eq!(charge(4), (true, 6), "{algorithm:?}");
        assert!(!charge(7).0, "{algorithm:?}");
        assert_eq!(charge(6), (true, 0), "{algorithm:?}");
        assert_eq!(charge(1), (false, 0), "{algorithm:?}");
        let above = algorithm.charge(&mut State::default(), &policy, cost(11), 7);
        assert!(!above.allowed && above.retry_after > Duration::ZERO, "{algorithm:?}");
        let most = algorithm.charge(&mut State::default(), &policy, NonZeroU32::MAX, 7);
        assert!(!most.allowed, "{algorithm:?}");
    }
}

#[test]
fn a_cost_passes_after_its_wait() {
    for &algorithm in ALL {
        for used in 1..=10 {
            let (mut state, policy) = (State::default(), policy(10, Duration::from_secs(60)));
            let start = 5 * SECOND_NANOS;
            assert!(algorithm.charge(&mut state, &policy, cost(used), start).allowed);
            for requests in (11 - used)..=10 {
                let mut state = state;
                let refused = algorithm.charge(&mut state, &policy, cost(requests), start);
                assert!(!refused.allowed, "{algorithm:?} {used} {requests}");
                let wait = u64::try_from(refused.retry_after.as_nanos()).unwrap();
                let early = algorithm.charge(&mut state, &policy, cost(requests), start + wait / 2);
                assert!(!early.allowed, "{algorithm:?} {used} {requests}");
                // The sliding window rounds to whole nanoseconds.
                let after = algorithm.charge(&mut state, &policy, cost(requests), start + wait + 1);
                assert!(after.allowed, "{algorithm:?} {used} {requests}");
            }
        }
    }
}

#[test]
fn a_changed_limit_keeps_the_count() {
    for &algorithm in ALL {
        let mut state = State::default();
        let (small, large) =
            (policy(60, Duration::from_secs(60)), policy(600, Duration::from_secs(60)));
        assert_eq!(passed(algorithm, &mut state, &small, 7, 100), 60, "{algorithm:?}");
        assert_eq!(passed(algorithm, &mut state, &large, 7, 1_000), 540, "{algorithm:?}");
        assert_eq!(passed(algorithm, &mut state, &small, 7, 100), 0, "{algorithm:?}");
    }
}

#[test]
fn a_shorter_window_ends_no_later_than_a_new_one() {
    for &algorithm in ALL {
        let mut state = State::default();
        let (long, short) =
            (policy(1_000, Duration::from_secs(3_600)), policy(10, Duration::from_secs(60)));
        assert_eq!(passed(algorithm, &mut state, &long, 7, 500), 500, "{algorithm:?}");
        let refused = algorithm.charge(&mut state, &short, ONE, 7);
        assert!(!refused.allowed, "{algorithm:?}");
        assert!(refused.reset <= Duration::from_secs(120), "{algorithm:?} {:?}", refused.reset);
        assert!(algorithm.charge(&mut state, &short, ONE, 7 + 120 * SECOND_NANOS).allowed);
    }
}
