//! In-process connections: our server over a pipe, with tungstenite as the
//! client.

#[cfg(feature = "ws-compression")]
mod compression;
mod endings;
mod sink;
mod tungstenite;
mod upgrade;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use stockade_core::__internal::Params;
use stockade_core::endpoint_internals::{EndpointParts, run};
use stockade_core::error_settings::Settings;
use stockade_core::extract::Path;
use stockade_core::reply::Json;
use stockade_core::route_context::RouteContext;
use stockade_core::upgrade::{Switch, Upgrade, Upgraded};
use stockade_core::{ApiError, Handler, Request, Response, Setting};
use stockade_validation::Rule;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Theirs;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use crate::__internal::*;
use crate::handshake::{RouterRules, Rules};
use crate::*;

/// An in-process connection.
struct Connection {
    client: DuplexStream,
    served: JoinHandle<()>,
    connections: Arc<Connections>,
}

impl Connection {
    async fn client(self) -> (WebSocketStream<DuplexStream>, JoinHandle<()>) {
        (WebSocketStream::from_raw_socket(self.client, Role::Client, None).await, self.served)
    }
}

fn handshake() -> Request {
    let request = http::Request::get("/chat/7")
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let mut request = Request::from(request.body(()).unwrap());
    request.extensions_mut().insert(Upgrade::http1());
    request
}

async fn answer(
    handler: Handler,
    options: WebSocketOptions,
    connections: &Arc<Connections>,
    mut request: Request,
) -> Response {
    let connections = Arc::clone(connections);
    let router = RouterRules {
        allowed_origins: Setting::Inherit,
        max_payload: 1_048_576,
        #[cfg(feature = "ws-compression")]
        compression: Setting::Off,
        connections,
    };
    let rules = Rules::new(options, &router);
    let mut endpoint = EndpointParts::new(http::Method::GET, handler);
    endpoint.middleware = [rules.guard()].into();
    let endpoint = Arc::new(endpoint.build(RouteContext::new("/chat/:room")));
    let (params, settings) = (Params::default(), Settings::default());
    request.set_route(Arc::clone(endpoint.context()), params, settings, 0);
    run(endpoint, request).await
}

async fn connect_with(
    handler: Handler,
    options: WebSocketOptions,
    set: impl FnOnce(Upgraded) -> Upgraded,
) -> Connection {
    let connections = Connections::new(10, 10);
    let mut response = answer(handler, options, &connections, handshake()).await;
    assert_eq!(response.status(), 101);
    assert_eq!(response.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    let (client, server) = tokio::io::duplex(65_536);
    let switch = Switch::take(&mut response).unwrap();
    let served = tokio::spawn(switch.run(set(Upgraded::new(server))));
    Connection { client, served, connections }
}

async fn connect(handler: Handler, options: WebSocketOptions) -> Connection {
    connect_with(handler, options, |upgraded| upgraded).await
}

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(message) = socket.recv().await {
        socket.send(message?).await?;
    }
    Ok(())
}

async fn next(client: &mut WebSocketStream<DuplexStream>) -> Theirs {
    client.next().await.unwrap().unwrap()
}

fn closed(message: Theirs) -> (u16, String) {
    match message {
        Theirs::Close(Some(CloseFrame { code, reason })) => (code.into(), reason.to_string()),
        other => panic!("{other:?} is not a close frame"),
    }
}

/// Returns a client's frame, masked with zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match u16::try_from(payload.len()) {
        Ok(short @ 0..126) => bytes.push(0x80 | short.to_be_bytes()[1]),
        Ok(medium) => {
            bytes.push(0xfe);
            bytes.extend(medium.to_be_bytes());
        }
        Err(_) => {
            bytes.push(0xff);
            bytes.extend((payload.len() as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

#[tokio::test]
async fn messages_and_close_frames_work_in_both_directions() {
    let connection = connect(web_socket_handler(echo), WebSocketOptions::new()).await;
    let connections = Arc::clone(&connection.connections);
    assert_eq!(connections.count(), 1);
    let (mut client, served) = connection.client().await;
    for text in ["Hello", "", "κόσμε", &"x".repeat(100_000)] {
        client.send(Theirs::text(text)).await.unwrap();
        assert_eq!(next(&mut client).await, Theirs::text(text));
    }
    client.send(Theirs::Ping("are you there?".into())).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::Pong("are you there?".into()));
    // Binary messages are discarded.
    client.send(Theirs::binary(vec![1, 2, 3])).await.unwrap();
    client.send(Theirs::text("after")).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::text("after"));
    let bye = CloseFrame { code: 4_000.into(), reason: "bye".into() };
    client.close(Some(bye)).await.unwrap();
    assert_eq!(closed(next(&mut client).await).0, 4_000);
    assert!(client.next().await.is_none());
    drop(client);
    served.await.unwrap();
    assert_eq!(connections.count(), 0);
}

#[tokio::test]
async fn a_json_value_is_sent_as_text() {
    let handler = async |socket: WebSocket| -> Result<(), ApiError> {
        socket.send(json!({ "kind": "hello", "n": 1 })).await?;
        socket.sender().try_send(json!(null))?;
        socket.send("text").await?;
        Ok(())
    };
    let connection = connect(web_socket_handler(handler), WebSocketOptions::new()).await;
    let (mut client, _served) = connection.client().await;
    for text in [r#"{"kind":"hello","n":1}"#, "null", "text"] {
        assert_eq!(next(&mut client).await, Theirs::text(text));
    }
}

#[tokio::test]
async fn binary_messages_are_an_option() {
    let options = WebSocketOptions::new().binary(true);
    let (mut client, _served) = connect(web_socket_handler(echo), options).await.client().await;
    client.send(Theirs::binary(vec![0xff; 100_000])).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::binary(vec![0xff; 100_000]));
}

