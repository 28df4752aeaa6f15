//! Compiles a program with a changed hyper that has a higher version. The
//! program must log a warning and send the same responses.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{read, source, version_in, write};
use crate::running::{Running, free_port, wait_for};
use crate::{Outcome, announce, cargo_command, root, run as run_command, target_directory};

/// A changed behavior of hyper.
struct Change {
    /// The assumption that it breaks.
    breaks: &'static str,
    file: &'static str,
    old: &'static str,
    new: &'static str,
}

const CHANGES: &[Change] = &[
    // Flushes before it writes.
    Change {
        breaks: "FlushAfterAll",
        file: "src/proto/h1/io.rs",
        old: "            if let WriteStrategy::Flatten = self.write_buf.strategy {\n                \
              return",
        new: "            ready!(Pin::new(&mut self.io).poll_flush(cx))?;\n            \
              if let WriteStrategy::Flatten = self.write_buf.strategy {\n                return",
    },
    // Writes a head in small pieces.
    Change {
        breaks: "HeadAfterFlush",
        file: "src/proto/h1/io.rs",
        old: "            let n = ready!(Pin::new(&mut self.io).poll_write(cx, \
              self.write_buf.headers.chunk()))?;",
        new: "            let piece = self.write_buf.headers.chunk();\n            \
              let piece = &piece[..piece.len().min(12)];\n            \
              let n = ready!(Pin::new(&mut self.io).poll_write(cx, piece))?;",
    },
    // Does not remove the last request from its buffer.
    Change {
        breaks: "NothingReadAhead",
        file: "src/proto/h1/io.rs",
        old: "        (self.io, self.read_buf.freeze())",
        new: "        (self.io, Bytes::from_static(b\"GET / HTTP/1.1\"))",
    },
    // Flushes only if something was written.
    Change {
        breaks: "FlushInEachPoll",
        file: "src/proto/h1/io.rs",
        old: "        } else if self.write_buf.remaining() == 0 {\n            \
              Pin::new(&mut self.io).poll_flush(cx)",
        new: "        } else if self.write_buf.remaining() == 0 {\n            \
              Poll::Ready(Ok(()))",
    },
];

pub fn run() -> Outcome {
    let folder = target_directory()?.join("hyper");
    let project = folder.join("program");
    fs::create_dir_all(project.join("src")).map_err(|error| error.to_string())?;
    write(&project.join("src/main.rs"), &read(&root().join("tests/hyper/program.rs"))?)?;
    let (hyper, version) = source()?;
    let expected = observe(&folder, &project, None)?;
    if !expected.warnings.is_empty() {
        return Err(format!("hyper {version} causes warnings: {:#?}", expected.warnings));
    }
    let heads = expected.responses.iter().filter(|head| head.contains("nosniff")).count();
    if heads != RESPONSES {
        return Err(format!("expected {RESPONSES} responses with security headers, found {heads}"));
    }
    for change in CHANGES {
        let copy = changed(&hyper, &version, &folder, change)?;
        let found = observe(&folder, &project, Some(&copy))?;
        let names = |line: &str| line.contains("breaks an assumption");
        let others = |line: &str| {
            let names = CHANGES.iter().map(|other| other.breaks).chain(["ServesInMemory"]);
            names.filter(|name| *name != change.breaks).any(|name| line.contains(name))
        };
        match &found.warnings[..] {
            [line] if names(line) && line.contains(change.breaks) && !others(line) => {
                println!("{}: {line}", change.breaks);
            }
            warnings => {
                return Err(format!(
                    "expected one warning that names {}, found {warnings:#?}",
                    change.breaks
                ));
            }
        }
        if found.responses != expected.responses {
            return Err(format!(
                "{}: expected the responses {:#?}, found {:#?}",
                change.breaks, expected.responses, found.responses
            ));
        }
    }
    Ok(())
}

