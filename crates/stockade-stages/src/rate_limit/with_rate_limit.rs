//! [`with_rate_limit`]: rate limiting of some routes.
// Spec: Middleware helpers › `withRateLimit`; Limits › `withRateLimit`.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue};
use stockade_core::middleware::form;
use stockade_core::{Clock, IntoMiddleware, Middleware, Next, Request, Response, RouteDescription};
use stockade_errors::{ApiError, ConfigError};

use super::decision::too_many;
use super::meter::Meter;
use super::{
    ChargeOutcome, Decision, Quota, RateLimit, RateLimitPolicy, RateLimiter, RequestLimit,
};

/// Limits the requests of each client to a route, in addition to the limit of
/// the router. Both are charged, and the headers list both.
///
/// Takes a `Quota`, such as `10 / MINUTE`, a [`RateLimit`], or a limit that
/// chooses the quota of each request ([`RateLimit::by`]). A limit without a
/// name is called `route` in the headers, a second one of the same router
/// `route-2`, and so on. Further requests get a 429 with `Retry-After`.
///
/// The client is [`Request::client_ip`], unless the limit has a key generator.
/// Requests without a client share one limit. The clock is the clock of the
/// router. An invalid limit is a configuration error, and so are two limits of
/// a route with the same name.
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::rate_limit::MINUTE;
/// use stockade::middleware::{RateLimit, with_rate_limit};
///
/// let login = with_rate_limit(RateLimit::from(5 / MINUTE).name("login"));
/// assert_eq!(Middleware::new(login).name(), "with_rate_limit");
/// let upload = with_rate_limit(10 / MINUTE);
/// # drop(upload);
/// ```
///
/// Put it after `with_auth` for a limit per user, independent of the client's
/// address:
///
/// ```
/// use stockade::middleware::{RateLimit, UserKey, with_rate_limit};
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// # #[tokio::main]
/// # async fn main() {
/// let known = with_auth(Auth::bearer(async |token: String| Some(json!({ "sub": token }))));
/// // Includes the issuer and the tenant: `sub` alone is not unique.
/// let each = with_rate_limit(RateLimit::by(|req| Some((UserKey::of(req)?, 1 / MINUTE))));
/// let api = routes! { "api": { middleware: [known, each], "rooms": { GET: async || "rooms" } } };
/// # let client = TestClient::new(create_router(api, RouterOptions::new()));
/// client.get("/api/rooms").bearer("ada").await.assert_status(200);
/// client.get("/api/rooms").bearer("ada").peer("203.0.113.7").await.assert_status(429);
/// client.get("/api/rooms").bearer("bob").await.assert_status(200);
/// # }
/// ```
///
/// # Beyond the spec
///
/// A limit and its clones count in one place. Routes that share it through a
/// node of the tree or a group therefore share the limit.
///
/// If a store fails, the response is its error and no request passes uncounted,
/// unless [`RateLimit::on_store_failure`] is set.
// Spec: Middleware helpers › `withRateLimit`.
#[doc(alias = "withRateLimit")]
pub fn with_rate_limit(limit: impl Into<RouteLimit>) -> RouteLimit {
    limit.into()
}

impl From<RateLimit> for RouteLimit {
    fn from(limit: RateLimit) -> Self {
        Self {
            counting: Arc::new(Counting { limit, built: OnceLock::new(), clock: OnceLock::new() }),
            clock: None,
        }
    }
}

impl From<Quota> for RouteLimit {
    fn from(quota: Quota) -> Self {
        RateLimit::from(quota).into()
    }
}

impl From<RequestLimit> for RouteLimit {
    fn from(limit: RequestLimit) -> Self {
        limit.0.into()
    }
}

/// Middleware that limits the requests of each client. Clones share the counts.
#[derive(Clone)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct RouteLimit {
    counting: Arc<Counting>,
    clock: Option<Clock>,
}

/// The state that clones share.
struct Counting {
    limit: RateLimit,
    /// Built when a router describes its routes, otherwise by the first
    /// request.
    built: OnceLock<Result<Arc<RateLimiter>, ConfigError>>,
    /// The clock of the first router with this limit.
    clock: OnceLock<Clock>,
}

