//! Accepts connections from the listeners until the server shuts down.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stockade_core::completion::Completions;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet, yield_now};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::clients::{Admission, Slot};
use crate::connection::{self, ClientName, Shared, until_told};
use crate::connection_record::{Command, ConnectionRecord};
use crate::listener::Bound;
use crate::options::bounded;
use crate::proxy_protocol::{self, Source};
use crate::registry::Registry;
use crate::service::AppService;
use crate::signals::advance;
use crate::socket::Socket;
use crate::sweep::{self, Limits, SweepClock};
use crate::tracked_stream::TrackedStream;
use crate::{LocalAddr, tcp};

/// A stage in the life of a server.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Stage {
    Running,
    /// A shutdown was announced; everything continues as before.
    Leaving,
    /// No connections are accepted; running requests finish.
    Finishing,
    /// Everything ends now.
    Ended,
}

/// Accepts and serves the connections of all listeners until a shutdown, and
/// moves the stage from leaving to finishing. Returns when all connections are
/// closed and no handler continues without its client.
///
/// Dropping this future closes all connections immediately.
pub(crate) async fn serve<A: AppService>(
    listeners: Vec<Bound>,
    shared: Arc<Shared<A>>,
    sender: watch::Sender<Stage>,
) {
    let mut stage = sender.subscribe();
    let options = shared.options();
    let app = Arc::clone(shared.app());
    let limits = Limits::of(options);
    let clock = Arc::new(SweepClock::new(limits.interval()));
    let max_connections = options.max_connections as usize;
    let per_client = options.client_limit(app.trusts_proxy());
    let registry = Arc::new(Registry::new(limits).with_room(max_connections, per_client));
    let open = Arc::downgrade(&registry);
    app.count_connections(Box::new(move || Some((open.upgrade()?.count(), max_connections))));
    let sweeper = tokio::spawn(sweep::run(Arc::clone(&registry), Arc::clone(&clock)));
    let slots = Arc::new(Semaphore::new(max_connections));
    let acceptor = Acceptor {
        shared: Arc::clone(&shared),
        registry: Arc::clone(&registry),
        clock,
        slots: Arc::clone(&slots),
        stage: stage.clone(),
        full_at: None,
        failed_at: None,
        warned: Arc::default(),
    };
    // Declared last to be dropped first.
    let _end = StopOnDrop { registry: Arc::clone(&registry), sweeper };

    tokio::select! {
        () = acceptor.run_all(listeners) => {}
        () = leave(&mut stage, options.shutdown_delay, app.as_ref()) => {}
    }
    advance(&sender, Stage::Finishing);
    let open = registry.tell_all(Command::Shutdown);
    log::info!(target: "stockade::server", "shutting down; {open} connections are open");

    let all = slots.acquire_many(options.max_connections);
    let deadline = Instant::now() + bounded(options.shutdown_timeout);
    tokio::select! {
        _ = timeout_at(deadline, all) => {}
        () = reached(&mut stage, Stage::Ended) => {}
    }
    let open = registry.tell_all(Command::Close);
    if open > 0 {
        log::warn!(target: "stockade::server", "{open} connections were cut off by the shutdown");
        // Gives the connection tasks time to receive the command.
        let all = slots.acquire_many(options.max_connections);
        let _ = timeout_at(Instant::now() + NOTICE_TIME, all).await;
    }
    if let Some(completions) = app.completions() {
        finish(completions, deadline, &mut stage).await;
    }
}

/// Waits for the handlers that continue without their clients, until the
/// shutdown deadline.
async fn finish(completions: &Completions, deadline: Instant, stage: &mut watch::Receiver<Stage>) {
    tokio::select! {
        biased;
        _ = timeout_at(deadline, completions.finished()) => {}
        () = reached(stage, Stage::Ended) => {}
    }
    let left = completions.count();
    if left > 0 {
        log::warn!(target: "stockade::server", "{left} handlers were cut off by the shutdown");
    }
}

