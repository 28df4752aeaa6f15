//! [`PreparedHeaders`]: the prepared headers of most responses.
//!
//! Hot: a server that writes text receives the headers as text, which also
//! saves hyper the writing. Other servers receive them in the map, one by one.

use std::time::Duration;

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN, CONNECTION, CONTENT_LENGTH,
    CONTENT_TYPE, DATE, RETRY_AFTER, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use stockade_core::Response;
use stockade_stages::cors::CorsDecided;
use stockade_stages::rate_limit::headers::{LEGACY_REMAINING, RATE_LIMIT};
use stockade_stages::rate_limit::{Decision, RateLimiter};
use stockade_stages::request_id::id_internals::X_REQUEST_ID;
use stockade_stages::request_id::trace_internals::TRACEPARENT;

use crate::head_sink::HeadSink;
use crate::stages::{RequestScope, Stages};

/// The headers of a response that does not have its own headers of these names.
/// [`Stages::write_headers`] generates them, so they equal the headers that it
/// writes.
#[derive(Default)]
pub(crate) struct PreparedHeaders {
    /// By the origin of the request, if the response depends on it; the last
    /// entry is for all other origins. Empty if nothing is prepared.
    lists: Vec<(Option<HeaderValue>, OriginHeaders)>,
}

/// The added headers for one origin.
struct OriginHeaders {
    /// Invariant: `RateLimit` is first, if there is a limit.
    added: HeaderMap,
    /// The same headers as text, except `RateLimit`. `None` if the server needs
    /// one of them in the map.
    lines: Option<Box<[u8]>>,
}

impl PreparedHeaders {
    /// Prepares the headers for responses of routes with the list of response
    /// headers number `page`.
    pub(crate) fn prepare(stages: &Stages, page: u16) -> Self {
        // Without CORS, no origin is listed.
        let origins = stages.cors.as_ref().map(|cors| cors.origins()).unwrap_or_default();
        let origins = origins.iter().take(MAX_ORIGINS).cloned().map(Some).chain([None]);
        let lists =
            origins.map(|origin| Some((origin.clone(), OriginHeaders::new(stages, origin, page)?)));
        // Without prepared headers, each response gets its headers one by one.
        Self { lists: lists.collect::<Option<_>>().unwrap_or_default() }
    }

    /// Adds the headers to this response, or to `sink`. Returns false and adds
    /// nothing if the response does not qualify for prepared headers.
    pub(crate) fn add(
        &self,
        stages: &Stages,
        response: &mut Response,
        scope: &RequestScope,
        sink: Option<&HeadSink>,
    ) -> bool {
        self.try_add(stages, response, scope, sink).is_some()
    }

    fn try_add(
        &self,
        stages: &Stages,
        response: &mut Response,
        scope: &RequestScope,
        sink: Option<&HeadSink>,
    ) -> Option<()> {
        let prepared = self.for_origin(scope.origin.as_ref())?;
        let extensions = response.extensions();
        if !extensions.is_empty() && extensions.get::<CorsDecided>().is_some() {
            return None;
        }
        if scope.own_cors.is_some() {
            return None;
        }
        let charged = match (stages.limiter.as_deref(), scope.charged) {
            (None, _) => None,
            // The prepared policy has the limit of the limiter.
            (Some(limiter), Some(decision))
                if !limiter.has_legacy_headers()
                    && decision.limit == limiter.policy().limit().get() =>
            {
                Some((limiter, decision))
            }
            _ => return None,
        };
        let headers = response.headers_mut();
        if let (Some(sink), Some(text)) = (sink, &prepared.lines) {
            prepared.set(sink, text, headers, charged)?;
        } else {
            let left = match charged {
                Some((limiter, decision)) => Some(limiter.left(decision)?),
                None => None,
            };
            prepared.add_to(headers, left)?;
        }
        if let Some(decision) = scope.charged.filter(|decision| !decision.allowed) {
            headers.insert(RETRY_AFTER, decision.retry_after_seconds().into());
        }
        if let Some(observation) = &scope.observation {
            observation.name(headers);
        }
        Some(())
    }

    fn for_origin(&self, origin: Option<&HeaderValue>) -> Option<&OriginHeaders> {
        let (others, listed) = self.lists.split_last()?;
        let listed = listed.iter().find(|(known, _)| known.as_ref() == origin);
        // An origin that did not fit may still be a listed origin.
        let is_whole = listed.is_some() || self.lists.len() <= MAX_ORIGINS;
        is_whole.then(|| &listed.unwrap_or(others).1)
    }
}

