//! From the listening socket to connections, and the shutdown.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};

use crate::connection::{self, Shared};
use crate::io::Io;
use crate::record::{Order, Record};
use crate::service::Answer;
use crate::sweep::{self, Clock, Limits, Registry};
use crate::{ServeError, ServerOptions};

/// How far a server has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Stage {
    Running,
    /// Nothing new is accepted, what runs is finished.
    Finishing,
    /// Everything ends now.
    Ended,
}

/// Opens a listening socket.
pub(crate) fn listen(address: SocketAddr, backlog: u32) -> Result<TcpListener, ServeError> {
    let open = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Without it a server could not start again while old connections fade
        // out. On Windows it would let two processes share a port.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(backlog)
    };
    open().map_err(|source| ServeError::Bind { address, source })
}

/// Accepts and serves connections until `stage` says otherwise; returns when
/// all of them are closed.
///
/// If it is dropped, all connections are closed at once.
pub(crate) async fn serve<A: Answer>(
    listener: TcpListener,
    shared: Arc<Shared<A>>,
    options: &ServerOptions,
    mut stage: watch::Receiver<Stage>,
) {
    let limits = Limits::of(options);
    let clock = Arc::new(Clock::new(limits.interval()));
    let registry = Arc::new(Registry::default());
    let sweeper = tokio::spawn(sweep::run(Arc::clone(&registry), Arc::clone(&clock), limits));
    let mut acceptor = Acceptor {
        shared,
        registry: Arc::clone(&registry),
        clock,
        slots: Arc::new(Semaphore::new(options.max_connections as usize)),
        nodelay: options.tcp_nodelay,
        full_at: None,
    };
    // Last, so that it is dropped first.
    let _end = End { registry: Arc::clone(&registry), sweeper };

    tokio::select! {
        () = acceptor.run(&listener) => {}
        () = reached(&mut stage, Stage::Finishing) => {}
    }
    drop(listener);
    let open = registry.tell_all(Order::Finish);
    log::info!(target: "stockade::server", "shutting down; {open} connections are open");

    let all = acceptor.slots.acquire_many(options.max_connections);
    let deadline = Instant::now() + options.shutdown_timeout;
    tokio::select! {
        _ = timeout_at(deadline, all) => {}
        () = reached(&mut stage, Stage::Ended) => {}
    }
    let open = registry.tell_all(Order::Close);
    if open > 0 {
        log::warn!(target: "stockade::server", "{open} connections were cut off by the shutdown");
        // Their tasks only have to notice.
        let all = acceptor.slots.acquire_many(options.max_connections);
        let _ = timeout_at(Instant::now() + NOTICE_TIME, all).await;
    }
}

/// Waits until the server has come so far; for ever if nobody can tell.
async fn reached(stage: &mut watch::Receiver<Stage>, least: Stage) {
    if stage.wait_for(|stage| *stage >= least).await.is_err() {
        std::future::pending().await
    }
}

struct Acceptor<A> {
    shared: Arc<Shared<A>>,
    registry: Arc<Registry>,
    clock: Arc<Clock>,
    /// One permit for each connection that may be open.
    slots: Arc<Semaphore>,
    nodelay: bool,
    /// When it was logged that all slots are taken.
    full_at: Option<Instant>,
}

impl<A: Answer> Acceptor<A> {
    /// Accepts for ever.
    async fn run(&mut self, listener: &TcpListener) {
        loop {
            if self.slots.available_permits() == 0 {
                self.log_full();
            }
            // The semaphore is never closed.
            let Ok(permit) = Arc::clone(&self.slots).acquire_owned().await else { return };
            let (stream, address) = accept(listener).await;
            if let Err(error) = stream.set_nodelay(self.nodelay) {
                log::debug!(target: "stockade::server", "TCP_NODELAY on {address}: {error}");
            }
            let record = Arc::new(Record::new(Arc::clone(&self.clock)));
            let membership = self.registry.enter(Arc::clone(&record), permit);
            let io = Io::new(stream, Arc::clone(&record), membership);
            // A panic ends its own task and nothing else.
            tokio::spawn(connection::serve(Arc::clone(&self.shared), io, record, address));
        }
    }

    #[cold]
    fn log_full(&mut self) {
        let now = Instant::now();
        if self.full_at.is_none_or(|at| now.duration_since(at) >= LOG_FULL_EVERY) {
            self.full_at = Some(now);
            log::warn!(target: "stockade::server", "max_connections is reached; new ones wait");
        }
    }
}

/// The next connection. Errors are logged and outlasted.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        let error = match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => error,
        };
        let pause = pause_after(&error);
        if pause.is_zero() {
            log::debug!(target: "stockade::server", "a client left while it came: {error}");
        } else {
            log::error!(target: "stockade::server", "cannot accept connections: {error}");
            sleep(pause).await;
        }
    }
}

/// How long to wait after an error: not at all if it is about one client, a
/// while if it is about us, such as too many open files.
fn pause_after(error: &io::Error) -> Duration {
    match error.kind() {
        io::ErrorKind::ConnectionAborted
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::Interrupted => Duration::ZERO,
        _ => ACCEPT_PAUSE,
    }
}

/// Ends everything that the server has started.
struct End {
    registry: Arc<Registry>,
    sweeper: JoinHandle<()>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.sweeper.abort();
        self.registry.tell_all(Order::Close);
    }
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

const LOG_FULL_EVERY: Duration = Duration::from_secs(60);

const NOTICE_TIME: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_one_client_do_not_stop_the_others() {
        let pause = |kind: io::ErrorKind| pause_after(&kind.into());
        assert_eq!(pause(io::ErrorKind::ConnectionAborted), Duration::ZERO);
        assert_eq!(pause(io::ErrorKind::ConnectionReset), Duration::ZERO);
        assert_eq!(pause(io::ErrorKind::OutOfMemory), ACCEPT_PAUSE);
        // EMFILE, which has no kind of its own.
        assert_eq!(pause_after(&io::Error::from_raw_os_error(24)), ACCEPT_PAUSE);
    }
}
