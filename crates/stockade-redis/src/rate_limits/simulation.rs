//! Simulates up to 1,000 processes with one server in virtual time. The tests
//! check how many requests pass with leases, network cuts and server failures.
//!
//! The limiter, its local share, the remembered rejections, the leases and the
//! breaker are the real ones. The server is the [`Model`], which the test
//! `rate_limit_model` compares with a real one. A seed determines the
//! latencies, the traffic and the time of a fault, so each run is reproducible.
//! This command runs the long form with the figures in
//! `book/src/appendix/redis-measurements.md`:
//!
//! `STOCKADE_REDIS_LONG=1 cargo test --release -p stockade-redis --lib simulation -- --nocapture`

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stockade_errors::StoreError;
use stockade_errors::locks::lock;
use stockade_errors::random::Random;
use stockade_stages::RateLimit;
use stockade_stages::rate_limit::{
    Algorithm, ChargeOutcome, Decision, Quota, RateKey, RateLimitPolicy, RateLimiter, RateStore,
    StoreFailure,
};
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep, sleep_until};

use super::RedisRateLimits;
use super::algorithm::RequestedCount;
use super::model::{self, Kind, Model};
use crate::breaker::Breaker;
use crate::link::Redis;
use crate::options::RedisOptions;

#[expect(clippy::print_stderr, reason = "the figures are for the book")]
mod tests;

/// The processes, their traffic and a fault.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    nodes: usize,
    algorithm: Algorithm,
    limit: u32,
    /// The requests of all processes in a window.
    demand: u32,
    windows: u32,
    /// True if requests are distributed evenly over the processes, false if
    /// randomly.
    is_balanced: bool,
    share: Option<u32>,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    None,
    /// The server stops at a random time in the first window.
    Killed,
    /// The server stops in the same way and restarts empty after a random time.
    Restarted,
    /// The key loses its expiry at a random time.
    ExpiryLost,
    /// Half of the processes lose their network at a random time.
    HalfIsCut,
}

/// The times of the passed requests in a run.
struct Outcome {
    passes: Vec<Duration>,
    /// The starts of the server's windows, for fixed windows.
    windows: Vec<Duration>,
}

impl Outcome {
    /// Returns the number of requests that passed in the window that starts at
    /// `begin`.
    fn passed(&self, begin: Duration) -> u32 {
        let is_inside = |at: &&Duration| (begin..begin + WINDOW).contains(*at);
        u32::try_from(self.passes.iter().filter(is_inside).count()).unwrap()
    }

    /// Returns the number for each of the server's windows that ended before
    /// the traffic did.
    fn per_window(&self, plan: &Plan) -> Vec<u32> {
        let end = WINDOW * plan.windows;
        let whole = self.windows.iter().filter(|begin| **begin + WINDOW <= end);
        whole.map(|begin| self.passed(*begin)).collect()
    }
}

/// The server, the network and the record.
struct World {
    start: Instant,
    limit: u32,
    state: Mutex<State>,
}

struct State {
    engine: Model,
    is_up: bool,
    /// Processes with a lower number are cut off.
    cut: usize,
    numbers: Random,
    outcome: Outcome,
}

impl World {
    fn now(&self) -> Duration {
        Instant::now() - self.start
    }

    fn is_reachable(&self, node: usize) -> bool {
        let state = lock(&self.state);
        state.is_up && node >= state.cut
    }

    /// Returns a random latency for a message.
    fn latency(&self) -> Duration {
        Duration::from_millis(1 + lock(&self.state).numbers.below(MOST_LATENCY))
    }

    fn note_pass(&self, at: Duration) {
        lock(&self.state).outcome.passes.push(at);
    }

    /// Runs the script on the server. Returns the result and its time, or
    /// `None` if the server is not reachable.
    fn run(&self, node: usize, arguments: [u64; 4]) -> Option<(Vec<i64>, Duration)> {
        if !self.is_reachable(node) {
            return None;
        }
        let (now, [limit, window, want, least]) = (self.now(), arguments);
        let micros = u64::try_from(now.as_micros()).unwrap();
        let charge = model::Charge { key: 0, limit, window, want, least, now: micros };
        let mut state = lock(&self.state);
        let answer = state.engine.charge(&charge);
        let windows = &mut state.outcome.windows;
        if answer.get(2) == Some(&window) && windows.last().is_none_or(|last| *last + WINDOW <= now)
        {
            windows.push(now);
        }
        Some((answer.into_iter().map(|number| i64::try_from(number).unwrap()).collect(), now))
    }
}

/// The real store of a process with a simulated network.
struct Node {
    number: usize,
    limits: RedisRateLimits,
    world: Arc<World>,
    /// The breaker, and the time until which it is open.
    breaker: Mutex<(Breaker, Option<Instant>)>,
}

impl Node {
    /// Sends a charge. Late and missing responses have the same effect.
    async fn send(&self, arguments: [u64; 4]) -> Result<(Vec<i64>, Duration), StoreError> {
        let begin = Instant::now();
        {
            let mut breaker = lock(&self.breaker);
            if breaker.1.is_some_and(|until| until > begin) {
                return Err(StoreError::unavailable("the breaker is open"));
            }
            if breaker.1.take().is_some() {
                breaker.0.close();
            }
        }
        sleep(self.world.latency()).await;
        let answer = self.world.run(self.number, arguments);
        sleep(self.world.latency()).await;
        if let Some(answer) = answer.filter(|_| self.world.is_reachable(self.number)) {
            lock(&self.breaker).0.succeeded();
            return Ok(answer);
        }
        sleep_until(begin + self.limits.deadline).await;
        let mut breaker = lock(&self.breaker);
        if breaker.0.failed() {
            breaker.1 = Some(Instant::now() + breaker.0.open());
        }
        Err(StoreError::unavailable("no response in time"))
    }

