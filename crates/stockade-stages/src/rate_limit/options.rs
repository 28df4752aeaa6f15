//! [`RateLimit`]: the options of a rate limit.
// Spec: Router options › `rateLimit`.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Deserializer};
use stockade_core::{IntoSetting, Request, Setting};
use stockade_errors::__internal::setters;
use stockade_errors::{ApiError, ConfigError, ConfigIssue};

use super::algorithm::Algorithm;
use super::by_request::ByRequest;
use super::limiter::RateLimiter;
use super::memory::MemoryRateStore;
use super::quota::{Quota, RateLimitPolicy};
use super::store::{RateStore, StoreFailure};

/// A function that returns the key of a request.
pub(super) type KeyGenerator = dyn Fn(&Request) -> Result<String, ApiError> + Send + Sync;

/// The options of a rate limit. Default: 100 requests in 60 s.
///
/// The options can be read from a configuration file, with these names or in
/// camel case. The window is `window_ms` there, in milliseconds, and `max` is
/// another name for `max_requests`. An unknown key is an error. Functions and
/// stores are set in code.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::middleware::RateLimit;
///
/// let limiter = RateLimit::new().window(Duration::from_secs(1)).max_requests(5).build()?;
/// assert_eq!(limiter.policy().limit().get(), 5);
/// assert!(RateLimit::new().max_requests(0).build().is_err());
/// # Ok::<(), stockade::ConfigError>(())
/// ```
// Spec: Router options › `rateLimit`; Middleware helpers › `withRateLimit`.
#[derive(Clone, Deserialize)]
#[doc(alias = "rateLimit")]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RateLimit {
    /// The length of a window. 0 is a configuration error; more than a year
    /// counts as a year. Default: 60 s.
    #[serde(rename = "window_ms", alias = "windowMs", deserialize_with = "millis")]
    pub window: Duration,
    /// The number of requests of a client that pass in a window. 0 is a
    /// configuration error. Default: 100.
    #[serde(alias = "maxRequests", alias = "max")]
    pub max_requests: u32,
    /// The algorithm that counts requests. Default: [`Algorithm::FixedWindow`].
    pub algorithm: Algorithm,
    /// The maximum number of keys in the in-memory store; further keys share
    /// 16,384 windows, chosen by a keyed hash. Default: 100,000, which uses
    /// less than 10 MB.
    #[serde(alias = "maxKeys")]
    pub max_keys: usize,
    /// The name of the limit in the headers. Default: `default`.
    pub name: String,
    /// Also sends the older `X-RateLimit-*` headers. Default: false.
    #[serde(alias = "legacyHeaders")]
    pub legacy_headers: bool,
    /// The timeout of an asynchronous store; `None` (in a file `null`) means no
    /// timeout. 0 is a configuration error. Needs tokio's timer. Default: 1 s.
    #[serde(rename = "store_timeout_ms", alias = "storeTimeoutMs", deserialize_with = "patience")]
    pub store_timeout: Option<Duration>,
    /// The treatment of a request if an asynchronous store fails or is too
    /// slow. Default: [`StoreFailure::Refuse`].
    #[serde(alias = "onStoreFailure")]
    pub on_store_failure: StoreFailure,
    /// The function that returns the key, instead of the client's address.
    /// Default: none.
    #[serde(skip)]
    pub(super) key_generator: Option<Arc<KeyGenerator>>,
    /// The function of a [`RequestLimit`](super::RequestLimit) that chooses key
    /// and quota.
    #[serde(skip)]
    pub(super) by_request: Option<ByRequest>,
    /// The store, instead of memory. Default: none.
    #[serde(skip)]
    store: Option<Arc<dyn RateStore>>,
    /// True if the setter was called, even with the default.
    #[serde(skip)]
    is_failure_chosen: bool,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(60),
            max_requests: 100,
            algorithm: Algorithm::FixedWindow,
            max_keys: 100_000,
            name: "default".to_owned(),
            legacy_headers: false,
            store_timeout: Some(Duration::from_secs(1)),
            on_store_failure: StoreFailure::Refuse,
            key_generator: None,
            by_request: None,
            store: None,
            is_failure_chosen: false,
        }
    }
}

impl RateLimit {
    /// Creates options with the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets [`window`](Self#structfield.window).
        #[doc(alias = "windowMs")]
        window: Duration;

        /// Sets [`max_requests`](Self#structfield.max_requests).
        #[doc(alias = "maxRequests")]
        max_requests: u32;

        /// Sets [`algorithm`](Self#structfield.algorithm).
        algorithm: Algorithm;

