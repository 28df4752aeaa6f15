//! `Decision`: the decision about a request, and its 429.

use std::time::Duration;

use stockade_errors::ApiError;

use super::quota::whole_seconds;

/// The decision of a store about a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// True if the request passes.
    pub allowed: bool,
    /// The number of requests in a window.
    pub limit: u32,
    /// The number of requests that could still pass now.
    pub remaining: u32,
    /// The time until all earlier requests are forgotten.
    pub reset: Duration,
    /// The time until a request of the client passes again; zero if the request
    /// passed.
    pub retry_after: Duration,
}

impl Decision {
    /// Creates the decision for a request that passes, for a custom
    /// [`RateStore`].
    ///
    /// [`RateStore`]: super::RateStore
    #[must_use]
    pub const fn pass(limit: u32, remaining: u32, reset: Duration) -> Self {
        Self { allowed: true, limit, remaining, reset, retry_after: Duration::ZERO }
    }

    /// Creates the decision for a rejected request, for a custom [`RateStore`].
    ///
    /// [`RateStore`]: super::RateStore
    #[must_use]
    pub const fn refuse(limit: u32, reset: Duration, retry_after: Duration) -> Self {
        Self { allowed: false, limit, remaining: 0, reset, retry_after }
    }

    /// Returns the seconds for `Retry-After`: rounded up, at least 1.
    #[must_use]
    pub fn retry_after_seconds(&self) -> u64 {
        whole_seconds(self.retry_after).max(1)
    }
}

/// Creates the error that rejects a request: 429 `Too Many Requests` with
/// `Retry-After`.
// Spec: Errors › Statuses produced by the framework, row 429.
#[must_use]
pub fn too_many(decision: &Decision) -> ApiError {
    let seconds = itoa::Buffer::new().format(decision.retry_after_seconds()).to_owned();
    ApiError::new(429, "Too Many Requests").with_header("Retry-After", seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(retry_after: Duration, expected: &str) {
        let error = too_many(&Decision::refuse(1, retry_after, retry_after));
        let headers: Vec<_> = error.headers().collect();
        assert_eq!((error.status(), headers), (429, vec![("Retry-After", expected)]));
        assert_eq!(error.body(false).to_string(), r#"{"error":"Too Many Requests"}"#);
    }

    #[test]
    fn retry_after_is_rounded_up_and_at_least_one() {
        check(Duration::ZERO, "1");
        check(Duration::from_nanos(1), "1");
        check(Duration::from_secs(1), "1");
        check(Duration::from_nanos(1_000_000_001), "2");
        check(Duration::from_millis(59_400), "60");
        check(Duration::MAX, "18446744073709551615");
    }
}
