//! REST resources: the routes for a type in a store.
//!
//! A [`Resource`] creates the routes for an [`Entity`] in a [`Store`]: lists,
//! single items and writes. [`MemoryStore`] is an in-memory store. Middleware,
//! limits, documentation and validation apply to these routes as to any other
//! route.
//!
//! Examples with `TestClient` need the feature `testing` of the crate
//! `stockade`.
//!
//! # Lists and pagination
//!
//! `GET /products` returns `{"items": […], "next": "…"}`.
//!
//! | parameter | meaning |
//! |---|---|
//! | `limit` | the maximum number of items, 1 to 100; default: 20 |
//! | `cursor` | the value of `next` from an earlier page; `Link` has the targets of the first, previous and next pages |
//! | `sort=-price,name` | the order: up to 3 of the sortable fields, with `-` for descending; the id is always the last key |
//! | `category=tea` | a filter; repeat it to match any of up to 50 values |
//! | `price[lt]=5` | one of the comparisons of [`Op`] |
//! | `count=exact` | `X-Total-Count`, counted up to 10,000, if the resource allows it |
//!
//! A page ends at 4 MiB of JSON, with `next`, even if `limit` allows more
//! items.
//!
//! Pagination uses keys rather than row numbers. So a late page costs the same
//! as the first one, and an insert does not cause duplicates. Unknown
//! parameters, and values that break the schema of their field, get a 400 that
//! names them. A query has at most 10 filters. A cursor contains the keys of
//! the item next to its page; the item may be gone when the cursor is used.
//! Keys longer than 4 KiB are replaced by the id. Such a cursor gets a 400 once
//! the item is gone.
//!
//! # Items
//!
//! An id has exactly one spelling: `/products/01` and `/products/1.0` get a 400
//! for id 1. Only UUIDs, IP addresses and times have several spellings for the
//! same item. A new id that cannot be used in a path, such as `..`, gets a 400.
//! An id with a control character or with more than 1,000 bytes also gets a
//! 400.
//!
//! The entity tag of an item contains its version, such as `"v17"`. GET
//! responds with 304 if the client has the current version. PUT, PATCH and
//! DELETE with `If-Match` apply only to that version, and otherwise get a 412
//! with the current tag. Writes without `If-Match` get a 409 if the item
//! changes four times during the request.
//!
//! PATCH accepts a JSON Merge Patch (RFC 7396): absent fields stay, and null
//! removes a field. The schema validates the complete result.
//! `Prefer: return=minimal` omits the item from the response to a write.
//!
//! # Errors
//!
//! An error response means that nothing was written: 400 with the fields, 401,
//! 403, 404 for an item that is missing or outside the
//! [scope](Resource::scope), 409 for a duplicate value, 412, 413, 415, and 428
//! if [`If-Match` is required](Resource::require_if_match). If the store is
//! down, clients get a 503 with `Retry-After`; only the log contains the
//! reason.
//!
//! # Hidden fields
//!
//! Use [`hidden`](Resource::hidden) for fields that clients must not see. They
//! are not in responses, filters, sorts or cursors. A patch can change such a
//! field but does not see it. A duplicate value in a hidden field gets a 409
//! that does not name the field.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules:
// - `entity`: `Entity`, the item types; `access`: `Access` and `Operation`.
// - `resource`: `Resource`, its checks and its routes.
// - `core`: a resource without its types; `erased`: a store without its types;
//   `keys`: some fields of an item; `marked`: read-only and write-only
//   positions inside its fields.
// - `handlers`: the request handlers, their conditions, queries and
//   descriptions.
// - `failure`: the responses to store failures; `cursor`: positions in an
//   order.
// - `store`: `Store`, and the types that a resource and its store exchange.
// - `memory`: `MemoryStore`.
// - `canonical`: the canonical spelling of values, which all stores use.

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

/// Items for the other stockade crates, without any stability guarantee.
#[doc(hidden)]
pub mod __internal {
    pub use crate::canonical::Canonical;
}
