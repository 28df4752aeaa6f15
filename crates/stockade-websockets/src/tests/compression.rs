//! Tests compressed messages over a pipe. The client writes its own frames and
//! uses zlib directly.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use http::HeaderMap;
use tokio::time::timeout;

use super::*;

const RSV1: u8 = 0x40;
const FIN: u8 = 0x80;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// A client that offers compression.
struct Client {
    stream: DuplexStream,
    headers: HeaderMap,
    deflate: Compress,
    inflate: Decompress,
    keeps_server_window: bool,
    keeps_client_window: bool,
}

async fn open(offer: &str, options: WebSocketOptions) -> Client {
    let connections = Connections::new(10, 10);
    let mut request = handshake();
    request.headers_mut().insert("sec-websocket-extensions", offer.parse().unwrap());
    let handler = web_socket_handler(echo);
    let mut response = answer(handler, options, &connections, request).await;
    assert_eq!(response.status(), 101);
    let (stream, server) = tokio::io::duplex(1 << 20);
    let switch = Switch::take(&mut response).unwrap();
    drop(tokio::spawn(switch.run(Upgraded::new(server))));
    let headers = response.headers().clone();
    let parameters = extensions(&headers);
    let bits = |name: &str| {
        let value = parameters.split("; ").find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
        value.map_or(15, |bits| bits.parse::<u8>().unwrap().max(9))
    };
    Client {
        deflate: Compress::new_with_window_bits(
            Compression::default(),
            false,
            bits("client_max_window_bits"),
        ),
        // Fails if the server uses a larger window than it promised.
        inflate: Decompress::new_with_window_bits(false, bits("server_max_window_bits")),
        keeps_server_window: !parameters.contains("server_no_context_takeover"),
        keeps_client_window: !parameters.contains("client_no_context_takeover"),
        stream,
        headers,
    }
}

