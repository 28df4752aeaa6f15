//! Several rate limits on one route, and stores that fail.
// Spec: Limits › Rate limit; Middleware helpers › `withRateLimit`.

use std::sync::Arc;
use std::time::Duration;

use stockade::StoreError;
use stockade::middleware::rate_limit::{
    ChargeOutcome, RateKey, RateLimitPolicy, RateStore, StoreFailure,
};
use stockade::middleware::{RateLimit, with_rate_limit};
use stockade::prelude::*;

use crate::support::{app, block_on, check, header_of, log, request, show};

#[test]
fn clones_share_their_counts() {
    let limit = with_rate_limit(1 / MINUTE);
    let mut router = Router::new();
    router.get("/a", async || "a").middleware(limit.clone());
    router.get("/b", async || "b").middleware(limit);
    let app = app(router);
    check(&app, "GET /a", "200 a");
    check(&app, "GET /b", r#"429 {"error":"Too Many Requests"}"#);
}

#[test]
fn each_limit_of_a_route_has_a_unique_name() {
    let mut router = Router::new();
    router.group("/group", with_rate_limit(50 / MINUTE), |group| {
        group.get("/free", async || "free");
        group
            .get("/both", async || "both")
            .rate_limit(20 / MINUTE)
            .middleware(with_rate_limit(RateLimit::from(10 / MINUTE).name("own")));
    });
    let app = app(router);
    for (path, expected) in [
        ("/group/free", r#""default";q=100;w=60, "route";q=50;w=60"#),
        (
            "/group/both",
            r#""default";q=100;w=60, "route";q=50;w=60, "route-2";q=20;w=60, "own";q=10;w=60"#,
        ),
    ] {
        let text = format!("GET {path}");
        assert_eq!(header_of(&app, &text, "ratelimit-policy"), expected);
    }
}

#[test]
fn duplicate_names_are_errors() {
    let named = |name| with_rate_limit(RateLimit::from(1 / MINUTE).name(name));
    for (options, second) in [
        (RouterOptions::new(), "login"),
        (RouterOptions::new().rate_limit(RateLimit::new().name("login")), "other"),
    ] {
        let mut router = Router::with_options(options);
        router.get("/x", async || "x").middleware((named("login"), named(second)));
        let error = router.build().unwrap_err().to_string();
        assert!(error.contains("duplicate rate limit name \"login\""), "{error}");
    }
}

/// Returns the limit, the remaining requests and the reset time from the legacy
/// headers.
fn legacy(response: &Response) -> [u64; 3] {
    ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]
        .map(|name| response.headers()[name].to_str().unwrap().parse().unwrap())
}

#[test]
fn the_older_headers_report_the_tightest_limit() {
    async fn fails() -> Result<(), ApiError> {
        Err(ApiError::conflict())
    }
    let limit = |requests| RateLimit::new().max_requests(requests).legacy_headers(true);
    let app = |outside: u32, inside: u32| {
        let mut router = Router::with_options(RouterOptions::new().rate_limit(limit(outside)));
        router.get("/x", async || "x").rate_limit(limit(inside));
        router.get("/fails", fails).rate_limit(limit(inside));
        router.get("/deep", fails).rate_limit(limit(inside)).middleware(with_rate_limit(limit(5)));
        app(router)
    };
    for (outside, inside, path, told) in [
        (100, 10, "/x", [10, 9, 60]),
        (10, 100, "/x", [10, 9, 60]),
        (100, 10, "/fails", [10, 9, 60]),
        (10, 100, "/fails", [10, 9, 60]),
        (100, 10, "/deep", [5, 4, 60]),
        (3, 10, "/deep", [3, 2, 60]),
    ] {
        let response = block_on(app(outside, inside).handle(request(&format!("GET {path}"))));
        assert_eq!(legacy(&response), told, "{outside} {inside} {path}");
    }
    let app = app(100, 1);
    check(&app, "GET /x", "200 x");
    let refused = block_on(app.handle(request("GET /x")));
    assert_eq!((refused.status().as_u16(), legacy(&refused)[..2].to_vec()), (429, vec![1, 0]));
}

/// A store that never responds, or that fails immediately.
struct Broken {
    is_silent: bool,
}

impl RateStore for Broken {
    fn waits(&self) -> bool {
        true
    }

    fn charge<'a>(
        &'a self,
        _: &'a RateKey,
        _: &'a RateLimitPolicy,
        _: Duration,
    ) -> ChargeOutcome<'a> {
        let is_silent = self.is_silent;
        ChargeOutcome::Pending(Box::pin(async move {
            if is_silent {
                std::future::pending::<()>().await;
            }
            Err(StoreError::unavailable("the store is down"))
        }))
    }
}

