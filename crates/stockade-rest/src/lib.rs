//! REST resources: the routes of a type over a store.
//!
//! A [`Resource`] makes the routes of an [`Entity`] over a [`Store`]: a page of items,
//! one item, and the writes. [`MemoryStore`] is a store in memory. Middleware, limits,
//! documents and checks hold for these routes as for all others.
//!
//! # Lists
//!
//! `GET /products` answers `{"items": […], "next": "…"}`.
//!
//! | parameter | meaning |
//! |---|---|
//! | `limit` | the largest number of items, 1 to 100; 20 without it |
//! | `cursor` | the value of `next` of an earlier page; `Link` has the whole address, and those of the first page and the one before |
//! | `sort=-price,name` | the order: up to 3 of the fields that the resource lists, `-` for the greatest first; the id is always the last key |
//! | `category=tea` | a filter; repeated, any of 50 values |
//! | `price[lt]=5` | one of the comparisons of [`Op`] |
//! | `count=exact` | `X-Total-Count`, counted to 10,000, where the resource allows it |
//!
//! A page ends at 4 MiB of JSON, with `next`, also where `limit` allows more items.
//!
//! Pages follow keys and no numbers of rows: a page far behind costs what the first one
//! does, and no item comes twice because another one was added. Any other parameter, and
//! each value that breaks the schema of its field, is a 400 that names it. At most 10
//! filters hold at a time. A cursor has the keys of the item beside its page, which may be
//! gone when the cursor comes back; where they are longer than 4 KiB it has the id alone,
//! and is a 400 once the item is gone.
//!
//! # Items
//!
//! An id is written in one way: for 1, `/products/01` and `/products/1.0` are 400. Only the
//! spellings of a UUID, an IP address or a time all name the same item. A new id that no
//! path could have, such as `..`, is a 400 too, and so is one with a control character or of
//! more than 1,000 bytes.
//!
//! An item has an entity tag of its version, such as `"v17"`. GET answers 304 to a client
//! that has that version. PUT, PATCH and DELETE with `If-Match` are done at that version
//! alone, and otherwise answer 412 with the present tag; without it they answer 409 if
//! the item changes four times while they are carried out.
//!
//! PATCH takes a JSON merge patch (RFC 7396): an absent field stays, and null removes.
//! The whole that comes out of it is judged by the schema. `Prefer: return=minimal` asks
//! for no item in the answer to a write.
//!
//! # Refusals
//!
//! Nothing is written where the answer is an error: 400 with the fields, 401 and 403,
//! 404 for an item that is not there or not in the [scope](Resource::scope), 409 for a
//! value that is taken, 412, 413, 415, and 428 where
//! [`If-Match` is required](Resource::require_if_match). A store that is down is a 503
//! with `Retry-After`, whose reason is in the log alone.
//!
//! # Hidden fields
//!
//! A field that clients must not see is [hidden](Resource::hidden) by its resource: it is
//! in no answer, neither a filter nor a sort nor a cursor has it, a patch changes it and
//! does not see it, and a value of it that is taken is a 409 without its name.

// Where things are:
// - `entity`: `Entity`, the types of items; `access`: `Access` and `Operation`.
// - `resource`: `Resource`, its checks, and the routes that it becomes.
// - `core`: a resource without its types; `erased`: a store without its types; `keys`: some
//   fields of an item; `marked`: read-only and write-only places inside its fields.
// - `handlers`: the handlers, their conditions, queries and descriptions.
// - `failure`: the answers to the failures of a store; `cursor`: places in an order.
// - `store`: `Store`, and the words that a resource and its store speak.
// - `memory`: `MemoryStore`.
// - `canonical`: the canonical spelling of values, which all stores keep and compare.

mod access;
mod canonical;
mod core;
mod cursor;
mod entity;
mod erased;
mod failure;
mod handlers;
mod keys;
mod marked;
mod memory;
mod resource;
mod store;

pub use access::{Access, Operation};
pub use entity::{Entity, Id};
pub use memory::MemoryStore;
pub use resource::Resource;
pub use stockade_errors::StoreError;
pub use store::{
    Direction, Filter, ListQuery, NewRow, Op, Page, RowFilter, Sort, Store, StoreDoc, Version,
    VersionCheck, Versioned,
};

/// Items for the other crates of stockade. They carry no promise of stability.
#[doc(hidden)]
pub mod __internal {
    pub use crate::canonical::Canonical;
}
