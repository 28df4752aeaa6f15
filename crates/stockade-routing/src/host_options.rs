//! [`HostOptions`]: the router options that a server or a host can override.
// Spec: Router options.

use std::sync::{Arc, Weak};

use serde::Deserialize;
use stockade_core::{IntoSetting, Setting};
use stockade_errors::ConfigError;
use stockade_stages::rate_limit::RateLimiter;
use stockade_stages::rate_limit::notation::rate_limit_setting;
use stockade_stages::{CorsOrigin, RateLimit, TrustProxy};

use crate::app::{App, Resolved, warn_if_exposed};
use crate::settings::{HostSettings, RouteSettings};
use crate::stages::{StageRules, Stages, in_rate_limit};

/// The options of a server or a host that override the options of the router,
/// by [`App::with_options`](crate::App::with_options).
///
/// In a configuration file, `true` for `rate_limit` means the limit of the
/// router, or the default limit if the router does not have one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Raw")]
pub struct HostOptions {
    /// The route setting that a host overrides: `max_body`.
    pub(crate) settings: RouteSettings,
    pub(crate) host: HostSettings,
    /// The limit that replaces the router's limit. All clones of the options
    /// share its counts.
    rate_limit: Setting<Arc<RateLimiter>>,
    /// The limit for `true` if the router does not have a limit.
    fallback: Option<Arc<RateLimiter>>,
    /// The configuration error in the rate limit.
    in_limit: Option<ConfigError>,
    /// All configuration errors.
    mistake: Option<ConfigError>,
}

/// The form in a configuration file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Raw {
    #[serde(alias = "exposeErrors")]
    expose_errors: Option<bool>,
    #[serde(alias = "maxBody", alias = "max_body_size", alias = "maxBodySize")]
    max_body: Option<u64>,
    #[serde(alias = "trustProxy")]
    trust_proxy: Option<TrustProxy>,
    #[serde(alias = "corsOrigin", deserialize_with = "CorsOrigin::given")]
    cors_origin: Option<CorsOrigin>,
    #[serde(alias = "rateLimit", deserialize_with = "rate_limit_setting")]
    rate_limit: Setting<RateLimit>,
}

impl TryFrom<Raw> for HostOptions {
    type Error = ConfigError;

    fn try_from(raw: Raw) -> Result<Self, ConfigError> {
        let Raw { expose_errors, max_body, trust_proxy, cors_origin, rate_limit } = raw;
        let host = HostSettings { expose_errors, trust_proxy, cors_origin };
        let mut options = Self { host, ..Self::default() };
        options.settings.endpoint.max_body = max_body;
        let options = options.rate_limit(rate_limit);
        match options.issue() {
            Some(mistake) => Err(mistake.clone()),
            None => Ok(options),
        }
    }
}

impl HostOptions {
    /// Creates options that override nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Overrides [`RouterOptions::expose_errors`](crate::RouterOptions::expose_errors).
    #[must_use]
    pub fn expose_errors(mut self, expose_errors: bool) -> Self {
        self.host.expose_errors = Some(expose_errors);
        self
    }

    /// Overrides [`RouterOptions::max_body`](crate::RouterOptions::max_body),
    /// in bytes. A limit of the route itself, or of a node or a group around
    /// it, still counts.
    #[must_use]
    #[doc(alias = "maxBodySize")]
    pub fn max_body(mut self, bytes: u64) -> Self {
        self.settings.endpoint.max_body = Some(bytes);
        self
    }

    /// Sets [`max_body`](Self::max_body) by the name in the specification.
    #[must_use]
    pub fn max_body_size(self, bytes: u64) -> Self {
        self.max_body(bytes)
    }

    /// Overrides
    /// [`RouterOptions::trust_proxy`](crate::RouterOptions::trust_proxy), and
    /// accepts the same values. A malformed network is a [configuration
    /// error](Self::issue).
    #[must_use]
    pub fn trust_proxy(mut self, trust_proxy: impl Into<TrustProxy>) -> Self {
        self.host.trust_proxy = Some(trust_proxy.into());
        self.note_mistakes();
        self
    }

    /// Updates the configuration errors after a change of an option.
    fn note_mistakes(&mut self) {
        let in_proxies = self.host.trust_proxy.as_ref().and_then(|trust| trust.check().err());
        let all = self.in_limit.iter().chain(&in_proxies).flat_map(ConfigError::issues);
        self.mistake = ConfigError::check(all.cloned().collect()).err();
    }

