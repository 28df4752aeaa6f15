//! [`rate_store`]: checks the guarantees of a rate limit store.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stockade_stages::rate_limit::{
    Algorithm, BatchDecision, ChargeOutcome, Decision, Quota, RateKey, RateLimitPolicy, RateStore,
};
use tokio::task::JoinSet;

use super::{equal, succeeds, unique_text};
use crate::fail::{fail, or_fail};

/// Checks the guarantees of a [`RateStore`]:
///
/// - Exactly as many requests pass as the limit allows, even if they are
///   concurrent.
/// - Batches count like single requests.
/// - Decisions contain the remaining requests and the times.
/// - Rejected requests do not prolong a limit.
/// - Keys are independent.
///
/// The times of [`Algorithm`] are checked if the store reports its
/// [algorithm](RateStore::algorithm).
///
/// `pass` lets at least the given time elapse for the store. The time argument
/// of each charge advances by the same amount, so a store without its own clock
/// has nothing to wait for.
///
/// ```
/// use stockade::middleware::rate_limit::{Algorithm, MemoryRateStore};
/// use stockade::testing::conformance;
///
/// # #[tokio::main]
/// # async fn main() {
/// let store = MemoryRateStore::new(Algorithm::SlidingWindow, 10_000);
/// conformance::rate_store(store, async |_| ()).await;
/// # }
/// ```
///
/// # Panics
/// Panics if the store violates a guarantee or fails. Requires a tokio runtime.
pub async fn rate_store(store: impl RateStore + 'static, pass: impl AsyncFn(Duration)) {
    let mut check =
        Check { store: Arc::new(store), pass, name: unique_text(), now: Duration::ZERO };
    check.concurrent_requests_pass_up_to_the_limit().await;
    check.concurrent_batches_pass_up_to_the_limit().await;
    check.decisions_report_remaining_requests().await;
    check.decisions_report_the_times_of_the_algorithm().await;
    check.a_batch_counts_like_single_requests().await;
    check.keys_are_independent().await;
    check.a_client_passes_after_its_wait().await;
    check.the_quota_recovers_by_the_algorithm().await;
}

/// A store under test.
struct Check<S, P> {
    store: Arc<S>,
    pass: P,
    /// The name of each policy, which makes shared keys unique for each run.
    name: String,
    /// The time argument of each charge.
    now: Duration,
}

/// One key under one policy.
struct Counted<S> {
    store: Arc<S>,
    key: RateKey,
    policy: RateLimitPolicy,
    now: Duration,
}

/// A window that does not end during a check, even on a busy machine.
const DAY: Duration = Duration::from_secs(86_400);

/// A window that ends during a check.
const SECOND: Duration = Duration::from_secs(1);

/// The tolerance for times. It covers the clock and the rounding of a store.
const TICK: Duration = Duration::from_millis(20);

