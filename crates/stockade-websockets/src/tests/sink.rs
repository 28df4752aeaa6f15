//! Tests the halves as `Stream` and `Sink`, and control frames as messages.

use std::future::poll_fn;
use std::task::Poll;

use futures_util::{Sink, SinkExt as _, StreamExt as _};

use super::*;

/// Echoes messages through the traits only.
async fn forwards(socket: WebSocket) -> Result<(), ApiError> {
    let (receiver, sender) = socket.split();
    receiver.forward(sender).await?;
    Ok(())
}

/// Echoes messages without splitting the connection.
async fn whole(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(message) = StreamExt::next(&mut socket).await {
        SinkExt::send(&mut socket, message?).await?;
    }
    SinkExt::close(&mut socket).await?;
    Ok(())
}

#[tokio::test]
async fn halves_are_streams_and_sinks() {
    for handler in [web_socket_handler(forwards), web_socket_handler(whole)] {
        let (mut client, served) = connect(handler, WebSocketOptions::new()).await.client().await;
        for text in ["Hello", "", &"x".repeat(400_000)] {
            client.send(Theirs::text(text)).await.unwrap();
            assert_eq!(next(&mut client).await, Theirs::text(text));
        }
        client.close(Some(CloseFrame { code: 4_000.into(), reason: "".into() })).await.unwrap();
        assert_eq!(closed(next(&mut client).await).0, 4_000);
        drop(client);
        served.await.unwrap();
    }
}

#[tokio::test]
async fn a_sink_that_is_closed_ends_the_connection() {
    let handler = web_socket_handler(async |socket: WebSocket| {
        let (_receiver, mut sender) = socket.split();
        sender.feed(Message::Text("last".to_owned())).await.unwrap();
        SinkExt::close(&mut sender).await.unwrap();
        let refused = SinkExt::send(&mut sender, Message::Text("late".to_owned())).await;
        assert!(matches!(refused, Err(SocketError::Closed)), "{refused:?}");
        SinkExt::close(&mut sender).await.unwrap();
    });
    let (mut client, served) = connect(handler, WebSocketOptions::new()).await.client().await;
    assert_eq!(next(&mut client).await, Theirs::text("last"));
    assert_eq!(closed(next(&mut client).await).0, 1_000);
    assert!(client.next().await.is_none());
    drop(client);
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_sink_waits_while_the_queue_is_full() {
    let (told, full) = oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let told = Arc::new(told);
    let handler = web_socket_handler(move |socket: WebSocket| {
        let told = Arc::clone(&told);
        async move {
            let (_receiver, mut sender) = socket.split();
            let mut count = 0;
            let text = || Message::Text("x".repeat(10_000));
            // Ready or not, the poll completes immediately.
            while poll_fn(|cx| Poll::Ready(sender.poll_ready_unpin(cx).is_ready())).await {
                SinkExt::start_send_unpin(&mut sender, text()).unwrap();
                count += 1;
                tokio::task::yield_now().await;
            }
            told.lock().unwrap().take().unwrap().send(count).unwrap();
            // The sink continues when the client reads.
            for _ in 0..100 {
                sender.feed(text()).await.unwrap();
            }
        }
    });
    let options = WebSocketOptions::new().send_queue(100_000);
    let (mut client, served) = connect(handler, options).await.client().await;
    let mut count = full.await.unwrap();
    // The queue, the encoded bytes, and the bytes in the pipe.
    assert!((11..35).contains(&count), "{count} messages waited");
    count += 100;
    for _ in 0..count {
        assert_eq!(next(&mut client).await.len(), 10_000);
    }
    assert_eq!(closed(next(&mut client).await).0, 1_000);
    drop(client);
    served.await.unwrap();
}

/// Reports each received message to the client as text.
async fn tells(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(message) = socket.recv().await {
        // The send fails after a close.
        let _ = socket.send(format!("{:?}", message?)).await;
    }
    Ok(())
}

#[tokio::test]
async fn control_frames_are_messages_on_request() {
    let (told, seen) = oneshot::channel();
    let told = Arc::new(std::sync::Mutex::new(Some(told)));
    let handler = web_socket_handler(move |mut socket: WebSocket| {
        let told = Arc::clone(&told);
        async move {
            let mut messages = Vec::new();
            while let Some(message) = socket.recv().await {
                messages.push(message.unwrap());
            }
            told.lock().unwrap().take().unwrap().send(messages).unwrap();
        }
    });
    let options = WebSocketOptions::new().control_messages(true);
    let (mut client, served) = connect(handler, options).await.client().await;
    client.send(Theirs::Ping("a".into())).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::Pong("a".into()), "the ping is still answered");
    client.send(Theirs::Pong("b".into())).await.unwrap();
    client.send(Theirs::text("c")).await.unwrap();
    client.close(Some(CloseFrame { code: 4_000.into(), reason: "bye".into() })).await.unwrap();
    assert_eq!(closed(next(&mut client).await).0, 4_000);
    drop(client);
    served.await.unwrap();
    let expected = [
        Message::Ping("a".into()),
        Message::Pong("b".into()),
        Message::Text("c".to_owned()),
        Message::Close(Close::new(4_000, "bye")),
    ];
    assert_eq!(seen.await.unwrap(), expected);
}

