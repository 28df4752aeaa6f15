//! Tests deliberately slow clients. See `http2` for HTTP/2.

use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use stockade_core::{HttpBody, Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Sleep;

use super::{Client, Running, app, get, ms, options, soon, start, text};

/// Sends an endless head byte by byte until the server closes.
async fn drip(mut stream: TcpStream) {
    let (mut read, mut write) = stream.split();
    let sending = async {
        write.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\nX: ").await?;
        loop {
            write.write_all(b"y").await?;
            tokio::time::sleep(ms(50)).await;
        }
        #[expect(unreachable_code, reason = "it names the type")]
        Ok::<(), std::io::Error>(())
    };
    let mut byte = [0];
    tokio::select! {
        _ = sending => {}
        closed = read.read(&mut byte) => assert!(matches!(closed, Ok(0) | Err(_))),
    }
}

#[tokio::test]
async fn a_dripping_head_is_ended_while_others_get_responses() {
    let server = start(options().header_read_timeout(ms(200)), app).await;
    let dripping = tokio::spawn(drip(server.connect().await.stream));
    assert_eq!(server.get("/hello").await.body, "hello");
    soon(dripping).await.unwrap();
    assert_eq!(server.get("/hello").await.body, "hello");
}

#[tokio::test]
async fn a_dripping_second_head_is_ended() {
    let server = start(options().header_read_timeout(ms(200)), app).await;
    let mut client = server.connect().await;
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
    soon(drip(client.stream)).await;
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let server = start(options().header_read_timeout(ms(200)), app).await;
    server.connect().await.closed().await;
    let mut half = server.connect().await;
    half.send("PRI * HT").await;
    half.closed().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let timeouts = options().idle_timeout(ms(200)).header_read_timeout(ms(200));
    let server = start(timeouts, async |request: Request| {
        if request.path() == "/long" {
            tokio::time::sleep(ms(1_500)).await;
        }
        text(200, "done")
    })
    .await;
    let mut busy = server.connect().await;
    busy.send(get("/long")).await;
    let mut idle = server.connect().await;
    idle.send(get("/short")).await;
    assert_eq!(idle.answer().await.body, "done");
    idle.closed().await;
    assert_eq!(busy.answer().await.body, "done");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    let server = start(options().write_stall_timeout(ms(300)), move |_| {
        let noisy = Endless { dropped: Arc::clone(&counter), given: Arc::default() };
        async move { Response::new(HttpBody::new(noisy)) }
    })
    .await;
    let mut client = server.connect().await;
    client.send(get("/")).await;
    client.head().await;
    soon(until(|| dropped.load(Ordering::Relaxed) == 1)).await;
    // After an ordinary close, the system would continue to send its buffer.
    let rest = soon(client.stream.read_to_end(&mut client.read)).await;
    assert_eq!(rest.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

/// The memory for all sockets of a machine is limited, so an unread socket may
/// hold only a little of it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_system_buffers_little_of_an_unread_response() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let server = start(options(), move |_| {
        let endless = Endless { dropped: Arc::default(), given: Arc::clone(&counter) };
        async move { Response::new(HttpBody::new(endless)) }
    })
    .await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16_384).unwrap();
    let mut client = Client::new(soon(socket.connect(server.address)).await.unwrap());
    client.send(get("/")).await;
    client.head().await;
    let mut before = 0;
    soon(async {
        // Until nothing has moved for half a second.
        let mut still = 0;
        while still < 5 {
            tokio::time::sleep(ms(100)).await;
            let now = taken.load(Ordering::Relaxed);
            still = if now == before { still + 1 } else { 0 };
            before = now;
        }
    })
    .await;
    // The limit, hyper's buffers and the client's buffer.
    assert!(before < 1_500_000, "{before} bytes");
}

