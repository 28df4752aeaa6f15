//! A rate limit per client with windows of fixed length.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bench_common::mode::{MAX_REQUESTS, WINDOW_SECONDS};
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use crate::answer::{Answer, json};

/// Counts the requests of each client.
#[derive(Default)]
pub(crate) struct Limiter {
    windows: Mutex<HashMap<IpAddr, Window>>,
}

struct Window {
    end: Instant,
    count: u32,
}

/// The effect of a request on the window of its client.
pub(crate) struct Charge {
    pub(crate) allowed: bool,
    remaining: u32,
    reset: u64,
}

impl Limiter {
    pub(crate) fn charge(&self, client: IpAddr) -> Charge {
        let now = Instant::now();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Window { end: now + WINDOW, count: 0 };
        let window = windows.entry(client).or_insert_with(fresh);
        if window.end <= now {
            *window = fresh();
        }
        let allowed = window.count < MAX_REQUESTS;
        if allowed {
            window.count += 1;
        }
        // Whole seconds, rounded up.
        let reset = (window.end - now + Duration::from_nanos(999_999_999)).as_secs();
        Charge { allowed, remaining: MAX_REQUESTS - window.count, reset }
    }
}

impl Charge {
    /// Writes the remaining quota.
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        headers.insert(RATE_LIMIT_POLICY, HeaderValue::from_static(POLICY));
        let mut text = Vec::with_capacity(40);
        // Writing to a vector cannot fail.
        let _ = write!(text, "\"default\";r={};t={}", self.remaining, self.reset);
        if let Ok(value) = HeaderValue::from_maybe_shared(hyper::body::Bytes::from(text)) {
            headers.insert(RATE_LIMIT, value);
        }
    }
}

pub(crate) fn refusal() -> Answer {
    json(StatusCode::TOO_MANY_REQUESTS, r#"{"error":"Too Many Requests"}"#)
}

const WINDOW: Duration = Duration::from_secs(WINDOW_SECONDS as u64);
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const POLICY: &str = "\"default\";q=1000000000;w=60";
