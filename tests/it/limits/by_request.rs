//! Rate limits that choose the key and the quota for each request.
// Spec: Limits › Rate limit; Router options › `rateLimit`.

use std::sync::Arc;
use std::time::Duration;

use stockade::middleware::rate_limit::{
    Algorithm, Charge, ChargeOutcome, Decision, HOUR, MemoryRateStore, RateKey, RateLimitPolicy,
    RateStore,
};
use stockade::middleware::{RateLimit, with_rate_limit};
use stockade::prelude::*;
use stockade::testing::{TestClient, TestClock};

#[derive(serde::Deserialize)]
struct Member {
    org: String,
    paid: bool,
}

/// Authenticates any token as an organization's name. `acme` is a paying
/// organization.
fn token() -> Middleware {
    with_auth(|org: String| (org != "wrong").then(|| json!({ "paid": org == "acme", "org": org })))
}

fn by_plan() -> stockade::middleware::RequestLimit {
    RateLimit::by(|req| {
        let me: Member = req.user_as()?;
        Some((me.org, if me.paid { 3 } else { 1 } / MINUTE))
    })
}

fn client(api: RouteTree) -> TestClient {
    TestClient::new(create_router(api, RouterOptions::new().rate_limit(false)))
}

async fn ok() -> &'static str {
    "ok"
}

#[tokio::test]
async fn each_organization_has_the_quota_of_its_plan() {
    let client = client(routes! {
        middleware: token(),
        rate_limit: by_plan(),
        "orders": { GET: ok },
        "users": { GET: ok },
    });
    for (token, path, status, policy, left) in [
        ("acme", "/orders", 200, "\"route\";q=3;w=60", "\"route\";r=2;t=60"),
        ("acme", "/users", 200, "\"route\";q=3;w=60", "\"route\";r=1;t=60"),
        ("free", "/users", 200, "\"route\";q=1;w=60", "\"route\";r=0;t=60"),
        ("free", "/orders", 429, "\"route\";q=1;w=60", "\"route\";r=0;t=60"),
        ("acme", "/orders", 200, "\"route\";q=3;w=60", "\"route\";r=0;t=60"),
        ("acme", "/orders", 429, "\"route\";q=3;w=60", "\"route\";r=0;t=60"),
        ("other", "/orders", 200, "\"route\";q=1;w=60", "\"route\";r=0;t=60"),
    ] {
        // The address is not the key.
        let response = client.get(path).bearer(token).peer("203.0.113.7").await;
        response.assert_status(status).assert_header("ratelimit-policy", policy);
        response.assert_header("ratelimit", left);
    }
}

/// The root's limit runs after authentication, regardless of its place in the
/// tree.
#[tokio::test]
async fn runs_after_inner_authentication() {
    let client = client(routes! {
        rate_limit: by_plan(),
        "open": { GET: ok },
        "orders": { middleware: token(), GET: ok },
        "users": { GET: { ok, middleware: token() } },
        "twice": { middleware: token(), "below": { GET: { ok, middleware: token() } } },
    });
    for path in ["/orders", "/users", "/twice/below"] {
        client.get(path).bearer("acme").await.assert_status(200);
    }
    for path in ["/orders", "/users", "/twice/below"] {
        client.get(path).bearer("acme").await.assert_status(429);
    }
    // Requests without a user are not counted.
    for _ in 0..9 {
        client.get("/open").await.assert_status(200).assert_no_header("ratelimit-policy");
    }
}

#[tokio::test]
async fn runs_after_middleware_of_its_level_that_sets_the_user() {
    fn finds_user(req: &mut Request) {
        let org = req.headers().get("x-org").and_then(|org| org.to_str().ok().map(str::to_owned));
        req.set_user(org.map(|org| json!({ "org": org, "paid": false })));
    }
    let client = client(routes! {
        "node": { middleware: finds_user, rate_limit: by_plan(), GET: ok },
        "entry": { GET: { ok, rate_limit: by_plan(), middleware: finds_user } },
    });
    for path in ["/node", "/entry"] {
        client.get(path).header("x-org", "a").await.assert_status(200);
        client.get(path).header("x-org", "a").await.assert_status(429);
        client.get(path).header("x-org", "b").await.assert_status(200);
    }
}

