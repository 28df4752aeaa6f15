//! [`PeerAddr`], [`LocalPeer`] and [`PeerCredentials`]: the other end of the connection.

use std::net::SocketAddr;

/// The address at the other end of the connection, as the host saw it.
///
/// The own server sets it for each request. An adapter or a test puts it into
/// the extensions of an `http::Request` before it hands that over. As an argument
/// of a handler it is a 500 where the host does not tell it; take an
/// `Option<PeerAddr>` there.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PeerAddr(pub SocketAddr);

/// A mark in the extensions of a request whose peer has no address, because the
/// connection is a Unix socket or a pipe.
///
/// The own server sets it for such connections, and an adapter may. Then there is
/// no [`PeerAddr`], and without a trusted proxy no
/// [`ClientIp`](crate::extract::ClientIp) either: all such clients share one rate
/// limit, and none has a limit of WebSockets of its own. Mostly the peer is a proxy.
/// It is trusted like any other one where the router's `trust_proxy` is a number of
/// proxies, and in a list of networks where `unix:` is one of them; never by default.
///
/// ```
/// use stockade::LocalPeer;
///
/// let request = stockade::http::Request::get("/").extension(LocalPeer).body(()).unwrap();
/// assert!(request.extensions().get::<LocalPeer>().is_some());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LocalPeer;

/// The process at the other end of a Unix socket, as the system names it: its user,
/// its group and its id when it connected.
///
/// The own server sets it for each request of such a connection, where the system
/// tells. As an argument of a handler it is a 500 for other requests; take an
/// `Option<PeerCredentials>` where there are both. Behind a proxy the process is the
/// proxy. A process may hand its connection to another one, and an id may be given
/// again, so that the user is what can be trusted.
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
    /// The id of the user.
    pub uid: u32,
    /// The id of the group.
    pub gid: u32,
    /// The id of the process, where the system tells it.
    pub pid: Option<i32>,
}
