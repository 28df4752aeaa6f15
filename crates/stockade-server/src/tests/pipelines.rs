//! Generated HTTP/1 connections that are told to park all the time, against a model that
//! parses the same bytes by RFC 9112 only.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::HeaderValue;
use http_body_util::BodyExt as _;
use stockade_core::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::parking::Single;
use super::{Function, options, soon, text};
use crate::connection::Shared;
use crate::connection_record::{Command, ConnectionRecord};
use crate::socket::Socket;

/// A generator of pseudorandom numbers (Steele, Lea and Flood, SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

/// A request as the model reads it.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Parsed {
    target: String,
    body: Vec<u8>,
    /// The client has announced that this is its last request.
    closes: bool,
}

/// Parses all requests of a stream by RFC 9112, sections 2.2, 6 and 7.1.
fn parse(mut bytes: &[u8]) -> Vec<Parsed> {
    let mut requests = Vec::new();
    while !bytes.is_empty() {
        if let Some(rest) = bytes.strip_prefix(b"\r\n") {
            bytes = rest;
            continue;
        }
        let line = take_line(&mut bytes);
        let target = line.split(' ').nth(1).unwrap().to_owned();
        let (mut length, mut chunked, mut closes) = (0, false, false);
        loop {
            let line = take_line(&mut bytes).to_ascii_lowercase();
            match line.split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("transfer-encoding", _)) => chunked = true,
                Some(("connection", value)) => closes |= value == "close",
                Some(_) => {}
                None => break,
            }
        }
        let body = if chunked { take_chunks(&mut bytes) } else { take(&mut bytes, length) };
        requests.push(Parsed { target, body, closes });
        if closes {
            break;
        }
    }
    requests
}

fn take(bytes: &mut &[u8], length: usize) -> Vec<u8> {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken.to_vec()
}

fn take_line(bytes: &mut &[u8]) -> String {
    let end = bytes.windows(2).position(|two| two == b"\r\n");
    let end = end.unwrap_or_else(|| panic!("no line: {}", String::from_utf8_lossy(bytes)));
    let line = take(bytes, end + 2);
    String::from_utf8(line).unwrap().trim_end().to_owned()
}

fn take_chunks(bytes: &mut &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&take_line(bytes), 16).unwrap();
        if size == 0 {
            assert_eq!(take_line(bytes), "", "trailers are not generated");
            return body;
        }
        body.extend(take(bytes, size));
        assert_eq!(take_line(bytes), "");
    }
}

/// A body that looks like requests, or like the end of a chunked body.
fn body(random: &mut Random) -> String {
    let piece = random.pick(&[
        "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "0\r\n\r\nPOST /smuggled HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "x",
    ]);
    let times = [0, 1, 1, 2, 3, 30, 2_000][random.below(7)];
    piece.repeat(times)
}

/// The ways in which the application handles a request. The last part of its path.
const HANDLINGS: [&str; 7] = ["early", "early", "late", "read", "half", "detached", "large"];

/// Returns the bytes of a connection.
fn requests(random: &mut Random) -> Vec<u8> {
    let count = 1 + random.below(40);
    let bodies = [2, 3, 12, 40][random.below(4)];
    // Without pauses, a pipeline reaches the limit of what hyper does in one poll.
    let is_calm = random.one_in(2);
    let mut bytes = Vec::new();
    for n in 0..count {
        let handling = match n {
            0 if is_calm => "late",
            _ if is_calm => "early",
            _ => random.pick(&HANDLINGS),
        };
        let has_body = random.one_in(bodies) || n + 1 == count && random.one_in(2);
        let method = if has_body { "POST" } else { "GET" };
        let mut head = format!("{method} /{n}/{handling} HTTP/1.1\r\nHost: a\r\n");
        if random.one_in(60) {
            head += "Connection: close\r\n";
        } else if random.one_in(20) {
            head += "Connection: keep-alive\r\n";
        }
        if has_body && random.one_in(2) {
            head += "Expect: 100-continue\r\n";
        }
        if !has_body {
            bytes.extend(format!("{head}\r\n").into_bytes());
        } else if random.one_in(2) {
            let body = body(random);
            bytes.extend(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).bytes());
        } else {
            head += "Transfer-Encoding: chunked\r\n\r\n";
            bytes.extend(head.into_bytes());
            for _ in 0..random.below(4) {
                let chunk = body(random);
                if !chunk.is_empty() {
                    bytes.extend(format!("{:x}\r\n{chunk}\r\n", chunk.len()).bytes());
                }
            }
            bytes.extend(b"0\r\n\r\n");
        }
        if random.one_in(20) {
            bytes.extend(b"\r\n");
        }
    }
    bytes
}