// Spec: Limits › Rate limit. Every request counts for an address, authenticated or not.
#[tokio::test]
async fn failed_logins_count_for_the_address() {
    let api = routes! {
        "orders": {
            rate_limit: 3 / MINUTE,
            "mine": { middleware: token(), rate_limit: by_plan(), GET: ok },
        },
    };
    let client = client(api);
    client.get("/orders/mine").bearer("wrong").await.assert_status(401);
    client.get("/orders/mine").bearer("acme").await.assert_status(200);
    client.get("/orders/mine").bearer("wrong").await.assert_status(401);
    client.get("/orders/mine").bearer("acme").await.assert_status(429);
    // The limit by plan has counted only one request.
    let other = client.get("/orders/mine").bearer("acme").peer("203.0.113.7").await;
    other.assert_status(200);
    other.assert_header("ratelimit", "\"route\";r=2;t=60, \"route-2\";r=1;t=60");
}

#[tokio::test]
async fn none_is_not_counted_and_an_error_is_the_response() {
    let limit = RateLimit::by(|req| -> Result<_, ApiError> {
        if req.headers().contains_key("x-internal") {
            return Ok(None);
        }
        let key = req.headers().get("x-key").and_then(|key| key.to_str().ok());
        let key = key.ok_or_else(|| ApiError::new(402, "No plan"))?;
        Ok(Some((key.to_owned(), 1 / HOUR)))
    });
    let client = client(routes! { "x": { GET: { ok, rate_limit: limit } } });
    for _ in 0..3 {
        let internal = client.get("/x").header("x-internal", "1").await;
        internal.assert_status(200).assert_no_header("ratelimit");
        client.get("/x").await.assert_status(402).assert_error("No plan");
    }
    client.get("/x").header("x-key", "a").await.assert_status(200);
    let refused = client.get("/x").header("x-key", "a").await;
    refused.assert_status(429).assert_header("retry-after", "3600");
}

#[tokio::test]
async fn a_request_can_cost_several_units() {
    let limit = RateLimit::by(|req| {
        let cost = req.query().ok()?.get("cost")?.as_str()?.parse().ok()?;
        Some(Charge::new("all", 10 / MINUTE).cost(cost))
    });
    let client = client(routes! { "x": { GET: { ok, rate_limit: limit } } });
    for (cost, status, left) in [
        (5, 200, "\"route\";r=5;t=60"),
        // Cheaper requests still pass.
        (6, 429, "\"route\";r=5;t=60"),
        (4_294_967_295_u32, 429, "\"route\";r=5;t=60"),
        (4, 200, "\"route\";r=1;t=60"),
        (1, 200, "\"route\";r=0;t=60"),
    ] {
        let response = client.get(format!("/x?cost={cost}")).await;
        response.assert_status(status).assert_header("ratelimit", left);
    }
    client.get("/x?cost=0").await.assert_status(200).assert_no_header("ratelimit");
}

#[tokio::test]
async fn a_changed_quota_keeps_the_count() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow] {
        let limit = RateLimit::by(|req| {
            let quota = if req.headers().contains_key("x-paid") { 4 } else { 2 };
            ("org 7", quota / MINUTE)
        });
        let limit = limit.algorithm(algorithm).name("plan");
        let client = client(routes! { "x": { GET: { ok, rate_limit: limit } } });
        let first = client.get("/x").await.header("ratelimit").unwrap();
        assert!(first.starts_with("\"plan\";r=1;"), "{first}");
        client.get("/x").await.assert_status(200);
        client.get("/x").await.assert_status(429);
        let paid = client.get("/x").header("x-paid", "1").await;
        paid.assert_status(200).assert_header("ratelimit-policy", "\"plan\";q=4;w=60");
        client.get("/x").header("x-paid", "1").await.assert_status(200);
        client.get("/x").header("x-paid", "1").await.assert_status(429);
    }
}

/// Addresses in one IPv6 network count as one client, as in other limits.
#[tokio::test]
async fn an_address_counts_as_its_network() {
    let limit = RateLimit::by(|req| Some((req.client_ip()?, 1 / MINUTE)));
    let client = client(routes! { "x": { GET: { ok, rate_limit: limit } } });
    client.get("/x").peer("2001:db8::1").await.assert_status(200);
    client.get("/x").peer("2001:db8::2").await.assert_status(429);
    client.get("/x").peer("2001:db8:0:1::1").await.assert_status(200);
}

#[tokio::test]
async fn a_quota_of_zero_and_a_panic_reject_every_request() {
    let zero = RateLimit::by(|_| ("all", 0 / MINUTE));
    let panics = RateLimit::by(|req| -> Option<Charge> {
        req.headers().get("x-missing").expect("the header is there");
        None
    });
    let client = client(routes! {
        "zero": { GET: { ok, rate_limit: zero } },
        "panics": { GET: { ok, rate_limit: panics } },
    });
    client.get("/zero").await.assert_status(500);
    client.get("/panics").await.assert_status(500);
}