/// Waits until a shutdown begins, notifies the application, and waits `delay`.
/// During this time, load balancers see that the application is no longer
/// ready.
async fn leave<A: AppService>(stage: &mut watch::Receiver<Stage>, delay: Duration, app: &A) {
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

/// Waits until the server has reached a stage, or forever if the sender is
/// dropped.
pub(crate) async fn reached(stage: &mut watch::Receiver<Stage>, least: Stage) {
    if stage.wait_for(|stage| *stage >= least).await.is_err() {
        std::future::pending().await
    }
}

/// The acceptor of one listener. Clones share the limits of the server.
struct Acceptor<A> {
    shared: Arc<Shared<A>>,
    registry: Arc<Registry>,
    clock: Arc<SweepClock>,
    /// One permit per allowed connection.
    slots: Arc<Semaphore>,
    stage: watch::Receiver<Stage>,
    /// The time of the last log line about `max_connections`.
    full_at: Option<Instant>,
    /// The time of the last log line about a failed accept.
    failed_at: Option<Instant>,
    warned: Arc<Warned>,
}

/// The warnings that a server has logged.
#[derive(Default)]
struct Warned {
    /// The warning about `max_connections_per_client`.
    of_client: AtomicBool,
    /// The warning about clients without an address.
    of_local_peer: AtomicBool,
    /// The warning about a malformed PROXY header.
    of_header: AtomicBool,
}

// Not derived, because that would require `Clone` for the application.
impl<A> Clone for Acceptor<A> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            registry: Arc::clone(&self.registry),
            clock: Arc::clone(&self.clock),
            slots: Arc::clone(&self.slots),
            stage: self.stage.clone(),
            full_at: self.full_at,
            failed_at: self.failed_at,
            warned: Arc::clone(&self.warned),
        }
    }
}

