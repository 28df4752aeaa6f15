//! [`ConnectionRecord`]: what is known of one connection, shared between its task, its
//! socket, its requests and the sweep.
//!
//! Hot: a request costs some relaxed atomic operations here and no allocation.
//! The fields are independent; the sweep may see one a moment older than
//! another, which only matters within its own coarseness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::Context;

use atomic_waker::AtomicWaker;

use crate::sweep::{Phase, Snapshot, SweepClock};

/// One connection, as the sweep sees it.
#[derive(Debug)]
pub(crate) struct ConnectionRecord {
    clock: Arc<SweepClock>,
    /// When the head or the idleness began, times two; plus one for idleness.
    mark: AtomicU64,
    /// Requests whose answer has not been handed over completely, or whose body
    /// has not been read. While there is one, `mark` means nothing. The upper
    /// half counts those that have ended.
    requests: AtomicU64,
    /// How many had ended when somebody [looked](Self::has_rested) the last time.
    ended_before: AtomicU64,
    http2: AtomicBool,
    /// HTTP/2: bytes came since this was [taken back](Self::forget_bytes).
    heard: AtomicBool,
    /// The socket takes no more bytes.
    blocked: AtomicBool,
    /// Bytes that it took after it was blocked.
    taken: AtomicU64,
    /// A blocked socket is to be asked, although nobody says that it is ready.
    asks: AtomicBool,
    /// HTTP/2: bytes of large answers that are kept until the client has them.
    held: AtomicU64,
    resets: AtomicBool,
    close_after: AtomicBool,
    upgraded: AtomicBool,
    parked: AtomicBool,
    awaits_body: AtomicBool,
    command: AtomicU8,
    task: AtomicWaker,
}

/// What a connection is told from outside. Later ones replace earlier ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Command {
    /// Go on.
    Stay = 0,
    /// Give back what an idle connection does not need. The only order that
    /// ends, with the next request.
    Park = 1,
    /// Finish what is running or has begun, then close.
    Finish = 2,
    /// The server shuts down: finish what is running, then close.
    Shutdown = 3,
    /// Close now.
    Close = 4,
}

impl ConnectionRecord {
    pub(crate) fn new(clock: Arc<SweepClock>) -> Self {
        let now = clock.stamp();
        Self {
            clock,
            mark: AtomicU64::new(now * 2),
            requests: AtomicU64::new(0),
            ended_before: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            heard: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            asks: AtomicBool::new(false),
            held: AtomicU64::new(0),
            resets: AtomicBool::new(false),
            close_after: AtomicBool::new(false),
            upgraded: AtomicBool::new(false),
            parked: AtomicBool::new(false),
            awaits_body: AtomicBool::new(false),
            command: AtomicU8::new(Command::Stay as u8),
            task: AtomicWaker::new(),
        }
    }

    /// The client speaks HTTP/2.
    pub(crate) fn set_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    /// The socket belongs to another protocol now, which watches itself.
    pub(crate) fn set_upgraded(&self) {
        self.upgraded.store(true, Ordering::Relaxed);
    }

    /// Bytes came. After idleness they begin a head; further ones do not
    /// prolong it. On HTTP/2 they may be anything, so they do not count.
    pub(crate) fn bytes_came(&self) {
        let idle = self.mark.load(Ordering::Relaxed) % 2 == 1;
        if self.http2.load(Ordering::Relaxed) {
            self.heard.store(true, Ordering::Relaxed);
        } else if idle {
            self.mark.store(self.clock.stamp() * 2, Ordering::Relaxed);
        }
    }

    /// HTTP/2: from now on [`has_heard`](Self::has_heard) is about new bytes.
    pub(crate) fn forget_bytes(&self) {
        self.heard.store(false, Ordering::Relaxed);
    }

    /// HTTP/2: returns true when bytes came since
    /// [`forget_bytes`](Self::forget_bytes).
    pub(crate) fn has_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// The socket took bytes.
    pub(crate) fn bytes_went(&self, count: usize) {
        if self.blocked.load(Ordering::Relaxed) {
            self.unblock(count);
        }
    }

    /// Nothing waits for a client that is still reading: while it reads it was
    /// neither idle nor late with its next head.
    #[cold]
    fn unblock(&self, count: usize) {
        let mark = self.mark.load(Ordering::Relaxed);
        self.mark.store(self.clock.stamp() * 2 + mark % 2, Ordering::Relaxed);
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        self.blocked.store(false, Ordering::Relaxed);
    }

