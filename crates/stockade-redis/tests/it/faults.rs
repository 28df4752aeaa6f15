//! The table of faults, for our link and for the connection manager of the
//! `redis` crate.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redis::aio::{ConnectionManager, ConnectionManagerConfig};

use stockade_redis::{Redis, RedisOptions, RedisRateLimits};
use stockade_stages::rate_limit::{ChargeOutcome, HOUR, RateKey, RateLimitPolicy, RateStore as _};

use crate::engine::{Engine, url};
use crate::proxy::{Direction, Proxy};

/// A client that sends writes to a server.
pub(crate) trait Subject: Clone + Send + Sync + 'static {
    /// Sends a write. Returns true on success.
    fn write(&self) -> impl Future<Output = bool> + Send;
}

/// The connection manager of the `redis` crate, with our deadlines.
#[derive(Clone)]
struct Manager(ConnectionManager);

impl Manager {
    fn open(url: &str) -> Self {
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(Duration::from_millis(100)))
            .set_connection_timeout(Some(Duration::from_secs(1)))
            .set_min_delay(Duration::from_millis(50))
            .set_max_delay(Duration::from_secs(5));
        let client = redis::Client::open(url).unwrap();
        Self(ConnectionManager::new_lazy_with_config(client, config).unwrap())
    }
}

impl Subject for Manager {
    async fn write(&self) -> bool {
        let mut to = self.0.clone();
        let mut set = redis::cmd("SET");
        set.arg("shop:x").arg(1).arg("PX").arg(1_000);
        set.exec_async(&mut to).await.is_ok()
    }
}

/// A rate limit store on our link, with a key.
#[derive(Clone)]
pub(crate) struct Ours(Arc<RedisRateLimits>, RateKey);

impl Ours {
    fn open(url: &str) -> Self {
        let redis = Redis::open(url, RedisOptions::new().prefix("shop")).unwrap();
        Self::over(&redis)
    }

    pub(crate) fn over(redis: &Redis) -> Self {
        Self::with_key(redis, RateKey::shared())
    }

    pub(crate) fn with_key(redis: &Redis, key: RateKey) -> Self {
        Self(Arc::new(redis.rate_limits()), key)
    }

    /// Returns the name of a key in Redis.
    pub(crate) fn name(key: &str) -> String {
        let (limit, window) = (u32::MAX, 3_600_000_000_u64);
        format!("shop:rate:fixed:{limit}:{window}:default:key:{key}")
    }
}

impl Subject for Ours {
    async fn write(&self) -> bool {
        let policy = RateLimitPolicy::new("default", u32::MAX / HOUR).unwrap();
        match self.0.charge(&self.1, &policy, Duration::ZERO) {
            ChargeOutcome::Ready(decision) => decision.allowed,
            ChargeOutcome::Pending(decision) => decision.await.is_ok(),
        }
    }
}

/// One write: its start, duration and outcome.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    begun: Instant,
    took: Duration,
    done: bool,
}

/// A load of 200 writes per second. It does not wait for earlier writes.
pub(crate) struct Load {
    samples: Arc<Mutex<Vec<Sample>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Load {
    pub(crate) fn on(subject: &impl Subject) -> Self {
        let samples = Arc::new(Mutex::new(Vec::new()));
        let (subject, kept) = (subject.clone(), Arc::clone(&samples));
        let task = tokio::spawn(async move {
            let mut tick = tokio::time::interval(Duration::from_millis(5));
            loop {
                tick.tick().await;
                let (subject, kept) = (subject.clone(), Arc::clone(&kept));
                tokio::spawn(async move {
                    let begun = Instant::now();
                    let done = subject.write().await;
                    let sample = Sample { begun, took: begun.elapsed(), done };
                    kept.lock().unwrap().push(sample);
                });
            }
        });
        Self { samples, task }
    }

    /// Waits for a successful write that starts after this call. Returns `None`
    /// after a timeout.
    pub(crate) async fn wait_for_success(&self, most: Duration) -> Option<Duration> {
        let begin = Instant::now();
        while begin.elapsed() < most {
            let samples = self.samples.lock().unwrap().clone();
            let done = samples.iter().filter(|it| it.begun >= begin && it.done);
            if let Some(first) = done.map(|it| it.begun + it.took).min() {
                return Some(first.saturating_duration_since(begin));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        None
    }

    pub(crate) fn end(self) -> Vec<Sample> {
        self.task.abort();
        std::mem::take(&mut self.samples.lock().unwrap())
    }
}

/// One row of results.
pub(crate) struct Row {
    fault: &'static str,
    /// The time from the end of the fault to the next successful write, or
    /// `None` if there was none.
    pub(crate) back: Option<Duration>,
    pub(crate) failed: usize,
    /// The number of writes that took more than 20 ms.
    pub(crate) slow: usize,
    longest: Duration,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, back, failed, slow, longest } = self;
        write!(
            f,
            "{fault}: back after {back:.1?}, {failed} failed, {slow} slow, longest {longest:.1?}"
        )
    }
}

impl Row {
    pub(crate) fn of(fault: &'static str, back: Option<Duration>, samples: &[Sample]) -> Self {
        Self {
            fault,
            back,
            failed: samples.iter().filter(|it| !it.done).count(),
            slow: samples.iter().filter(|it| it.took > Duration::from_millis(20)).count(),
            longest: samples.iter().map(|it| it.took).max().unwrap_or_default(),
        }
    }
}

/// Returns the longest time between two successful writes.
pub(crate) fn longest_gap(samples: &[Sample]) -> Option<Duration> {
    let done = samples.iter().filter(|it| it.done).map(|it| it.begun + it.took);
    let mut done: Vec<Instant> = done.collect();
    done.sort_unstable();
    done.windows(2).map(|pair| pair[1] - pair[0]).max()
}

const OUTAGE: Duration = Duration::from_secs(3);
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the table; `open` creates a subject for a URL.
async fn table<S: Subject>(open: impl Fn(&str) -> S) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut engine = Engine::start();
    let begun = |url: &str| {
        let subject = open(url);
        let load = Load::on(&subject);
        (subject, load)
    };

