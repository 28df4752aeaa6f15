//! [`with_rate_limit`]: a rate limit of some routes.
//!
//! Spec: Middleware helpers › `withRateLimit`; Limits › `withRateLimit`.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;
use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, Middleware, Next, Request, Response};
use stockade_errors::ApiError;

use crate::rate_limit::{Charge, Decision, RateLimit, RateLimiter, too_many};

/// Limits the requests of each client to a route, beside the limit of the
/// router: both are charged, and the headers list both.
///
/// Takes a `Quota`, such as `10 / MINUTE`, or a [`RateLimit`]. Without a name of
/// its own the headers list it as `route`. Further requests are a 429 with
/// `Retry-After`.
///
/// The client is [`Request::client_ip`], unless the limit has a key generator;
/// requests without one share one limit. A mistake in the limit is reported
/// when the router is built.
///
/// ```
/// use stockade_core::Middleware;
/// use stockade_middleware::rate_limit::MINUTE;
/// use stockade_middleware::{RateLimit, with_rate_limit};
///
/// let login = with_rate_limit(RateLimit::from(5 / MINUTE).name("login"));
/// assert_eq!(Middleware::new(login).name(), "with_rate_limit");
/// let upload = with_rate_limit(10 / MINUTE);
/// # drop(upload);
/// ```
///
/// # Beyond the spec
///
/// What is made once counts once: routes that have it in common, because it
/// stands at a node of the tree or in a group, share the limit.
///
/// A store that fails answers with its error: nothing passes uncounted.
///
/// Spec: Middleware helpers › `withRateLimit`.
#[doc(alias = "withRateLimit")]
pub fn with_rate_limit(limit: impl Into<RateLimit>) -> RouteLimit {
    let mut limit = limit.into();
    if limit.name == RateLimit::default().name {
        ROUTE.clone_into(&mut limit.name);
    }
    RouteLimit { limit, clock: Arc::new(Instant::now) }
}

/// Middleware that limits the requests of each client.
#[derive(Clone)]
#[must_use = "it limits nothing until a route or a router has it"]
pub struct RouteLimit {
    limit: RateLimit,
    clock: Arc<Clock>,
}

type Clock = dyn Fn() -> Instant + Send + Sync;

impl RouteLimit {
    /// Takes the time from this function, for tests that do not wait. It must
    /// not go back.
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

impl fmt::Debug for RouteLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouteLimit").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl IntoMiddleware<form::Ready> for RouteLimit {
    fn into_middleware(self) -> Middleware {
        let Self { limit, clock } = self;
        let middleware = match limit.build_at(clock()) {
            Ok(limiter) => {
                let limiter = Arc::new(limiter);
                Middleware::new(move |req: Request, next: Next| {
                    let (limiter, now) = (Arc::clone(&limiter), clock());
                    async move { limited(&limiter, now, req, next).await }
                })
            }
            // It never runs: the router is not built.
            Err(mistakes) => Middleware::new(|_: &mut Request| {})
                .describing(move |doc| doc.schema_mistakes(HELPER, &mistakes)),
        };
        middleware.named(HELPER)
    }
}

async fn limited(
    limiter: &RateLimiter,
    now: Instant,
    req: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = limiter.key(&req, req.client_ip());
    let decision = match limiter.charge(&key, now) {
        Charge::Now(decision) => decision,
        Charge::Later(decision) => decision.await?,
    };
    if !decision.allowed {
        return Err(told(too_many(&decision), limiter, decision));
    }
    match next.try_run(req).await {
        Ok(mut response) => {
            limiter.write_headers(decision, response.headers_mut());
            Ok(response)
        }
        Err(error) => Err(told(error, limiter, decision)),
    }
}

/// The error, with what is left in its headers.
fn told(error: ApiError, limiter: &RateLimiter, decision: Decision) -> ApiError {
    let mut headers = HeaderMap::new();
    limiter.write_headers(decision, &mut headers);
    let is_list = |name: &str| LISTS.contains(&name);
    LISTS.into_iter().chain(LEGACY).fold(error, |error, name| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        // Of the older headers, those of a limit inside of this one stay.
        let taken = !is_list(name) && error.headers().any(|(known, _)| known == name);
        match value {
            Some(value) if !taken => error.with_header(name, value),
            _ => error,
        }
    })
}

const HELPER: &str = "with_rate_limit";
const ROUTE: &str = "route";
const LISTS: [&str; 2] = ["ratelimit-policy", "ratelimit"];
const LEGACY: [&str; 3] = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limit::{MINUTE, RateKey};

    #[test]
    fn it_has_a_name_of_its_own() {
        assert_eq!(with_rate_limit(1 / MINUTE).limit.name, "route");
        assert_eq!(with_rate_limit(RateLimit::new()).limit.name, "route");
        assert_eq!(with_rate_limit(RateLimit::new().name("login")).limit.name, "login");
    }

    #[test]
    fn an_error_lists_each_limit_it_has_passed() {
        let start = Instant::now();
        let limiter = |name: &str| {
            let limit = RateLimit::from(1 / MINUTE).name(name).legacy_headers(true);
            limit.build_at(start).unwrap()
        };
        let decide = |limiter: &RateLimiter| match limiter.charge(&RateKey::shared(), start) {
            Charge::Now(decision) => decision,
            Charge::Later(_) => panic!("the store is in memory"),
        };
        let (inner, outer) = (limiter("inner"), limiter("outer"));
        decide(&inner);
        let refused = decide(&inner);
        let error = told(too_many(&refused), &inner, refused);
        let error = told(error, &outer, decide(&outer));
        let headers: Vec<_> =
            error.headers().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(
            headers,
            [
                "Retry-After: 60",
                "ratelimit-policy: \"inner\";q=1;w=60",
                "ratelimit: \"inner\";r=0;t=60",
                "x-ratelimit-limit: 1",
                "x-ratelimit-remaining: 0",
                "x-ratelimit-reset: 60",
                "ratelimit-policy: \"outer\";q=1;w=60",
                "ratelimit: \"outer\";r=0;t=60",
            ],
        );
    }
}
