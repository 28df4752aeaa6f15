//! The examples in README, guides and doc comments, collected by `build.rs`:
//! `cargo test --doc -p stockade-doc-examples`. The name of a module has the
//! crate, the file and the line of its comment.

include!(concat!(env!("OUT_DIR"), "/examples.rs"));
