//! Builds the examples, checks an invalid file with one of them, starts the
//! shop, and sends the requests of its README.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::{Outcome, announce, cargo, is_part_of, root, target_directory};

pub fn run() -> Outcome {
    build()?;
    check_validation_only()?;
    let readme = fs::read_to_string(root().join("examples/shop/README.md"))
        .map_err(|error| error.to_string())?;
    let exchanges = exchanges(&readme);
    if exchanges.len() != 3 {
        return Err(format!("examples/shop/README.md shows {} requests, not 3", exchanges.len()));
    }
    let binary = target_directory()?.join(format!("debug/shop{EXE_SUFFIX}"));
    check_command(&binary)?;
    let mut command = Command::new(binary);
    command
        .env("PORT", "0")
        .env("SHOP_DATABASE", ":memory:")
        .env_remove("NODE_ENV")
        .stdout(Stdio::piped());
    announce(&command);
    let mut shop = command.spawn().map_err(|error| format!("cannot start the shop: {error}"))?;
    let outcome = check_shop(&mut shop, &exchanges);
    // The server must never be left running.
    let _ = shop.kill();
    let _ = shop.wait();
    outcome
}

/// Builds all programs with the features of `cargo test --workspace`, which has
/// already compiled their libraries.
fn build() -> Outcome {
    cargo(&["build", "--workspace", "--bins", "--examples", "--all-features"])
}

/// Builds an example and returns its path. The example is optimized except in
/// `ci`, because an optimized build of everything takes two minutes.
pub fn program(name: &str) -> Result<PathBuf, String> {
    if is_part_of("ci") {
        return debug_program(name);
    }
    cargo(&["build", "--release", "-p", package_of(name), "--bin", name])?;
    Ok(target_directory()?.join(format!("release/{name}{EXE_SUFFIX}")))
}

/// Builds an example without optimization and with all of its features, and
/// returns its path.
pub fn debug_program(name: &str) -> Result<PathBuf, String> {
    if is_part_of("ci") {
        build()?;
    } else {
        cargo(&["build", "-p", package_of(name), "--bin", name, "--all-features"])?;
    }
    Ok(target_directory()?.join(format!("debug/{name}{EXE_SUFFIX}")))
}

/// Returns the package of an example.
fn package_of(name: &str) -> &str {
    match name {
        "shop" | "cluster" => name,
        "graphql" | "graphql_live" => "graphql",
        "browser" | "crowd" | "echo" | "proxied" => "internal-examples",
        _ => "stockade-examples",
    }
}

/// Checks that the shop lists its routes without its database.
fn check_command(shop: &Path) -> Outcome {
    let mut command = Command::new(shop);
    command.arg("routes").env("SHOP_DATABASE", "/nowhere/shop.db");
    announce(&command);
    let output = command.output().map_err(|error| format!("shop: {error}"))?;
    let routes = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !routes.contains("/products") {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("shop routes: {}:\n{routes}{errors}", output.status));
    }
    Ok(())
}

/// Checks that the example without HTTP finds the errors in its invalid file.
fn check_validation_only() -> Outcome {
    // It is built separately, so that no other package enables a feature.
    cargo(&["build", "-p", VALIDATION_ONLY])?;
    let binary = target_directory()?.join(format!("debug/{VALIDATION_ONLY}{EXE_SUFFIX}"));
    let mut command = Command::new(binary);
    command.arg("examples/validation-only/bad.json").current_dir(root());
    announce(&command);
    let output = command.output().map_err(|error| format!("{VALIDATION_ONLY}: {error}"))?;
    let problems = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(1) || !problems.lines().any(|line| line == BAD_PORT) {
        return Err(format!(
            "{VALIDATION_ONLY}: expected the exit code 1 and the line {BAD_PORT:?}, found \
             {}:\n{problems}",
            output.status
        ));
    }
    Ok(())
}

const VALIDATION_ONLY: &str = "validation-only";

const BAD_PORT: &str =
    "examples/validation-only/bad.json:4:13: listen.port: Number must be at most 65535";

fn check_shop(shop: &mut Child, exchanges: &[Exchange]) -> Outcome {
    let stdout = shop.stdout.take().ok_or("the shop does not have output")?;
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let first = lines.recv_timeout(PATIENCE).map_err(|_| "the shop does not start")?;
    let address = first
        .split_once("http://")
        .and_then(|(_, rest)| rest.split_once(';'))
        .map(|(address, _)| address.to_owned())
        .ok_or(format!("found no address in the output {first:?} of the shop"))?;

    for exchange in exchanges {
        println!("{}", exchange.command);
        let answer = exchange.send(&address)?;
        let differences = exchange.differences(&answer);
        if !differences.is_empty() {
            return Err(format!("{}\nThe shop sends\n{answer}", differences.join("\n")));
        }
    }
    terminate(shop)
}

