//! [`PeerAddr`]: who is at the other end of the connection.

use std::net::SocketAddr;

/// The address at the other end of the connection, as the host saw it.
///
/// The own server sets it for each request. An adapter or a test puts it into
/// the extensions of an `http::Request` before it hands that over. As an argument
/// of a handler it is a 500 where the host does not tell it; take an
/// `Option<PeerAddr>` there.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PeerAddr(pub SocketAddr);
