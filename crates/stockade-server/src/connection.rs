//! One connection: its protocol, its requests and its end.
//!
//! [`fast_path`](crate::fast_path) contains everything that depends on hyper
//! internals.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{fmt, io};

use hyper::body::Incoming;
use hyper::server::conn::http1;
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
use hyper::service::{HttpService, Service, service_fn};
use hyper_util::rt::TokioIo;
#[cfg(feature = "tls")]
use tokio::io::AsyncWriteExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep};

use crate::ServerOptions;
use crate::accept::Stage;
use crate::connection_record::{Command, ConnectionRecord};
use crate::fast_path;
use crate::fast_path::head_writer::HeadWriter;
use crate::fast_path::parking::{rest, take_apart};
use crate::guard::Guard;
use crate::guarded_io::GuardedIo;
use crate::options::DEFAULT_MAX_HEADERS;
use crate::response_body::ResponseBody;
use crate::rewind::Rewind;
use crate::service::{self, AppService, Peer};
#[cfg(feature = "tls")]
use crate::tls::{self, TlsConfig};
use crate::tracked_stream::{Protocol, TrackedStream};
use crate::upgraded;

/// The state shared by all connections of a server.
pub(crate) struct Shared<A> {
    app: Arc<A>,
    http1: http1::Builder,
    /// For connections that hyper reads to notice a disconnected client.
    http1_reading: http1::Builder,
    options: ServerOptions,
    /// Extracts the connection from hyper's type.
    open: upgraded::Unwrap,
    is_tls: bool,
    #[cfg(feature = "tls")]
    tls: Option<TlsConfig>,
}

