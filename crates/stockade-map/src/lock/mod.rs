//! `routes.lock`: the surface of an application in a committed file, and the
//! comparison of two such files.
//!
//! A lock contains everything in a [`RouteMap`] that affects clients or
//! security. [`Lock::changes_to`] classifies each difference: it may break
//! clients, allow clients to do more, both, or neither.
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

// Contents of the modules:
// - `file`: `Lock`, the file; `write`: its text; `entry`: a route in it.
// - `rules`: all kinds of changes with their classes; `change`: `Changes`.
// - `committed`: the comparison with the committed file.
// - `compare`: the comparison of two locks; `pairs`: the matching of their
//   routes.
// - `route`, `inputs`, `answers`, `access`, `limits`, `router`: the parts of
//   the comparison.
// - `methods`: the strictness of the authentication methods.
// - `graphql`: the members of a GraphQL schema; `idempotency`: the keys of a
//   route; `signature`: the signatures of its requests; `tool`: its tool for
//   agents, and the endpoint of tools.
// - `configurations`: the settings under configuration files.
// - `schema`: the schemas of requests and responses.
// - `policy`: the rules and exceptions of the policy.
// - `several`: the locks of several routers.
// - `unexplained`: differences that no other module reports.
// - `places`: the source locations of a change; `fix`: how to undo it; `group`:
//   the changes with one cause.

mod access;
mod answers;
mod change;
mod committed;
mod compare;
mod configurations;
mod entry;
mod file;
mod fix;
mod graphql;
mod group;
mod idempotency;
mod inputs;
mod limits;
mod methods;
mod pairs;
mod places;
mod policy;
mod route;
mod router;
mod rules;
mod schema;
mod secrets;
mod several;
mod signature;
mod tool;
mod unexplained;
mod write;

pub use change::{Change, Changes};
#[doc(hidden)]
pub use committed::CommittedLock;
pub use file::{Lock, LockError};
pub use group::ChangeGroup;
pub use rules::{LockRule, RULES};
pub use several::RouterLocks;
