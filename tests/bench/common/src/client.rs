//! [`Client`]: one connection, one request at a time.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::sockopt;

/// A keep-alive connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the value of the first header with this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
    }
}

impl Client {
    /// Opens a connection.
    ///
    /// # Errors
    /// Returns an error if nothing listens at the address.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, received: Vec::with_capacity(16_384) })
    }

    /// Configures the connection to close immediately on drop, which frees its
    /// port.
    ///
    /// # Errors
    /// Returns an error if the operating system rejects the option.
    pub fn reset(&self) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))?)
    }

    /// Sends a request and reads the response, which must have a
    /// `Content-Length`.
    ///
    /// # Errors
    /// Returns an error if the connection closes, if the server is silent for
    /// 30 s, or if the response is not HTTP/1.1.
    pub fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.send(request)?;
        self.receive()
    }

    /// Sends a request; [receive](Self::receive) reads the response.
    ///
    /// # Errors
    /// Returns an error if the connection closes.
    pub fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// Reads the response to a sent request.
    ///
    /// # Errors
    /// Returns the same errors as [`ask`](Self::ask).
    pub fn receive(&mut self) -> io::Result<Answer> {
        self.received.clear();
        loop {
            let mut piece = [0; 16_384];
            let count = self.stream.read(&mut piece)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.received.extend_from_slice(&piece[..count]);
            if let Some(answer) = parse(&self.received)? {
                return Ok(answer);
            }
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the response if it is complete.
fn parse(received: &[u8]) -> io::Result<Option<Answer>> {
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let strange = || io::Error::other("an answer that is not HTTP/1.1 with a length");
    let head = str::from_utf8(&received[..end]).map_err(io::Error::other)?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3));
    let status = status.and_then(|status| status.parse().ok()).ok_or_else(strange)?;
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, length)| length.parse::<usize>().ok()).ok_or_else(strange)?;
    let body = &received[end + 4..];
    Ok((body.len() >= length).then(|| Answer { status, headers, body: body.to_vec() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_complete_with_its_body() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nok";
        assert!(parse(&text[..text.len() - 1]).unwrap().is_none());
        let answer = parse(text).unwrap().unwrap();
        assert_eq!(
            (answer.status, &*answer.body, answer.header("x")),
            (200, &b"ok"[..], Some("y"))
        );
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
