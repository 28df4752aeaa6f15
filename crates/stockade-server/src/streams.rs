//! [`Streams`]: the requests of an HTTP/2 connection, each of which ends alone
//! when its client does not take the answer.
//!
//! hyper keeps a piece of an answer until the client has room for it and does
//! not ask the [body](crate::response_body) meanwhile, so that a body cannot
//! end itself. But each stream runs as a future that hyper hands to us, and one
//! that is dropped is reset by h2 (`CANCEL`), with all that it holds.

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

/// Runs a stream to its end, or until its client has taken nothing for too
/// long.
///
/// A timer exists only when the client has let us wait.
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

/// The wait for a client that has no room.
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

    /// The client took something, which is the end of a wait.
    fn moved(&mut self, bytes: u64) {
        let waited = self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.budget.moved(bytes, waited);
    }

    /// Ready when the client has been waited for too long.
    fn poll(&mut self, record: &ConnectionRecord, cx: &mut Context<'_>) -> Poll<()> {
        let mut since = *self.since.get_or_insert_with(Instant::now);
        while self.sleep.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            // What waits for the socket waits for all streams, and the sweep
            // judges the connection.
            if record.is_blocked() && record.held() <= MAX_HELD {
                since = now;
                self.since = Some(now);
            }
            let left = time_left(self.budget.left(), now - since, record.held());
            if left.is_zero() {
                log::debug!(target: "stockade::server", "an answer on HTTP/2 is not read");
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(now + left.min(LOOK));
        }
        Poll::Pending
    }
}

/// The time that a stream may go on waiting which has waited so long, on a
/// connection that holds so many bytes.
fn time_left(left: Duration, waited: Duration, held: u64) -> Duration {
    let left = if held > MAX_HELD { left.min(LOOK) } else { left };
    left.saturating_sub(waited)
}

/// The word of a stream's body while the stream was polled.
#[derive(Clone, Copy, Debug)]
enum BodyPoll {
    /// It was not asked, because the client has no room or the handler runs.
    NotPolled,
    /// It gave so many bytes, which the client has yet to take.
    Data(u64),
    /// It has nothing to give: it waits for the application.
    Pending,
}

thread_local! {
    /// The way from the body of a stream to [`watch`], with hyper in between. The
    /// one is polled within the other, so there is no other stream meanwhile.
    static BODY_POLL: Cell<BodyPoll> = const { Cell::new(BodyPoll::NotPolled) };
}

/// The body of the stream that is polled gave something.
pub(crate) fn gave_data(bytes: usize) {
    let before = if let BodyPoll::Data(before) = BODY_POLL.get() { before } else { 0 };
    BODY_POLL.set(BodyPoll::Data(before + bytes as u64));
}

/// The body of the stream that is polled has nothing to give.
pub(crate) fn has_no_data() {
    BODY_POLL.set(BodyPoll::Pending);
}

/// The bytes of large answers that a connection may hold before clients that
/// take nothing are given up soon: 64 MiB.
pub(crate) const MAX_HELD: u64 = 67_108_864;

/// That soon, and the rest between two looks at a wait: 5 s.
const LOOK: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_much_has_less_time() {
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
