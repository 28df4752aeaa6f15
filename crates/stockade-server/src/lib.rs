//! The HTTP server of stockade, on hyper and tokio: sockets, connections,
//! timeouts, TLS, shutdown.
//!
//! [`CreateServer`] makes a [`Server`] out of a router:
//!
//! ```no_run
//! use stockade::Router;
//! use stockade::server::CreateServer;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let mut router = Router::new();
//! router.get("/health", async || "ok");
//! router.listen(3000).await?;
//! # Ok(())
//! # }
//! ```
//!
//! HTTP/1.1 and HTTP/2 are served on the same port; HTTP/2 by prior knowledge,
//! or by ALPN with the feature `tls`. Connections run on the tokio runtime of
//! the caller.
//!
//! # What a client may not do
//!
//! | Client | Ends with | Option |
//! |---|---|---|
//! | sends the head of a request too slowly, or nothing at all | the connection closes | [`header_read_timeout`] |
//! | sends the body too slowly | 408, the connection closes | [`body_read_timeout`], [`min_read_rate`] |
//! | does not read its answer, or too slowly | the connection is reset; on HTTP/2 the stream, if only this one is not read | [`write_stall_timeout`], [`min_write_rate`] |
//! | keeps an idle connection open | the connection closes | [`idle_timeout`] |
//! | sends too many or too long headers | 431 | [`max_headers`], [`max_header_bytes`] |
//! | opens too many connections | its own longest idle one closes, else the new one | [`max_connections_per_client`] |
//! | is one of too many | the longest idle connection closes; else the slowest unfinished one of the client that has the most, if that is more than its share; else the new one waits | [`max_connections`] |
//! | asks too often, while connections are scarce | the 429 closes the connection | – |
//! | sends no `Host`, two, a malformed one, or another one than the target has | 400 | – |
//! | asks for a target that is not ASCII, or of another scheme than `http` and `https` | 400 | – |
//! | sends two lines of `Content-Type` | 400 | – |
//! | expects anything but `100-continue` | 417 | – |
//! | frames a body by a transfer coding other than `chunked` | 400, the connection closes | – |
//! | gives a length beside a transfer coding, or one that is no plain number | 400, the connection closes | – |
//! | breaks the grammar of a chunked body | 400, the connection closes | – |
//! | ends a line of a head with LF alone, sends more than one empty line before it, or a fragment in the target | 400, the connection closes | – |
//! | sends `Content_Length` or `Transfer_Encoding` | 400, the connection closes | – |
//! | comes through a load balancer that does not send its address (PROXY protocol) | the connection closes | [`proxy_protocol`] |
//! | closes its sending side before it has the answer | the connection closes | [`half_close`] |
//! | vanishes without a word while a request runs | the connection closes after about 2 minutes: TCP keep-alive after 60 s, then 6 times every 10 s, where the system lets us choose | – |
//!
//! [`header_read_timeout`]: ServerOptions::header_read_timeout
//! [`body_read_timeout`]: ServerOptions::body_read_timeout
//! [`write_stall_timeout`]: ServerOptions::write_stall_timeout
//! [`min_read_rate`]: ServerOptions::min_read_rate
//! [`min_write_rate`]: ServerOptions::min_write_rate
//! [`idle_timeout`]: ServerOptions::idle_timeout
//! [`max_headers`]: ServerOptions::max_headers
//! [`max_header_bytes`]: ServerOptions::max_header_bytes
//! [`max_connections`]: ServerOptions::max_connections
//! [`half_close`]: ServerOptions::half_close
//! [`max_connections_per_client`]: ServerOptions::max_connections_per_client
//! [`proxy_protocol`]: ServerOptions::proxy_protocol
//!
//! # Where things are
//!
//! - `server`: [`Server`], [`BoundServer`], [`ServerHandle`]; `options`,
//!   `address`, `error`, `signals`, `tls`: their arguments and errors.
//! - `application`: the side that answers, an `App` or a tower service.
//! - `listener`: [`Listener`], and the open listeners of a server; `tcp`, `unix`,
//!   `inherited`: how they are opened; `handshake`: [`Handshake`].
//! - `accept`: from the listeners to connections, and the shutdown;
//!   `clients`: the connections of each client; `idle_queue`: the idle ones,
//!   which make room for new ones; `unfinished_queue`: the unfinished ones of
//!   clients with many, which do so if none is idle.
//! - `connection`: one connection, awake and parked; `tracked_stream`: its
//!   `socket`; `rewind`: bytes of the socket that are read again.
//! - `proxy_protocol`: the client's address, which a load balancer sends first.
//! - `connection_record`: the state of one connection; `registry`: all open ones; `sweep`:
//!   one coarse task that ends stalled connections and parks idle ones, instead of a timer
//!   for each request.
//! - `fast_path`: everything that depends on how hyper works inside: parking, and headers
//!   as text.
//! - `time_budget`: the time for which a client is waited for, in both
//!   directions; `write_stall`: a client that does not take its response;
//!   `streams`: the same for one request on HTTP/2.
//! - `guard`, `guarded_io`: refuse malformed requests that hyper would accept.
//! - `forward`: writing through `rewind` and `guarded_io`.
//! - `service`: one request. Hot. `head`, `host`, `framing`: its checks before
//!   the application sees it.
//! - `request_body`, `drain`: the body of the request, in time and to its end;
//!   `response_body`: the body of the response.
//! - `upgraded`: connections that leave HTTP, such as WebSockets.
//!
//! Spec: Router construction and members › createServer.

mod accept;
mod address;
mod application;
mod clients;
mod connection;
mod connection_record;
mod drain;
mod error;
mod fast_path;
mod forward;
mod framing;
mod guard;
mod guarded_io;
mod handshake;
mod head;
mod heap;
mod host;
mod idle_queue;
#[cfg(unix)]
mod inherited;
mod listener;
mod options;
mod proxy_protocol;
mod registry;
mod request_body;
mod response_body;
mod rewind;
mod server;
mod service;
mod signals;
mod socket;
mod start;
mod streams;
mod sweep;
mod tcp;
mod time_budget;
#[cfg(feature = "tls")]
mod tls;
mod tracked_stream;
mod unfinished_queue;
#[cfg(unix)]
mod unix;
mod upgraded;
mod write_stall;

#[cfg(test)]
mod tests;

pub use address::{ListenAddr, Listeners, LocalAddr};
pub use application::FromTower;
pub use error::ServeError;
pub use handshake::Handshake;
#[cfg(unix)]
pub use inherited::InheritedSockets;
pub use listener::Listener;
pub use options::ServerOptions;
pub use server::{BoundServer, CreateServer, Server, ServerHandle};
#[cfg(feature = "tls")]
pub use tls::TlsConfig;
/// The version of rustls that [`TlsConfig::from_rustls`] takes.
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
#[cfg(unix)]
pub use unix::UnixSocket;
