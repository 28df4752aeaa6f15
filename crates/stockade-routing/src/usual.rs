//! [`Usual`]: the headers of the usual response, all of them prepared.
//!
//! Hot: copying a map costs a fifth of putting the same headers into one.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};
use stockade_core::Response;
use stockade_middleware::cors::CorsDecided;
use stockade_middleware::rate_limit::{Decision, RATE_LIMIT};

use crate::stages::{Passage, Stages};

/// What a response with nothing but a content type gets: the same as by
/// [`Stages::dress`], which has made it.
#[derive(Default)]
pub(crate) struct Usual {
    /// By the origin of the request, where the answer depends on it; the last
    /// one is for all others.
    ///
    /// Invariant: the content type comes first in each map, then `RateLimit`,
    /// if there is a limit.
    maps: Vec<(Option<HeaderValue>, HeaderMap)>,
}

impl Usual {
    pub(crate) fn prepare(stages: &Stages) -> Self {
        let origins = stages.cors.as_ref().map(|cors| cors.origins()).unwrap_or_default();
        let origins = origins.iter().take(MAX_ORIGINS).cloned().map(Some).chain([None]);
        let maps = origins.map(|origin| (origin.clone(), map_for(stages, origin)));
        let maps: Vec<_> = maps.collect();
        // With nothing to add, what is there stays as it is.
        let adds = maps.iter().any(|(_, headers)| headers.len() > 1);
        Self { maps: if adds { maps } else { Vec::new() } }
    }

    /// The headers for this response; `None` if it is another than the usual.
    pub(crate) fn headers(
        &self,
        stages: &Stages,
        response: &Response,
        passage: &Passage,
    ) -> Option<HeaderMap> {
        if self.maps.is_empty() {
            return None;
        }
        let mut own = response.headers().iter();
        let content_type = own.next().filter(|(name, _)| **name == header::CONTENT_TYPE)?.1;
        if own.next().is_some() || passage.observation.is_some() {
            return None;
        }
        let extensions = response.extensions();
        if !extensions.is_empty() && extensions.get::<CorsDecided>().is_some() {
            return None;
        }
        if !same(passage.cors.as_ref(), stages.cors.as_ref()) {
            return None;
        }
        let charged = passage.charged.as_ref();
        if !same(charged.map(|(limiter, _)| limiter), stages.limiter.as_ref()) {
            return None;
        }
        let left = match charged {
            Some((limiter, decision)) if decision.allowed && !limiter.has_legacy_headers() => {
                Some(limiter.left(*decision)?)
            }
            Some(_) => return None,
            None => None,
        };
        let mut headers = self.map(passage.origin.as_ref())?.clone();
        let mut values = headers.values_mut();
        *values.next()? = content_type.clone();
        if let Some(left) = left {
            *values.next()? = left;
        }
        Some(headers)
    }

    fn map(&self, origin: Option<&HeaderValue>) -> Option<&HeaderMap> {
        let (others, listed) = self.maps.split_last()?;
        let listed = listed.iter().find(|(known, _)| known.as_ref() == origin);
        // One that did not fit is listed all the same.
        let is_whole = listed.is_some() || self.maps.len() <= MAX_ORIGINS;
        is_whole.then(|| &listed.unwrap_or(others).1)
    }
}

fn map_for(stages: &Stages, origin: Option<HeaderValue>) -> HeaderMap {
    let mut response = Response::default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let charged = stages.limiter.as_ref().map(|limiter| {
        headers.insert(RATE_LIMIT, HeaderValue::from_static("")); // its place
        (Arc::clone(limiter), decision())
    });
    let passage = Passage { cors: stages.cors.clone(), origin, charged, observation: None };
    stages.dress(&mut response, &passage);
    std::mem::take(response.headers_mut())
}

/// Any that lets a request pass.
fn decision() -> Decision {
    let (reset, retry_after) = (Duration::ZERO, Duration::ZERO);
    Decision { allowed: true, limit: 1, remaining: 0, reset, retry_after }
}

