//! Benchmark of a charge, compared with both maps of the crate `governor`, for
//! 1, 10,000 and 1,000,000 keys in random order, on 1 and 2 threads.
//!
//! `cargo bench -p stockade-stages --bench rate_limit`

#![expect(clippy::unwrap_used, reason = "the options of a bench are right")]

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::thread;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use governor::{Quota as GovernorQuota, RateLimiter as Governor};
use stockade_stages::RateLimit;
use stockade_stages::rate_limit::{Algorithm, ChargeOutcome, RateKey, RateLimiter};

/// A cheap random order that is the same in every run.
struct Order(u64);

impl Order {
    fn next(&mut self, keys: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (((self.0 >> 32) * u64::from(keys)) >> 32) as u32
    }
}

/// Times `count` calls of `call` on each of `threads` threads.
fn timed(threads: u64, count: u64, keys: u32, call: impl Fn(Ipv4Addr) + Sync) -> Duration {
    let start = Instant::now();
    thread::scope(|scope| {
        for seed in 1..=threads {
            let call = &call;
            scope.spawn(move || {
                let mut order = Order(seed);
                for _ in 0..count {
                    call(Ipv4Addr::from_bits(order.next(keys).wrapping_mul(0x9e37_79b1)));
                }
            });
        }
    });
    start.elapsed()
}

/// Returns a limit that is high enough to reject nothing, and slow enough that
/// no key expires during the run.
fn limit(keys: u32) -> u32 {
    if keys > 100_000 { 1_000_000 } else { 1_000_000_000 }
}

const WINDOW: Duration = Duration::from_secs(365 * 24 * 60 * 60);

fn ours(algorithm: Algorithm, keys: u32) -> RateLimiter {
    let options = RateLimit::new().algorithm(algorithm).max_keys(1_100_000);
    options.max_requests(limit(keys)).window(WINDOW).build().unwrap()
}

fn charge(limiter: &RateLimiter, address: Ipv4Addr, now: Instant) {
    let key = RateKey::from(IpAddr::V4(address));
    match limiter.charge(&key, now) {
        ChargeOutcome::Ready(decision) => drop(black_box(decision)),
        ChargeOutcome::Pending(_) => unreachable!("the store is in memory"),
    }
}

fn rate_limit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("charge");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_millis(1_500));
    for keys in [1_u32, 10_000, 1_000_000] {
        let all = || (0..keys).map(|number| Ipv4Addr::from_bits(number.wrapping_mul(0x9e37_79b1)));
        for threads in [1_u64, 2] {
            let parameter = format!("{keys} keys, {threads} threads");
            let mut bench = |name: &str, call: &(dyn Fn(Ipv4Addr) + Sync)| {
                all().for_each(call);
                group.bench_function(BenchmarkId::new(name, &parameter), |bencher| {
                    bencher.iter_custom(|count| timed(threads, count, keys, call));
                });
            };
            for (name, algorithm) in [
                ("fixed window", Algorithm::FixedWindow),
                ("sliding window", Algorithm::SlidingWindow),
                ("gcra", Algorithm::Gcra),
            ] {
                let limiter = ours(algorithm, keys);
                bench(name, &|address| charge(&limiter, address, Instant::now()));
            }
            // Measured without reading the clock, which a router reads anyway.
            let (limiter, now) = (ours(Algorithm::FixedWindow, keys), Instant::now());
            bench("fixed window without clock", &|address| charge(&limiter, address, now));

            let burst = NonZeroU32::new(limit(keys)).unwrap();
            let quota = GovernorQuota::with_period(WINDOW / limit(keys)).unwrap();
            let governor = Governor::dashmap(quota.allow_burst(burst));
            bench("governor", &|address| drop(black_box(governor.check_key(&address))));
            let governor = Governor::hashmap(quota.allow_burst(burst));
            bench("governor with one map", &|address| {
                drop(black_box(governor.check_key(&address)))
            });
        }
    }
    group.finish();
}

criterion_group!(benches, rate_limit);
criterion_main!(benches);
