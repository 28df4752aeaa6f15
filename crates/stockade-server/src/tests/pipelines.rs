//! Compares generated HTTP/1 connections, which constantly receive commands to
//! park, with a model that parses the same bytes by RFC 9112 only.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use stockade_core::{HttpBody, Request, Response};
use stockade_errors::random::Random;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::parking::Single;
use super::{AS_LINE, AS_LINE_TEXT, Function, options, soon, text};
use crate::connection::Shared;
use crate::connection_record::{Command, ConnectionRecord};
use crate::socket::Socket;

/// A request as parsed by the model.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Parsed {
    target: String,
    body: Vec<u8>,
    is_head: bool,
    /// The client has announced that this is its last request.
    closes: bool,
    /// The body is malformed, so this is the last request.
    is_broken: bool,
    /// hyper 1.12 keeps the promise of a rejected upgrade. At the end of such a
    /// connection it gives the socket away without a flush
    /// (`Dispatcher::poll_inner`), and bytes that the socket has not accepted
    /// are lost.
    asks_to_upgrade: bool,
}

/// Parses all requests of a stream by RFC 9112, sections 2.2, 6 and 7.1. A
/// malformed request is the last one and has the target [`BAD`].
fn parse(mut bytes: &[u8]) -> Vec<Parsed> {
    let mut requests = Vec::new();
    while !bytes.is_empty() {
        if let Some(rest) = bytes.strip_prefix(b"\r\n") {
            bytes = rest;
            continue;
        }
        let line = take_line(&mut bytes);
        let words: Vec<&str> = line.split(' ').collect();
        let (is_head, target) = (words[0] == "HEAD", words[1].to_owned());
        if target == BAD {
            break;
        }
        let (mut length, mut chunked, mut connection) = (0, false, Vec::new());
        loop {
            let line = take_line(&mut bytes).to_ascii_lowercase();
            match line.split_once(':').map(|(name, value)| (name, value.trim())) {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("transfer-encoding", _)) => chunked = true,
                Some(("connection", value)) => {
                    connection.extend(value.split(',').map(|item| item.trim().to_owned()));
                }
                Some(_) => {}
                None => break,
            }
        }
        let lists = |wanted: &str| connection.iter().any(|item| item == wanted);
        let closes = lists("close") || words[2] == "HTTP/1.0" && !lists("keep-alive");
        let body = match chunked {
            true => take_chunks(&mut bytes),
            false => Some(take(&mut bytes, length)),
        };
        let is_broken = body.is_none();
        let body = body.unwrap_or_default();
        let asks_to_upgrade = lists("upgrade");
        requests.push(Parsed { target, body, is_head, closes, is_broken, asks_to_upgrade });
        if closes || is_broken {
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

/// Returns `None` for a malformed body.
fn take_chunks(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = take_line(bytes);
        let size = line.split(';').next().unwrap().trim_end();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            while !take_line(bytes).is_empty() {}
            return Some(body);
        }
        body.extend(take(bytes, size));
        assert_eq!(take_line(bytes), "");
    }
}

/// Generates a body that looks like requests, or like the end of a chunked
/// body.
fn body(random: &mut Random) -> String {
    let piece = random.pick(&[
        "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "0\r\n\r\nPOST /smuggled HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "x",
    ]);
    let times = [0, 1, 1, 2, 3, 30, 2_000][random.index(7)];
    piece.repeat(times)
}

/// The ways to handle a request: the last part of its path.
const HANDLINGS: [&str; 14] = [
    "early",
    "early",
    "early",
    "late",
    "read",
    "half",
    "peek",
    "detached",
    "held",
    "half-later",
    "large",
    "stream",
    "empty",
    "no-content",
];

/// The ways that end the connection.
const ENDINGS: [&str; 3] = ["close", "close-odd", "break-off"];

/// The target of a malformed head.
const BAD: &str = "/bad";