#[tokio::test]
async fn halves_work_separately_and_receive_code_and_reason() {
    let (told, seen) = oneshot::channel();
    let told = Arc::new(std::sync::Mutex::new(Some(told)));
    let handler = move |socket: WebSocket| {
        let told = told.lock().unwrap().take();
        async move {
            assert_eq!(socket.route(), "/chat/:room");
            assert_eq!(socket.id().to_string().len(), 32);
            let (mut receiver, sender) = socket.split();
            let again = sender.clone();
            let sending = tokio::spawn(async move { again.send("from elsewhere").await.is_ok() });
            assert!(sending.await.unwrap());
            assert!(receiver.recv().await.is_none());
            assert!(sender.send("too late").await.is_err());
            let _ = told.unwrap().send(receiver.closed_by_client().cloned());
        }
    };
    let connection = connect(web_socket_handler(handler), WebSocketOptions::new()).await;
    let (mut client, served) = connection.client().await;
    assert_eq!(next(&mut client).await, Theirs::text("from elsewhere"));
    let bye = CloseFrame { code: 4_001.into(), reason: "bye".into() };
    client.close(Some(bye)).await.unwrap();
    assert_eq!(seen.await.unwrap(), Some(Close::new(4_001, "bye")));
    drop(client);
    served.await.unwrap();
}

#[tokio::test]
async fn delivers_bytes_received_with_the_handshake() {
    let ahead = [frame(0x81, b"early"), frame(0x81, b"b")].concat();
    let handler = web_socket_handler(echo);
    let connection =
        connect_with(handler, WebSocketOptions::new(), |upgraded| upgraded.with_read(ahead.into()));
    let (mut client, _served) = connection.await.client().await;
    assert_eq!(next(&mut client).await, Theirs::text("early"));
    assert_eq!(next(&mut client).await, Theirs::text("b"));
}

#[tokio::test]
async fn dropping_a_half_does_not_stop_reading() {
    async fn only_sends(socket: WebSocket) {
        let (receiver, sender) = socket.split();
        // Waits until the server stops reading ahead.
        while receiver.shared.unread.load(std::sync::atomic::Ordering::Acquire) < 65_536 {
            tokio::task::yield_now().await;
        }
        drop(receiver);
        sender.ended().await;
    }
    let (mut client, _served) =
        connect(web_socket_handler(only_sends), WebSocketOptions::new()).await.client().await;
    for _ in 0..20 {
        client.send(Theirs::text("x".repeat(10_000))).await.unwrap();
    }
    client.send(Theirs::Ping("still there?".into())).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::Pong("still there?".into()));
}

#[tokio::test]
async fn validates_json_messages() {
    async fn double(mut socket: WebSocket) -> Result<(), ApiError> {
        while let Some(number) = socket.recv_json::<u64>().await {
            match number {
                Ok(number) => socket.send(Json(number * 2)).await?,
                Err(error) if error.is_end() => break,
                Err(error) => socket.send(Json(ApiError::from(error).body(false))).await?,
            }
        }
        Ok(())
    }
    let schema = Rule::number().minimum(0).maximum(99).build().unwrap();
    let options = WebSocketOptions::new().validation(schema);
    let (mut client, _served) = connect(web_socket_handler(double), options).await.client().await;
    for (sent, expected) in [("21", "42"), ("{", "error"), ("100", "at most 99"), ("1", "2")] {
        client.send(Theirs::text(sent)).await.unwrap();
        let answer = next(&mut client).await.into_text().unwrap();
        assert!(answer.contains(expected), "{sent}: {answer}");
    }
}

