//! Compression of responses and decompression of requests.
//!
//! ```
//! use stockade::Middleware;
//! use stockade::middleware::{Coding, with_compression, with_decompression};
//!
//! let out = with_compression().codings([Coding::Brotli, Coding::Gzip]).min_size(512);
//! let list = [Middleware::new(out), Middleware::new(with_decompression())];
//! assert_eq!(list[0].name(), "with_compression");
//! ```
//!
//! # Beyond the spec
//! The specification does not define compression. Source: RFC 9110, sections
//! 8.4 and 12.5.3.

// Files:
// - `coding`: `Coding`, and the choice by `Accept-Encoding`.
// - `compress`: `with_compression` and its rules.
// - `decompress`: `with_decompression` and its rules.
// - `encoder`, `decoder`: bodies that are compressed or decompressed as they
//   pass.

mod coding;
mod compress;
mod decoder;
mod decompress;
mod encoder;

pub use coding::Coding;
pub use compress::{Compression, with_compression};
pub use decompress::{Decompression, with_decompression};
