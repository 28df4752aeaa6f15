//! [`Connection`]: a client that sends texts and checks their echoes.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection after its handshake.
pub struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let head = format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let (mut answer, mut byte) = (Vec::new(), [0]);
        while !answer.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte)?;
            answer.extend(byte);
        }
        if !answer.starts_with(b"HTTP/1.1 101 ") {
            return Err(ErrorKind::ConnectionRefused.into());
        }
        Ok(Self { stream, read: Vec::new() })
    }

    /// Sends `in_flight` texts with one write and reads their echoes, until
    /// `messages` messages are complete.
    pub fn echo(&mut self, messages: usize, in_flight: usize) -> io::Result<()> {
        let sent = sent().repeat(in_flight);
        let expected = echoed().repeat(in_flight);
        self.read.resize(expected.len(), 0);
        for _ in 0..messages / in_flight {
            self.stream.write_all(&sent)?;
            self.stream.read_exact(&mut self.read)?;
            if self.read != expected {
                return Err(ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }
}

/// Returns a masked text frame.
fn sent() -> Vec<u8> {
    let mut frame = vec![0x81, 0x80 | TEXT.len() as u8];
    frame.extend(MASK);
    frame.extend(TEXT.bytes().zip(MASK.into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

fn echoed() -> Vec<u8> {
    let mut frame = vec![0x81, TEXT.len() as u8];
    frame.extend(TEXT.bytes());
    frame
}

/// The text of each message, 64 bytes.
const TEXT: &str = "A text of sixty-four bytes, which nobody needs to read, I think.";

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// The timeout of one write or read.
const PATIENCE: Duration = Duration::from_secs(10);