/// Malformed heads followed by something that looks like a request.
const BAD_HEADS: [&str; 9] = [
    "GET /bad HTTP/1.1\nHost: a\r\n\r\n",
    "GET /bad HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n\
     0\r\n\r\n",
    "GET /bad HTTP/1.1\r\nHost: a\r\nX: a\r\n Content-Length: 9\r\n\r\n",
    "GET /bad HTTP/1.1\r\nHost: a\r\nConnection:\r\n close\r\n\r\n",
    "POST /bad HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "POST /bad HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "POST /bad HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n",
    "POST /bad HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\nxyz",
    "POST /bad HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
];

/// Headers that allow a server to close, including forms that it may overlook.
const CLOSES: [&str; 7] = [
    "Connection: close\r\n",
    "connection:CLOSE\r\n",
    "Connection: te, close\r\n",
    "Connection: keep-alive\r\nConnection: close\r\n",
    "Connection: close\r\nConnection: keep-alive\r\n",
    "Connection: close, keep-alive\r\n",
    "Connection: \u{e9}, close\r\n",
];

/// Headers that do not end the connection.
const CONTINUES: [&str; 5] = [
    "Connection: keep-alive\r\n",
    "Connection: x-close\r\n",
    "Connection: upgrade\r\nUpgrade: websocket\r\n",
    "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA\r\n",
    "Connection: \r\n",
];

