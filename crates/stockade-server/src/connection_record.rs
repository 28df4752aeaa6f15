//! [`ConnectionRecord`]: the state of one connection, shared between its task, its
//! socket, its requests and the sweep.
//!
//! Hot: a request costs some relaxed atomic operations here and no allocation.
//! The fields are independent. The sweep may see one field a moment older than
//! another, which is below the precision of the sweep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::task::Context;

use atomic_waker::AtomicWaker;
use stockade_routing::__internal::HeaderLines;

use crate::exchanges::Exchanges;
use crate::sweep::{Phase, Snapshot, SweepClock};

/// The state of one connection, and the command that it has to follow.
#[derive(Debug)]
pub(crate) struct ConnectionRecord {
    clock: Arc<SweepClock>,
    /// The time at which the head or the idleness began, times two; plus one for
    /// idleness.
    mark: AtomicU64,
    /// The lower half counts requests that run: the response is not handed over
    /// completely, or the body is not read. While one runs, `mark` means nothing.
    /// The upper half counts requests that have ended.
    requests: AtomicU64,
    /// The number of ended requests at the last call of
    /// [`has_rested`](Self::has_rested).
    ended_before: AtomicU64,
    http2: AtomicBool,
    /// HTTP/2: bytes came since the last [`forget_bytes`](Self::forget_bytes).
    heard: AtomicBool,
    /// The socket takes no more bytes.
    blocked: AtomicBool,
    /// The bytes that the socket took after it was blocked.
    taken: AtomicU64,
    /// A blocked socket has to be tried, although the system does not report it
    /// as ready.
    asks: AtomicBool,
    /// HTTP/2: the bytes of large responses that are in memory until the client
    /// has them.
    held: AtomicU64,
    resets: AtomicBool,
    close_after: AtomicBool,
    /// HTTP/1: a body was too large to be copied behind its head.
    wants_vectored: AtomicBool,
    /// HTTP/1: hyper writes bodies from where they are.
    is_vectored: AtomicBool,
    /// HTTP/1: headers of the next response that hyper does not write.
    lines: HeaderLines,
    /// HTTP/1: the requests and responses.
    exchanges: Exchanges,
    upgraded: AtomicBool,
    parked: AtomicBool,
    /// The number of request bodies of which more is awaited; several on HTTP/2.
    awaited_bodies: AtomicU32,
    command: AtomicU8,
    task: AtomicWaker,
}

