//! [`Timeouts`]: all timeouts of one connection, with one timer.
//!
//! At each tick, the timer checks the events since the previous tick. Handling
//! a message therefore does not need to read the clock. A timeout is at most
//! one tick late and never early.
//!
//! The write timeout is measured exactly: a write rarely has to wait, so it may
//! read the clock.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::options::WebSocketOptions;

/// A timeout that is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Alarm {
    /// Only a tick; no timeout is due.
    Nothing,
    /// A silent client must get a ping.
    Ping,
    /// The client did not answer the ping.
    Silent,
    /// No message was exchanged for too long.
    Idle,
    /// The client accepts none of the bytes that wait for it.
    Stalled,
    /// The closing handshake, or the end of the handler, takes too long.
    Deadline,
}

/// The limits of a connection and the measured times.
#[derive(Debug)]
pub(crate) struct Timeouts {
    timer: Option<Pin<Box<Sleep>>>,
    tick: Duration,
    /// The time of the next tick. The timer may fire earlier for a write that
    /// reaches its limit first.
    next_tick: Instant,
    options: Arc<WebSocketOptions>,
    closing: bool,
    heard: bool,
    exchanged: bool,
    /// The time at which the client stopped accepting the waiting bytes.
    blocked: Option<Instant>,
    pinged: bool,
    silent: Duration,
    idle: Duration,
}

impl Timeouts {
    pub(crate) fn new(options: Arc<WebSocketOptions>) -> Self {
        let limits = [options.ping_interval, options.idle_timeout];
        let shortest = limits.into_iter().flatten().fold(options.write_timeout, Duration::min);
        let shortest = shortest.min(options.ping_timeout).clamp(SHORTEST, LONGEST);
        let tick = shortest / 2;
        Self {
            timer: None,
            tick,
            next_tick: Instant::now() + tick,
            options,
            closing: false,
            heard: false,
            exchanged: false,
            blocked: None,
            pinged: false,
            silent: Duration::ZERO,
            idle: Duration::ZERO,
        }
    }

    /// Records that the client sent bytes.
    pub(crate) fn received_bytes(&mut self) {
        self.heard = true;
    }

    /// Records that a message was received or sent.
    pub(crate) fn moved_message(&mut self) {
        self.exchanged = true;
    }

    /// Records that the client accepted `count` bytes; `blocked` is true if
    /// more bytes wait.
    pub(crate) fn wrote(&mut self, count: usize, blocked: bool) {
        if !blocked {
            self.blocked = None;
        } else if count > 0 || self.blocked.is_none() {
            self.blocked = Some(Instant::now());
        }
    }

    /// Returns the time of the write timeout, assuming the client accepts
    /// nothing until then.
    fn stalls_at(&self) -> Option<Instant> {
        // A time beyond the range of `Instant` is never reached.
        self.blocked?.checked_add(self.options.write_timeout)
    }

    /// Replaces all timeouts with the close timeout. Each closing step restarts
    /// it.
    pub(crate) fn set_deadline(&mut self) {
        self.closing = true;
        let deadline = Instant::now() + self.options.close_timeout.min(LONGEST);
        self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline))).as_mut().reset(deadline);
    }

    /// Returns the next alarm. `reading` is false while the connection does not
    /// read; silence is then not the client's fault.
    pub(crate) fn poll(&mut self, reading: bool, cx: &mut Context<'_>) -> Poll<Alarm> {
        let next_tick = self.next_tick;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(next_tick)));
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let now = Instant::now();
        if self.closing {
            // No further alarm is needed.
            timer.as_mut().reset(now + LONGEST);
            return Poll::Ready(Alarm::Deadline);
        }
        let stalls_at = self.stalls_at();
        let mut alarm = Alarm::Nothing;
        if stalls_at.is_some_and(|at| at <= now) {
            alarm = Alarm::Stalled;
        } else if self.next_tick <= now {
            self.next_tick = now + self.tick;
            alarm = self.on_tick(reading);
        }
        let next =
            stalls_at.filter(|at| *at > now).map_or(self.next_tick, |at| at.min(self.next_tick));
        if let Some(timer) = &mut self.timer {
            timer.as_mut().reset(next);
        }
        Poll::Ready(alarm)
    }

    /// Returns the alarm of a tick.
    fn on_tick(&mut self, reading: bool) -> Alarm {
        let heard = std::mem::take(&mut self.heard) || !reading;
        let count =
            |again: bool, sum: Duration| if again { Duration::ZERO } else { sum + self.tick };
        self.silent = count(heard, self.silent);
        self.idle = count(std::mem::take(&mut self.exchanged), self.idle);
        self.pinged &= !heard;
        // Adds one tick, because the first one may have been shorter.
        let over = |since: Duration, limit: Duration| since >= limit + self.tick;
        if let Some(interval) = self.options.ping_interval {
            if over(self.silent, interval + self.options.ping_timeout) {
                return Alarm::Silent;
            }
            if !self.pinged && over(self.silent, interval) {
                self.pinged = true;
                return Alarm::Ping;
            }
        }
        match self.options.idle_timeout {
            Some(limit) if over(self.idle, limit) => Alarm::Idle,
            _ => Alarm::Nothing,
        }
    }
}

