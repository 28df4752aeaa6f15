//! The headers of a limited response.
//!
//! Hot: one allocation for `RateLimit`, because its text changes each time; the
//! text of `RateLimit-Policy` is prepared.
//!
//! Source: draft-ietf-httpapi-ratelimit-headers-10.

use std::cmp::Reverse;
use std::time::Duration;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use stockade_core::description::HeaderDoc;

use super::decision::Decision;
use super::quota::{RateLimitPolicy, whole_seconds};

/// Adds `RateLimit-Policy`, `RateLimit`, and `Retry-After` if a request was
/// rejected.
///
/// Several limiters are listed in order, before the limiters that the response
/// already lists. `Retry-After` is the wait of the limiter that rejected, or
/// the longest of several waits. The older headers have room for one limiter
/// only: see [`RateLimiter::write_headers`].
///
/// [`RateLimiter::write_headers`]: super::RateLimiter::write_headers
pub(super) fn write_headers(
    charged: &[(&RateLimitPolicy, Decision)],
    legacy: bool,
    headers: &mut HeaderMap,
) {
    let Some((_, tightest)) = charged.iter().min_by_key(|(_, decision)| tightness(decision)) else {
        return;
    };
    let has_others = headers.contains_key(RATE_LIMIT_POLICY);
    let legacy = legacy || has_others && headers.contains_key(LEGACY_REMAINING);
    let other = if legacy && has_others { tightest_listed(headers) } else { None };
    write_policies(charged, has_others, headers);
    write_rest(charged, headers);
    if !tightest.allowed {
        headers.insert(RETRY_AFTER, tightest.retry_after_seconds().into());
    }
    if legacy {
        let own = Left::of(tightest);
        let other = other.filter(|other| tightest.allowed && other.order() < own.order());
        other.unwrap_or(own).write(headers);
    }
}

/// The values of the older headers for one limiter.
struct Left {
    limit: u64,
    remaining: u64,
    reset_seconds: u64,
}

impl Left {
    fn of(decision: &Decision) -> Self {
        Self {
            limit: decision.limit.into(),
            remaining: decision.remaining.into(),
            reset_seconds: whole_seconds(decision.reset),
        }
    }

    /// Returns a sort key with the tightest limiter first.
    fn order(&self) -> (u64, Reverse<u64>) {
        (self.remaining, Reverse(self.reset_seconds))
    }

    fn write(&self, headers: &mut HeaderMap) {
        headers.insert(LEGACY_LIMIT, self.limit.into());
        headers.insert(LEGACY_REMAINING, self.remaining.into());
        headers.insert(LEGACY_RESET, self.reset_seconds.into());
    }
}

/// Returns the tightest limiter that a response already lists.
fn tightest_listed(headers: &HeaderMap) -> Option<Left> {
    let limits: Vec<_> = items(headers, RATE_LIMIT_POLICY).collect();
    let left = items(headers, RATE_LIMIT).filter_map(|(name, left)| {
        let (_, limit) = limits.iter().find(|(known, _)| *known == name)?;
        Some(Left {
            limit: parameter(limit, "q=")?,
            remaining: parameter(left, "r=")?,
            reset_seconds: parameter(left, "t=")?,
        })
    });
    left.min_by_key(Left::order)
}

/// Returns the items of a list, each with its name and its parameters. Our
/// names never contain a comma or a semicolon.
fn items(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(|item| item.trim().split_once(';'))
}

fn parameter(parameters: &str, key: &str) -> Option<u64> {
    parameters.split(';').find_map(|pair| pair.trim().strip_prefix(key))?.parse().ok()
}

/// Returns a sort key: rejections first, the longest wait before the others,
/// then by the remaining requests.
fn tightness(decision: &Decision) -> (bool, Reverse<Duration>, u32) {
    (decision.allowed, Reverse(decision.retry_after), decision.remaining)
}

fn write_policies(
    charged: &[(&RateLimitPolicy, Decision)],
    has_others: bool,
    headers: &mut HeaderMap,
) {
    if let ([(policy, decision)], false) = (charged, has_others) {
        headers.insert(RATE_LIMIT_POLICY, policy.described(decision.limit));
        return;
    }
    let own: Vec<_> = charged.iter().map(|(policy, it)| policy.described(it.limit)).collect();
    let own = own.iter().map(HeaderValue::as_bytes);
    let there = headers.get_all(RATE_LIMIT_POLICY).into_iter().map(HeaderValue::as_bytes);
    let all: Vec<_> = own.chain(there).collect();
    insert(headers, RATE_LIMIT_POLICY, all.join(&b", "[..]));
}