/// A client may be slow as long as it makes progress.
#[tokio::test]
async fn a_client_that_reads_slowly_is_served() {
    const LENGTH: usize = 24 * 1_048_576;
    let server = start(options().write_stall_timeout(ms(500)), async |_| {
        Response::new(HttpBody::from(vec![b'x'; LENGTH]))
    })
    .await;
    let mut client = server.connect().await;
    client.send(get("/")).await;
    client.head().await;
    let mut left = LENGTH - client.read.len();
    let mut buffer = vec![0; 1_048_576];
    while left > 0 {
        let count = soon(client.stream.read(&mut buffer)).await.unwrap();
        assert!(count > 0, "cut off with {left} bytes left");
        left -= count;
        // The total exceeds the timeout, but no step does.
        tokio::time::sleep(ms(20)).await;
    }
}

/// Returns a client with a small receive buffer.
pub(super) async fn narrow(server: &Running) -> Client<TcpStream> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16_384).unwrap();
    Client::new(soon(socket.connect(server.address)).await.unwrap())
}

/// Reads this many bytes at a time with a pause after each read. Returns the
/// number of bytes received.
pub(super) async fn read_slowly(
    client: &mut Client<impl AsyncReadExt + AsyncWriteExt + Unpin>,
    piece: usize,
    pause: Duration,
    most: usize,
) -> usize {
    let mut buffer = vec![0; piece];
    let mut came = client.read.len();
    while came < most {
        match soon(client.stream.read(&mut buffer)).await {
            Ok(0) | Err(_) => break,
            Ok(count) => came += count,
        }
        tokio::time::sleep(pause).await;
    }
    came
}

/// Creates a response in one piece, so hyper has all of it at once.
pub(super) async fn large(length: usize) -> Response {
    Response::new(HttpBody::from(vec![b'x'; length]))
}

/// For hyper, the request ends more than a second before the client has read
/// everything.
#[tokio::test]
async fn a_connection_with_a_response_in_transfer_is_not_idle() {
    const LENGTH: usize = 8 * 1_048_576;
    let timeouts = options().idle_timeout(ms(200)).header_read_timeout(ms(100));
    let server = start(timeouts, |_| large(LENGTH)).await;
    let mut client = narrow(&server).await;
    client.send(get("/")).await;
    client.head().await;
    assert_eq!(read_slowly(&mut client, 131_072, ms(5), LENGTH).await, LENGTH);
    client.read.clear();
    client.closed().await;
}

#[tokio::test]
async fn a_response_in_transfer_survives_the_start_of_a_shutdown() {
    const LENGTH: usize = 8 * 1_048_576;
    let server = start(options().idle_timeout(ms(200)), |_| large(LENGTH)).await;
    let mut client = narrow(&server).await;
    client.send(get("/")).await;
    client.head().await;
    server.shutdown();
    assert_eq!(read_slowly(&mut client, 131_072, ms(2), LENGTH).await, LENGTH);
    server.ended().await;
}

/// The client's system reports readiness only when a third of the server's
/// buffers is free, which takes far longer than the timeout.
#[tokio::test]
async fn a_client_that_reads_small_pieces_is_served() {
    let timeouts = options().write_stall_timeout(ms(2_000));
    let server = start(timeouts, |_| large(8 * 1_048_576)).await;
    let mut client = narrow(&server).await;
    client.send(get("/")).await;
    client.head().await;
    // 100 kB per second, for 5 s.
    assert!(read_slowly(&mut client, 2_048, ms(20), 500_000).await >= 500_000);
}

/// The client reads all the time, but below the minimum rate.
#[tokio::test]
async fn a_client_that_reads_below_the_rate_is_reset() {
    let timeouts = options().write_stall_timeout(ms(1_000)).min_write_rate(1_048_576);
    let server = start(timeouts, |_| large(64 * 1_048_576)).await;
    let mut client = narrow(&server).await;
    client.send(get("/")).await;
    client.head().await;
    // 160 kB per second; the connection is reset after about one second.
    let came = read_slowly(&mut client, 8_192, ms(50), 4_000_000).await;
    assert!(came < 4_000_000, "{came} bytes");
}