fn same<T>(left: Option<&Arc<T>>, right: Option<&Arc<T>>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => Arc::ptr_eq(left, right),
        (None, None) => true,
        _ => false,
    }
}

/// More origins than this are not prepared.
const MAX_ORIGINS: usize = 64;

#[cfg(test)]
mod tests {
    use stockade_middleware::{Cors, CorsOptions, RateLimit};

    use super::*;
    use crate::RouterOptions;

    fn lines(headers: &HeaderMap) -> Vec<String> {
        let mut lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        lines.sort();
        lines
    }

    /// Whether the response is a usual one; it is the same in any case.
    #[track_caller]
    fn check(options: &RouterOptions, own: &[(&'static str, &'static str)], usual: bool) {
        let stages = Stages::new(options).unwrap();
        let other = Arc::new(Cors::new(&CorsOptions::default()));
        for cors in [stages.cors.clone(), Some(other), None] {
            for origin in [None, Some("https://b.example"), Some("https://z.example")] {
                for allowed in [None, Some(true), Some(false)] {
                    let decision = |allowed| Decision { allowed, remaining: 7, ..decision() };
                    let charged = stages.limiter.clone().zip(allowed.map(decision));
                    let origin = origin.map(HeaderValue::from_static);
                    let is_own = same(cors.as_ref(), stages.cors.as_ref());
                    let is_charged = stages.limiter.is_none() || allowed == Some(true);
                    let cors = cors.clone();
                    let passage = Passage { cors, origin, charged, observation: None };
                    let mut response = Response::default();
                    for (name, value) in own {
                        response.headers_mut().append(*name, HeaderValue::from_static(value));
                    }
                    let quick = stages.usual.headers(&stages, &response, &passage);
                    assert_eq!(quick.is_some(), usual && is_own && is_charged, "{own:?}");
                    stages.dress(&mut response, &passage);
                    let slow = lines(response.headers());
                    assert_eq!(quick.as_ref().map_or_else(|| slow.clone(), lines), slow);
                }
            }
        }
    }

    fn stages_add_nothing(options: &RouterOptions) -> bool {
        !options.enable_cors && !options.enable_security_headers && options.rate_limit.is_none()
    }

    #[test]
    fn prepared_headers_are_those_that_are_put_together() {
        let origins = ["https://a.example", "https://b.example"];
        let all = [
            RouterOptions::new(),
            RouterOptions::new().rate_limit(None),
            RouterOptions::new().enable_cors(false).enable_security_headers(false),
            RouterOptions::new().enable_cors(false).enable_security_headers(false).rate_limit(None),
            RouterOptions::new().cors_origin("*"),
            RouterOptions::new().cors_origin(origins),
            RouterOptions::new().cors_origin(origins).rate_limit(None),
        ];
        for options in all {
            let adds = !stages_add_nothing(&options);
            check(&options, &[("content-type", "text/plain")], adds);
            check(&options, &[], false);
            check(&options, &[("x-own", "a")], false);
            check(&options, &[("content-type", "a/b"), ("vary", "Accept")], false);
            check(&options, &[("content-type", "a/b"), ("content-type", "c/d")], false);
        }
        let legacy = RouterOptions::new().rate_limit(RateLimit::new().legacy_headers(true));
        check(&legacy, &[("content-type", "a/b")], false);
    }

    #[test]
    fn of_very_many_origins_some_are_put_together() {
        let origins: Vec<String> = (0..100).map(|it| format!("https://a{it}.example")).collect();
        let stages = Stages::new(&RouterOptions::new().cors_origin(origins)).unwrap();
        let usual = &stages.usual;
        let origin = |text: &str| HeaderValue::try_from(text).unwrap();
        assert_eq!(usual.maps.len(), MAX_ORIGINS + 1);
        assert!(usual.map(Some(&origin("https://a63.example"))).is_some());
        assert!(usual.map(Some(&origin("https://a64.example"))).is_none());
    }
}
