//! From the listening socket to connections, and the shutdown.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::clients::{Admission, Slot};
use crate::connection::{self, Shared};
use crate::connection_record::{Command, ConnectionRecord};
use crate::options::bounded;
use crate::registry::Registry;
use crate::service::Answer;
use crate::signals::advance;
use crate::sweep::{self, Limits, SweepClock};
use crate::tracked_stream::TrackedStream;
use crate::{ServeError, ServerOptions};

/// The step in the life of a server.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Stage {
    Running,
    /// A shutdown was announced; everything goes on as before.
    Leaving,
    /// Nothing new is accepted; requests that run are finished.
    Finishing,
    /// Everything ends now.
    Ended,
}

/// Opens a listening socket.
pub(crate) fn listen(address: SocketAddr, backlog: u32) -> Result<TcpListener, ServeError> {
    let open = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Without this a server cannot start again while its old connections are in
        // TIME_WAIT. On Windows it would let two processes share a port.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(backlog)
    };
    open().map_err(|source| ServeError::Bind { address, source })
}

/// Accepts and serves connections until a shutdown, and brings the stage from
/// leaving to finishing. Returns when all connections are closed.
///
/// Dropping this future closes all connections at once.
pub(crate) async fn serve<A: Answer>(
    listener: TcpListener,
    shared: Arc<Shared<A>>,
    options: &ServerOptions,
    sender: watch::Sender<Stage>,
) {
    let mut stage = sender.subscribe();
    let app = Arc::clone(shared.app());
    let limits = Limits::of(options);
    let clock = Arc::new(SweepClock::new(limits.interval()));
    let max_connections = options.max_connections as usize;
    let per_client = options.client_limit(app.trusts_proxy());
    let registry = Arc::new(Registry::new(limits).with_room(max_connections, per_client));
    let sweeper = tokio::spawn(sweep::run(Arc::clone(&registry), Arc::clone(&clock)));
    let mut acceptor = Acceptor {
        shared,
        registry: Arc::clone(&registry),
        clock,
        slots: Arc::new(Semaphore::new(max_connections)),
        options,
        stage: stage.clone(),
        full_at: None,
        failed_at: None,
        has_warned: false,
    };
    // Last, so that it is dropped first.
    let _end = StopOnDrop { registry: Arc::clone(&registry), sweeper };

    tokio::select! {
        () = acceptor.run(&listener) => {}
        () = leave(&mut stage, options.shutdown_delay, app.as_ref()) => {}
    }
    advance(&sender, Stage::Finishing);
    drop(listener);
    let open = registry.tell_all(Command::Shutdown);
    log::info!(target: "stockade::server", "shutting down; {open} connections are open");

    let all = acceptor.slots.acquire_many(options.max_connections);
    let deadline = Instant::now() + bounded(options.shutdown_timeout);
    tokio::select! {
        _ = timeout_at(deadline, all) => {}
        () = reached(&mut stage, Stage::Ended) => {}
    }
    let open = registry.tell_all(Command::Close);
    if open > 0 {
        log::warn!(target: "stockade::server", "{open} connections were cut off by the shutdown");
        // Gives their tasks time to see the command.
        let all = acceptor.slots.acquire_many(options.max_connections);
        let _ = timeout_at(Instant::now() + NOTICE_TIME, all).await;
    }
}

/// Waits until a shutdown begins, tells the application, and waits `delay`, in
/// which load balancers see that the application is not ready any more.
async fn leave<A: Answer>(stage: &mut watch::Receiver<Stage>, delay: Duration, app: &A) {
    reached(stage, Stage::Leaving).await;
    app.leaving();
    if delay.is_zero() {
        return;
    }
    log::info!(target: "stockade::server", "shutting down in {delay:?}");
    tokio::select! {
        () = sleep(bounded(delay)) => {}
        () = reached(stage, Stage::Finishing) => {}
    }
}

/// Waits until the server has reached a stage; for ever if the sender is gone.
pub(crate) async fn reached(stage: &mut watch::Receiver<Stage>, least: Stage) {
    if stage.wait_for(|stage| *stage >= least).await.is_err() {
        std::future::pending().await
    }
}

struct Acceptor<'o, A> {
    shared: Arc<Shared<A>>,
    registry: Arc<Registry>,
    clock: Arc<SweepClock>,
    /// One permit for each connection that may be open.
    slots: Arc<Semaphore>,
    options: &'o ServerOptions,
    stage: watch::Receiver<Stage>,
    /// The time of the last log line about `max_connections`.
    full_at: Option<Instant>,
    /// The time of the last log line about a failed accept.
    failed_at: Option<Instant>,
    /// True once a line about `max_connections_per_client` was logged.
    has_warned: bool,
}

