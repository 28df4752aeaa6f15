//! Tests custom listeners with connections that begin with a handshake.

use std::io;
use std::net::SocketAddr;

use stockade_routing::Router;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{Client, get, ms, options, soon};
use crate::{CreateServer as _, Handshake, Listener, LocalAddr, ServerOptions};

/// A listener for clients that send `open` and receive `ok`.
struct Greeted(TcpListener);

async fn greet(mut stream: TcpStream) -> io::Result<TcpStream> {
    let mut greeting = [0; 4];
    stream.read_exact(&mut greeting).await?;
    if &greeting != b"open" {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.write_all(b"ok").await?;
    Ok(stream)
}

impl Listener for Greeted {
    type Io = Handshake<TcpStream>;

    async fn accept(&mut self) -> io::Result<(Self::Io, Option<SocketAddr>)> {
        let (stream, client) = self.0.accept().await?;
        Ok((Handshake::new(greet(stream)), Some(client)))
    }

    fn local_addr(&self) -> LocalAddr {
        LocalAddr::Tcp(self.0.local_addr().unwrap())
    }
}

async fn start(options: ServerOptions) -> SocketAddr {
    let mut router = Router::new();
    router.get("/hello", async || "hello");
    let listener = Greeted(TcpListener::bind("127.0.0.1:0").await.unwrap());
    let bound = router.create_server_with(options).unwrap().bind(listener).await.unwrap();
    let address = bound.local_addr().tcp().unwrap();
    tokio::spawn(bound.serve());
    address
}

async fn connect(address: SocketAddr) -> Client<TcpStream> {
    Client::new(soon(TcpStream::connect(address)).await.unwrap())
}

async fn greeted(address: SocketAddr) -> Client<TcpStream> {
    let mut client = connect(address).await;
    client.send("open").await;
    let mut answer = [0; 2];
    soon(client.stream.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"ok");
    client
}

#[tokio::test]
async fn requests_follow_the_handshake() {
    for http2 in [false, true] {
        let address = start(options().http2(http2)).await;
        let mut client = greeted(address).await;
        for _ in 0..2 {
            client.send(get("/hello")).await;
            assert_eq!(client.answer().await.body, "hello");
        }
    }
}

#[tokio::test]
async fn a_silent_handshake_delays_no_other_connection() {
    let address = start(options()).await;
    let _silent = connect(address).await;
    let mut client = greeted(address).await;
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn a_handshake_has_the_timeout_of_a_head() {
    for http2 in [false, true] {
        let address = start(options().http2(http2).header_read_timeout(ms(200))).await;
        let mut client = connect(address).await;
        client.send("ope").await;
        client.closed().await;
    }
}

#[tokio::test]
async fn a_failed_handshake_ends_the_connection() {
    for http2 in [false, true] {
        let address = start(options().http2(http2)).await;
        let mut client = connect(address).await;
        client.send("GET /hello HTTP/1.1\r\n\r\n").await;
        client.closed().await;
    }
}
