//! Tests rejected, broken, slow and `100-continue` bodies.

use std::pin::Pin;
use std::task::Poll;

use bytes::Bytes;
use http_body::{Body as _, Frame};
use stockade_core::{BodyError, BoxError, HttpBody, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{app, get, ms, options, soon, start, text};

fn post(path: &str, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\n{more}\r\n")
}

#[tokio::test]
async fn rejects_a_too_large_length_before_the_body() {
    let server = start(options(), app).await;
    let mut client = server.connect().await;
    client.send(post("/413", "Content-Length: 2097152\r\n")).await;
    let answer = client.answer().await;
    assert_eq!((answer.status, answer.body.as_str()), (413, "unread"));
    assert!(answer.head.contains("\r\nconnection: close\r\n"), "{}", answer.head);
}

/// Without draining, the system resets the connection while the client sends,
/// and the client never sees the response.
#[tokio::test]
async fn a_client_that_sends_before_it_reads_receives_the_rejection() {
    let server = start(options(), app).await;
    for status in [413, 404, 401] {
        let mut client = server.connect().await;
        client.send(post(&format!("/{status}"), "Content-Length: 4194304\r\n")).await;
        client.send(vec![b'x'; 4_194_304]).await;
        assert_eq!(client.answer().await.status, status);
        if status == 413 {
            client.closed().await;
        } else {
            client.send(get("/hello")).await;
            assert_eq!(client.answer().await.body, "hello", "the connection stays");
        }
    }
}

#[tokio::test]
async fn a_client_that_sends_chunks_before_it_reads_receives_the_rejection() {
    let server = start(options(), app).await;
    for path in ["/413", "/404", "/echo"] {
        let mut client = server.connect().await;
        client.send(post(path, "Transfer-Encoding: chunked\r\n")).await;
        let chunk = [&b"10000\r\n"[..], &[b'x'; 65_536], b"\r\n"].concat();
        for _ in 0..64 {
            client.send(&chunk).await;
        }
        client.send("0\r\n\r\n").await;
        let answer = client.answer().await;
        let expected = if path == "/404" { 404 } else { 413 };
        assert_eq!(answer.status, expected, "{path}");
        if expected == 413 {
            client.closed().await;
        }
    }
}

#[tokio::test]
async fn more_than_is_drained_ends_the_connection() {
    let server = start(options(), app).await;
    let mut client = server.connect().await;
    client.send(post("/404", "Content-Length: 1000000000\r\n")).await;
    let piece = vec![b'x'; 1_048_576];
    let mut sent = 0;
    while sent < 1_000 && soon(client.stream.write_all(&piece)).await.is_ok() {
        sent += 1;
    }
    assert!((8..200).contains(&sent), "{sent} MiB were taken");
}

#[tokio::test]
async fn a_small_unread_body_leaves_the_connection_usable() {
    let server = start(options(), app).await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        client.send(post("/404", "Content-Length: 5\r\n") + "hello").await;
        assert_eq!(client.answer().await.status, 404);
    }
    client.send(post("/echo", "Content-Length: 5\r\n") + "hello").await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn a_malformed_chunk_is_400_and_the_connection_closes() {
    let server = start(options(), app).await;
    let mut client = server.connect().await;
    client.send(post("/echo", "Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\nzz\r\n").await;
    let answer = client.answer().await;
    assert_eq!((answer.status, answer.body.as_str()), (400, "Malformed request body"));
    assert!(answer.head.contains("\r\nconnection: close\r\n"), "{}", answer.head);
    client.closed().await;
}

#[tokio::test]
async fn a_dripping_body_is_408_and_the_connection_closes() {
    let server = start(options().body_read_timeout(ms(200)), app).await;
    let (mut reader, mut writer) = {
        let mut client = server.connect().await;
        client.send(post("/echo", "Content-Length: 1000\r\n")).await;
        let (read, write) = client.stream.into_split();
        (super::Client::new(tokio::io::join(read, tokio::io::sink())), write)
    };
    let drip = tokio::spawn(async move {
        while writer.write_all(b"x").await.is_ok() {
            tokio::time::sleep(ms(20)).await;
        }
    });
    let answer = reader.answer().await;
    assert_eq!((answer.status, answer.body.as_str()), (408, "Request Timeout"));
    assert!(answer.head.contains("\r\nconnection: close\r\n"), "{}", answer.head);
    soon(drip).await.unwrap();
}

/// 16 KiB every 50 ms is far above 1 KiB per second; the total takes much
/// longer than the timeout.
#[tokio::test]
async fn a_slow_body_with_progress_is_accepted() {
    let server = start(options().body_read_timeout(ms(400)), app).await;
    let mut client = server.connect().await;
    client.send(post("/echo", "Content-Length: 327680\r\n")).await;
    for _ in 0..20 {
        client.send(vec![b'x'; 16_384]).await;
        tokio::time::sleep(ms(50)).await;
    }
    assert_eq!(client.answer().await.body.len(), 327_680);
}

/// The client never pauses for long, but sends 160 kB per second instead of 1
/// MiB.
#[tokio::test]
async fn a_body_below_the_rate_is_408() {
    let options = options().body_read_timeout(ms(400)).min_read_rate(1_048_576);
    let server = start(options, app).await;
    let mut client = server.connect().await;
    client.send(post("/echo", "Content-Length: 100000000\r\n")).await;
    let (mut read, mut write) = client.stream.into_split();
    let slow = tokio::spawn(async move {
        while write.write_all(&[b'x'; 8_192]).await.is_ok() {
            tokio::time::sleep(ms(50)).await;
        }
    });
    let mut head = [0; 12];
    soon(read.read_exact(&mut head)).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 408");
    drop(read);
    soon(slow).await.unwrap();
}

#[tokio::test]
async fn a_body_may_drip_if_no_rate_is_set() {
    let options = options().body_read_timeout(ms(2_000)).min_read_rate(0);
    let server = start(options, app).await;
    let mut client = server.connect().await;
    client.send(post("/echo", "Content-Length: 40\r\n")).await;
    for _ in 0..40 {
        client.send("x").await;
        tokio::time::sleep(ms(100)).await;
    }
    assert_eq!(client.answer().await.body.len(), 40);
}

#[tokio::test]
async fn sends_100_continue_only_if_the_body_is_read() {
    let server = start(options(), app).await;
    let expecting = "Content-Length: 5\r\nExpect: 100-continue\r\n";
    let mut client = server.connect().await;
    client.send(post("/echo", expecting)).await;
    assert_eq!(client.head().await, "http/1.1 100 continue\r\n\r\n");
    client.send("hello").await;
    assert_eq!(client.answer().await.body, "hello");

    client.send(post("/413", expecting)).await;
    let answer = client.answer().await;
    assert_eq!(answer.status, 413);
    assert!(answer.head.contains("\r\nconnection: close\r\n"), "{}", answer.head);
    client.closed().await;
}

/// Polls once without waiting.
async fn look(body: &mut HttpBody) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *body).poll_frame(cx))).await
}