    let (subject, load) = begun(&engine.url());
    assert!(load.wait_for_success(PATIENCE).await.is_some());
    engine.kill();
    tokio::time::sleep(OUTAGE).await;
    engine.restart();
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("kill -9, back after 3 s", back, &load.end()));
    drop(subject);

    let (subject, load) = begun(&engine.url());
    assert!(load.wait_for_success(PATIENCE).await.is_some());
    engine.freeze();
    tokio::time::sleep(OUTAGE).await;
    engine.thaw();
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("SIGSTOP, SIGCONT after 3 s", back, &load.end()));
    drop(subject);

    let (subject, load) = begun(&engine.url());
    assert!(load.wait_for_success(PATIENCE).await.is_some());
    engine.admin(&["CLIENT", "KILL", "TYPE", "normal"]);
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("CLIENT KILL", back, &load.end()));
    drop(subject);

    rows.extend(table_of_the_network(&engine, &open).await);

    let mut late = Engine::start();
    late.kill();
    let (subject, load) = begun(&late.url());
    tokio::time::sleep(OUTAGE).await;
    late.restart();
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("not running for the first 3 s", back, &load.end()));
    drop(subject);
    rows
}

/// Runs the rows with a failed network or a different server.
async fn table_of_the_network<S: Subject>(engine: &Engine, open: impl Fn(&str) -> S) -> Vec<Row> {
    let mut rows = Vec::new();
    let begun = |url: &str| {
        let subject = open(url);
        let load = Load::on(&subject);
        (subject, load)
    };
    let proxy = Proxy::to(engine.port).await;
    let (subject, load) = begun(&url(proxy.port));
    assert!(load.wait_for_success(PATIENCE).await.is_some());
    proxy.silence();
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("half-open connection", back, &load.end()));
    drop(subject);

    let (subject, load) = begun(&url(proxy.port));
    assert!(load.wait_for_success(PATIENCE).await.is_some());
    proxy.cut();
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("connection cut", back, &load.end()));
    drop(subject);

    for direction in [Direction::Requests, Direction::Answers] {
        let (subject, load) = begun(&url(proxy.port));
        assert!(load.wait_for_success(PATIENCE).await.is_some());
        proxy.swallow(Some(direction));
        tokio::time::sleep(OUTAGE).await;
        proxy.swallow(None);
        let back = load.wait_for_success(PATIENCE).await;
        let fault = match direction {
            Direction::Requests => "requests swallowed for 3 s",
            Direction::Answers => "responses swallowed for 3 s",
        };
        rows.push(Row::of(fault, back, &load.end()));
        drop(subject);
    }

    // The network is slower than the deadline, and then recovers.
    let (subject, load) = begun(&url(proxy.port));
    assert!(load.wait_for_success(PATIENCE).await.is_some());
    proxy.delay(Duration::from_millis(200));
    tokio::time::sleep(OUTAGE).await;
    proxy.delay(Duration::ZERO);
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("200 ms each way for 3 s", back, &load.end()));
    drop(subject);

    let replica = Engine::start();
    let (subject, load) = begun(&url(proxy.port));
    assert!(load.wait_for_success(PATIENCE).await.is_some());
    // The old server becomes a replica, and new connections reach its master.
    proxy.lead_to(replica.port);
    engine.admin(&["REPLICAOF", "127.0.0.1", &replica.port.to_string()]);
    let back = load.wait_for_success(PATIENCE).await;
    rows.push(Row::of("READONLY after a failover", back, &load.end()));
    drop(subject);
    rows
}

/// Tests our link. Most writes fail at once, and few take a full deadline.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn link_recovers_from_faults() {
    for row in table(Ours::open).await {
        eprintln!("Redis: {row}");
        assert!(row.back.is_some(), "{row}");
        // About 20 writes start within a deadline, and 20 after each successful
        // ping. The bound allows a few more for a busy machine.
        assert!(row.slow <= 200, "{row}");
    }
}

/// Prints the results of the `redis` crate's manager, which show whether our
/// link is needed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes: cargo xtask redis --long"]
async fn the_manager_of_the_client_library() {
    for row in table(Manager::open).await {
        eprintln!("ConnectionManager: {row}");
    }
}