impl<A: AppService> Shared<A> {
    /// Creates the state. Selects the plain path if the linked hyper breaks an
    /// assumption of the fast path.
    pub(crate) fn new(app: A, options: &ServerOptions) -> Self {
        let mut options = options.clone();
        options.hyper_fast_path = options.hyper_fast_path && fast_path::is_usable();
        let max_header_bytes = options.max_header_bytes as usize;
        let mut http1 = http1::Builder::new();
        // The sweep implements this timeout at a fifth less cost; see `sweep`.
        http1.header_read_timeout(None);
        // `TrackedStream` detects clients that close their sending side, unless
        // `ServerOptions::half_close` allows it.
        http1.half_close(true);
        http1.max_header_size(max_header_bytes);
        http1.max_buf_size(max_header_bytes.max(MIN_BUFFER));
        if options.max_headers != DEFAULT_MAX_HEADERS {
            http1.max_headers(options.max_headers);
        }
        let mut http1_reading = http1.clone();
        http1_reading.half_close(options.half_close);
        Self {
            app: Arc::new(app),
            http1,
            http1_reading,
            options,
            open: upgraded::open::<Rewind<TrackedStream>>,
            is_tls: false,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Returns the application.
    pub(crate) fn app(&self) -> &Arc<A> {
        &self.app
    }

    /// Returns the options of the server.
    pub(crate) fn options(&self) -> &ServerOptions {
        &self.options
    }

    /// Returns true if connections begin with a TLS handshake.
    pub(crate) fn is_tls(&self) -> bool {
        self.is_tls
    }

    #[cfg(feature = "tls")]
    pub(crate) fn with_tls(mut self, tls: Option<TlsConfig>) -> Self {
        if let Some(tls) = tls {
            self.tls = Some(tls);
            self.is_tls = true;
            self.open = upgraded::open::<Rewind<tokio_rustls::server::TlsStream<TrackedStream>>>;
        }
        self
    }
}

/// Serves a connection to its end.
///
/// The task of a parked connection has the size of this future. Everything
/// large in the future is therefore boxed, and the socket is never moved.
pub(crate) fn serve<A: AppService>(
    shared: Arc<Shared<A>>,
    io: TrackedStream,
    record: Arc<ConnectionRecord>,
    address: Option<SocketAddr>,
    stage: watch::Receiver<Stage>,
) -> impl Future<Output = ()> + Send + use<A> {
    let peer = Arc::new(Peer {
        app: Arc::clone(&shared.app),
        record,
        address,
        credentials: io.credentials(),
        stage,
        open: shared.open,
        is_tls: shared.is_tls,
        body_terms: shared.options.body_terms(),
        max_headers: shared.options.max_headers,
        capacity: io.capacity(),
    });
    let peeks = io.can_peek();
    let mut io = Some(Rewind::new(io));
    async move {
        #[cfg(feature = "tls")]
        if let Some(tls) = &shared.tls {
            Box::pin(speak_tls(&shared, tls, &peer, io)).await;
            return;
        }
        let mut protocol = Protocol::Http1;
        if shared.options.http2 {
            match until_told(&peer.record, Command::Finish, sniff(&mut io)).await {
                Some(Ok(sniffed)) => protocol = sniffed,
                Some(Err(_)) | None => return,
            }
        }
        if let (Some(io), Protocol::Http1) = (&mut io, protocol) {
            io.get_mut().watch(shared.options.half_close);
        }
        // On the plain path, hyper also reads if nothing else detects a
        // disconnected client.
        let peeks = peeks && shared.options.hyper_fast_path;
        let http1 = if peeks { &shared.http1 } else { &shared.http1_reading };
        speak(&shared, http1, &peer, &mut io, protocol).await;
    }
}

#[cfg(feature = "tls")]
async fn speak_tls<A: AppService>(
    shared: &Shared<A>,
    tls: &TlsConfig,
    peer: &Arc<Peer<A>>,
    io: Option<Rewind<TrackedStream>>,
) {
    let Some(io) = io else { return };
    let handshake = tls.acceptor(shared.options.http2).accept(io.into_inner());
    match until_told(&peer.record, Command::Finish, handshake).await {
        Some(Ok(mut io)) => {
            let protocol = match io.get_ref().1.alpn_protocol() {
                Some(tls::HTTP2) => Protocol::Http2,
                Some(tls::ACME) => {
                    // An ACME challenge ends after the handshake.
                    let _ = until_told(&peer.record, Command::Finish, io.shutdown()).await;
                    return;
                }
                _ => Protocol::Http1,
            };
            // A TLS client closes with a TLS message, which must be read.
            let http1 = &shared.http1_reading;
            speak(shared, http1, peer, &mut Some(Rewind::new(io)), protocol).await;
        }
        Some(Err(error)) => {
            let client = ClientName(peer.address);
            log::debug!(target: "stockade::server", "TLS with {client} failed: {error}");
        }
        None => {}
    }
}

#[cfg_attr(not(feature = "http2"), expect(unused_variables, reason = "only HTTP/2 has options"))]
async fn speak<A: AppService, T>(
    shared: &Shared<A>,
    http1: &http1::Builder,
    peer: &Arc<Peer<A>>,
    io: &mut Option<Rewind<T>>,
    protocol: Protocol,
) where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let outcome = match protocol {
        #[cfg(feature = "http2")]
        Protocol::Http2 => {
            let Some(io) = io.take() else { return };
            peer.record.http2.speak();
            let http2 = crate::http2::builder(&shared.options, &peer.record);
            let connection = http2.serve_connection(TokioIo::new(io), service_of(peer));
            let shut_down =
                |connection: Pin<&mut _>| http2::Connection::graceful_shutdown(connection);
            drive(&peer.record, Box::pin(connection).as_mut(), shut_down, false).await
        }
        // `ServerOptions` rejects HTTP/2 without the feature.
        #[cfg(not(feature = "http2"))]
        Protocol::Http2 => return,
        Protocol::Http1 => speak_http1(http1, peer, io).await,
    };
    // After an upgrade, the socket continues in another task.
    peer.record.set_upgraded();
    if let Some(status) = rejected_by_hyper(outcome, peer.address) {
        service::note_rejected(peer, status).await;
    }
}

/// Logs a connection failure. Returns the status of the response if hyper has
/// rejected a request before the application saw it.
fn rejected_by_hyper(outcome: Outcome, address: Option<SocketAddr>) -> Option<u16> {
    let Outcome::Ended(Err(error)) = outcome else { return None };
    let client = ClientName(address);
    log::debug!(target: "stockade::server", "the connection of {client} failed: {error}");
    let status = if error.is_parse_too_large() { 431 } else { 400 };
    error.is_parse().then_some(status)
}

/// Speaks HTTP/1 to the end, and parks the connection during long idle periods.
async fn speak_http1<A: AppService, T>(
    http1: &http1::Builder,
    peer: &Arc<Peer<A>>,
    slot: &mut Option<Rewind<T>>,
) -> Outcome
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut is_after_blank = false;
    loop {
        let Some(mut connection) = http1_connection(http1, peer, slot, is_after_blank) else {
            return Outcome::Told;
        };
        let outcome =
            drive(&peer.record, Pin::new(&mut *connection), Http1::graceful_shutdown, true).await;
        if !matches!(outcome, Outcome::Idle) {
            return outcome;
        }
        let Some(after_blank) = take_apart(connection, slot) else { return outcome };
        is_after_blank = after_blank;
        peer.record.set_parked();
        let Some(io) = slot else { return outcome };
        if !rest(&peer.record, io).await {
            return outcome;
        }
        peer.record.bytes_came();
        peer.record.wake_up();
    }
}