/// The names of a router's limits, in the data that its routes share.
#[derive(Clone, Default)]
struct LimitNames {
    taken: HashSet<String>,
    unnamed: u32,
}

impl RouteLimit {
    /// Replaces the clock of the router, for tests that do not wait. The time
    /// must never decrease.
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Some(Clock::new(clock));
        self
    }
}

impl Counting {
    /// Builds the limiter with a unique name within the router.
    fn build(&self, names: &mut LimitNames) -> Result<RateLimiter, ConfigError> {
        if self.limit.name != RateLimit::default().name {
            names.taken.insert(self.limit.name.clone());
            return self.limit.build();
        }
        let name = loop {
            names.unnamed += 1;
            let name = match names.unnamed {
                1 => ROUTE.to_owned(),
                number => format!("{ROUTE}-{number}"),
            };
            if names.taken.insert(name.clone()) {
                break name;
            }
        };
        self.limit.clone().name(name).build()
    }

    fn describe(&self, doc: &mut RouteDescription) {
        if let Some(clock) = doc.common().get::<Clock>() {
            self.clock.get_or_init(|| clock.clone());
        }
        if self.limit.depends_on_request() {
            doc.middleware_reads_user(HELPER);
        }
        let names = doc.common_mut().get_or_insert_default::<LimitNames>();
        match self.built.get_or_init(|| self.build(names).map(Arc::new)) {
            Ok(limiter) => limiter.describe(doc),
            Err(mistakes) => doc.schema_issues(HELPER, mistakes),
        }
    }

    /// # Errors
    /// Fails with 500 if the limit has configuration errors. Only hosts without
    /// our router do not report these earlier.
    fn limiter(&self) -> Result<Arc<RateLimiter>, ApiError> {
        let built = self.built.get_or_init(|| self.build(&mut LimitNames::default()).map(Arc::new));
        built.clone().map_err(ApiError::internal)
    }

    fn now(&self) -> Instant {
        self.clock.get().map_or_else(Instant::now, Clock::now)
    }

    /// Returns the clock, which is the system clock outside a router.
    fn shared_clock(&self) -> Clock {
        self.clock.get().cloned().unwrap_or_default()
    }
}

impl fmt::Debug for RouteLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouteLimit").field("limit", &self.counting.limit).finish_non_exhaustive()
    }
}

impl IntoMiddleware<form::Ready> for RouteLimit {
    fn into_middleware(self) -> Middleware {
        let Self { counting, clock } = self;
        let described = Arc::clone(&counting);
        Middleware::new(move |req: Request, next: Next| {
            let now = clock.as_ref().map_or_else(|| counting.now(), Clock::now);
            let limiter = counting.limiter();
            let own = || clock.clone().unwrap_or_else(|| counting.shared_clock());
            let meter = req.shared::<Meter>().map(|meter| (meter, own()));
            async move { limited(limiter?, now, req, next, meter).await }
        })
        .named(HELPER)
        .marked(CountsRequests)
        .describing(move |doc| described.describe(doc))
    }
}

/// Marks the middleware of a rate limit.
#[derive(Clone, Copy, Debug)]
pub struct CountsRequests;

/// Charges a request and runs the rest. The `meter` of a request counts its
/// parts.
async fn limited(
    limiter: Arc<RateLimiter>,
    now: Instant,
    req: Request,
    next: Next,
    meter: Option<(Arc<Meter>, Clock)>,
) -> Result<Response, ApiError> {
    let charge = match limiter.charge_of(&req)? {
        ControlFlow::Break(response) => return Ok(response),
        ControlFlow::Continue(None) => return next.try_run(req).await,
        ControlFlow::Continue(Some(charge)) => charge,
    };
    let decision = match charge.charge(&limiter, now) {
        ChargeOutcome::Ready(decision) => decision,
        ChargeOutcome::Pending(decision) => decision.await?,
    };
    let told = |error, decision| told(error, &limiter, charge.policy(&limiter), decision);
    if !decision.allowed {
        return Err(told(too_many(&decision), decision));
    }
    let meter = meter.map(|(meter, clock)| {
        meter.add_charge(Arc::clone(&limiter), charge.clone(), clock, decision);
        meter
    });
    let outcome = next.try_run(req).await;
    let decision = meter.and_then(|meter| meter.passed(&limiter)).unwrap_or(decision);
    match outcome {
        Ok(mut response) => {
            let policy = charge.policy(&limiter);
            limiter.write_headers_of(policy, decision, response.headers_mut());
            Ok(response)
        }
        Err(error) => Err(told(error, decision)),
    }
}