impl<A: Answer> Acceptor<'_, A> {
    /// Accepts for ever.
    async fn run(&mut self, listener: &TcpListener) {
        loop {
            let (stream, address) = self.accept(listener).await;
            match self.registry.admit(address.ip(), Instant::now()) {
                Admission::Free => {}
                Admission::After(_) => {
                    self.warn_of(address);
                    // The connection that was told to finish closes first.
                    yield_now().await;
                }
                Admission::Refused => {
                    self.warn_of(address);
                    continue;
                }
            }
            let Some(permit) = self.slot().await else { return };
            let slot = Slot::new(permit, address.ip());
            let record = Arc::new(ConnectionRecord::new(Arc::clone(&self.clock)));
            let registration = self.registry.register(Arc::clone(&record), slot);
            let io = TrackedStream::new(stream, Arc::clone(&record), registration);
            // A panic ends its own task and nothing else.
            let stage = self.stage.clone();
            tokio::spawn(connection::serve(Arc::clone(&self.shared), io, record, address, stage));
        }
    }

    /// Waits for the next connection and sets its socket up. Errors are logged, and
    /// it waits on.
    async fn accept(&mut self, listener: &TcpListener) -> (TcpStream, SocketAddr) {
        loop {
            let error = match listener.accept().await {
                Ok((stream, address)) => {
                    set_up(&stream, address, self.options);
                    return (stream, address);
                }
                Err(error) => error,
            };
            let now = Instant::now();
            let pause = pause_after(&error, || self.registry.make_room(now));
            if pause.is_zero() {
                log::debug!(target: "stockade::server", "a client left while it came: {error}");
            } else {
                self.log_failed(&error, now);
                sleep(pause).await;
            }
        }
    }

    /// Waits for a free slot, and tells idle connections to finish for it.
    async fn slot(&mut self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.slots).try_acquire_owned() {
            return Some(permit);
        }
        self.log_full();
        loop {
            self.registry.make_room(Instant::now());
            // Tries again after a while: another connection may be idle by then, and
            // the one that was told to finish may need long.
            let free = timeout(ROOM_EVERY, Arc::clone(&self.slots).acquire_owned());
            if let Ok(permit) = free.await {
                // The semaphore is never closed.
                return permit.ok();
            }
        }
    }

    #[cold]
    fn log_failed(&mut self, error: &io::Error, now: Instant) {
        if is_due(&mut self.failed_at, now, ACCEPT_PAUSE) {
            log::error!(target: "stockade::server", "cannot accept connections: {error}");
        }
    }

    #[cold]
    fn log_full(&mut self) {
        if is_due(&mut self.full_at, Instant::now(), LOG_FULL_EVERY) {
            log::warn!(
                target: "stockade::server",
                "max_connections is reached; for a new one the longest idle one ends, or it waits"
            );
        }
    }

    /// Warns, once for a server, that a client has all connections it may have.
    #[cold]
    fn warn_of(&mut self, client: SocketAddr) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let client = client.ip();
            log::warn!(
                target: "stockade::server",
                "{client} has max_connections_per_client connections; for a new one its longest \
                 idle one ends, or the new one is closed (if it is a proxy, set trust_proxy)"
            );
        }
    }
}

/// Returns true if the last log line is long enough ago, and notes the time of
/// the new one.
fn is_due(logged_at: &mut Option<Instant>, now: Instant, every: Duration) -> bool {
    let due = logged_at.is_none_or(|at| now.duration_since(at) >= every);
    if due {
        *logged_at = Some(now);
    }
    due
}

/// Sets the options of a socket. One that the system refuses is only logged.
fn set_up(stream: &TcpStream, address: SocketAddr, options: &ServerOptions) {
    let note = |option: &str, outcome: io::Result<()>| {
        if let Err(error) = outcome {
            log::debug!(target: "stockade::server", "{option} on {address}: {error}");
        }
    };
    note("TCP_NODELAY", stream.set_nodelay(options.tcp_nodelay));
    let socket = SockRef::from(stream);
    // Without this a client that vanishes without closing, such as a machine
    // without power, would keep its slot as long as its request runs.
    note("SO_KEEPALIVE", socket.set_tcp_keepalive(&keepalive()));
    #[cfg(any(target_os = "android", target_os = "linux"))]
    if let Some(bytes) = options.tcp_notsent_lowat {
        note("TCP_NOTSENT_LOWAT", socket.set_tcp_notsent_lowat(bytes));
    }
    if let Some(bytes) = options.tcp_send_buffer {
        note("SO_SNDBUF", socket.set_send_buffer_size(bytes as usize));
    }
}

/// Returns the times at which the system probes a silent client.
fn keepalive() -> TcpKeepalive {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE);
    // Other systems have values of their own, which cannot be set.
    #[cfg(any(
        target_os = "android",
        target_os = "dragonfly",
        target_os = "freebsd",
        target_os = "illumos",
        target_os = "ios",
        target_os = "linux",
        target_os = "macos",
        target_os = "netbsd",
        target_os = "windows",
    ))]
    let keepalive = keepalive.with_interval(KEEPALIVE_INTERVAL).with_retries(KEEPALIVE_RETRIES);
    keepalive
}

