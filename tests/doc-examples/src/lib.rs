//! The examples in README, book and doc comments, collected by `build.rs`.
//! Run them with `cargo test --doc -p stockade-doc-examples`. A module name
//! contains the crate, the file and the line of its comment.

include!(concat!(env!("OUT_DIR"), "/examples.rs"));