        /// Sets [`max_keys`](Self#structfield.max_keys).
        max_keys: usize;

        /// Sets [`name`](Self#structfield.name): up to 64 ASCII letters and
        /// digits and `-_.:/`.
        name: into String;

        /// Sets [`legacy_headers`](Self#structfield.legacy_headers).
        legacy_headers: bool;

        /// Sets [`store_timeout`](Self#structfield.store_timeout).
        store_timeout: into Option<Duration>;

        /// Sets the store, which then chooses the algorithm and the number of
        /// keys. By default each limiter has an in-memory store.
        store: some Arc<dyn RateStore>;
    }

    /// Sets [`window`](Self#structfield.window), in milliseconds.
    #[must_use]
    pub fn window_ms(self, millis: u64) -> Self {
        self.window(Duration::from_millis(millis))
    }

    /// Sets a function that returns the key of a request, instead of the
    /// client's address. If the function fails or panics, the client's address
    /// is used.
    ///
    /// The limit of a router calls the function before any middleware runs. The
    /// user is not known there, and the client chooses its headers. The
    /// `rate_limit` of a node or a route with `auth` calls the function after
    /// authentication, so the key may be the user.
    /// [`with_rate_limit`](crate::with_rate_limit) calls it in its position
    /// among the middleware.
    ///
    /// Use [`by`](Self::by) for a limit per user, which also chooses the quota.
    #[must_use]
    #[doc(alias = "keyGenerator")]
    pub fn key_generator(
        mut self,
        generator: impl Fn(&Request) -> Result<String, ApiError> + Send + Sync + 'static,
    ) -> Self {
        self.key_generator = Some(Arc::new(generator));
        self
    }

    /// Builds the limiter. Its time begins with the first request.
    ///
    /// # Errors
    /// Returns the errors of [`RateLimitPolicy::new`]. Also fails for a
    /// `store_timeout` of 0, and for [`StoreFailure::Local`] with 0 processes.
    pub fn build(&self) -> Result<RateLimiter, ConfigError> {
        Ok(RateLimiter::new(self, self.policy()?, None))
    }

    /// Sets [`on_store_failure`](Self#structfield.on_store_failure). If it is
    /// not set for a store that may wait, the build logs a warning: by default,
    /// an outage of the store is an outage of the API.
    #[must_use]
    pub fn on_store_failure(mut self, on_store_failure: StoreFailure) -> Self {
        self.on_store_failure = on_store_failure;
        self.is_failure_chosen = true;
        self
    }

    /// Returns true if the treatment of store failures was set or differs from
    /// the default.
    pub(super) fn has_chosen_failure(&self) -> bool {
        self.is_failure_chosen || self.on_store_failure != StoreFailure::default()
    }

    fn policy(&self) -> Result<RateLimitPolicy, ConfigError> {
        let policy = RateLimitPolicy::new(&self.name, Quota::new(self.max_requests, self.window))?;
        if self.store_timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(ConfigIssue::new("the store timeout of a rate limit must not be 0").into());
        }
        if self.on_store_failure == (StoreFailure::Local { nodes: 0 }) {
            let message = "the number of processes of a local rate limit must not be 0";
            return Err(ConfigIssue::new(message).into());
        }
        Ok(policy)
    }

    /// Returns the configured store, or creates one in memory.
    pub(super) fn place(&self) -> Arc<dyn RateStore> {
        let own = self.store.clone();
        own.unwrap_or_else(|| Arc::new(MemoryRateStore::new(self.algorithm, self.max_keys)))
    }
}

impl RateLimit {
    /// Returns true if the limit chooses its quota for each request.
    #[must_use]
    #[doc(hidden)]
    pub fn depends_on_request(&self) -> bool {
        self.by_request.is_some()
    }

    /// Builds the limiter with `start` as the beginning of its time.
    ///
    /// # Errors
    /// Returns the errors of [`build`](RateLimit::build).
    #[doc(hidden)]
    pub fn build_at(&self, start: Instant) -> Result<RateLimiter, ConfigError> {
        Ok(RateLimiter::new(self, self.policy()?, Some(start)))
    }

    /// Returns true if a function returns the key, instead of the client's address.
    #[must_use]
    #[doc(hidden)]
    pub fn has_key_generator(&self) -> bool {
        self.key_generator.is_some()
    }

