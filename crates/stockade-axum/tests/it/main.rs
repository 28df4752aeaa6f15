//! Tests inside axum: the whole application, individual routes, and
//! connections.

#![expect(clippy::unwrap_used, reason = "tests; clippy.toml knows only functions with `#[test]`")]

mod logged_out;
mod public_api;
mod routes;
mod sockets;
mod support;
mod whole;
