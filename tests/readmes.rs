//! README examples of the crates that use the facade in their other examples.

#[cfg(doctest)]
#[doc = include_str!("../crates/stockade-errors/README.md")]
struct Errors;

#[cfg(doctest)]
#[doc = include_str!("../crates/stockade-serialization/README.md")]
struct Serialization;

#[cfg(doctest)]
#[doc = include_str!("../crates/stockade-path/README.md")]
struct Path;