/// Creates hyper's part of an HTTP/1 connection, before the first request or
/// between two. Returns `None` if there is no connection.
///
/// The connection moves only through `slot`, because a future stores the
/// variables of moved values, and the task of a parked connection must be
/// small.
fn http1_connection<A: AppService, T>(
    http1: &http1::Builder,
    peer: &Arc<Peer<A>>,
    slot: &mut Option<Rewind<T>>,
    is_after_blank: bool,
) -> Option<
    Box<
        Http1<
            T,
            impl HttpService<
                Incoming,
                ResBody = ResponseBody,
                Error = Infallible,
                Future: Send + 'static,
            > + use<A, T>,
        >,
    >,
>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let record = &peer.record;
    let guard = Guard::resume(record.http1.exchanges.requests(), is_after_blank);
    let io = GuardedIo::new(slot.take()?, guard, Arc::clone(record));
    let io = TokioIo::new(HeadWriter::new(io, Arc::clone(record)));
    let connection = http1_of(http1, record).serve_connection(io, service_of(peer));
    Some(Box::new(connection.with_upgrades()))
}

/// Returns the builder of hyper's part of an HTTP/1 connection.
///
/// Until a large body occurs, hyper copies bodies after their heads and writes
/// both in one piece. Two pieces (`writev`) cost 360 more instructions per
/// response, 4 % of a small one.
fn http1_of(http1: &http1::Builder, record: &ConnectionRecord) -> http1::Builder {
    let mut http1 = http1.clone();
    if !record.http1.decide_on_vectored() {
        http1.writev(false);
    }
    http1
}

/// An HTTP/1 connection of hyper.
pub(crate) type Http1<T, S> = http1::UpgradeableConnection<Http1Io<Rewind<T>>, S>;

/// hyper's view of an HTTP/1 connection. An upgrade extracts the connection by
/// this type.
pub(crate) type Http1Io<T> = TokioIo<HeadWriter<GuardedIo<T>>>;

/// Returns the service that handles the requests of a connection.
fn service_of<A: AppService>(
    peer: &Arc<Peer<A>>,
) -> impl Service<
    http::Request<Incoming>,
    Response = http::Response<ResponseBody>,
    Error = Infallible,
    Future: Send + 'static,
> + use<A> {
    let peer = Arc::clone(peer);
    service_fn(move |request| service::serve(&peer, request))
}

/// The reason why hyper's part of a connection is no longer driven.
enum Outcome {
    /// The connection has ended, with or without an error.
    Ended(hyper::Result<()>),
    /// The connection received a command to close.
    Told,
    /// The connection is idle and received a command to park.
    Idle,
}

