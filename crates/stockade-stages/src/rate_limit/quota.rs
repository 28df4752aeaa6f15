//! [`Quota`]: a number of requests in a time; [`RateLimitPolicy`]: a quota with a name.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Div;
use std::str::FromStr;
use std::time::Duration;

use http::HeaderValue;
use stockade_errors::{ConfigError, ConfigIssue};

/// A number of requests in a time.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::middleware::rate_limit::{MINUTE, Quota};
///
/// let quota = Quota::new(10, Duration::from_secs(60));
/// assert_eq!(10 / MINUTE, quota);
/// assert_eq!(Quota::per_minute(10), quota);
/// assert_eq!("10 / minute".parse(), Ok(quota));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Quota {
    /// The number of requests. 0 is a configuration error when the limiter is
    /// built.
    pub limit: u32,
    /// The time. 0 is a configuration error when the limiter is built. More
    /// than a year counts as a year.
    pub window: Duration,
}

impl Quota {
    /// Creates a quota of `limit` requests in a time window.
    #[must_use]
    pub const fn new(limit: u32, window: Duration) -> Self {
        Self { limit, window }
    }

    /// Creates a quota per second.
    #[must_use]
    pub const fn per_second(limit: u32) -> Self {
        Self::new(limit, SECOND.0)
    }

    /// Creates a quota per minute.
    #[must_use]
    pub const fn per_minute(limit: u32) -> Self {
        Self::new(limit, MINUTE.0)
    }

    /// Creates a quota per hour.
    #[must_use]
    pub const fn per_hour(limit: u32) -> Self {
        Self::new(limit, HOUR.0)
    }

    /// Returns the configuration errors in the quota.
    pub(super) fn issues(self) -> Vec<ConfigIssue> {
        let limit = (self.limit == 0).then_some(NO_LIMIT);
        let window = self.window.is_zero().then_some("the window of a rate limit must not be 0");
        limit.into_iter().chain(window).map(ConfigIssue::new).collect()
    }
}

const NO_LIMIT: &str = "the limit of a rate limit must not be 0";

/// The divisor in `10 / MINUTE`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Per(Duration);

/// A second, for `10 / SECOND`.
pub const SECOND: Per = Per(Duration::from_secs(1));
/// A minute, for `10 / MINUTE`.
pub const MINUTE: Per = Per(Duration::from_secs(60));
/// An hour, for `10 / HOUR`.
pub const HOUR: Per = Per(Duration::from_secs(3_600));

impl Div<Per> for u32 {
    type Output = Quota;

    fn div(self, per: Per) -> Quota {
        Quota::new(self, per.0)
    }
}

/// Parses `<number> / <unit>` with the unit `second`, `minute` or `hour`; white
/// space around both is allowed.
impl FromStr for Quota {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let Some(quota) = parse(text) else {
            let message = format!("{text:?} is not a rate such as \"10 / minute\"");
            return Err(ConfigIssue::new(message).into());
        };
        ConfigError::check(quota.issues())?;
        Ok(quota)
    }
}

fn parse(text: &str) -> Option<Quota> {
    let (limit, unit) = text.split_once('/')?;
    let limit = limit.trim();
    // `str::parse::<u32>` accepts a leading `+`; the notation does not.
    if !limit.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let per = match unit.trim() {
        "second" => SECOND,
        "minute" => MINUTE,
        "hour" => HOUR,
        _ => return None,
    };
    Some(limit.parse::<u32>().ok()? / per)
}

/// A validated quota with its name, and its prepared headers.
#[derive(Clone)]
pub struct RateLimitPolicy {
    name: Box<str>,
    limit: NonZeroU32,
    /// Invariant: above 0 and at most a year.
    window: Duration,
    window_nanos: u64,
    /// `"default";q=100;w=60`.
    described: HeaderValue,
    /// `"default";r=`.
    pub(super) remaining: Box<str>,
    depends_on_request: bool,
}

