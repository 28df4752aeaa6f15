//! This library is empty: the examples are the files next to `Cargo.toml`.
