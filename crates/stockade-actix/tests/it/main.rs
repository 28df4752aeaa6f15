//! Tests inside actix-web: the whole application, individual routes, and
//! connections.

#![expect(clippy::unwrap_used, reason = "tests; clippy.toml knows only functions with `#[test]`")]

mod bodies;
mod logged_out;
mod routes;
mod sockets;
mod support;
mod whole;
