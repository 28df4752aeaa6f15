//! Measures the waiting time of new clients while a few addresses hold all
//! connections.
//!
//! ```text
//! cargo run --release -p internal-examples --bin crowd -- serve
//! cargo run --release -p internal-examples --bin crowd -- hold 127.0.0.1:3000 head 10500
//! ```
//!
//! The first command is the server, with its default limits. The second one
//! opens connections from 127.0.0.1 to 127.0.0.11 and sends half a head on each
//! (`body`: half a body, `idle`: one whole request). A connection that the
//! server closes is opened again. Then it sends requests from other addresses,
//! and prints their longest and median times. All these addresses exist on
//! Linux by default, but not on other systems.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use stockade::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

const WHOLE: &str = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
const HALF_HEAD: &str = "GET /hello HTTP/1.1\r\nHost";
const HALF_BODY: &str = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab";

/// The number of addresses that hold connections.
const CROWD: usize = 11;

/// The number of requests from other addresses.
const NEWCOMERS: u8 = 100;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve"] => serve().await,
        ["hold", address, kind, count] => hold(address.parse()?, kind, count.parse()?).await,
        _ => Err("expected `serve`, or `hold ADDRESS idle|head|body COUNT`".into()),
    }
}

async fn serve() -> Result<(), BoxError> {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.get("/hello", async || "hello");
    router.post("/echo", async |body: Bytes| body);
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000_u16);
    let server = router.create_server()?.bind(port).await?;
    println!("listening on http://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}

/// Opens a connection from `127.0.0.<last>`.
async fn connect(server: SocketAddr, last: u8) -> Result<TcpStream, BoxError> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into())?;
    Ok(socket.connect(server).await?)
}

/// Sends a request and reads its short response.
async fn ask(stream: &mut TcpStream, bytes: &str) -> Result<(), BoxError> {
    stream.write_all(bytes.as_bytes()).await?;
    let mut read = Vec::new();
    while stream.read_buf(&mut read).await? > 0 {
        if read.starts_with(b"HTTP/1.1 200 ") && read.windows(4).any(|four| four == b"\r\n\r\n") {
            return Ok(());
        }
    }
    Err("no response".into())
}

async fn hold(server: SocketAddr, kind: &str, count: usize) -> Result<(), BoxError> {
    let begun = match kind {
        "idle" => WHOLE,
        "head" => HALF_HEAD,
        "body" => HALF_BODY,
        _ => return Err("expected `idle`, `head` or `body`".into()),
    };
    let opened = Arc::new(AtomicUsize::new(0));
    for at in 0..count {
        let (last, opened) = (u8::try_from(1 + at % CROWD)?, Arc::clone(&opened));
        tokio::spawn(async move {
            loop {
                let stream = connect(server, last).await;
                opened.fetch_add(1, Ordering::Relaxed);
                if let Ok(mut stream) = stream
                    && stream.write_all(begun.as_bytes()).await.is_ok()
                {
                    while stream.read(&mut [0; 1_024]).await.is_ok_and(|count| count > 0) {}
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
    }
    while opened.load(Ordering::Relaxed) < count {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Two clients within their share, each in the middle of a request.
    let mut slow_head = connect(server, 200).await?;
    slow_head.write_all(&HALF_HEAD.as_bytes()[..10]).await?;
    let mut slow_body = connect(server, 201).await?;
    slow_body.write_all(HALF_BODY.as_bytes()).await?;
    let mut times = Vec::new();
    for last in 0..NEWCOMERS {
        let begun = Instant::now();
        let mut stream = connect(server, 50 + last).await?;
        ask(&mut stream, WHOLE).await?;
        times.push(begun.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times.sort_unstable();
    let millis = |at: usize| times[at].as_secs_f64() * 1_000.0;
    let (median, longest) = (millis(times.len() / 2), millis(times.len() - 1));
    println!("{count} connections, {kind}: longest {longest:.1} ms, median {median:.1} ms");
    let head: String = HALF_HEAD[10..].chars().chain(": a\r\n\r\n".chars()).collect();
    ask(&mut slow_head, &head).await?;
    ask(&mut slow_body, "cd").await?;
    Ok(())
}