/// Checks that SIGTERM shuts the shop down gracefully.
#[cfg(unix)]
fn terminate(shop: &mut Child) -> Outcome {
    // The standard library supports only SIGKILL; every sh has a built-in
    // `kill`.
    let pid = shop.id().to_string();
    crate::run(Command::new("sh").args(["-c", "kill -TERM \"$0\"", &pid]))?;
    for _ in 0..100 {
        match shop.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the shop ended with {status}")),
            _ => thread::sleep(Duration::from_millis(100)),
        }
    }
    Err("the shop did not end within 10 s of SIGTERM".to_owned())
}

#[cfg(not(unix))]
fn terminate(_shop: &mut Child) -> Outcome {
    crate::skip("SIGTERM (this system does not have it)");
    Ok(())
}

/// A `curl` line of a README, and the response below it.
#[derive(Default)]
pub struct Exchange {
    pub command: String,
    /// The lines of the response: with `-i`, the head, an empty line and the
    /// body; otherwise the body.
    shown: Vec<String>,
    /// The headers that the README lists as omitted.
    left_out: Vec<String>,
}

impl Exchange {
    /// Creates a GET request without an expected response.
    pub fn get(path: &str) -> Self {
        Self { command: format!("curl localhost:3000{path}"), ..Self::default() }
    }