/// The second poll finds the wait over, although nothing polled meanwhile.
#[tokio::test]
async fn the_time_after_a_pending_read_counts() {
    let server = start(options().body_read_timeout(ms(50)), async |mut request: Request| {
        let mut body = request.take_stream();
        let first = look(&mut body).await;
        tokio::time::sleep(ms(200)).await;
        let second = match look(&mut body).await {
            Poll::Ready(Some(Err(error))) => BodyError::of(&error).to_string(),
            other => format!("{other:?}"),
        };
        text(200, format!("pending: {}, then: {second}", first.is_pending()))
    })
    .await;
    let mut client = server.connect().await;
    client.send(post("/", "Content-Length: 5\r\n")).await;
    let expected = format!("pending: true, then: {}", BodyError::TimedOut);
    assert_eq!(client.answer().await.body, expected);
}

/// A handler that has not requested the body uses up no time of the client.
#[tokio::test]
async fn the_time_before_the_first_read_does_not_count() {
    let server = start(options().body_read_timeout(ms(50)), async |mut request: Request| {
        tokio::time::sleep(ms(200)).await;
        let mut body = request.take_stream();
        text(200, format!("pending: {}", look(&mut body).await.is_pending()))
    })
    .await;
    let mut client = server.connect().await;
    client.send(post("/", "Content-Length: 5\r\n")).await;
    assert_eq!(client.answer().await.body, "pending: true");
}