/// Copies hyper with a change and the next minor version.
fn changed(hyper: &Path, version: &str, folder: &Path, change: &Change) -> Result<PathBuf, String> {
    let copy = folder.join(change.breaks);
    let _ = fs::remove_dir_all(&copy);
    copy_folder(hyper, &copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    let manifest = copy.join("Cargo.toml");
    let next = next_minor(version).ok_or(format!("hyper has the version {version}"))?;
    replace(
        &manifest,
        &format!("\nversion = \"{version}\"\n"),
        &format!("\nversion = \"{next}\"\n"),
    )?;
    replace(&copy.join(change.file), change.old, change.new)?;
    Ok(copy)
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Returns the next minor version: `1.13.0` after `1.12.3`.
fn next_minor(version: &str) -> Option<String> {
    let mut numbers = version.split('.');
    let (major, minor) = (numbers.next()?, numbers.next()?.parse::<u32>().ok()?);
    Some(format!("{major}.{}.0", minor + 1))
}

/// Replaces a text that must appear exactly once.
fn replace(path: &Path, old: &str, new: &str) -> Outcome {
    let text = read(path)?;
    match text.matches(old).count() {
        1 => write(path, &text.replace(old, new)),
        count => Err(format!(
            "{} contains {old:?} {count} times instead of once: update `CHANGES` in \
             xtask/src/hyper/patched.rs",
            path.display()
        )),
    }
}

/// The behavior of a program.
struct Observed {
    /// The warnings and errors in its log.
    warnings: Vec<String>,
    /// The responses, without differences that are allowed.
    responses: Vec<String>,
}

/// Compiles and runs the program, with a changed hyper if `hyper` is set.
fn observe(folder: &Path, project: &Path, hyper: Option<&Path>) -> Result<Observed, String> {
    let lock = read(&root().join("Cargo.lock"))?;
    write(&project.join("Cargo.lock"), &lock)?;
    write(&project.join("Cargo.toml"), &manifest(hyper))?;
    if let Some(hyper) = hyper {
        let version = version_in(&read(&hyper.join("Cargo.toml"))?)?;
        let mut update = cargo_command();
        update
            .args(["update", "--quiet", "-p", "hyper", "--precise", &version])
            .current_dir(project);
        run_command(&mut update)?;
    }
    let mut build = cargo_command();
    build.arg("build").env("CARGO_TARGET_DIR", folder.join("target")).current_dir(project);
    run_command(&mut build)?;
    let port = free_port();
    let log = folder.join("program.log");
    let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut program = Command::new(folder.join("target/debug/program"));
    program.env("PORT", port.to_string()).stderr(file);
    announce(&program);
    let _program = Running::start(&mut program, "the program")?;
    let address = format!("127.0.0.1:{port}");
    wait_for(&address)?;
    let mut bytes = exchange(&address, PIPELINED, &[])?;
    bytes += &exchange(&address, "GET /small HTTP/1.1\r\nHost: a\r\n\r\n", LAST.as_bytes())?;
    cancel(&address, &log)?;
    let log = read(&log)?;
    let warnings = log.lines().filter(|line| line.starts_with(['W', 'E']));
    Ok(Observed { warnings: warnings.map(str::to_owned).collect(), responses: responses(&bytes) })
}

/// Returns the manifest of the program.
fn manifest(hyper: Option<&Path>) -> String {
    let facade = root().join("facade");
    let mut text = format!(
        "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nlog = {{ version = \"0.4\", features = [\"std\"] }}\nstockade = {{ path = {facade:?} }}\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n"
    );
    if let Some(hyper) = hyper {
        text += &format!("\n[patch.crates-io]\nhyper = {{ path = {hyper:?} }}\n");
    }
    text
}

/// Requests on one connection, sent at once.
const PIPELINED: &str = "GET /small HTTP/1.1\r\nHost: a\r\n\r\n\
    GET /small HTTP/1.1\r\nHost: a\r\n\r\n\
    POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\
    POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nworld\r\n0\r\n\r\n\
    POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi\
    GET /large HTTP/1.1\r\nHost: a\r\n\r\n\
    HEAD /small HTTP/1.1\r\nHost: a\r\n\r\n\
    GET /missing HTTP/1.1\r\nHost: a\r\n\r\n\
    GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// The last request of a connection.
const LAST: &str = "GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// The number of responses, without `100 Continue`.
const RESPONSES: usize = 11;

/// The time between two requests. The program parks a connection after a tenth
/// of a second.
const PAUSE: Duration = Duration::from_secs(1);

/// Sends requests, and `last` after a pause. Returns all responses.
fn exchange(address: &str, requests: &str, last: &[u8]) -> Result<String, String> {
    let send = || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.write_all(requests.as_bytes())?;
        if !last.is_empty() {
            thread::sleep(PAUSE);
            stream.write_all(last)?;
        }
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    send().map_err(|error: std::io::Error| format!("{address}: {error}"))
}

/// Disconnects while a handler runs, and waits until it is canceled.
fn cancel(address: &str, log: &Path) -> Outcome {
    let fault = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = TcpStream::connect(address).map_err(fault)?;
    stream.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").map_err(fault)?;
    wait_for_line(log, "started")?;
    drop(stream);
    wait_for_line(log, "canceled")
}

fn wait_for_line(log: &Path, line: &str) -> Outcome {
    let end = Instant::now() + Duration::from_secs(10);
    while !read(log)?.lines().any(|found| found == line) {
        if Instant::now() > end {
            return Err(format!("the program has not printed {line:?} within 10 s"));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Splits the bytes into responses, with sorted headers and without headers that
/// depend on the time.
fn responses(bytes: &str) -> Vec<String> {
    let responses = bytes.split("HTTP/1.1 ").skip(1).map(|response| {
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
        let mut lines: Vec<String> = head.lines().map(str::to_ascii_lowercase).collect();
        let varies = |line: &str| VARYING.iter().any(|name| line.starts_with(name));
        lines.retain(|line| !varies(line));
        if let Some((_, headers)) = lines.split_first_mut() {
            headers.sort_unstable();
        }
        format!("{}\n\n{body}", lines.join("\n"))
    });
    responses.collect()
}

const VARYING: &[&str] = &["date:", "ratelimit", "x-ratelimit", "x-request-id:"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_minor_version_is_higher() {
        assert_eq!(next_minor("1.12.3").as_deref(), Some("1.13.0"));
        assert_eq!(next_minor("1"), None);
    }

    #[test]
    fn headers_of_responses_are_sorted() {
        let one = "HTTP/1.1 200 OK\r\nb: 1\r\nDate: x\r\na: 2\r\n\r\nbodyHTTP/1.1 404 Not \
                   Found\r\n\r\n";
        assert_eq!(responses(one), ["200 ok\na: 2\nb: 1\n\nbody", "404 not found\n\n"]);
    }

    #[test]
    fn each_assumption_is_broken_once() {
        let mut names: Vec<&str> = CHANGES.iter().map(|change| change.breaks).collect();
        names.dedup();
        assert_eq!(names.len(), CHANGES.len());
        assert_eq!(PIPELINED.matches(" HTTP/1.1\r\n").count() + 2, RESPONSES);
    }
}
