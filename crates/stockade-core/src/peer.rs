//! [`PeerAddr`], [`LocalPeer`] and [`PeerCredentials`]: the other end of the
//! connection.

use std::net::SocketAddr;

/// The address at the other end of the connection, as reported by the host.
///
/// The built-in server sets it for each request. An adapter or a test adds it
/// to the extensions of an `http::Request`. As a handler argument, it is a 500
/// if the host does not provide it; take an `Option<PeerAddr>` in that case.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PeerAddr(pub SocketAddr);

/// A mark in the extensions of a request from a peer without an address: a Unix
/// socket or a pipe.
///
/// The built-in server sets it for such connections, and an adapter may. The
/// request then does not have a [`PeerAddr`] or, without a trusted proxy, a
/// [`ClientIp`](crate::extract::ClientIp). All such clients share one rate
/// limit, and the WebSocket limit per client does not apply to them.
///
/// Usually, the peer is a proxy. It is never trusted by default. It is trusted
/// if the router's `trust_proxy` is a number of proxies, or a list of networks
/// that includes `unix:`.
///
/// ```
/// use stockade::LocalPeer;
///
/// let request = stockade::http::Request::get("/").extension(LocalPeer).body(()).unwrap();
/// assert!(request.extensions().get::<LocalPeer>().is_some());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LocalPeer;

/// The process at the other end of a Unix socket, as reported by the system:
/// its user, its group and its id at connection time.
///
/// The built-in server sets it for each request on such a connection if the
/// system provides it. As a handler argument, it is a 500 for other requests;
/// take an `Option<PeerCredentials>` if there are both kinds. The process is
/// the proxy if there is one.
///
/// Trust only the user: a process may pass its connection to another process,
/// and the system may reuse a process id.
///
/// ```
/// use stockade::{ApiError, PeerCredentials};
///
/// async fn stop(peer: PeerCredentials) -> Result<&'static str, ApiError> {
///     if peer.uid == 0 { Ok("stopping") } else { Err(ApiError::authorization()) }
/// }
/// # let _ = stockade::Handler::new(stop);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PeerCredentials {
    /// The user id.
    pub uid: u32,
    /// The group id.
    pub gid: u32,
    /// The process id, if the system provides it.
    pub pid: Option<i32>,
}