impl<A: AppService> Acceptor<A> {
    /// Accepts from all listeners forever: the last listener runs in this task,
    /// and each other listener in a separate task. Dropping this future closes
    /// all of them.
    async fn run_all(self, mut listeners: Vec<Bound>) {
        let Some(last) = listeners.pop() else { return std::future::pending().await };
        let mut others = JoinSet::new();
        for listener in listeners {
            others.spawn(self.clone().run(listener));
        }
        let others = async {
            while let Some(ended) = others.join_next().await {
                if let Err(error) = ended
                    && let Ok(panic) = error.try_into_panic()
                {
                    // Propagates the panic as if it occurred in this task.
                    std::panic::resume_unwind(panic);
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            () = self.run(last) => {}
            () = others => {}
        }
    }

    /// Accepts forever.
    async fn run(mut self, mut listener: Bound) {
        loop {
            let (stream, address) = self.accept(&mut listener).await;
            let client = address.map(|address| address.ip());
            if self.shared.options().proxy_protocol.contains(client) {
                let Some(permit) = self.slot(None).await else { return };
                let (io, record) = self.open(stream, Slot::of_unknown_client(permit));
                tokio::spawn(self.clone().run_proxied(io, record, address));
                continue;
            }
            if client.is_none() {
                self.warn_of_local_peer(listener.local());
            }
            match self.registry.admit(client, Instant::now()) {
                Admission::Free => {}
                Admission::After(_) => {
                    self.warn_of(client);
                    // Lets the connection with the finish command close first.
                    yield_now().await;
                }
                Admission::Refused => {
                    self.warn_of(client);
                    continue;
                }
            }
            let Some(permit) = self.slot(client).await else { return };
            let (io, record) = self.open(stream, Slot::new(permit, client));
            self.spawn(io, record, address);
        }
    }

    /// Registers an open connection.
    fn open(&self, stream: Socket, slot: Slot) -> (TrackedStream, Arc<ConnectionRecord>) {
        let fast_path = self.shared.options().hyper_fast_path;
        let record = Arc::new(ConnectionRecord::new(Arc::clone(&self.clock), fast_path));
        let registration = self.registry.register(Arc::clone(&record), slot);
        (TrackedStream::new(stream, Arc::clone(&record), registration), record)
    }

    /// Serves a connection in a new task. A panic ends only this task.
    fn spawn(&self, io: TrackedStream, record: Arc<ConnectionRecord>, client: Option<SocketAddr>) {
        let (shared, stage) = (Arc::clone(&self.shared), self.stage.clone());
        tokio::spawn(connection::serve(shared, io, record, client, stage));
    }

    /// Serves a load balancer's connection, which begins with the client's
    /// address.
    ///
    /// Until the address is known, the connection counts only toward
    /// `max_connections`. The sweep limits this to the time for a request head.
    async fn run_proxied(
        self,
        mut io: TrackedStream,
        record: Arc<ConnectionRecord>,
        balancer: Option<SocketAddr>,
    ) {
        let header = proxy_protocol::read(&mut io);
        let client = match until_told(&record, Command::Finish, header).await {
            Some(Ok(Source::Address(client))) => Some(client),
            Some(Ok(Source::Peer)) => balancer,
            Some(Err(error)) => {
                self.log_rejected_header(balancer, &error);
                return;
            }
            None => return,
        };
        let address = client.map(|client| client.ip());
        match io.identify(address, Instant::now()) {
            Admission::Free => {}
            Admission::After(_) => self.warn_of(address),
            Admission::Refused => {
                self.warn_of(address);
                return;
            }
        }
        // A new task does not contain this future, so it stays small while the
        // connection is idle.
        self.spawn(io, record, client);
    }

    /// Waits for the next connection and sets up its socket. Logs errors and
    /// continues to wait.
    async fn accept(&mut self, listener: &mut Bound) -> (Socket, Option<SocketAddr>) {
        loop {
            let error = match listener.accept().await {
                Ok((stream, address)) => {
                    if let (Socket::Tcp(stream), Some(address)) = (&stream, address) {
                        tcp::set_up(stream, address, self.shared.options());
                    }
                    return (stream, address);
                }
                Err(error) => error,
            };
            let now = Instant::now();
            let pause = pause_after(&error, || self.registry.make_room(None, now));
            if pause.is_zero() {
                log::debug!(
                    target: "stockade::server",
                    "a client disconnected while connecting: {error}"
                );
                // A listener that fails immediately must not monopolize the
                // thread.
                yield_now().await;
            } else {
                self.log_failed(&error, listener.local(), now);
                sleep(pause).await;
            }
        }
    }

    /// Waits for a free slot for a connection of `client`, and ends other
    /// connections to make room.
    async fn slot(&mut self, client: Option<IpAddr>) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.slots).try_acquire_owned() {
            return Some(permit);
        }
        self.log_full();
        loop {
            self.registry.make_room(client, Instant::now());
            // Tries again after a while: another connection may make room by
            // then, and the one that is finishing may take a long time.
            let free = timeout(ROOM_EVERY, Arc::clone(&self.slots).acquire_owned());
            if let Ok(permit) = free.await {
                // The semaphore is never closed.
                return permit.ok();
            }
        }
    }

    #[cold]
    fn log_failed(&mut self, error: &io::Error, local: &LocalAddr, now: Instant) {
        if is_due(&mut self.failed_at, now, ACCEPT_PAUSE) {
            match local {
                LocalAddr::Tcp(_) => {
                    log::error!(target: "stockade::server", "cannot accept connections: {error}");
                }
                local => {
                    log::error!(
                        target: "stockade::server",
                        "cannot accept connections on {local}: {error}"
                    );
                }
            }
        }
    }

    #[cold]
    fn log_full(&mut self) {
        if is_due(&mut self.full_at, Instant::now(), LOG_FULL_EVERY) {
            log::warn!(
                target: "stockade::server",
                "max_connections is reached; a new connection replaces the longest idle one, or \
                 the slowest unfinished one of the client with the most; otherwise it waits"
            );
        }
    }

    /// Logs a rejected PROXY header. The first malformed one is a warning,
    /// because the load balancer may be configured without headers. All others
    /// are logged at debug level, and so are connections that end early, such
    /// as health checks.
    #[cold]
    fn log_rejected_header(&self, balancer: Option<SocketAddr>, error: &io::Error) {
        let balancer = ClientName(balancer);
        let is_malformed = error.kind() == io::ErrorKind::InvalidData;
        if is_malformed && !self.warned.of_header.swap(true, Ordering::Relaxed) {
            log::warn!(
                target: "stockade::server",
                "the PROXY header of {balancer} is rejected: {error} (enable the protocol in the \
                 load balancer, or remove it from proxy_protocol)"
            );
        } else {
            log::debug!(
                target: "stockade::server",
                "the PROXY header of {balancer} is rejected: {error}"
            );
        }
    }

