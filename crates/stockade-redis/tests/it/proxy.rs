//! [`Proxy`]: a way to an engine that can be slow, cut, silenced, swallow one
//! direction, or lead elsewhere: a partition without root.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A proxy of its own for each test.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    upstream: Arc<AtomicU16>,
    state: watch::Sender<State>,
    accepting: JoinHandle<()>,
}

/// The state of the network, for all connections but where it says otherwise.
#[derive(Clone, Copy, Default)]
struct State {
    /// The number of times that the connections of that moment were silenced.
    silenced: u32,
    /// The number of times that they were closed.
    cut: u32,
    /// The time that every piece takes, each way.
    delay: Duration,
    swallows: Option<Direction>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    /// From the client to the engine.
    Requests,
    /// From the engine to the client: commands are done, and nobody hears of it.
    Answers,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let upstream = Arc::new(AtomicU16::new(port));
        let state = watch::Sender::new(State::default());
        let (to, told) = (Arc::clone(&upstream), state.subscribe());
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, to.load(Ordering::Relaxed), told.clone()));
            }
        });
        Self { port: own, upstream, state, accepting }
    }

    /// Leads new connections to another engine.
    pub(crate) fn lead_to(&self, port: u16) {
        self.upstream.store(port, Ordering::Relaxed);
    }

    /// Makes the connections of now half-open: they stay, and carry nothing more.
    pub(crate) fn silence(&self) {
        self.state.send_modify(|state| state.silenced += 1);
    }

    /// Closes the connections of now.
    pub(crate) fn cut(&self) {
        self.state.send_modify(|state| state.cut += 1);
    }

    /// Makes every piece take this long, each way.
    pub(crate) fn delay(&self, delay: Duration) {
        self.state.send_modify(|state| state.delay = delay);
    }

    /// Swallows everything in one direction, also of new connections. One that has lost
    /// something carries nothing more that way.
    pub(crate) fn swallow(&self, direction: Option<Direction>) {
        self.state.send_modify(|state| state.swallows = direction);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn pass(client: TcpStream, port: u16, mut told: watch::Receiver<State>) {
    let begun = *told.borrow_and_update();
    let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    let requests = copy(from_client, to_server, Direction::Requests, told.clone(), begun);
    let answers = copy(from_server, to_client, Direction::Answers, told.clone(), begun);
    tokio::select! {
        () = requests => {}
        () = answers => {}
        _ = told.wait_for(|now| now.cut != begun.cut) => {}
    }
}

/// Copies one direction until it ends.
async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    direction: Direction,
    told: watch::Receiver<State>,
    begun: State,
) {
    let mut piece = vec![0; 16 * 1024];
    // Of a stream that has lost something nothing more arrives.
    let mut is_lost = false;
    loop {
        let length = from.read(&mut piece).await.unwrap_or(0);
        let now = *told.borrow();
        if now.silenced != begun.silenced {
            // Kept until the proxy ends: neither end learns anything.
            std::future::pending::<()>().await;
        }
        if length == 0 {
            return;
        }
        sleep(now.delay).await;
        is_lost |= now.swallows == Some(direction);
        if !is_lost && to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