/// A stream without events has not stalled.
#[tokio::test]
async fn a_pausing_response_is_not_interrupted() {
    let timeouts =
        options().write_stall_timeout(ms(100)).idle_timeout(ms(100)).header_read_timeout(ms(100));
    let server = start(timeouts, async |_| Response::new(HttpBody::new(Ticks::new(3)))).await;
    let mut client = server.connect().await;
    client.send(get("/")).await;
    client.head().await;
    let mut rest = String::from_utf8(std::mem::take(&mut client.read)).unwrap();
    while !rest.ends_with("0\r\n\r\n") {
        client.more().await;
        rest += std::str::from_utf8(&std::mem::take(&mut client.read)).unwrap();
    }
    assert_eq!(rest.matches("tick").count(), 3);
}

/// Yields a few events, half a second apart.
pub(super) struct Ticks {
    left: usize,
    sleep: Pin<Box<Sleep>>,
}

impl Ticks {
    pub(super) fn new(left: usize) -> Self {
        Self { left, sleep: Box::pin(tokio::time::sleep(ms(500))) }
    }
}

impl http_body::Body for Ticks {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        std::task::ready!(self.sleep.as_mut().poll(cx));
        let next = tokio::time::Instant::now() + ms(500);
        self.sleep.as_mut().reset(next);
        self.left -= 1;
        Poll::Ready(Some(Ok(http_body::Frame::data(bytes::Bytes::from_static(b"tick")))))
    }
}

/// Sends forever.
struct Endless {
    dropped: Arc<AtomicUsize>,
    /// In bytes.
    given: Arc<AtomicUsize>,
}

impl http_body::Body for Endless {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        let zeros = bytes::Bytes::from_static(&[0; 16_384]);
        self.given.fetch_add(zeros.len(), Ordering::Relaxed);
        Poll::Ready(Some(Ok(http_body::Frame::data(zeros))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(ms(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_drips_are_ended_while_others_get_responses() {
    let options = options().header_read_timeout(ms(1_000)).max_connections_per_client(10_000);
    let server = start(options, app).await;
    let mut drips = JoinSet::new();
    for _ in 0..affordable(1_000) {
        drips.spawn(drip(server.connect().await.stream));
    }
    let mut client = server.connect().await;
    let mut answered = 0;
    let all = async {
        while let Some(drip) = drips.join_next().await {
            drip.unwrap();
        }
    };
    let mut all = std::pin::pin!(soon(all));
    loop {
        tokio::select! {
            () = &mut all => break,
            () = async {
                client.send(get("/hello")).await;
                assert_eq!(client.answer().await.body, "hello");
                tokio::time::sleep(ms(10)).await;
            } => answered += 1,
        }
    }
    assert!(answered > 10, "{answered} answers");
}

/// Returns the number of connections that this process may open, counting both
/// ends, up to `most`.
///
/// Prints a smaller number, bypassing the capture of the test harness.
fn affordable(most: usize) -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let count = affordable_with(most, &limits);
    if count < most {
        let _ = writeln!(
            std::io::stderr(),
            "\nWARNING: ONLY {count} CONNECTIONS ARE TESTED INSTEAD OF {most}: \
             the limit of open files is too low (`ulimit -n 4096`)\n"
        );
    }
    count
}

/// Computes this number from the text of `/proc/self/limits`; without it,
/// assumes 512 files.
fn affordable_with(most: usize, limits: &str) -> usize {
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = files.and_then(|line| line.split_whitespace().next());
    if soft == Some("unlimited") {
        return most;
    }
    let files = soft.and_then(|soft| soft.parse::<usize>().ok()).unwrap_or(512);
    // Reserves files for the other tests of this process.
    most.min(files.saturating_sub(300) / 2)
}

#[test]
fn the_open_file_limit_bounds_the_connections() {
    let cases = [
        ("Max cpu time  unlimited  unlimited  seconds\nMax open files  2300  4096  files", 1_000),
        ("Max open files            2298                 4096                 files", 999),
        ("Max open files            1024                 4096                 files", 362),
        ("Max open files            unlimited            unlimited            files", 1_000),
        ("Max open files            200                  200                  files", 0),
        ("", 106),
    ];
    for (limits, expected) in cases {
        assert_eq!(affordable_with(1_000, limits), expected, "{limits:?}");
    }
}