    /// Warns once per server that clients cannot be distinguished.
    #[cold]
    fn warn_of_local_peer(&self, local: &LocalAddr) {
        let is_fine = self.shared.app().trusts_local_peer();
        if !is_fine && !self.warned.of_local_peer.swap(true, Ordering::Relaxed) {
            log::warn!(
                target: "stockade::server",
                "clients of {local} do not have an address: all of them share one rate limit \
                 (behind a proxy, set trust_proxy or proxy_protocol)"
            );
        }
    }

    /// Warns once per server that a client has reached its connection limit.
    #[cold]
    fn warn_of(&self, client: Option<IpAddr>) {
        // The limit per client does not apply to connections without an
        // address.
        let Some(client) = client else { return };
        if !self.warned.of_client.swap(true, Ordering::Relaxed) {
            log::warn!(
                target: "stockade::server",
                "{client} has max_connections_per_client connections; a new connection replaces \
                 its longest idle one, or is closed (if the client is a proxy, set trust_proxy or \
                 proxy_protocol)"
            );
        }
    }
}

/// Returns true if the last log line is long enough ago, and records the time
/// of the new one.
fn is_due(logged_at: &mut Option<Instant>, now: Instant, every: Duration) -> bool {
    let due = logged_at.is_none_or(|at| now.duration_since(at) >= every);
    if due {
        *logged_at = Some(now);
    }
    due
}

/// Returns the pause after an error. The pause is zero if the error concerns
/// one client. If it concerns the server, such as too many open files,
/// `make_room` ends a connection, and the pause is short. It is long if no
/// connection may end.
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

/// Ends the sweep and all connections on drop.
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

/// The pause of a server that cannot accept and has no idle connection, and the
/// minimum time between two log lines about it.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

const LOG_FULL_EVERY: Duration = Duration::from_secs(60);

/// The pause before another idle connection is ended to make room for a waiting
/// one.
const ROOM_EVERY: Duration = Duration::from_millis(20);

const NOTICE_TIME: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerOptions;
    use crate::connection_record::InFlight;

    #[test]
    fn errors_of_one_client_do_not_stop_the_others() {
        let pause = |kind: io::ErrorKind| pause_after(&kind.into(), || panic!("of one client"));
        assert_eq!(pause(io::ErrorKind::ConnectionAborted), Duration::ZERO);
        assert_eq!(pause(io::ErrorKind::ConnectionReset), Duration::ZERO);
    }

    #[test]
    fn closes_an_idle_connection_if_file_descriptors_run_out() {
        let too_many = || io::Error::from_raw_os_error(24);
        for error in [too_many(), io::ErrorKind::OutOfMemory.into()] {
            assert_eq!(pause_after(&error, || false), ACCEPT_PAUSE);
            assert_eq!(pause_after(&error, || true), ROOM_EVERY);
        }
        let limits = Limits::of(&ServerOptions::new());
        let clock = Arc::new(SweepClock::new(limits.interval()));
        let registry = Arc::new(Registry::new(limits));
        let slots = Arc::new(Semaphore::new(2));
        let records = [0, 1].map(|_| Arc::new(ConnectionRecord::new(Arc::clone(&clock), true)));
        let _memberships = records.each_ref().map(|record| {
            let permit = Arc::clone(&slots).try_acquire_owned().unwrap();
            registry.register(Arc::clone(record), Slot::new(permit, IpAddr::from([127, 0, 0, 1])))
        });
        drop(InFlight::begin(&records[1]));
        let pause = pause_after(&too_many(), || registry.make_room(None, Instant::now()));
        assert_eq!(pause, ROOM_EVERY);
        assert_eq!(records.map(|record| record.is_told_to_end()), [false, true]);
    }
}