/// Runs a connection until it ends or receives a command to close. With
/// `parks`, which is for HTTP/1, also returns on a command to park.
async fn drive<C: Future<Output = hyper::Result<()>>>(
    record: &ConnectionRecord,
    mut connection: Pin<&mut C>,
    shut_down: fn(Pin<&mut C>),
    parks: bool,
) -> Outcome {
    let mut told = Command::Stay;
    let mut go_away = None;
    std::future::poll_fn(|cx| {
        let mut complete_before = None;
        loop {
            // The connection is polled first, because a request that has
            // arrived must be served.
            if let Poll::Ready(outcome) = connection.as_mut().poll(cx) {
                return Poll::Ready(Outcome::Ended(outcome));
            }
            match record.command(cx) {
                Command::Close => return Poll::Ready(Outcome::Told),
                // Handle each of the two once, then poll the connection again:
                // some bodies end at a shutdown.
                command @ (Command::Finish | Command::Shutdown) if command > told => {
                    told = command;
                    shut_down(connection.as_mut());
                }
                Command::Shutdown if parks && record.snapshot().waits_for_head() => {
                    return Poll::Ready(Outcome::Told);
                }
                command @ (Command::Finish | Command::Shutdown) if !parks => {
                    let go_away = go_away.get_or_insert_with(|| GoAwayWait::new(record));
                    return go_away.poll(record, command, cx).map(|()| Outcome::Told);
                }
                Command::Park if parks && record.snapshot().may_park() => {
                    // hyper must be polled once more: see `parking`.
                    let complete = record.http1.exchanges.complete();
                    if complete.is_some() && complete == complete_before {
                        return Poll::Ready(Outcome::Idle);
                    }
                    complete_before = complete;
                }
                Command::Park => {
                    record.wake_up();
                    return Poll::Pending;
                }
                Command::Stay | Command::Finish | Command::Shutdown => return Poll::Pending,
            }
        }
    })
    .await
}

/// The wait for an HTTP/2 client after GOAWAY.
///
/// hyper sends GOAWAY and a ping, and ends the connection when the ping is
/// answered and the streams are done (RFC 9113, section 6.8). Without this
/// wait, a client that does not answer would keep the connection open.
struct GoAwayWait {
    sleep: Pin<Box<Sleep>>,
}

impl GoAwayWait {
    /// Starts the wait after GOAWAY is sent.
    fn new(record: &ConnectionRecord) -> Self {
        // Earlier bytes do not answer GOAWAY.
        record.http2.forget_bytes();
        Self { sleep: Box::pin(sleep(GO_AWAY_TIME)) }
    }

    /// Completes when the connection must close, because the client has not
    /// answered in time and no request is running.
    ///
    /// At a shutdown, all bytes from the client count as an answer, because the
    /// last bytes of a response may still be in transit. A connection that
    /// closes to make room for another one has been idle for a long time, so
    /// its bytes do not count.
    fn poll(
        &mut self,
        record: &ConnectionRecord,
        command: Command,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        loop {
            ready!(self.sleep.as_mut().poll(cx));
            let agreed = command == Command::Shutdown && record.http2.has_heard();
            if !agreed && record.snapshot().is_unused() {
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(Instant::now() + GO_AWAY_TIME);
        }
    }
}

/// Detects the protocol from the client's first bytes.
async fn sniff(io: &mut Option<Rewind<TrackedStream>>) -> io::Result<Protocol> {
    let Some(io) = io else { return Ok(Protocol::Http1) };
    let (protocol, begin) = io.get_mut().sniff().await?;
    io.rewind(begin);
    Ok(protocol)
}

/// Runs a future until the connection receives the command `least` or a higher
/// one, and then returns `None`.
pub(crate) async fn until_told<F: Future>(
    record: &ConnectionRecord,
    least: Command,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if record.command(cx) >= least => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// A client address, formatted for logs.
pub(crate) struct ClientName(pub(crate) Option<SocketAddr>);

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => address.fmt(f),
            None => f.write_str("a client without an address"),
        }
    }
}

/// The minimum limit for the buffers of a connection: 64 KiB.
const MIN_BUFFER: usize = 65_536;

/// The time for an HTTP/2 client to answer GOAWAY: 1 s.
const GO_AWAY_TIME: Duration = Duration::from_secs(1);
