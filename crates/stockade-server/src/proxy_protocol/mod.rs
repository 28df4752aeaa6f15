//! The PROXY protocol, versions 1 and 2: a load balancer sends the client's
//! address before everything else.
//!
//! The peer's address determines whether a header is required. The server never
//! decides by the first bytes of a connection, because a client could also send
//! a header (section 2: "MUST not try to guess whether the protocol header is
//! present or not"). A trusted peer without a valid header is disconnected. The
//! bytes of all other peers are read as TLS or HTTP, which reject a header.
//!
//! Section numbers in this folder refer to the source.
//!
//! Source: "The PROXY protocol, versions 1 & 2", HAProxy,
//! `doc/proxy-protocol.txt`.

// Module overview:
// - `header`: the parser, a pure function.
// - `senders`: the peers that must send a header.
// - `read`: reads a header from a connection.

mod header;
mod read;
mod senders;

pub(crate) use header::Source;
pub(crate) use read::read;
pub(crate) use senders::Senders;
