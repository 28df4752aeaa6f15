//! [`Clock`]: the times of one connection, with one timer.
//!
//! It ticks; each tick asks what happened since the one before. So a message
//! costs no look at the clock, and a limit is reached up to one tick late and
//! never early.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep, sleep_until};

use crate::options::WebSocketOptions;

/// What has become due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Alarm {
    /// Only a tick.
    Nothing,
    /// The client is to be asked whether it is there.
    Ping,
    /// It was asked and did not answer.
    Silent,
    /// There was no message for too long.
    Idle,
    /// The client takes nothing of what waits for it.
    Stalled,
    /// The end has taken too long.
    Deadline,
}

/// The limits, and how long each thing has been so.
#[derive(Debug)]
pub(crate) struct Clock {
    timer: Option<Pin<Box<Sleep>>>,
    tick: Duration,
    ping_interval: Option<Duration>,
    ping_timeout: Duration,
    idle_timeout: Option<Duration>,
    write_timeout: Duration,
    close_timeout: Duration,
    closing: bool,
    heard: bool,
    exchanged: bool,
    wrote: bool,
    blocked: bool,
    pinged: bool,
    silent: Duration,
    idle: Duration,
    stalled: Duration,
}

impl Clock {
    pub(crate) fn new(options: &WebSocketOptions) -> Self {
        let limits = [options.ping_interval, options.idle_timeout];
        let shortest = limits.into_iter().flatten().fold(options.write_timeout, Duration::min);
        let shortest = shortest.min(options.ping_timeout).clamp(SHORTEST, LONGEST);
        Self {
            timer: None,
            tick: shortest / 2,
            ping_interval: options.ping_interval,
            ping_timeout: options.ping_timeout,
            idle_timeout: options.idle_timeout,
            write_timeout: options.write_timeout,
            close_timeout: options.close_timeout.min(LONGEST),
            closing: false,
            heard: false,
            exchanged: false,
            wrote: false,
            blocked: false,
            pinged: false,
            silent: Duration::ZERO,
            idle: Duration::ZERO,
            stalled: Duration::ZERO,
        }
    }

    /// Bytes came.
    pub(crate) fn heard(&mut self) {
        self.heard = true;
    }

    /// A message came or went.
    pub(crate) fn exchanged(&mut self) {
        self.exchanged = true;
    }

    /// So many bytes went, and perhaps more wait.
    pub(crate) fn wrote(&mut self, count: usize, blocked: bool) {
        self.wrote |= count > 0;
        self.blocked = blocked;
    }

    /// From now on only the time for the end counts; it begins anew with each
    /// step of the end.
    pub(crate) fn set_deadline(&mut self) {
        self.closing = true;
        let timer = self.timer.as_mut();
        let deadline = Instant::now() + self.close_timeout;
        match timer {
            Some(timer) => timer.as_mut().reset(deadline),
            None => self.timer = Some(Box::pin(sleep_until(deadline))),
        }
    }

    /// The next alarm; `reading` is whether silence is the client's.
    pub(crate) fn poll(&mut self, reading: bool, cx: &mut Context<'_>) -> Poll<Alarm> {
        let tick = self.tick;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(tick)));
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if self.closing {
            // Far away: it is not asked again.
            timer.as_mut().reset(Instant::now() + LONGEST);
            return Poll::Ready(Alarm::Deadline);
        }
        timer.as_mut().reset(Instant::now() + tick);
        Poll::Ready(self.ticked(reading))
    }

    /// What a tick finds.
    fn ticked(&mut self, reading: bool) -> Alarm {
        let heard = std::mem::take(&mut self.heard) || !reading;
        let count =
            |again: bool, sum: Duration| if again { Duration::ZERO } else { sum + self.tick };
        self.silent = count(heard, self.silent);
        self.idle = count(std::mem::take(&mut self.exchanged), self.idle);
        self.stalled = count(std::mem::take(&mut self.wrote) || !self.blocked, self.stalled);
        self.pinged &= !heard;
        if self.stalled > self.write_timeout {
            return Alarm::Stalled;
        }
        // One tick more, because the first one may be a part of one.
        let over = |since: Duration, limit: Duration| since >= limit + self.tick;
        if let Some(interval) = self.ping_interval {
            if over(self.silent, interval + self.ping_timeout) {
                return Alarm::Silent;
            }
            if !self.pinged && over(self.silent, interval) {
                self.pinged = true;
                return Alarm::Ping;
            }
        }
        match self.idle_timeout {
            Some(limit) if over(self.idle, limit) => Alarm::Idle,
            _ => Alarm::Nothing,
        }
    }
}

/// The shortest time that is kept.
const SHORTEST: Duration = Duration::from_millis(20);

/// The longest.
const LONGEST: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    /// The alarms of so many silent ticks of 10 s.
    fn alarms(clock: &mut Clock, ticks: usize, reading: bool) -> Vec<Alarm> {
        (0..ticks).map(|_| clock.ticked(reading)).collect()
    }

    #[test]
    fn a_silent_client_is_asked_and_then_given_up() {
        let mut clock = Clock::new(&WebSocketOptions::new());
        assert_eq!(clock.tick, Duration::from_secs(10));
        assert_eq!(alarms(&mut clock, 4, true)[3], Alarm::Ping);
        assert_eq!(alarms(&mut clock, 2, true), [Alarm::Nothing, Alarm::Silent]);
        clock.heard();
        assert_eq!(alarms(&mut clock, 4, true), [Alarm::Nothing; 4]);
        assert_eq!(alarms(&mut clock, 1, true), [Alarm::Ping]);
    }

    #[test]
    fn silence_is_not_the_clients_while_nobody_reads() {
        let mut clock = Clock::new(&WebSocketOptions::new());
        assert_eq!(alarms(&mut clock, 100, false), [Alarm::Nothing; 100]);
    }

    #[test]
    fn a_client_that_takes_nothing_is_given_up() {
        let mut clock = Clock::new(&WebSocketOptions::new().ping_interval(None));
        assert_eq!(alarms(&mut clock, 100, true), [Alarm::Nothing; 100]);
        clock.wrote(0, true);
        assert_eq!(alarms(&mut clock, 3, true), [Alarm::Nothing; 3]);
        assert_eq!(alarms(&mut clock, 1, true), [Alarm::Stalled]);
    }

    #[test]
    fn idleness_is_about_messages() {
        let options = WebSocketOptions::new().idle_timeout(Some(Duration::from_secs(20)));
        let mut clock = Clock::new(&options);
        clock.exchanged();
        clock.heard();
        assert_eq!(alarms(&mut clock, 3, true), [Alarm::Nothing; 3]);
        clock.heard();
        assert_eq!(alarms(&mut clock, 1, true), [Alarm::Idle]);
    }
}
