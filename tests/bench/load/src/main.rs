//! The load generator: keep-alive connections that repeat the same bytes, one
//! request at a time on each.
//!
//! It must be cheap, so the server is the bottleneck. It uses one thread and
//! one buffer per connection, and reads only the status and the length of a
//! response. It reads the server's processor time itself, so the times match
//! exactly the counted requests.
//!
//! With a pace, requests are due at fixed times, and latencies start at these
//! times. A late response therefore cannot hide the delay of later requests.

mod connection;
mod pace;

use std::collections::VecDeque;
use std::env;
use std::error::Error;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bench_common::usage::Usage;
use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token};
use serde::Serialize;

use crate::connection::Connection;
use crate::pace::Pace;

/// The length of a slice. With a pace, the time is divided into slices, and the
/// p99 is the median of the slices. If a virtual machine pauses for some
/// milliseconds, it affects only one slice. A slice is long enough for some
/// thousands of requests.
const SLICE: Duration = Duration::from_millis(50);

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The output, printed as one line of JSON.
#[derive(Debug, Serialize)]
struct Report {
    /// Responses within the time.
    requests: u64,
    /// Responses with another status, and closed connections.
    errors: u64,
    /// The time, in seconds.
    seconds: f64,
    /// The latency percentiles 50 %, 99 % and 99.9 %, in microseconds. With a
    /// pace, `p99` is the median of the slices.
    p50: f64,
    p99: f64,
    p999: f64,
    /// The 99th percentile of the sending delay, in microseconds; 0 without a
    /// pace.
    lag: f64,
    /// The number of due requests without a response at the end; 0 without a
    /// pace.
    unanswered: u64,
    /// The processor time of the server within the time, in microseconds.
    cpu: f64,
    user: f64,
    system: f64,
    /// The processor time of this process, in microseconds.
    own_cpu: f64,
}

fn main() -> Outcome<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [address, process, request, status, connections, warm_up, seconds, rate @ ..] = &args[..]
    else {
        return Err("usage: bench-load <address> <process> <file with the request> <status> \
                    <connections> <seconds to warm up> <seconds> [<requests per second>]"
            .into());
    };
    let rate = rate.first().map(|rate| rate.parse()).transpose()?;
    let request = fs::read(request)?;
    let mut load =
        Load::open(address.parse()?, request, status.parse()?, connections.parse()?, rate)?;
    let process = process.parse()?;
    load.run(Duration::from_secs_f64(warm_up.parse()?))?;
    let report = load.measure(process, Duration::from_secs_f64(seconds.parse()?))?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

/// The measurements since its creation.
struct Tally {
    answers: u64,
    errors: u64,
    /// Latencies of the current slice in nanoseconds, from the time when
    /// requests were sent or due.
    latencies: Histogram<u64>,
    /// Latencies of all earlier slices.
    earlier: Histogram<u64>,
    /// The 99th percentile of each slice.
    tails: Histogram<u64>,
    /// Delays between due time and sending, in nanoseconds.
    lags: Histogram<u64>,
}

impl Tally {
    fn new() -> Outcome<Self> {
        let times = Histogram::new_with_bounds(1, 60_000_000_000, 3)?;
        let (latencies, earlier, tails) = (times.clone(), times.clone(), times.clone());
        Ok(Self { answers: 0, errors: 0, latencies, earlier, tails, lags: times })
    }

    fn end_slice(&mut self) -> Outcome<()> {
        self.tails.record(self.latencies.value_at_quantile(0.99))?;
        self.earlier.add(&self.latencies)?;
        self.latencies.reset();
        Ok(())
    }
}

