//! The fixed stages: the work of a router for every request, with or without a
//! route. They can be configured and switched off, and never be reordered.
//!
//! | stage | before or after the routes |
//! |---|---|
//! | the client's address | before |
//! | CORS preflights | before, and not charged to the rate limit |
//! | the rate limit | before anything of the request is read |
//! | request ids, access log, metrics, spans | before, and until the end of the response |
//! | security headers, CORS headers, rate limit headers | after, on every response but a switch of protocols |
//!
//! Spec: Router options; Response headers; Limits.

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
    /// The different lists of response headers that pages of other origins may read. The
    /// first has number 1.
    pub(crate) pages: Arc<[Arc<PageHeaders>]>,
}

/// The stages of a router, prepared once.
pub(crate) struct Stages {
    rules: StageRules,
    /// True once an untrusted proxy was warned of: [`WARNED`], but in a test.
    warned: &'static AtomicBool,
    /// One for each list, the default list first. Only the default list if no list
    /// depends on the route.
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

    /// Finds the client and the rules for this request, whose route is known,
    /// and begins to observe it: name, access log, counters.
    pub(crate) fn enter(&self, req: &mut Request) -> RequestScope {
        self.find_client(req);
        let mut scope = self.scope_of(req);
        if let Some(observers) = &self.observers {
            scope.observation = observers.enter(req).map(Box::new);
        }
        scope
    }

    /// Finds the client of this request.
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
        // The peer, whom `Request::client_ip` gives by itself. To copy its address took
        // 60 instructions for each request.
        None
    }

    /// Describes the headers and the refusals of the stages for a route, whose
    /// rules of CORS are `cors` if it has its own.
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

    /// Returns the log and the metrics, if something is noted.
    pub(crate) fn observers(&self) -> Option<&Arc<Observers>> {
        self.observers.as_ref()
    }

    /// Returns the headers of security.
    pub(crate) fn security_headers(&self) -> &SecurityHeaders {
        &self.security
    }

    /// Returns the clock of the router.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns true when a proxy is trusted.
    pub(crate) fn trusts_proxy(&self) -> bool {
        self.trust.is_set()
    }

    /// Returns the proxies that are trusted, as they were configured.
    pub(crate) fn trusted_proxies(&self) -> Vec<String> {
        trusted_proxies(&self.trust)
    }

    /// Returns true when a peer without an address is trusted.
    pub(crate) fn trusts_local_peer(&self) -> bool {
        self.trust.trusts_local_peer()
    }

    /// Finds the rules for a request that do not depend on the client.
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

    /// Returns the list of this number; `None` for the default list.
    fn page(&self, number: u16) -> Option<&PageHeaders> {
        self.pages.get(usize::from(number).checked_sub(1)?).map(|page| &**page)
    }

    /// Prepares the headers of the usual responses.
    fn prepare(&mut self) {
        let origins = self.cors.as_ref().map_or(0, |cors| cors.origins().len());
        let lists = self.pages.len().min(MAX_PREPARED / (origins + 1));
        let lists = if self.exposes_by_route() { lists } else { 0 };
        let numbers = 0..=u16::try_from(lists).unwrap_or(0);
        self.prepared = numbers.map(|page| PreparedHeaders::prepare(self, page)).collect();
    }

    /// Returns the rules of CORS by which a request is answered.
    pub(crate) fn cors_of<'s>(&'s self, scope: &'s RequestScope) -> Option<&'s Cors> {
        scope.own_cors.as_deref().or(self.cors.as_deref())
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Takes over the last decision about a part of the request, for the headers.
    #[inline]
    pub(crate) fn note_parts(&self, scope: &mut RequestScope) {
        if let Some((meter, limiter)) = scope.meter.take().zip(self.limiter.as_ref()) {
            scope.charged = meter.passed(limiter).or(scope.charged);
        }
    }

    /// Adds the headers of every response, but for one that gives the connection
    /// away. Prepared headers go to `sink`, if there is one.
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
            // Its headers are those of the handshake alone.
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
            // The map grows once, and not step by step.
            headers.reserve(self.security.len() + ROOM);
            self.security.apply(headers);
        }
        if let Some((limiter, decision)) = self.limiter.as_ref().zip(scope.charged) {
            limiter.write_headers(decision, headers);
        }
        let decided = response.extensions().get::<CorsDecided>().is_some();
        let headers = response.headers_mut();
        if let Some(cors) = self.cors_of(scope).filter(|_| !decided) {
            // The last one: it exposes headers that are there by now.
            cors.apply(scope.origin.as_ref(), headers, self.page(scope.page));
        }
        if let Some(observation) = &scope.observation {
            observation.name(headers);
        }
    }
}

/// The parts of a request that its response needs when it leaves.
pub(crate) struct RequestScope {
    /// The rules of the route, where it has others than the router.
    pub(crate) own_cors: Option<Arc<Cors>>,
    /// The number of the list of headers that pages of other origins may read.
    pub(crate) page: u16,
    /// Only where the answer depends on it.
    pub(crate) origin: Option<HeaderValue>,
    /// By the limit of the router.
    pub(crate) charged: Option<Decision>,
    /// Counts the parts of the request, if it may have some.
    pub(crate) meter: Option<Arc<Meter>>,
    /// Boxed, so that a request without observation is not larger.
    pub(crate) observation: Option<Box<Observation>>,
}

impl RequestScope {
    /// Goes by the rules of a route.
    pub(crate) fn follow(&mut self, cors: Arc<Cors>, req: &Request) {
        self.read_origin(&cors, req);
        self.own_cors = Some(cors);
    }

    /// Keeps the origin of a request, if the answer by these rules depends on it.
    fn read_origin(&mut self, cors: &Cors, req: &Request) {
        let origin = cors.reads_origin().then(|| origin_of(req.headers())).flatten();
        self.origin = origin.cloned();
    }

    /// Returns true if a response says nothing because of this request.
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

    /// Hands the response to the access log and the counters. It goes out as it
    /// is now.
    pub(crate) fn end(&mut self, response: &mut Response) {
        if let Some(observation) = self.observation.take() {
            observation.leave(response);
        }
    }
}

/// Charges a request, and waits if the store has to.
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
    // There is one, or it would be no error.
    ConfigError::check(mistakes.collect()).err().unwrap_or_else(|| error.clone())
}

/// The number of lists, times the number of origins, for which headers are prepared in
/// addition to the default list. Each takes a few KB. Other responses get their headers
/// one by one.
const MAX_PREPARED: usize = 256;

/// For the headers of CORS and of the rate limit.
const ROOM: usize = 6;

/// The warning that `X-Forwarded-For` is not believed, once for the process.
static WARNED: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::RouterOptions;

    #[test]
    fn forwarded_alone_is_warned_of() {
        // The flag of the process may be set by any other test.
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