/// Generates the bytes of a connection.
fn requests(random: &mut Random) -> Vec<u8> {
    let count = 1 + random.index(40);
    let bodies = [2, 3, 12, 40][random.index(4)];
    // Without pauses, a pipeline reaches hyper's limit of work per poll.
    let is_calm = random.one_in(2);
    let mut bytes = Vec::new();
    for n in 0..count {
        let handling = match n {
            0 if is_calm => "late",
            _ if is_calm => "early",
            _ if random.one_in(60) => random.pick(&ENDINGS),
            _ => random.pick(&HANDLINGS),
        };
        let has_body = random.one_in(bodies) || n + 1 == count && random.one_in(2);
        let method = match has_body {
            true => random.pick(&["POST", "POST", "PUT", "GET", "HEAD", "OPTIONS"]),
            false => random.pick(&["GET", "GET", "GET", "HEAD", "OPTIONS", "DELETE"]),
        };
        bytes.extend(request(random, &format!("{method} /{n}/{handling}"), has_body));
        if random.one_in(20) {
            bytes.extend(b"\r\n");
        } else if random.one_in(200) {
            bytes.extend(random.pick(&BAD_HEADS).bytes());
            bytes.extend(b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
        }
    }
    bytes
}

/// Generates the bytes of one request.
fn request(random: &mut Random, line: &str, has_body: bool) -> Vec<u8> {
    let is_old = random.one_in(100);
    let version = if is_old { "1.0" } else { "1.1" };
    let mut head = format!("{line} HTTP/{version}\r\nHost: a\r\n");
    if random.one_in(60) {
        head += random.pick(&CLOSES);
    } else if random.one_in(10) || is_old && random.one_in(2) {
        head += random.pick(&CONTINUES);
    }
    if random.one_in(if has_body { 2 } else { 30 }) {
        head += random.pick(&[
            "Expect: 100-continue\r\n",
            "expect: 100-Continue\r\n",
            "Expect: 100-continue\r\nExpect: 100-continue\r\n",
        ]);
    }
    if !has_body {
        head += random.pick(&["", "", "", "Content-Length: 0\r\n"]);
        return format!("{head}\r\n").into_bytes();
    }
    if is_old || random.one_in(2) {
        let body = body(random);
        return format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
    }
    head +=
        random.pick(&["Transfer-Encoding: chunked\r\n\r\n", "transfer-encoding:Chunked\r\n\r\n"]);
    let mut bytes = head.into_bytes();
    let extensions = ["", "", ";a", ";a=\"0\\\"\"; b=c", " ;x=y"];
    for _ in 0..random.index(4) {
        let chunk = body(random);
        if !chunk.is_empty() {
            let zeros = random.pick(&["", "", "00"]);
            let extension = random.pick(&extensions);
            bytes.extend(format!("{zeros}{:X}{extension}\r\n{chunk}\r\n", chunk.len()).bytes());
        }
    }
    if random.one_in(30) {
        bytes.extend(b"-1\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    let trailers = ["", "", "X: y\r\n", "Connection: close\r\n", "Content-Length: 40\r\nA:\r\n"];
    let (zeros, extension) = (random.pick(&["0", "000"]), random.pick(&extensions));
    bytes.extend(format!("{zeros}{extension}\r\n{}\r\n", random.pick(&trailers)).bytes());
    bytes
}

/// The application's side of a connection.
#[derive(Default)]
struct Log {
    /// The received requests, with the bodies that the application has read.
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

/// Handles a request according to the last part of its path. The response names
/// the request.
async fn handle(mut request: Request, log: Arc<Log>) -> Response {
    let target = request.path().to_owned();
    let place = {
        let mut seen = log.seen.lock().unwrap();
        seen.push((target.clone(), None));
        seen.len() - 1
    };
    // The sweep sends its commands at any time, for example in the middle of a
    // pipeline.
    log.tell(Command::Park);
    let mut size = 1;
    match target.rsplit('/').next() {
        Some("late") => {
            pause(5).await;
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
        Some("peek") => {
            let mut stream = request.take_stream();
            // The response is ready in the same round as `100 Continue`.
            for _ in 0..2 {
                tokio::select! {
                    biased;
                    _ = stream.frame() => {}
                    () = tokio::task::yield_now() => {}
                }
            }
        }
        Some("held") => {
            tokio::spawn(async move {
                pause(20).await;
                drop(request);
            });
        }
        Some("half-later") => {
            tokio::spawn(async move {
                pause(5).await;
                let _ = request.take_stream().frame().await;
            });
        }
        Some("large") => size = 100_000,
        Some("empty") => size = 0,
        _ => {}
    }
    respond(&target, size)
}

async fn pause(rounds: usize) {
    for _ in 0..rounds {
        tokio::task::yield_now().await;
    }
}

fn respond(target: &str, size: usize) -> Response {
    let handling = target.rsplit('/').next();
    let mut response = match handling {
        Some(kind @ ("stream" | "break-off")) => {
            Response::new(HttpBody::new(Pieces { left: 5, is_broken: kind == "break-off" }))
        }
        Some("no-content") => text(204, ""),
        _ => text(200, "z".repeat(size)),
    };
    let headers = response.headers_mut();
    headers.insert("x-target", HeaderValue::from_str(target).unwrap());
    headers.insert(AS_LINE, HeaderValue::from_str(target).unwrap());
    let connection: &[&[u8]] = match handling {
        Some("close") => &[b"te", b"Close"],
        Some("close-odd") => &[b"\xff, close"],
        _ => &[],
    };
    for value in connection {
        headers.append("connection", HeaderValue::from_bytes(value).unwrap());
    }
    response
}

/// A body with a pause before each piece.
struct Pieces {
    left: usize,
    is_broken: bool,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.left = self.left.saturating_sub(1);
        match self.left {
            0 if self.is_broken => Poll::Ready(Some(Err(io::Error::other("broken")))),
            0 => Poll::Ready(None),
            left if left % 2 == 0 => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            _ => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"zzz"))))),
        }
    }
}

/// The responses received so far.
#[derive(Default)]
struct Responses {
    bytes: Vec<u8>,
    /// The number of bytes of complete responses.
    parsed: usize,
    /// The request targets named by the responses.
    targets: Vec<String>,
    /// The last response announces the close of the connection.
    closes: bool,
    /// The last response rejects a malformed request.
    rejects: bool,
}