    /// Sends the request of the line. Returns the head and the body.
    pub fn send(&self, address: &str) -> Result<String, String> {
        let words = words(&self.command);
        let value_of = |option: &str| {
            words.iter().position(|word| word == option).and_then(|index| words.get(index + 1))
        };
        let url = words.iter().find(|word| word.starts_with("localhost:3000"));
        let path = url.map(|url| url.trim_start_matches("localhost:3000")).ok_or("no URL")?;
        let body = value_of("-d").cloned().unwrap_or_default();
        let default = if body.is_empty() { "GET" } else { "POST" };
        let method = value_of("-X").map_or(default, String::as_str);
        let header = value_of("-H").map(|header| format!("{header}\r\n")).unwrap_or_default();
        let length = match body.len() {
            0 => String::new(),
            length => format!("Content-Length: {length}\r\n"),
        };
        // Like curl, it omits `Connection: close`, which the response would
        // repeat.
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: curl\r\nAccept: */*\r\n\
             {header}{length}\r\n{body}"
        );
        let fault = |error: std::io::Error| format!("{address}: {error}");
        let mut stream = TcpStream::connect(address).map_err(fault)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(fault)?;
        stream.write_all(request.as_bytes()).map_err(fault)?;
        let mut answer = Vec::new();
        while !is_whole(&answer)? {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).map_err(fault)?;
            if count == 0 {
                return Err(format!(
                    "{address} closes after {:?}",
                    String::from_utf8_lossy(&answer)
                ));
            }
            answer.extend_from_slice(&piece[..count]);
        }
        Ok(String::from_utf8_lossy(&answer).replace('\r', ""))
    }

    /// Compares the whole response with the README. Status and body must be
    /// equal, and each header must be shown or listed as omitted. The order of
    /// the headers does not matter.
    pub fn differences(&self, answer: &str) -> Vec<String> {
        let (head, body) = answer.split_once("\n\n").unwrap_or((answer, ""));
        let shown = self.shown.join("\n");
        if !words(&self.command).iter().any(|word| word == "-i") {
            return difference("body", &shown, body).into_iter().collect();
        }
        let (shown_head, shown_body) = shown.split_once("\n\n").unwrap_or((&shown, ""));
        let (mut sent, mut shown) = (head.lines(), shown_head.lines());
        let status = [sent.next().unwrap_or_default(), shown.next().unwrap_or_default()];
        let mut differences = Vec::from_iter(difference("status", status[1], status[0]));
        let mut sent: Vec<&str> = sent.collect();
        for line in shown {
            match sent.iter().position(|other| *other == line) {
                Some(index) => drop(sent.remove(index)),
                None => differences
                    .push(format!("README.md contains {line:?}, but the shop does not send it")),
            }
        }
        let name_of = |line: &str| line.split_once(':').map(|(name, _)| name.to_owned());
        let mut rest: Vec<String> = sent.into_iter().filter_map(name_of).collect();
        for name in &self.left_out {
            match rest.iter().position(|other| other == name) {
                Some(index) => drop(rest.remove(index)),
                None => differences
                    .push(format!("README.md omits {name:?}, but the shop does not send it")),
            }
        }
        let forgotten = rest.iter().map(|name| format!("README.md does not mention {name:?}"));
        differences.extend(forgotten);
        differences.extend(difference("body", shown_body, body));
        differences
    }
}

fn difference(part: &str, shown: &str, sent: &str) -> Option<String> {
    (shown != sent).then(|| format!("README.md shows the {part} {shown:?}"))
}

/// Returns true if the response has as many bytes as its head declares.
fn is_whole(answer: &[u8]) -> Result<bool, String> {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Ok(false) };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse::<usize>().ok());
    Ok(body.len() >= length.ok_or(format!("no length in {head:?}"))?)
}

/// Returns the `$ curl` lines of the README with the following lines, up to the
/// next one or the end of the block. A line below the block that begins with
/// `(Left out` belongs to the last one.
pub fn exchanges(readme: &str) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if let Some(command) = line.strip_prefix("$ curl ") {
            let command = format!("curl {command}");
            exchanges.push(Exchange { command, ..Exchange::default() });
            inside = true;
        } else if line.starts_with("```") {
            inside = false;
        } else if let Some(exchange) = exchanges.last_mut() {
            if inside {
                exchange.shown.push(line.to_owned());
            } else if line.starts_with("(Left out") {
                exchange.left_out.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
            }
        }
    }
    for exchange in &mut exchanges {
        while exchange.shown.last().is_some_and(String::is_empty) {
            exchange.shown.pop();
        }
    }
    exchanges
}

/// Splits a command into words, with single quotes as in a shell.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in command.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "```\n$ curl 'localhost:3000/a b'\n{}\n\n$ curl -i localhost:3000/c\n\
        HTTP/1.1 200 OK\nallow: GET\ncontent-length: 2\n\n{}\n```\n\n\
        (Left out: `date` and `x-name`.)\n{}\n";

    #[test]
    fn curl_lines_are_read() {
        let exchanges = exchanges(README);
        assert_eq!(exchanges.len(), 2);
        assert_eq!(exchanges[0].shown, ["{}"]);
        assert_eq!(words(&exchanges[0].command), ["curl", "localhost:3000/a b"]);
        let head = ["HTTP/1.1 200 OK", "allow: GET", "content-length: 2"];
        assert_eq!(exchanges[1].shown, [&head[..], &["", "{}"]].concat());
        assert_eq!(exchanges[1].left_out, ["date", "x-name"]);
    }

    #[test]
    fn a_response_is_shown_completely_or_abbreviated() {
        let exchanges = exchanges(README);
        let check = |index: usize, answer: &str, expected: &[&str]| {
            assert_eq!(exchanges[index].differences(answer), expected, "{answer}");
        };
        check(0, "HTTP/1.1 200 OK\ndate: x\n\n{}", &[]);
        check(0, "HTTP/1.1 200 OK\ndate: {}\n\n[]", &["README.md shows the body \"{}\""]);
        let same = "HTTP/1.1 200 OK\ndate: 1\nallow: GET\nx-name: 2\ncontent-length: 2\n\n{}";
        check(1, same, &[]);
        for (old, new, expected) in [
            ("200 OK", "404 Not Found", "README.md shows the status \"HTTP/1.1 200 OK\""),
            ("\n\n{}", "\n\n[]", "README.md shows the body \"{}\""),
            ("x-name: 2\n", "", "README.md omits \"x-name\", but the shop does not send it"),
            ("date: 1", "date: 1\nvary: Origin", "README.md does not mention \"vary\""),
            ("date: 1", "date: 1\nallow: PUT", "README.md does not mention \"allow\""),
            (
                "allow: GET\n",
                "",
                "README.md contains \"allow: GET\", but the shop does not send it",
            ),
        ] {
            check(1, &same.replace(old, new), &[expected]);
        }
        let other = same.replace("GET", "PUT");
        let expected = [
            "README.md contains \"allow: GET\", but the shop does not send it",
            "README.md does not mention \"allow\"",
        ];
        check(1, &other, &expected);
    }

    #[test]
    fn a_response_is_complete_by_its_length() {
        let check = |answer: &str, expected: Option<bool>| {
            assert_eq!(is_whole(answer.as_bytes()).ok(), expected, "{answer:?}");
        };
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n", Some(false));
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{", Some(false));
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", Some(true));
        check("HTTP/1.1 200 OK\r\ndate: x\r\n\r\n", None);
    }
}
