//! An empty library; the package contains only the benchmark `verify.rs`.
