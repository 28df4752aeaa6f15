//! Streams end with their sockets, even without a close frame.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use stockade::graphql::GraphQl;
use stockade::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::subscriptions::{Streams, schema, subscribe};

/// Connects over TCP and waits for `connection_ack`.
async fn dial(address: SocketAddr) -> WebSocketStream<TcpStream> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /graphql HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         sec-websocket-protocol: graphql-transport-ws\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&answer));
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
    socket.send(Message::text(json!({ "type": "connection_init" }).to_string())).await.unwrap();
    assert_eq!(receive(&mut socket).await["type"], "connection_ack");
    socket
}

async fn receive(socket: &mut WebSocketStream<TcpStream>) -> Value {
    let message = socket.next().await.unwrap().unwrap();
    serde_json::from_str(message.to_text().unwrap()).unwrap()
}

async fn send(socket: &mut WebSocketStream<TcpStream>, message: Value) {
    socket.send(Message::text(message.to_string())).await.unwrap();
}

async fn server(streams: &Streams) -> stockade::server::BoundServer {
    let graphql = GraphQl::new(schema(streams)).web_socket(true);
    let options = RouterOptions::new()
        .enable_web_sockets(true)
        .rate_limit(false)
        .ws_max_connections_per_client(2_000);
    let router = create_router(routes! { "graphql": { ..graphql.routes() } }, options);
    router.create_server().unwrap().bind(0).await.unwrap()
}

/// The number of sockets that the test kills.
const SOCKETS: usize = 1_000;

#[tokio::test]
async fn streams_of_a_thousand_killed_sockets_end() {
    let streams = Streams::default();
    let server = server(&streams).await;
    let (address, handle) = (server.local_addr(), server.handle());
    let served = tokio::spawn(server.serve());
    let mut sockets = Vec::new();
    for number in 0..SOCKETS {
        let mut socket = dial(address).await;
        send(&mut socket, subscribe("a", "subscription { wait }")).await;
        // Every other socket has unread data, so it ends with a reset.
        if number % 2 == 0 {
            receive(&mut socket).await;
        }
        sockets.push(socket);
    }
    let all = || format!("{} of {SOCKETS} run", streams.live());
    wait_until(|| streams.live() == SOCKETS, all).await;
    // Disconnect without a close frame.
    sockets.into_iter().for_each(|socket| drop(socket.into_inner()));
    wait_until(|| streams.live() == 0, || format!("{} live", streams.live())).await;
    handle.shutdown();
    served.await.unwrap().unwrap();
}

/// Repeats a check until it succeeds.
async fn wait_until(holds: impl Fn() -> bool, say: impl Fn() -> String) {
    let end = tokio::time::Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(tokio::time::Instant::now() < end, "{}", say());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_shutdown_completes_operations_and_closes_with_1001() {
    let streams = Streams::default();
    let server = server(&streams).await;
    let (address, handle) = (server.local_addr(), server.handle());
    let served = tokio::spawn(server.serve());
    let mut socket = dial(address).await;
    for id in ["a", "b"] {
        send(&mut socket, subscribe(id, "subscription { wait }")).await;
        assert_eq!(receive(&mut socket).await["type"], "next");
    }
    handle.shutdown();
    for id in ["a", "b"] {
        assert_eq!(receive(&mut socket).await, json!({ "id": id, "type": "complete" }));
    }
    let Message::Close(Some(close)) = socket.next().await.unwrap().unwrap() else {
        panic!("no close frame");
    };
    assert_eq!(u16::from(close.code), 1_001);
    assert!(socket.next().await.is_none());
    served.await.unwrap().unwrap();
    assert_eq!(streams.live(), 0);
}
