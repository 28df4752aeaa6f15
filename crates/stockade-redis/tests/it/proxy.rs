//! A proxy to a server that simulates network faults without root permissions.
//! It can delay, cut, silence or redirect connections, or swallow one
//! direction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A proxy for one test.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    upstream: Arc<AtomicU16>,
    state: watch::Sender<State>,
    accepting: JoinHandle<()>,
}

/// The state of the network. It applies to all connections unless noted
/// otherwise.
#[derive(Clone, Copy, Default)]
struct State {
    /// The number of times that the open connections were silenced.
    silenced: u32,
    /// The number of times that the open connections were closed.
    cut: u32,
    /// The delay of each chunk, in each direction.
    delay: Duration,
    swallows: Option<Direction>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    /// From the client to the server.
    Requests,
    /// From the server to the client: commands run, but the client does not get
    /// the response.
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

    /// Forwards new connections to another server.
    pub(crate) fn lead_to(&self, port: u16) {
        self.upstream.store(port, Ordering::Relaxed);
    }

    /// Makes the current connections half-open: they stay open but transfer
    /// nothing.
    pub(crate) fn silence(&self) {
        self.state.send_modify(|state| state.silenced += 1);
    }

    /// Closes the current connections.
    pub(crate) fn cut(&self) {
        self.state.send_modify(|state| state.cut += 1);
    }

    /// Delays every chunk by this time, in each direction.
    pub(crate) fn delay(&self, delay: Duration) {
        self.state.send_modify(|state| state.delay = delay);
    }

    /// Swallows all data in one direction, including on new connections. A
    /// connection that has lost data transfers nothing more in that direction.
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
    // Once a stream has lost data, nothing more arrives.
    let mut is_lost = false;
    loop {
        let length = from.read(&mut piece).await.unwrap_or(0);
        let now = *told.borrow();
        if now.silenced != begun.silenced {
            // Stay open until the proxy ends, so neither end notices.
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