impl OriginHeaders {
    /// Prepares the headers for an origin. Returns `None` if they depend on
    /// more than the origin.
    fn new(stages: &Stages, origin: Option<HeaderValue>, page: u16) -> Option<Self> {
        let mut response = Response::default();
        let limiter = stages.limiter.as_ref();
        let charged = limiter.map(|it| any_decision(it));
        let scope =
            RequestScope { own_cors: None, page, origin, charged, meter: None, observation: None };
        stages.write_headers(&mut response, &scope);
        let written = response.headers_mut();
        // Security headers can have any name.
        let left = limiter.and_then(|limiter| limiter.left(any_decision(limiter)));
        if written.remove(RATE_LIMIT) != left || written.contains_key(CONTENT_TYPE) {
            return None;
        }
        let mut added = HeaderMap::new();
        added.extend(left.map(|left| (RATE_LIMIT, left)));
        append(written, &mut added);
        let has = |name: &HeaderName| written.contains_key(name);
        let is_plain = !OF_THE_MESSAGE.iter().any(has) && !BEHIND.iter().any(has);
        let lines = is_plain.then(|| lines_of(written));
        Some(Self { added, lines })
    }

    /// Sets the headers as text. Returns `None` and sets nothing if the
    /// response itself has one of these headers.
    fn set(
        &self,
        sink: &HeadSink,
        prepared: &[u8],
        own: &HeaderMap,
        charged: Option<(&RateLimiter, Decision)>,
    ) -> Option<()> {
        if self.conflicts_with(own) {
            return None;
        }
        if self.added.is_empty() {
            return Some(());
        }
        sink.set(|text| {
            text.extend_from_slice(prepared);
            if let Some((limiter, decision)) = charged {
                text.extend_from_slice(RATE_LIMIT_NAME);
                limiter.write_left(decision, text);
                text.extend_from_slice(b"\r\n");
            }
        });
        Some(())
    }

    /// Adds the headers. Returns `None` and adds nothing if the response itself
    /// has one of these headers.
    fn add_to(&self, headers: &mut HeaderMap, left: Option<HeaderValue>) -> Option<()> {
        if self.added.is_empty() {
            return Some(());
        }
        if self.conflicts_with(headers) {
            return None;
        }
        append(&self.added, headers);
        if let Some(left) = left {
            headers.insert(RATE_LIMIT, left);
        }
        Some(())
    }

    /// Returns true if a response itself has one of these headers.
    fn conflicts_with(&self, own: &HeaderMap) -> bool {
        // Most responses only have a content type, which is not one of these
        // headers.
        own.keys().any(|own| *own != CONTENT_TYPE && self.says(own))
    }

    /// Returns true if the stages read this header of a response, or write it
    /// themselves.
    fn says(&self, own: &HeaderName) -> bool {
        LOOKED_AT.contains(own) || self.added.contains_key(own)
    }
}

