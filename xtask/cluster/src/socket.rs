//! [`Socket`]: a member of the page's room with a separate WebSocket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::client::address_of;

/// A client that sends and receives texts.
pub struct Socket {
    stream: BufReader<TcpStream>,
}

impl Socket {
    /// Opens a connection to a node and waits for a message from its room.
    /// Returns the room's message about the new member.
    pub fn open(address: &str, path: &str, client: u32) -> Result<(Self, String), String> {
        let open = || {
            let mut stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(30)))?;
            let client = address_of(client);
            let head = format!(
                "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
                 Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                 X-Forwarded-For: {client}, {client}\r\n\r\n"
            );
            stream.write_all(head.as_bytes())?;
            let mut stream = BufReader::new(stream);
            let (mut line, mut head) = (String::new(), String::new());
            while line != "\r\n" {
                head += &line;
                line.clear();
                if stream.read_line(&mut line)? == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
            }
            Ok((stream, head))
        };
        let (stream, head) = open().map_err(|error: std::io::Error| format!("socket: {error}"))?;
        if !head.starts_with("HTTP/1.1 101") {
            return Err(format!("no socket: {}", head.lines().next().unwrap_or_default()));
        }
        let mut socket = Self { stream };
        let told = socket.next()?;
        Ok((socket, told))
    }

    /// Returns a second handle to the socket, for a sending thread.
    pub fn sender(&self) -> Result<TcpStream, String> {
        self.stream.get_ref().try_clone().map_err(|error| error.to_string())
    }

    /// Returns the next text.
    pub fn next(&mut self) -> Result<String, String> {
        self.read().map_err(|error| format!("no text: {error}"))
    }

    fn read(&mut self) -> std::io::Result<String> {
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head)?;
            let length = match head[1] {
                126 => {
                    let mut length = [0; 2];
                    self.stream.read_exact(&mut length)?;
                    usize::from(u16::from_be_bytes(length))
                }
                length => usize::from(length),
            };
            let mut text = vec![0; length];
            self.stream.read_exact(&mut text)?;
            match head[0] {
                // A complete text; texts here are at most 65,535 bytes long.
                0x81 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                0x88 => return Err(std::io::ErrorKind::ConnectionAborted.into()),
                _ => {}
            }
        }
    }
}

/// Sends a text of at most 125 bytes with a mask of zeros.
pub fn send(stream: &mut TcpStream, text: &str) -> Result<(), String> {
    let length = u8::try_from(text.len()).ok().filter(|it| *it <= 125);
    let length = length.ok_or("the text is too long")?;
    let mut frame = vec![0x81, 0x80 | length, 0, 0, 0, 0];
    frame.extend(text.as_bytes());
    stream.write_all(&frame).map_err(|error| format!("cannot send a text: {error}"))
}
