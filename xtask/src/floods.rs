//! Floods the echo example with clients that never read, and checks its memory.
//! Then a few addresses hold all connections of the example `crowd`, while
//! other clients must be served in time.
//!
//! Each flood uses a new process and ends after some seconds. Memory is read
//! from `/proc`, so the task runs only on Linux.
//!
//! The full run is `cargo xtask floods --seconds 10 --idle 10000 --crowd
//! 10500`. It needs a limit of more than 10,500 open files and is a part of
//! `nightly`. In `ci`, a smaller run uses the unoptimized example that the
//! tests have compiled. It omits the crowd, which the server tests cover in a
//! smaller form.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::running::Running;
use crate::{Outcome, announce, examples, is_part_of, skip};

/// The default length of each flood, in seconds; `--seconds` changes it.
const SECONDS: u64 = 3;

/// The maximum length of a flood.
const MAX_SECONDS: u64 = 10;

/// The maximum memory growth of the example during a flood, in KiB, in addition
/// to twice the repeated data. A message is in memory both when it is read and
/// when it is written back.
const MAX_GROWTH: u64 = 4 * 1024;

/// The default number of connections that are opened at once; `--idle` changes
/// it. It is below the usual limit of 1,024 files.
const IDLE: u64 = 500;

/// The number of connections that are opened at once in `nightly`.
const MANY_IDLE: u64 = 10_000;

/// The maximum number of connections that the example accepts.
const MAX_IDLE: u64 = 20_000;

/// The maximum memory of an idle connection, in KiB.
const MAX_IDLE_COST: u64 = 16;

/// The maximum memory of an idle connection in `ci`, in KiB: futures are larger
/// without optimization.
const MAX_IDLE_COST_UNOPTIMISED: u64 = 24;

/// The connections of the crowd in `nightly`: more than the server accepts.
const CROWD: u64 = 10_500;

/// The largest crowd.
const MAX_CROWD: u64 = 15_000;

/// The maximum response time of a client while the crowd holds the connections,
/// in milliseconds.
const MAX_WAIT: f64 = 250.0;

/// Open files other than connections, in either process.
const OTHER_FILES: u64 = 50;

/// Data to send once, and data to send repeatedly.
struct Flood {
    name: &'static str,
    head: Vec<u8>,
    data: Vec<u8>,
}

pub fn run() -> Outcome {
    if !Path::new("/proc/self/status").exists() {
        skip("the task requires the memory of a process in /proc");
        return Ok(());
    }
    let arguments: Vec<String> = env::args().skip(2).collect();
    let limits = fs::read_to_string("/proc/self/limits").map_err(|error| error.to_string())?;
    let (mut seconds, mut idle, mut crowd) = (SECONDS, IDLE, None);
    if is_part_of("nightly") {
        seconds = MAX_SECONDS;
        match enough_files(&limits, MANY_IDLE + OTHER_FILES) {
            Ok(()) => idle = MANY_IDLE,
            Err(why) => skip(&format!("{MANY_IDLE} idle connections: {why}")),
        }
        match enough_files(&limits, CROWD + OTHER_FILES) {
            Ok(()) => crowd = Some(CROWD),
            Err(why) => skip(&format!("a crowd of {CROWD} connections: {why}")),
        }
    }
    let seconds = number(&arguments, "--seconds", seconds, MAX_SECONDS)?;
    let idle = number(&arguments, "--idle", idle, MAX_IDLE)?;
    if arguments.iter().any(|argument| argument == "--crowd") {
        crowd = Some(number(&arguments, "--crowd", CROWD, MAX_CROWD)?);
    }
    enough_files(&limits, idle.max(crowd.unwrap_or(0)) + OTHER_FILES)?;
    let mut command = Command::new(examples::program("echo")?);
    command.env("PORT", "0").stdout(Stdio::piped());
    announce(&command);
    let mut faults = Vec::new();
    for flood in floods() {
        let (sent, growth) = Echo::start(&mut command)?.flooded(&flood, seconds)?;
        println!("{}: {} kB sent, {growth} KiB more memory", flood.name, sent / 1_000);
        if growth > MAX_GROWTH + 2 * flood.data.len() as u64 / 1024 {
            faults.push(flood.name);
        }
    }
    let growth = Echo::start(&mut command)?.idle(idle)?;
    println!("{idle} idle connections: {growth} KiB, {} bytes each", growth * 1024 / idle);
    let max = if is_part_of("ci") { MAX_IDLE_COST_UNOPTIMISED } else { MAX_IDLE_COST };
    if growth > max * idle {
        faults.push("idle connections");
    }
    if let Some(count) = crowd {
        hold_connections(count)?;
    }
    if faults.is_empty() { Ok(()) } else { Err(format!("too much memory: {faults:?}")) }
}