/// Returns headers as lines of HTTP/1.
///
/// Source: RFC 9112, section 5.
fn lines_of(headers: &HeaderMap) -> Box<[u8]> {
    let line = |(name, value): (&HeaderName, &HeaderValue)| {
        [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat()
    };
    headers.iter().flat_map(line).collect()
}

fn append(added: &HeaderMap, headers: &mut HeaderMap) {
    headers.reserve(added.len() + ROOM);
    for (name, value) in added {
        headers.append(name, value.clone());
    }
}

/// Creates a decision of the limiter that allows a request.
fn any_decision(limiter: &RateLimiter) -> Decision {
    Decision::pass(limiter.policy().limit().get(), 0, Duration::ZERO)
}

/// The response headers that affect the decisions of the stages, or that the
/// stages remove.
const LOOKED_AT: [HeaderName; 4] =
    [RATE_LIMIT, LEGACY_REMAINING, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_ALLOW_CREDENTIALS];

/// The headers that frame a message, or that the server writes itself.
const OF_THE_MESSAGE: [HeaderName; 6] =
    [CONNECTION, CONTENT_LENGTH, DATE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// The headers that are written to the map after the prepared headers, and
/// replace existing ones. Security headers can also have these names.
const BEHIND: [HeaderName; 3] = [RETRY_AFTER, X_REQUEST_ID, TRACEPARENT];

/// [`RATE_LIMIT`] at the beginning of a line.
const RATE_LIMIT_NAME: &[u8] = b"ratelimit: ";

/// For `Retry-After` and the id of the request.
const ROOM: usize = 2;

/// The largest number of origins with prepared headers.
const MAX_ORIGINS: usize = 64;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stockade_core::page_headers::PageHeaders;
    use stockade_stages::cors::policy_internals::Cors;
    use stockade_stages::{CorsOptions, RateLimit, SecurityHeaders};

    use super::*;
    use crate::RouterOptions;

    /// `usual` is true if the response gets prepared headers. The headers are
    /// equal in any case.
    #[track_caller]
    fn check(options: &RouterOptions, own: &[(&'static str, &'static str)], usual: bool) {
        for page in [0, 1] {
            check_page(options, own, usual, page);
        }
    }

    fn check_page(
        options: &RouterOptions,
        own: &[(&'static str, &'static str)],
        usual: bool,
        page: u16,
    ) {
        let exposed = Some(HeaderValue::from_static("RateLimit, ETag"));
        let pages =
            PageHeaders { allowed: None, exposed_with_legacy: exposed.clone(), exposed, number: 1 };
        let rules = options.stage_rules(Arc::new([Arc::new(pages)])).unwrap();
        let stages = Stages::new(rules);
        let prepared =
            &stages.prepared[if options.cors_rules().is_some() { usize::from(page) } else { 0 }];
        let other = Arc::new(Cors::new(&CorsOptions::default()));
        for own_cors in [None, Some(other)] {
            for origin in [None, Some("https://b.example"), Some("https://z.example")] {
                for allowed in [None, Some(true), Some(false)] {
                    let retry_after = Duration::from_secs(9);
                    let charged = stages.limiter.as_deref().zip(allowed);
                    let charged = charged.map(|(limiter, allowed)| {
                        let mut decision = any_decision(limiter);
                        (decision.allowed, decision.retry_after) = (allowed, retry_after);
                        decision
                    });
                    let origin = origin.map(HeaderValue::from_static);
                    let is_own = own_cors.is_none();
                    let is_charged = stages.limiter.is_none() || allowed.is_some();
                    let own_cors = own_cors.clone();
                    let scope = RequestScope {
                        own_cors,
                        page,
                        origin,
                        charged,
                        meter: None,
                        observation: None,
                    };
                    let mut quick = Response::default();
                    for (name, value) in own {
                        quick.headers_mut().append(*name, HeaderValue::from_static(value));
                    }
                    let before = lines(quick.headers());
                    let mut slow = Response::default();
                    slow.headers_mut().clone_from(quick.headers());
                    let is_usual = prepared.add(&stages, &mut quick, &scope, None);
                    let adds = options.cors_rules().is_some() || stages.limiter.is_some();
                    let expected = (usual || !adds) && is_own && is_charged;
                    assert_eq!(is_usual, expected, "{own:?}");
                    stages.write_headers(&mut slow, &scope);
                    let expected = if is_usual { lines(slow.headers()) } else { before };
                    assert_eq!(lines(quick.headers()), expected);
                }
            }
        }
    }

    /// The order of repeated headers counts.
    fn lines(headers: &HeaderMap) -> Vec<String> {
        let mut lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        lines.sort_by(|left, right| left.split(':').next().cmp(&right.split(':').next()));
        lines
    }

    #[test]
    fn prepared_headers_equal_generated_headers() {
        let origins = ["https://a.example", "https://b.example"];
        let plain = || RouterOptions::new().cors(false).enable_security_headers(false);
        let all = [
            RouterOptions::new(),
            RouterOptions::new().rate_limit(false),
            plain(),
            plain().rate_limit(false),
            RouterOptions::new().cors_origin("*"),
            RouterOptions::new().cors_origin(origins),
            RouterOptions::new().cors_origin(origins).rate_limit(false),
        ];
        for options in &all {
            let challenges = [("www-authenticate", "Bearer"), ("www-authenticate", "Basic")];
            check(options, &[], true);
            check(options, &[("x-own", "a")], true);
            check(options, &[("content-type", "text/plain")], true);
            check(options, &[("content-type", "a/b"), ("content-type", "c/d")], true);
            check(options, &[challenges[0], ("content-type", "a/b"), challenges[1]], true);
            check(options, &[("retry-after", "7"), ("retry-after", "8")], true);
            check(
                options,
                &[("set-cookie", "a=b"), ("etag", "\"c\""), ("set-cookie", "d=e")],
                true,
            );
            check(options, &[("ratelimit", "\"own\";r=1;t=2")], false);
            check(options, &[("access-control-allow-origin", "*")], false);
            check(options, &[("access-control-allow-credentials", "true")], false);
            check(options, &[("x-ratelimit-remaining", "7"), ("x-own", "a")], false);
        }
    }

    #[test]
    fn merges_headers_that_the_stages_also_set() {
        let origins = ["https://a.example", "https://b.example"];
        let own = ("content-type", "a/b");
        let listed = RouterOptions::new().cors_origin(origins);
        check(&listed, &[own, ("vary", "Accept")], false);
        check(&listed, &[own, ("vary", "origin"), ("x-frame-options", "SAMEORIGIN")], false);
        check(&RouterOptions::new(), &[own, ("vary", "Accept"), ("vary", "Cookie")], true);
        for name in ["access-control-expose-headers", "ratelimit-policy", "x-frame-options"] {
            check(&RouterOptions::new(), &[own, (name, "a"), ("x-own", "b"), (name, "c")], false);
        }
        let legacy = RouterOptions::new().rate_limit(RateLimit::new().legacy_headers(true));
        check(&legacy, &[own], false);
    }

    #[test]
    fn generates_the_quota_header_of_a_store() {
        let stages = Stages::new(RouterOptions::new().stage_rules(Arc::default()).unwrap());
        let scope = RequestScope {
            own_cors: None,
            page: 0,
            origin: None,
            charged: Some(Decision::pass(600, 599, Duration::from_secs(60))),
            meter: None,
            observation: None,
        };
        let mut response = Response::default();
        assert!(!stages.prepared[0].add(&stages, &mut response, &scope, None));
        stages.write_headers(&mut response, &scope);
        assert_eq!(response.headers()["ratelimit-policy"], "\"default\";q=600;w=60");
    }

    #[test]
    fn generates_unusual_security_headers() {
        for (name, usual) in [
            ("vary", true),
            ("retry-after", true),
            ("access-control-allow-origin", true),
            ("content-type", false),
            ("ratelimit", false),
        ] {
            let security = SecurityHeaders::new().set(name, "a").unwrap();
            let options = RouterOptions::new().security_headers(security);
            check(&options, &[], usual);
            check(&options, &[("content-type", "a/b")], usual);
            check(&options.cors_origin(["https://b.example"]), &[("x-own", "a")], usual);
        }
    }

    #[test]
    fn adds_headers_after_any_set_of_names() {
        let options = RouterOptions::new();
        let stages = Stages::new(options.stage_rules(Arc::default()).unwrap());
        let names = ["content-type", "etag", "location", "set-cookie", "x-a", "x-b"];
        let pairs = names.iter().flat_map(|first| names.iter().map(move |second| [first, second]));
        let sets: Vec<Vec<_>> = pairs.map(|pair| pair.map(|name| *name).to_vec()).collect();
        let more = names.iter().map(|name| vec![*name; 3]).chain([vec![], names.repeat(2)]);
        let sets: Vec<Vec<_>> = sets.into_iter().chain(more).collect();
        for set in &sets {
            let charged = stages.limiter.as_deref().map(any_decision);
            let scope = RequestScope {
                own_cors: None,
                page: 0,
                origin: None,
                charged,
                meter: None,
                observation: None,
            };
            let mut quick = Response::default();
            for (index, name) in set.iter().enumerate() {
                quick.headers_mut().append(*name, index.into());
            }
            let mut slow = Response::default();
            slow.headers_mut().clone_from(quick.headers());
            assert!(stages.prepared[0].add(&stages, &mut quick, &scope, None));
            stages.write_headers(&mut slow, &scope);
            assert_eq!(lines(quick.headers()), lines(slow.headers()));
        }
    }

    #[test]
    fn prepares_headers_for_a_bounded_number_of_origins() {
        let origins: Vec<String> = (0..100).map(|it| format!("https://a{it}.example")).collect();
        let options = RouterOptions::new().cors_origin(origins);
        let stages = Stages::new(options.stage_rules(Arc::default()).unwrap());
        let prepared = &stages.prepared[0];
        let origin = |text: &str| HeaderValue::try_from(text).unwrap();
        assert_eq!(prepared.lists.len(), MAX_ORIGINS + 1);
        assert!(prepared.for_origin(Some(&origin("https://a63.example"))).is_some());
        assert!(prepared.for_origin(Some(&origin("https://a64.example"))).is_none());
    }
}