fn extensions(headers: &HeaderMap) -> String {
    let value = headers.get("sec-websocket-extensions");
    value.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

impl Client {
    fn compress(&mut self, payload: &[u8]) -> Vec<u8> {
        if !self.keeps_client_window {
            self.deflate.reset();
        }
        let mut bytes = Vec::with_capacity(payload.len() * 2 + 1_000);
        self.deflate.compress_vec(payload, &mut bytes, FlushCompress::Sync).unwrap();
        match bytes.strip_suffix(&TAIL) {
            Some(start) => start.to_vec(),
            // zlib does not flush again without new input.
            None => vec![0],
        }
    }

    fn decompress(&mut self, bytes: &[u8]) -> Vec<u8> {
        if !self.keeps_server_window {
            self.inflate.reset(false);
        }
        let mut payload = Vec::with_capacity(1 << 20);
        let bytes = [bytes, &TAIL].concat();
        self.inflate.decompress_vec(&bytes, &mut payload, FlushDecompress::Sync).unwrap();
        payload
    }

    async fn send(&mut self, first: u8, payload: &[u8]) {
        self.stream.write_all(&frame(first, payload)).await.unwrap();
    }

    /// Sends a compressed message in fragments, with pings in between.
    async fn send_compressed(&mut self, opcode: u8, payload: &[u8], fragment: usize) {
        let bytes = self.compress(payload);
        let pieces: Vec<&[u8]> = bytes.chunks(fragment).collect();
        for (index, piece) in pieces.iter().enumerate() {
            let first = if index == 0 { opcode | RSV1 } else { 0 };
            let fin = if index + 1 == pieces.len() { FIN } else { 0 };
            self.send(first | fin, piece).await;
            if fin == 0 && index < 2 {
                self.send(FIN | PING, b"ping").await;
                assert_eq!(self.receive().await, (FIN | PONG, b"ping".to_vec()));
            }
        }
    }

    async fn receive(&mut self) -> (u8, Vec<u8>) {
        timeout(Duration::from_secs(20), async {
            let first = self.stream.read_u8().await.unwrap();
            let length = match self.stream.read_u8().await.unwrap() {
                126 => self.stream.read_u16().await.unwrap().into(),
                127 => self.stream.read_u64().await.unwrap(),
                short => short.into(),
            };
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.stream.read_exact(&mut payload).await.unwrap();
            (first, payload)
        })
        .await
        .unwrap()
    }

    /// Receives a message, and returns true if it was compressed.
    async fn message(&mut self, opcode: u8) -> (bool, Vec<u8>) {
        let (first, payload) = self.receive().await;
        assert_eq!(first & !RSV1, FIN | opcode);
        if first & RSV1 == 0 {
            return (false, payload);
        }
        (true, self.decompress(&payload))
    }

    async fn closes_with(&mut self, code: u16) {
        let (first, payload) = self.receive().await;
        assert_eq!(first, FIN | CLOSE);
        assert_eq!(payload[..2], code.to_be_bytes());
    }
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xfa, 0x21, 0x3d];
    let mut bytes = vec![first];
    match u16::try_from(payload.len()) {
        Ok(length) if length < 126 => bytes.push(FIN | length.to_le_bytes()[0]),
        Ok(length) => {
            bytes.push(FIN | 126);
            bytes.extend(length.to_be_bytes());
        }
        Err(_) => {
            bytes.push(FIN | 127);
            bytes.extend((payload.len() as u64).to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

/// Returns a text of this length that compresses moderately.
fn text(length: usize) -> Vec<u8> {
    let words = (0..length).map(|number: usize| format!("word {} ", number * number % 97));
    let mut text = words.collect::<String>().into_bytes();
    text.truncate(length);
    text
}

const OFFER: &str = "permessage-deflate; client_max_window_bits";
const NO_TAKEOVER: &str =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

#[tokio::test]
async fn compression_is_negotiated_in_the_handshake() {
    let on = || WebSocketOptions::new().compression(true);
    assert_eq!(extensions(&open(OFFER, on()).await.headers), NO_TAKEOVER);
    for offer in ["x", "permessage-deflate; x", "permessage-deflate; server_max_window_bits=8"] {
        let mut client = open(offer, on()).await;
        assert_eq!(extensions(&client.headers), "", "{offer}");
        // The connection works without compression.
        client.send(FIN | TEXT, &text(1_000)).await;
        assert_eq!(client.message(TEXT).await, (false, text(1_000)));
        client.send(FIN | TEXT | RSV1, b"x").await;
        client.closes_with(1002).await;
    }
    for off in [WebSocketOptions::new(), WebSocketOptions::new().compression(false)] {
        assert_eq!(extensions(&open(OFFER, off).await.headers), "");
    }
}

#[tokio::test]
async fn messages_are_compressed_in_both_directions() {
    for takeover in [false, true] {
        for bits in [9, 12, 15] {
            let deflate = Deflate::new().window_bits(bits).context_takeover(takeover);
            let options = WebSocketOptions::new().binary(true).compression(deflate);
            let mut client = open(OFFER, options).await;
            let mut sizes = Vec::new();
            for length in [0, 16, 64, 256, 1_024, 4_096, 8_192, 32_768, 131_072, 131_072] {
                for (opcode, fragment) in [(TEXT, usize::MAX), (BINARY, 256), (TEXT, 7_001)] {
                    client.send_compressed(opcode, &text(length), fragment).await;
                    let (is_compressed, payload) = client.message(opcode).await;
                    assert!(payload == text(length), "{length}, {bits}, {takeover}");
                    assert_eq!(is_compressed, length >= 64, "{length}, {bits}, {takeover}");
                    sizes.push(payload.len());
                }
            }
            assert_eq!(sizes.len(), 30);
        }
    }
}

#[tokio::test]
async fn a_kept_window_compresses_repetition() {
    let length = |takeover| async move {
        let deflate = Deflate::new().context_takeover(takeover);
        let mut client = open(OFFER, WebSocketOptions::new().compression(deflate)).await;
        let mut lengths = Vec::new();
        for _ in 0..2 {
            client.send(FIN | TEXT, &text(1_000)).await;
            let (first, payload) = client.receive().await;
            assert_eq!(first, FIN | TEXT | RSV1);
            assert_eq!(client.decompress(&payload), text(1_000));
            lengths.push(payload.len());
        }
        lengths
    };
    let [first, second] = length(true).await[..] else { panic!("two messages") };
    assert!(second < first / 4, "{first}, {second}");
    let [first, second] = length(false).await[..] else { panic!("two messages") };
    assert_eq!(first, second);
}

#[tokio::test]
async fn sends_incompressible_bytes_unchanged() {
    let options = WebSocketOptions::new().binary(true).compression(true);
    let mut client = open(OFFER, options).await;
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..10_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    client.send_compressed(BINARY, &noise, usize::MAX).await;
    assert_eq!(client.message(BINARY).await, (false, noise));
    // Each message may be compressed or not.
    client.send(FIN | TEXT, b"plain").await;
    assert_eq!(client.message(TEXT).await, (false, b"plain".to_vec()));
}

#[tokio::test]
async fn the_limit_applies_to_decompressed_bytes() {
    let options = || WebSocketOptions::new().max_payload(10_000).compression(true);
    let mut client = open(OFFER, options()).await;
    client.send_compressed(TEXT, &vec![b'a'; 10_000], 5).await;
    assert_eq!(client.message(TEXT).await, (true, vec![b'a'; 10_000]));
    client.send_compressed(TEXT, &vec![b'a'; 10_001], usize::MAX).await;
    client.closes_with(1009).await;

    // A decompression bomb ends the connection within its first fragment.
    let mut client = open(OFFER, options()).await;
    let bomb = client.compress(&vec![b'a'; 1 << 20]);
    client.send(TEXT | RSV1, &bomb[..100]).await;
    client.closes_with(1009).await;
    // A bomb in a discarded binary message also ends the connection.
    let mut client = open(OFFER, options()).await;
    client.send_compressed(BINARY, &vec![0; 1 << 20], usize::MAX).await;
    client.closes_with(1009).await;
    // Compressed bytes that produce no output are limited too.
    let mut client = open(OFFER, options()).await;
    let empty = [0, 0, 0, 0xff, 0xff].repeat(1_000);
    client.send(TEXT | RSV1, &empty).await;
    client.send(0, &empty).await;
    client.send(0, &empty).await;
    client.closes_with(1009).await;
    // Incompressible bytes are accepted up to the limit.
    let mut client = open(OFFER, options().binary(true)).await;
    let noise: Vec<u8> =
        (0..10_000_u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 11).to_le_bytes()[0]).collect();
    client.send_compressed(BINARY, &noise, 100).await;
    assert_eq!(client.message(BINARY).await.1, noise);
}

#[tokio::test]
async fn frames_that_must_not_be_compressed_end_the_connection() {
    for frames in [
        &[(TEXT | RSV1, &[0][..]), (FIN | RSV1, &[0])][..],
        &[(TEXT, b"a"), (FIN | RSV1, b"b")],
        &[(FIN | PING | RSV1, b"")],
        &[(FIN | PONG | RSV1, b"")],
        &[(FIN | CLOSE | RSV1, &[3, 232])],
        &[(FIN | TEXT | 0x20, b"a")],
        &[(FIN | TEXT | 0x10, b"a")],
        &[(FIN | TEXT | RSV1 | 0x20, &[0])],
    ] {
        let mut client = open(OFFER, WebSocketOptions::new().compression(true)).await;
        for (first, payload) in frames {
            client.send(*first, payload).await;
        }
        client.closes_with(1002).await;
    }
}

#[tokio::test]
async fn invalid_data_ends_the_connection() {
    async fn check(bytes: &[u8]) {
        for fragment in [1, bytes.len()] {
            let options = WebSocketOptions::new().compression(true);
            let mut client = open(OFFER, options).await;
            let mut pieces = bytes.chunks(fragment).peekable();
            let mut opcode = TEXT | RSV1;
            while let Some(piece) = pieces.next() {
                let fin = if pieces.peek().is_none() { FIN } else { 0 };
                // The connection may have ended after an earlier piece.
                let _ = client.stream.write_all(&frame(opcode | fin, piece)).await;
                opcode = 0;
            }
            client.closes_with(1007).await;
        }
    }
    // A block of an unknown type, and a back-reference to bytes before the
    // start.
    check(&[0x06, 0xff]).await;
    check(&[0xf2, 0x00, 0x11, 0x00, 0x00]).await;
    // Invalid UTF-8, in the middle of a message and at its end.
    let mut client = open(OFFER, WebSocketOptions::new().compression(true)).await;
    for invalid in [&b"\xff and so on"[..], b"it ends in \xe2\x82"] {
        let bytes = client.compress(invalid);
        check(&bytes).await;
    }
}

#[tokio::test]
async fn reads_messages_of_other_compressors() {
    let mut client = open(OFFER, WebSocketOptions::new().compression(true)).await;
    for bytes in [
        // A block that is marked as the last one.
        &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00][..],
        // An uncompressed block.
        &[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
        &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00],
    ] {
        client.send(FIN | TEXT | RSV1, bytes).await;
        assert_eq!(client.message(TEXT).await, (false, b"Hello".to_vec()));
        // The last fragment may be empty.
        client.send(TEXT | RSV1, bytes).await;
        client.send(0, b"").await;
        client.send(FIN, b"").await;
        assert_eq!(client.message(TEXT).await, (false, b"Hello".to_vec()));
    }
    // An empty message, compressed.
    client.send(FIN | TEXT | RSV1, &[0]).await;
    assert_eq!(client.message(TEXT).await, (false, Vec::new()));
}

#[tokio::test]
async fn compression_works_with_an_upgrade_in_the_handler() {
    async fn decides(upgrade: WebSocketUpgrade) -> Response {
        upgrade.on_upgrade(echo)
    }
    let mut request = handshake();
    request.headers_mut().insert("sec-websocket-extensions", OFFER.parse().unwrap());
    let options = WebSocketOptions::new().compression(Deflate::new().window_bits(10));
    let connections = Connections::new(10, 10);
    let response = answer(web_socket_handler(decides), options, &connections, request).await;
    assert_eq!(
        extensions(response.headers()),
        format!("{NO_TAKEOVER}; server_max_window_bits=10; client_max_window_bits=10")
    );
}