    /// Returns true if all options have their defaults.
    #[must_use]
    #[doc(hidden)]
    pub fn is_default(&self) -> bool {
        let Self {
            window,
            max_requests,
            algorithm,
            max_keys,
            name,
            legacy_headers,
            store_timeout,
            on_store_failure,
            key_generator,
            by_request,
            store,
            is_failure_chosen: _,
        } = self;
        let default = Self::default();
        *window == default.window
            && *max_requests == default.max_requests
            && *algorithm == default.algorithm
            && *max_keys == default.max_keys
            && *name == default.name
            && *legacy_headers == default.legacy_headers
            && *store_timeout == default.store_timeout
            && *on_store_failure == default.on_store_failure
            && key_generator.is_none()
            && by_request.is_none()
            && store.is_none()
    }
}

/// Creates the default options with this quota.
impl From<Quota> for RateLimit {
    fn from(quota: Quota) -> Self {
        Self::new().window(quota.window).max_requests(quota.limit)
    }
}

impl IntoSetting<Self> for RateLimit {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}

impl IntoSetting<RateLimit> for Quota {
    fn into_setting(self) -> Setting<RateLimit> {
        Setting::Value(self.into())
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("window", &self.window)
            .field("max_requests", &self.max_requests)
            .field("algorithm", &self.algorithm)
            .field("max_keys", &self.max_keys)
            .field("name", &self.name)
            .field("legacy_headers", &self.legacy_headers)
            .field("store_timeout", &self.store_timeout)
            .field("on_store_failure", &self.on_store_failure)
            .finish_non_exhaustive()
    }
}

fn patience<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Duration>, D::Error> {
    Option::<u64>::deserialize(source).map(|millis| millis.map(Duration::from_millis))
}

fn millis<'de, D: Deserializer<'de>>(source: D) -> Result<Duration, D::Error> {
    u64::deserialize(source).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<&str>) {
        let read: Result<RateLimit, _> = serde_json::from_str(json);
        let actual = read.ok().map(|limit| {
            let RateLimit { window, max_requests, algorithm, max_keys, name, .. } = limit;
            format!("{max_requests} in {window:?}, {algorithm:?}, {max_keys} {name}")
        });
        assert_eq!(actual.as_deref(), expected, "{json}");
    }

    #[test]
    fn is_read_in_both_cases_and_missing_fields_are_defaults() {
        check("{}", Some("100 in 60s, FixedWindow, 100000 default"));
        check(r#"{ "windowMs": 1500 }"#, Some("100 in 1.5s, FixedWindow, 100000 default"));
        check(
            r#"{ "maxRequests": 5, "window_ms": 1 }"#,
            Some("5 in 1ms, FixedWindow, 100000 default"),
        );
        check(
            r#"{ "algorithm": "sliding-window", "maxKeys": 7, "name": "x", "legacyHeaders": true }"#,
            Some("100 in 60s, SlidingWindow, 7 x"),
        );
        #[cfg(feature = "gcra")]
        check(r#"{ "algorithm": "gcra" }"#, Some("100 in 60s, Gcra, 100000 default"));
        check(r#"{ "windowMs": 1000, "max": 5 }"#, Some("5 in 1s, FixedWindow, 100000 default"));
        for json in [
            r#"{ "max": 5, "maxRequests": 5 }"#,
            r#"{ "most": 5 }"#,
            r#"{ "maxRequests": -5 }"#,
            r#"{ "algorithm": "x" }"#,
        ] {
            check(json, None);
        }
    }

    #[test]
    fn reads_the_timeout_of_a_store() {
        let read = |json: &str| serde_json::from_str::<RateLimit>(json).unwrap();
        assert_eq!(read("{}").store_timeout, Some(Duration::from_secs(1)));
        assert_eq!(read(r#"{ "storeTimeoutMs": null }"#).store_timeout, None);
        let limit = read(r#"{ "store_timeout_ms": 20, "onStoreFailure": "pass" }"#);
        let expected = (Some(Duration::from_millis(20)), StoreFailure::Pass);
        assert_eq!((limit.store_timeout, limit.on_store_failure), expected);
        let local = read(r#"{ "onStoreFailure": { "local": { "nodes": 3 } } }"#);
        assert_eq!(local.on_store_failure, StoreFailure::Local { nodes: 3 });
    }

    #[test]
    fn zeros_are_configuration_errors() {
        assert!(RateLimit::new().max_requests(0).build().is_err());
        assert!(RateLimit::new().window_ms(0).build().is_err());
        assert!(RateLimit::new().name("").build().is_err());
        assert!(RateLimit::new().store_timeout(Duration::ZERO).build().is_err());
        let nobody = StoreFailure::Local { nodes: 0 };
        assert!(RateLimit::new().on_store_failure(nobody).build().is_err());
        assert!(RateLimit::new().max_keys(0).build().is_ok());
    }
}
