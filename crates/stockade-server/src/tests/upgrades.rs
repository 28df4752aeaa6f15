//! Tests connections that switch to another protocol.

use http_body_util::Full;
use stockade_core::upgrade::{Upgrade, Upgraded};
use stockade_core::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Running, get, http2, ms, options, soon, start, text};

/// Hands the connection to a task that echoes bytes in capitals and sends `bye`
/// at the shutdown; `/stay` ignores the shutdown.
async fn app(request: Request) -> Response {
    let Some(upgrade) = request.extensions().get::<Upgrade>().copied() else {
        return text(200, "hello");
    };
    if request.path() == "/refuse" {
        return text(403, "no");
    }
    let stays = request.path() == "/stay";
    upgrade.switch(move |mut upgraded: Upgraded| async move {
        let mut ahead = upgraded.read.to_ascii_uppercase();
        loop {
            upgraded.io.write_all(&ahead).await.unwrap();
            ahead.clear();
            tokio::select! {
                read = upgraded.io.read_buf(&mut ahead) => match read {
                    Ok(count) if count > 0 => ahead.make_ascii_uppercase(),
                    _ => return,
                },
                () = &mut upgraded.shutdown, if !stays => {
                    upgraded.io.write_all(b"bye").await.unwrap();
                    upgraded.io.shutdown().await.unwrap();
                    return;
                }
            }
        }
    })
}

fn upgrade(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: capitals\r\n\r\n")
}

/// Returns an upgraded connection after its head and one echo.
async fn upgraded(server: &Running, path: &str) -> super::Client<tokio::net::TcpStream> {
    let mut client = server.connect().await;
    // Bytes that arrive with the head are not lost.
    client.send(upgrade(path) + "early").await;
    assert!(client.head().await.starts_with("http/1.1 101"));
    expect(&mut client, "EARLY").await;
    client
}

async fn expect(client: &mut super::Client<tokio::net::TcpStream>, expected: &str) {
    while client.read.len() < expected.len() {
        client.more().await;
    }
    let read: Vec<u8> = client.read.drain(..).collect();
    assert_eq!(String::from_utf8(read).unwrap(), expected);
}

#[tokio::test]
async fn an_upgraded_connection_includes_the_bytes_read_ahead() {
    let server = start(options(), app).await;
    let mut client = upgraded(&server, "/").await;
    client.send("more").await;
    expect(&mut client, "MORE").await;
}

/// The bytes after the head are checked as a request only if the upgrade is
/// rejected.
#[tokio::test]
async fn checks_bytes_read_ahead_only_as_a_request() {
    let server = start(options(), app).await;
    let early = "\r\n\r\n\n#\0early\n";
    let mut client = server.connect().await;
    client.send(upgrade("/") + early).await;
    assert!(client.head().await.starts_with("http/1.1 101"));
    expect(&mut client, &early.to_uppercase()).await;
    client.send("\nmore").await;
    expect(&mut client, "\nMORE").await;

    let mut client = server.connect().await;
    client.send(upgrade("/refuse") + early).await;
    assert_eq!(client.answer().await.status, 403);
    assert_eq!(client.answer().await.status, 400);
    client.closed().await;
}

#[tokio::test]
async fn a_rejected_upgrade_is_a_response_and_keeps_the_connection() {
    let server = start(options(), app).await;
    let mut client = server.connect().await;
    client.send(upgrade("/refuse")).await;
    assert_eq!(client.answer().await.status, 403);
    client.send(get("/")).await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn a_silent_upgraded_connection_stays_open_and_counted() {
    let short = ms(40);
    let options = options()
        .idle_timeout(short)
        .header_read_timeout(short)
        .write_stall_timeout(short)
        .max_connections(1);
    let server = start(options, app).await;
    let mut client = upgraded(&server, "/").await;
    let mut waiting = server.connect().await;
    waiting.send(get("/")).await;
    // Checked with a time limit: another connection gets no response while the
    // first one lives.
    let answer = tokio::time::timeout(ms(300), waiting.answer()).await;
    assert!(answer.is_err(), "{answer:?}");
    client.send("still here").await;
    expect(&mut client, "STILL HERE").await;
    drop(client);
    assert_eq!(waiting.answer().await.status, 200);
}

#[tokio::test]
async fn a_shutdown_notifies_upgraded_connections_and_waits() {
    let server = start(options(), app).await;
    let mut client = upgraded(&server, "/").await;
    server.shutdown();
    expect(&mut client, "bye").await;
    client.closed().await;
    server.ended().await;
}

#[tokio::test]
async fn an_upgraded_connection_that_does_not_end_is_closed() {
    let server = start(options().shutdown_timeout(ms(50)), app).await;
    let mut client = upgraded(&server, "/stay").await;
    server.shutdown();
    client.closed().await;
    server.ended().await;
}

#[tokio::test]
async fn an_http2_stream_can_be_upgraded() {
    let server = start(options(), app).await;
    let (mut sender, _connection) = http2::speak(server.connect().await.stream).await;
    // The settings of the server arrive first.
    let answer = soon(sender.send_request(http2::get("/"))).await.unwrap();
    assert_eq!(answer.status(), 200);
    let mut request = http::Request::connect("http://a.example/").body(Full::default()).unwrap();
    request.extensions_mut().insert(hyper::ext::Protocol::from_static("websocket"));
    let mut answer = soon(sender.send_request(request)).await.unwrap();
    assert_eq!(answer.status(), 200);
    let stream = soon(hyper::upgrade::on(&mut answer)).await.unwrap();
    let mut stream = hyper_util::rt::TokioIo::new(stream);
    soon(stream.write_all(b"hello")).await.unwrap();
    let mut echoed = [0; 5];
    soon(stream.read_exact(&mut echoed)).await.unwrap();
    assert_eq!(&echoed, b"HELLO");
    server.shutdown();
    let mut rest = Vec::new();
    soon(stream.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(rest, b"bye");
    server.ended().await;
}
