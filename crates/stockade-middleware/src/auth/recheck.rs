//! Repeated credential checks for connections that outlive their request.
//!
//! A check runs the method that found the user on a copy of the request. It
//! therefore detects an expired token, a changed key set, an ended session, a
//! deleted API key and a removed user. It runs when a token expires, when its
//! revocation arrives, and once in each interval.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use stockade_auth::{RevocationWatch, UnixClock};
use stockade_core::log_text::escaped;
use stockade_core::request_internals::UserWatch;
use stockade_core::{BoxFuture, Request};
use stockade_errors::ApiError;
use stockade_errors::panic::CatchPanic;
use tokio::time::{Instant, sleep, timeout};

use super::method::{AuthMethod, AuthResult};

/// The result of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Standing {
    Valid,
    Ended,
    /// The check failed, so the status is unknown.
    Unknown,
}

/// The times of the credential checks of one connection.
pub(crate) struct Schedule {
    /// The longest time between two checks.
    pub(crate) interval: Duration,
    /// The expiry of the credentials.
    pub(crate) expiry: Option<Expiry>,
    pub(crate) revocation: Option<RevocationWatch>,
    /// True if the credentials may have ended since the request was authenticated.
    pub(crate) is_due: bool,
}

/// The expiry of a token.
pub(crate) struct Expiry {
    /// The last valid second of the token, in seconds since 1970.
    last: u64,
    clock: UnixClock,
    /// True if the expiry has already triggered a check.
    is_reported: bool,
}

impl Expiry {
    pub(super) fn new(expires_at: u64, leeway_seconds: u64, clock: UnixClock) -> Self {
        Self { last: expires_at.saturating_add(leeway_seconds), clock, is_reported: false }
    }

    /// Returns the time until the token expires. After the expiry it returns
    /// zero once, and then `None`, because an application may accept the
    /// credentials for longer.
    fn left(&mut self) -> Option<Duration> {
        let Some(left) = self.last.checked_sub(self.clock.now()?) else {
            let was_reported = std::mem::replace(&mut self.is_reported, true);
            return (!was_reported).then_some(Duration::ZERO);
        };
        // The clock may have moved back.
        self.is_reported = false;
        let left = Duration::from_secs(left.saturating_add(1));
        // Timers do not follow a clock that a test changes.
        let is_custom = self.clock.is_custom();
        Some(if is_custom { left.min(CUSTOM_CLOCK_INTERVAL) } else { left })
    }
}

impl Schedule {
    /// Waits until the next check is due, at most for `longest`.
    async fn wait(&mut self, longest: Duration) {
        let left = self.expiry.as_mut().and_then(Expiry::left);
        if std::mem::take(&mut self.is_due) || left == Some(Duration::ZERO) {
            return;
        }
        let mut sleep = pin!(sleep(left.map_or(longest, |left| left.min(longest))));
        let revocation = &mut self.revocation;
        poll_fn(|cx| {
            if let Some(revocation) = revocation
                && Pin::new(revocation).poll(cx).is_ready()
            {
                return Poll::Ready(());
            }
            sleep.as_mut().poll(cx)
        })
        .await;
    }
}

/// Returns the time between two checks in milliseconds, for route maps.
pub(super) fn millis(interval: Duration) -> u64 {
    let interval = interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
    u64::try_from(interval.as_millis()).unwrap_or(u64::MAX)
}

/// Waits until `check` reports that the credentials are no longer valid, or
/// fails for [`MAX_UNKNOWN`].
pub(crate) async fn until_ended(
    mut schedule: Schedule,
    mut check: impl FnMut() -> BoxFuture<'static, Standing> + Send,
) {
    let interval = schedule.interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
    let mut longest = spread(interval);
    let mut unknown_since = None;
    loop {
        schedule.wait(longest).await;
        longest = interval;
        let checked = CatchPanic::new(pin!(timeout(CHECK_TIMEOUT, Recheck(check())))).await;
        match checked.ok().and_then(Result::ok).unwrap_or(Standing::Unknown) {
            Standing::Valid => unknown_since = None,
            Standing::Ended => return,
            Standing::Unknown => {
                // The user may be logged out, so check soon even if the
                // interval is long.
                longest = interval.min(INTERVAL);
                let since = *unknown_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= MAX_UNKNOWN {
                    log::warn!(
                        target: "stockade::auth",
                        "a connection is closed: its user could not be checked for {MAX_UNKNOWN:?}"
                    );
                    return;
                }
            }
        }
    }
}

/// Returns a time between half of the interval and the whole, so that
/// connections that begin together are not all checked together.
fn spread(interval: Duration) -> Duration {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    // Multiples of the golden ratio are spread evenly.
    let share = f64::from(number.wrapping_mul(2_654_435_769)) / f64::from(u32::MAX);
    interval.mul_f64(0.5 + share / 2.0)
}

/// Watches a user with the authentication method that found it.
pub(super) struct MethodWatch {
    pub(super) method: AuthMethod,
    pub(super) is_optional: bool,
}

impl UserWatch for MethodWatch {
    fn ended(self: Arc<Self>, req: Request) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let schedule = self.method.schedule(&req);
            until_ended(schedule, move || {
                let (watch, req) = (Arc::clone(&self), req.child());
                Box::pin(async move { watch.check(req).await })
            })
            .await;
        })
    }

    fn is_optional(&self) -> bool {
        self.is_optional
    }
}