    /// Overrides
    /// [`RouterOptions::cors_origin`](crate::RouterOptions::cors_origin). The
    /// other CORS rules are the rules of the router; if the router has none,
    /// there are none. A route with its own rules keeps them.
    #[must_use]
    pub fn cors_origin(mut self, cors_origin: impl Into<CorsOrigin>) -> Self {
        self.host.cors_origin = Some(cors_origin.into());
        self
    }

    /// Overrides
    /// [`RouterOptions::rate_limit`](crate::RouterOptions::rate_limit), and
    /// accepts the same values. `false` means no limit. `true` is the limit of
    /// the router, or the default limit if the router does not have one. A
    /// limit has separate counts but uses the router's clock; applications with
    /// clones of these options share its counts.
    ///
    /// A limit or a window of 0 is a [configuration error](Self::issue).
    #[must_use]
    #[doc(alias = "rateLimit")]
    pub fn rate_limit(mut self, limit: impl IntoSetting<RateLimit>) -> Self {
        self.set_rate_limit(limit.into_setting());
        self
    }

    fn set_rate_limit(&mut self, limit: Setting<RateLimit>) {
        self.in_limit = None;
        let built = |limit: &RateLimit| limit.build().map(Arc::new);
        let outcome = match limit {
            Setting::Value(limit) => built(&limit).map(Setting::Value),
            Setting::On => built(&RateLimit::default()).map(|limiter| {
                self.fallback = Some(limiter);
                Setting::On
            }),
            Setting::Off => Ok(Setting::Off),
            Setting::Inherit => Ok(Setting::Inherit),
        };
        match outcome {
            Ok(limit) => self.rate_limit = limit,
            Err(mistake) => self.in_limit = Some(in_rate_limit(&mistake)),
        }
        self.note_mistakes();
    }

    /// Returns the configuration error in these options, if there is one. A
    /// server reports it when it is created, and
    /// [`App::with_options`](crate::App::with_options) fails with it.
    #[must_use]
    pub fn issue(&self) -> Option<&ConfigError> {
        self.mistake.as_ref()
    }

    /// Returns the stages of a router with these options applied.
    fn stages(self, stages: &Stages) -> Result<Stages, ConfigError> {
        let mut rules = StageRules::clone(stages);
        rules.limiter = self.limiter(stages.limiter.as_ref())?;
        if let Some((cors, origin)) = rules.cors.as_mut().zip(self.host.cors_origin) {
            *cors = Arc::new(cors.with_origin(&origin));
        }
        if let Some(trust) = self.host.trust_proxy {
            rules.trust = trust;
        }
        Ok(Stages::new(rules))
    }

    /// Applies these options to the rate limit of the router.
    fn limiter(
        &self,
        router: Option<&Arc<RateLimiter>>,
    ) -> Result<Option<Arc<RateLimiter>>, ConfigError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        Ok(match &self.rate_limit {
            Setting::Inherit => router.cloned(),
            Setting::Off => None,
            Setting::On => router.or(self.fallback.as_ref()).cloned(),
            Setting::Value(limiter) => Some(Arc::clone(limiter)),
        })
    }
}

impl App {
    /// Returns an application with the same routes and these options. An option
    /// that is not set keeps its value.
    ///
    /// Servers and hosts call this once, when they are created. The
    /// applications share routes, handlers, state and counters. Everything that
    /// depends on the options is prepared again.
    ///
    /// ```
    /// use stockade::{HostOptions, Router};
    ///
    /// let app = Router::new().build()?;
    /// let behind_a_proxy = app.with_options(HostOptions::new().trust_proxy(1))?;
    /// assert!(behind_a_proxy.trusts_proxy() && !app.trusts_proxy());
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the [configuration error](HostOptions::issue) in the options.
    pub fn with_options(&self, options: HostOptions) -> Result<Self, ConfigError> {
        let mut settings = self.resolved.settings;
        let expose_errors = options.host.expose_errors.or(self.resolved.expose_errors);
        if let Some(expose) = options.host.expose_errors {
            settings.expose_errors = expose;
            warn_if_exposed(settings);
        }
        let max_body = options.settings.endpoint.max_body.unwrap_or(self.resolved.max_body);
        let stages = options.stages(&self.resolved.stages)?;
        let routes = Arc::clone(&self.resolved.routes);
        let error_handler = self.resolved.error_handler.clone();
        let languages = self.resolved.languages.clone();
        let resolved = Resolved {
            routes,
            settings,
            expose_errors,
            error_handler,
            languages,
            stages,
            max_body,
            this: Weak::new(),
        };
        Ok(Self { resolved: resolved.shared() })
    }
}
