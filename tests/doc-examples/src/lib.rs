//! The examples in the doc comments of the crates, collected by `build.rs`:
//! `cargo test --doc -p stockade-doc-examples`. The name of a module has the
//! crate, the file and the line of its comment.

include!(concat!(env!("OUT_DIR"), "/examples.rs"));
