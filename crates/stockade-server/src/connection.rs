//! One connection: its protocol, its requests, its end.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::ServerOptions;
use crate::accept::Stage;
use crate::io::{Io, Protocol};
use crate::options::{DEFAULT_MAX_HEADERS, bounded};
use crate::record::{Order, Record};
use crate::response_body::ResponseBody;
use crate::service::{self, Answer, Peer};
#[cfg(feature = "tls")]
use crate::tls::TlsConfig;
use crate::upgraded;

/// What all connections of a server have in common.
pub(crate) struct Shared<A> {
    app: Arc<A>,
    http1: http1::Builder,
    http2: Option<http2::Builder<TokioExecutor>>,
    body_read_timeout: Duration,
    max_headers: usize,
    #[cfg(feature = "tls")]
    tls: Option<tokio_rustls::TlsAcceptor>,
}

impl<A: Answer> Shared<A> {
    pub(crate) fn new(app: A, options: &ServerOptions) -> Self {
        let max_header_bytes = options.max_header_bytes as usize;
        let mut http1 = http1::Builder::new();
        // The sweep does it, for a fifth less work; see `sweep`.
        http1.header_read_timeout(None);
        http1.max_header_size(max_header_bytes);
        http1.max_buf_size(max_header_bytes.max(MIN_BUFFER));
        if options.max_headers != DEFAULT_MAX_HEADERS {
            http1.max_headers(options.max_headers);
        }
        let http2 = options.http2.then(|| {
            let mut http2 = http2::Builder::new(TokioExecutor::new());
            http2
                .timer(TokioTimer::new())
                .enable_connect_protocol()
                .keep_alive_interval(HTTP2_PING_INTERVAL)
                .keep_alive_timeout(HTTP2_PING_TIMEOUT)
                .max_concurrent_streams(options.http2_max_streams)
                .max_header_list_size(options.max_header_bytes)
                .max_pending_accept_reset_streams(MAX_RESET_STREAMS)
                .max_local_error_reset_streams(MAX_LOCAL_RESET_STREAMS);
            http2
        });
        Self {
            app: Arc::new(app),
            http1,
            http2,
            body_read_timeout: bounded(options.body_read_timeout),
            max_headers: options.max_headers,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// The application.
    pub(crate) fn app(&self) -> &Arc<A> {
        &self.app
    }

    #[cfg(feature = "tls")]
    pub(crate) fn with_tls(mut self, tls: Option<TlsConfig>) -> Self {
        self.tls = tls.map(|tls| tls.into_acceptor(self.http2.is_some()));
        self
    }
}

/// Serves a connection to its end.
pub(crate) async fn serve<A: Answer>(
    shared: Arc<Shared<A>>,
    mut io: Io,
    record: Arc<Record>,
    address: SocketAddr,
    stage: watch::Receiver<Stage>,
) {
    #[cfg(feature = "tls")]
    if let Some(tls) = &shared.tls {
        let accepted = until_told(&record, tls.accept(io)).await;
        match accepted {
            Some(Ok(io)) => {
                let http2 = io.get_ref().1.alpn_protocol() == Some(b"h2");
                let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
                speak(&shared, io, protocol, record, address, stage).await;
            }
            Some(Err(error)) => {
                log::debug!(target: "stockade::server", "TLS with {address} failed: {error}");
            }
            None => {}
        }
        return;
    }
    let protocol = if shared.http2.is_some() {
        match until_told(&record, io.sniff()).await {
            Some(Ok(protocol)) => protocol,
            Some(Err(_)) | None => return,
        }
    } else {
        Protocol::Http1
    };
    speak(&shared, io, protocol, record, address, stage).await;
}

async fn speak<A: Answer, T>(
    shared: &Shared<A>,
    io: T,
    protocol: Protocol,
    record: Arc<Record>,
    address: SocketAddr,
    stage: watch::Receiver<Stage>,
) where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let peer = Arc::new(Peer {
        app: Arc::clone(&shared.app),
        record: Arc::clone(&record),
        address,
        stage,
        open: upgraded::open::<T>,
        body_read_timeout: shared.body_read_timeout,
        max_headers: shared.max_headers,
    });
    let service = service_fn(move |request| service::serve(&peer, request));
    let io = TokioIo::new(io);
    // Pinned here: handed over by value, they would be in the task twice.
    let outcome = if let (Some(http2), Protocol::Http2) = (&shared.http2, protocol) {
        record.set_http2();
        drive(&record, pin!(http2.serve_connection(io, service))).await
    } else {
        let connection = shared.http1.serve_connection(io, service);
        drive(&record, pin!(connection.with_upgrades())).await
    };
    // If it was an upgrade, the socket lives on elsewhere.
    record.set_upgraded();
    if let Some(Err(error)) = outcome {
        log::debug!(target: "stockade::server", "the connection of {address} failed: {error}");
    }
}

/// A connection of hyper that can be asked to end.
trait Finish: Future<Output = hyper::Result<()>> {
    fn finish(self: Pin<&mut Self>);
}

impl<I, S> Finish for http1::UpgradeableConnection<I, S>
where
    I: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
    S: HttpService<Incoming, ResBody = ResponseBody>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, S> Finish for http2::Connection<I, S, TokioExecutor>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
    S: HttpService<Incoming, ResBody = ResponseBody>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S::Future: Send + 'static,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Runs a connection to its end; `None` when it was told to close.
async fn drive<C: Finish>(
    record: &Record,
    mut connection: Pin<&mut C>,
) -> Option<hyper::Result<()>> {
    let mut known = None;
    let mut finishing = false;
    std::future::poll_fn(|cx| {
        loop {
            // The connection first: a request that has come already is served.
            if let Poll::Ready(outcome) = connection.as_mut().poll(cx) {
                return Poll::Ready(Some(outcome));
            }
            match record.order(&mut known, cx) {
                Order::Close => return Poll::Ready(None),
                Order::Finish if !finishing => {
                    finishing = true;
                    connection.as_mut().finish();
                }
                Order::Stay | Order::Finish => return Poll::Pending,
            }
        }
    })
    .await
}

/// Runs what comes before the first request; `None` when the connection was
/// told to finish or to close, because there is nothing to finish yet.
async fn until_told<F: Future>(record: &Record, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut known = None;
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if record.order(&mut known, cx) > Order::Stay => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// How large the buffers of a connection may grow at least, in bytes: 64 KiB.
const MIN_BUFFER: usize = 65_536;

/// How often a silent client of HTTP/2 is asked whether it is still there.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(30);

/// How long it may take for its answer.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Streams that a client has reset before they were accepted; more end the
/// connection (CVE-2023-44487, "rapid reset").
const MAX_RESET_STREAMS: usize = 20;

/// Streams that were reset because of the client's mistakes; more end the
/// connection (CVE-2025-8671, "made you reset").
const MAX_LOCAL_RESET_STREAMS: usize = 256;