    async fn ask(
        &self,
        name: u128,
        policy: &RateLimitPolicy,
        want: u32,
    ) -> Result<Decision, StoreError> {
        let asking = self.limits.asking(name, want);
        let sent = Instant::now().into_std();
        let requested = RequestedCount::up_to(want);
        let arguments = self.limits.counting.arguments(policy, requested);
        let (answer, at) = self.send(arguments).await?;
        let decision = self.limits.answered(name, policy, requested, asking, &answer, sent)?;
        if decision.allowed {
            self.world.note_pass(at);
        }
        Ok(decision)
    }
}

impl RateStore for Node {
    fn waits(&self) -> bool {
        true
    }

    fn algorithm(&self) -> Option<Algorithm> {
        RateStore::algorithm(&self.limits)
    }

    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        _: Duration,
    ) -> ChargeOutcome<'a> {
        let name = self.limits.name(key, policy);
        match self.limits.known(name, policy.limit().get(), Instant::now().into_std()) {
            ControlFlow::Break(decision) => {
                if decision.allowed {
                    self.world.note_pass(self.world.now());
                }
                ChargeOutcome::Ready(decision)
            }
            ControlFlow::Continue(want) => {
                ChargeOutcome::Pending(Box::pin(self.ask(name, policy, want)))
            }
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Runs a plan to completion.
fn simulate(plan: &Plan) -> Outcome {
    // Created outside a runtime, so the links do not connect.
    let stores: Vec<RedisRateLimits> = (0..plan.nodes).map(|_| store(plan)).collect();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let outcome = Outcome { passes: Vec::new(), windows: Vec::new() };
        let state = State {
            engine: Model::new(kind(plan)),
            is_up: true,
            cut: 0,
            numbers: Random::new(plan.seed),
            outcome,
        };
        let world =
            Arc::new(World { start: Instant::now(), limit: plan.limit, state: Mutex::new(state) });
        let stores = stores.into_iter().enumerate();
        let nodes: Vec<RateLimiter> =
            stores.map(|(number, limits)| node(plan, number, limits, &world)).collect();
        tokio::spawn(fault(plan.clone(), Arc::clone(&world)));
        let requests = plan.demand * plan.windows;
        for request in 0..requests {
            sleep_until(world.start + WINDOW * request / plan.demand).await;
            let random = lock(&world.state).numbers.below(plan.nodes as u64);
            let number = if plan.is_balanced { u64::from(request) } else { random };
            let number = usize::try_from(number).unwrap() % plan.nodes;
            tokio::spawn(request_of(nodes[number].clone(), Arc::clone(&world)));
        }
        sleep(WINDOW).await;
        let mut state = lock(&world.state);
        let (passes, windows) =
            (std::mem::take(&mut state.outcome.passes), std::mem::take(&mut state.outcome.windows));
        Outcome { passes, windows }
    })
}

fn kind(plan: &Plan) -> Kind {
    match plan.algorithm {
        Algorithm::FixedWindow => Kind::Fixed,
        Algorithm::SlidingWindow => Kind::Sliding,
        _ => Kind::Gcra,
    }
}

fn store(plan: &Plan) -> RedisRateLimits {
    let redis = Redis::open("redis://127.0.0.1:1", RedisOptions::new().prefix("simulation"));
    let limits = redis.unwrap().rate_limits().algorithm(plan.algorithm);
    match plan.share {
        Some(share) => limits.leased(share),
        None => limits,
    }
}

fn node(plan: &Plan, number: usize, limits: RedisRateLimits, world: &Arc<World>) -> RateLimiter {
    let breaker = Mutex::new((Breaker::new(), None));
    let node = Node { number, limits, world: Arc::clone(world), breaker };
    let nodes = u32::try_from(plan.nodes).unwrap();
    let limit = RateLimit::from(Quota::new(plan.limit, WINDOW))
        .store(Arc::new(node))
        .on_store_failure(StoreFailure::Local { nodes })
        .store_timeout(None);
    limit.build().unwrap()
}

async fn request_of(limiter: RateLimiter, world: Arc<World>) {
    let begin = world.now();
    let decision = match limiter.charge(&RateKey::shared(), Instant::now().into_std()) {
        ChargeOutcome::Ready(decision) => decision,
        ChargeOutcome::Pending(decision) => decision.await.unwrap(),
    };
    // Requests counted by the server are recorded there.
    if decision.allowed && decision.limit != world.limit {
        world.note_pass(begin);
    }
}

async fn fault(plan: Plan, world: Arc<World>) {
    let random = |most: u64| Duration::from_millis(lock(&world.state).numbers.below(most));
    // The fault may occur before the first request, or after the limit is
    // reached.
    let window = u64::try_from(WINDOW.as_millis()).unwrap();
    let (at, pause) = (random(window), random(window / 2));
    sleep(at).await;
    match plan.fault {
        Fault::None => {}
        Fault::Killed => lock(&world.state).is_up = false,
        Fault::Restarted => {
            {
                let mut state = lock(&world.state);
                state.is_up = false;
                state.engine.lose(0);
            }
            sleep(pause).await;
            lock(&world.state).is_up = true;
        }
        Fault::ExpiryLost => lock(&world.state).engine.lose_expiry(0),
        Fault::HalfIsCut => lock(&world.state).cut = plan.nodes / 2,
    }
}

const WINDOW: Duration = Duration::from_secs(2);
/// The maximum one-way latency, in milliseconds.
const MOST_LATENCY: u64 = 20;
