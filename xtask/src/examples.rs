//! Builds the examples, checks a bad file with one of them, starts the shop and
//! sends the README's requests.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::{Outcome, announce, cargo, root, target_directory};

pub fn run() -> Outcome {
    // With the features of `cargo test --workspace`, which has compiled them.
    cargo(&["build", "--workspace", "--examples", "--all-features"])?;
    check_validation_only()?;
    let readme = fs::read_to_string(root().join("README.md")).map_err(|error| error.to_string())?;
    let exchanges = exchanges(&readme);
    if exchanges.len() != 3 {
        return Err(format!("README.md shows {} requests to the shop, not 3", exchanges.len()));
    }
    let binary = target_directory()?.join(format!("debug/examples/shop{EXE_SUFFIX}"));
    let mut command = Command::new(binary);
    command.env("PORT", "0").env_remove("NODE_ENV").stdout(Stdio::piped());
    announce(&command);
    let mut shop = command.spawn().map_err(|error| format!("cannot start the shop: {error}"))?;
    let outcome = check_shop(&mut shop, &exchanges);
    // Whatever happened, nothing is left running.
    let _ = shop.kill();
    let _ = shop.wait();
    outcome
}

/// The example without HTTP must find what is wrong with its bad file.
fn check_validation_only() -> Outcome {
    // Alone, so that no feature comes from another package.
    cargo(&["build", "-p", VALIDATION_ONLY])?;
    let binary = target_directory()?.join(format!("debug/{VALIDATION_ONLY}{EXE_SUFFIX}"));
    let mut command = Command::new(binary);
    command.arg("examples/validation-only/bad.json").current_dir(root());
    announce(&command);
    let output = command.output().map_err(|error| format!("{VALIDATION_ONLY}: {error}"))?;
    let problems = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(1) || !problems.lines().any(|line| line == BAD_PORT) {
        return Err(format!(
            "{VALIDATION_ONLY}: {}, not 1 with the line {BAD_PORT:?}:\n{problems}",
            output.status
        ));
    }
    Ok(())
}

const VALIDATION_ONLY: &str = "validation-only";

const BAD_PORT: &str =
    "examples/validation-only/bad.json:4:13: listen.port: Number must be at most 65535";

fn check_shop(shop: &mut Child, exchanges: &[Exchange]) -> Outcome {
    let stdout = shop.stdout.take().ok_or("the shop has no output")?;
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
        .ok_or(format!("the shop says {first:?}, which has no address"))?;

    for exchange in exchanges {
        println!("{}", exchange.command);
        let answer = exchange.send(&address)?;
        for expected in &exchange.expected {
            if !answer.lines().any(|line| line == expected) {
                return Err(format!("{expected:?} is in README.md, but not in\n{answer}"));
            }
        }
    }
    terminate(shop)
}

/// SIGTERM must end the shop in peace.
#[cfg(unix)]
fn terminate(shop: &mut Child) -> Outcome {
    // The standard library only knows SIGKILL; `kill` is built into every sh.
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
    crate::skip("SIGTERM, which this system does not have");
    Ok(())
}

/// A `curl` line of README.md, and the lines that it shows as the answer.
struct Exchange {
    command: String,
    expected: Vec<String>,
}

impl Exchange {
    /// Sends what the line would send; with `-i` the head is part of the answer.
    fn send(&self, address: &str) -> Result<String, String> {
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
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Content-Length: {}\r\n{header}\r\n{body}",
            body.len()
        );
        let fault = |error: std::io::Error| format!("{address}: {error}");
        let mut stream = TcpStream::connect(address).map_err(fault)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(fault)?;
        stream.write_all(request.as_bytes()).map_err(fault)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(fault)?;
        Ok(answer.replace('\r', ""))
    }
}

/// The `$ curl` lines of the README with what follows them.
fn exchanges(readme: &str) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if let Some(command) = line.strip_prefix("$ curl ") {
            exchanges.push(Exchange { command: format!("curl {command}"), expected: Vec::new() });
            inside = true;
        } else if line.starts_with("```") {
            inside = false;
        } else if inside
            && !line.is_empty()
            && let Some(exchange) = exchanges.last_mut()
        {
            exchange.expected.push(line.to_owned());
        }
    }
    exchanges
}

/// The words of a command, with single quotes as the shell reads them.
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

    #[test]
    fn curl_lines_are_read() {
        let readme = "```\n$ curl -i 'localhost:3000/a b'\nHTTP/1.1 200 OK\n\n{}\n```\n{}\n";
        let exchanges = exchanges(readme);
        assert_eq!(exchanges.len(), 1);
        assert_eq!(exchanges[0].expected, ["HTTP/1.1 200 OK", "{}"]);
        assert_eq!(words(&exchanges[0].command), ["curl", "-i", "localhost:3000/a b"]);
    }
}
