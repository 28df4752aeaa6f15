//! The built-in stages: the work of a router for every request, with or without
//! a route. They can be configured and switched off, but not reordered.
//!
//! | stage | before or after the routes |
//! |---|---|
//! | the client's address | before |
//! | CORS preflights | before, and not charged to the rate limit |
//! | the rate limit | before anything of the request is read |
//! | request ids, access log, metrics, spans | before, and until the end of the response |
//! | security headers, CORS headers, rate limit headers | after, on every response except a protocol switch |
// Spec: Router options; Response headers; Limits.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use http::HeaderValue;
use stockade_core::page_headers::PageHeaders;
use stockade_core::{LocalPeer, Request, Response, RouteDescription, upgrade};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_stages::client_address_internals::{
    client_address, client_behind_local_peer, trusted_proxies, warn_untrusted,
};
use stockade_stages::cors::CorsDecided;
use stockade_stages::cors::policy_internals::{Cors, origin_of};
use stockade_stages::observation::{Observation, Observers};
use stockade_stages::rate_limit::meter::Meter;
use stockade_stages::rate_limit::{ChargeOutcome, Decision, RateKey, RateLimiter};
use stockade_stages::{SecurityHeaders, TrustProxy};

use crate::head_sink::HeadSink;
use crate::prepared_headers::PreparedHeaders;
use stockade_core::Clock;

/// The rules of the stages of a router.
#[derive(Clone)]
pub(crate) struct StageRules {
    pub(crate) security: SecurityHeaders,
    pub(crate) cors: Option<Arc<Cors>>,
    pub(crate) limiter: Option<Arc<RateLimiter>>,
    pub(crate) trust: TrustProxy,
    /// `None` if no request is observed, which costs one branch.
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) clock: Clock,
    /// The distinct lists of response headers that other origins may read. The
    /// first has number 1.
    pub(crate) pages: Arc<[Arc<PageHeaders>]>,
}

/// The stages of a router, prepared once.
pub(crate) struct Stages {
    rules: StageRules,
    /// True after the warning about an untrusted proxy: [`WARNED`], except in a
    /// test.
    warned: &'static AtomicBool,
    /// The prepared headers, first for the default list, then for the lists in
    /// `pages`. Contains only the default list if the headers do not depend on
    /// the route.
    pub(crate) prepared: Box<[PreparedHeaders]>,
}

impl Deref for Stages {
    type Target = StageRules;

    fn deref(&self) -> &StageRules {
        &self.rules
    }
}

impl Stages {
    pub(crate) fn new(rules: StageRules) -> Self {
        let mut stages = Self { rules, warned: &WARNED, prepared: Box::default() };
        stages.prepare();
        stages
    }

    /// Determines the client and the rules for a request with a known route,
    /// and begins its observation: name, access log, counters.
    pub(crate) fn enter(&self, req: &mut Request) -> RequestScope {
        self.find_client(req);
        let mut scope = self.scope_of(req);
        if let Some(observers) = &self.observers {
            scope.observation = observers.enter(req).map(Box::new);
        }
        scope
    }

    /// Determines the client of this request.
    pub(crate) fn find_client(&self, req: &mut Request) {
        let client = self.client(req);
        req.set_client_ip(client);
    }

    fn client(&self, req: &Request) -> Option<IpAddr> {
        let peer = req.peer().map(|peer| peer.0.ip());
        if peer.is_none() && req.extensions().get::<LocalPeer>().is_some() {
            warn_untrusted(req.headers(), &self.trust, self.warned);
            return client_behind_local_peer(req.headers(), &self.trust);
        }
        if self.trust.is_set() {
            return client_address(peer, req.headers(), &self.trust);
        }
        warn_untrusted(req.headers(), &self.trust, self.warned);
        // `Request::client_ip` then returns the peer. Copying its address took
        // 60 instructions for each request.
        None
    }

    /// Describes the headers and the error responses of the stages for a route.
    /// `cors` are the CORS rules of the route, if it has its own.
    pub(crate) fn describe(
        &self,
        cors: Option<&Arc<Cors>>,
        is_charged: bool,
        doc: &mut RouteDescription,
    ) {
        if let Some(cors) = cors.or(self.cors.as_ref()) {
            doc.stage("CORS", |doc| cors.describe(doc));
        }
        if let Some(observers) = &self.observers {
            doc.stage("request id", |doc| observers.describe(doc));
        }
        if let Some(limiter) = self.limiter.as_ref().filter(|_| is_charged) {
            doc.stage("rate limit", |doc| limiter.describe(doc));
        }
    }

