//! A small HTTP client for tasks that check a running program.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A response with its body as text.
pub struct Response {
    pub status: u16,
    pub body: String,
}

/// Sends a request on a new connection. `header` has lines that end with CRLF.
pub fn request(
    address: &str,
    method: &str,
    path: &str,
    header: &str,
    body: &str,
) -> Result<Response, String> {
    let fault = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = connect(address)?;
    let content = match body.len() {
        0 => String::new(),
        length => format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{header}{content}\r\n\
         {body}"
    );
    match stream.write_all(request.as_bytes()) {
        // The server may respond before it has received the whole body.
        Err(error)
            if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
        written => written.map_err(fault)?,
    }
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    if bytes.is_empty() {
        read.map_err(fault)?;
    }
    response(&String::from_utf8_lossy(&bytes)).ok_or(format!("{address}: no response to {path}"))
}

/// Parses a whole response. Returns `None` if it does not have a status.
fn response(text: &str) -> Option<Response> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let is_chunked = head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked");
    let body = if is_chunked { without_chunks(body)? } else { body.to_owned() };
    Some(Response { status, body })
}

/// Joins the chunks of a body of ASCII characters. Returns `None` if a length
/// is wrong.
fn without_chunks(mut body: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (length, rest) = body.split_once("\r\n")?;
        match usize::from_str_radix(length, 16).ok()? {
            0 => return Some(whole),
            length => {
                whole += rest.get(..length)?;
                body = rest.get(length..)?.strip_prefix("\r\n")?;
            }
        }
    }
}

/// Opens a connection. Its reads fail after 30 seconds.
pub fn connect(address: &str) -> Result<TcpStream, String> {
    let connect = || {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(stream)
    };
    connect().map_err(|error: std::io::Error| format!("{address}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_has_a_status_and_a_body() {
        let found = response("HTTP/1.1 413 Too Large\r\na: b\r\n\r\npage").unwrap();
        assert_eq!((found.status, found.body.as_str()), (413, "page"));
        assert!(response("HTTP/1.1 200 OK\r\n").is_none());
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let found = response(&format!("{chunked}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")).unwrap();
        assert_eq!(found.body, "abc");
        assert!(response(&format!("{chunked}9\r\nab\r\n")).is_none());
    }
}