/// The shortest supported timeout.
const SHORTEST: Duration = Duration::from_millis(20);

/// The longest timeout: one day.
const LONGEST: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the alarms of `ticks` silent ticks of 10 s.
    fn alarms(timeouts: &mut Timeouts, ticks: usize, reading: bool) -> Vec<Alarm> {
        (0..ticks).map(|_| timeouts.on_tick(reading)).collect()
    }

    #[test]
    fn pings_a_silent_client_and_then_closes() {
        let mut timeouts = Timeouts::new(Arc::new(WebSocketOptions::new()));
        assert_eq!(timeouts.tick, Duration::from_secs(10));
        assert_eq!(alarms(&mut timeouts, 4, true)[3], Alarm::Ping);
        assert_eq!(alarms(&mut timeouts, 2, true), [Alarm::Nothing, Alarm::Silent]);
        timeouts.received_bytes();
        assert_eq!(alarms(&mut timeouts, 4, true), [Alarm::Nothing; 4]);
        assert_eq!(alarms(&mut timeouts, 1, true), [Alarm::Ping]);
    }

    #[test]
    fn silence_does_not_count_while_the_handler_does_not_read() {
        let mut timeouts = Timeouts::new(Arc::new(WebSocketOptions::new()));
        assert_eq!(alarms(&mut timeouts, 100, false), [Alarm::Nothing; 100]);
    }

    /// Returns the time until the client was disconnected. Each write consists
    /// of its time in milliseconds, its number of bytes, and true if more bytes
    /// wait.
    async fn given_up_at(options: WebSocketOptions, writes: &[(u64, usize, bool)]) -> Duration {
        let began = Instant::now();
        let mut timeouts = Timeouts::new(Arc::new(options));
        let mut writes = writes.iter().peekable();
        loop {
            if let Some((at, count, blocked)) = writes.peek() {
                let at = began + Duration::from_millis(*at);
                let due = std::future::poll_fn(|cx| timeouts.poll(true, cx));
                if let Ok(alarm) = tokio::time::timeout_at(at, due).await {
                    assert_ne!(alarm, Alarm::Stalled, "too early: {:?}", began.elapsed());
                    continue;
                }
                timeouts.wrote(*count, *blocked);
                writes.next();
                continue;
            }
            if std::future::poll_fn(|cx| timeouts.poll(true, cx)).await == Alarm::Stalled {
                return began.elapsed();
            }
        }
    }

    /// Checks with and without pings; times are in milliseconds.
    async fn check(writes: &[(u64, usize, bool)], expected: u64) {
        let expected = Duration::from_millis(expected);
        for pings in [Some(Duration::from_secs(30)), None] {
            let at = given_up_at(WebSocketOptions::new().ping_interval(pings), writes).await;
            // A tokio timer may be a millisecond late.
            let late = at.checked_sub(expected);
            let in_time = late.is_some_and(|late| late < Duration::from_millis(10));
            assert!(in_time, "{writes:?}, pings {pings:?}: {at:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_a_stalled_client_in_time() {
        check(&[(0, 0, true)], 30_000).await;
        check(&[(100, 65_536, true)], 30_100).await;
        check(&[(9_999, 65_536, true)], 39_999).await;
        check(&[(10_001, 65_536, true)], 40_001).await;
        // Another write without progress does not extend the timeout.
        check(&[(0, 1, true), (29_000, 0, true)], 30_000).await;
        // A single byte restarts it, even at the last moment.
        check(&[(0, 1, true), (29_990, 1, true)], 59_990).await;
        check(&[(0, 1, true), (29_000, 0, false), (35_000, 1, true)], 65_000).await;
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_slow_clients_and_clients_without_a_limit() {
        let endless = WebSocketOptions::new().write_timeout(Duration::MAX);
        for (options, blocked) in [(WebSocketOptions::new(), false), (endless, true)] {
            let mut timeouts = Timeouts::new(Arc::new(options.ping_interval(None)));
            timeouts.wrote(1, blocked);
            let alarms = async {
                loop {
                    let alarm = std::future::poll_fn(|cx| timeouts.poll(true, cx)).await;
                    assert_eq!(alarm, Alarm::Nothing);
                }
            };
            let hour = Duration::from_secs(3_600);
            assert!(tokio::time::timeout(hour, alarms).await.is_err());
        }
    }

    #[test]
    fn only_messages_end_idleness() {
        let options = WebSocketOptions::new().idle_timeout(Some(Duration::from_secs(20)));
        let mut timeouts = Timeouts::new(Arc::new(options));
        timeouts.moved_message();
        timeouts.received_bytes();
        assert_eq!(alarms(&mut timeouts, 3, true), [Alarm::Nothing; 3]);
        timeouts.received_bytes();
        assert_eq!(alarms(&mut timeouts, 1, true), [Alarm::Idle]);
    }
}
