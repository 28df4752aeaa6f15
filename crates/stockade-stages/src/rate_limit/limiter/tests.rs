//! Tests of a limiter: its keys, its store, and store failures.

use stockade_errors::ApiError;

use super::*;

fn request() -> Request {
    Request::from(http::Request::get("/").header("x-user", "ann").body(()).unwrap())
}

fn decide(limiter: &RateLimiter, key: &RateKey, now: Instant) -> Decision {
    match limiter.charge(key, now) {
        ChargeOutcome::Ready(decision) => decision,
        ChargeOutcome::Pending(_) => panic!("the store is in memory"),
    }
}

#[test]
fn the_key_is_generated_or_the_client_address() {
    let client = Some("203.0.113.7".parse().unwrap());
    let plain = RateLimit::new().build().unwrap();
    assert_eq!(plain.key(&request(), client).to_string(), "ip:203.0.113.7");
    assert_eq!(plain.key(&request(), None), RateKey::shared());

    let by_user = RateLimit::new().key_generator(|req| {
        let user = req.headers().get("x-user").and_then(|user| user.to_str().ok());
        user.map(str::to_owned).ok_or_else(|| ApiError::new(400, "no user"))
    });
    let by_user = by_user.build().unwrap();
    assert_eq!(by_user.key(&request(), client).to_string(), "key:ann");
    let nobody = Request::from(http::Request::get("/").body(()).unwrap());
    assert_eq!(by_user.key(&nobody, client).to_string(), "ip:203.0.113.7");
}

#[test]
fn a_panicking_generator_falls_back_to_the_client() {
    let limiter = RateLimit::new().key_generator(|_| panic!("no key")).build().unwrap();
    let client = Some("203.0.113.7".parse().unwrap());
    assert_eq!(limiter.key(&request(), client).to_string(), "ip:203.0.113.7");
}

#[test]
fn the_default_is_a_hundred_a_minute() {
    let start = Instant::now();
    let limiter = RateLimit::new().build_at(start).unwrap();
    let key = RateKey::shared();
    let passed = (0..150).filter(|_| decide(&limiter, &key, start).allowed).count();
    assert_eq!(passed, 100);
    let before = start + Duration::from_millis(59_999);
    assert!(!decide(&limiter, &key, before).allowed);
    assert!(decide(&limiter, &key, start + Duration::from_secs(60)).allowed);
}

#[test]
fn charging_allocates_nothing() {
    let start = Instant::now();
    let limiter = RateLimit::new().build_at(start).unwrap();
    let client: Option<IpAddr> = Some("203.0.113.7".parse().unwrap());
    let req = request();
    decide(&limiter, &limiter.key(&req, client), start);
    let counted = allocation_counter::measure(|| {
        decide(&limiter, &limiter.key(&req, client), start);
    });
    assert_eq!(counted.count_total, 0);
}

/// A store that never responds.
struct Silent;

impl RateStore for Silent {
    fn waits(&self) -> bool {
        true
    }

    fn charge<'a>(
        &'a self,
        _: &'a RateKey,
        _: &'a RateLimitPolicy,
        _: Duration,
    ) -> ChargeOutcome<'a> {
        ChargeOutcome::Pending(Box::pin(std::future::pending()))
    }
}

/// Returns the decision about a request, in paused time that advances when all
/// tasks wait.
fn asked_in_vain(limit: RateLimit) -> Result<Decision, StoreError> {
    let limiter = limit.store(Arc::new(Silent)).build().unwrap();
    let key = RateKey::shared();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
        let begin = tokio::time::Instant::now();
        let ChargeOutcome::Pending(decision) = limiter.charge(&key, Instant::now()) else {
            panic!("the store waits");
        };
        let decision = decision.await;
        assert_eq!(begin.elapsed(), Duration::from_secs(1));
        decision
    })
}

#[test]
fn an_unresponsive_store_is_503_after_a_second() {
    let error = ApiError::from(asked_in_vain(RateLimit::new()).unwrap_err());
    let headers: Vec<_> = error.headers().collect();
    assert_eq!((error.status(), headers), (503, vec![("Retry-After", "1")]));
}

#[test]
fn an_unresponsive_store_lets_requests_pass_only_if_configured() {
    let decision = asked_in_vain(RateLimit::new().on_store_failure(StoreFailure::Pass));
    let decision = decision.unwrap();
    assert_eq!((decision.allowed, decision.remaining), (true, 99));
}

/// A store that lets everything pass until it fails.
#[derive(Default)]
struct Failing(AtomicBool);

impl RateStore for Failing {
    fn waits(&self) -> bool {
        true
    }

    fn charge<'a>(
        &'a self,
        _: &'a RateKey,
        policy: &'a RateLimitPolicy,
        _: Duration,
    ) -> ChargeOutcome<'a> {
        let limit = policy.limit().get();
        let passed = Decision::pass(limit, limit - 1, policy.window());
        let failed = self.0.load(Ordering::Relaxed);
        ChargeOutcome::Pending(Box::pin(async move {
            if failed { Err(StoreError::unavailable("the store is away")) } else { Ok(passed) }
        }))
    }
}

#[tokio::test]
async fn the_local_share_counts_before_the_store_fails() {
    let store = Arc::new(Failing::default());
    let local = StoreFailure::Local { nodes: 3 };
    let limit = RateLimit::new().store(Arc::clone(&store) as _).on_store_failure(local);
    let limiter = limit.build().unwrap();
    let (key, start) = (RateKey::shared(), Instant::now());
    let decide = async |now: Instant| match limiter.charge(&key, now) {
        ChargeOutcome::Pending(decision) => decision.await.unwrap(),
        ChargeOutcome::Ready(_) => panic!("the store waits"),
    };
    for _ in 0..30 {
        let decision = decide(start).await;
        assert_eq!((decision.allowed, decision.remaining), (true, 99));
    }
    store.0.store(true, Ordering::Relaxed);
    // The share is a third of a hundred, rounded up; thirty have already
    // passed.
    let mut passed = 0;
    for _ in 0..100 {
        let decision = decide(start + Duration::from_secs(1)).await;
        passed += u32::from(decision.allowed);
        assert_eq!(decision.limit, 34);
    }
    assert_eq!(passed, 4);
    assert!(decide(start + Duration::from_secs(60)).await.allowed);
}

#[test]
fn the_first_charge_starts_the_clock() {
    let (early, limiter) = (Instant::now(), RateLimit::new().max_requests(1).build().unwrap());
    let key = RateKey::shared();
    let late = early + Duration::from_secs(1_000);
    assert!(decide(&limiter, &key, late).allowed);
    assert!(!decide(&limiter, &key, late + Duration::from_secs(59)).allowed);
    assert!(decide(&limiter, &key, late + Duration::from_secs(60)).allowed);
}
