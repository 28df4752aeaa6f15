//! The PROXY protocol, versions 1 and 2: the client's address, which a load balancer
//! sends before everything else.
//!
//! The address of the peer decides whether a header must come. The server never decides
//! by the first bytes of a connection, because a client could send a header too
//! (section 2: "MUST not try to guess whether the protocol header is present or not").
//! So a trusted peer without a valid header is disconnected. The bytes of all other
//! peers are read as TLS or HTTP, which reject a header.
//!
//! Sections in this folder are sections of the source.
//!
//! Source: "The PROXY protocol, versions 1 & 2", HAProxy, `doc/proxy-protocol.txt`.

// Where things are:
// - `header`: the parser, a pure function.
// - `senders`: the peers that must send a header.
// - `read`: reads a header from a connection.

mod header;
mod read;
mod senders;

pub(crate) use header::Source;
pub(crate) use read::read;
pub(crate) use senders::Senders;