#[tokio::test]
async fn rejects_messages_with_too_many_values_and_continues() {
    async fn count(mut socket: WebSocket) -> Result<(), ApiError> {
        while let Some(read) = socket.recv_json::<serde_json::Value>().await {
            match read {
                Ok(value) => socket.send(Json(value.as_array().map_or(0, Vec::len))).await?,
                Err(error) if error.is_end() => break,
                Err(error) => socket.send(error.to_string()).await?,
            }
        }
        Ok(())
    }
    let any = || Rule::any().build().unwrap();
    for options in [WebSocketOptions::new(), WebSocketOptions::new().validation(any())] {
        let options = options.max_json_values(1_000);
        let (mut client, _served) =
            connect(web_socket_handler(count), options).await.client().await;
        for (items, expected) in [(999, "999"), (1_000, "a message has more than 1000 values")] {
            client.send(Theirs::text(format!("[{}0]", "0,".repeat(items - 1)))).await.unwrap();
            assert_eq!(next(&mut client).await, Theirs::text(expected), "{items}");
        }
    }
    assert_eq!(WebSocketOptions::new().max_json_values, 100_000);
}

#[tokio::test]
async fn errors_of_extractors_and_limits_reject_the_handshake() {
    async fn picky(_socket: WebSocket, Path(_): Path<u64>) {}
    let connections = Connections::new(0, 10);
    let options = WebSocketOptions::new;
    let full = answer(web_socket_handler(echo), options(), &connections, handshake()).await;
    assert_eq!(full.status(), 503);
    let connections = Connections::new(1, 1);
    let picky = answer(web_socket_handler(picky), options(), &connections, handshake()).await;
    assert_eq!(picky.status(), 400);
    assert_eq!(connections.count(), 0, "the slot was not released");
}

#[tokio::test]
async fn rooms_can_be_joined_messaged_and_left() {
    let rooms = Rooms::default();
    let handler = {
        let rooms = rooms.clone();
        move |mut socket: WebSocket| {
            let rooms = rooms.clone();
            async move {
                let member = rooms.enter(socket.sender())?;
                assert!(rooms.enter(socket.sender()).is_err(), "only once");
                member.join("lobby")?;
                socket.send("in").await?;
                while let Some(text) = socket.recv_text().await {
                    rooms.broadcast_except(Audience::Room("lobby"), text?, socket.id());
                }
                Ok::<(), ApiError>(())
            }
        }
    };
    let handler = web_socket_handler(handler);
    let (mut first, served) =
        connect(handler.clone(), WebSocketOptions::new()).await.client().await;
    let (mut second, _served) = connect(handler, WebSocketOptions::new()).await.client().await;
    assert_eq!(next(&mut first).await, Theirs::text("in"));
    assert_eq!(next(&mut second).await, Theirs::text("in"));
    assert_eq!((rooms.count(), rooms.members("lobby").len()), (2, 2));

    first.send(Theirs::text("hi")).await.unwrap();
    assert_eq!(next(&mut second).await, Theirs::text("hi"));
    assert_eq!(rooms.broadcast(Audience::All, "all"), 2);
    assert_eq!(rooms.broadcast(Audience::Route("/chat/:room"), "route"), 2);
    assert_eq!(rooms.broadcast(Audience::Route("/other"), "nobody"), 0);
    assert_eq!(rooms.broadcast(Audience::Room("empty"), "nobody"), 0);
    assert_eq!(next(&mut first).await, Theirs::text("all"));
    assert_eq!(next(&mut first).await, Theirs::text("route"));

    first.close(None).await.unwrap();
    while first.next().await.is_some() {}
    drop(first);
    served.await.unwrap();
    assert_eq!((rooms.count(), rooms.members("lobby").len()), (1, 1));
}

#[tokio::test]
async fn a_slow_reader_of_a_room_misses_messages_or_learns_of_it() {
    for (policy, expected) in [(SlowReader::Close, true), (SlowReader::Skip, false)] {
        let rooms = Rooms::default();
        let (entered, ready) = oneshot::channel();
        let entered = Arc::new(std::sync::Mutex::new(Some(entered)));
        let handler = {
            let rooms = rooms.clone();
            move |mut socket: WebSocket| {
                let (rooms, entered) = (rooms.clone(), entered.lock().unwrap().take());
                async move {
                    let _member = rooms.enter(socket.sender()).unwrap();
                    let _ = entered.unwrap().send(());
                    while socket.recv().await.is_some() {}
                }
            }
        };
        let options = WebSocketOptions::new().slow_reader(policy).send_queue(100_000);
        let connection = connect(web_socket_handler(handler), options).await;
        ready.await.unwrap();
        let text = "x".repeat(10_000);
        let taken: usize = (0..100).map(|_| rooms.broadcast(Audience::All, text.as_str())).sum();
        assert_eq!(taken, 9, "as many as fit into the queue");
        let (mut client, _served) = connection.client().await;
        let mut received = 0;
        if expected {
            while let Theirs::Text(_) = next(&mut client).await {
                received += 1;
            }
            assert!(received < 100);
        } else {
            for _ in 0..9 {
                assert!(next(&mut client).await.is_text());
            }
            rooms.broadcast(Audience::All, "again");
            assert_eq!(next(&mut client).await, Theirs::text("again"));
        }
    }
}
