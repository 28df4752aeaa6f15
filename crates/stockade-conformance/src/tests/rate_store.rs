//! Rate limit stores that violate a guarantee.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use stockade_stages::rate_limit::{
    Algorithm, ChargeOutcome, Decision, MemoryRateStore, RateKey, RateLimitPolicy, RateStore,
};

use super::fails_with;
use crate::rate_store;

/// A store with one fault.
struct Faulty {
    store: MemoryRateStore,
    fault: Fault,
    charges: AtomicU32,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Every hundredth charge is forgotten.
    ForgetsCharges,
    /// Only the first bytes of a key count.
    TruncatesKeys,
    /// Every charge uses the time of the first.
    StopsTheClock,
    /// A rejected client gets a wait of zero.
    ReportsNoWait,
    /// A rejected request restarts its window.
    ProlongsWindows,
    /// Windows take half as long.
    HalvesWindows,
}

impl RateStore for Faulty {
    fn algorithm(&self) -> Option<Algorithm> {
        self.store.algorithm()
    }

    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        now: Duration,
    ) -> ChargeOutcome<'a> {
        let charges = self.charges.fetch_add(1, Ordering::Relaxed);
        let now = match self.fault {
            Fault::StopsTheClock => Duration::ZERO,
            Fault::HalvesWindows => now * 2,
            _ => now,
        };
        let cut =
            |key: &RateKey| RateKey::text(key.to_string().chars().take(40).collect::<String>());
        let mut decision = match self.fault {
            Fault::ForgetsCharges if charges % 100 == 99 => {
                Decision::pass(policy.limit().get(), 0, policy.window())
            }
            Fault::TruncatesKeys => self.store.decide(&cut(key), policy, now),
            _ => self.store.decide(key, policy, now),
        };
        match self.fault {
            Fault::ReportsNoWait => decision.retry_after = Duration::ZERO,
            Fault::ProlongsWindows if !decision.allowed => {
                let wait = policy.window() + Duration::from_micros(u64::from(charges));
                decision = Decision::refuse(decision.limit, wait, wait);
            }
            _ => {}
        }
        ChargeOutcome::Ready(decision)
    }
}

async fn check(algorithm: Algorithm, fault: Fault, words: &str) {
    let store = MemoryRateStore::new(algorithm, 10_000);
    let faulty = Faulty { store, fault, charges: AtomicU32::new(0) };
    fails_with(rate_store(faulty, async |_| ()), words).await;
}

#[tokio::test]
async fn rejects_faulty_implementations() {
    use Algorithm::{FixedWindow, Gcra, SlidingWindow};
    for algorithm in [FixedWindow, SlidingWindow, Gcra] {
        let forgotten =
            "requests that pass a limit of 100, out of 300 concurrent requests: found 10";
        check(algorithm, Fault::ForgetsCharges, forgotten).await;
        check(algorithm, Fault::TruncatesKeys, "the first request of the key \"key:").await;
        let still = "a client that waited for the reported time passes: found false";
        check(algorithm, Fault::StopsTheClock, still).await;
        check(algorithm, Fault::ReportsNoWait, "the wait of a rejected client is zero").await;
    }
    check(FixedWindow, Fault::ProlongsWindows, "rejected requests must not extend the window")
        .await;
    check(SlidingWindow, Fault::ProlongsWindows, "the time until the reset").await;
    check(Gcra, Fault::ProlongsWindows, "the time until a rejected client passes").await;
    check(
        Gcra,
        Fault::HalvesWindows,
        "requests that pass 500ms after 100 requests, with a limit of 100 per second: found 100",
    )
    .await;
    check(
        SlidingWindow,
        Fault::HalvesWindows,
        "requests that pass 1.5s after 100 requests, with a limit of 100 per second: found 100",
    )
    .await;
}
