//! [`Streams`]: the requests of an HTTP/2 connection. Each ends separately if
//! its client does not read the response.
//!
//! hyper holds a piece of a response until the client has room for it, and does
//! not poll the [body](crate::response_body) meanwhile. A body therefore cannot
//! end itself. But each stream is a future that hyper passes to this executor.
//! When the future is dropped, h2 resets the stream (`CANCEL`) and frees all of
//! it.

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::{Instant, Sleep};

use crate::connection_record::ConnectionRecord;
use crate::time_budget::{StallPolicy, TimeBudget};

/// Runs the streams of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    record: Arc<ConnectionRecord>,
    policy: StallPolicy,
}

impl Streams {
    pub(crate) fn new(record: Arc<ConnectionRecord>, policy: StallPolicy) -> Self {
        Self { record, policy }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        tokio::spawn(watch(stream, Arc::clone(&self.record), self.policy));
    }
}

/// Runs a stream to its end, or until its client has read nothing for too long.
///
/// A timer exists only once the server has had to wait for the client.
async fn watch<F: Future<Output = ()>>(
    stream: F,
    record: Arc<ConnectionRecord>,
    policy: StallPolicy,
) {
    let mut stream = pin!(stream);
    let mut owes = false;
    let mut waiting: Option<Box<StreamWait>> = None;
    std::future::poll_fn(|cx| {
        BODY_POLL.set(BodyPoll::NotPolled);
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let polled = BODY_POLL.replace(BodyPoll::NotPolled);
        if !matches!(polled, BodyPoll::NotPolled) {
            owes = matches!(polled, BodyPoll::Data(_));
            if let (Some(waiting), BodyPoll::Data(bytes)) = (&mut waiting, polled) {
                waiting.moved(bytes);
            } else if let Some(waiting) = &mut waiting {
                waiting.moved(0);
            }
        }
        if !owes {
            return Poll::Pending;
        }
        let waiting = waiting.get_or_insert_with(|| Box::new(StreamWait::new(policy)));
        waiting.poll(&record, cx)
    })
    .await;
}

/// The wait for a client without room.
struct StreamWait {
    budget: TimeBudget,
    since: Option<Instant>,
    sleep: Pin<Box<Sleep>>,
}

impl StreamWait {
    fn new(policy: StallPolicy) -> Self {
        let budget = TimeBudget::full(policy);
        let now = Instant::now();
        let sleep = Box::pin(tokio::time::sleep_until(now + budget.left().min(LOOK)));
        Self { budget, since: Some(now), sleep }
    }

    /// Ends a wait because the client read something.
    fn moved(&mut self, bytes: u64) {
        let waited = self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.budget.moved(bytes, waited);
    }

    /// Completes when the client has exceeded its time.
    fn poll(&mut self, record: &ConnectionRecord, cx: &mut Context<'_>) -> Poll<()> {
        let mut since = *self.since.get_or_insert_with(Instant::now);
        while self.sleep.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            // A blocked socket blocks all streams, and the sweep handles it.
            if record.is_blocked() && record.http2.held() <= MAX_HELD {
                since = now;
                self.since = Some(now);
            }
            let left = time_left(self.budget.left(), now - since, record.http2.held());
            if left.is_zero() {
                log::debug!(
                    target: "stockade::server",
                    "the client does not read a response on HTTP/2"
                );
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(now + left.min(LOOK));
        }
        Poll::Pending
    }
}

/// Returns the remaining time of a stream after it has `waited`, on a
/// connection that has `held` bytes of large responses in memory.
fn time_left(left: Duration, waited: Duration, held: u64) -> Duration {
    let left = if held > MAX_HELD { left.min(LOOK) } else { left };
    left.saturating_sub(waited)
}

/// The result of a body during one poll of its stream.
#[derive(Clone, Copy, Debug)]
enum BodyPoll {
    /// The body was not polled: the client has no room, or the handler runs.
    NotPolled,
    /// The body produced this many bytes, which the client has yet to read.
    Data(u64),
    /// The body produced no bytes: it waits for the application, or has ended.
    Pending,
}

thread_local! {
    /// Passes the result from the body of a stream to [`watch`], bypassing
    /// hyper. [`watch`] polls the body within one call, so no other stream is
    /// polled meanwhile.
    static BODY_POLL: Cell<BodyPoll> = const { Cell::new(BodyPoll::NotPolled) };
}

/// Records that the body of the polled stream produced bytes.
pub(crate) fn gave_data(bytes: usize) {
    let before = if let BodyPoll::Data(before) = BODY_POLL.get() { before } else { 0 };
    BODY_POLL.set(BodyPoll::Data(before + bytes as u64));
}

/// Records that the body of the polled stream produced no bytes.
pub(crate) fn has_no_data() {
    BODY_POLL.set(BodyPoll::Pending);
}

/// The number of bytes of large responses that a connection may have in memory
/// before a stall ends its streams after [`LOOK`]: 64 MiB.
pub(crate) const MAX_HELD: u64 = 67_108_864;

/// The longest stall of a connection above [`MAX_HELD`], and the interval
/// between two checks of a wait: 5 s.
const LOOK: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_with_much_unread_data_has_less_time() {
        let cases = [
            (75, 0, 0, 75),
            (75, 5, MAX_HELD, 70),
            (75, 75, MAX_HELD, 0),
            (75, 4, MAX_HELD + 1, 1),
            (75, 5, MAX_HELD + 1, 0),
            (3, 2, MAX_HELD + 1, 1),
        ];
        for (left, waited, held, expected) in cases {
            let seconds = Duration::from_secs;
            let found = time_left(seconds(left), seconds(waited), held);
            assert_eq!(found, seconds(expected), "{left} s, waited {waited} s, {held} bytes");
        }
    }
}