    /// Returns the log and the metrics, if requests are observed.
    pub(crate) fn observers(&self) -> Option<&Arc<Observers>> {
        self.observers.as_ref()
    }

    /// Returns the security headers.
    pub(crate) fn security_headers(&self) -> &SecurityHeaders {
        &self.security
    }

    /// Returns the clock of the router.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns true if a proxy is trusted.
    pub(crate) fn trusts_proxy(&self) -> bool {
        self.trust.is_set()
    }

    /// Returns the trusted proxies, as configured.
    pub(crate) fn trusted_proxies(&self) -> Vec<String> {
        trusted_proxies(&self.trust)
    }

    /// Returns true if a peer without an address is trusted.
    pub(crate) fn trusts_local_peer(&self) -> bool {
        self.trust.trusts_local_peer()
    }

    /// Determines the rules for a request that do not depend on the client.
    fn scope_of(&self, req: &Request) -> RequestScope {
        let mut scope = RequestScope {
            own_cors: None,
            page: 0,
            origin: None,
            charged: None,
            meter: None,
            observation: None,
        };
        if let Some(cors) = &self.cors {
            scope.read_origin(cors, req);
        }
        scope
    }

    /// Returns true if the headers of a response depend on its route.
    fn exposes_by_route(&self) -> bool {
        self.cors.as_ref().is_some_and(|cors| cors.exposes_by_route())
    }

    /// Returns the list with this number, or `None` for the default list.
    fn page(&self, number: u16) -> Option<&PageHeaders> {
        self.pages.get(usize::from(number).checked_sub(1)?).map(|page| &**page)
    }

    /// Prepares the headers of most responses.
    fn prepare(&mut self) {
        let origins = self.cors.as_ref().map_or(0, |cors| cors.origins().len());
        let lists = self.pages.len().min(MAX_PREPARED / (origins + 1));
        let lists = if self.exposes_by_route() { lists } else { 0 };
        let numbers = 0..=u16::try_from(lists).unwrap_or(0);
        self.prepared = numbers.map(|page| PreparedHeaders::prepare(self, page)).collect();
    }

    /// Returns the CORS rules that apply to a request.
    pub(crate) fn cors_of<'s>(&'s self, scope: &'s RequestScope) -> Option<&'s Cors> {
        scope.own_cors.as_deref().or(self.cors.as_deref())
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Stores the last decision of the rate limit about a part of the request,
    /// for the headers of the response.
    #[inline]
    pub(crate) fn note_parts(&self, scope: &mut RequestScope) {
        if let Some((meter, limiter)) = scope.meter.take().zip(self.limiter.as_ref()) {
            scope.charged = meter.passed(limiter).or(scope.charged);
        }
    }

    /// Adds the headers of every response except a protocol switch. Prepared
    /// headers are written to `sink`, if there is one.
    #[inline]
    pub(crate) fn finish_headers(
        &self,
        response: &mut Response,
        scope: &RequestScope,
        sink: Option<&HeadSink>,
    ) {
        if !self.security.is_empty() || self.cors.is_some() || !scope.is_bare() {
            self.add_headers(response, scope, sink);
        }
    }

    fn add_headers(&self, response: &mut Response, scope: &RequestScope, sink: Option<&HeadSink>) {
        if upgrade::switches(response) {
            // A protocol switch only has the headers of the handshake.
            return;
        }
        let page = if scope.page != 0 && self.exposes_by_route() { scope.page } else { 0 };
        let prepared = self.prepared.get(usize::from(page));
        if !prepared.is_some_and(|prepared| prepared.add(self, response, scope, sink)) {
            self.write_headers(response, scope);
        }
    }

    /// Adds the headers one by one.
    pub(crate) fn write_headers(&self, response: &mut Response, scope: &RequestScope) {
        let headers = response.headers_mut();
        if !self.security.is_empty() {
            // Allocates once, instead of growing step by step.
            headers.reserve(self.security.len() + ROOM);
            self.security.apply(headers);
        }
        if let Some((limiter, decision)) = self.limiter.as_ref().zip(scope.charged) {
            limiter.write_headers(decision, headers);
        }
        let decided = response.extensions().get::<CorsDecided>().is_some();
        let headers = response.headers_mut();
        if let Some(cors) = self.cors_of(scope).filter(|_| !decided) {
            // Runs last, because it exposes the headers that are already
            // present.
            cors.apply(scope.origin.as_ref(), headers, self.page(scope.page));
        }
        if let Some(observation) = &scope.observation {
            observation.name(headers);
        }
    }
}

/// The facts about a request that are needed when its response is finished.
pub(crate) struct RequestScope {
    /// The CORS rules of the route, if they differ from the rules of the
    /// router.
    pub(crate) own_cors: Option<Arc<Cors>>,
    /// The number of the list of headers that other origins may read.
    pub(crate) page: u16,
    /// Only set if the response depends on it.
    pub(crate) origin: Option<HeaderValue>,
    /// The decision of the router's rate limit.
    pub(crate) charged: Option<Decision>,
    /// Counts the parts of the request, if it may have some.
    pub(crate) meter: Option<Arc<Meter>>,
    /// Boxed, so a request without an observation is not larger.
    pub(crate) observation: Option<Box<Observation>>,
}

impl RequestScope {
    /// Applies the CORS rules of a route.
    pub(crate) fn follow(&mut self, cors: Arc<Cors>, req: &Request) {
        self.read_origin(&cors, req);
        self.own_cors = Some(cors);
    }

