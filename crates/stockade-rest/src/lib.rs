//! REST resources: the routes of a type over a store.
//!
//! A [`Store`] keeps the values of an [`Entity`]. [`MemoryStore`] is one in memory.
//!
//! # Hidden fields
//!
//! A field that clients must not see is hidden by its resource: it is in no answer,
//! and neither a filter nor a sort nor an error tells anything of it.

// Where things are:
// - `entity`: `Entity`, the types of items.
// - `store`: `Store`, and the words that a resource and its store speak.
// - `memory`: `MemoryStore`.

mod entity;
mod memory;
mod store;

pub use entity::{Entity, Id};
pub use memory::MemoryStore;
pub use store::{
    Ask, Direction, Draft, Expected, Filter, Op, Page, Scope, Sort, Store, StoreDoc, StoreError,
    Stored, Version,
};
