//! A WebSocket, an event stream, an upload and the address of the client behind
//! nginx, once with HTTP/1.1 and once with HTTP/1.0 between nginx and the
//! program.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{ADDRESS_OF_NGINX, Checks, Nginx, connect, request, start};
use crate::running::{free_port, wait_for};
use crate::{Outcome, examples, root};

/// The chapter with the configuration.
const CHAPTER: &str = "book/src/operations/docker.md";

/// The line of the configuration that selects HTTP/1.1. nginx uses HTTP/1.0 by
/// default.
const VERSION: &str = "    proxy_http_version 1.1;\n";

/// The line instead of it. An HTTP/1.0 response with an unknown length ends with
/// its connection, and nginx buffers it, so events would arrive late.
const UNBUFFERED: &str = "    proxy_buffering off;\n";

/// The length of the upload. nginx writes it to a file, because it is longer
/// than its buffer.
const UPLOAD: usize = 5 << 20;

pub(super) fn run(nginx: &Path, folder: &Path, checks: &mut Checks) -> Outcome {
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let mut program = Command::new(examples::debug_program("proxied")?);
    program.env("PORT", port.to_string()).stdout(Stdio::null());
    let _program = start(&mut program, &folder.join("proxied.log"), "proxied")?;
    wait_for(&address)?;
    let chapter = fs::read_to_string(root().join(CHAPTER)).map_err(|error| error.to_string())?;
    let current = configuration(&chapter)?;
    let old = current.replace(VERSION, UNBUFFERED);
    if old == current {
        return Err(format!("{CHAPTER}: the configuration does not contain {VERSION:?}"));
    }
    for (version, conf) in [("1.1", &current), ("1.0", &old)] {
        let proxy = Nginx::start(nginx, folder, &format!("http-{version}"), conf, &address)?;
        check_client(&proxy.address, version, checks)?;
        check_upload(&proxy.address, version, checks)?;
        check_events(&proxy.address, version, checks)?;
        check_web_socket(&proxy.address, version, checks)?;
    }
    Ok(())
}

/// Returns the configuration of nginx with the two blocks of the chapter.
fn configuration(chapter: &str) -> Result<String, String> {
    let block = |start: &str| {
        let (_, block) = chapter
            .split_once(&format!("```text\n{start}"))
            .ok_or(format!("{CHAPTER}: the block `{start}` is missing"))?;
        let block = block.split_once("\n```").map_or(block, |(block, _)| block);
        Ok::<_, String>(format!("{start}{block}\n"))
    };
    let (map, location) = (block("map ")?, block("location ")?);
    Ok(format!(
        "events {{}}\n\nhttp {{\n{map}server {{\nlisten 8080;\nclient_max_body_size \
         8m;\n{location}}}\n}}\n"
    ))
}

fn check_client(address: &str, version: &str, checks: &mut Checks) -> Outcome {
    let forged = "X-Forwarded-For: 203.0.113.7\r\n";
    let found = request(address, "GET", "/client", forged, "")?;
    checks.status(&format!("HTTP/{version}: a request"), 200, &found);
    let expected = format!(r#"{{"client":"127.0.0.1","host":"{address}"}}"#);
    checks.holds(
        &format!("HTTP/{version}: the program sees the client and its `Host`"),
        found.body == expected && !found.body.contains(ADDRESS_OF_NGINX),
    );
    Ok(())
}

fn check_upload(address: &str, version: &str, checks: &mut Checks) -> Outcome {
    let found = request(address, "POST", "/upload", "", &"x".repeat(UPLOAD))?;
    checks.status(&format!("HTTP/{version}: an upload of 5 MiB"), 200, &found);
    let is_whole = found.body == format!(r#"{{"length":{UPLOAD}}}"#);
    checks.holds(&format!("HTTP/{version}: the whole upload arrives"), is_whole);
    let found = request(address, "POST", "/upload", "", &"x".repeat(9 << 20))?;
    checks.status(&format!("HTTP/{version}: an upload of 9 MiB"), 413, &found);
    Ok(())
}

/// Checks that each event arrives before the program sends the next one.
fn check_events(address: &str, version: &str, checks: &mut Checks) -> Outcome {
    let fault = |error: std::io::Error| format!("{address}/events: {error}");
    let mut stream = connect(address)?;
    let head = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).map_err(fault)?;
    let first = read_until(&mut stream, b"event 0").map_err(fault)?;
    let name = format!("HTTP/{version}: the first event arrives while the stream is open");
    checks.holds(&name, contains(&first, b"event 0"));
    let found = request(address, "POST", "/events", "", "")?;
    checks.status(&format!("HTTP/{version}: the program sends an event"), 200, &found);
    let second = read_until(&mut stream, b"event 1").map_err(fault)?;
    checks.holds(&format!("HTTP/{version}: the event arrives"), contains(&second, b"event 1"));
    Ok(())
}

/// Checks a WebSocket. HTTP/1.0 does not have upgrades, so the program rejects
/// the handshake.
fn check_web_socket(address: &str, version: &str, checks: &mut Checks) -> Outcome {
    // The program accepts the origin only if nginx forwards `Host` unchanged.
    let got = web_socket(address, &format!("http://{address}"))?;
    if version == "1.0" {
        let is_rejected = got.starts_with(b"HTTP/1.1 4");
        checks.holds("HTTP/1.0: a WebSocket handshake gets a 4xx", is_rejected);
        return Ok(());
    }
    checks.holds("a WebSocket echoes a message", got.ends_with(b"\x81\x05hello"));
    let got = web_socket(address, "http://other.example")?;
    checks.holds("a WebSocket of another origin gets a 403", got.starts_with(b"HTTP/1.1 403"));
    Ok(())
}

/// Opens a WebSocket, sends `hello`, and returns the received bytes.
fn web_socket(address: &str, origin: &str) -> Result<Vec<u8>, String> {
    let fault = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = connect(address)?;
    let head = format!(
        "GET /echo HTTP/1.1\r\nHost: {address}\r\nOrigin: {origin}\r\nConnection: upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).map_err(fault)?;
    let mut got = read_until(&mut stream, b"\r\n\r\n").map_err(fault)?;
    if got.starts_with(b"HTTP/1.1 101") {
        // A text frame; its mask has only zeros.
        stream.write_all(b"\x81\x85\0\0\0\0hello").map_err(fault)?;
        got.extend(read_until(&mut stream, b"hello").map_err(fault)?);
    }
    Ok(got)
}

/// Reads until these bytes, or until the end of the stream.
fn read_until(stream: &mut TcpStream, end: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut got = Vec::new();
    let mut piece = [0; 1024];
    while !contains(&got, end) {
        match stream.read(&mut piece)? {
            0 => break,
            count => got.extend_from_slice(&piece[..count]),
        }
    }
    Ok(got)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chapter_has_a_configuration() {
        let chapter = fs::read_to_string(root().join(CHAPTER)).unwrap();
        let conf = configuration(&chapter).unwrap();
        for part in ["listen 8080;", "$connection_upgrade {", "127.0.0.1:3000;", VERSION] {
            assert_eq!(conf.matches(part).count(), 1, "{part} is not in {conf} once");
        }
        assert!(configuration("# A chapter\n").is_err());
    }
}