fn write_rest(charged: &[(&RateLimitPolicy, Decision)], headers: &mut HeaderMap) {
    // An error response that passed several limiters has one line for each.
    let there = headers.get_all(RATE_LIMIT);
    // The exact length, so that the text becomes a value without a copy.
    let own: usize = charged.iter().map(|(policy, decision)| length_of(policy, decision)).sum();
    let there_length: usize = there.iter().map(|line| line.len() + 2).sum();
    let mut text = Vec::with_capacity(own + 2 * (charged.len() - 1) + there_length);
    for (policy, decision) in charged {
        separate(&mut text);
        write_left(policy, decision, &mut text);
    }
    for line in there {
        separate(&mut text);
        text.extend_from_slice(line.as_bytes());
    }
    insert(headers, RATE_LIMIT, text);
}

/// Returns the headers of a limited response, for its description.
pub(super) fn documented(legacy: bool) -> impl Iterator<Item = HeaderDoc> {
    let names = [
        ("RateLimit-Policy", "The quotas, such as `\"default\";q=100;w=60`"),
        ("RateLimit", "The remaining requests, such as `\"default\";r=42;t=17`"),
    ];
    let older = [
        ("X-RateLimit-Limit", "The number of requests in a window"),
        ("X-RateLimit-Remaining", "The remaining requests"),
        ("X-RateLimit-Reset", "The number of seconds until the window ends"),
    ];
    let names = names.into_iter().chain(older.into_iter().filter(move |_| legacy));
    names.map(|(name, meaning)| HeaderDoc::new(name, meaning))
}

/// Returns the value of `RateLimit` for a single limiter.
pub(super) fn left(policy: &RateLimitPolicy, decision: &Decision) -> Option<HeaderValue> {
    let mut text = Vec::with_capacity(length_of(policy, decision));
    write_left(policy, decision, &mut text);
    HeaderValue::try_from(text).ok()
}

/// Appends the value of `RateLimit` for a single limiter. The value is always
/// valid, because [`RateLimitPolicy`] checks names.
pub(super) fn write_left(policy: &RateLimitPolicy, decision: &Decision, text: &mut Vec<u8>) {
    text.extend_from_slice(policy.remaining.as_bytes());
    text.extend_from_slice(itoa::Buffer::new().format(decision.remaining).as_bytes());
    text.extend_from_slice(b";t=");
    text.extend_from_slice(itoa::Buffer::new().format(whole_seconds(decision.reset)).as_bytes());
}

fn length_of(policy: &RateLimitPolicy, decision: &Decision) -> usize {
    let digits = |number: u64| number.checked_ilog10().map_or(1, |log| log as usize + 1);
    policy.remaining.len()
        + digits(decision.remaining.into())
        + b";t=".len()
        + digits(whole_seconds(decision.reset))
}

fn separate(text: &mut Vec<u8>) {
    if !text.is_empty() {
        text.extend_from_slice(b", ");
    }
}

/// Inserts a header. The text is always valid, because `RateLimitPolicy` checks
/// names.
fn insert(headers: &mut HeaderMap, name: HeaderName, text: Vec<u8>) {
    if let Ok(value) = HeaderValue::try_from(text) {
        headers.insert(name, value);
    }
}

/// The number of remaining requests.
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LEGACY_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
/// The number of remaining requests, in the older headers.
pub const LEGACY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const LEGACY_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

#[cfg(test)]
mod tests {
    use super::super::quota::{MINUTE, Quota};
    use super::*;

    fn policy(name: &str, limit: u32) -> RateLimitPolicy {
        RateLimitPolicy::new(name, Quota::per_minute(limit)).unwrap()
    }

    fn decision(limit: u32, remaining: u32, reset_ms: u64, retry_after_ms: u64) -> Decision {
        Decision {
            allowed: retry_after_ms == 0,
            limit,
            remaining,
            reset: Duration::from_millis(reset_ms),
            retry_after: Duration::from_millis(retry_after_ms),
        }
    }

    #[track_caller]
    fn check(charged: &[(&RateLimitPolicy, Decision)], legacy: bool, expected: &[&str]) {
        let mut headers = HeaderMap::new();
        write_headers(charged, legacy, &mut headers);
        assert_eq!(lines_of(&headers), expected);
    }

    fn lines_of(headers: &HeaderMap) -> Vec<String> {
        let line = |(name, value): (&HeaderName, &HeaderValue)| {
            format!("{name}: {}", value.to_str().unwrap())
        };
        let mut lines: Vec<_> = headers.iter().map(line).collect();
        lines.sort();
        lines
    }

    #[test]
    fn reports_the_remaining_requests() {
        let policy = policy("default", 100);
        check(
            &[(&policy, decision(100, 42, 16_001, 0))],
            false,
            &["ratelimit-policy: \"default\";q=100;w=60", "ratelimit: \"default\";r=42;t=17"],
        );
        check(
            &[(&policy, decision(100, 0, 0, 59_400))],
            true,
            &[
                "ratelimit-policy: \"default\";q=100;w=60",
                "ratelimit: \"default\";r=0;t=0",
                "retry-after: 60",
                "x-ratelimit-limit: 100",
                "x-ratelimit-remaining: 0",
                "x-ratelimit-reset: 0",
            ],
        );
        check(&[], true, &[]);
    }