impl RateLimitPolicy {
    /// Creates a policy from a name and a quota.
    ///
    /// # Errors
    /// Fails if the limit or the window is 0. Also fails if the name is empty,
    /// longer than 64 characters, or contains characters other than ASCII
    /// letters and digits and `-_.:/`.
    pub fn new(name: &str, quota: Quota) -> Result<Self, ConfigError> {
        let mut mistakes = quota.issues();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) {
            mistakes.push(ConfigIssue::new(format!("{name:?} is not a valid rate limit name")));
        }
        ConfigError::check(mistakes)?;
        let Some(limit) = NonZeroU32::new(quota.limit) else {
            return Err(ConfigIssue::new(NO_LIMIT).into());
        };
        let window = quota.window.min(MAX_WINDOW);
        let described = HeaderValue::try_from(policy_text(name, limit.get(), window));
        Ok(Self {
            name: name.into(),
            limit,
            window,
            window_nanos: nanos(window),
            described: described.map_err(|error| ConfigIssue::new(error.to_string()))?,
            remaining: format!("\"{name}\";r=").into(),
            depends_on_request: false,
        })
    }

    /// Creates a policy for a limit that chooses its quota for each request.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub(super) fn of_request(name: &str, quota: Quota) -> Result<Self, ConfigError> {
        Ok(Self { depends_on_request: true, ..Self::new(name, quota)? })
    }

    /// Returns the name, such as `default`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of requests; never 0.
    #[must_use]
    pub fn limit(&self) -> NonZeroU32 {
        self.limit
    }

    /// Returns the time; never 0 and at most a year.
    #[must_use]
    pub fn window(&self) -> Duration {
        self.window
    }

    /// Returns true if the limit chooses its quota for each request. The count
    /// of a key must then continue when the quota changes, so a store must not
    /// make the quota a part of the key.
    #[must_use]
    pub fn depends_on_request(&self) -> bool {
        self.depends_on_request
    }

    /// Returns the value of `RateLimit-Policy` for a decision with this limit. A store may
    /// apply its own limit.
    pub(super) fn described(&self, limit: u32) -> HeaderValue {
        if limit == self.limit.get() {
            return self.described.clone();
        }
        let text = policy_text(&self.name, limit, self.window);
        HeaderValue::try_from(text).unwrap_or_else(|_| self.described.clone())
    }

    pub(super) fn window_nanos(&self) -> u64 {
        self.window_nanos
    }

    /// Returns the share of one of `nodes` processes, rounded up.
    pub(super) fn share(&self, nodes: NonZeroU32) -> Self {
        let share = self.limit.get().div_ceil(nodes.get());
        Self { limit: NonZeroU32::new(share).unwrap_or(NonZeroU32::MIN), ..self.clone() }
    }
}

impl fmt::Debug for RateLimitPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitPolicy")
            .field("name", &self.name)
            .field("limit", &self.limit)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

/// Returns the value of `RateLimit-Policy`, which has the window in whole seconds.
fn policy_text(name: &str, limit: u32, window: Duration) -> String {
    format!("\"{name}\";q={limit};w={}", whole_seconds(window))
}

/// Returns whole seconds, rounded up.
pub(super) fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// Returns nanoseconds; more than 584 years count as 584 years.
pub(super) fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(time.subsec_nanos().into())
}

const MAX_NAME_BYTES: usize = 64;
const MAX_WINDOW: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<Quota>) {
        assert_eq!(text.parse().ok(), expected, "{text:?}");
    }

    #[test]
    fn a_rate_is_a_number_and_a_unit() {
        check("10 / minute", Some(10 / MINUTE));
        check("1/second", Some(Quota::per_second(1)));
        check(" 4294967295  /hour ", Some(Quota::per_hour(u32::MAX)));
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in [
            "",
            "10",
            "10 minute",
            "/ minute",
            "10 / min",
            "10 / Minute",
            "+1 / hour",
            "-1 / hour",
            "1.5 / hour",
            "0 / hour",
            "4294967296 / hour",
            "1 / hour / 2",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_policy_shows_its_seconds_rounded_up() {
        let described =
            |quota: Quota| RateLimitPolicy::new("a", quota).unwrap().described(quota.limit);
        assert_eq!(described(100 / MINUTE), "\"a\";q=100;w=60");
        assert_eq!(described(Quota::new(1, Duration::from_millis(1_001))), "\"a\";q=1;w=2");
        assert_eq!(described(Quota::new(1, Duration::MAX)), "\"a\";q=1;w=31536000");
    }

    #[test]
    fn zeros_and_invalid_names_are_errors() {
        let mistakes = |name: &str, quota| {
            RateLimitPolicy::new(name, quota).err().map_or(0, |error| error.issues().len())
        };
        assert_eq!(mistakes("default", 1 / SECOND), 0);
        assert_eq!(mistakes("default", Quota::new(0, Duration::ZERO)), 2);
        assert_eq!(mistakes("", 0 / MINUTE), 2);
        for name in ["a b", "a\"b", "ä", "a\n", &"a".repeat(65)] {
            assert_eq!(mistakes(name, 1 / SECOND), 1, "{name:?}");
        }
    }
}