/// Adds the state of the limit to the headers of an error.
fn told(
    error: ApiError,
    limiter: &RateLimiter,
    policy: &RateLimitPolicy,
    decision: Decision,
) -> ApiError {
    // Inner limits have added their headers already.
    let there = error.headers().filter(|(name, _)| TOLD.contains(name));
    let mut headers: HeaderMap = there
        .filter_map(|(name, value)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))
        })
        .collect();
    limiter.write_headers_of(policy, decision, &mut headers);
    TOLD.into_iter().fold(error, |error, name| {
        match headers.get(name).and_then(|value| value.to_str().ok()) {
            Some(value) => error.without_header(name).with_header(name, value),
            None => error,
        }
    })
}

const HELPER: &str = "with_rate_limit";
const ROUTE: &str = "route";
const TOLD: [&str; 5] = [
    "ratelimit-policy",
    "ratelimit",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limit::{MINUTE, RateKey};

    #[test]
    fn each_limit_has_a_unique_name() {
        let mut names = LimitNames::default();
        let mut name = |limit: RateLimit| {
            let limiter = with_rate_limit(limit).counting.build(&mut names).unwrap();
            limiter.policy().name().to_owned()
        };
        assert_eq!(name((1 / MINUTE).into()), "route");
        assert_eq!(name(RateLimit::new().name("login")), "login");
        assert_eq!(name(RateLimit::new().name("route-2")), "route-2");
        assert_eq!(name(RateLimit::new()), "route-3");
    }

    #[test]
    fn clones_share_their_counts() {
        let limit = with_rate_limit(1 / MINUTE);
        let (one, two) = (limit.clone(), limit);
        let now = Instant::now();
        let mut passed = [&one, &two].map(|limit| {
            let limiter = limit.counting.limiter().unwrap();
            match limiter.charge(&RateKey::shared(), now) {
                ChargeOutcome::Ready(decision) => decision.allowed,
                ChargeOutcome::Pending(_) => panic!("the store is in memory"),
            }
        });
        passed.sort_unstable();
        assert_eq!(passed, [false, true]);
    }

    #[test]
    fn an_error_lists_each_limit_that_was_charged() {
        let start = Instant::now();
        let limiter = |name: &str| {
            let limit = RateLimit::from(1 / MINUTE).name(name).legacy_headers(true);
            limit.build_at(start).unwrap()
        };
        let decide = |limiter: &RateLimiter| match limiter.charge(&RateKey::shared(), start) {
            ChargeOutcome::Ready(decision) => decision,
            ChargeOutcome::Pending(_) => panic!("the store is in memory"),
        };
        let (inner, outer) = (limiter("inner"), limiter("outer"));
        decide(&inner);
        let refused = decide(&inner);
        let error = told(too_many(&refused), &inner, inner.policy(), refused);
        let error = told(error, &outer, outer.policy(), decide(&outer));
        let headers: Vec<_> =
            error.headers().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(
            headers,
            [
                "Retry-After: 60",
                "ratelimit-policy: \"outer\";q=1;w=60, \"inner\";q=1;w=60",
                "ratelimit: \"outer\";r=0;t=60, \"inner\";r=0;t=60",
                "x-ratelimit-limit: 1",
                "x-ratelimit-remaining: 0",
                "x-ratelimit-reset: 60",
            ],
        );
    }
}