/// Holds connections of each kind with a crowd, and checks the response times
/// of other clients.
fn hold_connections(count: u64) -> Outcome {
    let program = examples::program("crowd")?;
    for kind in ["idle", "head", "body"] {
        let mut command = Command::new(&program);
        command.arg("serve").env("PORT", "0").stdout(Stdio::piped());
        let mut server = Running::start(&mut command, "crowd")?;
        let stdout = server.stdout.take().ok_or("crowd does not have output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once(';'));
        let (address, _) =
            address.ok_or(format!("found no address in the output {line:?} of crowd"))?;
        let mut command = Command::new(&program);
        command.args(["hold", address, kind, &count.to_string()]);
        announce(&command);
        let output = command.output().map_err(|error| format!("crowd: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        print!("{text}");
        if !output.status.success() {
            return Err(format!("crowd: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let wait =
            longest_of(&text).ok_or(format!("found no time in the output {text:?} of crowd"))?;
        if wait > MAX_WAIT {
            return Err(format!("a client waited for {wait} ms, more than {MAX_WAIT} ({kind})"));
        }
    }
    Ok(())
}

/// Returns the longest time in a line of the example `crowd`, in milliseconds.
fn longest_of(text: &str) -> Option<f64> {
    text.split_once("longest ")?.1.split_once(" ms")?.0.parse().ok()
}

/// Returns the number after an option, from 1 to `most`.
fn number(arguments: &[String], option: &str, default: u64, most: u64) -> Result<u64, String> {
    let Some(index) = arguments.iter().position(|argument| argument == option) else {
        return Ok(default);
    };
    let number = arguments.get(index + 1).and_then(|number| number.parse().ok());
    number
        .filter(|number| (1..=most).contains(number))
        .ok_or(format!("{option} requires a number from 1 to {most}"))
}

/// Checks that a process may open the files of the crowd.
pub(crate) fn may_hold_crowd() -> Outcome {
    let limits = fs::read_to_string("/proc/self/limits").map_err(|error| error.to_string())?;
    enough_files(&limits, CROWD + OTHER_FILES)
}

/// Checks that a process may open this number of files; `limits` is
/// `/proc/self/limits`. The example inherits the limit.
fn enough_files(limits: &str, wanted: u64) -> Outcome {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()).unwrap_or("unlimited");
    match soft.parse::<u64>() {
        Ok(soft) if soft < wanted => Err(format!(
            "a process may open {soft} files, but {wanted} are required: run `ulimit -n \
             {wanted}`, or use fewer connections with `--idle`"
        )),
        _ => Ok(()),
    }
}

fn floods() -> Vec<Flood> {
    let flood = |name, head: Vec<u8>, data: Vec<u8>| Flood { name, head, data };
    let many = |first, length, count| frame(first, length).repeat(count);
    let mut huge = vec![TEXT, 0xff];
    huge.extend((1_u64 << 40).to_be_bytes());
    huge.extend([0; 4]);
    vec![
        flood("pings whose pongs are not read", Vec::new(), many(PING, 125, 500)),
        flood("empty pings whose pongs are not read", Vec::new(), many(PING, 0, 5000)),
        flood("messages whose echoes are not read", Vec::new(), many(TEXT, 64, 500)),
        flood("messages of 1 MiB whose echoes are not read", Vec::new(), frame(TEXT, 1 << 20)),
        flood("fragments of one byte", frame(TEXT_BEGINS, 1), many(GOES_ON, 1, 5000)),
        flood("empty fragments", frame(TEXT_BEGINS, 1), many(GOES_ON, 0, 5000)),
        flood(
            "fragments of 64 KiB without end",
            frame(TEXT_BEGINS, 65_536),
            frame(GOES_ON, 65_536),
        ),
        flood("a declared frame of 1 TiB", huge, vec![b'x'; 65_536]),
    ]
}

const GOES_ON: u8 = 0;
const TEXT_BEGINS: u8 = 1;
const TEXT: u8 = 0x81;
const PING: u8 = 0x89;

/// Returns a client frame with a mask that does not change the data.
fn frame(first: u8, length: usize) -> Vec<u8> {
    let mut frame = vec![first];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ 0..=125), _) => frame.push(0x80 | short),
        (_, Ok(medium)) => {
            frame.push(0x80 | 126);
            frame.extend(medium.to_be_bytes());
        }
        _ => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.resize(frame.len() + length, b'x');
    frame
}

/// The running example, stopped on drop.
struct Echo {
    process: Running,
    address: String,
}

impl Echo {
    fn start(command: &mut Command) -> Result<Self, String> {
        let process = Running::start(command, "echo")?;
        let mut echo = Self { process, address: String::new() };
        let stdout = echo.process.stdout.take().ok_or("echo does not have output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        let address = line.split_once("ws://").and_then(|(_, rest)| rest.split_once(';'));
        let (address, _) =
            address.ok_or(format!("found no address in the output {line:?} of echo"))?;
        echo.address = address.to_owned();
        Ok(echo)
    }

    /// Opens a connection and completes its handshake.
    fn connect(&self) -> Result<TcpStream, String> {
        let connect = || {
            let mut stream = TcpStream::connect(&self.address)?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            stream.set_write_timeout(Some(Duration::from_millis(200)))?;
            let head = format!(
                "GET / HTTP/1.1\r\nHost: {}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                self.address
            );
            stream.write_all(head.as_bytes())?;
            let (mut answer, mut byte) = (Vec::new(), [0]);
            while !answer.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte)?;
                answer.extend(byte);
            }
            let opened = answer.starts_with(b"HTTP/1.1 101 ");
            if opened { Ok(stream) } else { Err(ErrorKind::ConnectionRefused.into()) }
        };
        connect().map_err(|error: std::io::Error| format!("no connection: {error}"))
    }

    /// Returns the number of bytes sent, and the memory growth in KiB.
    fn flooded(&self, flood: &Flood, seconds: u64) -> Result<(u64, u64), String> {
        // The first connection of a process costs more than the others.
        drop(self.connect()?);
        let before = self.memory()?;
        let mut stream = self.connect()?;
        let end = Instant::now() + Duration::from_secs(seconds);
        let (mut sent, mut peak) = (0_u64, before);
        let mut rest = [&*flood.head, &*flood.data].concat();
        let mut at = 0;
        while Instant::now() < end {
            match stream.write(&rest[at..]) {
                Ok(count) => (at, sent) = (at + count, sent + count as u64),
                Err(error) if is_timeout(error.kind()) => {}
                // The server closed the connection, which is correct for some
                // floods.
                Err(_) => break,
            }
            if at == rest.len() {
                rest.clone_from(&flood.data);
                at = 0;
            }
            peak = peak.max(self.memory()?);
        }
        Ok((sent, peak.max(self.memory()?) - before))
    }

    /// Returns the memory of this number of idle connections, in KiB.
    fn idle(&self, count: u64) -> Result<u64, String> {
        drop(self.connect()?);
        let before = self.memory()?;
        let connections: Vec<TcpStream> =
            (0..count).map(|_| self.connect()).collect::<Result<_, _>>()?;
        let growth = self.memory()?.saturating_sub(before);
        drop(connections);
        Ok(growth)
    }

    /// Returns the memory of the process, in KiB.
    fn memory(&self) -> Result<u64, String> {
        memory_of_process(self.process.id())
    }
}

/// Returns the memory of a process, in KiB.
pub fn memory_of_process(id: u32) -> Result<u64, String> {
    let path = format!("/proc/{id}/status");
    let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    memory_of(&status).ok_or(format!("{path} does not contain VmRSS"))
}

fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn memory_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_uses_the_minimum_number_of_bytes() {
        assert_eq!(frame(PING, 0), [PING, 0x80, 0, 0, 0, 0]);
        assert_eq!(frame(TEXT, 125)[..2], [TEXT, 0xfd]);
        assert_eq!(frame(TEXT, 126)[..4], [TEXT, 0xfe, 0, 126]);
        assert_eq!(frame(TEXT, 65_535)[..4], [TEXT, 0xfe, 0xff, 0xff]);
        assert_eq!(frame(TEXT, 65_536)[..10], [TEXT, 0xff, 0, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(frame(TEXT, 65_536).len(), 14 + 65_536);
    }

    #[test]
    fn all_expected_floods_exist() {
        let floods = floods();
        for name in [
            "pings whose pongs are not read",
            "messages whose echoes are not read",
            "fragments of one byte",
            "fragments of 64 KiB without end",
            "a declared frame of 1 TiB",
        ] {
            assert!(floods.iter().any(|flood| flood.name == name), "{name}");
        }
    }

    #[test]
    fn options_are_numbers_within_their_range() {
        let read = |line: &str| {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            number(&arguments, "--idle", 500, 20_000)
        };
        assert_eq!(read("--seconds 9"), Ok(500));
        assert_eq!(read("--seconds 9 --idle 10000"), Ok(10_000));
        for line in ["--idle", "--idle x", "--idle 0", "--idle 20001", "--idle --seconds"] {
            assert_eq!(read(line), Err("--idle requires a number from 1 to 20000".to_owned()));
        }
    }

    #[test]
    fn reports_too_few_files_before_the_floods() {
        let limits = "Limit\nMax open files            1024                 4096       files\n";
        assert_eq!(enough_files(limits, 1024), Ok(()));
        let fault = enough_files(limits, 1025).unwrap_err();
        assert!(
            fault.contains("1024 files, but 1025 are required: run `ulimit -n 1025`"),
            "{fault}"
        );
        assert_eq!(enough_files("Max open files unlimited unlimited files", 1 << 40), Ok(()));
    }

    #[test]
    fn finds_the_longest_time() {
        let line = "10500 connections, head: longest 31.5 ms, median 2.0 ms\n";
        assert_eq!(longest_of(line), Some(31.5));
        assert_eq!(longest_of("no time\n"), None);
    }

    #[test]
    fn finds_memory_in_the_status() {
        assert_eq!(memory_of("VmPeak:\t 9 kB\nVmRSS:\t    5388 kB\n"), Some(5388));
        assert_eq!(memory_of("Name:\techo\n"), None);
    }
}
