//! Hot: from a raw path to the route that it belongs to.
//!
//! A [`Table`] is built once, for one method, by a [`TableBuilder`]. Which of
//! several patterns wins is defined in the docs of `stockade_path`; the order of
//! insertion never matters. A lookup allocates nothing, unless a route has more
//! than eight parameters, or two threads are in the same segment with several
//! parameters and an expression at the same moment.
//!
//! # How it works
//!
//! 1. Variants that are text alone are in a hash table of whole paths. Text has
//!    the best precedence in every segment, so a hit there is the answer.
//! 2. The other variants form a tree with a level for each segment. A node has
//!    a hash table for the children that are text, a list of the others in the
//!    order of their precedence, and what `**` leads to. The lookup goes down
//!    the first child that fits and comes back for the next one if that leads
//!    nowhere; the first end that it reaches is the best one.
//!
//! # Why it is linear
//!
//! A node belongs to one level, so it is only ever asked about one segment of
//! the path, and it has one parent, so it is visited once at most. The work at a
//! node is linear in the length of that segment: a search for the slash, a hash,
//! and for each child one pass, be it the search for the text between parameters
//! or a regular expression without backtracking. So a lookup is linear in the
//! length of the path, whatever the patterns are.
//!
//! # Where things are
//!
//! - `table`: [`Table`], [`Match`], the walk down the tree.
//! - `builder`: [`TableBuilder`], [`InsertError`].
//! - `segment`: segments that have parameters.
//! - `literals`: the hash table of texts.

#[cfg(test)]
mod allocations;
mod builder;
mod literals;
#[cfg(test)]
mod model;
mod segment;
mod table;
#[cfg(test)]
mod tests;

pub use builder::{InsertError, TableBuilder};
pub(crate) use segment::anchored;
pub use table::{Match, Table};