#[tokio::test]
async fn with_rate_limit_accepts_it_and_false_removes_it() {
    let shared = with_rate_limit(RateLimit::by(|_| ("all", 1 / MINUTE)));
    let client = client(routes! {
        "a": { GET: { ok, middleware: shared.clone() } },
        "b": { GET: { ok, middleware: shared } },
        "limited": {
            rate_limit: RateLimit::by(|_| ("all", 1 / MINUTE)),
            "free": { GET: { ok, rate_limit: false } },
            "x": { GET: ok },
        },
    });
    client.get("/a").await.assert_status(200);
    client.get("/b").await.assert_status(429);
    for _ in 0..3 {
        client.get("/limited/free").await.assert_status(200).assert_no_header("ratelimit");
    }
    client.get("/limited/x").await.assert_status(200);
    client.get("/limited/x").await.assert_status(429);
}

#[test]
fn a_limit_in_a_list_must_come_after_authentication() {
    let api = routes! { "x": { GET: { ok, middleware: [Middleware::new(with_rate_limit(by_plan())), token()] } } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
    assert!(error.contains("put `with_auth` first"), "{error}");
}

#[test]
fn the_map_lists_it_without_a_quota() {
    let api = routes! { "x": { GET: { ok, rate_limit: by_plan().name("plan") } } };
    let app = create_router(api, RouterOptions::new().rate_limit(false)).build().unwrap();
    let map = app.route_map();
    let rate = &map.routes[0].limits.rate;
    assert_eq!((rate[0].name.as_str(), rate[0].limit), ("plan", None));
}

/// A store that counts in memory with its own quota.
struct Generous(RateLimitPolicy, MemoryRateStore);

impl RateStore for Generous {
    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        _: &'a RateLimitPolicy,
        now: Duration,
    ) -> ChargeOutcome<'a> {
        self.1.charge(key, &self.0, now)
    }
}

/// The header used to show `q=60` next to `r=599`.
#[tokio::test]
async fn the_policy_shows_the_quota_of_a_store() {
    let store = || {
        let policy = RateLimitPolicy::new("plan", 600 / MINUTE).unwrap();
        let memory = MemoryRateStore::new(Algorithm::FixedWindow, 100);
        RateLimit::from(60 / MINUTE).store(Arc::new(Generous(policy, memory)))
    };
    let of_router = RouterOptions::new().rate_limit(store());
    let of_route = routes! { "x": { GET: { ok, rate_limit: store() } } };
    let clients =
        [TestClient::new(create_router(routes! { "x": { GET: ok } }, of_router)), client(of_route)];
    for client in clients {
        let response = client.get("/x").await;
        let policy = response.header("ratelimit-policy").unwrap();
        assert!(policy.ends_with(";q=600;w=60"), "{policy}");
        assert!(response.header("ratelimit").unwrap().ends_with(";r=599;t=60"));
    }
}

/// A store that decides later, like a store across the network.
struct Later(MemoryRateStore);

impl RateStore for Later {
    fn waits(&self) -> bool {
        true
    }

    fn charge<'a>(
        &'a self,
        key: &'a RateKey,
        policy: &'a RateLimitPolicy,
        now: Duration,
    ) -> ChargeOutcome<'a> {
        let decision: Decision = self.0.decide(key, policy, now);
        ChargeOutcome::Pending(Box::pin(async move { Ok(decision) }))
    }
}

#[tokio::test]
async fn works_with_a_store_that_waits() {
    let store = Later(MemoryRateStore::new(Algorithm::FixedWindow, 100));
    let limit = RateLimit::by(|_| Charge::new("all", 5 / MINUTE).cost(2));
    let limit = limit.store(Arc::new(store));
    let clock = TestClock::new();
    let api = routes! { "x": { GET: { ok, rate_limit: limit } } };
    let options = RouterOptions::new().rate_limit(false).clock(clock.for_router());
    let client = TestClient::new(create_router(api, options));
    client.get("/x").await.assert_status(200).assert_header("ratelimit", "\"route\";r=3;t=60");
    client.get("/x").await.assert_status(200);
    client.get("/x").await.assert_status(429);
    clock.advance(Duration::from_secs(60));
    client.get("/x").await.assert_status(200);
}