impl<S: RateStore + 'static, P: AsyncFn(Duration)> Check<S, P> {
    fn counted_by(&self, key: RateKey, limit: u32, window: Duration) -> Counted<S> {
        let policy = or_fail(RateLimitPolicy::new(&self.name, Quota::new(limit, window)));
        Counted { store: Arc::clone(&self.store), key, policy, now: self.now }
    }

    fn counted(&self, limit: u32, window: Duration) -> Counted<S> {
        self.counted_by(RateKey::text(unique_text()), limit, window)
    }

    async fn passes(&mut self, time: Duration, counted: &mut Counted<S>) {
        (self.pass)(time).await;
        self.now += time;
        counted.now = self.now;
    }

    async fn concurrent_requests_pass_up_to_the_limit(&self) {
        let client = Arc::new(self.counted(100, DAY));
        let promise = "requests that pass a limit of 100, out of 300 concurrent requests";
        let mut clients = JoinSet::new();
        for _ in 0..30 {
            let client = Arc::clone(&client);
            clients.spawn(async move {
                let mut passed = 0;
                for _ in 0..10 {
                    passed += u32::from(client.charged(promise).await.allowed);
                    tokio::task::yield_now().await;
                }
                passed
            });
        }
        let passed: u32 = clients.join_all().await.into_iter().sum();
        equal(promise, &passed, &100);
    }

    async fn concurrent_batches_pass_up_to_the_limit(&self) {
        let client = Arc::new(self.counted(100, DAY));
        let promise = "requests that pass a limit of 100, out of 30 concurrent batches of 7";
        let mut clients = JoinSet::new();
        for _ in 0..30 {
            let client = Arc::clone(&client);
            clients.spawn(async move { client.charged_n(promise, 7).await.granted });
        }
        let passed: u32 = clients.join_all().await.into_iter().sum();
        equal(promise, &passed, &100);
    }

    async fn decisions_report_remaining_requests(&self) {
        let client = self.counted(3, DAY);
        for remaining in [2, 1, 0] {
            let promise = "allowed, limit, remaining and wait of a request that passes";
            let it = client.charged(promise).await;
            let found = (it.allowed, it.limit, it.remaining, it.retry_after);
            equal(promise, &found, &(true, 3, remaining, Duration::ZERO));
            equal("the reset time of a request that passes is zero", &it.reset.is_zero(), &false);
        }
        let promise = "allowed, limit and remaining of a rejected request";
        let it = client.charged(promise).await;
        equal(promise, &(it.allowed, it.limit, it.remaining), &(false, 3, 0));
        equal("the wait of a rejected client is zero", &it.retry_after.is_zero(), &false);
        if it.retry_after > it.reset {
            fail(format!("a rejected client must not wait longer than until the reset: {it:?}"));
        }
    }

    async fn decisions_report_the_times_of_the_algorithm(&self) {
        // The reset time of each request, and the wait of the fourth.
        let (resets, wait) = match self.store.algorithm() {
            Some(Algorithm::FixedWindow) => ([DAY; 4], DAY),
            Some(Algorithm::SlidingWindow) => ([DAY * 2; 4], DAY * 4 / 3),
            Some(Algorithm::Gcra) => ([DAY / 3, DAY * 2 / 3, DAY, DAY], DAY / 3),
            _ => return,
        };
        let client = self.counted(3, DAY);
        for (index, reset) in resets.into_iter().enumerate() {
            let decision = client.charged("a request").await;
            near("the time until the reset", decision.reset, reset);
            let wait = if index == 3 { wait } else { Duration::ZERO };
            near("the time until a rejected client passes", decision.retry_after, wait);
        }
    }

    async fn a_batch_counts_like_single_requests(&self) {
        let client = self.counted(10, DAY);
        let it = client.charged_n("a batch that passes", 7).await;
        let found = (it.granted, it.last.allowed, it.last.remaining);
        equal("a batch of 7 with a limit of 10", &found, &(7, true, 3));
        let it = client.charged_n("a batch that passes partially", 7).await;
        let found = (it.granted, it.last.allowed, it.last.remaining);
        equal("a batch of 7 with 3 left", &found, &(3, false, 0));
        let waits = !it.last.retry_after.is_zero();
        equal("a client must wait after a partial batch", &waits, &true);
        let it = client.charged_n("a batch after the limit is reached", 1).await;
        equal("a batch after the limit is reached", &(it.granted, it.last.allowed), &(0, false));
        let it = client.charged("a request after batches").await;
        equal("a request passes after batches used the whole limit", &it.allowed, &false);

        let client = self.counted(10, DAY);
        let it = client.charged_n("an empty batch", 0).await;
        equal("an empty batch", &it.granted, &0);
        let it = client.charged("a request after an empty batch").await;
        equal("an empty batch uses nothing", &(it.allowed, it.remaining), &(true, 9));
        let it = client.charged_n("a batch above the limit", u32::MAX).await;
        equal("a batch above the limit", &(it.granted, it.last.allowed), &(9, false));
    }

    async fn keys_are_independent(&self) {
        let begin = unique_text();
        let long = "b".repeat(10_000);
        let mut keys = vec![RateKey::shared(), RateKey::text("")];
        for address in ["203.0.113.7", "203.0.113.8", "2001:db8::1", "::cb00:7107:0:0:0:1"] {
            keys.push(or_fail(address.parse::<IpAddr>()).into());
            keys.push(RateKey::text(address));
            keys.push(RateKey::text(format!("ip:{address}")));
        }
        for end in HOSTILE.iter().copied().chain([&*long, &long[1..]]) {
            keys.push(RateKey::text(format!("{begin}{end}")));
        }
        keys.push(RateKey::text(format!("{long}{begin}")));
        let clients: Vec<_> = keys.into_iter().map(|key| self.counted_by(key, 1, DAY)).collect();
        for (number, expected) in [("first", true), ("second", false)] {
            for client in &clients {
                let key: String = client.key.to_string().chars().take(100).collect();
                let promise = format!("the {number} request of the key {key:?} passes");
                let decision = client.charged(&promise).await;
                equal(&promise, &decision.allowed, &expected);
            }
        }
    }

    async fn a_client_passes_after_its_wait(&mut self) {
        let mut client = self.counted(2, SECOND);
        let mut refusal = None;
        // A slow machine may not exceed the limit within one second, so repeat
        // the requests.
        for _ in 0..1_000 {
            let decision = client.charged("a request").await;
            if !decision.allowed {
                refusal = Some(decision);
                break;
            }
        }
        let Some(refusal) = refusal else {
            fail("a limit of 2 per second must reject at least one of 1,000 requests: all passed");
        };
        for _ in 0..20 {
            let decision = client.charged("a repeated request of a rejected client").await;
            if decision.retry_after > refusal.retry_after {
                fail(format!(
                    "rejected requests must not extend the window: {decision:?} after {refusal:?}"
                ));
            }
            if decision.allowed {
                // The waiting time is already over.
                break;
            }
        }
        self.passes(refusal.retry_after + TICK, &mut client).await;
        let decision = client.charged("a client that has waited").await;
        equal("a client that waited for the reported time passes", &decision.allowed, &true);
        self.passes(decision.reset + TICK, &mut client).await;
        let decision = client.charged("a client after its reset").await;
        let found = (decision.allowed, decision.remaining);
        equal("earlier requests do not count after the reset", &found, &(true, 1));
    }

    async fn the_quota_recovers_by_the_algorithm(&mut self) {
        let Some(algorithm) = self.store.algorithm() else { return };
        for time in [SECOND / 2, SECOND * 3 / 2] {
            let mut client = self.counted(100, SECOND);
            let begin = Instant::now();
            let granted = client.charged_n("the first requests", 100).await.granted;
            equal(
                "requests that pass a limit of 100, out of the first 100 requests",
                &granted,
                &100,
            );
            self.passes(time, &mut client).await;
            let granted = client.charged_n("the next requests", 100).await.granted;
            // The elapsed time is between the requested and the actual waiting
            // time.
            let least = available_after(algorithm, time.saturating_sub(TICK));
            let most = available_after(algorithm, begin.elapsed().max(time) + TICK);
            if !(least..=most).contains(&granted) {
                let expected = format!("expected {least} to {most}, with {algorithm:?}");
                fail(format!(
                    "requests that pass {time:?} after 100 requests, with a limit of 100 per second: \
                     found {granted}, {expected}"
                ));
            }
        }
    }
}