impl MethodWatch {
    async fn check(&self, mut req: Request) -> Standing {
        match self.method.find(&mut req).await {
            AuthResult::User(_) | AuthResult::Json(..) => Standing::Valid,
            AuthResult::Failed(Ok(response)) => failed(response.status().as_u16()),
            AuthResult::Failed(Err(error)) => failed_with(&error),
            AuthResult::Inconclusive(_) => Standing::Unknown,
            AuthResult::Nothing
            | AuthResult::OtherScheme
            | AuthResult::Invalid
            | AuthResult::Refused(_) => Standing::Ended,
        }
    }
}

/// Returns the result of a check that failed with an error. A server error, a
/// timeout or too many checks do not mean that the user is logged out.
pub(crate) fn failed_with(error: &ApiError) -> Standing {
    log::debug!(target: "stockade::auth", "the check of a user failed: {}", escaped(error));
    failed(error.status())
}

fn failed(status: u16) -> Standing {
    if status >= 500 || matches!(status, 408 | 429) { Standing::Unknown } else { Standing::Ended }
}

/// A check that sets `IS_RECHECK` while it is polled.
struct Recheck<'a>(BoxFuture<'a, Standing>);

thread_local! {
    static IS_RECHECK: Cell<bool> = const { Cell::new(false) };
}

impl Future for Recheck<'_> {
    type Output = Standing;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Standing> {
        struct Reset(bool);

        impl Drop for Reset {
            fn drop(&mut self) {
                IS_RECHECK.set(self.0);
            }
        }

        let _reset = Reset(IS_RECHECK.replace(true));
        self.0.as_mut().poll(cx)
    }
}

/// Returns true while a check runs. A check does not count as use of a session;
/// otherwise an idle connection would extend its session.
#[cfg(feature = "sessions")]
pub(crate) fn is_recheck() -> bool {
    IS_RECHECK.get()
}

/// The default time between two checks.
pub(crate) const INTERVAL: Duration = Duration::from_secs(15);
/// The default time between two password checks, which are expensive.
pub(super) const PASSWORD_INTERVAL: Duration = Duration::from_secs(300);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);
const LONGEST_INTERVAL: Duration = Duration::from_secs(365 * 86_400);
const CUSTOM_CLOCK_INTERVAL: Duration = Duration::from_millis(250);
/// The time limit of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// The time until a connection ends if its user cannot be checked.
const MAX_UNKNOWN: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// A clock and the seconds that it shows.
    fn clock() -> (UnixClock, Arc<AtomicU64>) {
        let seconds = Arc::new(AtomicU64::new(1_000));
        let hands = Arc::clone(&seconds);
        (UnixClock::new(move || hands.load(Ordering::SeqCst)), seconds)
    }

    #[test]
    fn reports_an_expiry_once_and_again_after_the_clock_moved_back() {
        let (clock, seconds) = clock();
        let mut expiry = Expiry::new(1_010, 5, clock);
        assert_eq!(expiry.left(), Some(CUSTOM_CLOCK_INTERVAL));
        for _ in 0..2 {
            seconds.store(1_015, Ordering::SeqCst);
            assert_eq!(expiry.left(), Some(CUSTOM_CLOCK_INTERVAL));
            seconds.store(1_016, Ordering::SeqCst);
            assert_eq!(expiry.left(), Some(Duration::ZERO));
            assert_eq!(expiry.left(), None);
        }
    }

    #[test]
    fn an_expiry_beyond_the_range_of_the_clock_is_far_away() {
        let mut expiry = Expiry::new(u64::MAX, u64::MAX, UnixClock::default());
        assert!(expiry.left().is_some_and(|left| left > LONGEST_INTERVAL));
    }

    /// Returns the lifetime of a connection with these check results.
    async fn ended_after(schedule: Schedule, results: &[Standing]) -> Duration {
        let began = Instant::now();
        let mut results = results.iter().copied();
        until_ended(schedule, move || {
            let result = results.next().expect("no further check is due");
            Box::pin(async move { result })
        })
        .await;
        began.elapsed()
    }

    fn hourly() -> Schedule {
        let interval = Duration::from_secs(3_600);
        Schedule { interval, expiry: None, revocation: None, is_due: false }
    }

    #[tokio::test(start_paused = true)]
    async fn checks_possibly_ended_credentials_immediately() {
        let (clock, _) = clock();
        let expired = Schedule { expiry: Some(Expiry::new(999, 0, clock)), ..hourly() };
        for schedule in [Schedule { is_due: true, ..hourly() }, expired] {
            assert_eq!(ended_after(schedule, &[Standing::Ended]).await, Duration::ZERO);
        }
        let waited = ended_after(hourly(), &[Standing::Ended]).await;
        assert!(waited >= Duration::from_secs(1_800), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn retries_a_failed_check_soon() {
        let results = [Standing::Unknown, Standing::Unknown, Standing::Ended];
        let schedule = Schedule { is_due: true, ..hourly() };
        let waited = ended_after(schedule, &results).await;
        assert!(waited < Duration::from_secs(31), "{waited:?}");
    }
}
