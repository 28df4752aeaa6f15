//! [`ConnectionRecord`]: the state of one connection, shared by its task, its
//! socket, its requests and the sweep.
//!
//! Hot: a request performs a few relaxed atomic operations here and no
//! allocation. The fields are independent. The sweep may see one field slightly
//! older than another, which is below its precision.

mod activity;
mod http1;
mod http2;
mod output;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::Context;

use activity::Activity;
use atomic_waker::AtomicWaker;
use http1::Http1State;
use http2::Http2State;
use output::Output;

use crate::sweep::{Phase, Snapshot, SweepClock};

/// The state of one connection, and its current command.
#[derive(Debug)]
pub(crate) struct ConnectionRecord {
    /// Times and counts of requests.
    activity: Activity,
    /// The state of the sending side of the socket.
    output: Output,
    pub(crate) http1: Http1State,
    pub(crate) http2: Http2State,
    upgraded: AtomicBool,
    parked: AtomicBool,
    command: AtomicU8,
    task: AtomicWaker,
}

/// A command to a connection. A later variant replaces an earlier one.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Command {
    /// Continue.
    Stay = 0,
    /// Free the memory that an idle connection does not need. The next request
    /// cancels this command, but no other.
    Park = 1,
    /// Finish requests that are running or have begun, then close.
    Finish = 2,
    /// The server shuts down: finish running requests, then close.
    Shutdown = 3,
    /// Close now.
    Close = 4,
}

impl ConnectionRecord {
    /// Creates the record of a connection. `fast_path` selects
    /// [`fast_path`](crate::fast_path) for HTTP/1.
    pub(crate) fn new(clock: Arc<SweepClock>, fast_path: bool) -> Self {
        Self {
            activity: Activity::new(clock),
            output: Output::default(),
            http1: Http1State::new(fast_path),
            http2: Http2State::default(),
            upgraded: AtomicBool::new(false),
            parked: AtomicBool::new(false),
            command: AtomicU8::new(Command::Stay as u8),
            task: AtomicWaker::new(),
        }
    }

    /// Records that the socket now belongs to another protocol, which has its
    /// own timeouts.
    pub(crate) fn set_upgraded(&self) {
        self.upgraded.store(true, Ordering::Relaxed);
    }

    /// Records that bytes arrived. After an idle period they begin a head;
    /// later bytes do not restart its time. On HTTP/2 the bytes may be
    /// anything, so they begin nothing.
    pub(crate) fn bytes_came(&self) {
        if self.http2.is_spoken() {
            self.http2.hear();
        } else {
            self.activity.begin_head();
        }
    }

    /// Records that the socket accepted bytes.
    pub(crate) fn bytes_went(&self, count: usize) {
        if self.output.is_blocked() {
            self.unblock(count);
        }
    }

    /// Restarts the time of the head or idle period: a client that still had
    /// bytes to read was neither late nor idle.
    #[cold]
    fn unblock(&self, count: usize) {
        self.activity.restart();
        self.output.unblock(count);
    }

    /// Records that the socket accepts no more bytes. Returns true if a write
    /// must be tried anyway.
    pub(crate) fn bytes_wait(&self) -> bool {
        self.output.block()
    }

    /// Returns true while the socket accepts no more bytes.
    pub(crate) fn is_blocked(&self) -> bool {
        self.output.is_blocked()
    }

    /// Makes a blocked connection try its socket again.
    pub(crate) fn ask(&self) {
        self.output.ask();
        self.task.wake();
    }

    /// Ends a connection immediately if its client does not read. The system
    /// discards the bytes that it still holds for the client.
    pub(crate) fn give_up(&self) {
        self.output.set_resets();
        self.tell(Command::Close);
    }

    /// Returns true if the socket must be reset instead of closed.
    pub(crate) fn resets(&self) -> bool {
        self.output.resets()
    }