/// A command to a connection. A later variant replaces an earlier one.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Command {
    /// Go on.
    Stay = 0,
    /// Free the memory that an idle connection does not need. The next request
    /// takes this command back, and no other.
    Park = 1,
    /// Finish requests that run or have begun, then close.
    Finish = 2,
    /// The server shuts down: finish requests that run, then close.
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
            wants_vectored: AtomicBool::new(false),
            is_vectored: AtomicBool::new(false),
            lines: HeaderLines::default(),
            exchanges: Exchanges::new(),
            upgraded: AtomicBool::new(false),
            parked: AtomicBool::new(false),
            awaited_bodies: AtomicU32::new(0),
            command: AtomicU8::new(Command::Stay as u8),
            task: AtomicWaker::new(),
        }
    }

    /// Notes that the client speaks HTTP/2.
    pub(crate) fn set_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    /// Notes that the socket belongs to another protocol, which has timeouts of its
    /// own.
    pub(crate) fn set_upgraded(&self) {
        self.upgraded.store(true, Ordering::Relaxed);
    }

    /// Notes that bytes came. After idleness they begin a head; later bytes do not
    /// restart its time. On HTTP/2 bytes may be anything, so they begin nothing.
    pub(crate) fn bytes_came(&self) {
        let idle = self.mark.load(Ordering::Relaxed) % 2 == 1;
        if self.http2.load(Ordering::Relaxed) {
            self.heard.store(true, Ordering::Relaxed);
        } else if idle {
            self.mark.store(self.clock.stamp() * 2, Ordering::Relaxed);
        }
    }

    /// HTTP/2: resets [`has_heard`](Self::has_heard).
    pub(crate) fn forget_bytes(&self) {
        self.heard.store(false, Ordering::Relaxed);
    }

    /// HTTP/2: returns true if bytes came since
    /// [`forget_bytes`](Self::forget_bytes).
    pub(crate) fn has_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// Notes that the socket took bytes.
    pub(crate) fn bytes_went(&self, count: usize) {
        if self.blocked.load(Ordering::Relaxed) {
            self.unblock(count);
        }
    }

    /// Restarts the time of the head or the idleness: a client that still had bytes
    /// to read was neither late nor idle.
    #[cold]
    fn unblock(&self, count: usize) {
        let mark = self.mark.load(Ordering::Relaxed);
        self.mark.store(self.clock.stamp() * 2 + mark % 2, Ordering::Relaxed);
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        self.blocked.store(false, Ordering::Relaxed);
    }

    /// Notes that the socket takes no more bytes. Returns true if it has to be tried
    /// all the same.
    pub(crate) fn bytes_wait(&self) -> bool {
        let was_blocked = self.blocked.swap(true, Ordering::Relaxed);
        self.asks.swap(false, Ordering::Relaxed) && was_blocked
    }

    /// Returns true while the socket takes no more bytes.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// Makes a blocked connection try its socket again.
    pub(crate) fn ask(&self) {
        self.asks.store(true, Ordering::Relaxed);
        self.task.wake();
    }

    /// HTTP/2: counts a large response in memory.
    pub(crate) fn hold(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// HTTP/2: counts a large response as gone.
    pub(crate) fn release(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// HTTP/2: returns the bytes of large responses in memory.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Ends a connection whose client does not read, at once. The system drops the
    /// bytes that it still holds for the client.
    pub(crate) fn give_up(&self) {
        self.resets.store(true, Ordering::Relaxed);
        self.tell(Command::Close);
    }

    /// Returns true if the socket has to be reset instead of closed.
    pub(crate) fn resets(&self) -> bool {
        self.resets.load(Ordering::Relaxed)
    }

    /// HTTP/1: makes the response to the running request the last one.
    pub(crate) fn close_after(&self) {
        self.close_after.store(true, Ordering::Relaxed);
    }

    /// Returns true if the response to the running request is the last one.
    pub(crate) fn closes_after(&self) -> bool {
        self.close_after.load(Ordering::Relaxed)
    }

    /// HTTP/1: asks that hyper write bodies from where they are. It decides that when
    /// its part of a connection is made, so the connection parks, unless the next
    /// request has begun already.
    #[cold]
    pub(crate) fn ask_for_vectored(&self) {
        self.wants_vectored.store(true, Ordering::Relaxed);
        self.tell(Command::Park);
    }

    /// Decides for a new part of hyper if it writes bodies from where they are.
    pub(crate) fn decide_on_vectored(&self) -> bool {
        let wants = self.wants_vectored.load(Ordering::Relaxed);
        self.is_vectored.store(wants, Ordering::Relaxed);
        wants
    }

    /// Returns true if hyper writes bodies from where they are.
    pub(crate) fn is_vectored(&self) -> bool {
        self.is_vectored.load(Ordering::Relaxed)
    }

    /// Returns the headers of the next response that hyper does not write.
    pub(crate) fn lines(&self) -> &HeaderLines {
        &self.lines
    }

    /// Returns the place for headers of a response that is ready now, which hyper does
    /// not write, if its head will be the next that hyper writes.
    pub(crate) fn lines_of_next_head(&self) -> Option<&HeaderLines> {
        self.exchanges.is_flushed().then_some(&self.lines)
    }

    /// Returns the count of requests and responses of an HTTP/1 connection.
    pub(crate) fn exchanges(&self) -> &Exchanges {
        &self.exchanges
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        // Read before the mark, which a request writes before it ends. Otherwise a
        // long request could look like a slow head.
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
            complete: self.exchanges.complete().is_some(),
            taken: self.taken.load(Ordering::Relaxed),
            awaits_body: self.awaited_bodies.load(Ordering::Relaxed) > 0,
            begun: since,
        }
    }

    /// HTTP/1: returns true if a request runs and nothing reads from its client. The
    /// client has sent everything, or the handler does not read the body.
    pub(crate) fn is_unwatched(&self) -> bool {
        let running = self.requests.load(Ordering::Relaxed) % ENDED;
        running > 0
            && !self.http2.load(Ordering::Relaxed)
            && self.awaited_bodies.load(Ordering::Relaxed) == 0
    }

    /// Notes that more of a request's body is awaited. Then reading shows the end
    /// of the client.
    pub(crate) fn await_body(&self) {
        self.awaited_bodies.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back one [`await_body`](Self::await_body).
    pub(crate) fn end_await(&self) {
        self.awaited_bodies.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true if no request has ended since the last call.
    pub(crate) fn has_rested(&self) -> bool {
        let ended = self.requests.load(Ordering::Relaxed) / ENDED;
        self.ended_before.swap(ended, Ordering::Relaxed) == ended
    }

    /// Notes that the connection is parked.
    pub(crate) fn set_parked(&self) {
        self.parked.store(true, Ordering::Relaxed);
    }

    /// Notes that the connection is awake, and takes [`Command::Park`] back.
    pub(crate) fn wake_up(&self) {
        self.parked.store(false, Ordering::Relaxed);
        let (park, stay) = (Command::Park as u8, Command::Stay as u8);
        // A higher command stays.
        let _ = self.command.compare_exchange(park, stay, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Gives the connection a command and wakes its task.
    pub(crate) fn tell(&self, command: Command) {
        let before = self.command.fetch_max(command as u8, Ordering::AcqRel);
        if before < command as u8 {
            self.task.wake();
        }
    }

    /// Returns true if the connection was told to finish or to close.
    pub(crate) fn is_told_to_end(&self) -> bool {
        self.command.load(Ordering::Relaxed) >= Command::Finish as u8
    }

    /// Returns true if the connection was told that the server shuts down.
    pub(crate) fn is_told_to_shut_down(&self) -> bool {
        self.command.load(Ordering::Relaxed) >= Command::Shutdown as u8
    }

    /// Returns the command of the connection, and wakes its task when that changes.
    pub(crate) fn command(&self, cx: &Context<'_>) -> Command {
        self.task.register(cx.waker());
        // After the waker, so that a command that comes in between is seen here.
        match self.command.load(Ordering::Acquire) {
            0 => Command::Stay,
            1 => Command::Park,
            2 => Command::Finish,
            3 => Command::Shutdown,
            _ => Command::Close,
        }
    }
}

/// A request that runs, until its response has been handed over or given up; or
/// its body, until it has been read or given up. The connection is idle when the
/// last of these is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    record: Arc<ConnectionRecord>,
}

impl InFlight {
    pub(crate) fn begin(record: &Arc<ConnectionRecord>) -> Self {
        Self::of(Arc::clone(record))
    }

    /// Begins with a record that the caller does not need any more.
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
        // The connection is idle now, unless the next head has begun already.
        let is_idle = !record.exchanges.is_in_head();
        // First the mark: `snapshot` reads it last.
        record.mark.store(record.clock.stamp() * 2 + u64::from(is_idle), Ordering::Relaxed);
        // One running request less, one ended request more.
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