    /// Stores the origin of a request, if these rules make the response depend
    /// on it.
    fn read_origin(&mut self, cors: &Cors, req: &Request) {
        let origin = cors.reads_origin().then(|| origin_of(req.headers())).flatten();
        self.origin = origin.cloned();
    }

    /// Returns true if the headers of a response do not depend on this request.
    fn is_bare(&self) -> bool {
        self.own_cors.is_none() && self.charged.is_none() && self.observation.is_none()
    }

    /// Runs `work` within the span of the request, if it has one.
    #[inline]
    pub(crate) fn in_span<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        #[cfg(feature = "tracing")]
        if let Some(observation) = self.observation.take() {
            let outcome = observation.in_span(|| work(self));
            self.observation = Some(observation);
            return outcome;
        }
        work(self)
    }

    /// Passes the final response to the access log and the counters.
    pub(crate) fn end(&mut self, response: &mut Response) {
        if let Some(observation) = self.observation.take() {
            observation.leave(response);
        }
    }
}

/// Charges a request, and waits for the store if necessary.
pub(crate) async fn charge(
    limiter: Arc<RateLimiter>,
    key: RateKey,
    now: Instant,
) -> Result<Decision, stockade_core::ApiError> {
    match limiter.charge(&key, now) {
        ChargeOutcome::Ready(decision) => Ok(decision),
        ChargeOutcome::Pending(decision) => Ok(decision.await?),
    }
}

pub(crate) fn key_of(limiter: &RateLimiter, req: &Request) -> RateKey {
    let client: Option<IpAddr> = req.client_ip();
    limiter.key(req, client)
}

pub(crate) fn in_rate_limit(error: &ConfigError) -> ConfigError {
    let mistakes = error.issues().iter();
    let mistakes =
        mistakes.map(|mistake| ConfigIssue::new(format!("rate_limit: {}", mistake.message())));
    // There is at least one issue, otherwise there would be no error.
    ConfigError::check(mistakes.collect()).err().unwrap_or_else(|| error.clone())
}

/// The maximum number of prepared header sets in addition to the default list.
/// Each list needs a set for each origin and one for requests without an
/// origin. A set needs a few KB. Other responses get their headers one by one.
const MAX_PREPARED: usize = 256;

/// For the headers of CORS and of the rate limit.
const ROOM: usize = 6;

/// True after the warning about an untrusted `X-Forwarded-For`, which is logged
/// once per process.
static WARNED: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::RouterOptions;

    #[test]
    fn the_forwarded_header_causes_a_warning() {
        // Any other test may set the flag of the process.
        static OWN: AtomicBool = AtomicBool::new(false);
        let rules = RouterOptions::new().stage_rules(Arc::default()).unwrap();
        let mut stages = Stages::new(rules);
        assert!(std::ptr::eq(stages.warned, &raw const WARNED));
        stages.warned = &OWN;
        let check = |headers: &[(&str, &str)], expected: bool| {
            let mut request = http::Request::get("/");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let mut request = Request::from(request.body(()).unwrap());
            stages.enter(&mut request);
            assert_eq!(OWN.load(Ordering::Relaxed), expected, "{headers:?}");
        };
        check(&[], false);
        check(&[("x-real-ip", "192.0.2.1")], false);
        check(&[("forwarded", "for=192.0.2.1")], true);
    }
}