    /// HTTP/1: makes hyper write bodies without a copy. hyper decides this when
    /// its part of a connection is created. The connection therefore parks,
    /// unless the next request has already begun.
    #[cold]
    pub(crate) fn ask_for_vectored(&self) {
        if self.http1.want_vectored() {
            self.tell(Command::Park);
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        // Read before the mark, which a request writes before it ends.
        // Otherwise a long request could look like a slow head.
        let is_busy = self.activity.is_busy();
        let (since, is_idle) = self.activity.mark();
        let phase = if self.upgraded.load(Ordering::Relaxed) {
            Phase::Upgraded
        } else if is_busy {
            Phase::Busy
        } else if is_idle {
            Phase::Idle { since }
        } else {
            Phase::Head { since }
        };
        Snapshot {
            phase,
            http2: self.http2.is_spoken(),
            parked: self.parked.load(Ordering::Relaxed),
            blocked: self.is_blocked(),
            complete: self.http1.exchanges.complete().is_some(),
            taken: self.output.taken(),
            awaits_body: self.activity.awaits_body(),
            begun: since,
        }
    }

    /// HTTP/1: returns true if a request is running without reading from its
    /// client. The client has sent everything, or the handler does not read the
    /// body.
    pub(crate) fn is_unwatched(&self) -> bool {
        self.activity.is_busy() && !self.http2.is_spoken() && !self.activity.awaits_body()
    }

    /// Records that the server waits for more of a request body. Reading then
    /// detects a disconnected client.
    pub(crate) fn await_body(&self) {
        self.activity.await_body();
    }

    /// Reverts one [`await_body`](Self::await_body).
    pub(crate) fn end_await(&self) {
        self.activity.end_await();
    }

    /// Returns true if no request has ended since the last call.
    pub(crate) fn has_rested(&self) -> bool {
        self.activity.has_rested()
    }

    /// Records that the connection is parked.
    pub(crate) fn set_parked(&self) {
        self.parked.store(true, Ordering::Relaxed);
    }

    /// Records that the connection is awake, and cancels [`Command::Park`].
    pub(crate) fn wake_up(&self) {
        self.parked.store(false, Ordering::Relaxed);
        let (park, stay) = (Command::Park as u8, Command::Stay as u8);
        // A higher command remains.
        let _ = self.command.compare_exchange(park, stay, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Sends the connection a command and wakes its task.
    pub(crate) fn tell(&self, command: Command) {
        let before = self.command.fetch_max(command as u8, Ordering::AcqRel);
        if before < command as u8 {
            self.task.wake();
        }
    }

    /// Returns true if the connection received a command to finish or close.
    pub(crate) fn is_told_to_end(&self) -> bool {
        self.command.load(Ordering::Relaxed) >= Command::Finish as u8
    }

    /// Returns true if the connection was notified of the server's shutdown.
    pub(crate) fn is_told_to_shut_down(&self) -> bool {
        self.command.load(Ordering::Relaxed) >= Command::Shutdown as u8
    }

    /// Returns the current command, and wakes the task when it changes.
    pub(crate) fn command(&self, cx: &Context<'_>) -> Command {
        self.task.register(cx.waker());
        // Read after the waker is registered, so a command in between is seen
        // here.
        match self.command.load(Ordering::Acquire) {
            0 => Command::Stay,
            1 => Command::Park,
            2 => Command::Finish,
            3 => Command::Shutdown,
            _ => Command::Close,
        }
    }
}

/// A running request, until its response is complete or abandoned; or its body,
/// until it is read or abandoned. The connection is idle when the last of these
/// is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    record: Arc<ConnectionRecord>,
}

impl InFlight {
    pub(crate) fn begin(record: &Arc<ConnectionRecord>) -> Self {
        Self::of(Arc::clone(record))
    }

    /// Begins with a record that the caller no longer needs.
    pub(crate) fn of(record: Arc<ConnectionRecord>) -> Self {
        record.activity.begin_request();
        Self { record }
    }

    pub(crate) fn record(&self) -> &Arc<ConnectionRecord> {
        &self.record
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        // The connection is idle now, unless the next head has already begun.
        let is_idle = !self.record.http1.exchanges.is_in_head();
        self.record.activity.end_request(is_idle);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_connection_reads_a_head_becomes_busy_and_then_idle() {
        let clock = Arc::new(SweepClock::new(Duration::from_millis(10)));
        let record = Arc::new(ConnectionRecord::new(Arc::clone(&clock), true));
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
        let record = Arc::new(ConnectionRecord::new(
            Arc::new(SweepClock::new(Duration::from_millis(10))),
            true,
        ));
        record.http2.speak();
        drop(InFlight::begin(&record));
        record.bytes_came();
        assert_eq!(record.snapshot().phase, Phase::Idle { since: 10 });
    }

    #[test]
    fn a_connection_that_waits_for_the_client_is_neither_idle_nor_in_a_head() {
        let clock = Arc::new(SweepClock::new(Duration::from_millis(10)));
        for (begun, expected) in
            [(false, Phase::Idle { since: 30 }), (true, Phase::Head { since: 30 })]
        {
            let clock = Arc::new(SweepClock::new(Duration::from_millis(10)));
            let record = Arc::new(ConnectionRecord::new(Arc::clone(&clock), true));
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
        let record = ConnectionRecord::new(clock, true);
        record.ask();
        assert!(!record.bytes_wait(), "it was not blocked");
        record.ask();
        assert!(record.bytes_wait());
        assert!(!record.bytes_wait(), "once");
    }

    #[test]
    fn a_connection_rests_if_nothing_ended_since_the_last_check() {
        let record = Arc::new(ConnectionRecord::new(
            Arc::new(SweepClock::new(Duration::from_millis(10))),
            true,
        ));
        assert!(record.has_rested());
        let request = InFlight::begin(&record);
        assert!(record.has_rested());
        drop(request);
        assert!(!record.has_rested());
        assert!(record.has_rested());
    }

    #[test]
    fn only_a_park_command_is_withdrawn() {
        let record =
            ConnectionRecord::new(Arc::new(SweepClock::new(Duration::from_millis(10))), true);
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
    fn commands_only_escalate() {
        let record =
            ConnectionRecord::new(Arc::new(SweepClock::new(Duration::from_millis(10))), true);
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(record.command(&cx), Command::Stay);
        record.tell(Command::Close);
        record.tell(Command::Finish);
        assert_eq!(record.command(&cx), Command::Close);
    }
}