/// Returns the time to wait after an error: none if the error concerns one
/// client, a while if it concerns the server, such as too many open files. In
/// the second case an idle connection is told to finish, which frees a file; if
/// there is one, the wait is short.
fn pause_after(error: &io::Error, make_room: impl FnOnce() -> bool) -> Duration {
    match error.kind() {
        io::ErrorKind::ConnectionAborted
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::Interrupted => Duration::ZERO,
        _ if make_room() => ROOM_EVERY,
        _ => ACCEPT_PAUSE,
    }
}

/// Ends the sweep and all connections when it is dropped.
struct StopOnDrop {
    registry: Arc<Registry>,
    sweeper: JoinHandle<()>,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.sweeper.abort();
        self.registry.tell_all(Command::Close);
    }
}

/// The wait of a server that cannot accept and has no idle connection, and the
/// least time between two log lines about it.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// The silence of a connection before the first keep-alive probe.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// The time between two probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// The number of probes without an answer that end the connection.
const KEEPALIVE_RETRIES: u32 = 6;

const LOG_FULL_EVERY: Duration = Duration::from_secs(60);

/// The time after which a further idle connection is told to finish for a new
/// one that waits.
const ROOM_EVERY: Duration = Duration::from_millis(20);

const NOTICE_TIME: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection_record::InFlight;

    /// Returns a connection that the server has set up.
    async fn accepted(listener: &TcpListener, options: &ServerOptions) -> TcpStream {
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, address) = listener.accept().await.unwrap();
        set_up(&stream, address, options);
        stream
    }

    #[tokio::test]
    async fn the_system_asks_silent_clients_whether_they_are_still_there() {
        let listener = listen(([127, 0, 0, 1], 0).into(), 1).unwrap();
        let stream = accepted(&listener, &ServerOptions::new()).await;
        assert!(stream.nodelay().unwrap());
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(60));
            assert_eq!(socket.tcp_keepalive_interval().unwrap(), Duration::from_secs(10));
            assert_eq!(socket.tcp_keepalive_retries().unwrap(), 6);
        }
    }

    #[cfg(any(target_os = "android", target_os = "linux"))]
    #[tokio::test]
    async fn what_the_system_takes_of_an_answer_is_set() {
        let listener = listen(([127, 0, 0, 1], 0).into(), 1).unwrap();
        let buffers = async |options| {
            let stream = accepted(&listener, &options).await;
            let socket = SockRef::from(&stream);
            (socket.tcp_notsent_lowat().unwrap(), socket.send_buffer_size().unwrap())
        };
        let (unsent, adapted) = buffers(ServerOptions::new()).await;
        assert_eq!(unsent, 524_288);
        let options = ServerOptions::new().tcp_notsent_lowat(None).tcp_send_buffer(Some(8_192));
        let (unsent, buffer) = buffers(options).await;
        assert_ne!(unsent, 524_288, "the system's");
        assert_eq!(buffer, 2 * 8_192);
        assert_ne!(buffer, adapted);
    }

    #[test]
    fn errors_of_one_client_do_not_stop_the_others() {
        let pause = |kind: io::ErrorKind| pause_after(&kind.into(), || panic!("of one client"));
        assert_eq!(pause(io::ErrorKind::ConnectionAborted), Duration::ZERO);
        assert_eq!(pause(io::ErrorKind::ConnectionReset), Duration::ZERO);
    }

    #[test]
    fn where_files_run_out_an_idle_connection_gives_up_its_own() {
        let too_many = || io::Error::from_raw_os_error(24);
        for error in [too_many(), io::ErrorKind::OutOfMemory.into()] {
            assert_eq!(pause_after(&error, || false), ACCEPT_PAUSE);
            assert_eq!(pause_after(&error, || true), ROOM_EVERY);
        }
        let limits = Limits::of(&ServerOptions::new());
        let clock = Arc::new(SweepClock::new(limits.interval()));
        let registry = Arc::new(Registry::new(limits));
        let slots = Arc::new(Semaphore::new(2));
        let records = [0, 1].map(|_| Arc::new(ConnectionRecord::new(Arc::clone(&clock))));
        let _memberships = records.each_ref().map(|record| {
            let permit = Arc::clone(&slots).try_acquire_owned().unwrap();
            registry.register(Arc::clone(record), Slot::new(permit, [127, 0, 0, 1].into()))
        });
        drop(InFlight::begin(&records[1]));
        let pause = pause_after(&too_many(), || registry.make_room(Instant::now()));
        assert_eq!(pause, ROOM_EVERY);
        assert_eq!(records.map(|record| record.is_told_to_end()), [false, true]);
    }
}