impl<S: RateStore> Counted<S> {
    async fn charged(&self, promise: &str) -> Decision {
        match self.store.charge(&self.key, &self.policy, self.now) {
            ChargeOutcome::Ready(decision) => decision,
            ChargeOutcome::Pending(decision) if self.store.waits() => {
                succeeds(promise, decision.await)
            }
            ChargeOutcome::Pending(_) => fail("a store that does not wait must decide immediately"),
        }
    }

    async fn charged_n(&self, promise: &str, n: u32) -> BatchDecision {
        succeeds(promise, self.store.charge_n(&self.key, &self.policy, n, self.now).await)
    }
}

/// Returns how many of 100 requests per second are available again after a
/// time.
fn available_after(algorithm: Algorithm, time: Duration) -> u32 {
    let after = |wait: Duration| {
        // A rate of 100 requests per second is one request every 10 ms.
        let back = time.saturating_sub(wait).as_millis() / 10;
        u32::try_from(back).unwrap_or(u32::MAX).min(100)
    };
    match algorithm {
        Algorithm::FixedWindow if time < SECOND => 0,
        Algorithm::SlidingWindow => after(SECOND),
        Algorithm::Gcra => after(Duration::ZERO),
        _ => 100,
    }
}

/// Fails unless a time is the expected one, or up to an hour less because the
/// check takes time.
fn near(promise: &str, actual: Duration, expected: Duration) {
    let least = expected.saturating_sub(Duration::from_secs(3_600));
    if !(least..=expected + TICK).contains(&actual) {
        fail(format!("{promise}: found {actual:?}, expected {expected:?}"));
    }
}

/// Texts that a backend might interpret as syntax.
const HOSTILE: &[&str] = &[
    "",
    " ",
    ":",
    "::",
    "a",
    "A",
    "a:",
    ":a",
    "a b",
    "a\nb",
    "\r\n",
    "\0",
    "a\0",
    "{a}",
    "{b}",
    "{}",
    "*",
    "?",
    "%",
    "%00",
    "/",
    "../",
    "'",
    "\"",
    "; DROP TABLE rates; --",
    "\r\nFLUSHALL\r\n",
    "é",
    "e\u{301}",
    "\u{1f375}",
    "\u{202e}",
    "null",
    "0",
];