impl Responses {
    /// Parses the responses to `requests` that are now complete.
    fn parse(&mut self, requests: &[Parsed], is_eof: bool) {
        loop {
            let rest = &self.bytes[self.parsed..];
            let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") else { return };
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let values = |name: &str| -> Vec<&str> {
                head.lines().filter_map(|line| line.strip_prefix(name)).collect()
            };
            let request = requests.get(self.targets.len());
            let is_interim = head.contains(" 100 Continue");
            let is_bare =
                is_interim || head.contains(" 204 ") || request.is_some_and(|it| it.is_head);
            let rest = &rest[end + 4..];
            let (body, length) = match values("content-length: ")[..] {
                _ if is_bare => (Vec::new(), 0),
                [length] => {
                    let length = length.parse().unwrap();
                    let Some(body) = rest.get(..length) else { return };
                    (body.to_vec(), length)
                }
                _ if values("transfer-encoding: ") == ["chunked"] => {
                    let last = rest.windows(5).position(|it| it == b"0\r\n\r\n");
                    let Some(last) = last else { return };
                    (take_chunks(&mut &rest[..last + 5]).unwrap(), last + 5)
                }
                // The end of the connection ends the body.
                _ if is_eof => (rest.to_vec(), rest.len()),
                _ => return,
            };
            assert!(
                !self.closes && !self.rejects,
                "a response follows the announced close: {head}"
            );
            if head.starts_with("HTTP/1.1 400 ") {
                self.rejects = true;
            } else {
                assert!(body.iter().all(|byte| *byte == b'z'), "{head}");
            }
            if !is_interim && !self.rejects {
                assert!(
                    head[8..].starts_with(" 200 OK") || head[8..].starts_with(" 204 "),
                    "{head}"
                );
                let last = values("connection: ").concat().to_ascii_lowercase();
                self.closes = last.contains("close");
                let target = values("x-target: ").concat();
                assert_eq!(values(AS_LINE_TEXT), [&target], "{head}");
                self.targets.push(target);
            }
            self.parsed += end + 4 + length;
        }
    }
}

/// Sends the bytes of one connection in random pieces of at most `most` bytes
/// with random pauses, and compares the outcome with the model. Returns how
/// often the connection was parked.
async fn check(
    (shared, log): (&Arc<Shared<Function>>, &Log),
    random: &mut Random,
    bytes: &[u8],
    most: usize,
) -> usize {
    let state = format!("{random:?}");
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
    // The client reads nothing until it has sent everything, or as much as the
    // server accepts.
    let mut reads_late = random.one_in(8);
    let ends_at = random.one_in(10).then(|| random.index(bytes.len()));
    let command = if random.one_in(2) { Command::Finish } else { Command::Shutdown };
    let mut is_told = false;
    let closes_half = shared.options().half_close && random.one_in(2);
    while is_open && !(rest.is_empty() && responses.targets.len() >= expected.len()) {
        assert!(Instant::now() < deadline, "{state}: nothing happens");
        if !rest.is_empty() {
            let count = rest.len().min(1 + random.index(most).max(rest.len() / 100));
            // A full socket accepts less. The reader detects a closed one.
            match writer.try_write(&rest[..count]) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => reads_late = false,
                Err(_) => rest = &[],
            }
        }
        if rest.is_empty() && closes_half {
            let _ = writer.shutdown().await;
        }
        if !is_told && ends_at.is_some_and(|left| rest.len() <= left) {
            is_told = true;
            single.tell(command).await;
        }
        for _ in 0..random.index(4) {
            tokio::task::yield_now().await;
            // The server never sends this command on the plain path.
            if random.one_in(2) && shared.options().hyper_fast_path {
                single.tell(Command::Park).await;
            }
        }
        parked += usize::from(single.is_parked());
        if reads_late && !rest.is_empty() {
            continue;
        }
        tokio::select! {
            biased;
            read = reader.read_buf(&mut responses.bytes) => is_open = matches!(read, Ok(1..)),
            () = tokio::task::yield_now() => {}
        }
        responses.parse(&expected, false);
    }
    // No more bytes follow.
    let _ = writer.shutdown().await;
    let _ = soon(reader.read_to_end(&mut responses.bytes)).await;
    responses.parse(&expected, true);
    compare(&state, &expected, &responses, &log.seen.lock().unwrap(), is_told);
    parked
}

