//! [`CallOptions`]: the options that a server or a host overrides.
//!
//! Spec: Router options.

use std::sync::Arc;

use serde::Deserialize;
use stockade_errors::__internal::setters;
use stockade_errors::ConfigError;
use stockade_stages::__internal::GivenRateLimit;
use stockade_stages::rate_limit::RateLimiter;
use stockade_stages::{CorsOrigin, RateLimit, TrustProxy};

use crate::stages::in_rate_limit;

/// The options of a server or a host that override those of the router, by
/// [`App::with_options`](crate::App::with_options).
///
/// In a file `true` for `rate_limit` asks for a limit: the router's, or the
/// default if it has none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Raw")]
pub struct CallOptions {
    pub(crate) expose_errors: Option<bool>,
    pub(crate) max_body_size: Option<u64>,
    pub(crate) trust_proxy: Option<TrustProxy>,
    pub(crate) cors_origin: Option<CorsOrigin>,
    rate_limit: LimitOverride,
}

/// The rate limit in the place of the router's. A limiter counts for all clones
/// of the options.
#[derive(Clone, Debug, Default)]
enum LimitOverride {
    #[default]
    Unset,
    Off,
    Own(Arc<RateLimiter>),
    /// Only where the router has none.
    Fallback(Arc<RateLimiter>),
    /// One that cannot be built.
    Mistaken(ConfigError),
}

/// As it stands in a file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Raw {
    #[serde(alias = "exposeErrors")]
    expose_errors: Option<bool>,
    #[serde(alias = "maxBodySize")]
    max_body_size: Option<u64>,
    #[serde(alias = "trustProxy")]
    trust_proxy: Option<TrustProxy>,
    #[serde(alias = "corsOrigin", deserialize_with = "CorsOrigin::given")]
    cors_origin: Option<CorsOrigin>,
    #[serde(alias = "rateLimit")]
    rate_limit: Option<GivenRateLimit>,
}

impl TryFrom<Raw> for CallOptions {
    type Error = ConfigError;

    fn try_from(raw: Raw) -> Result<Self, ConfigError> {
        let Raw { expose_errors, max_body_size, trust_proxy, cors_origin, rate_limit } = raw;
        let mut options =
            Self { expose_errors, max_body_size, trust_proxy, cors_origin, ..Self::default() };
        match rate_limit {
            None => {}
            Some(GivenRateLimit::Switch(false)) => options = options.rate_limit(None),
            // The router's, or the default.
            Some(GivenRateLimit::Switch(true)) => {
                let default = RateLimit::default().build()?;
                options.rate_limit = LimitOverride::Fallback(Arc::new(default));
            }
            Some(GivenRateLimit::Options(limit)) => options = options.rate_limit(*limit),
        }
        match options.mistake() {
            Some(mistake) => Err(mistake.clone()),
            None => Ok(options),
        }
    }
}

impl CallOptions {
    /// Returns options that override nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Overrides [`RouterOptions::expose_errors`](crate::RouterOptions::expose_errors).
        expose_errors: some bool;

        /// Overrides [`RouterOptions::max_body_size`](crate::RouterOptions::max_body_size), in bytes; a limit of the
        /// route itself still counts.
        max_body_size: some u64;

        /// Overrides [`RouterOptions::trust_proxy`](crate::RouterOptions::trust_proxy).
        trust_proxy: some into TrustProxy;

        /// Overrides [`RouterOptions::cors_origin`](crate::RouterOptions::cors_origin), and nothing else: the other
        /// rules of CORS are the router's, and where the router has none
        /// ([`RouterOptions::enable_cors`](crate::RouterOptions::enable_cors)) there are none. A route with rules of
        /// its own keeps them.
        cors_origin: some into CorsOrigin;
    }

    /// Overrides [`RouterOptions::rate_limit`](crate::RouterOptions::rate_limit), and takes the same; `None` for no
    /// limit. It counts apart from the router's, by the router's clock;
    /// applications that are given clones of these options share its counts.
    ///
    /// A limit or a window of 0 is a [mistake](Self::mistake).
    #[must_use]
    #[doc(alias = "rateLimit")]
    pub fn rate_limit(mut self, limit: impl Into<Option<RateLimit>>) -> Self {
        self.rate_limit = match limit.into().map(|limit| limit.build()) {
            Some(Ok(limiter)) => LimitOverride::Own(Arc::new(limiter)),
            Some(Err(mistake)) => LimitOverride::Mistaken(in_rate_limit(&mistake)),
            None => LimitOverride::Off,
        };
        self
    }

    /// Returns the mistake in these options, if there is one. A server reports it
    /// when it is made, and [`App::with_options`](crate::App::with_options) fails with it.
    #[must_use]
    pub fn mistake(&self) -> Option<&ConfigError> {
        match &self.rate_limit {
            LimitOverride::Mistaken(mistake) => Some(mistake),
            _ => None,
        }
    }

    /// Returns the rate limit that these options make of the router's.
    pub(crate) fn limiter(
        &self,
        router: Option<&Arc<RateLimiter>>,
    ) -> Result<Option<Arc<RateLimiter>>, ConfigError> {
        Ok(match &self.rate_limit {
            LimitOverride::Unset => router.cloned(),
            LimitOverride::Off => None,
            LimitOverride::Own(limiter) => Some(Arc::clone(limiter)),
            LimitOverride::Fallback(limiter) => Some(Arc::clone(router.unwrap_or(limiter))),
            LimitOverride::Mistaken(mistake) => return Err(mistake.clone()),
        })
    }
}
