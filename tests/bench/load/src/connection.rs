//! [`Connection`]: a connection with one request at a time.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Instant;

use memchr::memmem;
use mio::net::TcpStream;

/// A connection and its pending response.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8; SIZE]>,
    filled: usize,
    /// The time when the last request was sent, or was due.
    pub(crate) since: Instant,
}

const SIZE: usize = 16_384;

impl Connection {
    /// Opens a connection and waits for it, which mio would not do.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let stream = TcpStream::from_std(stream);
        Ok(Self { stream, buffer: Box::new([0; SIZE]), filled: 0, since: Instant::now() })
    }

    pub(crate) fn socket(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Sends a request and measures its latency from `since`.
    pub(crate) fn send(&mut self, request: &[u8], since: Instant) -> io::Result<()> {
        self.since = since;
        self.filled = 0;
        // A request of 1 KB always fits into an empty socket.
        if self.stream.write(request)? == request.len() {
            return Ok(());
        }
        Err(io::ErrorKind::WriteZero.into())
    }

    /// Reads the available bytes. Returns the status if the response is
    /// complete.
    pub(crate) fn receive(&mut self) -> io::Result<Option<[u8; 3]>> {
        match self.stream.read(&mut self.buffer[self.filled..]) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.filled += count;
                Ok(complete(&self.buffer[..self.filled]))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the status of a complete response.
fn complete(answer: &[u8]) -> Option<[u8; 3]> {
    let end = memmem::find(answer, b"\r\n\r\n")?;
    let head = &answer[..end];
    let length = memmem::find_iter(head, b"ontent-").find_map(|at| {
        let rest = &head[at + b"ontent-".len()..];
        let digits = rest.get(b"length: ".len()..)?;
        rest[..b"length: ".len()].eq_ignore_ascii_case(b"length: ").then(|| number(digits))
    });
    let is_there = answer.len() >= end + 4 + length.unwrap_or(0);
    is_there.then(|| [answer[9], answer[10], answer[11]])
}

fn number(digits: &[u8]) -> usize {
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_complete_with_its_body() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-type: x\r\nContent-Length: 12\r\n\r\n123456789012";
        assert_eq!(complete(text), Some(*b"200"));
        assert_eq!(complete(&text[..text.len() - 1]), None);
        assert_eq!(complete(&text[..20]), None);
        assert_eq!(complete(b"HTTP/1.1 204 No Content\r\n\r\n"), Some(*b"204"));
    }
}
