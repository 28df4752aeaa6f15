//! Nothing: this package is its bench, `verify.rs`.