/// Adds a time to the measured times.
fn record(times: &mut Histogram<u64>, time: Duration) {
    times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

struct Load {
    address: SocketAddr,
    request: Vec<u8>,
    status: [u8; 3],
    poll: Poll,
    connections: Vec<Connection>,
    /// The times when requests are due. Without it, each request follows the
    /// previous response.
    pace: Option<Pace>,
    /// The connections without a request, longest idle first; used only with a
    /// pace.
    idle: VecDeque<usize>,
    tally: Tally,
}

impl Load {
    fn open(
        address: SocketAddr,
        request: Vec<u8>,
        status: u16,
        count: usize,
        rate: Option<f64>,
    ) -> Outcome<Self> {
        let mut load = Self {
            address,
            request,
            status: <[u8; 3]>::try_from(status.to_string().as_bytes())?,
            poll: Poll::new()?,
            connections: Vec::new(),
            pace: rate.map(|rate| Pace::new(rate, Instant::now())),
            idle: VecDeque::new(),
            tally: Tally::new()?,
        };
        for number in 0..count {
            let connection = load.connect(number)?;
            load.connections.push(connection);
        }
        Ok(load)
    }

    fn connect(&mut self, number: usize) -> io::Result<Connection> {
        let mut connection = Connection::open(self.address)?;
        match self.pace {
            Some(_) => {
                self.idle.retain(|idle| *idle != number);
                self.idle.push_back(number);
            }
            None => connection.send(&self.request, Instant::now())?,
        }
        let interest = Interest::READABLE;
        self.poll.registry().register(connection.socket(), Token(number), interest)?;
        Ok(connection)
    }

    fn measure(&mut self, process: u32, time: Duration) -> Outcome<Report> {
        self.tally = Tally::new()?;
        let own = std::process::id();
        let before = [Usage::of(process)?, Usage::of(own)?];
        let start = Instant::now();
        let slices = if self.pace.is_some() { time.div_duration_f64(SLICE).ceil() } else { 1.0 };
        self.restart(start);
        for slice in 1..=slices as u32 {
            self.run_until(start + time.mul_f64(f64::from(slice) / slices))?;
            self.tally.end_slice()?;
        }
        let end = Instant::now();
        let [server, load] = [Usage::of(process)? - before[0], Usage::of(own)? - before[1]];
        let unanswered = self.give_up(end);
        let Tally { answers, errors, earlier, tails, lags, .. } = &self.tally;
        let quantile =
            |times: &Histogram<u64>, share| times.value_at_quantile(share) as f64 / 1_000.0;
        Ok(Report {
            requests: *answers,
            errors: *errors,
            seconds: end.duration_since(start).as_secs_f64(),
            p50: quantile(earlier, 0.5),
            p99: quantile(tails, 0.5),
            p999: quantile(earlier, 0.999),
            lag: quantile(lags, 0.99),
            unanswered,
            cpu: server.cpu,
            user: server.user,
            system: server.system,
            own_cpu: load.cpu,
        })
    }

    fn run(&mut self, time: Duration) -> io::Result<()> {
        let start = Instant::now();
        self.restart(start);
        self.run_until(start + time)
    }

    fn restart(&mut self, start: Instant) {
        if let Some(pace) = &mut self.pace {
            pace.restart(start);
        }
    }

    fn run_until(&mut self, end: Instant) -> io::Result<()> {
        let mut events = Events::with_capacity(1_024);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.send_due()?;
            // A poll with a timeout wakes up a millisecond late, and a hundred
            // requests are due in that time.
            let left = if self.pace.is_some() { Duration::ZERO } else { left };
            self.poll.poll(&mut events, Some(left))?;
            for event in &events {
                self.answered(event.token().0)?;
            }
        }
    }

    /// Sends the requests that are due, as far as connections are idle.
    fn send_due(&mut self) -> io::Result<()> {
        while let Some(&number) = self.idle.front() {
            let now = Instant::now();
            let Some(due) = self.pace.as_mut().and_then(|pace| pace.take(now)) else { break };
            self.idle.pop_front();
            record(&mut self.tally.lags, now.duration_since(due));
            if self.connections[number].send(&self.request, due).is_err() {
                self.replace(number)?;
            }
        }
        Ok(())
    }

    fn answered(&mut self, number: usize) -> io::Result<()> {
        let connection = &mut self.connections[number];
        match connection.receive() {
            Ok(None) => return Ok(()),
            Ok(Some(status)) => {
                let now = Instant::now();
                self.tally.answers += 1;
                self.tally.errors += u64::from(status != self.status);
                record(&mut self.tally.latencies, now.duration_since(connection.since));
                if self.pace.is_some() {
                    self.idle.push_back(number);
                    return self.send_due();
                }
                if connection.send(&self.request, now).is_ok() {
                    return Ok(());
                }
            }
            Err(_) => {}
        }
        self.replace(number)
    }

    /// Replaces a closed connection.
    fn replace(&mut self, number: usize) -> io::Result<()> {
        self.tally.errors += 1;
        self.connections[number] = self.connect(number)?;
        Ok(())
    }

    /// Counts due requests without a response as if their responses arrived at
    /// the end, which is earlier than in reality. Without this, the slowest
    /// requests would be missing. Returns their number.
    fn give_up(&mut self, end: Instant) -> u64 {
        let Some(pace) = &mut self.pace else { return 0 };
        let unsent = std::iter::from_fn(|| pace.take(end)).collect::<Vec<_>>();
        let is_idle = |number: &usize| self.idle.contains(number);
        let sent = (0..self.connections.len()).filter(|number| !is_idle(number));
        let sent = sent.map(|number| self.connections[number].since);
        let mut count = 0;
        for since in sent.chain(unsent) {
            record(&mut self.tally.earlier, end.saturating_duration_since(since));
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn unfinished_requests_of_a_silent_server_are_late() -> Outcome<()> {
        // The kernel accepts connections, but nothing responds.
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut load = Load::open(
            listener.local_addr()?,
            b"GET / HTTP/1.1\r\n\r\n".into(),
            200,
            2,
            Some(1e3),
        )?;
        let time = Duration::from_millis(20);
        load.run(time)?;
        assert!(load.idle.is_empty());
        assert_eq!((load.tally.answers, load.tally.lags.len()), (0, 2));
        let unanswered = load.give_up(Instant::now());
        assert!(unanswered >= 20, "{unanswered}");
        assert_eq!(load.tally.earlier.len(), unanswered);
        assert!(Duration::from_nanos(load.tally.earlier.max()) >= time);
        Ok(())
    }

    #[test]
    fn nothing_is_due_if_no_pace_is_set() -> Outcome<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut load =
            Load::open(listener.local_addr()?, b"GET / HTTP/1.1\r\n\r\n".into(), 200, 2, None)?;
        load.run(Duration::from_millis(1))?;
        assert_eq!(load.give_up(Instant::now()), 0);
        assert_eq!(load.tally.earlier.len(), 0);
        Ok(())
    }

    #[test]
    fn a_few_slow_slices_do_not_change_the_tail() -> Outcome<()> {
        let mut tally = Tally::new()?;
        for slice in 0..10 {
            let slow = if slice % 4 == 0 { 10_000 } else { 300 };
            for micros in [[100; 90], [slow; 90]].concat() {
                record(&mut tally.latencies, Duration::from_micros(micros));
            }
            tally.end_slice()?;
        }
        let tail = Duration::from_nanos(tally.tails.value_at_quantile(0.5));
        assert_eq!((tail.as_micros() + 5) / 10, 30);
        assert_eq!((tally.earlier.len(), tally.latencies.len()), (1_800, 0));
        Ok(())
    }
}
