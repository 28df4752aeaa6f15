//! Reads a schema in either notation, reports configuration errors and compiles
//! it to a [`Node`](crate::node::Node).
//!
//! - `keyword`: the keywords, the types of their values, and pairs of bounds.
//! - `notation`: JSON to [`Rule`](crate::Rule).
//! - `reference`: `$ref` within a document.
//! - `parts`: alternatives, conditions and rules for parts of a value.
//! - `compile`: [`Rule`](crate::Rule) to node, with all configuration errors.
//! - `definition`: the definitions that rules refer to, each compiled once.
//! - `flatten`: properties of one rule merged into another.
//! - `inner`: references, unions and tuples.
//! - `union_types`: the types of a union.
//! - `bounds`: contradictory bounds.

mod bounds;
mod compile;
mod definition;
mod flatten;
mod inner;
mod keyword;
mod notation;
mod parts;
mod reference;
mod union_types;

pub(crate) use compile::compile;
#[cfg(feature = "schemars")]
pub(crate) use keyword::is_standard;
pub use keyword::names;
pub(crate) use keyword::{Kind, is_note};
pub(crate) use notation::{read, read_fields, read_rule};
pub(crate) use reference::push_step;

#[cfg(test)]
mod tests;