#[tokio::test]
async fn control_frames_are_hidden_by_default() {
    let connection = connect(web_socket_handler(tells), WebSocketOptions::new()).await;
    let (mut client, _served) = connection.client().await;
    client.send(Theirs::Pong("b".into())).await.unwrap();
    client.send(Theirs::Ping("a".into())).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::Pong("a".into()));
    client.send(Theirs::text("c")).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::text(r#"Text("c")"#));
}

#[tokio::test]
async fn control_frames_can_be_sent() {
    let handler = web_socket_handler(async |socket: WebSocket| {
        let long = socket.send(Message::Ping(vec![0; 126].into())).await;
        assert!(matches!(long, Err(SocketError::TooLong)), "{long:?}");
        socket.send(Message::Ping(vec![1; 125].into())).await.unwrap();
        socket.send(Message::Pong("p".into())).await.unwrap();
        socket.send("text").await.unwrap();
        socket.send(Message::Close(Close::new(4_002, "enough"))).await.unwrap();
        // Nothing is sent after the close.
        let _ = socket.send("late").await;
    });
    let (mut client, served) = connect(handler, WebSocketOptions::new()).await.client().await;
    assert_eq!(next(&mut client).await, Theirs::Ping(vec![1; 125].into()));
    assert_eq!(next(&mut client).await, Theirs::Pong("p".into()));
    assert_eq!(next(&mut client).await, Theirs::text("text"));
    assert_eq!(closed(next(&mut client).await), (4_002, "enough".to_owned()));
    assert!(client.next().await.is_none());
    drop(client);
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_pings_waits_for_a_handler_that_does_not_receive() {
    let handler = web_socket_handler(async |socket: WebSocket| {
        std::future::pending::<()>().await;
        drop(socket);
    });
    let options = WebSocketOptions::new().control_messages(true);
    let mut connection = connect(handler, options).await;
    let pings = frame(0x89, b"ping").repeat(1_000);
    let mut written = 0;
    // Each ping uses 68 bytes of the 64 KiB that are read ahead.
    for _ in 0..100 {
        let write = tokio::time::timeout(Duration::from_millis(50), async {
            connection.client.write_all(&pings).await.unwrap();
        });
        if write.await.is_err() {
            break;
        }
        written += 1;
        let mut pongs = vec![0; 100_000];
        let read = connection.client.read(&mut pongs);
        let _ = tokio::time::timeout(Duration::from_millis(50), read).await;
    }
    assert!(written < 20, "{written} thousand pings were accepted");
}

#[test]
fn other_crates_can_use_the_traits() {
    fn is_both<S: Sink<Message, Error = SocketError> + Unpin + Send>() {}
    fn is_shared<S: Send + Sync + 'static>() {}
    is_both::<Sender>();
    is_both::<WebSocket>();
    is_shared::<Sender>();
    is_shared::<Receiver>();
}
