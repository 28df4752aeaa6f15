//! `routes.lock`: the surface of an application as a file that is committed, and
//! the comparison of two of them.
//!
//! A lock holds everything of a [`RouteMap`] on which clients and the safety of
//! the application rest. [`Lock::changes_to`] judges each difference: it may
//! break clients, it may let somebody do more, both, or neither.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use stockade::openapi::lock::Lock;
//! use stockade::prelude::*;
//!
//! fn lock(api: RouteTree) -> Result<Lock, ConfigError> {
//!     Lock::of(&create_router(api, RouterOptions::new()).build()?.route_map())
//! }
//! let before = lock(routes! { "users": { GET: async || "all", POST: async || "new" } })?;
//! let after = lock(routes! { "users": { GET: async || "all" } })?;
//!
//! let changes = before.changes_to(&after, SystemTime::now());
//! assert!(changes.is_breaking() && !changes.is_weakening());
//! let ids: Vec<&str> = changes.iter().map(|change| change.rule.id).collect();
//! assert_eq!(ids, ["route-removed"]);
//! assert!(changes.to_string().contains("POST /users"));
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! [`RouteMap`]: crate::RouteMap

// Where things are:
// - `file`: `Lock`, the file; `write`: its text; `entry`: a route in it.
// - `rules`: all kinds of changes with their classes; `change`: `Changes`.
// - `committed`: the comparison with the file that is committed.
// - `compare`: the comparison of two locks; `pairs`: which routes are the same.
// - `route`, `inputs`, `answers`, `access`, `limits`, `router`: the parts of it.
// - `graphql`: the members of a schema of GraphQL; `idempotency`: the keys of a route.
// - `schema`: schemas, of requests and of replies.
// - `unexplained`: differences that none of these has noticed.

mod access;
mod answers;
mod change;
mod committed;
mod compare;
mod entry;
mod file;
mod graphql;
mod idempotency;
mod inputs;
mod limits;
mod pairs;
mod route;
mod router;
mod rules;
mod schema;
mod secrets;
mod unexplained;
mod write;

pub use change::{Change, Changes};
#[doc(hidden)]
pub use committed::CommittedLock;
pub use file::{Lock, LockError};
pub use rules::{LockRule, RULES};
