//! [`CallOptions`]: what a server or a host overrides.
//!
//! Spec: Router options.

use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use stockade_errors::ConfigError;
use stockade_middleware::__internal::Cors;
use stockade_middleware::rate_limit::{self, RateLimiter};
use stockade_middleware::{CorsOrigin, RateLimit, TrustProxy};

#[cfg(doc)]
use crate::options::RouterOptions;
use crate::stages::in_rate_limit;

/// Options of a single call or of a server; what is set overrides the router's.
///
/// In a file `true` for `rate_limit` means that there shall be one: the router's,
/// or the default if it has none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Raw")]
#[non_exhaustive]
pub struct CallOptions {
    /// As [`RouterOptions::expose_errors`]. Default: the router's.
    pub expose_errors: Option<bool>,
    /// As [`RouterOptions::max_body_size`]; a limit of the route itself still
    /// counts. Default: the router's.
    pub max_body_size: Option<u64>,
    /// As [`RouterOptions::trust_proxy`]. Default: the router's.
    pub trust_proxy: Option<TrustProxy>,
    cors_origin: Option<Arc<Origin>>,
    rate_limit: Limit,
}

/// Which rate limit counts.
#[derive(Clone, Debug, Default)]
enum Limit {
    #[default]
    OfRouter,
    /// The router's, or this one if it has none.
    Otherwise(Arc<RateLimiter>),
    Own(Arc<RateLimiter>),
    None,
    /// One that cannot be built.
    Wrong(Arc<ConfigError>),
}

/// Another origin for the rules of CORS of a router.
#[derive(Debug)]
struct Origin {
    origin: CorsOrigin,
    /// The rules of the first router that asked, before and after.
    prepared: OnceLock<(Arc<Cors>, Arc<Cors>)>,
}

impl Origin {
    fn over(&self, rules: &Arc<Cors>) -> Arc<Cors> {
        let changed = || Arc::new(rules.with_origin(&self.origin));
        let (before, after) = self.prepared.get_or_init(|| (Arc::clone(rules), changed()));
        if Arc::ptr_eq(before, rules) { Arc::clone(after) } else { changed() }
    }
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
    rate_limit: Option<rate_limit::Given>,
}

impl TryFrom<Raw> for CallOptions {
    type Error = ConfigError;

    fn try_from(raw: Raw) -> Result<Self, ConfigError> {
        let Raw { expose_errors, max_body_size, trust_proxy, cors_origin, rate_limit } = raw;
        let mut options = Self { expose_errors, max_body_size, trust_proxy, ..Self::default() };
        if let Some(origin) = cors_origin {
            options = options.cors_origin(origin);
        }
        match rate_limit {
            None => {}
            Some(rate_limit::Given::Switch(false)) => options = options.rate_limit(None),
            // The router's, or the default.
            Some(rate_limit::Given::Switch(true)) => {
                let default = RateLimit::default().build()?;
                options.rate_limit = Limit::Otherwise(Arc::new(default));
            }
            Some(rate_limit::Given::Options(limit)) => options = options.rate_limit(*limit),
        }
        match options.mistake() {
            Some(mistake) => Err(mistake.clone()),
            None => Ok(options),
        }
    }
}

impl CallOptions {
    /// Nothing is overridden.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Overrides [`RouterOptions::expose_errors`].
    #[must_use]
    pub fn expose_errors(mut self, expose: bool) -> Self {
        self.expose_errors = Some(expose);
        self
    }

    /// Overrides [`RouterOptions::max_body_size`], in bytes.
    #[must_use]
    pub fn max_body_size(mut self, bytes: u64) -> Self {
        self.max_body_size = Some(bytes);
        self
    }

    /// Overrides [`RouterOptions::trust_proxy`].
    #[must_use]
    pub fn trust_proxy(mut self, trust: impl Into<TrustProxy>) -> Self {
        self.trust_proxy = Some(trust.into());
        self
    }

    /// Overrides [`RouterOptions::cors_origin`], and nothing else: the other
    /// rules of CORS are the router's, and where the router has none
    /// ([`RouterOptions::enable_cors`]) there are none. A route with rules of
    /// its own keeps them.
    #[must_use]
    pub fn cors_origin(mut self, origin: impl Into<CorsOrigin>) -> Self {
        let origin = Origin { origin: origin.into(), prepared: OnceLock::new() };
        self.cors_origin = Some(Arc::new(origin));
        self
    }

    /// Overrides [`RouterOptions::rate_limit`], and takes the same; `None` for no
    /// limit. It counts apart from the router's, by the router's clock, and as
    /// long as these options or a clone live.
    ///
    /// A limit or a window of 0 is a [mistake](Self::mistake), which a server
    /// reports when it is made. Elsewhere every request is a 500 that names it.
    #[must_use]
    #[doc(alias = "rateLimit")]
    pub fn rate_limit(mut self, limit: impl Into<Option<RateLimit>>) -> Self {
        self.rate_limit = match limit.into().map(|limit| limit.build()) {
            Some(Ok(limiter)) => Limit::Own(Arc::new(limiter)),
            Some(Err(mistake)) => Limit::Wrong(Arc::new(in_rate_limit(&mistake))),
            None => Limit::None,
        };
        self
    }

    /// Returns what is wrong with these options, if anything is, for hosts.
    #[must_use]
    pub fn mistake(&self) -> Option<&ConfigError> {
        match &self.rate_limit {
            Limit::Wrong(mistake) => Some(mistake),
            _ => None,
        }
    }

    /// Which proxies are trusted, given whom the router trusts.
    pub(crate) fn trust_over<'o>(&'o self, router: &'o TrustProxy) -> &'o TrustProxy {
        self.trust_proxy.as_ref().unwrap_or(router)
    }

    /// The rules of CORS, given the router's.
    pub(crate) fn cors_over(&self, router: &Arc<Cors>) -> Arc<Cors> {
        self.cors_origin.as_ref().map_or_else(|| Arc::clone(router), |own| own.over(router))
    }

    /// The rate limit, given the router's.
    pub(crate) fn limit_over<'o>(
        &'o self,
        router: Option<&'o Arc<RateLimiter>>,
    ) -> Option<&'o Arc<RateLimiter>> {
        match &self.rate_limit {
            Limit::OfRouter => router,
            Limit::Otherwise(limiter) => router.or(Some(limiter)),
            Limit::Own(limiter) => Some(limiter),
            Limit::None | Limit::Wrong(_) => None,
        }
    }
}
