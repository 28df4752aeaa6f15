//! The load: connections that are kept alive, on each the same bytes over and
//! over, one request at a time.
//!
//! Cheap, so that the server is what is slow: one thread, one buffer for each
//! connection, and of an answer only the status and the length are read. It
//! reads the times of the server's process itself, so that they belong to
//! exactly the requests it has counted.

mod connection;
mod usage;

use std::env;
use std::error::Error;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token};
use serde::Serialize;

use crate::connection::Connection;
use crate::usage::Usage;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What is printed, as one line of JSON.
#[derive(Debug, Serialize)]
struct Report {
    /// Answers within the time.
    requests: u64,
    /// Answers with another status, and connections that ended.
    errors: u64,
    /// The time, in seconds.
    seconds: f64,
    /// Of how many requests within that time half, 99 % and 99.9 % were quicker,
    /// in microseconds.
    p50: f64,
    p99: f64,
    p999: f64,
    /// What the server's process used within that time, in microseconds.
    cpu: f64,
    user: f64,
    system: f64,
    /// What this process used, in microseconds.
    own_cpu: f64,
}

fn main() -> Outcome<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [address, process, request, status, connections, warm_up, seconds] = &args[..] else {
        return Err("usage: bench-load <address> <process> <file with the request> <status> \
                    <connections> <seconds to warm up> <seconds>"
            .into());
    };
    let mut load =
        Load::open(address.parse()?, fs::read(request)?, status.parse()?, connections.parse()?)?;
    let process = process.parse()?;
    load.run(Duration::from_secs_f64(warm_up.parse()?))?;
    let report = load.measure(process, Duration::from_secs_f64(seconds.parse()?))?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

struct Load {
    address: SocketAddr,
    request: Vec<u8>,
    status: [u8; 3],
    poll: Poll,
    connections: Vec<Connection>,
    latencies: Histogram<u64>,
    errors: u64,
}

impl Load {
    fn open(address: SocketAddr, request: Vec<u8>, status: u16, count: usize) -> Outcome<Self> {
        let status = <[u8; 3]>::try_from(status.to_string().as_bytes())?;
        let latencies = Histogram::new_with_bounds(1, 60_000_000_000, 3)?;
        let poll = Poll::new()?;
        let mut load =
            Self { address, request, status, poll, connections: Vec::new(), latencies, errors: 0 };
        for number in 0..count {
            let connection = load.connect(number)?;
            load.connections.push(connection);
        }
        Ok(load)
    }

    fn connect(&self, number: usize) -> io::Result<Connection> {
        let mut connection = Connection::open(self.address)?;
        connection.send(&self.request)?;
        let interest = Interest::READABLE;
        self.poll.registry().register(connection.socket(), Token(number), interest)?;
        Ok(connection)
    }

    fn measure(&mut self, process: u32, time: Duration) -> Outcome<Report> {
        self.latencies.reset();
        self.errors = 0;
        let own = std::process::id();
        let before = [Usage::of(process)?, Usage::of(own)?];
        let start = Instant::now();
        self.run(time)?;
        let seconds = start.elapsed().as_secs_f64();
        let [server, load] = [Usage::of(process)? - before[0], Usage::of(own)? - before[1]];
        let quantile = |share| self.latencies.value_at_quantile(share) as f64 / 1_000.0;
        Ok(Report {
            requests: self.latencies.len(),
            errors: self.errors,
            seconds,
            p50: quantile(0.5),
            p99: quantile(0.99),
            p999: quantile(0.999),
            cpu: server.cpu,
            user: server.user,
            system: server.system,
            own_cpu: load.cpu,
        })
    }

    fn run(&mut self, time: Duration) -> io::Result<()> {
        let end = Instant::now() + time;
        let mut events = Events::with_capacity(1_024);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.poll.poll(&mut events, Some(left))?;
            for event in &events {
                self.answered(event.token().0)?;
            }
        }
    }

    fn answered(&mut self, number: usize) -> io::Result<()> {
        let connection = &mut self.connections[number];
        match connection.receive() {
            Ok(None) => return Ok(()),
            Ok(Some(status)) => {
                self.errors += u64::from(status != self.status);
                let now = Instant::now();
                let latency = now.duration_since(connection.sent).as_nanos();
                self.latencies.saturating_record(u64::try_from(latency).unwrap_or(u64::MAX));
                if connection.send_at(&self.request, now).is_ok() {
                    return Ok(());
                }
            }
            Err(_) => {}
        }
        // The connection has ended: another one takes its place.
        self.errors += 1;
        self.connections[number] = self.connect(number)?;
        Ok(())
    }
}
