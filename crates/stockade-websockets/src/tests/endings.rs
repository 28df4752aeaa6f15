//! Tests the end of connections: by the handler, the client, a violation, or a
//! timeout.

use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::*;

/// The connection of a client that sends without pause and reads everything.
struct Flood(Arc<Mutex<Vec<u8>>>);

impl AsyncRead for Flood {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(&frame(0x81, b"x"));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Flood {
    fn poll_write(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_client_that_sends_without_pause_does_not_delay_the_end() {
    async fn drain(mut socket: WebSocket) {
        while socket.recv().await.is_some() {}
    }
    let connections = Connections::new(10, 10);
    let (handler, options) = (web_socket_handler(drain), WebSocketOptions::new());
    let mut response = answer(handler, options, &connections, handshake()).await;
    let written = Arc::new(Mutex::new(Vec::new()));
    let upgraded = Upgraded::new(Flood(Arc::clone(&written))).with_shutdown(async {});
    let served = Switch::take(&mut response).unwrap().run(upgraded);
    tokio::time::timeout(Duration::from_secs(30), served).await.expect("it did not end in time");
    assert!(written.lock().unwrap().starts_with(b"\x88"), "no close frame");
}

#[tokio::test]
async fn a_handler_ends_the_connection() {
    async fn once(socket: WebSocket) {
        socket.send("one").await.unwrap();
        socket.close(4_002, "that was all").await;
    }
    async fn returns(socket: WebSocket) -> Result<(), ApiError> {
        socket.send("one").await?;
        Ok(())
    }
    async fn fails(socket: WebSocket) -> Result<(), ApiError> {
        socket.send("one").await?;
        Err(ApiError::new(500, "secret"))
    }
    async fn panics(socket: WebSocket) {
        socket.send("one").await.unwrap();
        panic!("secret");
    }
    let handlers = [
        (web_socket_handler(once), (4_002, "that was all".to_owned())),
        (web_socket_handler(returns), (1_000, String::new())),
        (web_socket_handler(fails), (1_011, String::new())),
        (web_socket_handler(panics), (1_011, String::new())),
    ];
    for (handler, expected) in handlers {
        let (mut client, served) = connect(handler, WebSocketOptions::new()).await.client().await;
        assert_eq!(next(&mut client).await, Theirs::text("one"));
        assert_eq!(closed(next(&mut client).await), expected);
        assert!(client.next().await.is_none());
        drop(client);
        served.await.unwrap();
    }
}

#[tokio::test]
async fn a_shutdown_closes_with_1001() {
    let (shut, told) = oneshot::channel::<()>();
    let shutdown = async { drop(told.await) };
    let connection = connect_with(web_socket_handler(echo), WebSocketOptions::new(), |upgraded| {
        upgraded.with_shutdown(shutdown)
    });
    let (mut client, served) = connection.await.client().await;
    client.send(Theirs::text("x")).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::text("x"));
    shut.send(()).unwrap();
    assert_eq!(closed(next(&mut client).await).0, 1_001);
    assert!(client.next().await.is_none());
    drop(client);
    served.await.unwrap();
}

#[tokio::test]
async fn a_handler_can_send_a_last_message_at_shutdown() {
    async fn says_goodbye(socket: WebSocket) {
        let sender = socket.sender();
        sender.shutting_down().await;
        sender.send("goodbye").await.unwrap();
        sender.close(Close::GOING_AWAY, "later").await;
        assert!(sender.is_closed());
    }
    async fn forgets_it(socket: WebSocket) {
        socket.sender().shutting_down().await;
        socket.send("goodbye").await.unwrap();
        socket.sender().ended().await;
    }
    let short = WebSocketOptions::new().close_timeout(Duration::from_millis(50));
    for (handler, reason) in [
        (web_socket_handler(says_goodbye), "later"),
        (web_socket_handler(forgets_it), "the server is shutting down"),
    ] {
        let (shut, told) = oneshot::channel::<()>();
        let shutdown = async { drop(told.await) };
        let connection =
            connect_with(handler, short.clone(), |upgraded| upgraded.with_shutdown(shutdown));
        let (mut client, served) = connection.await.client().await;
        shut.send(()).unwrap();
        assert_eq!(next(&mut client).await, Theirs::text("goodbye"));
        assert_eq!(closed(next(&mut client).await), (1_001, reason.to_owned()));
        assert!(client.next().await.is_none());
        drop(client);
        served.await.unwrap();
    }
}

#[tokio::test]
async fn reads_waiting_messages_of_a_client() {
    async fn floods(mut socket: WebSocket) {
        let sender = socket.sender().clone();
        let flood = async { while sender.send("x".repeat(1_000)).await.is_ok() {} };
        tokio::select! {
            () = flood => {}
            text = socket.recv_text() => assert_eq!(text.unwrap().unwrap(), "enough"),
        }
        socket.close(4_000, "").await;
    }
    let handler = web_socket_handler(floods);
    let (mut client, served) = connect(handler, WebSocketOptions::new()).await.client().await;
    for _ in 0..1_000 {
        assert_eq!(next(&mut client).await.len(), 1_000);
    }
    client.send(Theirs::text("enough")).await.unwrap();
    while !next(&mut client).await.is_close() {}
    drop(client);
    served.await.unwrap();
}

#[tokio::test]
async fn does_not_queue_pings_of_a_client_that_does_not_read() {
    async fn waits(socket: WebSocket) {
        socket.sender().ended().await;
    }
    let mut connection = connect(web_socket_handler(waits), WebSocketOptions::new()).await;
    let ping = frame(0x89, &[7; 125]);
    let mut sent = 0;
    // The pipe is full once the server stops reading.
    while sent < 10_000_000 {
        let write = connection.client.write_all(&ping);
        if tokio::time::timeout(Duration::from_millis(200), write).await.is_err() {
            break;
        }
        sent += ping.len();
    }
    assert!(sent < 1_000_000, "{sent} bytes of pings were accepted");
}

/// Sends forbidden frames (see [`frame`]) and returns the code of the close.
async fn refused(sent: &[Vec<u8>], options: WebSocketOptions) -> u16 {
    let mut connection = connect(web_socket_handler(echo), options).await;
    connection.client.write_all(&sent.concat()).await.unwrap();
    let mut answer = Vec::new();
    connection.client.read_to_end(&mut answer).await.unwrap();
    drop(connection.client);
    connection.served.await.unwrap();
    // The close frame is the last one.
    let at = answer.iter().rposition(|byte| *byte == 0x88).unwrap();
    u16::from_be_bytes([answer[at + 2], answer[at + 3]])
}

#[tokio::test]
async fn protocol_errors_have_their_close_codes() {
    let options = WebSocketOptions::new;
    assert_eq!(refused(&[frame(0x80, b"x")], options()).await, 1_002);
    assert_eq!(refused(&[frame(0xc1, b"x")], options()).await, 1_002);
    assert_eq!(refused(&[frame(0x88, &[3, 237])], options()).await, 1_002);
    assert_eq!(refused(&[frame(0x81, b"\xff")], options()).await, 1_007);
    assert_eq!(refused(&[frame(0x01, b"ok"), frame(0x00, b"\xff")], options()).await, 1_007);
    let terabyte = vec![0x82, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    assert_eq!(refused(&[terabyte], options()).await, 1_009);
    let small = options().max_payload(10);
    assert_eq!(refused(&[frame(0x81, b"12345678901")], small).await, 1_009);
    let limited = options().max_rate(Some(2));
    assert_eq!(refused(&vec![frame(0x81, b"x"); 3], limited).await, 1_008);
}

#[tokio::test(start_paused = true)]
async fn removes_a_vanished_client() {
    let connection = connect(web_socket_handler(echo), WebSocketOptions::new()).await;
    let Connection { mut client, served, connections } = connection;
    let begun = tokio::time::Instant::now();
    let mut asked = [0; 2];
    client.read_exact(&mut asked).await.unwrap();
    assert_eq!(asked, [0x89, 0]);
    served.await.unwrap();
    assert!((50..=75).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert_eq!(connections.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sends_pongs_stays_until_it_is_idle() {
    let options = WebSocketOptions::new().idle_timeout(Some(Duration::from_secs(600)));
    let (mut client, served) = connect(web_socket_handler(echo), options).await.client().await;
    let begun = tokio::time::Instant::now();
    let close = loop {
        // tungstenite answers pings when it reads.
        match next(&mut client).await {
            Theirs::Ping(_) => client.flush().await.unwrap(),
            other => break closed(other),
        }
    };
    assert_eq!(close, (1_001, "idle".to_owned()));
    assert!((600..=640).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    drop(client);
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn pings_of_the_handler_do_not_end_the_idle_time() {
    async fn pings(socket: WebSocket) {
        while socket.sender().ping().is_ok() {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }
    let options = WebSocketOptions::new().idle_timeout(Some(Duration::from_secs(60)));
    let (mut client, served) = connect(web_socket_handler(pings), options).await.client().await;
    let begun = tokio::time::Instant::now();
    let close = loop {
        match next(&mut client).await {
            Theirs::Ping(_) | Theirs::Pong(_) => client.flush().await.unwrap(),
            other => break closed(other),
        }
        assert!(begun.elapsed().as_secs() < 600);
    };
    assert_eq!(close, (1_001, "idle".to_owned()));
    assert!((60..=80).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    drop(client);
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn disconnects_a_client_that_does_not_read_and_ends_its_handler() {
    async fn shout(socket: WebSocket) {
        while socket.send("x".repeat(1_000)).await.is_ok() {}
        std::future::pending::<()>().await;
    }
    let connection = connect(web_socket_handler(shout), WebSocketOptions::new()).await;
    let begun = tokio::time::Instant::now();
    let Connection { client, served, connections } = connection;
    served.await.unwrap();
    // The close timeout, and the time that the handler has to end.
    assert!((35..=37).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert_eq!(connections.count(), 0);
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn waits_a_bounded_time_for_a_close_frame() {
    async fn leave(socket: WebSocket) {
        socket.close(Close::NORMAL, "").await;
    }
    let connection = connect(web_socket_handler(leave), WebSocketOptions::new()).await;
    let begun = tokio::time::Instant::now();
    connection.served.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn disconnects_a_client_that_sends_after_a_protocol_error() {
    let mut connection = connect(web_socket_handler(echo), WebSocketOptions::new()).await;
    let begun = tokio::time::Instant::now();
    connection.client.write_all(&frame(0x80, b"x")).await.unwrap();
    while connection.client.write_all(&[0; 65_536]).await.is_ok() {}
    connection.served.await.unwrap();
    assert!(begun.elapsed().is_zero(), "long before the deadline");
}

#[tokio::test(start_paused = true)]
async fn connection_ends_after_both_close_frames() {
    async fn leave(socket: WebSocket) {
        socket.close(Close::NORMAL, "").await;
    }
    for handler in [web_socket_handler(echo), web_socket_handler(leave)] {
        let connection = connect(handler, WebSocketOptions::new()).await;
        let Connection { mut client, served, connections } = connection;
        let begun = tokio::time::Instant::now();
        client.write_all(&frame(0x88, &[3, 232])).await.unwrap();
        // The client reads the close frame, and leaves its side open.
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, [0x88, 2, 3, 232]);
        served.await.unwrap();
        assert!(begun.elapsed().is_zero(), "{:?}", begun.elapsed());
        assert_eq!(connections.count(), 0);
        drop(client);
    }
}