/// The application's side of a connection.
#[derive(Default)]
struct Log {
    /// The requests that the application has received, with the bodies that it has read.
    seen: Mutex<Vec<(String, Option<Vec<u8>>)>>,
    record: Mutex<Option<Arc<ConnectionRecord>>>,
}

impl Log {
    fn tell(&self, command: Command) {
        if let Some(record) = &*self.record.lock().unwrap() {
            record.tell(command);
        }
    }

    fn note_body(&self, place: usize, body: &[u8]) {
        self.seen.lock().unwrap()[place].1 = Some(body.to_vec());
    }
}

/// Handles a request as the last part of its path says. The response names the request.
async fn handle(mut request: Request, log: Arc<Log>) -> Response {
    let target = request.path().to_owned();
    let place = {
        let mut seen = log.seen.lock().unwrap();
        seen.push((target.clone(), None));
        seen.len() - 1
    };
    // The sweep gives its commands at any time, for example in the middle of a pipeline.
    log.tell(Command::Park);
    let mut size = 1;
    match target.rsplit('/').next() {
        Some("late") => {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
        }
        Some("read") => {
            if let Ok(bytes) = request.bytes().await {
                log.note_body(place, &bytes);
            }
        }
        Some("half") => {
            let _ = request.take_stream().frame().await;
        }
        Some("detached") => {
            tokio::spawn(async move {
                if let Ok(bytes) = request.bytes().await {
                    log.note_body(place, &bytes);
                }
            });
        }
        Some("large") => size = 100_000,
        _ => {}
    }
    let mut response = text(200, "z".repeat(size));
    response.headers_mut().insert("x-target", HeaderValue::from_str(&target).unwrap());
    response
}

/// The responses of a stream, as far as they have come.
#[derive(Default)]
struct Responses {
    bytes: Vec<u8>,
    /// The number of bytes of whole responses.
    parsed: usize,
    /// The targets of the requests, as the responses name them.
    targets: Vec<String>,
    /// The last response announces the close of the connection.
    closes: bool,
}

impl Responses {
    /// Parses the responses that have become whole.
    fn parse(&mut self) {
        loop {
            let rest = &self.bytes[self.parsed..];
            let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") else { return };
            let head = String::from_utf8(rest[..end].to_vec()).unwrap();
            let value = |name| head.lines().find_map(|line| line.strip_prefix(name));
            let length = value("content-length: ").map_or(0, |length| length.parse().unwrap());
            let Some(body) = rest[end + 4..].get(..length) else { return };
            assert!(!self.closes, "a response follows the announced close");
            assert!(body.iter().all(|byte| *byte == b'z'));
            if !head.starts_with("HTTP/1.1 100 ") {
                assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
                self.closes = value("connection: ") == Some("close");
                self.targets.push(value("x-target: ").unwrap().to_owned());
            }
            self.parsed += end + 4 + length;
        }
    }
}

/// Sends the bytes of one connection in random pieces of at most `most` bytes with random
/// pauses, and compares the outcome with the model. Returns the number of times that the
/// connection was parked.
async fn check(
    (shared, log): (&Arc<Shared<Function>>, &Log),
    random: &mut Random,
    bytes: &[u8],
    most: usize,
) -> usize {
    let seed = random.0;
    let expected = parse(bytes);
    let (server, client) = UnixStream::pair().unwrap();
    let single = Single::serve(Arc::clone(shared), Socket::Unix(server), None);
    *log.record.lock().unwrap() = Some(Arc::clone(single.record()));
    log.seen.lock().unwrap().clear();
    let (mut reader, mut writer) = client.into_split();

    let mut responses = Responses::default();
    let mut parked = 0;
    let mut is_open = true;
    let mut rest = bytes;
    let deadline = Instant::now() + Duration::from_secs(30);
    while is_open && !(rest.is_empty() && responses.targets.len() >= expected.len()) {
        if !rest.is_empty() {
            let count = rest.len().min(1 + random.below(most).max(rest.len() / 100));
            // A full socket takes less. A closed one shows itself to the reader.
            match writer.try_write(&rest[..count]) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => rest = &[],
            }
        }
        for _ in 0..random.below(4) {
            tokio::task::yield_now().await;
            if random.one_in(2) {
                single.tell(Command::Park).await;
            }
        }
        parked += usize::from(single.is_parked());
        tokio::select! {
            biased;
            read = reader.read_buf(&mut responses.bytes) => is_open = matches!(read, Ok(1..)),
            () = tokio::task::yield_now() => {}
        }
        responses.parse();
        assert!(Instant::now() < deadline, "state {seed:#x}: nothing happens");
    }
    // Nothing more may come.
    let _ = writer.shutdown().await;
    let _ = soon(reader.read_to_end(&mut responses.bytes)).await;
    responses.parse();
    compare(seed, &expected, &responses, &log.seen.lock().unwrap());
    parked
}