    #[test]
    fn the_policy_shows_the_quota_that_applied() {
        let (plan, route) = (policy("plan", 60), policy("route", 5));
        check(
            &[(&plan, decision(600, 599, 60_000, 0))],
            false,
            &["ratelimit-policy: \"plan\";q=600;w=60", "ratelimit: \"plan\";r=599;t=60"],
        );
        check(
            &[(&plan, decision(600, 599, 60_000, 0)), (&route, decision(5, 4, 60_000, 0))],
            true,
            &[
                "ratelimit-policy: \"plan\";q=600;w=60, \"route\";q=5;w=60",
                "ratelimit: \"plan\";r=599;t=60, \"route\";r=4;t=60",
                "x-ratelimit-limit: 5",
                "x-ratelimit-remaining: 4",
                "x-ratelimit-reset: 60",
            ],
        );
    }

    #[test]
    fn lists_several_limits_and_sends_retry_after() {
        let (router, route) = (policy("default", 100), policy("login", 5));
        check(
            &[(&router, decision(100, 7, 60_000, 0)), (&route, decision(5, 0, 30_000, 20_000))],
            false,
            &[
                "ratelimit-policy: \"default\";q=100;w=60, \"login\";q=5;w=60",
                "ratelimit: \"default\";r=7;t=60, \"login\";r=0;t=30",
                "retry-after: 20",
            ],
        );
    }

    #[test]
    fn keeps_headers_of_a_middleware_after_new_ones() {
        let (router, route) = (policy("default", 100), policy("login", 5));
        let mut headers = HeaderMap::new();
        write_headers(&[(&route, decision(5, 0, 30_000, 20_000))], false, &mut headers);
        write_headers(&[(&router, decision(100, 7, 60_000, 0))], false, &mut headers);
        assert_eq!(
            lines_of(&headers),
            [
                "ratelimit-policy: \"default\";q=100;w=60, \"login\";q=5;w=60",
                "ratelimit: \"default\";r=7;t=60, \"login\";r=0;t=30",
                "retry-after: 20",
            ],
        );
    }

    #[test]
    fn the_older_headers_report_the_tightest_limit() {
        let (router, route) = (policy("default", 100), policy("login", 5));
        // The remaining requests of the route and of the router, and the number
        // in the header.
        for (inside, outside, told) in [
            (decision(5, 2, 30_000, 0), decision(100, 50, 60_000, 0), [5, 2, 30]),
            (decision(5, 4, 30_000, 0), decision(100, 3, 60_000, 0), [100, 3, 60]),
            (decision(5, 3, 30_000, 0), decision(100, 3, 60_000, 0), [100, 3, 60]),
            (decision(5, 3, 60_000, 0), decision(100, 3, 30_000, 0), [5, 3, 60]),
            (decision(5, 0, 30_000, 20_000), decision(100, 50, 60_000, 0), [5, 0, 30]),
        ] {
            for (inner, outer) in [(true, true), (true, false), (false, true)] {
                let mut headers = HeaderMap::new();
                write_headers(&[(&route, inside)], inner, &mut headers);
                write_headers(&[(&router, outside)], outer, &mut headers);
                let names = [LEGACY_LIMIT, LEGACY_REMAINING, LEGACY_RESET];
                let actual: [u64; 3] =
                    names.map(|name| headers[name].to_str().unwrap().parse().unwrap());
                assert_eq!(actual, told, "{inner} {outer}");
            }
        }
    }

    #[test]
    fn merges_several_lines() {
        let mut headers = HeaderMap::new();
        for name in ["a", "b"] {
            let told = |text: String| HeaderValue::try_from(text).unwrap();
            headers.append(RATE_LIMIT_POLICY, told(format!("\"{name}\";q=5;w=60")));
            headers.append(RATE_LIMIT, told(format!("\"{name}\";r=4;t=60")));
        }
        write_headers(&[(&policy("c", 5), decision(5, 3, 60_000, 0))], false, &mut headers);
        assert_eq!(
            lines_of(&headers),
            [
                "ratelimit-policy: \"c\";q=5;w=60, \"a\";q=5;w=60, \"b\";q=5;w=60",
                "ratelimit: \"c\";r=3;t=60, \"a\";r=4;t=60, \"b\";r=4;t=60",
            ],
        );
    }

    #[test]
    fn one_limiter_costs_one_allocation() {
        let policy = RateLimitPolicy::new("default", 100 / MINUTE).unwrap();
        // The first clone of a prepared value allocates, because it makes the
        // value shareable.
        write_headers(&[(&policy, decision(100, 1, 1, 0))], false, &mut HeaderMap::new());
        for remaining in [0, 9, 10, u32::MAX] {
            let mut headers = HeaderMap::with_capacity(8);
            let charged = [(&policy, decision(100, remaining, 59_000, 0))];
            let counted =
                allocation_counter::measure(|| write_headers(&charged, false, &mut headers));
            assert_eq!(counted.count_total, 1, "{remaining}");
        }
    }
}