#[test]
fn a_failing_store_rejects_requests_unless_configured() {
    const UNAVAILABLE: &str = r#"503 {"error":"Service Unavailable"}"#;
    for (is_silent, failure, expected) in [
        (true, StoreFailure::Refuse, UNAVAILABLE),
        (false, StoreFailure::Refuse, UNAVAILABLE),
        (true, StoreFailure::Pass, "200 x"),
        (false, StoreFailure::Pass, "200 x"),
    ] {
        let limit = RateLimit::new()
            .store(Arc::new(Broken { is_silent }))
            .store_timeout(Duration::from_millis(1))
            .on_store_failure(failure);
        let hidden = || RouterOptions::new().expose_errors(false);
        let mut of_router = Router::with_options(hidden().rate_limit(limit.clone()));
        of_router.get("/x", async || "x");
        let mut of_route = Router::with_options(hidden().rate_limit(false));
        of_route.get("/x", async || "x").rate_limit(limit);
        for router in [of_router, of_route] {
            let response = block_on(app(router).handle(request("GET /x")));
            let retry = response.headers().get("retry-after").cloned();
            assert_eq!(retry.is_some_and(|it| it == "1"), expected == UNAVAILABLE);
            assert_eq!(block_on(show(response)), expected, "{is_silent} {failure:?}");
        }
    }
}

#[test]
fn warns_of_an_external_store_without_a_failure_policy() {
    log::watch();
    let limit =
        |name: &str| RateLimit::new().name(name).store(Arc::new(Broken { is_silent: false }));
    for (limit, name, expected) in [
        (limit("unchosen"), "unchosen", 1),
        (limit("chosen").on_store_failure(StoreFailure::Refuse), "chosen", 0),
        (limit("local").on_store_failure(StoreFailure::Local { nodes: 3 }), "local", 0),
        (RateLimit::new().name("memory"), "memory", 0),
    ] {
        let mut router = Router::with_options(RouterOptions::new().rate_limit(limit));
        router.get("/x", async || "x");
        let _app = app(router);
        let lines = log::lines_with(&format!("the rate limit \"{name}\" rejects every request"));
        assert_eq!(lines.len(), expected, "{lines:?}");
    }
}

#[test]
fn rejections_of_a_host_are_charged_to_every_limit() {
    const REFUSED: &str = r#"400 {"error":"no"}"#;
    let refuse = |app: &App| {
        let error = ApiError::new(400, "no");
        block_on(show(block_on(app.refuse(request("GET /x"), error))))
    };
    let with = |limit: RateLimit| {
        let mut router = Router::with_options(RouterOptions::new().rate_limit(limit));
        router.get("/x", async || "x");
        app(router)
    };
    let counted = with(RateLimit::from(2 / MINUTE));
    assert_eq!(refuse(&counted), REFUSED);
    check(&counted, "GET /x", "200 x");
    assert_eq!(refuse(&counted), r#"429 {"error":"Too Many Requests"}"#);
    for (failure, expected) in [
        (StoreFailure::Pass, REFUSED),
        (StoreFailure::Refuse, r#"503 {"error":"Service Unavailable"}"#),
    ] {
        let limit = RateLimit::new().store(Arc::new(Broken { is_silent: false }));
        assert_eq!(refuse(&with(limit.on_store_failure(failure))), expected);
    }
}
