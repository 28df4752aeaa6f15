//! [`PeerAddr`] and [`LocalPeer`]: the other end of the connection.

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
/// limit and one share of the WebSockets. Mostly the peer is a proxy. It is trusted
/// like any other one where the router's `trust_proxy` is a number of proxies, and
/// in a list of networks where `unix:` is one of them; never by default.
///
/// ```
/// use stockade::LocalPeer;
///
/// let request = stockade::http::Request::get("/").extension(LocalPeer).body(()).unwrap();
/// assert!(request.extensions().get::<LocalPeer>().is_some());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LocalPeer;
