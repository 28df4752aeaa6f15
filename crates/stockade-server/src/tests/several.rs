//! Tests several listeners of one server, existing listeners, and custom
//! listeners.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stockade_routing::{Router, RouterOptions};
use stockade_websockets::{WebSocket, WebSocketOptions};
use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::{Client, get, ms, options, soon};
use crate::{CreateServer as _, Listener, Listeners, LocalAddr, Server, ServerOptions};

fn server(options: ServerOptions) -> Server {
    let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
    router.get("/hello", async || "hello");
    router.get("/hang", async || -> &str { std::future::pending().await });
    router.post("/echo", async |body: bytes::Bytes| body);
    router.add_web_socket_route(
        "/ws",
        async |mut socket: WebSocket| {
            while let Some(Ok(message)) = socket.recv().await {
                if socket.send(message).await.is_err() {
                    return;
                }
            }
        },
        WebSocketOptions::new(),
    );
    router.create_server_with(options).unwrap()
}

/// A listener of pipes. It returns an error once between two of them.
struct Pipes {
    pipes: mpsc::Receiver<(DuplexStream, Option<SocketAddr>)>,
    fails: bool,
    dropped: Arc<AtomicBool>,
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
    }
}

impl Listener for Pipes {
    type Io = DuplexStream;

    async fn accept(&mut self) -> io::Result<(DuplexStream, Option<SocketAddr>)> {
        if std::mem::take(&mut self.fails) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        match self.pipes.recv().await {
            Some(pipe) => {
                self.fails = true;
                Ok(pipe)
            }
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> LocalAddr {
        LocalAddr::Other("pipes".to_owned())
    }
}

/// The other end of [`Pipes`].
struct Clients {
    pipes: mpsc::Sender<(DuplexStream, Option<SocketAddr>)>,
    dropped: Arc<AtomicBool>,
}

impl Clients {
    async fn connect(&self, address: Option<SocketAddr>) -> Client<DuplexStream> {
        let (client, server) = duplex(4_096);
        self.pipes.send((server, address)).await.unwrap();
        Client::new(client)
    }
}

fn pipes() -> (Pipes, Clients) {
    let (sender, receiver) = mpsc::channel(8);
    let dropped = Arc::new(AtomicBool::new(false));
    let pipes = Pipes { pipes: receiver, fails: true, dropped: Arc::clone(&dropped) };
    (pipes, Clients { pipes: sender, dropped })
}

#[tokio::test]
async fn all_listeners_are_served_and_closed_together() {
    let (pipes, clients) = pipes();
    let given = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let list = Listeners::new()
        .add("127.0.0.1:0")
        .add(given)
        .add(TcpListener::bind("127.0.0.1:0").await.unwrap())
        .add(pipes);
    let bound = server(options()).bind(list).await.unwrap();
    let addresses: Vec<_> = bound.local_addr().iter().filter_map(LocalAddr::tcp).collect();
    assert_eq!(addresses.len(), 3);
    assert_eq!(bound.local_addr()[3].to_string(), "pipes");
    let handle = bound.handle();
    let served = tokio::spawn(bound.serve());
    for address in &addresses {
        let mut client = Client::new(soon(TcpStream::connect(address)).await.unwrap());
        client.send(get("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
    }
    let mut client = clients.connect(None).await;
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");

    handle.shutdown();
    client.closed().await;
    soon(served).await.unwrap().unwrap();
    assert!(clients.dropped.load(Ordering::Relaxed));
    for address in addresses {
        assert!(TcpStream::connect(address).await.is_err());
    }
}

#[tokio::test]
async fn one_connection_limit_applies_to_all_listeners() {
    let list = Listeners::new().add(0).add(0);
    let bound = server(options().max_connections(1)).bind(list).await.unwrap();
    let addresses: Vec<_> = bound.local_addr().iter().filter_map(LocalAddr::tcp).collect();
    let _served = tokio::spawn(bound.serve());
    let mut first = Client::new(TcpStream::connect(addresses[0]).await.unwrap());
    first.send(get("/hang")).await;
    let mut second = Client::new(TcpStream::connect(addresses[1]).await.unwrap());
    second.send(get("/hello")).await;
    let waiting = tokio::time::timeout(ms(100), second.answer()).await;
    assert!(waiting.is_err(), "{waiting:?}");
    drop(first);
    assert_eq!(second.answer().await.body, "hello");
}

#[tokio::test]
async fn opens_no_listener_if_one_fails() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let list = Listeners::new().add(address).add(taken.local_addr().unwrap());
    let error = server(options()).bind(list).await.unwrap_err().to_string();
    assert!(error.ends_with("address already in use"), "{error}");
    assert!(TcpListener::bind(address).await.is_ok());

    let error = server(options()).bind(Listeners::new()).await.unwrap_err().to_string();
    assert_eq!(error, "cannot use the listener: the list is empty");
}

#[tokio::test]
async fn a_custom_listener_has_the_limits_of_the_server() {
    let (pipes, clients) = pipes();
    let options = options().header_read_timeout(ms(200)).body_read_timeout(ms(200));
    let options = options.write_stall_timeout(ms(300));
    let bound = server(options).bind(pipes).await.unwrap();
    let _served = tokio::spawn(bound.serve());

    let mut slow_head = clients.connect(None).await;
    slow_head.send("GET /hello HTTP/1.1\r\n").await;
    slow_head.closed().await;

    let mut slow_body = clients.connect(None).await;
    slow_body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1").await;
    assert_eq!(slow_body.answer().await.status, 408);
    slow_body.closed().await;

    // The pipe holds 4,096 unread bytes.
    let mut never_reads = clients.connect(None).await;
    never_reads.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n").await;
    never_reads.send(vec![b'x'; 65_536]).await;
    tokio::time::sleep(ms(3_000)).await;
    let count = soon(never_reads.stream.read_to_end(&mut never_reads.read)).await.unwrap();
    assert!(count < 65_536, "{count}");

    let mut malformed = clients.connect(None).await;
    malformed.send("GET /hello HTTP/1.1\r\n\r\n").await;
    assert_eq!(malformed.answer().await.status, 400);

    let mut bare_line_feed = clients.connect(None).await;
    bare_line_feed.send("GET /hello HTTP/1.1\nHost: a\n\n").await;
    assert_eq!(bare_line_feed.answer().await.status, 400);
}

#[tokio::test]
async fn a_disconnect_from_a_custom_listener_ends_the_handler() {
    let (pipes, clients) = pipes();
    let bound = server(options().max_connections(1)).bind(pipes).await.unwrap();
    let _served = tokio::spawn(bound.serve());
    let mut gone = clients.connect(None).await;
    gone.send(get("/hang")).await;
    tokio::time::sleep(ms(20)).await;
    drop(gone);
    // Its slot is free again.
    let mut next = clients.connect(None).await;
    next.send(get("/hello")).await;
    assert_eq!(next.answer().await.body, "hello");
}

#[tokio::test]
async fn a_custom_listener_counts_clients_with_an_address() {
    let (pipes, clients) = pipes();
    let bound = server(options().max_connections_per_client(1)).bind(pipes).await.unwrap();
    let _served = tokio::spawn(bound.serve());
    let address: SocketAddr = "192.0.2.1:1".parse().unwrap();
    let mut busy = Vec::new();
    for _ in 0..17 {
        let mut client = clients.connect(Some(address)).await;
        client.send(get("/hang")).await;
        busy.push(client);
        tokio::task::yield_now().await;
    }
    let last = busy.last_mut().unwrap();
    last.closed().await;
    let mut other = clients.connect(None).await;
    other.send(get("/hello")).await;
    assert_eq!(other.answer().await.body, "hello");
}

#[tokio::test]
async fn web_sockets_work_on_a_custom_listener() {
    let (pipes, clients) = pipes();
    let bound = server(options()).bind(pipes).await.unwrap();
    let _served = tokio::spawn(bound.serve());
    let mut client = clients.connect(None).await;
    client
        .send(
            "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )
        .await;
    assert!(client.head().await.starts_with("http/1.1 101 "));
    // The text "hi" with a mask of zeros. It is echoed unmasked.
    client.send([0x81, 0x82, 0, 0, 0, 0, b'h', b'i']).await;
    while client.read.len() < 4 {
        client.more().await;
    }
    assert_eq!(client.read, [0x81, 0x02, b'h', b'i']);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn acceptors_share_an_address_and_all_limits() {
    let options = options().acceptors(3).max_connections(2);
    let bound = server(options).bind(Listeners::new().add(0).add(0)).await.unwrap();
    // Each address appears once, although it has three acceptors.
    let addresses: Vec<_> = bound.local_addr().iter().filter_map(LocalAddr::tcp).collect();
    assert_eq!(addresses.len(), 2);
    let served = tokio::spawn(bound.serve());
    for _ in 0..30 {
        let mut client = Client::new(TcpStream::connect(addresses[0]).await.unwrap());
        client.send(get("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
    }
    let mut busy = Vec::new();
    for _ in 0..2 {
        let mut client = Client::new(TcpStream::connect(addresses[0]).await.unwrap());
        client.send(get("/hang")).await;
        busy.push(client);
    }
    let mut third = Client::new(TcpStream::connect(addresses[0]).await.unwrap());
    third.send(get("/hello")).await;
    assert!(tokio::time::timeout(ms(100), third.answer()).await.is_err());
    served.abort();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn servers_share_an_address_only_if_both_allow_it() {
    let shared = options().reuse_port(true);
    let first = server(shared.clone()).bind(0).await.unwrap();
    let address = first.local_addr();
    let alone = server(options()).bind(address).await.unwrap_err().to_string();
    assert_eq!(alone, format!("cannot listen on {address}: address already in use"));
    let second = server(shared).bind(address).await.unwrap();
    let servers = [tokio::spawn(first.serve()), tokio::spawn(second.serve())];
    for _ in 0..20 {
        let mut client = Client::new(TcpStream::connect(address).await.unwrap());
        client.send(get("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
    }
    drop(servers);
}