fn compare(
    seed: u64,
    expected: &[Parsed],
    responses: &Responses,
    seen: &[(String, Option<Vec<u8>>)],
) {
    let Responses { targets, closes, .. } = responses;
    assert_eq!(responses.parsed, responses.bytes.len(), "state {seed:#x}: half a response");
    let wanted: Vec<_> = expected.iter().map(|request| request.target.as_str()).collect();
    let received: Vec<_> = seen.iter().map(|(target, _)| target.as_str()).collect();
    assert!(wanted.starts_with(&received), "state {seed:#x}: {received:?} of {wanted:?}");
    let in_order = targets.iter().zip(&received).all(|(target, seen)| target == seen);
    assert!(in_order && targets.len() <= received.len(), "state {seed:#x}: {targets:?}");
    for ((target, read), request) in seen.iter().zip(expected) {
        if let Some(read) = read {
            assert!(*read == request.body, "state {seed:#x}: the body of {target}");
        }
    }
    if targets.len() < expected.len() {
        // The server may close early only after a request whose body nobody has read.
        let last = targets.len().checked_sub(1).map(|last| (&expected[last], &seen[last]));
        let is_unread = last.is_some_and(|(it, (_, read))| !it.body.is_empty() && read.is_none());
        assert!(*closes || is_unread, "state {seed:#x}: only {targets:?} of {wanted:?}");
    }
}

/// Serves connections one after the other, in one thread.
fn serve(connections: impl AsyncFnOnce(&Arc<Shared<Function>>, &Log)) {
    let log = Arc::new(Log::default());
    let app = {
        let log = Arc::clone(&log);
        Function::new(move |request| handle(request, Arc::clone(&log)))
    };
    let shared = Arc::new(Shared::new(app, &options()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(connections(&shared, &log));
}

#[test]
fn an_unread_body_is_not_the_next_request() {
    serve(async |shared, log| {
        for (gets, expects) in (0..40).flat_map(|gets| [(gets, false), (gets, true)]) {
            let mut bytes = b"GET /slow/late HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
            for n in 0..gets {
                bytes.extend(format!("GET /{n}/early HTTP/1.1\r\nHost: a\r\n\r\n").bytes());
            }
            let body = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
            let expect = if expects { "Expect: 100-continue\r\n" } else { "" };
            let head = format!("POST /last/early HTTP/1.1\r\nHost: a\r\n{expect}");
            let length = body.len();
            bytes.extend(format!("{head}Content-Length: {length}\r\n\r\n{body}").bytes());
            check((shared, log), &mut Random(gets), &bytes, 1_000_000).await;
        }
    });
}

#[test]
fn generated_connections_are_read_as_the_model_reads_them() {
    // `cargo xtask pipelines` sets both.
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
    };
    let first: u64 = number("STOCKADE_PIPELINES_SEED", 1);
    let connections: u64 = number("STOCKADE_PIPELINES", 1_500);
    serve(async |shared, log| {
        let mut parked = 0;
        for seed in first..first + connections {
            let random = &mut Random(seed);
            let bytes = requests(random);
            let most = [1, 30, 200, 5_000, 1_000_000, 1_000_000][random.below(6)];
            parked += u64::from(check((shared, log), random, &bytes, most).await > 0);
        }
        // A run that never parks proves nothing.
        assert!(parked >= connections / 10, "{parked} of {connections} were parked");
    });
}
