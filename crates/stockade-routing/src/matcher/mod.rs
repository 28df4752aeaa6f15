//! The matcher, which finds the route of a raw path.
//!
//! Hot. A `TableBuilder` builds a `Table` once for each method. The docs of
//! `stockade_path` define the precedence of patterns; the order of insertion
//! never matters. A lookup does not allocate, except in two cases: a route has
//! more than eight parameters, or two threads concurrently match segments of
//! the same shape with several parameters and an expression.
//!
//! # Algorithm
//!
//! The variants form a tree with a level for each segment. A node has children
//! that are text, a list of its other children in the order of their
//! precedence, and the end of `**`. The lookup descends into the first matching
//! child, and backtracks to the next child if it finds no end there. The first
//! end that it reaches is the best one.
//!
//! The children that are text are in one hash table, keyed by parent and text,
//! so 10,000 routes are a few blocks of memory. A segment is read in words of
//! eight bytes. The search for the slash, the hash and the comparison use the
//! same words.
//!
//! # Linear time
//!
//! A node belongs to one level, so it only examines one segment of the path. It
//! has one parent, so it is visited at most once. The work at a node is linear
//! in the length of that segment: a search for the slash, a hash, and one pass
//! for each child. That pass is either a search for the text between
//! parameters, or a regular expression without backtracking. So a lookup is
//! linear in the length of the path, for any patterns.

// Contents of the modules:
// - `table`: `Table`, `Match`, the walk down the tree.
// - `tables`: `Tables`, one for each method.
// - `builder`: `TableBuilder`, `InsertError`.
// - `segment`: segments with parameters.
// - `literals`: the hash table of texts.
// - `text`: the reader of segments.

#[cfg(test)]
mod allocations;
mod builder;
mod literals;
#[cfg(test)]
mod model;
mod segment;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod text;

pub use builder::{InsertError, TableBuilder};
pub(crate) use segment::anchored;
pub use table::{Match, Table};
pub use tables::Tables;
