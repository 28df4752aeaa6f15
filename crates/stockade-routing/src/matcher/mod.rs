//! Hot: from a raw path to the route that it belongs to.
//!
//! A `Table` is built once, for one method, by a `TableBuilder`. Which of
//! several patterns wins is defined in the docs of `stockade_path`; the order of
//! insertion never matters. A lookup allocates nothing, unless a route has more
//! than eight parameters, or two threads are at the same moment in segments of the
//! same shape, with several parameters and an expression.
//!
//! # How it works
//!
//! The variants form a tree with a level for each segment. A node has children
//! that are text, a list of the others in the order of their precedence, and
//! the end of `**`. The lookup goes down the first child that fits, and comes
//! back for the next one if no end is found there. The first end that it
//! reaches is the best one.
//!
//! The children that are text are in one hash table, by their parent and the
//! text, so that ten thousand routes are a few blocks of memory. A segment is
//! read in words of eight bytes. The search for the slash, the hash and the
//! comparison use the same words.
//!
//! # Why it is linear
//!
//! A node belongs to one level, so it is only ever asked about one segment of
//! the path, and it has one parent, so it is visited once at most. The work at
//! a node is linear in the length of that segment: a search for the slash and a
//! hash, and for each child one pass, be it the search for the text between
//! parameters or a regular expression without backtracking. So a lookup is
//! linear in the length of the path, for any patterns.

// Where things are:
// - `table`: `Table`, `Match`, the walk down the tree.
// - `tables`: `Tables`, one for each method.
// - `builder`: `TableBuilder`, `InsertError`.
// - `segment`: segments that have parameters.
// - `literals`: the hash table of texts.
// - `text`: the reading of a segment.

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
