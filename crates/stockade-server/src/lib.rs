//! The HTTP server of stockade, built on hyper and tokio: sockets, connections,
//! timeouts, TLS and shutdown.
//!
//! [`CreateServer`] turns a router into a [`Server`]:
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
//! HTTP/1.1 and HTTP/2 share the same port. HTTP/2 is selected by prior
//! knowledge, or by ALPN with the feature `tls`. Connections run on the
//! caller's tokio runtime.
//!
//! # Protection against clients
//!
//! | Client | Outcome | Option |
//! |---|---|---|
//! | sends the head of a request too slowly, or nothing at all | the connection closes | [`header_read_timeout`] |
//! | sends the body too slowly | 408, the connection closes | [`body_read_timeout`], [`min_read_rate`] |
//! | does not read its response, or reads too slowly | the connection is reset; on HTTP/2 only the stream, if the client reads the others | [`write_stall_timeout`], [`min_write_rate`] |
//! | leaves an idle connection open | the connection closes | [`idle_timeout`] |
//! | sends too many or too long headers | 431 | [`max_headers`], [`max_header_bytes`] |
//! | opens too many connections | the connection that it has left idle longest closes, or the new one if none is idle | [`max_connections_per_client`] |
//! | connects while the server is full | the connection that has been idle longest closes; if none is idle, the client with the most unfinished connections loses its slowest one, if it exceeds its share; otherwise the new connection waits | [`max_connections`] |
//! | exceeds a rate limit while connections are scarce | the 429 closes the connection | – |
//! | sends a missing, duplicate or malformed `Host`, or one that differs from the target | 400 | – |
//! | sends a target with non-ASCII bytes, or with a scheme other than `http` and `https` | 400 | – |
//! | sends two `Content-Type` lines | 400 | – |
//! | sends an `Expect` other than `100-continue` | 417 | – |
//! | uses a transfer coding other than `chunked` | 400, the connection closes | – |
//! | sends a length in addition to a transfer coding, or a length that is not a plain number | 400, the connection closes | – |
//! | sends a malformed chunked body | 400, the connection closes | – |
//! | ends a head line with a bare LF, sends more than one empty line before the head, or a fragment in the target | 400, the connection closes | – |
//! | sends `Content_Length` or `Transfer_Encoding` | 400, the connection closes | – |
//! | connects through a load balancer that does not send its address (PROXY protocol) | the connection closes | [`proxy_protocol`] |
//! | closes its sending side before it receives the response | the connection closes | [`half_close`] |
//! | vanishes silently during a request | the connection closes after about 2 minutes: TCP keep-alive after 60 s, then 6 probes at 10 s intervals, if the system supports these settings | – |
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
//! # Module overview
//!
//! - `server`: [`Server`], [`BoundServer`], [`ServerHandle`]; `options`,
//!   `address`, `error`, `signals`, `tls`: their arguments and errors.
//! - `application`: the request handling side, an `App` or a tower service.
//! - `listener`: [`Listener`], and the open listeners of a server; `tcp`,
//!   `unix`, `inherited`: opening them; `handshake`: [`Handshake`].
//! - `accept`: from listeners to connections, and the shutdown; `clients`: the
//!   connections per client; `idle_queue`: idle connections, which close to
//!   make room for new ones; `unfinished_queue`: unfinished connections of
//!   clients with many, which close if none is idle.
//! - `connection`: one connection, awake and parked; `tracked_stream`: its
//!   `socket`; `rewind`: bytes to be read again.
//! - `proxy_protocol`: the client's address, which a load balancer sends first.
//! - `connection_record`: the state of one connection; `registry`: all open
//!   ones; `sweep`: one coarse task that ends stalled connections and parks
//!   idle ones, instead of a timer per request.
//! - `fast_path`: everything that depends on hyper internals: parking, and
//!   headers as text.
//! - `time_budget`: the time that the server waits for a client, in both
//!   directions; `write_stall`: a client that does not read its response;
//!   `streams`: the same for one HTTP/2 request.
//! - `guard`, `guarded_io`: reject malformed requests that hyper would accept.
//! - `forward`: writing through `rewind` and `guarded_io`.
//! - `service`: one request. Hot. `head`, `host`, `framing`: checks that run
//!   before the application.
//! - `request_body`, `drain`: the request body, its time limit and its end;
//!   `response_body`: the response body.
//! - `upgraded`: connections that switch to another protocol, such as
//!   WebSockets.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Router construction and members › createServer.

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
#[cfg(feature = "http2")]
mod http2;
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
#[cfg_attr(not(feature = "http2"), expect(dead_code, reason = "only HTTP/2 has streams"))]
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
/// The rustls version that [`TlsConfig::from_rustls`] accepts.
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
#[cfg(unix)]
pub use unix::UnixSocket;
