//! Sends requests from a million clients to the limits example. Checks its
//! memory, its speed, and a client that has exhausted its limit.
//!
//! In `ci`, a short run uses the unoptimized example that the tests have
//! compiled, and does not check the speed. Memory is read from `/proc`, so the
//! task runs only on Linux.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::floods::memory_of_process;
use crate::running::Running;
use crate::{Outcome, announce, examples, is_part_of, skip};

/// The number of clients in the full run, each with one request.
const CLIENTS: u32 = 1_000_000;

/// The number of clients in `ci`.
const FEW_CLIENTS: u32 = 50_000;

/// The maximum memory of a key, in bytes, as documented for `rate_limit`.
const MAX_BYTES: u64 = 100;

/// Additional memory for a process that handles many requests, in KiB.
const SLACK: u64 = 2 * 1024;

/// The minimum speed of the last tenth, as a percentage of the first tenth.
const MIN_SPEED: u32 = 80;

const THREADS: u32 = 2;

/// The number of requests to send before reading their responses.
const BATCH: u32 = 100;

/// The number of clients that arrive after all others.
const NEWCOMERS: u32 = 1_000;

/// A client that has exhausted its limit and sends another request with each
/// batch.
const REFUSED: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 9);

pub fn run() -> Outcome {
    if !Path::new("/proc/self/status").exists() {
        skip("the task requires the memory of a process in /proc");
        return Ok(());
    }
    let program = examples::program("limits")?;
    let is_whole = !is_part_of("ci");
    let clients = if is_whole { CLIENTS } else { FEW_CLIENTS };
    let mut faults = Vec::new();
    for cap in [clients / 10, clients] {
        let measured = Limits::start(&program, cap)?.flooded(clients)?;
        let speed = measured.last * 100 / measured.first.max(1);
        println!(
            "cap of {cap}: {clients} clients, {} KiB more memory ({} bytes a key), {} requests a \
             second in the first tenth, {} in the last ({speed} %), {} passed, {} of \
             {NEWCOMERS} newcomers after that",
            measured.growth,
            measured.growth * 1024 / u64::from(cap),
            measured.first,
            measured.last,
            measured.passed,
            measured.newcomers,
        );
        if measured.growth > SLACK + u64::from(cap) * MAX_BYTES / 1024 {
            faults.push(format!("cap of {cap}: too much memory"));
        }
        if is_whole && speed < MIN_SPEED {
            faults.push(format!("cap of {cap}: it slows down"));
        }
        // At the cap, a new client shares a window of a hundred with the other
        // clients of its hash. There were too few of them to exhaust a window.
        if measured.passed < u64::from(clients) * 99 / 100 {
            faults.push(format!("cap of {cap}: {} of {clients} passed", measured.passed));
        }
        if measured.newcomers < u64::from(NEWCOMERS) * 99 / 100 {
            let newcomers = measured.newcomers;
            faults.push(format!("cap of {cap}: {newcomers} of {NEWCOMERS} newcomers passed"));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// The running example, stopped on drop.
struct Limits {
    process: Running,
    address: String,
}

/// The results of a run.
struct Measured {
    /// The memory growth, in KiB.
    growth: u64,
    /// Requests per second in the first tenth.
    first: u32,
    /// Requests per second in the last tenth.
    last: u32,
    /// The number of accepted requests from new clients.
    passed: u64,
    /// The number of accepted [`NEWCOMERS`] after all other clients.
    newcomers: u64,
}

impl Limits {
    fn start(program: &Path, cap: u32) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.env("PORT", "0").env("MAX_KEYS", cap.to_string()).stdout(Stdio::piped());
        announce(&command);
        let process = Running::start(&mut command, "limits")?;
        let mut limits = Self { process, address: String::new() };
        let stdout = limits.process.stdout.take().ok_or("limits does not have output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once(';'));
        let (address, _) =
            address.ok_or(format!("found no address in the output {line:?} of limits"))?;
        limits.address = address.to_owned();
        Ok(limits)
    }

    fn flooded(&self, clients: u32) -> Result<Measured, String> {
        let mut connection = Connection::open(&self.address)?;
        let own_limit = connection.passed(&[REFUSED; 200])?;
        if own_limit != 100 {
            return Err(format!("{own_limit} requests of one client passed, expected 100"));
        }
        let before = memory_of_process(self.process.id())?;
        let (send, ended) = mpsc::channel();
        let outcomes = thread::scope(|scope| {
            let share = clients / THREADS;
            let threads: Vec<_> = (0..THREADS)
                .map(|index| {
                    let send = send.clone();
                    scope.spawn(move || {
                        let sent = send_clients(&self.address, index * share, share);
                        // The receiver lives as long as this scope.
                        let _ = send.send(());
                        sent
                    })
                })
                .collect();
            let mut peak = before;
            let mut running = THREADS;
            while running > 0 {
                match ended.recv_timeout(Duration::from_millis(50)) {
                    Ok(()) => running -= 1,
                    Err(_) => peak = peak.max(memory_of_process(self.process.id())?),
                }
            }
            let ended = threads.into_iter().map(|thread| thread.join());
            let outcomes: Result<Vec<Sent>, String> =
                ended.map(|ended| ended.map_err(|_| "a thread panicked".to_owned())?).collect();
            outcomes.map(|outcomes| (outcomes, peak))
        });
        let (sent, peak) = outcomes?;
        let peak = peak.max(memory_of_process(self.process.id())?);
        let speed = |tenth: fn(&Sent) -> u32| sent.iter().map(tenth).sum();
        let newcomers: Vec<_> = (clients..clients + NEWCOMERS).map(client).collect();
        let newcomers = newcomers
            .chunks(BATCH as usize)
            .map(|batch| connection.passed(batch))
            .sum::<Result<usize, String>>()? as u64;
        Ok(Measured {
            growth: peak - before,
            first: speed(|sent| sent.first),
            last: speed(|sent| sent.last),
            passed: sent.iter().map(|sent| sent.passed).sum(),
            newcomers,
        })
    }
}

/// The results of one thread.
struct Sent {
    first: u32,
    last: u32,
    passed: u64,
}

/// Sends one request from each client, in tenths.
fn send_clients(address: &str, first: u32, count: u32) -> Result<Sent, String> {
    let mut connection = Connection::open(address)?;
    let (mut speeds, mut passed) = (Vec::new(), 0);
    for tenth in 0..10 {
        let begin = Instant::now();
        for batch in 0..count / 10 / BATCH {
            let start = first + tenth * (count / 10) + batch * BATCH;
            let mut clients: Vec<_> = (start..start + BATCH).map(client).collect();
            let statuses = connection.send(&clients)?;
            passed += statuses.iter().filter(|status| **status == 200).count() as u64;
            clients.clear();
            clients.push(REFUSED);
            if connection.passed(&clients)? > 0 {
                return Err(format!("{REFUSED} is above its limit, but passed"));
            }
        }
        let requests = f64::from(count / 10 / BATCH * (BATCH + 1));
        speeds.push((requests / begin.elapsed().as_secs_f64()) as u32);
    }
    Ok(Sent { first: speeds[0], last: speeds[9], passed })
}

/// Returns a different client address for each number.
fn client(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + number)
}

/// A connection that sends many requests before it reads the first response.
struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    fn open(address: &str) -> Result<Self, String> {
        let open = || {
            let stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            Ok(stream)
        };
        let stream = open().map_err(|error: std::io::Error| format!("no connection: {error}"))?;
        Ok(Self { stream: BufReader::with_capacity(65_536, stream) })
    }

    /// Returns the number of accepted requests from these clients.
    fn passed(&mut self, clients: &[Ipv4Addr]) -> Result<usize, String> {
        let statuses = self.send(clients)?;
        Ok(statuses.iter().filter(|status| **status == 200).count())
    }

    /// Returns the status of each response, which is 200 or 429.
    fn send(&mut self, clients: &[Ipv4Addr]) -> Result<Vec<u16>, String> {
        let request = |client: &Ipv4Addr| {
            format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {client}\r\n\r\n")
        };
        let requests: String = clients.iter().map(request).collect();
        let sent = self.stream.get_mut().write_all(requests.as_bytes());
        sent.map_err(|error| format!("cannot send: {error}"))?;
        clients.iter().map(|_| self.answer()).collect()
    }

    fn answer(&mut self) -> Result<u16, String> {
        let mut line = String::new();
        let (mut status, mut length) = (0, 0);
        loop {
            line.clear();
            let read = self.stream.read_line(&mut line);
            if read.map_err(|error| format!("no answer: {error}"))? == 0 {
                return Err("the connection was closed".to_owned());
            }
            let text = line.trim_end();
            if let Some(rest) = text.strip_prefix("HTTP/1.1 ") {
                status = rest.split(' ').next().unwrap_or_default().parse().unwrap_or_default();
            } else if let Some(value) = text.strip_prefix("content-length: ") {
                length = value.parse().unwrap_or_default();
            } else if text.is_empty() {
                break;
            }
        }
        self.skip(length).map_err(|error| format!("no body: {error}"))?;
        match status {
            200 | 429 => Ok(status),
            _ => Err(format!("an answer with the status {status}")),
        }
    }

    fn skip(&mut self, mut length: usize) -> std::io::Result<()> {
        while length > 0 {
            let there = self.stream.fill_buf()?.len().min(length);
            if there == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            self.stream.consume(there);
            length -= there;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_separate_address() {
        assert_eq!(client(0), Ipv4Addr::new(10, 0, 0, 0));
        assert_eq!(client(CLIENTS - 1), Ipv4Addr::new(10, 15, 66, 63));
        assert_eq!(CLIENTS % (THREADS * 10 * BATCH), 0);
        assert_eq!(FEW_CLIENTS % (THREADS * 10 * BATCH), 0);
    }
}
