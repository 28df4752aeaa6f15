//! [`RateLimiter`]: a rate limit, built.
//!
//! Hot: [`RateLimiter::charge`] with the store in memory allocates nothing.

use std::fmt;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use http::HeaderMap;
use stockade_core::Request;

use super::decision::Decision;
use super::headers::write_headers;
use super::key::RateKey;
use super::options::KeyGenerator;
use super::quota::Policy;
use super::store::{Charge, RateStore};

/// A rate limit that counts; a clone counts in the same place.
#[derive(Clone)]
pub struct RateLimiter {
    policy: Policy,
    store: Arc<dyn RateStore>,
    key_generator: Option<Arc<KeyGenerator>>,
    legacy_headers: bool,
    start: Instant,
    warned: Arc<Warned>,
}

/// Which warnings were given.
#[derive(Default)]
struct Warned {
    no_client: AtomicBool,
    no_key: AtomicBool,
}

impl RateLimiter {
    pub(super) fn new(
        policy: Policy,
        store: Arc<dyn RateStore>,
        key_generator: Option<Arc<KeyGenerator>>,
        legacy_headers: bool,
        start: Instant,
    ) -> Self {
        let warned = Arc::default();
        Self { policy, store, key_generator, legacy_headers, start, warned }
    }

    /// Whether the store may have to wait.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.store.waits()
    }

    /// Who is charged for a request: the answer of the key generator if there
    /// is one, else the client's address, else the key that all requests
    /// without one share.
    ///
    /// The first generator that fails and the first client that is missing are
    /// logged, once for each limiter.
    #[must_use]
    pub fn key(&self, req: &Request, client: Option<IpAddr>) -> RateKey {
        if let Some(text) = self.key_generator.as_deref().and_then(|own| self.generate(own, req)) {
            return RateKey::text(text);
        }
        if client.is_none() {
            warn_once(&self.warned.no_client, || {
                "requests without a peer address share one rate limit".to_owned()
            });
        }
        client.into()
    }

    fn generate(&self, generator: &KeyGenerator, req: &Request) -> Option<String> {
        let generated = catch_unwind(AssertUnwindSafe(|| generator(req)));
        let reason = match generated {
            Ok(Ok(key)) => return Some(key),
            Ok(Err(error)) => error.message().to_owned(),
            Err(_) => "it panicked".to_owned(),
        };
        warn_once(&self.warned.no_key, || {
            format!("the key generator of a rate limit failed, the address counts: {reason}")
        });
        None
    }

    /// Charges one request to `key`. `now` comes from the clock that gave the
    /// limiter its beginning.
    pub fn charge<'a>(&'a self, key: &'a RateKey, now: Instant) -> Charge<'a> {
        self.store.charge(key, &self.policy, now.saturating_duration_since(self.start))
    }

    /// The quota and its name.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether the older `X-RateLimit-*` headers are wanted.
    #[must_use]
    pub fn has_legacy_headers(&self) -> bool {
        self.legacy_headers
    }

    /// Says what is left; see [`write_headers`].
    pub fn write_headers(&self, decision: Decision, headers: &mut HeaderMap) {
        write_headers(&[(&self.policy, decision)], self.legacy_headers, headers);
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter").field("policy", &self.policy).finish_non_exhaustive()
    }
}

fn warn_once(warned: &AtomicBool, message: impl FnOnce() -> String) {
    if !warned.load(Ordering::Relaxed) && !warned.swap(true, Ordering::Relaxed) {
        log::warn!(target: "stockade", "{}", message());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use stockade_core::ApiError;

    use super::super::options::RateLimit;
    use super::*;

    fn request() -> Request {
        Request::from(http::Request::get("/").header("x-user", "ann").body(()).unwrap())
    }

    fn decide(limiter: &RateLimiter, key: &RateKey, now: Instant) -> Decision {
        match limiter.charge(key, now) {
            Charge::Now(decision) => decision,
            Charge::Later(_) => panic!("the store is in memory"),
        }
    }

    #[test]
    fn the_key_is_generated_or_the_client() {
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
    fn a_generator_that_panics_is_the_client() {
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
}
