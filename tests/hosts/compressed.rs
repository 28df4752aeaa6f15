//! A WebSocket with compressed messages on a host, tested with raw bytes.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends a compressed message to an echo handler and reads the response.
pub(crate) async fn check(address: SocketAddr, path: &str) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let handshake = format!(
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         sec-websocket-extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
    );
    stream.write_all(handshake.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let expected = "sec-websocket-extensions: permessage-deflate; server_no_context_takeover; \
                    client_no_context_takeover\r\n";
    assert!(head.starts_with("http/1.1 101") && head.contains(expected), "{head}");

    // The letter a, repeated 100 times, with a mask of zeros.
    let compressed = [0x4a, 0x4c, 0xa4, 0x3d, 0x00, 0x00];
    stream.write_all(&[0xc1, 0x80 | 6, 0, 0, 0, 0]).await.unwrap();
    stream.write_all(&compressed).await.unwrap();
    let mut echo = [0; 2];
    stream.read_exact(&mut echo).await.unwrap();
    assert_eq!(echo[0], 0xc1, "final, compressed, a text");
    let mut payload = vec![0; echo[1].into()];
    stream.read_exact(&mut payload).await.unwrap();
    assert_eq!(payload, compressed);
}
