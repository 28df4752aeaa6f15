//! Clients of a run: a single connection, and a load with many connections.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The maximum remaining quota for a third of the catalog's limit, which a node
/// without the store allows.
const SHARE: u64 = 3_000_000;

/// A connection to HAProxy.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

pub struct Response {
    pub status: u16,
    pub body: String,
    /// The cookie that HAProxy sets, to be sent back.
    pub cookie: Option<String>,
    /// The remaining requests from the `RateLimit` header.
    left: Option<u64>,
}

impl Response {
    /// Returns true if the store has counted the request.
    pub fn is_shared(&self) -> bool {
        self.status == 200 && self.left.is_some_and(|left| left > SHARE)
    }
}

impl Connection {
    pub fn open(address: &str) -> Result<Self, String> {
        let open = || {
            let stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(30)))?;
            Ok(stream)
        };
        let stream = open().map_err(|error: std::io::Error| format!("no connection: {error}"))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends a request as a client; each number has its own address.
    pub fn get(&mut self, path: &str, client: u32) -> Result<Response, String> {
        self.send("GET", path, &format!("X-Forwarded-For: {}\r\n", address_of(client)))
    }

    /// Sends a request with these additional header lines.
    pub fn send(&mut self, method: &str, path: &str, lines: &str) -> Result<Response, String> {
        let length = if method == "GET" { "" } else { "Content-Length: 0\r\n" };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}{lines}\r\n");
        let sent = self.stream.get_mut().write_all(head.as_bytes());
        sent.map_err(|error| format!("cannot send: {error}"))?;
        self.response().map_err(|error| format!("no response: {error}"))
    }

    fn response(&mut self) -> std::io::Result<Response> {
        let mut line = String::new();
        let mut response = Response { status: 0, body: String::new(), cookie: None, left: None };
        let mut length = 0;
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end().to_ascii_lowercase();
            if text.starts_with("set-cookie: ") {
                let value = line["set-cookie: ".len()..].split(';').next();
                response.cookie = value.map(str::to_owned);
            }
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                response.status = rest.get(..3).and_then(|it| it.parse().ok()).unwrap_or_default();
            } else if let Some(value) = text.strip_prefix("content-length: ") {
                length = value.parse().unwrap_or_default();
            } else if let Some(value) = text.strip_prefix("ratelimit: ") {
                let left = value.split(';').find_map(|part| part.strip_prefix("r="));
                response.left = left.and_then(|left| left.parse().ok());
            } else if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        response.body = String::from_utf8_lossy(&body).into_owned();
        Ok(response)
    }
}

/// Returns the address of a client.
pub fn address_of(client: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + client)
}

/// One request: its start, its duration and its response.
pub struct Sample {
    pub begun: Instant,
    pub took: Duration,
    /// The response, or `None` if the connection failed.
    pub response: Option<Response>,
}

impl Sample {
    pub fn is_failure(&self) -> bool {
        self.response.as_ref().is_none_or(|response| response.status >= 500)
    }

    pub fn is_shared(&self) -> bool {
        self.response.as_ref().is_some_and(Response::is_shared)
    }
}

/// Requests for one path from many connections, until it is stopped.
pub struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<Sample>>>,
}

impl Load {
    pub fn start(address: &str, path: &'static str, connections: u32, pause: Duration) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let send = |index: u32| {
            let (address, is_over) = (address.to_owned(), Arc::clone(&is_over));
            // The connections send their requests spread over the pause.
            let offset = pause * index / connections;
            move || {
                thread::sleep(offset);
                send_until(&is_over, &address, path, index, pause)
            }
        };
        let threads = (0..connections).map(|index| thread::spawn(send(index))).collect();
        Self { is_over, threads }
    }

    pub fn end(self) -> Result<Vec<Sample>, String> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut samples = Vec::new();
        for thread in self.threads {
            samples.extend(thread.join().map_err(|_| "a client panicked")?);
        }
        Ok(samples)
    }
}

fn send_until(
    is_over: &AtomicBool,
    address: &str,
    path: &str,
    client: u32,
    pause: Duration,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut connection = None;
    let mut next = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let mut there = connection.take().map_or_else(|| Connection::open(address), Ok);
        let response = there.as_mut().map_err(|error| error.clone());
        let response = response.and_then(|there| there.get(path, client));
        if response.is_ok() {
            connection = there.ok();
        }
        samples.push(Sample { begun, took: begun.elapsed(), response: response.ok() });
        next += pause;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    samples
}

/// Sends 3,000 requests of one client on 30 connections at once, and returns
/// the number of accepted requests.
pub fn flood(address: &str, path: &'static str, client: u32) -> Result<u32, String> {
    let send = || {
        let address = address.to_owned();
        move || -> Result<u32, String> {
            let mut connection = Connection::open(&address)?;
            let mut passed = 0;
            for _ in 0..100 {
                match connection.get(path, client)?.status {
                    200 => passed += 1,
                    429 => {}
                    status => return Err(format!("a response with the status {status}")),
                }
            }
            Ok(passed)
        }
    };
    let threads: Vec<_> = (0..30).map(|_| thread::spawn(send())).collect();
    let passed = threads.into_iter().map(|it| it.join().map_err(|_| "a client panicked")?);
    passed.sum()
}
