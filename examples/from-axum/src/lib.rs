//! The examples of axum's own repository, written with stockade.
//!
//! Each file in `src/bin` is one program: `cargo run --bin hello-world`.
//! `facade/docs/axum-examples.md` has the lines of both. This library holds small stand-ins for
//! databases and other services, which the programs would reach by a network.

pub mod logged;
pub mod stand_ins;
pub mod tls_client;
