//! Tests idle connections that free their memory.
//!
//! The test itself acts as the sweep, and both ends run on one thread. A
//! connection has therefore executed a command when the test continues.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue};
use stockade_core::upgrade::{Upgrade, Upgraded};
use stockade_core::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore, watch};

use super::{Client, Function, app, get, options, soon, text};
use crate::accept::Stage;
use crate::clients::Slot;
use crate::connection::{self, Shared};
use crate::connection_record::{Command, ConnectionRecord};
use crate::registry::Registry;
use crate::service::AppService;
use crate::socket::Socket;
use crate::sweep::{Limits, Phase, SweepClock};
use crate::tcp;
use crate::tracked_stream::TrackedStream;

/// The address of every client in these tests.
const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// One connection, without the sweep and the rest of a server.
pub(super) struct Single {
    clock: Arc<SweepClock>,
    registry: Arc<Registry>,
    record: Arc<ConnectionRecord>,
    slots: Arc<Semaphore>,
    _stage: watch::Sender<Stage>,
}

impl Single {
    /// Serves a new TCP connection, and returns its client end.
    pub(super) async fn start<A: AppService>(shared: Shared<A>) -> (Self, TcpStream) {
        let listener = tcp::listen(([127, 0, 0, 1], 0).into(), 1, false).unwrap();
        let client = soon(TcpStream::connect(listener.local_addr().unwrap())).await.unwrap();
        let (stream, address) = soon(listener.accept()).await.unwrap();
        (Self::serve(Arc::new(shared), stream, Some(address)), client)
    }

    /// Serves a connection.
    pub(super) fn serve<A: AppService>(
        shared: Arc<Shared<A>>,
        stream: impl Into<Socket>,
        address: Option<SocketAddr>,
    ) -> Self {
        let options = shared.options().clone();
        let limits = Limits::of(&options);
        let clock = Arc::new(SweepClock::new(Duration::from_secs(1)));
        let record = Arc::new(ConnectionRecord::new(Arc::clone(&clock), options.hyper_fast_path));
        let slots = Arc::new(Semaphore::new(1));
        let registry = Arc::new(Registry::new(limits));
        let permit = Arc::clone(&slots).try_acquire_owned().unwrap();
        let registration = registry.register(Arc::clone(&record), Slot::new(permit, LOCALHOST));
        let io = TrackedStream::new(stream, Arc::clone(&record), registration);
        let stage = watch::Sender::new(Stage::Running);
        let receiver = stage.subscribe();
        let known = Arc::clone(&record);
        tokio::spawn(connection::serve(shared, io, known, address, receiver));
        Self { clock, registry, record, slots, _stage: stage }
    }

    /// Returns the record of the connection, for the tests with a pair of Unix
    /// sockets.
    #[cfg(unix)]
    pub(super) fn record(&self) -> &Arc<ConnectionRecord> {
        &self.record
    }