    /// The socket takes no more bytes; true if it is to be asked all the same.
    pub(crate) fn bytes_wait(&self) -> bool {
        let was_blocked = self.blocked.swap(true, Ordering::Relaxed);
        self.asks.swap(false, Ordering::Relaxed) && was_blocked
    }

    /// True while the socket takes no more bytes.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// Makes a blocked connection ask its socket whether it takes bytes again.
    pub(crate) fn ask(&self) {
        self.asks.store(true, Ordering::Relaxed);
        self.task.wake();
    }

    /// HTTP/2: a large answer is there.
    pub(crate) fn hold(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// HTTP/2: a large answer is gone.
    pub(crate) fn release(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// HTTP/2: bytes of large answers that are kept until the client has them.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Ends a connection whose client does not take its answer: at once, and
    /// with it what the system has of the answer.
    pub(crate) fn give_up(&self) {
        self.resets.store(true, Ordering::Relaxed);
        self.tell(Command::Close);
    }

    /// True if the socket is to be reset instead of closed.
    pub(crate) fn resets(&self) -> bool {
        self.resets.load(Ordering::Relaxed)
    }

    /// HTTP/1: the answer to the running request is to be the last one.
    pub(crate) fn close_after(&self) {
        self.close_after.store(true, Ordering::Relaxed);
    }

    /// Whether the answer is to be the last one.
    pub(crate) fn closes_after(&self) -> bool {
        self.close_after.load(Ordering::Relaxed)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        // Before the mark, which the last request writes before it ends: else
        // a long request could look like a slow head.
        let running = self.requests.load(Ordering::Acquire) % ENDED;
        let mark = self.mark.load(Ordering::Relaxed);
        let since = mark / 2;
        let phase = if self.upgraded.load(Ordering::Relaxed) {
            Phase::Upgraded
        } else if running > 0 {
            Phase::Busy
        } else if mark % 2 == 1 {
            Phase::Idle { since }
        } else {
            Phase::Head { since }
        };
        Snapshot {
            phase,
            http2: self.http2.load(Ordering::Relaxed),
            parked: self.parked.load(Ordering::Relaxed),
            blocked: self.is_blocked(),
            taken: self.taken.load(Ordering::Relaxed),
        }
    }

    /// HTTP/1: whether a request is running and nobody reads from its client: it
    /// has sent everything, or a handler holds what it has not read.
    pub(crate) fn is_unwatched(&self) -> bool {
        let running = self.requests.load(Ordering::Relaxed) % ENDED;
        running > 0
            && !self.http2.load(Ordering::Relaxed)
            && !self.awaits_body.load(Ordering::Relaxed)
    }

    /// Whether somebody waits for more of the body of a request, so that the end
    /// of the client is seen by reading.
    pub(crate) fn set_awaits_body(&self, awaits: bool) {
        self.awaits_body.store(awaits, Ordering::Relaxed);
    }

    /// Whether no request has come since this was asked the last time.
    pub(crate) fn has_rested(&self) -> bool {
        let ended = self.requests.load(Ordering::Relaxed) / ENDED;
        self.ended_before.swap(ended, Ordering::Relaxed) == ended
    }

    /// [`Command::Park`] has been carried out.
    pub(crate) fn set_parked(&self) {
        self.parked.store(true, Ordering::Relaxed);
    }

    /// Takes [`Command::Park`] back, if that is the command.
    pub(crate) fn wake_up(&self) {
        self.parked.store(false, Ordering::Relaxed);
        let (park, stay) = (Command::Park as u8, Command::Stay as u8);
        // Another order stands.
        let _ = self.command.compare_exchange(park, stay, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Tells the connection what to do and wakes its task.
    pub(crate) fn tell(&self, command: Command) {
        let before = self.command.fetch_max(command as u8, Ordering::AcqRel);
        if before < command as u8 {
            self.task.wake();
        }
    }

    /// Returns true when the connection was told to finish or to close.
    pub(crate) fn is_told_to_end(&self) -> bool {
        self.command.load(Ordering::Relaxed) >= Command::Finish as u8
    }

    /// What the connection has been told; its task is woken when that changes.
    pub(crate) fn command(&self, cx: &Context<'_>) -> Command {
        self.task.register(cx.waker());
        // After the waker: an order that comes between is seen here.
        match self.command.load(Ordering::Acquire) {
            0 => Command::Stay,
            1 => Command::Park,
            2 => Command::Finish,
            3 => Command::Shutdown,
            _ => Command::Close,
        }
    }
}

/// A request that is running, until its answer has been handed over or given
/// up; or the body of one, until it has been read or given up. The connection
/// is idle after the last one.
#[derive(Debug)]
pub(crate) struct InFlight {
    record: Arc<ConnectionRecord>,
}

impl InFlight {
    pub(crate) fn begin(record: &Arc<ConnectionRecord>) -> Self {
        Self::of(Arc::clone(record))
    }

    /// The same for a record that the caller does not need any more.
    pub(crate) fn of(record: Arc<ConnectionRecord>) -> Self {
        record.requests.fetch_add(1, Ordering::Relaxed);
        Self { record }
    }

    pub(crate) fn record(&self) -> &Arc<ConnectionRecord> {
        &self.record
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let record = &self.record;
        // The mark first: see `snapshot`.
        record.mark.store(record.clock.stamp() * 2 + 1, Ordering::Relaxed);
        // One less that runs, one more that has ended.
        record.requests.fetch_add(ENDED - 1, Ordering::Release);
    }
}

/// One request in the upper half of `requests`.
const ENDED: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_connection_is_a_head_then_busy_then_idle_then_a_head_again() {
        let clock = Arc::new(SweepClock::new(Duration::from_millis(10)));
        let record = Arc::new(ConnectionRecord::new(Arc::clone(&clock)));
        assert_eq!(record.snapshot().phase, Phase::Head { since: 10 });

        clock.tick();
        record.bytes_came();
        assert_eq!(record.snapshot().phase, Phase::Head { since: 10 }, "not prolonged");

        let request = InFlight::begin(&record);
        let another = InFlight::begin(&record);
        drop(request);
        assert_eq!(record.snapshot().phase, Phase::Busy);
        clock.tick();
        drop(another);
        assert_eq!(record.snapshot().phase, Phase::Idle { since: 30 });

        clock.tick();
        record.bytes_came();
        assert_eq!(record.snapshot().phase, Phase::Head { since: 40 });
    }

    #[test]
    fn bytes_on_http2_do_not_begin_a_head() {
        let record =
            Arc::new(ConnectionRecord::new(Arc::new(SweepClock::new(Duration::from_millis(10)))));
        record.set_http2();
        drop(InFlight::begin(&record));
        record.bytes_came();
        assert_eq!(record.snapshot().phase, Phase::Idle { since: 10 });
    }

    #[test]
    fn what_waits_for_the_client_is_no_idleness_and_no_head() {
        let clock = Arc::new(SweepClock::new(Duration::from_millis(10)));
        for (begun, expected) in
            [(false, Phase::Idle { since: 30 }), (true, Phase::Head { since: 30 })]
        {
            let clock = Arc::new(SweepClock::new(Duration::from_millis(10)));
            let record = Arc::new(ConnectionRecord::new(Arc::clone(&clock)));
            drop(InFlight::begin(&record));
            if begun {
                record.bytes_came();
            }
            assert!(!record.bytes_wait());
            assert!(record.snapshot().blocked);
            clock.tick();
            clock.tick();
            record.bytes_went(7);
            let seen = record.snapshot();
            assert_eq!((seen.phase, seen.blocked, seen.taken), (expected, false, 7));
            record.bytes_went(7);
            assert_eq!(record.snapshot().taken, 7);
        }
        let record = ConnectionRecord::new(clock);
        record.ask();
        assert!(!record.bytes_wait(), "it was not blocked");
        record.ask();
        assert!(record.bytes_wait());
        assert!(!record.bytes_wait(), "once");
    }

    #[test]
    fn a_connection_rests_when_nothing_ended_since_the_last_look() {
        let record =
            Arc::new(ConnectionRecord::new(Arc::new(SweepClock::new(Duration::from_millis(10)))));
        assert!(record.has_rested());
        let request = InFlight::begin(&record);
        assert!(record.has_rested());
        drop(request);
        assert!(!record.has_rested());
        assert!(record.has_rested());
    }

    #[test]
    fn parking_is_taken_back_and_nothing_else_is() {
        let record = ConnectionRecord::new(Arc::new(SweepClock::new(Duration::from_millis(10))));
        let cx = Context::from_waker(Waker::noop());
        for (told, left) in [
            (Command::Park, Command::Stay),
            (Command::Finish, Command::Finish),
            (Command::Park, Command::Finish),
            (Command::Close, Command::Close),
        ] {
            record.tell(told);
            record.wake_up();
            assert_eq!(record.command(&cx), left, "{told:?}");
        }
    }

    #[test]
    fn orders_only_grow() {
        let record = ConnectionRecord::new(Arc::new(SweepClock::new(Duration::from_millis(10))));
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(record.command(&cx), Command::Stay);
        record.tell(Command::Close);
        record.tell(Command::Finish);
        assert_eq!(record.command(&cx), Command::Close);
    }
}