fn compare(
    state: &str,
    expected: &[Parsed],
    responses: &Responses,
    seen: &[(String, Option<Vec<u8>>)],
    is_told: bool,
) {
    let Responses { targets, closes, .. } = responses;
    let tail = &responses.bytes[responses.parsed..];
    let tail = String::from_utf8_lossy(&tail[..tail.len().min(600)]);
    let breaks_off =
        |place: usize| seen.get(place).is_some_and(|(target, _)| target.ends_with("/break-off"));
    let is_half = responses.parsed < responses.bytes.len();
    let is_cut = |place: usize| expected.iter().take(place + 1).any(|it| it.asks_to_upgrade);
    assert!(
        !is_half || breaks_off(targets.len()) || is_cut(targets.len()),
        "{state}, {targets:?}: half a response: {tail}"
    );
    let wanted: Vec<_> = expected.iter().map(|request| request.target.as_str()).collect();
    let received: Vec<_> = seen.iter().map(|(target, _)| target.as_str()).collect();
    assert!(wanted.starts_with(&received), "{state}: {received:?} of {wanted:?}");
    let in_order = targets.iter().zip(&received).all(|(target, seen)| target == seen);
    assert!(in_order && targets.len() <= received.len(), "{state}: {targets:?}");
    for ((target, read), request) in seen.iter().zip(expected) {
        if let Some(read) = read {
            assert!(*read == request.body, "{state}: the body of {target}");
        }
    }
    if targets.len() < expected.len() {
        // The server may close early only after a request with an unread body.
        let last = targets.len().checked_sub(1).map(|last| (&expected[last], &seen[last]));
        let is_unread = last.is_some_and(|(it, (_, read))| !it.body.is_empty() && read.is_none());
        let may_end =
            *closes || is_unread || is_told || breaks_off(targets.len()) || is_cut(targets.len());
        assert!(may_end, "{state}: only {targets:?} of {wanted:?}");
    }
}

/// Serves connections sequentially on one thread.
fn serve(half_close: bool, connections: impl AsyncFnOnce(&Arc<Shared<Function>>, &Log)) {
    let log = Arc::new(Log::default());
    let app = {
        let log = Arc::clone(&log);
        Function::new(move |request| handle(request, Arc::clone(&log)))
    };
    let shared = Arc::new(Shared::new(app, &options().half_close(half_close)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(connections(&shared, &log));
}

#[test]
fn an_unread_body_is_not_the_next_request() {
    serve(false, async |shared, log| {
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
            check((shared, log), &mut Random::new(gets), &bytes, 1_000_000).await;
        }
    });
}

#[test]
fn generated_connections_match_the_model() {
    // `cargo xtask pipelines` sets both.
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
    };
    let first: u64 = number("STOCKADE_PIPELINES_SEED", 1);
    let connections: u64 = number("STOCKADE_PIPELINES", 1_500);
    let middle = first + connections / 2;
    for (half_close, seeds) in [(false, first..middle), (true, middle..first + connections)] {
        serve(half_close, async |shared, log| {
            let mut parked = 0;
            for seed in seeds {
                let random = &mut Random::new(seed);
                let bytes = requests(random);
                let most = [1, 30, 200, 5_000, 1_000_000, 1_000_000][random.index(6)];
                parked += u64::from(check((shared, log), random, &bytes, most).await > 0);
            }
            // A run on the fast path that never parks proves nothing.
            let least = if shared.options().hyper_fast_path { connections / 40 } else { 0 };
            assert!(parked >= least, "{parked} of {connections} were parked");
        });
    }
}
