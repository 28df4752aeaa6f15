//! Server-sent events over a port.
//!
//! Source: WHATWG HTML, section 9.2 (Server-sent events).

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use stockade::extract::LastEventId;
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::block_on;

/// Sends two numbers after the last one that the client received, then stays
/// open.
async fn numbers(LastEventId(last): LastEventId) -> Sse {
    let last = last.and_then(|last| last.parse().ok()).unwrap_or(0);
    let events = stream::iter(last + 1..=last + 2).map(|number: u32| {
        let number = number.to_string();
        Ok::<_, Infallible>(Event::data(&*number).id(&number))
    });
    Sse::new(events.chain(stream::once(pending())))
}

async fn silent() -> Sse {
    let never = stream::once(pending::<Result<Event, Infallible>>());
    // Zero selects the shortest allowed interval.
    Sse::new(never).keep_alive(Duration::ZERO)
}

/// Sends large events without end and counts the events that were read.
async fn flood(taken: State<Arc<AtomicUsize>>) -> Sse {
    let taken = Arc::clone(&taken);
    Sse::new(stream::repeat_with(move || {
        let number = taken.fetch_add(1, Ordering::Relaxed) + 1;
        Ok::<_, Infallible>(Event::data("x".repeat(EVENT)).id(&number.to_string()))
    }))
}

/// The size of an event's data in [`flood`], in bytes.
const EVENT: usize = 65_536;

#[test]
fn a_reconnecting_client_sends_its_last_event_id() {
    block_on(async {
        let server = Server::start(routes! { "numbers": { GET: numbers } }).await;
        let mut first = server.get("/numbers", "").await;
        first.until("id: 1\ndata: 1\n\n").await;
        first.until("id: 2\ndata: 2\n\n").await;
        drop(first);
        let mut second = server.get("/numbers", "Last-Event-ID: 2\r\n").await;
        second.until("id: 4\ndata: 4\n\n").await;
        assert!(second.read.contains("id: 3\ndata: 3\n\n"), "{}", second.read);
        assert!(!second.read.contains("id: 2\n"), "{}", second.read);
    });
}

#[test]
fn sends_comments_while_there_is_no_event() {
    block_on(async {
        let server = Server::start(routes! { "silent": { GET: silent } }).await;
        let mut client = server.get("/silent", "").await;
        client.until("\r\n\r\n").await;
        assert!(client.read.contains("content-type: text/event-stream\r\n"), "{}", client.read);
        client.until("3\r\n:\n\n\r\n3\r\n:\n\n\r\n").await;
    });
}

#[test]
fn a_client_that_does_not_read_slows_the_stream_down() {
    block_on(async {
        let taken = Arc::new(AtomicUsize::new(0));
        let tree = routes! { "flood": { GET: flood }, "still": { GET: async || "still here" } };
        let server = Server::start_with(tree, Arc::clone(&taken)).await;
        let mut slow = server.get("/flood", "").await;
        slow.until("id: 1\n").await;
        // On this single thread, every task that can make progress has had many
        // turns.
        let mut asker = server.connect().await;
        let (mut before, mut unchanged) = (0, 0);
        while unchanged < 100 {
            asker.ask("/still", "").await;
            asker.until("still here").await;
            asker.read.clear();
            let now = taken.load(Ordering::Relaxed);
            assert!(now * EVENT < 64 << 20, "{now} events are taken for nobody");
            unchanged = if now == before { unchanged + 1 } else { 0 };
            before = now;
        }
        // The stream continues when there is space again.
        slow.until(&format!("id: {}\n", before + 10)).await;
    });
}

#[test]
fn a_shutdown_ends_a_stream_between_events() {
    block_on(async {
        let server = Server::start(routes! { "numbers": { GET: numbers } }).await;
        let mut client = server.get("/numbers", "").await;
        client.until("id: 2\ndata: 2\n\n").await;
        server.handle.shutdown();
        client.until("\r\n0\r\n\r\n").await;
        assert_eq!(soon(client.stream.read_u8()).await.ok(), None, "the connection is closed");
        soon(server.served).await.unwrap();
    });
}

struct Server {
    address: SocketAddr,
    handle: stockade::server::ServerHandle,
    served: tokio::task::JoinHandle<()>,
}

impl Server {
    async fn start(tree: RouteTree) -> Self {
        Self::start_with(tree, Arc::default()).await
    }

    async fn start_with(tree: RouteTree, taken: Arc<AtomicUsize>) -> Self {
        let router = create_router(tree, RouterOptions::new().rate_limit(false)).state(taken);
        let server = router.create_server().unwrap().bind(0).await.unwrap();
        let (address, handle) = (server.local_addr(), server.handle());
        let served = tokio::spawn(async { server.serve().await.unwrap() });
        Self { address, handle, served }
    }

    async fn connect(&self) -> Client {
        let stream = soon(TcpStream::connect(self.address)).await.unwrap();
        Client { stream, read: String::new() }
    }

    async fn get(&self, path: &str, more: &str) -> Client {
        let mut client = self.connect().await;
        client.ask(path, more).await;
        client
    }
}

struct Client {
    stream: TcpStream,
    /// The response so far, with its chunk framing.
    read: String,
}

impl Client {
    async fn ask(&mut self, path: &str, more: &str) {
        let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\n{more}\r\n");
        soon(self.stream.write_all(head.as_bytes())).await.unwrap();
    }

    /// Reads until the response contains this text.
    #[track_caller]
    fn until(&mut self, text: &str) -> impl Future<Output = ()> {
        let place = std::panic::Location::caller();
        async move {
            let mut seen = 0;
            while !self.read[seen..].contains(text) {
                // The text may span two reads.
                seen = self.read.len().saturating_sub(text.len());
                let mut piece = vec![0; EVENT];
                let count = soon(self.stream.read(&mut piece)).await.unwrap();
                assert!(count > 0, "closed without {text:?}, awaited at {place}");
                self.read += str::from_utf8(&piece[..count]).unwrap();
            }
        }
    }
}

/// Fails the test if a future takes far too long.
async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("nothing happened for 30 s")
}
