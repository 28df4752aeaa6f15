//! The examples of axum's repository, written with stockade.
//!
//! Each file in `src/bin` is one program: `cargo run --bin hello-world`. Four
//! programs are in `examples`: `jwt`, `multipart_form`, `oauth` and
//! `static_file_server`.
//! `book/src/migration/axum-examples.md` compares the line counts. This library
//! contains small fakes of databases and other services, which would
//! otherwise need a network.

pub mod logged;
pub mod stand_ins;
pub mod tls_client;