    /// Advances the time by this many seconds.
    async fn pass(&self, seconds: usize) {
        for _ in 0..seconds {
            self.registry.sweep(self.clock.tick());
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn tell(&self, command: Command) {
        self.record.tell(command);
        tokio::task::yield_now().await;
    }

    pub(super) fn is_parked(&self) -> bool {
        self.record.snapshot().parked
    }

    /// Advances the time until an idle connection is parked.
    pub(super) async fn park(&self) {
        assert!(!self.is_parked());
        self.pass(2).await;
        assert!(!self.is_parked(), "too early");
        self.pass(1).await;
        assert!(self.is_parked());
    }

    /// Waits until the server has closed its end.
    async fn gone(&self) {
        drop(soon(self.slots.acquire()).await.unwrap());
    }
}

async fn start<F, Fut>(app: F) -> (Single, Client<TcpStream>)
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Response> + Send + 'static,
{
    let shared = Shared::new(Function::new(app), &options().hyper_fast_path(true));
    let (single, stream) = Single::start(shared).await;
    (single, Client::new(stream))
}

/// Returns a connection that was parked after its first response.
async fn parked() -> (Single, Client<TcpStream>) {
    let (single, mut client) = start(app).await;
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
    single.park().await;
    (single, client)
}

#[tokio::test]
async fn a_parked_connection_responds_and_is_parked_again() {
    let (single, mut client) = parked().await;
    for _ in 0..2 {
        client.send(get("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
        single.park().await;
    }
}

#[tokio::test]
async fn a_long_head_and_a_body_arrive_completely_after_parking() {
    let (single, mut client) = parked().await;
    let body = "x".repeat(100_000);
    let padding = "y".repeat(5_000);
    client.send(format!("POST /echo HTTP/1.1\r\nHost: a\r\nPadding: {padding}\r\n")).await;
    client.send(format!("Content-Length: {}\r\n\r\n{body}", body.len())).await;
    assert_eq!(client.answer().await.body, body);
    // The connection parks immediately after the large response, and later like
    // any other.
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
    single.park().await;
}

#[tokio::test]
async fn pipelined_requests_all_get_responses_after_parking() {
    let (single, mut client) = parked().await;
    client.send([get("/hello"), get("/404"), get("/hello")].concat()).await;
    for expected in [200, 404, 200] {
        assert_eq!(client.answer().await.status, expected);
    }
    single.park().await;
}

#[tokio::test]
async fn bytes_received_with_an_earlier_request_are_not_lost() {
    let (single, mut client) = start(app).await;
    // hyper holds the beginning of the second request when the first response
    // is complete.
    client.send([&get("/hello"), "GET /he"].concat()).await;
    assert_eq!(client.answer().await.body, "hello");
    single.pass(3).await;
    assert!(!single.is_parked());
    assert!(matches!(single.record.snapshot().phase, Phase::Head { .. }));
    client.send("llo HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.body, "hello");
    single.park().await;
}

#[tokio::test]
async fn an_empty_line_after_a_request_does_not_prevent_parking() {
    let (single, mut client) = start(app).await;
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi\r\n").await;
    assert_eq!(client.answer().await.body, "hi");
    single.park().await;
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn the_framing_is_checked_after_parking() {
    let (single, mut client) = parked().await;
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    client.send("5;a=b\r\nhello\r\n0\r\n\r\n").await;
    assert_eq!(client.answer().await.body, "hello");
    single.park().await;
    client.send("GET /hello HTTP/1.1\nHost: a\r\n\r\n").await;
    assert_eq!(client.answer().await.status, 400);
    client.closed().await;
}

#[tokio::test]
async fn half_a_head_wakes_a_connection_and_starts_its_timeout() {
    let (single, mut client) = parked().await;
    client.send("GET /hello HTTP/1.1\r\nHo").await;
    soon(async {
        while single.is_parked() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    single.pass(10).await;
    assert_eq!(single.slots.available_permits(), 0);
    client.send("st: a\r\n").await;
    single.pass(1).await;
    client.closed().await;
}

#[tokio::test]
async fn a_connection_that_receives_a_body_is_not_parked() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let (single, mut client) = start(move |mut request: Request| {
        let gate = Arc::clone(&gate);
        async move {
            if request.path() == "/later" {
                tokio::spawn(async move {
                    gate.notified().await;
                    assert_eq!(request.bytes().await.unwrap(), "12345678");
                });
            }
            text(200, "taken")
        }
    })
    .await;
    client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n1234").await;
    assert_eq!(client.answer().await.body, "taken");
    single.pass(5).await;
    single.tell(Command::Park).await;
    assert!(!single.is_parked());
    go.notify_one();
    client.send("5678").await;
    client.send(get("/")).await;
    assert_eq!(client.answer().await.body, "taken");
    single.park().await;
}

#[tokio::test]
async fn a_connection_that_is_busy_is_not_parked() {
    let (single, mut client) = start(app).await;
    client.send(get("/hang")).await;
    soon(async {
        while single.record.snapshot().phase != Phase::Busy {
            tokio::task::yield_now().await;
        }
    })
    .await;
    single.tell(Command::Park).await;
    assert!(!single.is_parked());
    assert_eq!(single.record.command(&noop()), Command::Stay);
}

#[tokio::test]
async fn a_response_that_the_socket_does_not_accept_is_not_lost() {
    let (single, mut client) =
        start(async |_: Request| text(200, "z".repeat(MORE_THAN_SOCKETS_HOLD))).await;
    client.send(get("/")).await;
    soon(async {
        while !single.record.snapshot().blocked {
            tokio::task::yield_now().await;
        }
    })
    .await;
    single.pass(5).await;
    single.tell(Command::Park).await;
    assert!(!single.is_parked());
    client.head().await;
    while client.read.len() < MORE_THAN_SOCKETS_HOLD {
        client.more().await;
    }
    assert!(client.read.len() == MORE_THAN_SOCKETS_HOLD);
    assert!(client.read.drain(..).all(|byte| byte == b'z'));
    // hyper has written everything and holds nothing.
    single.pass(3).await;
    assert!(single.is_parked());
}

#[tokio::test]
async fn a_response_that_the_socket_does_not_accept_outlives_a_shutdown() {
    for command in [Command::Finish, Command::Shutdown] {
        for closes in [false, true] {
            let (single, mut client) = start(async |request: Request| {
                let mut response = text(200, "z".repeat(MORE_THAN_SOCKETS_HOLD));
                if request.path() == "/true" {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                response
            })
            .await;
            // An unread body is still arriving.
            let head = format!("POST /{closes} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000");
            client.send(format!("{head}\r\n\r\nab")).await;
            soon(async {
                while !single.record.snapshot().blocked {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            single.tell(command).await;
            client.send(&"b".repeat(1_000)).await;
            single.pass(1).await;
            client.head().await;
            while client.read.len() < MORE_THAN_SOCKETS_HOLD {
                client.more().await;
            }
            assert!(client.read.len() == MORE_THAN_SOCKETS_HOLD, "{command:?} {closes}");
        }
    }
}

#[tokio::test]
async fn a_large_body_is_copied_once_and_then_written_in_place() {
    let (single, mut client) = start(async |request: Request| {
        let length: usize = request.path()[1..].parse().unwrap();
        text(200, "z".repeat(length))
    })
    .await;
    let mut ask = async |length: usize| {
        client.send(get(&format!("/{length}"))).await;
        assert!(client.answer().await.body == "z".repeat(length));
        tokio::task::yield_now().await;
    };
    for small in [0, 1, 4_096] {
        ask(small).await;
        assert!(!single.record.http1.is_vectored() && !single.is_parked());
    }
    // More than hyper copies before it writes, in several pieces.
    ask(200_000).await;
    assert!(single.is_parked());
    for any in [1, 200_000] {
        ask(any).await;
        assert!(single.record.http1.is_vectored() && !single.is_parked());
    }
}

#[tokio::test]
async fn a_large_body_does_not_delay_later_requests() {
    let (single, mut client) = start(async |request: Request| {
        let length = if request.path() == "/large" { 100_000 } else { 5 };
        text(200, "z".repeat(length))
    })
    .await;
    client.send(&(get("/large") + &get("/") + &get("/large") + &get("/"))).await;
    for length in [100_000, 5, 100_000, 5] {
        assert_eq!(client.answer().await.body.len(), length);
    }
    // The client did not pause between the requests.
    assert!(!single.record.http1.is_vectored());
    for length in [100_000, 5] {
        let path = if length > 5 { "/large" } else { "/" };
        client.send(get(path)).await;
        assert_eq!(client.answer().await.body.len(), length);
        tokio::task::yield_now().await;
    }
    assert!(single.record.http1.is_vectored());
}

/// 32 MiB. Linux gives a socket at most 4 MiB for sending, and the buffer of an
/// unread socket does not grow.
const MORE_THAN_SOCKETS_HOLD: usize = 33_554_432;

fn noop() -> std::task::Context<'static> {
    std::task::Context::from_waker(std::task::Waker::noop())
}

#[tokio::test]
async fn a_parked_connection_keeps_its_place_until_it_ends() {
    let (single, client) = parked().await;
    assert_eq!(single.slots.available_permits(), 0);
    drop(client);
    single.gone().await;
}

#[tokio::test]
async fn a_client_that_closes_its_side_ends_a_parked_connection() {
    let (single, mut client) = parked().await;
    client.stream.shutdown().await.unwrap();
    client.closed().await;
    single.gone().await;
}

#[tokio::test]
async fn a_shutdown_ends_a_parked_connection_at_once() {
    for command in [Command::Finish, Command::Shutdown, Command::Close] {
        let (single, mut client) = parked().await;
        single.tell(command).await;
        assert_eq!(single.slots.available_permits(), 1);
        client.closed().await;
    }
}

/// Returns a connection that was parked and has received the beginning of a
/// head.
async fn begun() -> (Single, Client<TcpStream>) {
    let (single, mut client) = parked().await;
    client.send("GET /hello HTTP/1.1\r\n").await;
    soon(async {
        while single.is_parked() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    (single, client)
}

#[tokio::test]
async fn a_request_that_has_begun_is_finished_when_the_connection_makes_room() {
    let (single, mut client) = begun().await;
    single.tell(Command::Finish).await;
    client.send("Host: a\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!(answer.body, "hello");
    assert!(answer.head.contains("\r\nconnection: close\r\n"), "{}", answer.head);
    client.closed().await;
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_head_that_has_begun() {
    let (single, mut client) = begun().await;
    // Even after an earlier command to make room.
    single.tell(Command::Finish).await;
    single.tell(Command::Shutdown).await;
    client.closed().await;
    single.gone().await;
}

#[tokio::test]
async fn the_idle_timeout_ends_a_parked_connection() {
    let (single, mut client) = parked().await;
    single.pass(57).await;
    assert_eq!(single.slots.available_permits(), 0);
    single.pass(1).await;
    assert_eq!(single.slots.available_permits(), 1);
    client.closed().await;
}

#[tokio::test]
async fn a_parked_connection_can_leave_http() {
    let (single, mut client) = start(async |request: Request| {
        let Some(upgrade) = request.extensions().get::<Upgrade>().copied() else {
            return text(200, "hello");
        };
        if request.path() == "/refuse" {
            return text(403, "no");
        }
        upgrade.switch(|mut upgraded: Upgraded| async move {
            upgraded.io.write_all(&upgraded.read).await.unwrap();
            upgraded.io.shutdown().await.unwrap();
        })
    })
    .await;
    let ask = |path| {
        format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
    };
    client.send(get("/")).await;
    assert_eq!(client.answer().await.body, "hello");
    single.park().await;
    client.send(ask("/refuse")).await;
    assert_eq!(client.answer().await.status, 403);
    // hyper still holds the rejected upgrade.
    single.park().await;
    client.send(ask("/") + "early").await;
    assert!(client.head().await.starts_with("http/1.1 101"));
    let mut rest = std::mem::take(&mut client.read);
    soon(client.stream.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(rest, b"early");
}

#[tokio::test]
async fn the_task_of_a_parked_connection_is_small() {
    let shared = Arc::new(Shared::new(Function::new(app), &options()));
    let limits = Limits::of(&options());
    let clock = Arc::new(SweepClock::new(limits.interval()));
    let record = Arc::new(ConnectionRecord::new(clock, true));
    let listener = tcp::listen(([127, 0, 0, 1], 0).into(), 1, false).unwrap();
    let _client = soon(TcpStream::connect(listener.local_addr().unwrap())).await.unwrap();
    let (stream, address) = soon(listener.accept()).await.unwrap();
    let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
    let registration =
        Arc::new(Registry::new(limits)).register(Arc::clone(&record), Slot::new(permit, LOCALHOST));
    let io = TrackedStream::new(stream, Arc::clone(&record), registration);
    let stage = watch::Sender::new(Stage::Running);
    let task = connection::serve(shared, io, record, Some(address), stage.subscribe());
    assert!(size_of_val(&task) <= 512, "{} bytes", size_of_val(&task));
}
