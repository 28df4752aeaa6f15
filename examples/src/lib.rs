//! Nothing: the examples are the files beside `Cargo.toml`.
